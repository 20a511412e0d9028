package gateway

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/runs"
)

// A server is a small upstream: lists, a handler, and a log of what reached it.
type server struct {
	mu     sync.Mutex
	lists  map[string][]string // method → items
	did    []mcp.Frame         // what was executed
	links  []*wire
	caps   string
	rev    mcp.Revision
	do     func(ctx context.Context, l *wire, x Exchange) (mcp.Frame, error)
	list   func(ctx context.Context, method string) error
	first  error // of Connect
	listed int
	instr  *string
	info   string
}

func newServer(tools ...string) *server {
	return &server{
		lists: map[string][]string{methodTools: tools},
		caps:  `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{},"tasks":{}}`,
		rev:   mcp.Rev20251125,
		info:  `{"name":"fixture","version":"1"}`,
	}
}

func (u *server) Name() string { return "fixture" }
func (u *server) Place() Place {
	return Place{Origin: origin.Must("https://tools.example/mcp")}
}
func (u *server) Close() error { return nil }

func (u *server) Connect(_ context.Context, hello mcp.Hello, sink Sink) (Link, error) {
	if u.first != nil {
		return nil, u.first
	}
	l := &wire{u: u, sink: sink, hello: hello}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.links = append(u.links, l)
	return l, nil
}

// executed is how often a method was executed for a name.
func (u *server) executed(method, name string) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for _, f := range u.did {
		got, _ := mcp.GetString(f.Params, "name")
		if uri, ok := mcp.GetString(f.Params, "uri"); ok {
			got = uri
		}
		if f.Method == method && (name == "*" || got == name) {
			n++
		}
	}
	return n
}

func (u *server) last() mcp.Frame {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.did) == 0 {
		return mcp.Frame{}
	}
	return u.did[len(u.did)-1]
}

func (u *server) set(method string, items ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.lists[method] = items
}

// A wire is one link to the server.
type wire struct {
	u     *server
	sink  Sink
	hello mcp.Hello
	notes []mcp.Frame
	ended bool
}

func (l *wire) Welcome() mcp.Welcome {
	return mcp.Welcome{Revision: l.u.rev, Capabilities: jsontext.Value(l.u.caps), ServerInfo: jsontext.Value(l.u.info), Instructions: l.u.instr}
}

func (l *wire) List(ctx context.Context, method string, params []byte) (mcp.Frame, error) {
	if l.u.list != nil {
		if err := l.u.list(ctx, method); err != nil {
			return mcp.Frame{}, err
		}
	}
	l.u.mu.Lock()
	defer l.u.mu.Unlock()
	l.u.listed++
	member := map[string]string{methodTools: "tools", methodPrompts: "prompts", methodResources: "resources", methodTemplates: "resourceTemplates"}[method]
	return mcp.Answer("1", jsontext.Value(`{"`+member+`":[`+strings.Join(l.u.lists[method], ",")+`]}`)), nil
}

