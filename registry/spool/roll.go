package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// prepared is the segment that comes next, filled with zeros and synced in the
// background, so that no caller waits for that.
type prepared struct {
	done chan struct{} // nil: none was begun
	f    *os.File
	err  error
}

// prepare begins to make the next segment. mu is held.
func (s *Spool) prepare() {
	if s.ahead.done != nil || s.bytes+s.o.Segment > s.o.Quota {
		return
	}
	done := make(chan struct{})
	s.ahead.done = done
	go func() {
		s.ahead.f, s.ahead.err = s.blank()
		close(done)
	}()
}

// blank makes a file of zeros. They are written, not only reserved: an
// fdatasync of a record then changes no metadata.
func (s *Spool) blank() (*os.File, error) {
	path := filepath.Join(s.dir, nextName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	zeros := make([]byte, min(s.o.Segment, 1<<18))
	for off := int64(0); off < s.o.Segment; off += int64(len(zeros)) {
		if _, err = s.o.Files.WriteAt(f, zeros[:min(int64(len(zeros)), s.o.Segment-off)], off); err != nil {
			break
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// take waits for the next segment.
func (p *prepared) take() (*os.File, error) {
	<-p.done
	f, err := p.f, p.err
	*p = prepared{}
	return f, err
}

// end waits for what was begun and closes it.
func (p *prepared) end() {
	if p.done == nil {
		return
	}
	if f, _ := p.take(); f != nil {
		f.Close()
	}
}

// roll goes over to the next segment. Nothing of it exists under its name before
// the one before is on the disk. mu is held.
func (s *Spool) roll() error {
	if s.bytes+s.o.Segment > s.o.Quota {
		return fmt.Errorf("%w: %d bytes", ErrFull, s.o.Quota)
	}
	if s.f != nil {
		if err := s.o.Files.Sync(s.f); err != nil {
			return s.stop(err)
		}
	}
	s.prepare()
	f, err := s.ahead.take()
	if err != nil {
		return s.stop(err)
	}
	if f, err = s.christen(f, s.next()); err != nil {
		return s.stop(err)
	}
	if s.f != nil {
		s.retired = append(s.retired, s.f)
	}
	s.f, s.off, s.room = f, headerSize, s.o.Segment
	s.segs++
	s.bytes += s.o.Segment
	return nil
}

func (s *Spool) next() header {
	return header{ordinal: uint64(s.segs), first: s.head.Size, size: s.o.Segment, chain: s.head.Chain}
}

// christen gives a blank file its header and its name. It is closed for the
// renaming, which some systems refuse for open files.
func (s *Spool) christen(f *os.File, h header) (*os.File, error) {
	_, err := s.o.Files.WriteAt(f, h.encode(s.o.Key, s.name), 0)
	if err == nil {
		err = s.o.Files.Sync(f)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, segmentName(h.ordinal))
	if err := os.Rename(filepath.Join(s.dir, nextName), path); err != nil {
		return nil, err
	}
	if err := syncDir(s.dir); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}
