package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/runs"
)

// Runs is what agents' runs hold: *runs.Store.
type Runs interface {
	All() ([]*runs.Run, error)
	Clear(ctx context.Context, token string) (runs.Cleared, error)
}

func resultRoutes() []*route {
	const tag = "results"
	return []*route{
		{method: get, path: "/v1/results/withdrawn", op: string(proof.ResultsWatch), who: key, stream: true, follow: (*Server).followWithdrawn,
			id: "streamWithdrawn", tag: tag, summary: "Follow which results are withdrawn from agents' contexts, as an operator or enrolled observer",
			gives: registry.WithdrawalEvent{}, status: 200, codes: "not_observer not_found"},
		{method: post, path: "/v1/runs/{id}/deletions", op: string(proof.ResultsDeleted), who: key, body: maxSmallBody, do: (*Server).confirmDeleted,
			id: "confirmDeleted", tag: tag, summary: "Confirm, as the enrolled runtime of an agent, that withdrawn results were deleted from its context",
			takes: registry.DeletionRequest{}, gives: registry.DeletionView{}, status: 200, codes: "bad_observation not_observer own_tool not_found too_many"},
	}
}

// stream answers one that goes on: the labels', which anybody may follow, or one that
// a proof opens.
func (s *Server) stream(c *call) error {
	if c.route.follow == nil {
		return s.streams.serve(c)
	}
	if err := s.rates.allow(&s.rates.proved, addressOf(c.r.RemoteAddr)); err != nil {
		return err
	}
	release, err := s.admit(c)
	if err != nil {
		return err
	}
	defer release()
	return c.route.follow(s, c)
}

// confirmDeleted takes a runtime's statement. The proof is of the key that signed
// it; who registered a tool confirms nothing of what it returned (RULES.md 21).
func (s *Server) confirmDeleted(c *call) (*answer, error) {
	var req registry.DeletionRequest
	if err := c.decode(&req); err != nil {
		return nil, err
	}
	if !c.view.IsObserver(c.caller.Key()) { // before a signature is checked
		return nil, registry.ErrNotObserver
	}
	if s.opt.Runs == nil {
		return nil, registry.ErrNotFound
	}
	u, err := envelope.Precheck(req.Statement, envelope.Observation)
	if err == nil && u.KeyID != c.caller.Key() {
		err = credentials.ErrClaims
	}
	if err != nil {
		return nil, at("/statement", &reportError{err})
	}
	var said runs.Act
	if err := envelope.Claims(envelope.Opened{Payload: u.Payload}, &said); err != nil || said.Run != c.vars[0] {
		return nil, at("/statement", &reportError{credentials.ErrClaims})
	}
	if err := s.ownTool(c, &said); err != nil {
		return nil, err
	}
	done, err := s.opt.Runs.Clear(c.ctx, req.Statement)
	if err != nil {
		return nil, err
	}
	return ok(registry.DeletionView{Run: done.Run, Results: done.Results})
}

