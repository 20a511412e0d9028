package broker

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

const (
	patience = 3                // failures in a row before an origin is left alone, or the model has to prove itself
	pause    = 15 * time.Second // for which it is left alone then, and the model after a probe that failed then or was answered wrongly
)

// health is what is known of the model. A model that has not proven itself, at
// first or after a wrong answer or a pause, is asked two probes before anything
// else: a benign one, and a hostile one as long as requests get.
type health struct {
	probing chan struct{} // full while somebody has it prove itself

	mu     sync.Mutex // guards what follows
	proven bool
	row    int       // failures in a row
	until  time.Time // left alone until then
	report Health
}

// Health is what operators see of the model. It holds none of its words.
type Health struct {
	OK          bool   // the last probe was answered rightly, and requests go through
	Engine      string // as Broker.Engine says
	Asked       uint64 // requests that were answered, probes among them
	Failed      uint64 // requests that were not
	Wrong       uint64 // probes with a wrong answer
	Compromised uint64 // answers that repeated the canary: the text steered the model
	Last        string // the last failure, in our words
}

// Health is the state of the model so far.
func (b *Broker) Health() Health {
	b.health.mu.Lock()
	defer b.health.mu.Unlock()
	h := b.health.report
	h.OK, h.Engine = b.health.proven && b.health.row == 0, b.Engine()
	return h
}

// Check has the model prove itself now: a benign and a long hostile probe.
func (b *Broker) Check(ctx context.Context) error {
	b.health.mu.Lock()
	b.health.proven, b.health.until = false, time.Time{}
	b.health.mu.Unlock()
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return b.ready(ctx)
}

// state tells whether the model has proven itself, or an error while it is left
// alone.
func (b *Broker) state() (proven bool, err error) {
	h := &b.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.opt.Now().Before(h.until) {
		return false, ErrDown
	}
	return h.proven, nil
}

// ready has the model prove itself where it has not. One caller does so, the
// others wait for it.
func (b *Broker) ready(ctx context.Context) error {
	if proven, err := b.state(); proven || err != nil {
		return err
	}
	select {
	case b.health.probing <- struct{}{}:
		defer func() { <-b.health.probing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if proven, err := b.state(); proven || err != nil {
		return err
	}
	first, err := b.bits()
	if err != nil {
		return err
	}
	for i := range 2 {
		p, err := opinion.NewProbe(b.opt.Random, false)
		if (i == 0) == (first&1 == 0) { // does a whole window fit into the model's context?
			p, err = opinion.LongProbe(b.opt.Random, b.cfg.Window)
		}
		if err != nil {
			return err
		}
		if err := b.probeWith(ctx, p); err != nil {
			return err
		}
	}
	b.health.mu.Lock()
	defer b.health.mu.Unlock()
	b.health.proven = true
	return nil
}

// bits are eight random bits.
func (b *Broker) bits() (byte, error) {
	var x [1]byte
	if _, err := io.ReadFull(b.opt.Random, x[:]); err != nil {
		return 0, opinion.ErrRandom
	}
	return x[0], nil
}

// chance has one request of sixteen come with a probe, before or after it.
func (b *Broker) chance() (before, after bool, err error) {
	x, err := b.bits()
	return x < 8, x >= 8 && x < 16, err
}

// probe asks a probe of either sort.
func (b *Broker) probe(ctx context.Context) error {
	x, err := b.bits()
	if err != nil {
		return err
	}
	p, err := opinion.NewProbe(b.opt.Random, x&1 == 0)
	if err != nil {
		return err
	}
	return b.probeWith(ctx, p)
}

// probeWith asks a probe; the reply is to no text but ours, so it is read here.
func (b *Broker) probeWith(ctx context.Context, p opinion.Probe) error {
	reply, _, err := b.send(ctx, p.Batch, p.Question, nil)
	if err != nil {
		return err
	}
	if p.Right(reply) {
		return nil
	}
	h := &b.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report.Wrong++
	h.report.Last = ErrUnhealthy.Error()
	h.proven, h.until = false, b.opt.Now().Add(pause)
	b.opt.Log.Warn("language model answered a probe wrongly; what it should judge is suspect until it answers rightly")
	return ErrUnhealthy
}

func (b *Broker) answered(a *account) {
	h := &b.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report.Asked++
	h.row = 0
	if a != nil {
		a.row = 0
	}
}

// failed takes note of a request without an answer. Whoever writes a text may have
// written it so that this one fails: only its origin is left alone for that. After
// some in a row, of whichever origins, the model is to prove itself before anything
// else; a probe has no text but ours in it, and when that fails too all are left
// alone.
func (b *Broker) failed(err error, a *account, from string) {
	h := &b.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report.Failed++
	h.report.Last = ours(err)
	h.row++
	if h.row == 1 {
		b.opt.Log.Warn("language model does not answer; what it should judge is suspect", "why", ours(err))
	}
	if h.row >= patience {
		h.proven = false
	}
	switch {
	case a != nil:
		if a.row++; a.row >= patience {
			a.until = b.opt.Now().Add(pause)
		}
		if a.row == patience {
			b.opt.Log.Warn("language model does not answer about texts of one origin, which are suspect", "origin", from, "why", ours(err))
		}
	case h.row >= patience:
		h.until = b.opt.Now().Add(pause)
		b.opt.Log.Warn("language model does not answer a probe either; what it should judge is suspect", "why", ours(err))
	}
}

// paused tells whether an origin is left alone.
func (b *Broker) paused(a *account) bool {
	b.health.mu.Lock()
	defer b.health.mu.Unlock()
	return a != nil && b.opt.Now().Before(a.until)
}

// compromised records that a text made the model repeat what it must not. The
// verdict is the child's to give, and it is hostile.
func (b *Broker) compromised(from string) {
	b.health.mu.Lock()
	defer b.health.mu.Unlock()
	b.health.report.Compromised++
	b.opt.Log.Warn("language model was steered by a text that it judged", "origin", from)
}

// ours is an error in our own words only.
func ours(err error) string {
	for _, e := range []error{
		ErrTimeout, ErrUnreachable, ErrAddress, ErrTLS, ErrRedirect, ErrStatus, ErrType, ErrEncoding, ErrTooLarge, ErrEcho, ErrCommand,
	} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return "broker: failed"
}
