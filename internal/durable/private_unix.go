//go:build unix

package durable

import (
	"errors"
	"fmt"
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

// syncFolder makes the names in a folder durable.
func syncFolder(d *os.File) error { return d.Sync() }

func lock(path string, wait bool) (*FileLock, error) {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
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
