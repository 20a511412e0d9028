//go:build unix

package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// checkAccess refuses what group or others can touch, and what belongs to a
// user other than us and root. Root may read everybody's: it could anyway.
func checkAccess(st fs.FileInfo) error {
	if st.Mode().Perm()&0o077 != 0 {
		return ErrLoose
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	euid := os.Geteuid()
	if ok && euid != 0 && sys.Uid != 0 && int(sys.Uid) != euid {
		return ErrOwner
	}
	return nil
}

// openNoFollow opens path itself: a symbolic link as last element is
// ErrSymlink, and a pipe or device cannot block the open.
func openNoFollow(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) { // EMLINK: FreeBSD
		return nil, fmt.Errorf("open %s: %w", path, ErrSymlink)
	}
	return f, err
}

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
func Lock(path string) (*FileLock, error) { return lock(path, syscall.LOCK_EX) }

// TryLock is Lock that answers ErrLocked instead of waiting.
func TryLock(path string) (*FileLock, error) {
	return lock(path, syscall.LOCK_EX|syscall.LOCK_NB)
}

func lock(path string, how int) (*FileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) {
		err = fmt.Errorf("%s: %w", path, ErrSymlink)
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &FileLock{f}, nil
}

// Unlock gives the lock back. It may be called once.
func (l *FileLock) Unlock() error { return l.f.Close() }
