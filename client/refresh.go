package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyset"
)

// A flight is one fetch that any number of callers wait for. It goes on when
// they give up.
type flight struct {
	done chan struct{} // closed when it is over
	err  error         // valid then
}

// current is a set that is fresh enough at now. If there is none it waits for
// one fetch.
func (k *Keys) current(ctx context.Context) (*snapshot, error) {
	s, now := k.view.Load(), k.now()
	if s != nil && s.Check(now) == nil {
		if k.isDue(now) {
			k.launch()
		}
		return s, nil
	}
	err := k.refresh(ctx)
	s = k.view.Load()
	if s == nil {
		return nil, fmt.Errorf("%w: %w", ErrNoKeys, err)
	}
	if stale := s.Check(k.now()); stale != nil {
		if err != nil {
			return nil, fmt.Errorf("%w: %w", stale, err)
		}
		return nil, stale
	}
	return s, nil
}

// refresh fetches, or joins the fetch that is going on, and waits. Soon after a
// failure it gives that failure's error instead.
func (k *Keys) refresh(ctx context.Context) error {
	k.mu.Lock()
	if k.flight == nil && k.fails > 0 && !k.isDue(k.now()) {
		defer k.mu.Unlock()
		return k.last
	}
	f := k.start(false)
	k.mu.Unlock()
	return f.wait(ctx)
}

// isDue reports whether it is time for a fetch. A clock that was set back does
// not put it off.
func (k *Keys) isDue(now time.Time) bool {
	left := time.Duration(k.due.Load() - now.UnixNano())
	return left <= 0 || left > k.o.Refresh
}

// launch has a fetch go on in the background.
func (k *Keys) launch() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isDue(k.now()) {
		k.start(false)
	}
}

func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start begins a fetch unless one is going on. The caller holds mu.
func (k *Keys) start(seek bool) *flight {
	if k.flight != nil {
		return k.flight
	}
	f := &flight{done: make(chan struct{})}
	if k.closed {
		f.err = ErrClosed
		close(f.done)
		return f
	}
	k.flight = f
	k.wg.Add(1)
	go func() {
		defer k.wg.Done()
		err := k.fetch(k.ctx, seek)
		last := err
		if err == nil {
			last = k.onView(k.ctx, k.view.Load())
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		wait := k.o.Refresh
		if k.last = last; last == nil {
			k.fails = 0
			wait = k.jitter(wait, 8)
		} else {
			k.fails++
			wait = k.backoff(k.fails, firstRetry, wait)
		}
		k.due.Store(k.now().Add(wait).UnixNano())
		f.err, k.flight = err, nil
		close(f.done)
	}()
	return f
}

// fetch gets the key set and takes it over if it is good.
func (k *Keys) fetch(ctx context.Context, seek bool) error {
	if err := k.mem.load(ctx); err != nil {
		return err
	}
	c := call{method: http.MethodGet, path: "/.well-known/jwks.json", limit: keyset.MaxDocument,
		accept: "application/json, application/jwk-set+json", header: http.Header{}}
	if seek {
		c.header.Set("Cache-Control", "no-cache")
	}
	doc, _, err := k.exchange(ctx, c)
	if err != nil {
		return fmt.Errorf("key set: %w", err)
	}
	v, err := k.open(doc, k.now())
	if err != nil {
		return fmt.Errorf("key set: %w", err)
	}
	// Nothing is decided by a set before the pins that it raises are durable.
	if err := k.mem.update(ctx, func(kept *Kept) { kept.Pins = v.Pins() }); err != nil {
		return fmt.Errorf("key set: %w", err)
	}
	if k.mem.pins().Ver > v.Pins().Ver { // another process has seen a newer one
		return fmt.Errorf("key set: %w", keyset.ErrRollback)
	}
	s := &snapshot{View: v}
	if old := k.view.Load(); old != nil {
		s.epoch = old.epoch
		if old.Pins().Ver != v.Pins().Ver || old.Freshness().List != v.Freshness().List {
			s.epoch++
		}
	}
	k.view.Store(s)
	return nil
}

// seek looks for a key that the set does not have. It is nil if the set has it
// now.
func (k *Keys) seek(ctx context.Context, kid credentials.KeyID) error {
	for {
		k.mu.Lock()
		now := k.now()
		if until, ok := k.missing.get(kid); ok && now.Before(until) {
			k.mu.Unlock()
			return envelope.ErrUnknownKey
		}
		mine := k.flight == nil
		if mine && k.soughtLately(now) {
			k.missing.put(kid, k.sought.Add(SeekEvery))
			k.mu.Unlock()
			return envelope.ErrUnknownKey
		}
		if mine {
			k.sought = now
		}
		f := k.start(true)
		k.mu.Unlock()
		err := f.wait(ctx)
		if k.has(kid) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !mine {
			continue // that fetch may have begun before the key was there
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if err != nil {
			k.missing.put(kid, now.Add(SeekEvery))
			return fmt.Errorf("%w: %w", envelope.ErrUnknownKey, err)
		}
		k.missing.put(kid, now.Add(missingFor))
		return envelope.ErrUnknownKey
	}
}

func (k *Keys) soughtLately(now time.Time) bool {
	d := now.Sub(k.sought)
	return !k.sought.IsZero() && d >= 0 && d < SeekEvery
}

func (k *Keys) has(kid credentials.KeyID) bool {
	s := k.view.Load()
	if s == nil {
		return false
	}
	for _, e := range s.Entries() {
		if e.Kid == kid {
			return true
		}
	}
	return false
}
