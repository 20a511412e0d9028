package node

import (
	"context"
	"errors"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
)

// Bounds of a review.
const (
	reviewTime  = 30 * time.Second // for one version
	reviewIdle  = 10 * time.Second // between looks where nothing happens
	reviewChunk = 1000             // entries of the log read at once
	retryFirst  = 30 * time.Second // after a review that did not come to its end
	retryLast   = time.Hour
)

// A reviewer has every registered version inspected that nobody has looked at, and
// puts the verdict on record: clear is inspected, suspect is suspect, hostile is
// violated. Nothing of what was found goes into the log (RULES.md 22, 29).
//
// It follows the log. Registrants take turns, so that one who registers thousands
// does not keep the others waiting.
type reviewer struct {
	n      *Node
	at     uint64 // index of the next entry to look at
	begun  bool
	queue  turns
	later  map[credentials.ToolID]*putBack
	copies *copies
}

// putBack is a version whose review did not come to its end, or is to wait.
type putBack struct {
	digest credentials.Digest
	due    time.Time
	pause  time.Duration
}

func newReviewer(n *Node) *reviewer {
	return &reviewer{n: n, later: map[credentials.ToolID]*putBack{}, copies: newCopies()}
}

func (r *reviewer) run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := r.n.record.Changed()
		if err := r.follow(ctx); err != nil && ctx.Err() == nil {
			r.n.log.Warn("review: following the log", "err", err)
		}
		r.due()
		for ctx.Err() == nil {
			id, ok := r.queue.next()
			if !ok {
				break
			}
			if err := r.review(ctx, id); err != nil && ctx.Err() == nil {
				r.n.log.Warn("review", "tool", id, "err", err)
			}
		}
		idle := time.NewTimer(r.pause())
		select {
		case <-changed:
		case <-idle.C:
		case <-ctx.Done():
		}
		idle.Stop()
	}
}

// pause is until something that was put back is due.
func (r *reviewer) pause() time.Duration {
	d, now := reviewIdle, r.n.opt.Now()
	for _, x := range r.later {
		d = min(d, max(x.due.Sub(now), 100*time.Millisecond))
	}
	return d
}

// due queues what was put back long enough.
func (r *reviewer) due() {
	v, err := r.n.record.View()
	if err != nil {
		return
	}
	now := r.n.opt.Now()
	for id, x := range r.later {
		t, err := v.Tool(id)
		switch {
		case err != nil, !waits(t), t.Digest != x.digest:
			delete(r.later, id)
		case !now.Before(x.due):
			r.queue.add(t.Owner, id)
		}
	}
}

// waits tells whether a tool's version is one that nobody has looked at.
func waits(t *registry.Tool) bool {
	return t.Live && t.Content == labels.Uninspected && !t.Condemned
}

// follow queues what has waited at the start, and then what the log brings.
func (r *reviewer) follow(ctx context.Context) error {
	v, err := r.n.record.View()
	if err != nil {
		return err
	}
	if !r.begun {
		for t := range v.Tools("") {
			switch {
			case waits(t):
				r.queue.add(t.Owner, t.Row.Tool)
			case t.Live && t.Content <= labels.Suspect:
				if set, err := r.specimens(ctx, t.Digest); err == nil {
					r.copies.doubt(printOf(set))
				}
			}
		}
		r.begun, r.at = true, v.Head.Size
		return nil
	}
	for r.at < v.Head.Size {
		entries, err := r.n.store.Read(ctx, r.at, int(min(v.Head.Size-r.at, reviewChunk)))
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, raw := range entries {
			r.at++
			if e, err := registry.ParseEvent(raw); err == nil {
				r.entry(v.View, &e)
			}
		}
	}
	return nil
}

// entry queues the tool that an event leaves without a look.
func (r *reviewer) entry(v *state.View, e *registry.Event) {
	switch e.Type {
	case registry.ToolRegistered, registry.ToolOverwritten, registry.ToolTransferred, registry.ToolReturned:
		var d registry.ToolData
		if e.Decode(&d) != nil {
			return
		}
		if t, err := v.Tool(d.ID); err == nil && waits(t) {
			r.queue.add(t.Owner, d.ID)
		}
	}
}

