package vault

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// An entry is where something lies in a file.
type entry struct {
	id    string
	flags byte
	wrap  int64 // offset of the wrapped key
	end   int64 // offset after the entry
}

// scan visits the entries of a file until visit says no, and returns the offset
// after the last whole one.
func scan(f *os.File, visit func(e entry) bool) (end int64, err error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var head [10 + maxID]byte
	for {
		n, err := f.ReadAt(head[:], end)
		if err != nil && !errors.Is(err, io.EOF) {
			return end, err
		}
		if n < 10 || binary.BigEndian.Uint32(head[:]) != entryMagic {
			return end, nil
		}
		ids := int(head[9])
		e := entry{flags: head[8], wrap: end + 10 + int64(ids), end: end + 8 + int64(binary.BigEndian.Uint32(head[4:]))}
		if ids == 0 || ids > maxID || n < 10+ids || e.end > st.Size() || e.end < e.wrap+wrappedSize {
			return end, nil
		}
		e.id = string(head[10 : 10+ids])
		if !visit(e) {
			return end, nil
		}
		end = e.end
	}
}

// A Value is what was kept of one call. Held says that Data is there; else the
// value was too large.
type Value struct {
	Key  EntryKey
	Data []byte
	Held bool
}

// Get looks up what was kept of a call that was decided at a time by the owner.
// ErrGone, ErrErased and ErrDamaged say why there is nothing.
func Get(dir string, key []byte, owner string, at time.Time, id string) (Value, error) {
	var v Value
	f, e, err := find(dir, owner, at, id, os.O_RDONLY)
	if err != nil {
		return v, err
	}
	defer f.Close()
	b := make([]byte, e.end-e.wrap)
	if _, err := f.ReadAt(b, e.wrap); err != nil {
		return v, err
	}
	if allZero(b[:wrappedSize]) {
		return v, ErrErased
	}
	wrap, err := chacha20poly1305.NewX(key)
	if err != nil {
		return v, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	ad := label(owner, id, e.flags)
	raw, err := wrap.Open(nil, b[:nonceSize], b[nonceSize:wrappedSize], ad)
	if err != nil || len(raw) != KeySize {
		return v, ErrDamaged
	}
	v.Key = EntryKey(raw)
	if e.flags != flagKept {
		return v, nil
	}
	if b = b[wrappedSize:]; len(b) < nonceSize+tagSize {
		return Value{}, ErrDamaged
	}
	open, err := v.Key.aead()
	if err != nil {
		return Value{}, err
	}
	if v.Data, err = open.Open(nil, b[:nonceSize], b[nonceSize:], ad); err != nil {
		return Value{}, ErrDamaged
	}
	v.Held = true
	return v, nil
}

// Erase overwrites a call's key and value, and syncs: its digests then say
// nothing any more. The owner may be at work meanwhile.
func Erase(dir, owner string, at time.Time, id string) error {
	f, e, err := find(dir, owner, at, id, os.O_RDWR)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, e.end-e.wrap), e.wrap)
	return errors.Join(err, f.Sync(), f.Close())
}

// find looks in the files of the day, and of the days beside it: a clock may have
// been set back in between.
func find(dir, owner string, at time.Time, id string, flag int) (*os.File, entry, error) {
	for _, shift := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour} {
		day := at.UTC().Add(shift).Format(dayFormat)
		names, err := filepath.Glob(filepath.Join(dir, day, filepath.Base(owner)+"-*"+suffix))
		if err != nil {
			return nil, entry{}, err
		}
		for _, name := range names {
			f, err := os.OpenFile(name, flag, 0)
			if err != nil {
				return nil, entry{}, err
			}
			var found entry
			_, err = scan(f, func(e entry) bool {
				if e.id == id {
					found = e
				}
				return e.id != id
			})
			if err == nil && found.id != "" {
				return f, found, nil
			}
			if err := errors.Join(err, f.Close()); err != nil {
				return nil, entry{}, err
			}
		}
	}
	return nil, entry{}, ErrGone
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
