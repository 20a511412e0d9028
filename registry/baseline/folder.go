package baseline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
)

const (
	fileSuffix = ".surface"
	lockSuffix = ".lock"
	secretFile = "secret"
	secretSize = 32

	maxFile = 192 << 20 // bytes; far above what encode lets out
)

// A folder is where the files are.
type folder interface {
	// read is the file's content, nil where there is none.
	read(name string) ([]byte, tag, error)
	write(name string, data []byte) error
	lock(ctx context.Context, name string) (unlock func(), err error)
	list() ([]string, error)
	// secret is the folder's own secret; made where the folder is empty.
	secret(random io.Reader) ([]byte, error)
}

// A tag recognises a file that has not changed since it was read.
type tag interface {
	fresh(f folder, name string) bool
}

// settle is how old a file must have been when it was read, so that another
// write with the same date and size would have been noticed: dates of files come
// from a clock that stands still for some milliseconds.
const settle = 100 * time.Millisecond

type fileTag struct {
	info fs.FileInfo // nil: there was no file
	sure bool
}

func (t fileTag) fresh(f folder, name string) bool {
	if !t.sure {
		return false
	}
	info, err := os.Lstat(filepath.Join(f.(*disk).dir, name))
	if t.info == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(info, t.info) && info.Size() == t.info.Size() && info.ModTime().Equal(t.info.ModTime())
}

// A disk is a real folder.
type disk struct{ dir string }

func openDisk(dir string) (*disk, error) {
	if err := durable.MkdirPrivate(dir); err != nil {
		return nil, err
	}
	return &disk{dir}, nil
}

func (d *disk) read(name string) ([]byte, tag, error) {
	path := filepath.Join(d.dir, name)
	now := time.Now() // of the file system's clock, not of the registry's
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fileTag{sure: true}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := durable.ReadPrivate(path, maxFile)
	if err != nil {
		return nil, nil, err
	}
	age := now.Sub(info.ModTime())
	return data, fileTag{info, age > settle}, nil
}

func (d *disk) write(name string, data []byte) error {
	return durable.WriteFile(filepath.Join(d.dir, name), data, 0o600)
}

// lock waits for the lock between processes until ctx is done: a process that
// stands still with the lock must not hold up all others for ever.
func (d *disk) lock(ctx context.Context, name string) (func(), error) {
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		l, err := durable.TryLock(filepath.Join(d.dir, name+lockSuffix))
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

func (d *disk) list() ([]string, error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), fileSuffix) && !durable.IsTemp(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// secret reads the folder's secret. It is made once, before the first baseline:
// a folder that has baselines but no secret has lost something.
func (d *disk) secret(random io.Reader) ([]byte, error) {
	path := filepath.Join(d.dir, secretFile)
	s, err := durable.ReadPrivate(path, secretSize)
	if err == nil && len(s) == secretSize {
		return s, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := durable.Lock(path + lockSuffix)
	if err != nil {
		return nil, err
	}
	defer l.Unlock()
	switch s, err = durable.ReadPrivate(path, secretSize); {
	case err == nil && len(s) == secretSize: // another process was first
		return s, nil
	case err == nil:
		return nil, fmt.Errorf("%w: %s has not %d bytes", ErrDamaged, path, secretSize)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if names, err := d.list(); err != nil || len(names) > 0 {
		return nil, errors.Join(fmt.Errorf("%w: %s is missing", ErrDamaged, path), err)
	}
	s = make([]byte, secretSize)
	if _, err := io.ReadFull(random, s); err != nil {
		return nil, err
	}
	return s, durable.WriteFile(path, s, 0o600)
}

// A memory is a folder that ends with the process.
type memory struct {
	mu    sync.Mutex
	files map[string][]byte
	locks map[string]chan struct{}
	count map[string]uint64 // writes
}

type memoryTag uint64

func (t memoryTag) fresh(f folder, name string) bool {
	m := f.(*memory)
	m.mu.Lock()
	defer m.mu.Unlock()
	return memoryTag(m.count[name]) == t
}

func (m *memory) read(name string) ([]byte, tag, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.files[name], memoryTag(m.count[name]), nil
}

func (m *memory) write(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files, m.count = map[string][]byte{}, map[string]uint64{}
	}
	m.files[name] = data
	m.count[name]++
	return nil
}

func (m *memory) lock(ctx context.Context, name string) (func(), error) {
	m.mu.Lock()
	if m.locks == nil {
		m.locks = map[string]chan struct{}{}
	}
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

func (m *memory) list() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for n := range m.files {
		out = append(out, n)
	}
	return out, nil
}

func (m *memory) secret(random io.Reader) ([]byte, error) {
	s := make([]byte, secretSize)
	_, err := io.ReadFull(random, s)
	return s, err
}
