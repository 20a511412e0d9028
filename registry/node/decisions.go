package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/state"
)

// anchorEvery is how often a node puts on record where its spool stands.
const anchorEvery = 10 * time.Second

// decided is the node's part of the decision log, opened when a gateway first
// asks for it.
type decided struct {
	mu       sync.Mutex
	log      *decisions.Log
	anchored map[string]uint64 // what this process has seen on record, by spool
	swept    bool              // the spools that others left were looked at
}

// Decisions is the decision log of the folder, with a spool of this process's
// own. It is opened at the first call, and closed with the node.
func (n *Node) Decisions() (*decisions.Log, error) {
	n.decided.mu.Lock()
	defer n.decided.mu.Unlock()
	if n.decided.log != nil {
		return n.decided.log, nil
	}
	if n.opt.Offline {
		return nil, errors.New("node: an act on the folder decides nothing")
	}
	ctx, cancel := context.WithTimeout(context.Background(), graceful)
	defer cancel()
	anchors, err := n.anchors(ctx)
	if err != nil {
		return nil, err
	}
	l, err := decisions.Open(n.cfg.Data, decisions.Options{Now: n.opt.Now, Rand: n.opt.Rand,
		Retention: n.cfg.Gateway.Retention, Total: int64(n.cfg.Gateway.RecordMiB) << 20, Anchors: anchors})
	if err != nil {
		return nil, err
	}
	n.decided.log, n.decided.anchored = l, map[string]uint64{}
	for _, a := range anchors {
		n.decided.anchored[a.Spool] = a.Size
	}
	return l, nil
}

// anchors are what the registry's log says of the folder's spools.
func (n *Node) anchors(ctx context.Context) ([]decisions.Anchor, error) {
	v, err := n.record.Barrier(ctx)
	if err != nil {
		return nil, err
	}
	return anchorsIn(v.View), nil
}

func anchorsIn(v *state.View) (out []decisions.Anchor) {
	for a := range v.Anchors() {
		out = append(out, decisions.Anchor{Spool: a.Spool, Size: a.Size, Root: a.Root, Chain: a.Chain})
	}
	return out
}

// checkAnchors stops the start on a spool that is shorter than, or contradicts,
// its anchor (RULES.md 28).
func (n *Node) checkAnchors(ctx context.Context) error {
	anchors, err := n.anchors(ctx)
	if err != nil {
		return err
	}
	return decisions.CheckAnchors(n.cfg.Data, anchors)
}

// anchor puts on record where the spools of this process stand, where there is
// anything new; once also where those stand that other processes left behind.
func (n *Node) anchor(ctx context.Context) error {
	n.decided.mu.Lock()
	defer n.decided.mu.Unlock()
	d := &n.decided
	if d.log == nil || n.opt.AnchorEvery < 0 {
		return nil
	}
	todo, bad := d.log.Anchors() // with an error come those that could be made
	if !d.swept {
		left, err := d.log.Left()
		if err != nil {
			return err
		}
		todo = append(todo, left...)
	}
	for _, a := range todo {
		if a.Size <= d.anchored[a.Spool] {
			continue
		}
		cmd := &registry.RecordAnchor{Anchor: registry.AnchorData{Spool: a.Spool, Size: a.Size, Root: a.Root, Chain: a.Chain}}
		cmd.ID, cmd.Caller = commandID(n.opt.Rand), registry.UnsafeLocal("")
		cmd.Req = sumOf(cmd.ID)
		if _, err := n.record.Do(ctx, cmd); err != nil && !errors.Is(err, registry.ErrUnchanged) {
			return fmt.Errorf("anchoring the decision log: %w", err)
		}
		d.anchored[a.Spool] = a.Size
	}
	d.swept = true
	return bad
}

// keepAnchors anchors every so often until ctx ends.
func (n *Node) keepAnchors(ctx context.Context) {
	d := n.opt.AnchorEvery
	if d == 0 {
		d = anchorEvery
	}
	if d < 0 {
		return
	}
	every(ctx, d, func() {
		if err := n.anchor(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("decision log", "err", err)
		}
	})
}

// closeDecisions anchors what is there and ends the log.
func (n *Node) closeDecisions() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := n.anchor(ctx)
	n.decided.mu.Lock()
	defer n.decided.mu.Unlock()
	if n.decided.log == nil {
		return nil
	}
	return errors.Join(err, n.decided.log.Close())
}

func (d *doctor) decisions(ctx context.Context) {
	rep, err := decisions.Verify(ctx, d.cfg.Data, nil)
	if err != nil {
		d.fail("decision log", err, "")
		return
	}
	for i, p := range rep.Problems {
		if i == maxDoctorProblems {
			d.fail("decision log", fmt.Errorf("%d problems more", len(rep.Problems)-i), "")
			break
		}
		d.fail("decision log", fmt.Errorf("%s: %s: %s", p.Spool, p.Kind, p.Detail), "pratique ledger verify --data "+d.cfg.Data)
	}
	for _, s := range rep.Spools {
		if len(s.Torn) > 0 {
			d.warn("decision log", s.Spool+": a crash has torn its end; the next start mends it", "")
		}
		if s.Open > 0 && !s.Live {
			d.warn("decision log", fmt.Sprintf("%s: its process ended with %d calls open; the next gateway records them as lost", s.Spool, s.Open), "")
		}
	}
	if len(rep.Problems) == 0 && len(rep.Spools) > 0 {
		d.ok("decision log", fmt.Sprintf("%d entries in %d spools, every chain holds", rep.Entries(), len(rep.Spools)))
	}
}

const maxDoctorProblems = 10
