package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// On Windows the permission bits that Go shows say nothing about who can read a
// file: access lists do, and those of a folder in the user's profile keep other
// users out. They are not read here. So nothing is refused for being loose or
// another's, and whoever puts the data folder elsewhere sets its access list.

// checkAccess refuses nothing: see above.
func checkAccess(fs.FileInfo) error { return nil }

// openNoFollow refuses a path that is a link. The look and the open are two
// steps, so that whoever may write to the folder can still swap the file.
func openNoFollow(path string, flag int) (*os.File, error) {
	st, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if st.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
		return nil, fmt.Errorf("open %s: %w", path, ErrSymlink)
	}
	return os.OpenFile(path, flag, 0)
}

// syncFolder does nothing: a folder cannot be flushed. NTFS journals its names,
// and puts a rename on disk in its own time.
func syncFolder(*os.File) error { return nil }

func lock(path string, wait bool) (*FileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err != nil {
		f.Close()
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &FileLock{f}, nil
}
