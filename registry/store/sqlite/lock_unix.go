//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/store"
)

// openLock opens a lock file, making it if need be. It is never removed:
// then two processes could each lock a file of their own.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%w: %s: %w", store.ErrPermission, path, durable.ErrSymlink)
	}
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	st, err := f.Stat()
	if err == nil {
		err = private(path, st)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// private refuses what others could have put there or could read.
func private(path string, st os.FileInfo) error {
	var err error
	sys, ok := st.Sys().(*syscall.Stat_t)
	switch {
	case st.Mode()&os.ModeSymlink != 0:
		err = durable.ErrSymlink
	case !st.Mode().IsRegular():
		err = durable.ErrNotRegular
	case !ok || int(sys.Uid) != os.Geteuid():
		err = durable.ErrOwner
	case st.Mode().Perm()&0o077 != 0:
		err = durable.ErrLoose
	default:
		return nil
	}
	return fmt.Errorf("%w: %s %w", store.ErrPermission, path, err)
}

// tryLock takes a lock that is free now.
func tryLock(f *os.File, exclusive bool) bool { return flock(f, exclusive, syscall.LOCK_NB) == nil }

// waitLock blocks its thread until the exclusive lock is ours.
func waitLock(f *os.File) error { return flock(f, true, 0) }

func unlock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

func flock(f *os.File, exclusive bool, how int) error {
	how |= syscall.LOCK_SH
	if exclusive {
		how = how&^syscall.LOCK_SH | syscall.LOCK_EX
	}
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
