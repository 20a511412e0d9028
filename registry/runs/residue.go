package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/policy"
)

// Errors of what a run holds.
var (
	ErrWithdrawn = errors.New("runs: what this came from was withdrawn meanwhile")
	ErrNoResult  = errors.New("runs: no such result of this run is withdrawn")
)

// Bounds of what is remembered of the results of one run. What goes over one of
// them is not forgotten: the context then stays at its worst, or only the whole of
// what a source returned can be cleared, not single results.
const (
	MaxSources = 10_000
	MaxResults = 100_000
	maxOnly    = 1000 // results that are withdrawn apart from their source's others
	maxClears  = 1000
)

// A Source is what results came from: one version of a tool or prompt; of
// resources, which come and go as files do, an upstream's all together.
type Source struct {
	Origin string             `json:"origin"`
	Kind   string             `json:"kind,omitzero"` // KindTool, …; empty: words outside of any call
	Name   string             `json:"name,omitzero"` // of a tool or prompt
	Tool   credentials.ToolID `json:"tool,omitzero"`
	Gen    uint64             `json:"gen,omitzero"`
	Ver    uint64             `json:"ver,omitzero"`
}

// Kinds of sources.
const (
	KindTool     = "tool"
	KindPrompt   = "prompt"
	KindResource = "resource" // read by whatever: listed, linked, by a template
)

// Why what a source returned counts no longer. The words stand in records.
const (
	WhyRevoked   = "revoked"     // its registrant revoked the tool
	WhyCondemned = "condemned"   // an operator condemned the tool, its registrant or its origin
	WhyViolated  = "violated"    // its content is violated: it contradicts what it declares, or was found hostile
	WhyItemGone  = "item_gone"   // the item left the upstream's list
	WhyLost      = "server_gone" // the upstream is away for longer than Grace
)

// A Held is a source that the run holds results of, from its first result on.
// Once it has ended, further results of the same source are another's.
type Held struct {
	Source
	Since int64    `json:"since"`          // milliseconds since the epoch
	Ended int64    `json:"ended,omitzero"` // when its results' labels came to their end; 0: they have not
	Why   string   `json:"why,omitzero"`
	Clear bool     `json:"clear,omitzero"` // all of them were found clear again: nothing is withdrawn
	Only  []string `json:"only,omitzero"`  // only these are withdrawn; the others were found clear again
}

// Withdrawn tells whether results of it were withdrawn, cleared or not.
func (h *Held) Withdrawn() bool { return h.Ended != 0 && !h.Clear }

// A Withdrawn is a source whose results were withdrawn and have not been cleared.
type Withdrawn struct {
	Held
	Index   int      // among the sources of its run
	Results []string // ids of the results that are still in the context
	More    bool     // there may be results whose ids are not known
}

// A Result is one result on its way to the agent.
type Result struct {
	ID     string // res_ and a ULID
	Call   string // call_ and a ULID
	Engine string // that found all of it clear, with every stage; empty: none did
}

// Deliver has it on record that the run is about to hold a result of a source.
// Only when it returned nil may the result be delivered. The source is durable
// before, once for each; the result's id is not waited for. ErrWithdrawn: the
// source came to its end meanwhile.
func (r *Run) Deliver(ctx context.Context, src Source, res Result) error {
	v, err := r.see()
	if err != nil {
		return err
	}
	i, ok := v.live[src]
	if !ok {
		if v, err = r.hold(ctx, src); err != nil {
			return err
		}
		if i, ok = v.live[src]; !ok {
			return nil // more sources than are remembered: the context is at its worst
		}
	}
	if err := r.h.results(r.id).add(i, res, r.h.store.opt.Now().UnixMilli(), len(v.doc.Held)); err != nil {
		return err
	}
	now, err := r.see()
	if err != nil {
		return err
	}
	if now != v && now.doc.Held[i].Ended != 0 {
		return ErrWithdrawn
	}
	return nil
}

