package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

// Open begins a session of the legacy era by connecting to the upstream; own
// is the way to the agent outside of its requests. ctx bounds the opening only.
// The session's Welcome says which revision was agreed.
func (g *Gateway) Open(ctx context.Context, who Agent, hello mcp.Hello, own Peer, via Via) (*Session, error) {
	if hello.Revision.Modern() || own == nil {
		return nil, ErrEra
	}
	if !hello.Revision.Known() {
		hello.Revision = mcp.Latest
	}
	return g.open(ctx, who, hello, own, via, "")
}

// A joining is a stateless session that is there or on its way.
type joining struct {
	done chan struct{}
	s    *Session
	err  error
}

// Stateless is the session that stateless requests of this agent with this
// hello share. It is not closed by its users; the gateway closes it when it was
// idle for long.
func (g *Gateway) Stateless(ctx context.Context, who Agent, hello mcp.Hello, via Via) (*Session, error) {
	if !hello.Revision.Modern() {
		return nil, ErrEra
	}
	key := statelessKey(&who, &hello, via)
	for {
		g.mu.Lock()
		j := g.stateless[key]
		if j == nil {
			j = &joining{done: make(chan struct{})}
			g.stateless[key] = j
			g.mu.Unlock()
			j.s, j.err = g.open(ctx, who, hello, nil, via, key)
			if j.err != nil {
				g.mu.Lock()
				delete(g.stateless, key)
				g.mu.Unlock()
			}
			close(j.done)
			return j.s, j.err
		}
		g.mu.Unlock()
		select {
		case <-j.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case j.err == nil && j.s.ctx.Err() == nil:
			return j.s, nil
		case j.err != nil && !errors.Is(j.err, context.Canceled) && !errors.Is(j.err, context.DeadlineExceeded):
			return nil, j.err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		g.mu.Lock() // it ended, or whoever opened it left: open another
		if g.stateless[key] == j {
			delete(g.stateless, key)
		}
		g.mu.Unlock()
	}
}

func statelessKey(who *Agent, hello *mcp.Hello, via Via) string {
	sum := func(v []byte) string { d := canon.Digest("pratique/hello/v1", v); return string(d[:]) }
	return who.Run + "\x00" + via.Way + "\x00" + string(hello.Revision) + "\x00" + sum(hello.Capabilities) + sum(hello.ClientInfo)
}

func (g *Gateway) open(ctx context.Context, who Agent, hello mcp.Hello, own Peer, via Via, key string) (*Session, error) {
	if who.run == nil {
		return nil, ErrCredential // not one that Admit or Launch gave
	}
	if err := g.alive(&who); err != nil {
		return nil, ErrCredential
	}
	hello = g.said(hello)
	s := &Session{
		g: g, id: g.id("ses_"), who: who, tally: g.tally(&who), via: via, hello: hello, own: own, key: key,
		last: g.o.Now(), subscribed: map[string]bool{}, listeners: map[*listener]struct{}{},
	}
	s.ctx, s.end = context.WithCancel(g.base)
	if err := g.enroll(s); err != nil {
		s.end()
		return nil, err
	}
	defer g.work.Done()
	s.stream = g.streams.enter(&who)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.base, cancel)()
	if err := s.connect(ctx); err != nil {
		s.end()
		g.streams.leave(&who)
		s.tally.less()
		return nil, err
	}
	s.watchIntent()
	if !g.publish(s) {
		_ = s.Close()
		return nil, ErrClosed
	}
	s.hi = s.welcome(ctx)
	return s, nil
}

// publish makes a session that is connected one that is swept and drained.
func (g *Gateway) publish(s *Session) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s] = struct{}{}
	if g.closed {
		return false
	}
	g.startSweep()
	return true
}

// enroll counts the session before anything is begun for it. The gateway waits
// for it to be there, or not, before it is closed.
func (g *Gateway) enroll(s *Session) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	if s.tally.sessions >= g.o.Limits.Sessions {
		return ErrBusy
	}
	s.tally.sessions++
	g.work.Add(1)
	return nil
}

func (g *Gateway) forget(s *Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.sessions[s]; !ok {
		return
	}
	delete(g.sessions, s)
	if j := g.stateless[s.key]; j != nil && j.s == s {
		delete(g.stateless, s.key)
	}
	s.tally.less()
}

