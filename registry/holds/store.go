package holds

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/shelf"
)

// A Store is a folder of holds. It is safe for concurrent use, by several
// processes too.
type Store struct {
	opt     Options
	dir     string
	files   shelf.Shelf
	box     cipher.AEAD
	marks   []byte
	noAgent string // mark of what has no agent

	mu    sync.Mutex // owns what follows, under the lock of the items
	index *index     // nil: not read yet
	swept time.Time
	rates map[string]*bucket // by cell

	standing standing
}

// Digest is what a Subject has of a content, as it came.
func Digest(content []byte) credentials.Digest { return canon.Digest("pratique/hold/v1", content) }

// Open opens the folder, and makes it where it is missing. One whose acts are
// damaged opens: nothing is released in it then, and everything is condemned (Err).
func Open(dir string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Quota == 0 {
		o.Quota = DefaultQuota
	}
	if o.Count == 0 {
		o.Count = DefaultCount
	}
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if len(o.Key) != KeySize {
		return nil, fmt.Errorf("%w: the key has %d bytes", ErrOptions, len(o.Key))
	}
	box, err := chacha20poly1305.NewX(derived(o.Key, "box"))
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	f, err := shelf.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("holds: %w", err)
	}
	s := &Store{opt: o, dir: dir, files: f, box: box, marks: derived(o.Key, "names"), rates: map[string]*bucket{}}
	s.noAgent = s.mark("agent", "")
	return s, s.begin()
}

// begin makes the file of acts before the first hold: one that is missing beside
// holds was taken away.
func (s *Store) begin() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	unlock, err := s.files.Lock(ctx, actsFile)
	if err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	defer unlock()
	items := filepath.Join(s.dir, itemsFolder)
	if _, err := os.Lstat(items); !errors.Is(err, os.ErrNotExist) {
		return durable.MkdirPrivate(items)
	}
	if _, err := os.Lstat(filepath.Join(s.dir, actsFile)); errors.Is(err, os.ErrNotExist) {
		if err := s.writeActs(&acts{}); err != nil {
			return err
		}
	}
	return durable.MkdirPrivate(items)
}

// Put keeps a content. h.Digest and h.Kind are set by it, the kind by form and method,
// so that no act on one is good for another; ID, At, Size and Kept are its
// answer. What is held already for this agent is answered as it is: a subject has
// one hold of each agent. Room is made by pushing others of the same agent or
// origin out; what comes faster than is kept is counted as pushed out, and is
// ErrRate. On any error nothing was kept, and what it was about is withheld all
// the same.
func (s *Store) Put(ctx context.Context, h Hold, content []byte) (Hold, error) {
	h.Digest, h.Kind = Digest(content), KindOf(h.Form, h.Method)
	if err := h.check(); err != nil {
		return h, err
	}
	h.Size, h.Kept = int64(len(content)), len(content) <= MaxContent && int64(len(content)) <= s.opt.Quota/share
	if len(h.Findings) > MaxFindings {
		h.Findings = h.Findings[:MaxFindings:MaxFindings]
	}
	unlock, err := s.lockItems(ctx)
	if err != nil {
		return h, err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.current()
	if err != nil {
		return h, err
	}
	if err := s.sweep(x); err != nil {
		return h, err
	}
	e := entry{cell: s.cellOf(h.Agent, h.Origin), mark: s.markOf(h.Subject), size: h.Size, kept: h.Kept}
	if old, ok := x.find(e.mark, e.cell); ok {
		h.ID, h.At, h.Size, h.Kept = old.id, old.at(), old.size, old.kept
		return h, nil
	}
	return h, s.keep(x, &h, e, content)
}

// keep writes a new hold.
func (s *Store) keep(x *index, h *Hold, e entry, content []byte) error {
	now := s.opt.Now()
	id, err := ulid.New(ulid.Timestamp(now), s.opt.Random)
	if err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	if err := s.change(x); err != nil {
		return err
	}
	c := x.cells[e.cell]
	if c == nil {
		if err := durable.MkdirPrivate(filepath.Join(s.dir, itemsFolder, e.cell)); err != nil {
			return fmt.Errorf("holds: %w", err)
		}
		c = newCell(e.cell)
		x.cells[e.cell] = c
	}
	if !s.rate(e.cell).take(now) {
		return errors.Join(ErrRate, s.countPushed(c))
	}
	if err := s.makeRoom(x, &e); err != nil {
		return err
	}
	h.ID, h.At = idPrefix+id.String(), int64(id.Time())
	e.id = h.ID
	data, err := s.encode(h, content)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(s.path(e), data, 0o600); err != nil {
		s.index = nil // what there is now is read again
		return fmt.Errorf("holds: %w", err)
	}
	c.add(e)
	return nil
}

// Bounds of what a hold says beside its content, in bytes.
const (
	maxText = 256
	maxPath = 4 << 10
)

// check refuses a hold that is about nothing, and cuts what is too long of words
// that decide nothing.
func (h *Hold) check() error {
	switch h.Form {
	case FormResult, FormError, FormMessage:
	default:
		return fmt.Errorf("%w: form", ErrOptions)
	}
	for _, p := range []*string{&h.Method, &h.Run, &h.Call, &h.Upstream, &h.Item, &h.Name, &h.Reason, &h.Engine} {
		*p = cutText(*p)
	}
	return h.Subject.check()
}

func cutText(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "\ufffd")
}

