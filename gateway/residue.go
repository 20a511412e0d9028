package gateway

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/runs"
)

// What a run holds of results outlives the session, the tool and the upstream. Here
// it is put on record before the agent reads it, and looked at before each call:
// while something of it is withdrawn, the context is at its worst (RULES.md 9).

// Withdrawals is the word on what items of any upstream returned earlier.
// *surface.Withdrawn is one.
type Withdrawals interface {
	// Head changes whenever an answer of Of about one of these origins may have.
	Head(origins []string) (uint64, error)
	// Of tells why what a source returned counts no longer, by one of runs.Why…; empty:
	// nobody withdrew it.
	Of(src runs.Held) (why string, err error)
}

// A residue is what a session knows of what its run holds.
type residue struct {
	mu      sync.Mutex // owns what follows
	view    *runs.View // of the run, as it was last looked at
	head    uint64
	surface *gate.Surface
	context policy.Context
	words   recordedAs // of messages outside of any call

	doubt    bool      // the link broke since the upstream last answered
	away     time.Time // since when it is not reached; zero: it is, as far as is known
	reaching bool      // it is being asked
}

// recordedAs is under which id what an agent read of a call is on record, and with
// which engines.
type recordedAs struct {
	mu      sync.Mutex
	id      string
	engines map[string]bool
}

// resultID is the id of the call's result, which is drawn when it is first needed.
func (c *call) resultID() string { return c.result.name(c.s.g) }

func (r *recordedAs) name(g *Gateway) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.id == "" {
		r.id = g.id("res_")
	}
	return r.id
}

// delivered has it on record that the agent is about to read something that was sent
// in a call, or outside of any that is known. On an error it is held.
func (s *Session) delivered(c *call, x *sent, r *ruling) error {
	at, src, ref := &s.residue.words, runs.Source{}, ""
	if c != nil && c.under != nil {
		if c.under.item.Kind == "" && x.form == holds.FormResult {
			return nil // an acknowledgement has no content
		}
		at, src, ref = &c.result, sourceOf(&c.under.item), c.ref
	}
	src.Origin = s.g.place.Origin.String()
	engine := ""
	if (r.way == passed || r.way == without) && r.depth == quarantine.Full {
		engine = s.g.o.Inspector.Engine() // found all of it clear, with every stage
	}
	id := at.name(s.g)
	at.mu.Lock()
	defer at.mu.Unlock()
	if x.form == holds.FormMessage && at.engines[engine] {
		return nil // one of many, and no worse than those before
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxKeep)
	defer cancel()
	if err := s.who.run.Deliver(ctx, src, runs.Result{ID: id, Call: ref, Engine: engine}); err != nil {
		s.g.o.Log.Error("what an agent reads could not be recorded", "call", ref, "cause", err)
		return err
	}
	if at.engines == nil {
		at.engines = map[string]bool{}
	}
	at.engines[engine] = true
	if engine == "" && r.way == passed {
		s.g.kept.put(id, sent{form: x.form, method: x.method, raw: r.value})
	}
	return nil
}

// read tells whether it is on record that the agent reads a message now; if not, it
// is dropped.
func (s *Session) read(c *call, x *sent, r *ruling, f *mcp.Frame) bool {
	err := s.delivered(c, x, r)
	if err != nil {
		s.drop("notification: "+string(lateReason(err)), f)
	}
	return err == nil
}

// lateReason is why what could not be recorded is held.
func lateReason(err error) policy.Reason {
	if errors.Is(err, runs.ErrWithdrawn) {
		return policy.ChangedAfter
	}
	return policy.Unrecorded
}

// sourceOf is what an item's results come from.
func sourceOf(it *gate.Entry) runs.Source {
	switch it.Kind {
	case gate.Tool, gate.Prompt:
		return runs.Source{Kind: string(it.Kind), Name: it.Name, Tool: it.Tool, Gen: it.Gen, Ver: it.Ver}
	case "":
		return runs.Source{}
	}
	return runs.Source{Kind: runs.KindResource}
}

// context is what the run has read so far, seen from this upstream. It is asked
// once for each call, so that decision and record have the same.
func (c *call) context() policy.Context {
	if c.read == nil {
		x := c.s.survey()
		c.read = &x
	}
	return *c.read
}

// survey looks at what the run holds, if anything moved since it was last looked at.
// What cannot be known is worst.
func (s *Session) survey() policy.Context {
	x := &s.residue
	x.mu.Lock()
	defer x.mu.Unlock()
	v, head, err := s.stands()
	if err != nil {
		return s.unknown(err)
	}
	surf := s.complete()
	if x.view == v && x.head == head && x.surface == surf && !s.overdue(v) {
		return x.context
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.g.o.Limits.Inspect)
	defer cancel()
	if err := s.who.run.Record(ctx, s.noteCleared); err != nil {
		return s.unknown(err)
	}
	ends, err := s.ends(ctx, v, surf)
	if err == nil && len(ends) > 0 {
		err = s.who.run.End(ctx, ends, s.noteWithdrawn)
	}
	if err == nil {
		v, head, err = s.stands()
	}
	if err != nil {
		return s.unknown(err)
	}
	x.view, x.head, x.surface, x.context = v, head, surf, v.Context(s.g.place.Origin.String())
	return x.context
}

