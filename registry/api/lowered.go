package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// listsKept is how many earlier lists are still served by their digest: a
// reader may hold a statement of freshness that names one of them.
const listsKept = 16

// Lowered keeps the list of labels that were lowered within the life of a
// label (RULES.md 24), for the statements of freshness and for their readers.
// Every event that may have worsened a label counts, so the list may hold a
// tool whose tier is what it was: its older labels are outdated all the same.
type Lowered struct {
	rec Record
	log Log

	mu    sync.Mutex // owns what follows
	built bool
	size  uint64 // entries of the log that it has seen
	seq   uint64 // index of the newest event about a label
	falls map[credentials.ToolID]labels.Lower
	dirty bool
	kept  []labels.Lowered // the newest last
	made  time.Time
}

// NewLowered follows a record. Nothing runs until it is asked.
func NewLowered(rec Record, log Log) *Lowered { return &Lowered{rec: rec, log: log} }

// Current is the list as of the present view, and the ledger index of the
// newest event about a label.
func (l *Lowered) Current(ctx context.Context, now time.Time) (list labels.Lowered, seq uint64, err error) {
	v, err := l.rec.View()
	if err != nil {
		return labels.Lowered{}, 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.follow(ctx, v, now); err != nil {
		return labels.Lowered{}, 0, err
	}
	// An unchanged list is made anew now and then, to drop what has expired.
	if l.dirty || len(l.kept) == 0 || now.Sub(l.made) > 10*time.Minute {
		l.remake(now)
	}
	return l.kept[len(l.kept)-1], l.seq, nil
}

func (l *Lowered) remake(now time.Time) {
	all := make([]labels.Lower, 0, len(l.falls))
	for id, f := range l.falls {
		if f.Until <= now.Unix() {
			delete(l.falls, id)
			continue
		}
		all = append(all, f)
	}
	next := labels.NewLowered(all, now)
	l.dirty, l.made = false, now
	if n := len(l.kept); n > 0 && l.kept[n-1].Digest() == next.Digest() {
		return
	}
	l.kept = append(l.kept, next)
	l.kept = slices.Clone(l.kept[max(0, len(l.kept)-listsKept):])
}

// named is a list that was current, by its digest.
func (l *Lowered) named(d credentials.Digest) (labels.Lowered, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range slices.Backward(l.kept) {
		if x.Digest() == d {
			return x, true
		}
	}
	return labels.Lowered{}, false
}

func (l *Lowered) follow(ctx context.Context, v *writer.Snapshot, now time.Time) error {
	if !l.built {
		if err := l.build(ctx, v, now); err != nil {
			return err
		}
	}
	for l.size < v.Head.Size {
		entries, err := l.log.Read(ctx, l.size, int(min(v.Head.Size-l.size, 1000)))
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return registry.ErrStaleView
		}
		for _, raw := range entries {
			e, err := registry.ParseEvent(raw)
			if err != nil {
				return err
			}
			l.apply(v, &e)
		}
	}
	return nil
}

func (l *Lowered) apply(v *writer.Snapshot, e *registry.Event) {
	index := l.size
	l.size++
	cs := changes(v, e, index, time.UnixMilli(e.At))
	if len(cs) > 0 {
		l.seq = index
	}
	if !worsens(e.Type) {
		return
	}
	for i := range cs {
		l.falls[cs[i].Tool] = labels.Fell(cs[i].Tool, index, time.UnixMilli(e.At))
		l.dirty = true
	}
}

// worsens reports whether an event can make a label worse or void.
func worsens(t registry.EventType) bool {
	switch t {
	case registry.ToolRegistered, registry.ToolReleased, registry.PrincipalEnrolled:
		return false
	}
	return true
}

// build takes the falls of the last day from the rows: a row whose label has
// moved since its registration, within the life of a label, counts.
func (l *Lowered) build(ctx context.Context, v *writer.Snapshot, now time.Time) error {
	since, err := l.firstAfter(ctx, v.Head.Size, now.Add(-labels.MaxLabelLife-time.Minute))
	if err != nil {
		return err
	}
	l.falls, l.seq = map[credentials.ToolID]labels.Lower{}, 0
	for t := range v.Tools("") {
		l.seq = max(l.seq, t.Seq)
		if t.Seq < since || t.Events == 1 && t.Seq == t.Index {
			continue
		}
		l.falls[t.Row.Tool] = labels.Fell(t.Row.Tool, t.Seq, now)
	}
	l.built, l.size, l.dirty = true, v.Head.Size, true
	return nil
}

// firstAfter is the index of the first entry after a time: times in the log
// never fall.
func (l *Lowered) firstAfter(ctx context.Context, size uint64, t time.Time) (uint64, error) {
	lo, hi := uint64(0), size
	for lo < hi {
		mid := lo + (hi-lo)/2
		entries, err := l.log.Read(ctx, mid, 1)
		if err != nil {
			return 0, err
		}
		if len(entries) != 1 {
			return 0, registry.ErrStaleView
		}
		e, err := registry.ParseEvent(entries[0])
		if err != nil {
			return 0, err
		}
		if e.At < t.UnixMilli() {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

func (s *Server) listLowered(c *call) (*answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	list, _, err := s.lowered.Current(c.ctx, c.now)
	if err != nil {
		return nil, err
	}
	if text := q.Get("digest"); text != "" {
		d, err := credentials.ParseDigest(text)
		if err != nil {
			return nil, at("digest", err)
		}
		var found bool
		if list, found = s.lowered.named(d); !found {
			return nil, registry.ErrNotFound
		}
	}
	return c.cached(list.JSON(), "application/json", "no-cache"), nil
}
