package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// OpenPrivate opens a file for reading that only its owner can touch. The
// checks are made on the open descriptor, so nothing can be swapped between
// check and use.
func OpenPrivate(path string) (*os.File, error) {
	f, err := openNoFollow(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case !st.Mode().IsRegular():
		err = ErrNotRegular
	default:
		err = checkAccess(st)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return f, nil
}

// ReadPrivate reads a private file of at most limit bytes.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	f, err := OpenPrivate(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: %w (%d bytes)", path, ErrTooLarge, limit)
	}
	return data, nil
}

// A FileLock is an exclusive advisory lock between processes, and between
// holders inside one process. The kernel gives it back when the process dies.
type FileLock struct{ f *os.File }

// ErrLocked is TryLock's answer while somebody else holds the lock.
var ErrLocked = errors.New("is locked by another process")

// Lock waits for the lock on path, a file that it makes (0600) if need be. The
// file is never removed, or two holders could each lock their own.
func Lock(path string) (*FileLock, error) { return lock(path, true) }

// TryLock is Lock that answers ErrLocked instead of waiting.
func TryLock(path string) (*FileLock, error) {
	return lock(path, false)
}

// Unlock gives the lock back. It may be called once.
func (l *FileLock) Unlock() error { return l.f.Close() }