func (s *Session) unknown(err error) policy.Context {
	if !errors.Is(err, runs.ErrEnded) {
		s.g.o.Log.Error("what a run holds is not known", "run", s.who.Run, "cause", err)
	}
	s.residue.view = nil
	return policy.Worst
}

// stands is what the run holds, and what tells one word of others on that from the
// next.
func (s *Session) stands() (v *runs.View, head uint64, err error) {
	if v, err = s.who.run.Look(); err != nil || s.g.o.Withdrawn == nil || len(v.Origins()) == 0 {
		return v, 0, err
	}
	head, err = s.g.o.Withdrawn.Head(v.Origins())
	return v, head, err
}

// complete is the surface as it is, if it is complete.
func (s *Session) complete() *gate.Surface {
	if f := s.keeper.Surface(); f != nil && f.Complete() {
		return f
	}
	return nil
}

// ends are the sources that come to their end now.
func (s *Session) ends(ctx context.Context, v *runs.View, surf *gate.Surface) ([]runs.End, error) {
	var out []runs.End
	for i, h := range v.Held() {
		why := ""
		if s.g.o.Withdrawn != nil {
			var err error
			if why, err = s.g.o.Withdrawn.Of(h); err != nil {
				return nil, err
			}
		}
		if why != "" {
			out = append(out, runs.End{Index: i, Why: why})
			continue
		}
		if why = s.gone(&h, surf, v.Away()); why != "" {
			out = append(out, runs.End{Index: i, Why: why, Clear: s.inspectAgain(ctx, i)})
		}
	}
	return out, nil
}

// gone tells whether an item left its upstream's list, or the upstream is away for
// too long. The own upstream is away when it was asked again, and not before.
func (s *Session) gone(h *runs.Held, surf *gate.Surface, away map[string]int64) string {
	if h.Origin != s.g.place.Origin.String() {
		if since, ok := away[h.Origin]; ok && s.long(since) {
			return runs.WhyLost
		}
		return ""
	}
	if surf == nil || h.Kind != runs.KindTool && h.Kind != runs.KindPrompt {
		return ""
	}
	for _, e := range surf.Entries(gate.Kind(h.Kind)) {
		if e.Name == h.Name {
			if e.Tool == h.Tool && e.Owner == "" && e.Gen > h.Gen { // it left, and is another (RULES.md 8)
				return runs.WhyItemGone
			}
			return ""
		}
	}
	return runs.WhyItemGone
}

// long tells whether something that began then is over the grace; since is in
// milliseconds since the epoch.
func (s *Session) long(since int64) bool {
	return s.g.o.Now().Sub(time.UnixMilli(since)) >= s.g.o.Limits.Grace
}

// overdue tells whether another upstream, that the run holds results of, is away for
// too long now.
func (s *Session) overdue(v *runs.View) bool {
	for o, since := range v.Away() {
		if o != s.g.place.Origin.String() && s.long(since) && slices.Contains(v.Origins(), o) {
			return true
		}
	}
	return false
}

// inspectAgain finds which results of a source are clear although it went away: those
// that this very engine found clear with every stage, and those that are still kept.
func (s *Session) inspectAgain(ctx context.Context, index int) map[string]bool {
	clear, others, more := s.who.run.Results(index, s.g.o.Inspector.Engine())
	if more {
		return nil
	}
	for _, id := range others {
		if x, ok := s.g.kept.get(id); ok && s.clear(ctx, &x) {
			clear[id] = true
		}
	}
	return clear
}

func (s *Session) clear(ctx context.Context, x *sent) bool {
	set, err := x.specimens()
	if err != nil {
		return false
	}
	if len(set) == 0 {
		return true
	}
	r := s.g.o.Inspector.Inspect(ctx, quarantine.Batch{Origin: s.g.place.Origin.String(), Specimens: set})
	return r.Verdict == quarantine.Clear && !r.Partial && ctx.Err() == nil
}

// maxNamed is how many withdrawn results a refusal names.
const maxNamed = 16

// nameWithdrawn puts the ids of what is withdrawn into a refusal: they are ours, and
// the agent's runtime needs them to delete what they name.
func (s *Session) nameWithdrawn(r *refusal) {
	v, err := s.who.run.Look()
	if err != nil {
		return
	}
	for _, w := range v.Withdrawn() {
		for _, id := range w.Results {
			if len(r.withdrawn) == maxNamed {
				break
			}
			r.withdrawn = append(r.withdrawn, id)
		}
	}
	if len(r.withdrawn) > 0 {
		r.detail = "Withdrawn: " + strings.Join(r.withdrawn, ", ") + "."
	}
}

// appendWithdrawn is the provenance of a refusal: the results that are its cause.
func appendWithdrawn(b []byte, ids []string) []byte {
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, mcp.Object(mcp.Member{Name: "result", Value: mcp.Quote(id)}, mcp.Member{Name: "state", Value: mcp.Quote("withdrawn")})...)
	}
	return append(b, ']')
}