// review has one version inspected and records what it came to.
func (r *reviewer) review(ctx context.Context, id credentials.ToolID) error {
	v, err := r.n.record.View()
	if err != nil {
		r.putBack(id, credentials.Digest{}, retryFirst)
		return err
	}
	t, err := v.Tool(id)
	if err != nil || !waits(t) {
		return nil
	}
	set, err := r.specimens(ctx, t.Digest)
	if err != nil {
		r.again(id, t.Digest)
		return err
	}
	print := printOf(set)
	if wait := r.copies.wait(print, r.n.opt.Now()); wait > 0 {
		r.putBack(id, t.Digest, wait)
		return nil
	}
	c, sure := r.inspect(ctx, t.Origin, set)
	if !sure {
		r.again(id, t.Digest)
		return nil
	}
	if c != labels.Inspected {
		r.copies.doubt(print)
	}
	cmd := &registry.RecordInspection{Tool: id, Base: t.Digest, Content: c}
	cmd.ID, cmd.Caller = commandID(r.n.opt.Rand), registry.UnsafeLocal("")
	cmd.Req = sumOf(cmd.ID)
	_, err = r.n.record.Do(ctx, cmd)
	switch {
	case err == nil, errors.Is(err, registry.ErrUnchanged), errors.Is(err, registry.ErrStaleBase),
		errors.Is(err, registry.ErrToolRevoked), errors.Is(err, registry.ErrNotFound):
		delete(r.later, id) // done, by us or another process; or another version is there, and queued
		return nil
	}
	r.again(id, t.Digest)
	return err
}

// inspect is what a version comes to. What was not looked at to its end comes to
// nothing, and is looked at again.
func (r *reviewer) inspect(ctx context.Context, origin string, set []quarantine.Specimen) (c labels.Content, sure bool) {
	if len(set) == 0 {
		return labels.Suspect, true // its strings cannot be taken out: nobody can look at it
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	rep := r.n.opt.Inspector.Inspect(ctx, quarantine.Batch{Origin: origin, Specimens: set})
	if ctx.Err() != nil || rep.Partial && rep.Verdict != quarantine.Hostile {
		return labels.Suspect, false
	}
	switch rep.Verdict {
	case quarantine.Clear:
		return labels.Inspected, true
	case quarantine.Suspect:
		return labels.Suspect, true
	case quarantine.Hostile:
		return labels.Violated, true
	}
	return labels.Suspect, false
}

// specimens are the strings of metadata, by digest; the store does not verify that.
// None are what cannot be taken apart.
func (r *reviewer) specimens(ctx context.Context, d credentials.Digest) ([]quarantine.Specimen, error) {
	b, err := r.n.store.Content(ctx, d)
	if err != nil {
		return nil, err
	}
	if canon.Digest(canon.MetadataContext, b) != d {
		return nil, errors.New("stored content does not have its digest")
	}
	set, err := quarantine.Specimens("tool", b)
	if err != nil {
		return nil, nil
	}
	return set, nil
}

// again puts a version back that could not be reviewed now, longer each time.
func (r *reviewer) again(id credentials.ToolID, d credentials.Digest) {
	pause := retryFirst
	if x := r.later[id]; x != nil && x.digest == d {
		pause = min(2*max(x.pause, retryFirst), retryLast)
	}
	r.putBack(id, d, pause)
}

func (r *reviewer) putBack(id credentials.ToolID, d credentials.Digest, pause time.Duration) {
	r.later[id] = &putBack{d, r.n.opt.Now().Add(pause), pause}
}

// turns is a queue in which owners take turns.
type turns struct {
	order []credentials.KeyID // who has something, next first
	of    map[credentials.KeyID][]credentials.ToolID
	in    map[credentials.ToolID]bool
}

func (q *turns) add(owner credentials.KeyID, id credentials.ToolID) {
	if q.of == nil {
		q.of, q.in = map[credentials.KeyID][]credentials.ToolID{}, map[credentials.ToolID]bool{}
	}
	if q.in[id] {
		return
	}
	q.in[id] = true
	if len(q.of[owner]) == 0 {
		q.order = append(q.order, owner)
	}
	q.of[owner] = append(q.of[owner], id)
}

func (q *turns) next() (credentials.ToolID, bool) {
	if len(q.order) == 0 {
		return "", false
	}
	owner := q.order[0]
	q.order = q.order[1:]
	id := q.of[owner][0]
	if rest := q.of[owner][1:]; len(rest) > 0 {
		q.of[owner] = rest
		q.order = append(q.order, owner)
	} else {
		delete(q.of, owner)
	}
	delete(q.in, id)
	return id, true
}
