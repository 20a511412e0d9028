package gateway

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/runs"
)

// reachTime is how long an upstream that was lost may take to answer.
const reachTime = 10 * time.Second

// maxKept is how much of results is kept that not every stage has judged, in bytes:
// should their tool go away they are judged by all.
const maxKept = 8 << 20

// lostLink says that the link broke or was made again: whether the upstream is there
// is asked soon.
func (s *Session) lostLink() {
	s.residue.mu.Lock()
	defer s.residue.mu.Unlock()
	s.residue.doubt = true
}

// watchResidue looks at what the run holds although nobody calls, and asks whether an
// upstream that was lost is there again.
func (s *Session) watchResidue() {
	s.survey()
	at := s.g.place.Origin.String()
	v, err := s.who.run.Look()
	if err != nil {
		return
	}
	_, lost := v.Away()[at]
	x := &s.residue
	x.mu.Lock()
	gone := lost || x.doubt || !x.away.IsZero() || s.complete() == nil
	ask := gone && !x.reaching && (lost || slices.Contains(v.Origins(), at)) // of what nothing is held it does not matter
	x.reaching = x.reaching || ask
	x.mu.Unlock()
	if !ask {
		return
	}
	s.g.work.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, reachTime)
		defer cancel()
		err := s.keeper.Reach(ctx)
		if s.ctx.Err() != nil {
			return // the session ended, not the upstream
		}
		s.reached(err)
	})
}

// reached takes in whether the upstream answered.
func (s *Session) reached(err error) {
	x := &s.residue
	x.mu.Lock()
	x.reaching = false
	if x.doubt = false; err == nil {
		x.away = time.Time{}
	} else if x.away.IsZero() {
		x.away = s.g.o.Now()
	}
	away := x.away
	x.view = nil // look again
	x.mu.Unlock()
	s.g.away(&s.who, err == nil, away)
}

// away has it on record since when the upstream is not reached, in a run that holds
// results of it; when that is for too long they are withdrawn.
func (g *Gateway) away(who *Agent, back bool, since time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), reachTime)
	defer cancel()
	at := g.place.Origin.String()
	err := who.run.Lost(ctx, at, back)
	if err == nil && !back {
		err = g.giveUp(ctx, who, since)
	}
	if err != nil {
		g.o.Log.Warn("an upstream that went away or came back is not in the run", "run", who.Run, "cause", err)
	}
}

// giveUp ends what a run holds of the upstream, if it is away for too long, be it in
// the eyes of this process or of one before.
func (g *Gateway) giveUp(ctx context.Context, who *Agent, since time.Time) error {
	at := g.place.Origin.String()
	v, err := who.run.Look()
	if err != nil {
		return err
	}
	if ms, ok := v.Away()[at]; ok && time.UnixMilli(ms).Before(since) {
		since = time.UnixMilli(ms)
	}
	if g.o.Now().Sub(since) < g.o.Limits.Grace {
		return nil
	}
	s := &Session{g: g, who: *who} // as much of one as it takes to inspect and to note
	var ends []runs.End
	for i, h := range v.Held() {
		if h.Origin == at {
			ends = append(ends, runs.End{Index: i, Why: runs.WhyLost, Clear: s.inspectAgain(ctx, i)})
		}
	}
	if len(ends) == 0 {
		return nil
	}
	return who.run.End(ctx, ends, s.noteWithdrawn)
}

// noteWithdrawn puts on record what came to its end, and which results that takes
// with it.
func (s *Session) noteWithdrawn(w runs.Withdrawn) error { return s.g.noteWithdrawn(&s.who, w) }

func (g *Gateway) noteWithdrawn(who *Agent, w runs.Withdrawn) error {
	e := registry.Entry{
		Type: registry.EntryWithdraw, Run: who.Run, Agent: who.ID, Profile: string(who.Profile), Origin: w.Origin,
		Kind: w.Kind, Name: cutName(w.Name), Tool: w.Tool, Gen: w.Gen, Ver: w.Ver, Reason: w.Why, Context: policy.Worst.String(),
	}
	switch n := strconv.Itoa(len(w.Results)); {
	case !w.Withdrawn():
		e.Context, e.Detail = "", "all were found clear again"
	case w.More:
		e.Detail = "all results, " + n + " of them known: " + strings.Join(w.Results, " ")
	default:
		e.Detail = n + " results: " + strings.Join(w.Results, " ")
	}
	return g.o.Record.Note(&e)
}

// noteCleared puts on record what leaves the context, and who says so.
func (s *Session) noteCleared(c runs.Cleared) error {
	e := registry.Entry{Type: registry.EntryClear, Run: c.Run, Agent: c.Agent, Act: c.Token, By: "operator", Detail: "all that was withdrawn"}
	if c.Op == runs.OpDeleted {
		e.By = "runtime"
	}
	if len(c.Results) > 0 {
		e.Detail = strings.Join(c.Results, " ")
	}
	if c.Loose {
		e.By += ", unprotected"
	}
	return s.g.o.Record.Note(&e)
}

// A swept is a run as it was last looked at by sweepRuns.
type swept struct {
	view *runs.View
	head uint64
}

// sweepRuns ends, in runs that nobody uses at the moment, what was revoked or
// condemned: whoever listens for that learns of it now, and not at the next call.
func (g *Gateway) sweepRuns() {
	if g.o.Withdrawn == nil {
		return
	}
	all, err := g.o.Runs.All()
	if err != nil {
		g.o.Log.Warn("not all runs can be looked at", "cause", err)
	}
	ctx, cancel := context.WithTimeout(g.base, sweepEvery)
	defer cancel()
	now := make(map[string]swept, len(all))
	for _, r := range all {
		v, err := r.Look()
		if err != nil {
			continue // it ended meanwhile
		}
		head, err := g.o.Withdrawn.Head(v.Origins())
		if err != nil {
			continue // its next call is refused
		}
		now[r.ID()] = swept{v, head}
		if g.swept[r.ID()] == now[r.ID()] {
			continue
		}
		if err := g.sweepRun(ctx, r, v); err != nil {
			g.o.Log.Error("results were not withdrawn from a run", "run", r.ID(), "cause", err)
		}
	}
	g.swept = now
}

func (g *Gateway) sweepRun(ctx context.Context, r *runs.Run, v *runs.View) error {
	var ends []runs.End
	for i, h := range v.Held() {
		if why, err := g.o.Withdrawn.Of(h); err == nil && why != "" {
			ends = append(ends, runs.End{Index: i, Why: why})
		}
	}
	if len(ends) == 0 {
		return nil
	}
	who := &Agent{ID: r.Agent(), Run: r.ID()}
	return r.End(ctx, ends, func(w runs.Withdrawn) error { return g.noteWithdrawn(who, w) })
}

// leftovers are the newest results that not every stage has judged.
type leftovers struct {
	mu    sync.Mutex // owns what follows
	by    map[string]sent
	order []string
	size  int
}

func (k *leftovers) put(id string, x sent) {
	if len(x.raw) > maxKept {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, twice := k.by[id]; twice { // several texts under one id are not one
		return
	}
	if k.by == nil {
		k.by = map[string]sent{}
	}
	k.by[id], k.order, k.size = x, append(k.order, id), k.size+len(x.raw)
	for k.size > maxKept {
		k.size -= len(k.by[k.order[0]].raw)
		delete(k.by, k.order[0])
		k.order = k.order[1:]
	}
}

func (k *leftovers) get(id string) (sent, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x, ok := k.by[id]
	return x, ok
}