// hold adds a source.
func (r *Run) hold(ctx context.Context, src Source) (*View, error) {
	err := r.amend(ctx, func(d *document) (*document, error) {
		if slices.ContainsFunc(d.Held, func(h Held) bool { return h.Source == src && h.Ended == 0 }) || d.Overflow {
			return nil, nil // another process was first
		}
		n := *d
		if len(d.Held) >= MaxSources {
			n.Overflow = true
		} else {
			n.Held = append(slices.Clip(d.Held), Held{Source: src, Since: r.h.store.opt.Now().UnixMilli()})
		}
		return &n, nil
	})
	if err != nil {
		return nil, err
	}
	return r.see()
}

// amend changes the document of this run.
func (r *Run) amend(ctx context.Context, f func(*document) (*document, error)) error {
	_, err := r.h.change(ctx, func(d *document) (*document, error) {
		if err := r.check(d); err != nil {
			return nil, err
		}
		return f(d)
	})
	return err
}

// Look is what the run holds now: the same pointer for as long as nothing changed.
func (r *Run) Look() (*View, error) { return r.see() }

// Context is what the run has read so far, seen from an origin: worst while it
// holds anything withdrawn, or may hold what is not on record.
func (v *View) Context(origin string) policy.Context {
	switch {
	case len(v.open) > 0 || v.doc.Overflow:
		return policy.Worst
	case len(v.origins) == 0:
		return policy.Clean
	case len(v.origins) == 1 && v.origins[origin]:
		return policy.Own
	}
	return policy.Untrusted
}

// Held are the sources that the run holds results of and that have not ended, by
// their index.
func (v *View) Held() map[int]Held {
	out := make(map[int]Held, len(v.live))
	for _, i := range v.live {
		out[i] = v.doc.Held[i]
	}
	return out
}

// Sources are all sources that the run ever held results of, by their index. They
// are shared and must not be changed.
func (v *View) Sources() []Held { return v.doc.Held }

// Info says what run it is.
func (v *View) Info() Info { return Info{v.doc.Profile, time.UnixMilli(v.doc.Began).UTC()} }

// Info is what a run began with.
type Info struct {
	Profile string
	Began   time.Time
}

// Origins are those of what Held returns, sorted. They are shared and must not be
// changed.
func (v *View) Origins() []string { return v.from }

// Withdrawn is what was withdrawn and has not been cleared, oldest first. It is
// shared and must not be changed.
func (v *View) Withdrawn() []Withdrawn { return v.open }

// Away are the upstreams that are lost, and since when in milliseconds since the
// epoch. It is shared and must not be changed.
func (v *View) Away() map[string]int64 { return v.doc.Lost }

// An End says that a source's results count no longer.
type End struct {
	Index int
	Why   string
	// Clear are the results that were found clear again; the others are withdrawn.
	// What was revoked or condemned has none.
	Clear map[string]bool
}

// End ends sources. note is told of each, with the results that it withdraws, before
// it is durable; since ending only takes away, an error of note stops nothing and is
// returned. What ended before is left as it is.
func (r *Run) End(ctx context.Context, ends []End, note func(Withdrawn) error) error {
	var noted error
	err := r.amend(ctx, func(d *document) (*document, error) {
		n := *d
		n.Held = slices.Clone(d.Held)
		var known *ledger
		for _, e := range ends {
			if e.Index < 0 || e.Index >= len(n.Held) || n.Held[e.Index].Ended != 0 {
				continue
			}
			if known == nil {
				known = r.h.resultsLocked(r.id).read()
			}
			w := r.end(&n.Held[e.Index], e, known)
			noted = errors.Join(noted, note(w))
		}
		if known == nil {
			return nil, nil
		}
		noted = errors.Join(noted, r.h.publish())
		return &n, nil
	})
	return errors.Join(err, noted)
}

