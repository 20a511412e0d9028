package soak_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

func TestMain(m *testing.M) { stage.Main(m) }

const legacy = "2025-11-25"

func script() mcptest.Script {
	return mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{mcptest.Tool("write_note", "Writes one note.")}}}
}

// A guard is a launch of the gateway, spoken to in lines, that may be killed.
type guard struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	errs  mcptest.Tail
	gone  chan struct{}
	mu    sync.Mutex
	calls map[string]chan string // by id
}

func launch(t *testing.T, argv []string) *guard {
	t.Helper()
	g := &guard{cmd: exec.Command(argv[0], argv[1:]...), calls: map[string]chan string{}, gone: make(chan struct{})}
	g.cmd.Stderr = &g.errs
	var err error
	if g.in, err = g.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	g.out = bufio.NewReaderSize(out, 1<<20)
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.kill)
	go g.read()
	if a, ok := g.ask("1", "initialize", `{"protocolVersion":"`+legacy+`","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}`); !ok || !strings.Contains(a, "serverInfo") {
		t.Fatalf("initialize: %s\n%s", a, g.errs.String())
	}
	g.line(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if a, ok := g.ask("2", "tools/list", `{}`); !ok || !strings.Contains(a, "write_note") {
		t.Fatalf("tools/list: %s\n%s", a, g.errs.String())
	}
	return g
}

// read hands answers to who waits for them, and ends when the process does.
func (g *guard) read() {
	defer close(g.gone)
	for {
		line, err := g.out.ReadString('\n')
		if err != nil {
			_ = g.cmd.Wait()
			return
		}
		m := mcptest.Decode([]byte(line))
		g.mu.Lock()
		ch := g.calls[m.ID]
		delete(g.calls, m.ID)
		g.mu.Unlock()
		if ch != nil {
			ch <- line
		}
	}
}

func (g *guard) line(s string) { _, _ = io.WriteString(g.in, s+"\n") }

// begin sends a request, whose answer comes over the channel, if it comes.
func (g *guard) begin(id, method, params string) chan string {
	ch := make(chan string, 1)
	g.mu.Lock()
	g.calls[id] = ch
	g.mu.Unlock()
	g.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return ch
}

// ask waits for the answer, or for the end of the process.
func (g *guard) ask(id, method, params string) (string, bool) {
	ch := g.begin(id, method, params)
	select {
	case a := <-ch:
		return a, true
	case <-g.gone:
	}
	select {
	case a := <-ch: // it came before the end
		return a, true
	default:
		return "", false
	}
}

// kill ends the process with SIGKILL, and waits for its end.
func (g *guard) kill() {
	_ = g.cmd.Process.Kill()
	<-g.gone
}

// leave ends it as a client does.
func (g *guard) leave() {
	_ = g.in.Close()
	<-g.gone
}

func note(n int) string { return fmt.Sprintf(`{"name":"write_note","arguments":{"n":%d}}`, n) }

// A past is what the decision log says of the calls, by their number.
type past struct {
	decided  map[int]int // how many decisions that let it through
	finished map[int]registry.Entry
	records  int
	lost     int
}

func read(t *testing.T, data string) past {
	t.Helper()
	p := past{decided: map[int]int{}, finished: map[int]registry.Entry{}}
	byCall := map[string]int{}
	seen := map[string]bool{}
	lasts := map[string]bool{}
	for r, err := range decisions.Read(data, decisions.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		e := r.Entry
		if key := fmt.Sprint(r.Spool, r.Index); seen[key] {
			t.Errorf("two records at %s", key)
		} else {
			seen[key] = true
		}
		if e.Run != "" && e.N > 0 {
			if key := fmt.Sprint(e.Run, " ", e.N); lasts[key] {
				t.Errorf("two entries of a run after the same one: %s", key)
			} else {
				lasts[key] = true
			}
		}
		switch {
		case e.Type == registry.EntryDecision && e.Method == "tools/call":
			raw, err := decisions.ArgsOf(data, &r)
			if err != nil {
				t.Fatalf("arguments of %s: %v", e.Call, err)
			}
			var args struct {
				N int `json:"n"`
			}
			if err := json.Unmarshal(raw, &args); err != nil {
				t.Fatal(err)
			}
			p.records++
			if e.Verb == "allow" {
				p.decided[args.N]++
				byCall[e.Call] = args.N
			}
		case e.Type == registry.EntryOutcome:
			if n, ok := byCall[e.Call]; ok {
				p.finished[n] = e
				if e.Outcome == registry.OutcomeLost {
					p.lost++
				}
			}
		}
	}
	return p
}

// executed is how often each call reached the server, by its own log.
func executed(t *testing.T, up *mcptest.Upstream) map[int]int {
	t.Helper()
	out := map[int]int{}
	for _, m := range up.Received() {
		if m.Method == "tools/call" {
			out[int(mcptest.Number(m.Params, "arguments", "n"))]++
		}
	}
	return out
}

