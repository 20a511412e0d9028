package gateway

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/shape"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// secretContext is the digest context under which the registry knows an agent's
// credential.
const secretContext = "pratique/agent-credential/v1"

// A Gateway stands between agents and one upstream.
type Gateway struct {
	o      Options
	place  Place
	policy policyBox
	sealed sealedPolicies
	guard  *guard
	labels *labeller
	states *states
	shapes shapes
	forms  *shape.Shapes // of output schemas
	inputs *shape.Shapes // of input schemas, closed

	declared declarations // by tools, of their conduct
	kept     leftovers
	streams  streams          // of messages, by run
	swept    map[string]swept // by run; the sweep's own

	base     context.Context // ends with Close
	end      context.CancelFunc
	sweeping sync.Once
	work     sync.WaitGroup

	mu        sync.Mutex // owns what follows
	closed    bool
	sessions  map[*Session]struct{}
	stateless map[string]*joining
	agents    map[credentials.AgentID]*tally
	runs      map[string]bool // whose beginning is on record
}

// New makes a gateway. It connects to nothing until an agent comes.
func New(o Options) (*Gateway, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	g := &Gateway{
		o: o, place: o.Upstream.Place(),
		sessions: map[*Session]struct{}{}, stateless: map[string]*joining{},
		agents: map[credentials.AgentID]*tally{}, runs: map[string]bool{},
	}
	root, local := "", g.place.Origin.Loopback()
	if l := g.place.Launch; l != nil {
		root, local = l.Folder, true
	}
	g.guard = newGuard(o.Own, root, local)
	g.policy.set(o.Policy)
	g.forms = shape.New(shape.Limits{})
	g.inputs = newInputs(&g.o.Limits)
	g.labels = newLabeller(o.Keys, o.Issuer, g.place.Origin, g.id)
	g.states = newStates(o.Keys, o.Issuer, o.Limits.State, g.id("gw_"))
	g.base, g.end = context.WithCancel(context.Background())
	if o.Withdrawn != nil {
		g.startSweep() // runs outlive sessions
	}
	return g, nil
}

// policyBox is the policy that decides now. A call is decided by one policy,
// whatever is loaded meanwhile.
type policyBox struct {
	mu sync.RWMutex
	p  policy.Policy
}

func (b *policyBox) set(p policy.Policy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.p = p
}

func (b *policyBox) get() policy.Policy {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.p
}

// Reload changes what can change in a running gateway, at once for every call
// that is decided afterwards.
func (g *Gateway) Reload(r Reload) {
	if r.Policy == nil {
		return
	}
	g.policy.set(r.Policy)
	g.mu.Lock()
	all := make([]*Session, 0, len(g.sessions))
	for s := range g.sessions {
		all = append(all, s)
	}
	g.mu.Unlock()
	for _, s := range all {
		s.listsMayDiffer()
	}
}

// id is a prefix and a ULID.
func (g *Gateway) id(prefix string) string { return g.idAt(prefix, g.o.Now()) }

// idAt is id of what began at a time.
func (g *Gateway) idAt(prefix string, at time.Time) string {
	u, err := ulid.New(ulid.Timestamp(at), g.o.Random)
	if err != nil {
		return prefix + ulid.Make().String() // the source of randomness failed: the default one
	}
	var room [48]byte // prefixes are words of ours, of a few bytes
	b := append(room[:0], prefix...)
	text := b[len(b) : len(b)+ulid.EncodedSize]
	if u.MarshalTextTo(text) != nil { // never: it has that size
		return prefix + u.String()
	}
	return string(b[:len(b)+len(text)])
}

// entropy hands out random bytes that were read ahead: a call wants ten at a time, which
// the system takes longer to give than to give many.
type entropy struct {
	mu sync.Mutex
	r  *bufio.Reader
}

// Read implements io.Reader.
func (e *entropy) Read(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return io.ReadFull(e.r, b)
}

// Admit is the agent whose credential this is: ErrCredential, ErrNotNow. The
// credential is compared by its digest; nothing keeps it.
func (g *Gateway) Admit(credential string) (Agent, error) {
	if credential == "" || len(credential) > 512 {
		return Agent{}, ErrCredential
	}
	a, err := g.o.Agents.BySecret(canon.Digest(secretContext, []byte(credential)))
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return Agent{}, ErrCredential
	case err != nil:
		return Agent{}, ErrNotNow
	case a.Revoked:
		return Agent{}, ErrCredential
	}
	r, _, err := g.o.Runs.Current(a.ID, a.Profile)
	if err != nil {
		g.o.Log.Error("a run cannot be used", "agent", a.ID, "cause", err)
		return Agent{}, ErrNotNow
	}
	who := Agent{ID: a.ID, Run: r.ID(), Name: a.Name, Profile: policy.Profile(a.Profile), run: r}
	return who, g.begun(who)
}

// Launch is the agent of a launch on stdio: this process's parent, whoever it
// is, under the profile of the launch. It is its own agent and run.
func (g *Gateway) Launch(name string) (Agent, error) {
	r, err := g.o.Runs.Launch(string(g.o.Profile))
	if err != nil {
		return Agent{}, ErrNotNow
	}
	who := Agent{ID: r.Agent(), Run: r.ID(), Name: name, Profile: g.o.Profile, run: r, launched: true}
	return who, g.begun(who)
}

// begun has the beginning of a run on record before anything else of it is.
func (g *Gateway) begun(who Agent) error {
	g.mu.Lock()
	known := g.runs[who.Run]
	g.mu.Unlock()
	if known {
		return nil
	}
	err := g.o.Record.Note(&registry.Entry{
		Type: registry.EntryRun, Run: who.Run, Agent: who.ID, Profile: string(who.Profile),
		Upstream: g.o.Upstream.Name(), Origin: g.place.Origin.String(), Detail: "joined",
	})
	if err != nil {
		return ErrNotNow
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.runs) > 1<<14 {
		clear(g.runs)
	}
	g.runs[who.Run] = true
	return nil
}

// alive tells whether an agent still is one: nil, or errRevoked or the error of
// the record.
func (g *Gateway) alive(who *Agent) error {
	if who.launched {
		return nil
	}
	a, err := g.o.Agents.ByID(who.ID)
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return errRevoked
	case err != nil:
		return err
	case a.Revoked:
		return errRevoked
	}
	return nil
}

var errRevoked = errors.New("gateway: the agent's credential was revoked")

// sweepEvery is how often sessions are looked at: ended runs, revoked agents,
// idle sessions, acceptances of which nobody told us.
const sweepEvery = 2 * time.Second

func (g *Gateway) startSweep() {
	g.sweeping.Do(func() {
		g.work.Go(func() {
			t := time.NewTicker(sweepEvery)
			defer t.Stop()
			for {
				select {
				case <-t.C:
					g.sweep()
				case <-g.base.Done():
					return
				}
			}
		})
	})
}

func (g *Gateway) sweep() {
	g.mu.Lock()
	all := make([]*Session, 0, len(g.sessions))
	for s := range g.sessions {
		all = append(all, s)
	}
	tallies := make([]*tally, 0, len(g.agents))
	for _, t := range g.agents {
		tallies = append(tallies, t)
	}
	g.mu.Unlock()
	for _, s := range all {
		switch {
		case errors.Is(g.alive(&s.who), errRevoked), s.who.run.Open() != nil:
			_ = s.Close()
		case s.idle(g.o.Now()):
			_ = s.Close()
		default:
			s.keeper.Check()
			s.watchResidue()
			s.watchIntent()
		}
	}
	g.sweepRuns()
	for _, t := range tallies {
		t.flush(g)
	}
}
