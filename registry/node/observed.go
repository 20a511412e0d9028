package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/observed"
)

// observedFolder is where the accounts of upstreams' items are.
const observedFolder = "observed"

func (c ConsistentConf) thresholds() observe.Thresholds {
	return observe.Thresholds{Calls: c.Calls, Runs: c.Runs, Span: c.Span, Expiry: c.Expiry}
}

// Observed are the accounts of what the items of upstreams did. They are opened at
// the first call, and closed with the node.
func (n *Node) Observed() (*observed.Store, error) {
	n.accounts.mu.Lock()
	defer n.accounts.mu.Unlock()
	if n.accounts.store != nil {
		return n.accounts.store, nil
	}
	s, err := observed.Open(n.cfg.path(observedFolder), observed.Options{
		Now: n.opt.Now, Thresholds: n.cfg.Gateway.Consistent.thresholds(), Sign: n.Seal, Verify: n.Unseal, Log: n.log,
	})
	n.accounts.store = s
	return s, err
}

// accounts is the node's part of what was observed, opened when somebody first asks
// for it.
type accounts struct {
	mu    sync.Mutex
	store *observed.Store
}

func (a *accounts) opened() *observed.Store {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.store
}

func (n *Node) closeObserved() error {
	s := n.accounts.opened()
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := s.Close()
	if !n.opt.Offline {
		n.conclude(ctx, map[observed.Subject]time.Time{})
	}
	return err
}

// concludeEvery is how often the registry's log is told what was observed of tools
// that somebody registered. In this deployment a label turns at once, by the
// account itself.
const concludeEvery = 2 * time.Second

// putOff is how long the log is not asked again to take something that it refused.
const putOff = 10 * time.Minute

// keepConcluding tells the log until ctx ends.
func (n *Node) keepConcluding(ctx context.Context) {
	later := map[observed.Subject]time.Time{}
	every(ctx, concludeEvery, func() { n.conclude(ctx, later) })
}

// conclude tells the registry's log what this deployment came to of tools that are
// registered: each with the place of a decision on a call that it carried.
func (n *Node) conclude(ctx context.Context, later map[observed.Subject]time.Time) {
	s := n.accounts.opened()
	if s == nil {
		return
	}
	n.pin(ctx, s)
	now := n.opt.Now()
	due, err := s.Due()
	if err != nil {
		n.log.Warn("what was observed", "err", err)
	}
	for i := range due {
		d := &due[i]
		if d.Content == labels.Consistent && now.Before(later[d.Subject]) {
			continue
		}
		cmd := &registry.RecordConduct{Tool: d.Tool, Gen: d.Gen, Ver: d.Ver, Base: d.Digest, Content: d.Content, Until: d.Until, Spool: d.At.Spool, Entry: d.At.Entry}
		cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
		cmd.Req = sumOf(cmd.ID)
		_, err := n.record.Do(ctx, cmd)
		switch {
		case errors.Is(err, registry.ErrUnchanged) && d.Content == labels.Consistent:
			if len(later) > observed.MaxAccounts {
				clear(later)
			}
			later[d.Subject] = now.Add(putOff) // not inspected yet, or suspect: it may become so
			continue
		case errors.Is(err, registry.ErrUnchanged), errors.Is(err, registry.ErrStaleBase), errors.Is(err, registry.ErrToolRevoked), errors.Is(err, registry.ErrNotFound):
			// The log says it, or the version is none any more.
		case err != nil:
			if ctx.Err() == nil {
				n.log.Warn("recording what was observed", "tool", d.Tool, "err", err)
			}
			continue
		}
		if err := d.Told(); err != nil {
			n.log.Warn("what was observed", "err", err)
		}
	}
}

// pin tells the registry's log of the first cleared use of a tool that is registered,
// where that changes its label (RULES.md 19): this process carried a call of what the
// upstream lists at this origin under this name, it reads as the registrant signed
// it, and the call was decided on all that the log says of the tool now.
func (n *Node) pin(ctx context.Context, s *observed.Store) {
	uses := s.Uses()
	if len(uses) == 0 {
		return
	}
	v, err := n.record.View()
	for i := range uses {
		u := &uses[i]
		if err != nil { // of no view, or of a command: it is tried again
			u.Place.Carried(u.Subject, u.View)
			continue
		}
		t, missing := v.Named(u.Origin, u.Name)
		if missing != nil || u.Kind != gate.Tool || t.Digest != u.Digest || u.View <= t.Index || !v.Pins(t) {
			continue
		}
		cmd := &registry.RecordUse{Tool: t.Row.Tool, Gen: t.Gen, Base: u.Digest, View: u.View}
		cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
		cmd.Req = sumOf(cmd.ID)
		_, no := n.record.Do(ctx, cmd)
		switch {
		case no == nil, errors.Is(no, registry.ErrUnchanged), errors.Is(no, registry.ErrStaleBase), errors.Is(no, registry.ErrToolRevoked), errors.Is(no, registry.ErrNotFound):
		default:
			n.log.Warn("recording the first use", "tool", t.Row.Tool, "err", no)
			u.Place.Carried(u.Subject, u.View)
		}
	}
}
