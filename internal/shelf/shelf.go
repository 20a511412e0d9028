// Package shelf is a folder of private files that several processes read often
// and change seldom. A reader keeps what it read and asks for the price of one
// stat whether it still holds; a writer takes the file's lock first.
package shelf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
)

const lockSuffix = ".lock"

// A Shelf is where the files are. Its methods may be called by several
// goroutines at once.
type Shelf interface {
	// Read is the content of a file of at most limit bytes, nil where there is no
	// file, with the tag by which it is recognised.
	Read(name string, limit int64) ([]byte, Tag, error)
	// Write replaces a file durably. The caller holds its lock.
	Write(name string, data []byte) error
	// Lock waits for the lock of a file, which need not be there, until ctx is done.
	// It is held against goroutines and processes alike.
	Lock(ctx context.Context, name string) (unlock func(), err error)
	// List are the names of all files, sorted, without locks and leftovers.
	List() ([]string, error)
}

// A Tag recognises a file that has not changed since it was read.
type Tag interface{ Fresh() bool }

// settle is how old a file must have been when it was read, so that another
// write with the same date and size would have been noticed: dates of files come
// from a clock that stands still for some milliseconds.
const settle = 100 * time.Millisecond

type fileTag struct {
	path string
	info fs.FileInfo // nil: there was no file
	sure bool
}

func (t fileTag) Fresh() bool {
	if !t.sure {
		return false
	}
	info, err := os.Lstat(t.path)
	if t.info == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(info, t.info) && info.Size() == t.info.Size() && info.ModTime().Equal(t.info.ModTime())
}

type disk struct{ dir string }

// Open is the shelf in a real folder, which is made, private, where it is
// missing.
func Open(dir string) (Shelf, error) {
	if err := durable.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	return &disk{dir}, nil
}

func (d *disk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *disk) Read(name string, limit int64) ([]byte, Tag, error) {
	path := d.path(name)
	now := time.Now() // the clock of the file system, whatever time others work in
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fileTag{path: path, sure: true}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := durable.ReadPrivate(path, limit)
	if err != nil {
		return nil, nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, fileTag{path, info, now.Sub(info.ModTime()) > settle}, nil
}

func (d *disk) Write(name string, data []byte) error {
	return durable.WriteFile(d.path(name), data, 0o600)
}

// Lock asks again and again instead of waiting in the kernel: a process that
// stands still with the lock must not hold up all others for ever.
func (d *disk) Lock(ctx context.Context, name string) (func(), error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		l, err := durable.TryLock(d.path(name + lockSuffix))
		if err == nil {
			return func() { l.Unlock() }, nil
		}
		if !errors.Is(err, durable.ErrLocked) {
			return nil, err
		}
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}

func (d *disk) List() ([]string, error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if n := e.Name(); !strings.HasSuffix(n, lockSuffix) && !durable.IsTemp(n) {
			out = append(out, n)
		}
	}
	return out, nil
}

type memory struct {
	mu    sync.Mutex // owns what follows
	files map[string][]byte
	locks map[string]chan struct{}
	count map[string]uint64 // writes
}

// Memory is a shelf without a folder: it ends with the process.
func Memory() Shelf {
	return &memory{files: map[string][]byte{}, locks: map[string]chan struct{}{}, count: map[string]uint64{}}
}

type memoryTag struct {
	m    *memory
	name string
	at   uint64
}

func (t memoryTag) Fresh() bool {
	t.m.mu.Lock()
	defer t.m.mu.Unlock()
	return t.m.count[t.name] == t.at
}

func (m *memory) Read(name string, limit int64) ([]byte, Tag, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data := m.files[name]
	if int64(len(data)) > limit {
		return nil, nil, durable.ErrTooLarge
	}
	return data, memoryTag{m, name, m.count[name]}, nil
}

func (m *memory) Write(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[name] = data
	m.count[name]++
	return nil
}

func (m *memory) Lock(ctx context.Context, name string) (func(), error) {
	m.mu.Lock()
	l := m.locks[name]
	if l == nil {
		l = make(chan struct{}, 1)
		m.locks[name] = l
	}
	m.mu.Unlock()
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) List() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for n := range m.files {
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}
