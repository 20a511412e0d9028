package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
)

// Copies are the places outside the store where the newest checkpoint is kept:
// files, best on another disk or machine, and URLs that take PUT and give GET.
// They are what shows a rollback of the whole store.
type Copies struct {
	Files []string
	URLs  []string
	HTTP  *http.Client // used without redirects and cookies; nil is fine
}

// Publish copies a checkpoint note to every place and returns the errors of
// those that failed. A place that holds a larger checkpoint, or another root
// for the same size, keeps it: that is ErrRollback or ErrFork.
func (c *Copies) Publish(ctx context.Context, raw []byte) error {
	if _, _, err := ParseUnverified(raw); err != nil {
		return err
	}
	var errs []error
	for _, f := range c.Files {
		if err := writeCopy(f, raw); err != nil {
			errs = append(errs, fmt.Errorf("copy checkpoint to %s: %w", f, err))
		}
	}
	for _, u := range c.URLs {
		if err := c.put(ctx, u, raw); err != nil {
			errs = append(errs, fmt.Errorf("copy checkpoint to %s: %w", u, err))
		}
	}
	return errors.Join(errs...)
}

// Known reads all copies and returns those that exist, opened under the
// policy. A place without a copy yet is skipped; one that cannot be read, or
// whose copy does not open, is an error: the start-up check must not pass
// because its evidence was damaged.
func (c *Copies) Known(ctx context.Context, policy Policy) ([]Checkpoint, error) {
	var out []Checkpoint
	read := func(place string, raw []byte, err error) error {
		if errors.Is(err, ErrNoCheckpoint) {
			return nil
		}
		if err == nil {
			var cp Checkpoint
			if cp, err = policy.Open(raw); err == nil {
				out = append(out, cp)
				return nil
			}
		}
		return fmt.Errorf("checkpoint kept at %s: %w", place, err)
	}
	for _, f := range c.Files {
		raw, err := readCopy(f)
		if err := read(f, raw, err); err != nil {
			return nil, err
		}
	}
	for _, u := range c.URLs {
		raw, err := c.get(ctx, u)
		if err := read(u, raw, err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CheckKnown says whether a log with that head is at least what it is known to
// have been: ErrRollback if it is shorter than a known checkpoint, ErrFork if
// it contradicts one. A start and a restore stop on either (RULES.md 28).
func CheckKnown(ctx context.Context, t *Tiles, h Head, known ...Checkpoint) error {
	for _, k := range known {
		if k.Size > h.Size {
			return fmt.Errorf("%w: %d entries, but a checkpoint of %d is known", ErrRollback, h.Size, k.Size)
		}
		root, err := t.Root(ctx, k.Size)
		if err != nil {
			return err
		}
		if root != k.Root || k.Size == h.Size && h.Root != k.Root {
			return fmt.Errorf("%w: of size %d", ErrFork, k.Size)
		}
	}
	return nil
}

// writeCopy never replaces a newer copy, also against another process. The
// copy is public and its signature protects it, hence 0644.
func writeCopy(path string, raw []byte) error {
	l, err := durable.Lock(path + ".lock")
	if err != nil {
		return err
	}
	defer l.Unlock()
	old, err := readCopy(path)
	if err == nil {
		err = advances(old, raw)
	}
	if err != nil && !errors.Is(err, ErrNoCheckpoint) {
		return err
	}
	return durable.WriteFile(path, raw, 0o644)
}

func readCopy(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoCheckpoint
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, MaxNote+1))
	if err == nil && len(raw) > MaxNote {
		err = ErrNote
	}
	return raw, err
}

func (c *Copies) get(ctx context.Context, url string) ([]byte, error) {
	u, err := baseURL(url)
	if err != nil {
		return nil, err
	}
	raw, err := get(ctx, strict(c.HTTP), u, MaxNote)
	if errors.Is(err, ErrNotServed) {
		err = ErrNoCheckpoint
	}
	return raw, err
}

func (c *Copies) put(ctx context.Context, url string, raw []byte) error {
	u, err := baseURL(url)
	if err != nil {
		return err
	}
	old, err := c.get(ctx, u)
	if err == nil {
		err = advances(old, raw)
	}
	if err != nil && !errors.Is(err, ErrNoCheckpoint) {
		return err
	}
	a, err := exchange(ctx, strict(c.HTTP), http.MethodPut, u, raw, MaxNote)
	if err != nil {
		return err
	}
	if a.status < 200 || a.status > 299 {
		return fmt.Errorf("%w: status %d", ErrAnswer, a.status)
	}
	return nil
}

// Publisher copies checkpoints in the background: always the newest offered,
// again after a failure. The log does not wait for it.
type Publisher struct {
	copies  *Copies
	retry   time.Duration
	onError func(error)
	next    atomic.Pointer[[]byte]
	wake    chan struct{}
}

// NewPublisher copies to copies; after a failure it reports it to onError (nil
// is fine) and tries again after retry.
func NewPublisher(copies *Copies, retry time.Duration, onError func(error)) *Publisher {
	if onError == nil {
		onError = func(error) {}
	}
	return &Publisher{copies: copies, retry: retry, onError: onError, wake: make(chan struct{}, 1)}
}

// Offer hands over a newer checkpoint note and never blocks.
func (p *Publisher) Offer(raw []byte) {
	p.next.Store(&raw)
	p.poke()
}

func (p *Publisher) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Run copies until ctx ends, and then once more what was offered last, within
// two seconds: an orderly stop leaves the newest checkpoint behind.
func (p *Publisher) Run(ctx context.Context) {
	for {
		select {
		case <-p.wake:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			p.copy(last)
			return
		}
		if p.copy(ctx) {
			continue
		}
		select {
		case <-time.After(p.retry):
			p.poke() // not Offer: a newer one may have come meanwhile
		case <-ctx.Done():
		}
	}
}

// copy publishes what was offered last; true if there is nothing left to do.
func (p *Publisher) copy(ctx context.Context) bool {
	raw := p.next.Load()
	if raw == nil {
		return true
	}
	err := p.copies.Publish(ctx, *raw)
	if err == nil {
		return true
	}
	p.onError(err)
	// An older checkpoint than the one kept is no failure to repeat: it is
	// either our own newer one or proof that this log went backwards.
	return errors.Is(err, ErrRollback) || errors.Is(err, ErrFork)
}
