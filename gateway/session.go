package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/runs"
)

// A Session is one agent's way through the gateway to its upstream. Its methods
// may be called by several goroutines at once.
type Session struct {
	g      *Gateway
	id     string
	who    Agent
	tally  *tally
	via    Via
	hello  mcp.Hello // capabilities as far as they are carried
	rev    mcp.Revision
	meta   []mcp.Member // of requests to a stateless upstream
	own    Peer         // nil: stateless
	key    string       // of a stateless session
	link   Link
	keeper *surface.Keeper
	hi     mcp.Welcome
	stream *stream // of messages to this run

	residue residue
	bound   *runs.Bound // intent of the run, as it was last looked at; see watchIntent
	ended   bool

	ctx  context.Context // ends with the session
	end  context.CancelFunc
	once sync.Once
	work sync.WaitGroup // what the session began: calls, listeners

	mu         sync.Mutex // owns what follows
	closed     bool
	spoken     bool    // the agent has sent something: it knows that the session is there
	calls      []*call // open, oldest first
	questions  int
	conduct    conduct
	last       time.Time // when a call ended
	progress   uint64
	subscribed map[string]bool
	listeners  map[*listener]struct{}
}

// ID is the session's own id, for logs: ses_ and a ULID. It is not the id on the
// wire and opens nothing.
func (s *Session) ID() string { return s.id }

// Done is closed when the session has ended, by Close, or by the end of its
// agent's credential or run.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Welcome is what initialize or server/discover answers, judged.
func (s *Session) Welcome() mcp.Welcome { return s.hi }

// welcome is what may be said of the upstream: its words about itself only if
// they are cleared, its capabilities only as far as we carry them.
func (s *Session) welcome(ctx context.Context) mcp.Welcome {
	ctx, cancel := context.WithTimeout(ctx, s.g.o.Limits.Welcome)
	defer cancel()
	w := s.keeper.Welcome(ctx)
	w.Revision = s.rev
	w.Capabilities = mcp.ServerCapabilities(w.Capabilities)
	if len(w.Rest) > 0 && !s.harmless(ctx, w.Rest) {
		w.Rest = nil
	}
	return w
}

// harmless tells whether further members of a welcome, or beside an answer, are
// clear. They are no items of the surface and no answer, so what is not clear is
// simply not passed on.
func (s *Session) harmless(ctx context.Context, rest []mcp.Member) bool {
	all := mcp.Object(rest...)
	if forged(all) || len(dropOurs(all)) != len(all) {
		return false
	}
	set, err := quarantine.ResultSpecimens("initialize", all)
	return err == nil && len(posing(set, "")) == 0 && s.judge(ctx, quarantine.Full, set).Verdict == quarantine.Clear
}

// ParamHeaders are the parameters that the cleared schema of the tool that f
// calls wants in headers too, with the call's arguments; none if the agent was
// shown no such tool, or it marks none.
func (s *Session) ParamHeaders(f mcp.Frame) ([]mcp.ParamHeader, jsontext.Value) {
	if f.Method != methodCall {
		return nil, nil
	}
	// Whether a schema marks anything is known without asking what this agent was
	// shown; hardly any does. What does is looked at as for the call itself.
	name, _ := mcp.GetString(f.Params, "name")
	if e, there, known := s.keeper.Peek(gate.Tool, name); known && (!there || len(s.g.shapes.of(&e).headers) == 0) {
		return nil, nil
	}
	p, err := readParams(&f, s.g.o.Limits.Params)
	if err != nil {
		return nil, nil
	}
	e, err := s.keeper.Look(s.ctx, "tool", p.name)
	if err != nil {
		return nil, nil
	}
	return s.g.shapes.of(&e).headers, p.args
}

// enter begins a request. It is false where the session has ended or the agent
// has too many open.
func (s *Session) enter(c *call) (ok, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, true
	}
	if len(s.calls) >= s.g.o.Limits.Calls {
		return false, false
	}
	s.calls = append(s.calls, c)
	s.work.Add(1)
	return true, false
}

func (s *Session) leave(c *call) {
	s.mu.Lock()
	for i, x := range s.calls {
		if x == c {
			s.calls = append(s.calls[:i:i], s.calls[i+1:]...)
			break
		}
	}
	s.last = s.g.o.Now()
	s.mu.Unlock()
	s.work.Done()
}

// idle tells whether a stateless session was not used for long.
func (s *Session) idle(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.own == nil && len(s.calls) == 0 && len(s.listeners) == 0 && now.Sub(s.last) >= s.g.o.Limits.Idle
}

// Close ends the session and its link. Requests that are open get their answer
// first, which is a refusal, since their link is gone.
func (s *Session) Close() error {
	var err error
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.end()
		err = s.link.Close()
		s.keeper.Close()
		s.work.Wait()
		s.settleAll()
		s.g.streams.leave(&s.who)
		s.g.forget(s)
	})
	return err
}