// settled wants of the log and the server what has to be after kills: each call that
// reached the server has one entry from before, none reached it twice, none is left
// open, and the log verifies.
func settled(t *testing.T, h *stage.House) past {
	t.Helper()
	p, did := read(t, h.Data), executed(t, h.Up)
	for n, times := range did {
		if p.decided[n] != 1 {
			t.Errorf("call %d was executed and has %d decisions", n, p.decided[n])
		}
		if times != 1 {
			t.Errorf("call %d was executed %d times", n, times)
		}
	}
	for n := range p.decided {
		e, ok := p.finished[n]
		switch {
		case !ok:
			t.Errorf("call %d has no outcome", n)
		case e.Outcome == registry.OutcomeReturned && did[n] != 1:
			t.Errorf("call %d is said to have returned and was executed %d times", n, did[n])
		}
	}
	verify(t, h)
	t.Logf("%d decisions, %d executed, %d lost", p.records, len(did), p.lost)
	return p
}

func verify(t *testing.T, h *stage.House) {
	t.Helper()
	if out, errs, code := h.Run("ledger", "verify", "--data", h.Data, "--json"); code != 0 {
		t.Errorf("ledger verify: %d: %s%s", code, out, errs)
	}
}

// TestKillGuard kills a guard at many instants under calls, always on one folder.
// Its server never outlives it.
func TestKillGuard(t *testing.T) {
	t.Parallel()
	h := stage.Make(t, stage.StdioStdio, script(), stage.Options{})
	n := 0
	for i := range kills {
		g := launch(t, h.Argv())
		var first chan string
		for range 1 + i%16 { // killed with so many open, or after the first is answered
			n++
			ch := g.begin(fmt.Sprint(100+n), "tools/call", note(n))
			if first == nil {
				first = ch
			}
		}
		if i%3 == 1 {
			<-first
		}
		if i%3 == 2 {
			h.Up.Wait(t, i+1, func(m mcptest.Message) bool { return m.Method == "tools/list" })
		}
		g.kill()
		h.Up.WaitProcesses(t, 0)
	}
	last := launch(t, h.Argv()) // adopts what the killed ones left
	n++
	if a, ok := last.ask("9", "tools/call", note(n)); !ok || strings.Contains(a, `"isError":true`) {
		t.Errorf("after the kills: %s", a)
	}
	last.leave()
	h.Up.WaitProcesses(t, 0)
	settled(t, h)
}

// TestKillUp kills a gateway with several agents.
func TestKillUp(t *testing.T) {
	t.Parallel()
	h := stage.New(t, stage.HTTPStdio, script(), stage.Options{})
	n := 0
	for i := range kills {
		a, b := h.Agent(legacy), h.Agent(mcptest.Modern)
		for _, x := range []*mcptest.Agent{a, b} {
			x.Start()
			x.Tools()
		}
		first := ""
		for j := range 1 + i%16 {
			n++
			id := []*mcptest.Agent{a, b}[j%2].Begin("tools/call", note(n))
			if first == "" {
				first = id
			}
		}
		if i%2 == 1 {
			a.Wait(first)
		}
		h.Kill()
		a.Close()
		b.Close()
		h.Up.WaitProcesses(t, 0)
		h.Start()
	}
	h.Stop()
	h.Up.WaitProcesses(t, 0)
	settled(t, h)
}

// TestCaseO19Gateway is case O-19, chain fork, at the level of the product: two
// guards and the command line on one folder, eight clients with fifty calls each,
// one guard killed in the middle and started again.
func TestCaseO19Gateway(t *testing.T) {
	t.Parallel()
	h := stage.Make(t, stage.StdioStdio, script(), stage.Options{})
	guards := [2]*guard{launch(t, h.Argv()), launch(t, h.Argv())}
	const clients, each = 8, 50
	client := func(g *guard, c, from, to int) {
		for i := from; i < to; i++ {
			n := c*each + i
			if _, ok := g.ask(fmt.Sprint(1000+n), "tools/call", note(n)); !ok {
				return
			}
		}
	}
	var wait sync.WaitGroup
	half := make(chan struct{}, clients)
	for c := range clients {
		wait.Go(func() {
			g := guards[c%2]
			client(g, c, 0, each/2)
			half <- struct{}{}
			client(g, c, each/2, each)
		})
	}
	for range clients / 2 {
		<-half
	}
	guards[1].kill()
	for _, args := range [][]string{{"keys", "rotate", "--data", h.Data, "--role", "label"}, {"surface", "list", "--data", h.Data}, {"ledger", "show", "--data", h.Data}} {
		if _, errs, code := h.Run(append(args, "--json")...); code != 0 {
			t.Errorf("pratique %q beside two guards: %d: %s", args, code, errs)
		}
	}
	guards[1] = launch(t, h.Argv())
	wait.Wait()
	had := read(t, h.Data) // what the killed one has no record of never reached the server: it is called again
	for c := range clients {
		wait.Go(func() {
			for i := range each {
				if n := c*each + i; had.decided[n] == 0 {
					client(guards[1], c, i, i+1)
				}
			}
		})
	}
	wait.Wait()
	for _, g := range guards {
		g.leave()
	}
	h.Up.WaitProcesses(t, 0)
	if p := settled(t, h); p.records != clients*each || len(p.decided) != clients*each {
		t.Errorf("%d call records of %d calls", p.records, len(p.decided))
	}
	if bytes.Contains([]byte(guards[0].errs.String()), []byte("tamper")) {
		t.Errorf("a false alarm: %s", guards[0].errs.String())
	}
}
