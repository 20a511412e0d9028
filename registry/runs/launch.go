package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/shelf"
)

const (
	launchSuffix = ".launch"
	liveSuffix   = ".live" // of a lock that the launch's process holds as long as it lives
)

// A launchShelf is memory until it is published, and the folder from then on.
type launchShelf struct {
	shelf.Shelf // memory
	disk        shelf.Shelf
	dir         string

	mu     sync.Mutex // owns what follows
	public bool
	live   func() // gives the lock back that says in the folder that the process lives; nil: it does not say so yet
}

func (l *launchShelf) now() shelf.Shelf {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.public {
		return l.disk
	}
	return l.Shelf
}

// Read implements shelf.Shelf.
func (l *launchShelf) Read(name string, limit int64) ([]byte, shelf.Tag, error) {
	return l.now().Read(name, limit)
}

// Write implements shelf.Shelf.
func (l *launchShelf) Write(name string, data []byte) error { return l.now().Write(name, data) }

// Lock implements shelf.Shelf. The lock of memory is taken in any case, so that who
// publishes has both.
func (l *launchShelf) Lock(ctx context.Context, name string) (func(), error) {
	unlock, err := l.Shelf.Lock(ctx, name)
	if err != nil || l.now() == l.Shelf {
		return unlock, err
	}
	other, err := l.disk.Lock(ctx, name)
	if err != nil {
		unlock()
		return nil, err
	}
	return func() { other(); unlock() }, nil
}

// launch begins the run of a launch. One that is sealed has a file from the
// beginning, so that its intent can be looked at, and narrowed.
func (s *Store) launch(agent credentials.AgentID, profile string, sealed credentials.Digest) (*Run, error) {
	l := &launchShelf{Shelf: shelf.Memory(), disk: s.files, dir: s.dir}
	own := newStore(l, s.opt)
	own.intents = s.intents
	h := own.holderOf(agent, launchSuffix)
	if s.dir != "" {
		h.lazy = l
	}
	d, err := h.change(context.Background(), func(*document) (*document, error) {
		id, err := s.draw("run_")
		return &document{Run: id, Agent: agent, Profile: profile, Began: s.opt.Now().UnixMilli(), Sealed: sealed}, err
	})
	if err == nil && !sealed.IsZero() {
		err = h.amendLocked(h.publish)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launched = append(s.launched, h)
	return h.runOf(d), nil
}

// amendLocked does something with the lock of the file and mu held.
func (h *holder) amendLocked(f func() error) error {
	unlock, err := h.store.files.Lock(context.Background(), h.file)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	defer unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	return f()
}

// publish puts the run of a launch into the folder. mu and the lock of the file in
// memory are held.
func (h *holder) publish() error {
	l := h.lazy
	if l == nil || l.now() == l.disk {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == nil { // kept until the process ends
		now, cancel := context.WithCancel(context.Background())
		cancel()
		unlock, err := l.disk.Lock(now, h.file+liveSuffix)
		if err != nil {
			return fmt.Errorf("runs: %w", err)
		}
		l.live = unlock
	}
	data, _, err := l.Shelf.Read(h.file, maxFile)
	if err == nil {
		err = l.disk.Write(h.file, data)
	}
	if err == nil {
		err = h.resultsLocked(h.doc.Run).publish(filepath.Join(l.dir, h.doc.Run+resultsSuffix))
	}
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	l.public, h.tag = true, nil
	return nil
}

// leave takes the files of a launch that has ended away. mu is held.
func (h *holder) leave() {
	if h.lazy == nil {
		return
	}
	h.lazy.mu.Lock()
	defer h.lazy.mu.Unlock()
	if h.lazy.live == nil {
		return
	}
	if h.doc != nil {
		_ = os.Remove(filepath.Join(h.lazy.dir, h.doc.Run+resultsSuffix))
	}
	_ = durable.Remove(filepath.Join(h.lazy.dir, h.file))
	_ = durable.Remove(filepath.Join(h.lazy.dir, string(h.agent)+bindingSuffix))
	h.lazy.live()
	h.lazy.live = nil
}

// All are the open runs that stand in the folder: those of credentials, and of
// launches that hold, or held, something withdrawn. With an error come those that
// could be read. What processes left behind that are gone is taken away.
func (s *Store) All() ([]*Run, error) {
	names, err := s.files.List()
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	var out []*Run
	for _, name := range names {
		h := s.holderAt(name)
		if h == nil || s.swept(h) {
			continue
		}
		d, bad := h.read()
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", h.agent, bad))
		} else if d != nil && d.Ended == 0 {
			out = append(out, h.runOf(d))
		}
	}
	return out, err
}

// holderAt is the holder of a file; nil: it is none of a run.
func (s *Store) holderAt(name string) *holder {
	for _, suffix := range []string{runSuffix, launchSuffix} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			if agent, err := credentials.ParseAgentID(base); err == nil {
				return s.holderOf(agent, suffix)
			}
		}
	}
	return nil
}

// swept tells whether a file was a launch's whose process is gone; it is then
// taken away.
func (s *Store) swept(h *holder) bool {
	if !strings.HasSuffix(h.file, launchSuffix) || s.dir == "" || s.ours(h.file) {
		return false
	}
	now, cancel := context.WithCancel(context.Background())
	cancel()
	unlock, err := s.files.Lock(now, h.file+liveSuffix)
	if err != nil {
		return false // it lives
	}
	defer unlock()
	if d, err := h.read(); err == nil && d != nil {
		_ = os.Remove(filepath.Join(s.dir, d.Run+resultsSuffix))
	}
	_ = durable.Remove(filepath.Join(s.dir, h.file))
	_ = durable.Remove(filepath.Join(s.dir, string(h.agent)+bindingSuffix))
	return true
}

// ours tells whether the file is that of a launch of this process.
func (s *Store) ours(file string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.launched, func(h *holder) bool { return h.file == file })
}

// Find is the open run of this id, ErrEnded where there is none.
func (s *Store) Find(run string) (*Run, error) {
	all, err := s.All()
	for _, r := range all {
		if r.id == run {
			return r, nil
		}
	}
	return nil, errors.Join(ErrEnded, err)
}
