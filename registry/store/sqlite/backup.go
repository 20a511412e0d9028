package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/registry/store"
)

// BackupTo implements store.Backup. The file is a database of its own, which
// Restore takes.
func (l *Log) BackupTo(ctx context.Context, path string) error {
	if err := l.usable(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("backup: %w: %s", fs.ErrExist, path)
	}
	tmp := path + ".part"
	// VACUUM INTO takes an empty file; made here, it has the right mode from the start.
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer os.Remove(tmp)
	defer f.Close()
	c, err := l.opt.connect(l.path())
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	err = c.exec("backup", `VACUUM INTO ?`, tmp)
	if err := errors.Join(err, c.close(), f.Sync()); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if err := os.Link(tmp, path); err != nil { // unlike rename, never replaces
		return fmt.Errorf("backup: %w", err)
	}
	return syncFolder(filepath.Dir(path))
}

// Restored says what a Restore has done.
type Restored struct {
	Before store.Head // the head that was replaced; zero where it could not be read
	After  store.Head // the head of the backup
	Kept   string     // where the replaced database is now, "" where there was none
}

// Restore replaces the log in dir by a backup, which must be sound. No
// process may have the log open (store.ErrBusy). The replaced database is
// kept beside it. Whether the restored log may be used is not decided here: the
// caller compares After with the newest checkpoint that it knows, and
// records the act.
func Restore(ctx context.Context, dir, backup string, opt *Options) (r Restored, err error) {
	o := opt.withDefaults()
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore: %w", err)
		}
	}()
	if dir, err = filepath.Abs(dir); err != nil {
		return r, err
	}
	if err := folder(dir, false); err != nil {
		return r, err
	}
	release, err := exclude(dir)
	if err != nil {
		return r, err
	}
	defer release()
	next := filepath.Join(dir, "restoring.db")
	if err := copyFile(ctx, backup, next); err != nil {
		return r, err
	}
	defer os.Remove(next)
	if r.After, err = o.examine(next); err != nil {
		return r, err
	}
	path := filepath.Join(dir, dbName)
	if r.Before, r.Kept, err = o.setAside(path); err != nil {
		return r, err
	}
	if err := os.Rename(next, path); err != nil {
		return r, err
	}
	return r, syncFolder(dir)
}

// Idle says store.ErrBusy where any process has the log in dir open: asked
// before work that a restore would only refuse at its end.
func Idle(dir string) error {
	release, err := exclude(dir)
	if err != nil {
		return err
	}
	release()
	return nil
}

// exclude holds every other process off the folder until release.
func exclude(dir string) (release func(), err error) {
	var held []*os.File
	release = func() {
		for _, f := range held {
			f.Close()
		}
	}
	for _, name := range []string{"open.lock", "member.lock"} {
		f, err := openLock(filepath.Join(dir, name))
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, f)
		if !tryLock(f, true) {
			release()
			return nil, fmt.Errorf("%w: %s", store.ErrBusy, dir)
		}
	}
	return release, nil
}

// examine checks a copy of a backup before it becomes the log.
func (o *Options) examine(path string) (h store.Head, err error) {
	c, err := o.connect(path, "query_only(1)")
	if err != nil {
		return h, err
	}
	defer c.close()
	if err := ours(c); err != nil {
		return h, err
	}
	v, err := c.row("check", `PRAGMA integrity_check(1)`)
	if err != nil {
		return h, err
	}
	if v[0] != "ok" {
		return h, fmt.Errorf("%w: %v", store.ErrCorrupt, v[0])
	}
	if n, err := c.integer("open", `PRAGMA user_version`); err != nil || n == 0 {
		return h, errors.Join(fmt.Errorf("%w: empty", store.ErrForeign), err)
	}
	return headOf(c)
}

// setAside keeps the database to be replaced under another name, as a second
// link: at no time is there no database, which a start would take for a new one.
func (o *Options) setAside(path string) (h store.Head, kept string, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return h, "", nil
	}
	if c, err := o.connect(path); err == nil { // moves the write-ahead log in on closing
		h, _ = headOf(c)
		c.close()
	}
	kept = path + ".replaced-" + o.Now().UTC().Format("20060102T150405.000000000")
	if err := os.Link(path, kept); err != nil {
		return h, "", err
	}
	for _, suffix := range []string{"-wal", "-shm"} { // there is one only if it was too damaged to be moved in
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return h, kept, err
		}
	}
	return h, kept, nil
}

func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	os.Remove(to) // of a restore that was interrupted
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close(), ctx.Err())
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