// connect makes link and keeper.
func (s *Session) connect(ctx context.Context) error {
	g := s.g
	sink := &sink{s: s, ready: make(chan struct{})}
	if err := g.o.Record.Note(g.launchEntry(s)); err != nil {
		return fmt.Errorf("%w: the record cannot be written", ErrNotNow)
	}
	link, err := g.o.Upstream.Connect(ctx, s.hello, sink)
	if err != nil {
		g.o.Log.Warn("an upstream cannot be reached", "upstream", g.o.Upstream.Name(), "cause", err)
		if ctx.Err() == nil {
			g.away(&s.who, false, g.o.Now())
		}
		if errors.Is(err, ErrEra) || errors.Is(err, ErrUnreachable) || ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	s.link = link
	s.rev = link.Welcome().Revision
	if s.rev.Modern() != s.hello.Revision.Modern() || !s.rev.Known() {
		_ = link.Close()
		return ErrEra
	}
	if s.rev.Modern() {
		h := s.hello
		h.Revision = s.rev
		s.meta = h.Meta()
	}
	if s.keeper, err = surface.New(s.surfaceOptions()); err != nil {
		_ = link.Close()
		return err
	}
	close(sink.ready)
	s.keeper.Start()
	return nil
}

// surfaceOptions are what this session's surface is kept with.
func (s *Session) surfaceOptions() surface.Options {
	g := s.g
	o := g.place.Origin.String()
	var seen surface.Observations
	if g.o.Conduct != nil {
		seen = g.o.Conduct
	}
	return surface.Options{
		Observed:  seen,
		Upstream:  s.link,
		Inspector: g.o.Inspector,
		Specimens: func(it gate.Item) ([]quarantine.Specimen, error) {
			return quarantine.Specimens(string(it.Kind), it.Raw)
		},
		Shelf:       g.o.Surfaces.Shelf,
		Baseline:    g.o.Surfaces.Baseline,
		Shown:       surface.Run(s.who.run, o),
		Registry:    g.o.Surfaces.Registry,
		Standing:    g.o.Surfaces.Standing,
		Elsewhere:   g.o.Surfaces.Elsewhere,
		Effect:      g.o.Surfaces.Effect,
		EffectEnds:  g.o.Surfaces.EffectEnds,
		Wording:     s.who.Profile != policy.Strict,
		UnsafeWatch: s.who.Profile == policy.Watch,
		Base: registry.Entry{
			Run: s.who.Run, Agent: s.who.ID, Era: string(s.rev), Way: s.via.Way, Upstream: g.o.Upstream.Name(), Origin: o,
		},
		Moved:     g.o.Record.Note,
		OnChanged: s.relisted,
		Name:      g.o.Upstream.Name(),
		Limits:    g.o.Surfaces.Limits,
		Log:       g.o.Log,
		Now:       g.o.Now,
	}
}

// launchEntry says which upstream is begun for whom, and what it is pinned by.
func (g *Gateway) launchEntry(s *Session) *registry.Entry {
	e := &registry.Entry{
		Type: registry.EntryLaunch, Run: s.who.Run, Agent: s.who.ID, Way: s.via.Way, Profile: string(s.who.Profile),
		Upstream: g.o.Upstream.Name(), Origin: g.place.Origin.String(), Standing: g.o.Surfaces.Standing().String(),
	}
	switch l := g.place.Launch; {
	case l == nil:
		e.Detail = "endpoint"
	case g.place.Unpinned:
		e.Detail, e.Mdg = "process, unpinned", l.Executable
	default:
		e.Detail, e.Mdg = "process", l.Executable
	}
	return e
}

// Close ends all sessions. Requests that are open have until ctx is done to be
// answered; new ones are refused.
func (g *Gateway) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	all := make([]*Session, 0, len(g.sessions))
	for s := range g.sessions {
		all = append(all, s)
	}
	g.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, s := range all {
			s.drain()
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	var errs []error
	for _, s := range all {
		errs = append(errs, s.Close())
	}
	<-done
	g.end()
	g.work.Wait()
	g.mu.Lock()
	for s := range g.sessions { // one that came through meanwhile
		all = append(all, s)
	}
	g.mu.Unlock()
	for _, s := range all {
		errs = append(errs, s.Close())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.agents {
		t.mu.Lock()
		t.write(g)
		t.mu.Unlock()
	}
	return errors.Join(errs...)
}

// drain waits until the session's open requests are answered. New ones are
// refused; those that only listen end at once.
func (s *Session) drain() {
	s.mu.Lock()
	s.closed = true
	for l := range s.listeners {
		l.stop()
	}
	s.mu.Unlock()
	s.work.Wait()
}