func (l *wire) Do(ctx context.Context, p gate.Pass, x Exchange) (mcp.Frame, error) {
	if err := p.Spend(x.Frame.Method, x.Frame.Params); err != nil {
		return mcp.Frame{}, fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	l.u.mu.Lock()
	l.u.did = append(l.u.did, x.Frame)
	do := l.u.do
	l.u.mu.Unlock()
	if do == nil {
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[{"type":"text","text":"ok"}]}`)), nil
	}
	return do(ctx, l, x)
}

func (l *wire) Notify(_ context.Context, f mcp.Frame) error {
	l.u.mu.Lock()
	defer l.u.mu.Unlock()
	l.notes = append(l.notes, f)
	return nil
}

func (l *wire) Close() error { l.ended = true; return nil }

// answer makes a server that answers every call with a result.
func (u *server) answer(result string) {
	u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
		return mcp.Answer(x.Frame.ID, jsontext.Value(result)), nil
	}
}

// A person is an agent's side: it keeps what it hears and answers questions.
type person struct {
	mu     sync.Mutex
	heard  []mcp.Frame
	asked  []mcp.Frame
	reply  func(f mcp.Frame) (mcp.Frame, error)
	notify chan mcp.Frame
}

func newPerson() *person { return &person{notify: make(chan mcp.Frame, 16)} }

func (p *person) Notify(f mcp.Frame) {
	p.mu.Lock()
	p.heard = append(p.heard, f)
	p.mu.Unlock()
	select {
	case p.notify <- f:
	default:
	}
}

func (p *person) Ask(_ context.Context, f mcp.Frame) (mcp.Frame, error) {
	p.mu.Lock()
	p.asked = append(p.asked, f)
	p.mu.Unlock()
	if p.reply != nil {
		return p.reply(f)
	}
	return mcp.Answer(f.ID, jsontext.Value(`{"action":"accept","content":{}}`)), nil
}

// book is a Recorder that keeps entries to look at beside the real log.
type book struct {
	mu      sync.Mutex
	log     Recorder
	entries []registry.Entry
	durable []bool
	fail    error // of Decided
	late    error // of Finished
}

func (b *book) Decided(ctx context.Context, e *registry.Entry, args []byte, durable bool) (decisions.Ticket, error) {
	b.mu.Lock()
	fail := b.fail
	b.mu.Unlock()
	if fail != nil {
		return decisions.Ticket{}, fail
	}
	t, err := b.log.Decided(ctx, e, args, durable)
	if err == nil {
		b.keep(e, durable)
	}
	return t, err
}

func (b *book) Finished(t decisions.Ticket, e *registry.Entry, result []byte) error {
	if b.late != nil {
		return b.late
	}
	err := b.log.Finished(t, e, result)
	b.keep(e, false)
	return err
}

func (b *book) Note(e *registry.Entry) error {
	err := b.log.Note(e)
	b.keep(e, false)
	return err
}

func (b *book) keep(e *registry.Entry, durable bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.entries = append(b.entries, *e)
	b.durable = append(b.durable, durable)
}

// of are the entries for which f is true.
func (b *book) of(f func(e registry.Entry) bool) (out []registry.Entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if f(e) {
			out = append(out, e)
		}
	}
	return out
}

// crew is who has a credential.
type crew struct {
	mu    sync.Mutex
	by    map[credentials.Digest]*registry.Agent
	stale error
}

func (c *crew) add(credential, id, profile string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := credentials.Digest(canon.Digest(secretContext, []byte(credential)))
	c.by[d] = &registry.Agent{ID: credentials.AgentID("agt_" + id), Name: "n", Profile: profile, Secret: d}
}

func (c *crew) revoke(credential string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := credentials.Digest(canon.Digest(secretContext, []byte(credential)))
	a := *c.by[d]
	a.Revoked = true
	c.by[d] = &a
}

func (c *crew) BySecret(d credentials.Digest) (*registry.Agent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale != nil {
		return nil, c.stale
	}
	if a := c.by[d]; a != nil {
		return a, nil
	}
	return nil, registry.ErrNotFound
}

func (c *crew) ByID(id credentials.AgentID) (*registry.Agent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stale != nil {
		return nil, c.stale
	}
	for _, a := range c.by {
		if a.ID == id {
			return a, nil
		}
	}
	return nil, registry.ErrNotFound
}

func (c *crew) Fresh() (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return 7, c.stale
}

// A house is a gateway with all that it needs, the real thing but for server,
// person and crew.
type house struct {
	t     testing.TB
	u     *server
	book  *book
	crew  *crew
	gw    *Gateway
	opt   Options
	store *baseline.Store
}

var rings = struct {
	sync.Mutex
	dir  string
	ring *keyring.Ring
}{}

func TestMain(m *testing.M) {
	code := m.Run()
	if rings.dir != "" {
		_ = os.RemoveAll(rings.dir)
	}
	os.Exit(code)
}

// sharedRing is one key ring for all tests: making one costs more than they do.
func sharedRing(t testing.TB) *keyring.Ring {
	t.Helper()
	rings.Lock()
	defer rings.Unlock()
	if rings.ring != nil {
		return rings.ring
	}
	dir, err := os.MkdirTemp("", "pratique-gateway-")
	if err != nil {
		t.Fatal(err)
	}
	rings.dir = dir
	if rings.ring, err = keyring.Open(dir+"/keys", keyring.Options{Create: true, Issuer: "https://registry.example", WorkFactor: 2}); err != nil {
		t.Fatal(err)
	}
	return rings.ring
}

const ulid1, ulid2 = "01JZ0000000000000000000001", "01JZ0000000000000000000002"

func newHouse(t testing.TB, u *server, profile policy.Profile, tune ...func(*Options)) *house {
	t.Helper()
	ring := sharedRing(t)
	log, err := decisions.Open(t.TempDir(), decisions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, u: u, book: &book{log: log}, crew: &crew{by: map[credentials.Digest]*registry.Agent{}}, store: baseline.NewMemory(baseline.Options{})}
	h.crew.add("first", ulid1, string(profile))
	h.crew.add("second", ulid2, string(profile))
	h.opt = Options{
		Upstream: u, Agents: h.crew, Runs: runs.NewMemory(runs.Options{}), Record: h.book, Policy: policy.Of(nil),
		Inspector: inspect.New(), Keys: ring, Issuer: "https://registry.example", Profile: profile,
		Surfaces: Surfaces{Baseline: surface.Store(h.store, u.Place().Origin.String())},
		Own:      Own{Data: "/srv/own-data", Listeners: []string{"127.0.0.1:7070"}, Home: "/home/u"},
	}
	for _, f := range tune {
		f(&h.opt)
	}
	if h.gw, err = New(h.opt); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.gw.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

const hello = `{"roots":{},"sampling":{},"elicitation":{}}`

// open is a session of an agent, in the era of the server.
func (h *house) open(credential string, own Peer) *Session {
	h.t.Helper()
	who, err := h.gw.Admit(credential)
	if err != nil {
		h.t.Fatal(err)
	}
	hi := mcp.Hello{Revision: h.u.rev, Capabilities: jsontext.Value(hello), ClientInfo: jsontext.Value(`{"name":"t","version":"0"}`)}
	var s *Session
	if h.u.rev.Modern() {
		s, err = h.gw.Stateless(context.Background(), who, hi, Via{"http"})
	} else {
		s, err = h.gw.Open(context.Background(), who, hi, own, Via{"stdio"})
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

// shown is a session that has listed everything once.
func (h *house) shown(own Peer) *Session {
	h.t.Helper()
	s := h.open("first", own)
	for _, m := range []string{methodTools, methodPrompts, methodResources, methodTemplates} {
		if a := s.Handle(context.Background(), ask(m, ""), own); a.Shape != mcp.Result {
			h.t.Fatalf("%s: %s", m, a.Bytes())
		}
	}
	return s
}

func ask(method, params string) mcp.Frame {
	f := mcp.Frame{Shape: mcp.Request, ID: "7", Method: method}
	if params != "" {
		f.Params = jsontext.Value(params)
	}
	return f
}

func tool(name string) string {
	return `{"name":"` + name + `","description":"Does ` + name + `.","inputSchema":{"type":"object"}}`
}

// reason is the reason code of a refusal, wherever it stands.
func reason(a mcp.Frame) string {
	if a.Shape == mcp.Failure {
		r, _ := mcp.GetString(a.Error.Data, "reason")
		return r
	}
	if v, ok := mcp.Get(a.Result, "isError"); !ok || string(v) != "true" {
		return ""
	}
	r, _ := mcp.GetString(a.Result, "structuredContent", "reason")
	return r
}

func refusals(e registry.Entry) bool { return e.Outcome == registry.OutcomeRefused }
