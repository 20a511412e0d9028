package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/store"
)

// Leases are small files, not rows: they are renewed several times a second
// by every process, and after a power cut nobody is left to hold one, so a
// sync for each would only wear the disk.
//
// A file is 24 bytes: applied, until (Unix nanoseconds), checksum of both,
// zero; all big-endian.
const leaseSize = 24

func (l *Log) leaseFile(id string) string {
	sum := sha256.Sum256([]byte("pratique/lease/v1\x00" + id)) // an id is no file name
	return filepath.Join(l.dir, "leases", hex.EncodeToString(sum[:16]))
}

// Lease implements store.Leases.
func (l *Log) Lease(ctx context.Context, id string, applied uint64, until time.Time) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	l.leaseMu.Lock()
	defer l.leaseMu.Unlock()
	if err := durable.MkdirPrivate(filepath.Join(l.dir, "leases")); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	f, err := openLock(l.leaseFile(id))
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	var b [leaseSize]byte
	binary.BigEndian.PutUint64(b[:], applied)
	binary.BigEndian.PutUint64(b[8:], uint64(until.UnixNano()))
	binary.BigEndian.PutUint32(b[16:], crc32.ChecksumIEEE(b[:16]))
	_, err = f.WriteAt(b[:], 0)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("lease: %w: %w", store.ErrIO, err)
	}
	return nil
}

// Lagging implements store.Leases.
func (l *Log) Lagging(ctx context.Context, applied uint64, now time.Time) (int, error) {
	if err := l.usable(ctx); err != nil {
		return 0, err
	}
	dir := filepath.Join(l.dir, "leases")
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("leases: %w: %w", store.ErrIO, err)
	}
	n := 0
	for _, f := range files {
		if lags(filepath.Join(dir, f.Name()), applied, now) {
			n++
		}
	}
	return n, nil
}

// lags says yes whenever it cannot tell, except for a lease that was ended
// meanwhile. Reading beside a write can show half of each, hence the retries.
func lags(path string, applied uint64, now time.Time) bool {
	for range 3 {
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if err != nil || len(b) != leaseSize || binary.BigEndian.Uint32(b[16:]) != crc32.ChecksumIEEE(b[:16]) {
			continue
		}
		until := time.Unix(0, int64(binary.BigEndian.Uint64(b[8:])))
		return until.After(now) && binary.BigEndian.Uint64(b) < applied
	}
	return true
}

// Unlease implements store.Leases.
func (l *Log) Unlease(ctx context.Context, id string) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	l.leaseMu.Lock()
	defer l.leaseMu.Unlock()
	if err := os.Remove(l.leaseFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lease: %w: %w", store.ErrIO, err)
	}
	return nil
}

// forgetLeases removes what dead processes left. Only the first process may:
// removing the file of a live one, however old it looks after a suspend,
// would hide the lease it is just renewing.
func (l *Log) forgetLeases() {
	files, _ := filepath.Glob(filepath.Join(l.dir, "leases", "*"))
	for _, f := range files {
		os.Remove(f)
	}
}
