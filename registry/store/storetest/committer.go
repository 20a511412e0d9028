package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pratique-dev/pratique/registry/store"
)

// Committer is the smallest writer there can be: one goroutine takes all
// entries that queued up during the previous commit as one batch. It catches
// up after a conflict and tries again; after an unknown outcome it fails the
// batch, as the caller of a real writer would have to ask by command id.
type Committer struct {
	// Extra, if set before the first Do, adds content and notes to each batch.
	Extra func(next store.Head, b *store.Batch)

	s     store.Store
	turns store.Turns // may be nil
	queue chan job
	done  chan struct{}
	once  sync.Once
	tree  *Tree

	crowded int // batches that still begin with a turn, since somebody else writes too
}

// crowd is how many batches take a turn after a conflict: asking first costs
// little, and a batch that was made for a head that has moved is made twice.
const crowd = 64

type job struct {
	entry []byte
	reply chan result
}

type result struct {
	index uint64
	err   error
}

// NewCommitter folds what s holds and starts the goroutine. With fair, a
// conflict makes the next batches take turns.
func NewCommitter(s store.Store, fair bool) (*Committer, error) {
	c := &Committer{s: s, queue: make(chan job, 1024), done: make(chan struct{}), tree: new(Tree)}
	if fair {
		c.turns, _ = s.(store.Turns)
	}
	if err := c.catchUp(); err != nil {
		return nil, err
	}
	go c.run()
	return c, nil
}

// Do appends one entry and returns its index once it is durable.
func (c *Committer) Do(entry []byte) (uint64, error) {
	j := job{entry: entry, reply: make(chan result, 1)}
	c.queue <- j
	r := <-j.reply
	return r.index, r.err
}

// Close ends the goroutine. No Do may be running or follow.
func (c *Committer) Close() {
	c.once.Do(func() { close(c.queue) })
	<-c.done
}

func (c *Committer) run() {
	defer close(c.done)
	for j := range c.queue {
		jobs := take(j, c.queue)
		first, err := c.commit(jobs)
		for i, j := range jobs {
			j.reply <- result{first + uint64(i), err}
		}
	}
}

// take adds what is queued already, up to a bound.
func take(j job, queue chan job) []job {
	jobs := []job{j}
	for len(jobs) < 256 {
		select {
		case j, ok := <-queue:
			if !ok {
				return jobs
			}
			jobs = append(jobs, j)
		default:
			return jobs
		}
	}
	return jobs
}

func (c *Committer) commit(jobs []job) (first uint64, err error) {
	entries := make([][]byte, len(jobs))
	for i, j := range jobs {
		entries[i] = j.entry
	}
	if c.crowded == 0 {
		if first, err = c.try(entries); !errors.Is(err, store.ErrConflict) {
			return first, err
		}
		c.crowded = crowd
	}
	c.crowded--
	if c.turns != nil {
		release, err := c.turns.Turn(context.Background())
		if err != nil {
			return 0, err
		}
		defer release()
	}
	for {
		if err := c.catchUp(); err != nil {
			return 0, err
		}
		if first, err = c.try(entries); !errors.Is(err, store.ErrConflict) {
			return first, err
		}
	}
}

// try appends at the head that this committer knows.
func (c *Committer) try(entries [][]byte) (first uint64, err error) {
	prev, next := c.tree.Head(), c.tree.Clone()
	for _, e := range entries {
		next.Add(e)
	}
	b := store.Batch{Entries: entries}
	if c.Extra != nil {
		c.Extra(next.Head(), &b)
	}
	switch err := c.s.Append(context.Background(), prev, next.Head(), b); {
	case err == nil:
		c.tree = next
		return prev.Size, nil
	case store.Unwritten(err):
		return 0, err
	default:
		return 0, errors.Join(err, c.catchUp())
	}
}

func (c *Committer) catchUp() error {
	h, err := c.s.Head(context.Background())
	if err != nil {
		return err
	}
	return Fold(c.s, c.tree, h)
}

// Fold reads on from the tree up to h and compares the roots: what everybody
// who follows a log does.
func Fold(s store.Store, t *Tree, h store.Head) error {
	for t.size < h.Size {
		es, err := s.Read(context.Background(), t.size, int(min(1024, h.Size-t.size)))
		if err != nil {
			return err
		}
		if len(es) == 0 {
			return fmt.Errorf("storetest: no entries at %d below %d", t.size, h.Size)
		}
		for _, e := range es {
			t.Add(e)
		}
	}
	if t.Head() != h {
		return fmt.Errorf("storetest: head says %d %x, entries make %d %x", h.Size, h.Root[:4], t.size, t.root4())
	}
	return nil
}

func (t *Tree) root4() []byte {
	h := t.Head()
	return h.Root[:4]
}

// Entries reads the whole log, and errs when entries and head disagree.
func Entries(s store.Store) ([][]byte, error) {
	h, err := s.Head(context.Background())
	if err != nil {
		return nil, err
	}
	var all [][]byte
	if h.Size > 0 {
		if all, err = s.Read(context.Background(), 0, int(h.Size)); err != nil {
			return nil, err
		}
	}
	var t Tree
	for _, e := range all {
		t.Add(e)
	}
	if t.Head() != h {
		return nil, fmt.Errorf("storetest: head says %d %x, entries make %d %x", h.Size, h.Root[:4], t.size, t.root4())
	}
	return all, nil
}
