package mcptest

import (
	"context"
	"slices"
	"strconv"
	"sync"
)

// Revisions are the protocol revisions, oldest first.
var Revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", Modern}

// Modern is the stateless revision.
const Modern = "2026-07-28"

const metaPrefix = "io.modelcontextprotocol/"

// state is what a test can change of a running server.
type state struct {
	Script Script
	Gates  []string // those that are open
}

// A server is the upstream itself, below its transports.
type server struct {
	rec *recorder
	end func() // what Exit does

	mu      sync.Mutex // holds what follows
	st      state
	changed chan struct{} // closed and made anew when st changes
	counts  map[string]int
	peers   map[*peer]bool
	next    int // of ids of questions
}

func newServer(rec *recorder, st state, end func()) *server {
	return &server{rec: rec, end: end, st: st, changed: make(chan struct{}), counts: map[string]int{}, peers: map[*peer]bool{}}
}

func (s *server) script() Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.Script
}

func (s *server) set(st state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.st = st
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits until a gate is open; false if the exchange ended before.
func (s *server) await(ctx context.Context, gate string) bool {
	for gate != "" {
		s.mu.Lock()
		open, changed := slices.Contains(s.st.Gates, gate), s.changed
		s.mu.Unlock()
		if open {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// A peer is one client: a session, or one listening request of the modern era.
type peer struct {
	s   *server
	out func(frame []byte) // of what belongs to no exchange
	sub JSON               // modern: the id of the listening request; only notifications go there
	// wants is the methods that a listening request asked for; nil: all.
	wants func(method string, params JSON) bool

	mu      sync.Mutex // holds what follows
	rev     string
	asked   map[string]chan Message
	running map[string]context.CancelFunc
}

func (s *server) join(out func([]byte)) *peer {
	p := &peer{s: s, out: out, asked: map[string]chan Message{}, running: map[string]context.CancelFunc{}}
	s.add(p)
	return p
}

func (s *server) add(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = true
}

func (s *server) leave(p *peer) {
	s.mu.Lock()
	delete(s.peers, p)
	s.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.running {
		cancel()
	}
}

// notify sends a notification to every peer that wants it.
func (s *server) notify(n Notification) {
	s.mu.Lock()
	var to []*peer
	for p := range s.peers {
		if p.out != nil && (p.wants == nil && p.shook() || p.wants != nil && p.wants(n.Method, n.Params)) {
			to = append(to, p)
		}
	}
	s.mu.Unlock()
	for _, p := range to {
		params := n.Params
		if p.sub != nil {
			params = withMeta(params, metaPrefix+"subscriptionId", p.sub)
		}
		p.out(request(nil, n.Method, params))
	}
}

// shook tells whether there was a handshake.
func (p *peer) shook() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rev != ""
}

func withMeta(params JSON, key string, v JSON) JSON {
	if params == nil {
		params = JSON("{}")
	}
	return with(params, "_meta", object(key, v))
}

// ask sends a question to every legacy peer, and waits for no answer: those are
// in the log.
func (s *server) ask(q Question) {
	s.mu.Lock()
	var to []*peer
	for p := range s.peers {
		if p.out != nil && p.wants == nil && p.shook() {
			to = append(to, p)
		}
	}
	s.mu.Unlock()
	for _, p := range to {
		p.out(request(s.questionID(), q.Method, q.Params))
	}
}

func (s *server) questionID() JSON {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return quote("q" + strconv.Itoa(s.next))
}

// An exchange is one request with the way back to whoever sent it.
type exchange struct {
	ctx    context.Context
	p      *peer
	m      Message
	modern bool
	send   func(frame []byte) // of the exchange
	cut    func()             // ends the stream that send goes to; nil: there is none
}

// take handles one received frame. Requests run on their own; done, if not nil, is
// called once each has its answer or none.
func (p *peer) take(ctx context.Context, m Message, send func([]byte), cut, done func()) {
	if done == nil {
		done = func() {}
	}
	switch {
	case m.Method == "" && (m.Result != nil || m.Error != nil):
		p.mu.Lock()
		wait := p.asked[m.ID]
		delete(p.asked, m.ID)
		p.mu.Unlock()
		if wait != nil {
			wait <- m
		}
		done()
	case m.Method == "":
		send(failure(m.ID, -32600, "invalid request"))
		done()
	case m.ID == "":
		p.notified(m)
		done()
	default:
		ctx, cancel := context.WithCancel(ctx)
		p.mu.Lock()
		p.running[m.ID] = cancel
		p.mu.Unlock()
		e := &exchange{ctx: ctx, p: p, m: m, modern: isModern(m), send: send, cut: cut}
		go func() {
			defer done()
			defer cancel()
			e.run()
			p.mu.Lock()
			delete(p.running, m.ID)
			p.mu.Unlock()
		}()
	}
}

func (p *peer) notified(m Message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.running[string(Path(m.Params, "requestId"))]; cancel != nil {
		cancel()
	}
}

// isModern tells whether a request belongs to the stateless era.
func isModern(m Message) bool {
	return Text(m.Params, "_meta", metaPrefix+"protocolVersion") >= Modern
}

// question asks within an exchange and waits for the answer.
func (e *exchange) question(q Question) (Message, bool) {
	id := e.p.s.questionID()
	wait := make(chan Message, 1)
	e.p.mu.Lock()
	e.p.asked[string(id)] = wait
	e.p.mu.Unlock()
	e.send(request(id, q.Method, q.Params))
	select {
	case m := <-wait:
		return m, true
	case <-e.ctx.Done():
		return Message{}, false
	}
}

// count is how often it was called for a key before.
func (s *server) count(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[key]++
	return s.counts[key] - 1
}