func (sub *Subject) check() error {
	if sub.Origin == "" || sub.Kind == "" || sub.Digest.IsZero() || len(sub.Origin) > maxPath || len(sub.Path) > maxPath || len(sub.Tool) > maxText {
		return fmt.Errorf("%w: subject", ErrOptions)
	}
	return nil
}

// List are all holds, oldest first. With an error, which names those that are
// damaged, come those that could be read.
func (s *Store) List() ([]Hold, error) {
	cells, err := walk(s.dir)
	if err != nil {
		return nil, err
	}
	var out []Hold
	var bad []error
	for _, c := range cells {
		for _, e := range c.entries {
			if e.at() < s.expired() {
				continue
			}
			h, _, err := s.load(e, false)
			switch {
			case err == nil:
				out = append(out, h)
			case !errors.Is(err, ErrMissing): // pushed out meanwhile
				bad = append(bad, err)
			}
		}
	}
	slices.SortFunc(out, func(a, b Hold) int { return strings.Compare(a.ID, b.ID) })
	return out, errors.Join(bad...)
}

// Get is one hold. ErrMissing, ErrDamaged.
func (s *Store) Get(id string) (Hold, error) {
	h, _, err := s.read(id, false)
	return h, err
}

// Content is what is held, byte for byte. ErrMissing, ErrNotKept, ErrDamaged.
func (s *Store) Content(id string) ([]byte, error) {
	h, content, err := s.read(id, true)
	if err == nil && !h.Kept {
		return nil, ErrNotKept
	}
	return content, err
}

func (s *Store) read(id string, whole bool) (Hold, []byte, error) {
	cells, err := walk(s.dir)
	if err != nil {
		return Hold{}, nil, err
	}
	for _, c := range cells {
		if i, ok := slices.BinarySearchFunc(c.entries, id, func(e entry, id string) int { return strings.Compare(e.id, id) }); ok {
			if c.entries[i].at() < s.expired() {
				break
			}
			return s.load(c.entries[i], whole)
		}
	}
	return Hold{}, nil, ErrMissing
}

// Pushed are how many holds of whom were pushed out, or came too fast to be kept.
// It names them by a hold that is still there.
func (s *Store) Pushed() ([]Pushed, error) {
	cells, err := walk(s.dir)
	if err != nil {
		return nil, err
	}
	var out []Pushed
	for _, c := range cells {
		if c.pushed == 0 {
			continue
		}
		p := Pushed{Count: c.pushed, Last: c.last}
		for _, e := range c.entries {
			if h, _, err := s.load(e, false); err == nil {
				p.Agent, p.Origin = h.Agent, h.Origin
				break
			}
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Pushed) int {
		return strings.Compare(a.Origin+"\x00"+string(a.Agent), b.Origin+"\x00"+string(b.Agent))
	})
	return out, nil
}

// A bucket bounds how fast holds of one cell are kept by one process: each is
// written through to the disk.
type bucket struct {
	left float64
	at   time.Time
}

const (
	bucketSize = 500
	bucketRate = 20 // a second
)

func (s *Store) rate(cell string) *bucket {
	b := s.rates[cell]
	if b == nil {
		if len(s.rates) > s.opt.Count { // of cells that are gone
			clear(s.rates)
		}
		b = &bucket{bucketSize, s.opt.Now()}
		s.rates[cell] = b
	}
	return b
}

func (b *bucket) take(now time.Time) bool {
	if d := now.Sub(b.at); d > 0 {
		b.left = min(bucketSize, b.left+d.Seconds()*bucketRate)
		b.at = now
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
