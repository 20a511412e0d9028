// Package durable writes and reads the files that must survive a power cut
// and must not be read by others: key files, manifests, checkpoints.
//
// A write goes to a temporary file in the same folder, is synced, renamed over
// the old one, and the folder is synced: after any crash the path holds the
// whole old or the whole new content. A read refuses what somebody else could
// have put there or could read: symbolic links, loose permissions, other
// owners, special files, files over the size that was asked for.
package durable

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Errors of reading and writing. Each is wrapped with the path; none holds
// content.
var (
	ErrSymlink    = errors.New("is a symbolic link")
	ErrLoose      = errors.New("can be read or written by group or others (want 0600 for files, 0700 for folders)")
	ErrOwner      = errors.New("belongs to another user")
	ErrNotRegular = errors.New("is not a regular file")
	ErrNotFolder  = errors.New("is not a folder")
	ErrTooLarge   = errors.New("is larger than allowed")
	// ErrUnknown means that the new content may or may not be what a later
	// start finds: read again before deciding anything, never repeat the sync.
	ErrUnknown = errors.New("outcome unknown after a failed rename or folder sync")
)

// A Step is one step of a write, named for fault injection.
type Step string

// The steps of WriteFile, Remove and MkdirPrivate in order.
const (
	StepCreate  Step = "create"
	StepWrite   Step = "write"
	StepChmod   Step = "chmod"
	StepSync    Step = "sync"
	StepClose   Step = "close"
	StepRename  Step = "rename"
	StepSyncDir Step = "syncdir"
	StepRemove  Step = "remove"
	StepMkdir   Step = "mkdir"
)

// Files performs the operations. The zero value is the real thing; Around, if
// set, is called for every step and may run do, not run it, or run it and
// still return an error (failed but persisted). Only tests set it.
type Files struct {
	Around func(step Step, path string, do func() error) error
}

func (f *Files) step(s Step, path string, do func() error) error {
	if f == nil || f.Around == nil {
		return do()
	}
	return f.Around(s, path, do)
}

// TempPrefix begins the name of every temporary file: "." + base + TempPrefix
// + random. IsTemp tells what a crashed write has left behind.
const TempPrefix = ".tmp-"

// IsTemp reports whether a file name is that of an unfinished write.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, TempPrefix)
}

// WriteFile replaces path by data with the given permissions. On an error
// before the rename the old content stands; ErrUnknown says it may be either.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return (*Files)(nil).WriteFile(path, data, perm)
}

// WriteFile is as the function of the same name.
func (f *Files) WriteFile(path string, data []byte, perm fs.FileMode) error {
	tmp, err := f.writeTemp(path, data, perm)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := f.step(StepRename, path, func() error { return os.Rename(tmp, path) }); err != nil {
		os.Remove(tmp) // gone already if the rename did happen
		return fmt.Errorf("write %s: %w: %w", path, ErrUnknown, err)
	}
	if err := f.syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w: %w", path, ErrUnknown, err)
	}
	return nil
}

// writeTemp leaves a synced, closed temporary file beside path, or nothing.
func (f *Files) writeTemp(path string, data []byte, perm fs.FileMode) (tmp string, err error) {
	var r [8]byte
	rand.Read(r[:])
	tmp = filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+TempPrefix+hex.EncodeToString(r[:]))
	var w *os.File
	err = f.step(StepCreate, path, func() (err error) {
		w, err = os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	defer func() {
		if err == nil {
			return
		}
		if w != nil {
			w.Close()
		}
		os.Remove(tmp)
	}()
	if err != nil {
		return tmp, err
	}
	if err = f.step(StepWrite, path, func() error { _, err := w.Write(data); return err }); err != nil {
		return tmp, err
	}
	// After the write, so that a wider mode never covers half a file; needed
	// since the umask cut the mode given to open.
	if err = f.step(StepChmod, path, func() error { return w.Chmod(perm) }); err != nil {
		return tmp, err
	}
	if err = f.step(StepSync, path, w.Sync); err != nil {
		return tmp, err
	}
	err = f.step(StepClose, path, w.Close)
	return tmp, err
}

// Remove unlinks path and syncs its folder. A path that is not there is fine:
// removal is repeated after a crash.
func Remove(path string) error { return (*Files)(nil).Remove(path) }

// Remove is as the function of the same name.
func (f *Files) Remove(path string) error {
	err := f.step(StepRemove, path, func() error { return os.Remove(path) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove: %w", err)
	}
	if err := f.syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("remove %s: %w: %w", path, ErrUnknown, err)
	}
	return nil
}

// Destroy overwrites a file that held a secret, syncs it and removes it. On
// copy-on-write file systems and flash the old blocks may still exist: a
// destroyed file is out of reach of this system's users, not of a laboratory.
func (f *Files) Destroy(path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && st.Mode().IsRegular() {
		err = f.step(StepWrite, path, func() error { return overwrite(path, st.Size()) })
	}
	if err != nil {
		return fmt.Errorf("destroy: %w", err)
	}
	return f.Remove(path)
}

func overwrite(path string, size int64) error {
	w, err := openNoFollow(path, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = w.Write(make([]byte, size))
	return errors.Join(err, w.Sync(), w.Close())
}

func (f *Files) syncDir(dir string) error {
	return f.step(StepSyncDir, dir, func() error {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		return errors.Join(syncFolder(d), d.Close())
	})
}

// MkdirPrivate makes dir (not its parents) with mode 0700 and syncs the parent. If it is
// there already it must be a folder of ours that only we can enter.
func MkdirPrivate(dir string) error { return (*Files)(nil).MkdirPrivate(dir) }

// MkdirPrivate is as the function of the same name.
func (f *Files) MkdirPrivate(dir string) error {
	err := f.step(StepMkdir, dir, func() error { return os.Mkdir(dir, 0o700) })
	switch {
	case errors.Is(err, fs.ErrExist):
		return CheckPrivateDir(dir)
	case err != nil:
		return fmt.Errorf("make folder: %w", err)
	}
	if err := f.syncDir(filepath.Dir(dir)); err != nil {
		return fmt.Errorf("make folder %s: %w: %w", dir, ErrUnknown, err)
	}
	return nil
}

// CheckPrivateDir refuses a folder that is a symbolic link, belongs to others
// or can be entered by group or others.
func CheckPrivateDir(dir string) error {
	st, err := os.Lstat(filepath.Clean(dir)) // Clean: a trailing slash would follow the link
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		err = ErrSymlink
	case !st.IsDir():
		err = ErrNotFolder
	default:
		err = checkAccess(st)
	}
	if err != nil {
		return fmt.Errorf("folder %s: %w", dir, err)
	}
	return nil
}