// end fills in what becomes of a source.
func (r *Run) end(h *Held, e End, known *ledger) Withdrawn {
	h.Ended, h.Why = max(1, r.h.store.opt.Now().UnixMilli()), e.Why
	those, more := known.of(e.Index)
	ids := all(those)
	left := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return e.Clear[id] })
	switch {
	case more || len(left) == len(ids) || len(left) > maxOnly:
		left = ids
	case len(left) == 0:
		h.Clear = true
	default:
		h.Only = left
	}
	return Withdrawn{Held: *h, Index: e.Index, Results: left, More: more}
}

// all are ids, each once.
func all(ids []known) []string {
	out := make([]string, 0, len(ids))
	for i := range ids {
		out = append(out, ids[i].id)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Results are the results of a source: those that this engine found clear, with
// every stage, the others, and whether there may be more than those.
func (r *Run) Results(index int, engine string) (clear map[string]bool, others []string, more bool) {
	ids, more := r.h.results(r.id).read().of(index)
	clear = map[string]bool{}
	sum := engineSum(engine)
	for _, x := range ids { // one id may stand for several texts of one call
		if was, seen := clear[x.id]; engine != "" && x.engine == sum && (was || !seen) {
			clear[x.id] = true
		} else {
			clear[x.id] = false
		}
	}
	for id, ok := range clear {
		if !ok {
			others = append(others, id)
			delete(clear, id)
		}
	}
	slices.Sort(others)
	return clear, others, more
}

// Lost remembers since when an upstream is away, where the run holds results of
// it; back forgets that.
func (r *Run) Lost(ctx context.Context, origin string, back bool) error {
	v, err := r.see()
	if err != nil {
		return err
	}
	if _, gone := v.doc.Lost[origin]; gone != back || !back && !slices.Contains(v.from, origin) {
		return nil
	}
	return r.amend(ctx, func(d *document) (*document, error) {
		if _, gone := d.Lost[origin]; gone != back {
			return nil, nil
		}
		n := *d
		n.Lost = map[string]int64{}
		for o, at := range d.Lost {
			if o != origin {
				n.Lost[o] = at
			}
		}
		if !back {
			n.Lost[origin] = max(1, r.h.store.opt.Now().UnixMilli())
		}
		return &n, nil
	})
}

// A View is what a run holds at one moment. It is never changed.
type View struct {
	doc     *document
	live    map[Source]int
	origins map[string]bool // of everything that was ever read
	from    []string        // of what is live, sorted
	open    []Withdrawn
}

// see is the view of the run as it is now; the same pointer for as long as
// nothing changed.
func (r *Run) see() (*View, error) {
	h := r.h
	h.mu.Lock()
	defer h.mu.Unlock()
	d, err := h.load()
	if err != nil {
		return nil, err
	}
	if err := r.check(d); err != nil {
		return nil, err
	}
	if h.seen != nil && h.seen.doc == d {
		return h.seen, nil
	}
	h.seen = h.look(d)
	return h.seen, nil
}

// look reads a document. mu is held.
func (h *holder) look(d *document) *View {
	v := &View{doc: d, live: map[Source]int{}, origins: map[string]bool{}}
	cleared := h.cleared(d)
	var known *ledger
	for i := range d.Held {
		x := &d.Held[i]
		v.origins[x.Origin] = true
		switch {
		case x.Ended == 0:
			v.live[x.Source] = i
			if !slices.Contains(v.from, x.Origin) {
				v.from = append(v.from, x.Origin)
			}
		case x.Withdrawn() && cleared.until < x.Ended:
			w := Withdrawn{Held: *x, Index: i}
			if known == nil {
				known = h.resultsLocked(d.Run).read()
			}
			ids, more := known.of(i)
			if w.Results, w.More = all(ids), more; x.Only != nil {
				w.Results, w.More = x.Only, false
			}
			w.Results = slices.DeleteFunc(slices.Clone(w.Results), func(id string) bool { return cleared.results[id] })
			if len(w.Results) > 0 || w.More || len(ids) == 0 {
				v.open = append(v.open, w)
			}
		}
	}
	slices.Sort(v.from)
	return v
}

func (w *Withdrawn) String() string {
	return fmt.Sprintf("%s %s %s: %s", w.Origin, w.Kind, w.Name, w.Why)
}
