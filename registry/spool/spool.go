// Package spool is an append-only record of one process, made to be written
// before every call: one pwrite into a zero-filled segment, nothing lost when the
// process is killed, and one fdatasync for all who wait for a power cut not to
// matter.
//
// Records are chained under a key: chain n is HMAC-SHA256(key, chain n-1 ||
// record n). A spool that was shortened at its front or middle, altered,
// reordered or written without the key is found, and the place is named. What a
// crash leaves behind at the end is told apart, mended and kept on record. That
// whole records were cut off the end is seen against a Head kept elsewhere.
//
// A folder holds one spool and belongs to the process that holds its lock. A
// dead process's spool is free, and is continued by whoever opens it next. Old
// segments stay: nothing here deletes.
package spool

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// MaxRecord is the largest record, in bytes, as in every log here.
const MaxRecord = ledger.MaxEntry

// Defaults and bounds of Options.
const (
	DefaultSegment = 4 << 20
	DefaultQuota   = 1 << 30
	minSegment     = headerSize + overhead + MaxRecord
	maxSegment     = 64 << 20
)

// Errors of a spool.
var (
	ErrInUse   = errors.New("spool: belongs to another process that is alive")
	ErrFull    = errors.New("spool: quota reached")
	ErrStopped = errors.New("spool: stopped after a failed write or sync")
	ErrClosed  = errors.New("spool: closed")
	ErrRecord  = errors.New("spool: a record is empty or too large")
	ErrOptions = errors.New("spool: segment, quota or key out of bounds")
	// ErrDamaged: the spool is not what was written. It is left as it is.
	ErrDamaged = errors.New("spool: damaged")
	// ErrBehind: the spool is shorter than, or contradicts, what is known of it.
	ErrBehind = errors.New("spool: is not, or no longer, what is known of it elsewhere")
)

// A Head commits to a spool's first Size records: their RFC 6962 root and the
// keyed chain after the last one.
type Head struct {
	Size  uint64
	Root  [32]byte
	Chain [32]byte
}

// Options of a spool. Key is required; the rest has defaults.
type Options struct {
	Key     []byte // 32 bytes
	Segment int64  // bytes of a segment file; 0: DefaultSegment
	Quota   int64  // bytes of all segments; 0: DefaultQuota; one segment at least
	Now     func() time.Time
	// Known is what is known of the spool elsewhere; a spool that is shorter or
	// differs at that size is ErrBehind and is left as it is.
	Known Head
	// Visit gets every record that is there already, in order.
	Visit func(index uint64, record []byte) error
	// Files are the operations on segments. Only tests change them.
	Files Files
}

// Files are what a spool does to its segments. Nil members are the real thing.
type Files struct {
	WriteAt func(f *os.File, b []byte, off int64) (int, error)
	Sync    func(f *os.File) error // fdatasync
}