// ownTool refuses a statement on what tools of the caller's own returned. Whether the
// statement is good is asked afterwards.
func (s *Server) ownTool(c *call, said *runs.Act) error {
	all, err := s.opt.Runs.All()
	for _, r := range all {
		if r.ID() != said.Run {
			continue
		}
		v, err := r.Look()
		if err != nil {
			return registry.ErrNotFound
		}
		for _, w := range v.Withdrawn() {
			t, err := c.view.Tool(w.Tool)
			if err != nil || !slices.ContainsFunc(said.Results, func(id string) bool { return slices.Contains(w.Results, id) }) {
				continue
			}
			if t.Owner == c.caller.Key() || t.Publisher == c.caller.Key() {
				return registry.ErrOwnTool
			}
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	return registry.ErrNotFound
}

// watchEvery is how often runs are looked at for those who follow them.
const watchEvery = time.Second

// A place is one source of one run.
type place struct {
	run   string
	index int
}

// followWithdrawn sends what is withdrawn now and, from then on, what changes of it:
// withdrawn, and cleared. Who comes back begins with what is so then.
func (s *Server) followWithdrawn(c *call) error {
	if k := c.caller.Key(); !c.view.IsOperator(k) && !c.view.IsObserver(k) {
		return registry.ErrNotObserver
	}
	if s.opt.Runs == nil {
		return registry.ErrNotFound
	}
	leave, err := s.streams.crowd.enter(addressOf(c.r.RemoteAddr))
	if err != nil {
		return err
	}
	defer leave()
	if err := s.streams.enter(); err != nil {
		return err
	}
	defer s.streams.leave(nil)
	st := s.streams.begin(c)
	if st.write(comment("withdrawn results")) != nil {
		return nil
	}
	st.watch(c.caller.Key())
	return nil
}

// watch runs until the client goes, the server shuts down, or the caller is no longer
// one who may.
func (st *stream) watch(caller credentials.KeyID) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	told := map[place]registry.WithdrawalEvent{}
	for {
		frames, now, err := withdrawn(st.h.s.opt.Runs, told)
		if err != nil {
			st.h.s.log.Warn("runs cannot be read", "err", err)
		}
		for _, f := range frames {
			if st.write(f) != nil {
				return
			}
		}
		told = now
		select {
		case <-tick.C:
		case <-beat.C:
			if st.write(comment("alive")) != nil {
				return
			}
		case <-st.c.ctx.Done():
			return
		case <-st.h.ctx.Done():
			_ = st.write(comment("closing"))
			return
		}
		if v, err := st.h.s.opt.Record.View(); err != nil || !v.IsOperator(caller) && !v.IsObserver(caller) {
			return
		}
	}
}

// withdrawn are the events since told, and what is withdrawn now. Of runs that cannot
// be read nothing is known to have changed.
func withdrawn(from Runs, told map[place]registry.WithdrawalEvent) (out []frame, now map[place]registry.WithdrawalEvent, err error) {
	all, err := from.All()
	if err != nil && len(all) == 0 {
		return nil, told, err
	}
	now = map[place]registry.WithdrawalEvent{}
	var events []namedEvent
	for _, r := range all {
		v, err := r.Look()
		if err != nil {
			continue // it ended meanwhile
		}
		for _, w := range v.Withdrawn() {
			e := eventOf(r, &w)
			p := place{r.ID(), w.Index}
			now[p] = e
			was, known := told[p]
			gone, more := less(was.Results, e.Results), less(e.Results, was.Results)
			if len(gone) > 0 {
				was.Results = gone
				events = append(events, namedEvent{"cleared", was})
			}
			if !known || len(more) > 0 {
				events = append(events, namedEvent{"withdrawn", e})
			}
		}
	}
	for p, was := range told {
		if _, still := now[p]; !still {
			events = append(events, namedEvent{"cleared", was})
		}
	}
	slices.SortStableFunc(events, func(a, b namedEvent) int { return a.event.At.Compare(b.event.At) })
	for _, e := range events {
		b, err := json.Marshal(&e.event, json.Deterministic(true))
		if err != nil {
			return nil, told, err
		}
		out = append(out, frame{text: []byte("event: " + e.name + "\ndata: " + string(b) + "\n\n")})
	}
	return out, now, err
}

type namedEvent struct {
	name  string
	event registry.WithdrawalEvent
}

func eventOf(r *runs.Run, w *runs.Withdrawn) registry.WithdrawalEvent {
	return registry.WithdrawalEvent{
		Run: r.ID(), Agent: r.Agent(), Origin: w.Origin, Kind: w.Kind, Name: w.Name, Tool: w.Tool, Gen: w.Gen, Ver: w.Ver,
		Why: w.Why, At: time.UnixMilli(w.Ended).UTC(), Results: append([]string{}, w.Results...), More: w.More,
	}
}

// less are those of a that are not in b.
func less(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// begin answers with the head of a stream.
func (h *hub) begin(c *call) *stream {
	st := &stream{h: h, c: c, ctl: http.NewResponseController(c.w)}
	hd := c.w.Header()
	hd.Set("Content-Type", "text/event-stream")
	hd.Set("Cache-Control", "no-store")
	hd.Set("X-Accel-Buffering", "no")
	c.w.WriteHeader(http.StatusOK)
	_ = st.ctl.SetReadDeadline(time.Time{}) // the server's is for requests that end
	return st
}