func (o *Options) check() error {
	if o.Segment == 0 {
		o.Segment = DefaultSegment
	}
	if o.Quota == 0 {
		o.Quota = DefaultQuota
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Files.WriteAt == nil {
		o.Files.WriteAt = (*os.File).WriteAt
	}
	if o.Files.Sync == nil {
		o.Files.Sync = dataSync
	}
	if len(o.Key) != sha256.Size || o.Segment < minSegment || o.Segment > maxSegment || o.Quota < o.Segment {
		return ErrOptions
	}
	return nil
}

// A Spool is open for appending. Its methods may be called by several
// goroutines at once.
type Spool struct {
	dir  string
	name string
	o    Options
	lock *durable.FileLock

	mu      sync.Mutex // guards what follows
	err     error      // why nothing is written any more
	f       *os.File   // the segment that is appended to
	off     int64      // where in it
	room    int64      // its size
	segs    int64      // number of segments
	bytes   int64      // of all of them
	head    Head       // Root is not kept: the tree has it
	tree    ledger.Tree
	mac     hash.Hash
	buf     []byte
	retired []*os.File // rolled over; a sync may still hold one

	syncing sync.Mutex // guards what follows; before mu, and held during no sync
	ended   sync.Cond  // a sync has ended
	busy    bool       // one is under way
	synced  uint64     // records that survive a power cut
	syncs   uint64     // how many were made

	ahead  prepared
	mended []Repair // by this opening
}

// Open claims the spool in dir, whose name is the folder's, or makes one. It
// reads all of it. Anything but what a crash leaves at the end is a *DamageError.
func Open(dir string, o Options) (*Spool, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := durable.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	lock, err := durable.TryLock(filepath.Join(dir, lockName))
	if errors.Is(err, durable.ErrLocked) {
		return nil, fmt.Errorf("%w: %s", ErrInUse, filepath.Base(dir))
	}
	if err != nil {
		return nil, err
	}
	s := &Spool{dir: dir, name: filepath.Base(dir), o: o, lock: lock, mac: hmac.New(sha256.New, o.Key)}
	s.ended.L = &s.syncing
	if err := s.open(); err != nil {
		lock.Unlock()
		return nil, err
	}
	return s, nil
}

func (s *Spool) open() error {
	w, err := Walk(s.dir, WalkOptions{Key: s.o.Key, At: s.o.Known.Size, Visit: s.o.Visit})
	if err != nil {
		return err
	}
	if err := w.err(s.name); err != nil {
		return err
	}
	if err := w.holds(s.name, s.o.Known); err != nil {
		return err
	}
	if err := s.mend(w); err != nil {
		return err
	}
	s.head, s.tree = w.Head, w.tree
	s.synced = 0 // what the dead process wrote may not be on the disk
	s.segs, s.bytes = int64(len(w.segments)), w.bytes
	if len(w.segments) == 0 {
		s.head.Chain = genesis(s.o.Key, s.name)
		return s.roll()
	}
	last := w.segments[len(w.segments)-1]
	s.f, err = os.OpenFile(filepath.Join(s.dir, segmentName(last.ordinal)), os.O_RDWR, 0)
	s.off, s.room = last.end, last.size
	return err
}

// Append writes one record and returns its index. What it returned for survives
// the process; Sync makes it survive more. Any error but ErrFull and ErrRecord
// stops the spool for good.
func (s *Spool) Append(record []byte) (uint64, error) {
	if len(record) == 0 || len(record) > MaxRecord {
		return 0, ErrRecord
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	need := int64(overhead + len(record))
	if s.off+need > s.room {
		if err := s.roll(); err != nil {
			return 0, err
		}
	}
	index := s.head.Size
	s.mac.Reset()
	s.mac.Write(s.head.Chain[:])
	s.mac.Write(record)
	var chain [32]byte
	s.mac.Sum(chain[:0])
	s.buf = appendRecord(s.buf[:0], index, &chain, record)
	if _, err := s.o.Files.WriteAt(s.f, s.buf, s.off); err != nil {
		return 0, s.stop(err)
	}
	s.off += need
	s.head.Size++
	s.head.Chain = chain
	if err := s.tree.Append(record); err != nil {
		return 0, s.stop(err)
	}
	if s.off > s.room/2 {
		s.prepare()
	}
	return index, nil
}

// stop ends the spool: after a failed write or sync nobody knows what is on the
// disk, and a second fsync could say that all is well.
func (s *Spool) stop(err error) error {
	if s.err == nil {
		s.err = fmt.Errorf("%w: %w", ErrStopped, err)
	}
	return s.err
}

// Sync returns once the records below size survive a power cut; 0: all that are
// written. Callers that wait at the same time share one fdatasync.
func (s *Spool) Sync(size uint64) error {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if size == 0 {
		size = s.written()
	}
	for s.busy && s.synced < size {
		s.ended.Wait()
	}
	if s.synced >= size {
		return nil
	}
	s.mu.Lock()
	f, written, err := s.f, s.head.Size, s.err
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.busy = true
	s.syncs++
	s.syncing.Unlock()
	err = s.o.Files.Sync(f)
	s.syncing.Lock()
	s.busy = false
	s.ended.Broadcast()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	if err != nil {
		return s.stop(err)
	}
	s.synced = written
	return nil
}

func (s *Spool) written() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.Size
}

// drop closes segments that were rolled over. Both locks are held and no sync is
// under way.
func (s *Spool) drop() {
	for _, f := range s.retired {
		f.Close()
	}
	s.retired = s.retired[:0]
}

// Synced is the number of records known to survive a power cut, and how many
// fdatasyncs it took.
func (s *Spool) Synced() (records, syncs uint64) {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	return s.synced, s.syncs
}

// Head commits to what is written.
func (s *Spool) Head() Head {
	s.mu.Lock()
	h, t := s.head, s.tree
	s.mu.Unlock()
	h.Root = t.Head().Root
	return h
}

// Room is how many bytes of segments the quota still has for records and their
// overhead. The last bytes of a segment may go unused.
func (s *Spool) Room() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := max(0, s.o.Quota-s.bytes) / s.o.Segment * (s.o.Segment - headerSize)
	return left + s.room - s.off
}

// Err is why the spool is stopped, or nil.
func (s *Spool) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Name is the folder's name, which is part of what the chain is over.
func (s *Spool) Name() string { return s.name }

// Mended are the tears that opening it mended.
func (s *Spool) Mended() []Repair { return s.mended }

// Size is the number of records that are written.
func (s *Spool) Size() uint64 { return s.written() }

// Bytes are the bytes of its segments.
func (s *Spool) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Close syncs what is written and gives the spool free.
func (s *Spool) Close() error {
	s.mu.Lock()
	closed := errors.Is(s.err, ErrClosed)
	s.mu.Unlock()
	if closed {
		return nil
	}
	err := s.Sync(0)
	s.syncing.Lock()
	defer s.syncing.Unlock()
	for s.busy {
		s.ended.Wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = ErrClosed
	s.ahead.end()
	s.drop()
	return errors.Join(err, s.f.Close(), s.lock.Unlock())
}
