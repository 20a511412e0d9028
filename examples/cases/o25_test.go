package cases

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

func initialize(rev string) string {
	return `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "` + rev + `", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}}`
}

func headers(more ...string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

const listO25 = `{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}`

func scriptO25() mcptest.Script {
	return mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{mcptest.Tool("add", "Adds."), mcptest.Tool("erase", "Erases.")}}}
}

// Left for approvals: those of S that are pending.
func TestCaseO25(t *testing.T) {
	t.Run("http", func(t *testing.T) {
		for _, w := range []stage.Way{stage.HTTPHTTP, stage.HTTPStdio} {
			t.Run(string(w), func(t *testing.T) {
				t.Parallel()
				(&scene{t, w, "2025-11-25"}).sessions()
			})
		}
	})
	t.Run("stdio", func(t *testing.T) {
		s := &scene{t, stage.StdioStdio, "2025-11-25"}
		h := stage.New(s, s.way, scriptO25(), stage.Options{})
		a := h.Agent("2025-11-25")
		m := a.Do(initialize("2031-01-01"))
		if !slices.Contains(mcptest.Revisions[:4], mcptest.Text(m.Result, "protocolVersion")) {
			t.Errorf("n1: %s", m.Raw)
		}
		a.Notify("notifications/initialized", "")
		if m := a.Do(listO25); len(m.Names()) != 2 {
			t.Errorf("n2: %s", m.Raw)
		}
		if m := a.Do(`{"jsonrpc": "2.0", "id": 6, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}}`); !m.IsError() {
			t.Errorf("n6: %s", m.Raw)
		}
		s.runs(h, a, "add", `{}`)
	})
	t.Run("sealed", func(t *testing.T) {
		scenes(t, both[1:2], func(s *scene) { s.shedding() })
	})
	t.Run("older server", func(t *testing.T) {
		scenes(t, []string{"2025-11-25"}, func(s *scene) {
			script := scriptO25()
			script.Revisions = []string{"2024-11-05"}
			script.Prompts.Items = mcptest.Texts(`{"name":"greet"}`)
			script.Capabilities = mcptest.JSON(`{"tools":{},"tasks":{"list":{}},"experimental":{"x":{}}}`)
			h := stage.New(s, s.way, script, stage.Options{})
			a := h.Agent("2025-11-25")
			m := a.Hello()
			if v := mcptest.Text(m.Result, "protocolVersion"); v != "2024-11-05" {
				s.Errorf("agreed on %s", v)
			}
			a.SetHeader("Mcp-Protocol-Version", "2024-11-05") // a client says what was agreed
			a.Notify("notifications/initialized", "")
			for _, claim := range []string{"prompts", "resources", "completions", "logging", "tasks", "experimental"} {
				if mcptest.Path(m.Result, "capabilities", claim) != nil {
					s.Errorf("claims %s, which the server does not: %s", claim, m.Raw)
				}
			}
			if len(a.Tools()) != 2 {
				s.Error("the tools are not listed")
			}
			s.runs(h, a, "add", `{}`)
		})
	})
}

// sessions is the case's list of requests in its order.
func (s *scene) sessions() {
	const rules = "rules:\n- name: r\n  allow: [add]\n- name: n\n  never: [erase]\n"
	h := stage.New(s, s.way, scriptO25(), stage.Options{Rules: rules})
	a := h.Agent(s.rev)
	n1 := a.HTTP("POST", initialize("2031-01-01"), headers())
	if n1.Status != 200 || len(n1.Frames) != 1 || !slices.Contains(mcptest.Revisions[:4], mcptest.Text(n1.Frames[0].Result, "protocolVersion")) {
		s.Fatalf("n1: %d %s", n1.Status, n1.Body)
	}
	id := n1.Header.Get("Mcp-Session-Id")
	if id == "" {
		s.Fatal("n1: no session id")
	}
	in := func(more ...string) http.Header { return headers(append([]string{"Mcp-Session-Id", id}, more...)...) }
	a.HTTP("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, in())
	works := func(name string) {
		s.Helper()
		if r := a.HTTP("POST", listO25, in()); r.Status != 200 || len(r.Frames) != 1 || !slices.Equal(r.Frames[0].Names(), []string{"add"}) {
			s.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	works("n2")
	for name, version := range map[string]string{"n3": "2031-01-01", "n4": "latest"} {
		if r := a.HTTP("POST", listO25, in("MCP-Protocol-Version", version)); r.Status != 400 || len(r.Body) == 0 {
			s.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
		works("after " + name)
	}
	if r := a.HTTP("POST", listO25, headers("Mcp-Session-Id", "no-such-session")); r.Status != 404 {
		s.Errorf("n5: %d %s", r.Status, r.Body)
	}
	if r := a.HTTP("POST", initialize("2025-11-25"), headers()); r.Status != 200 || r.Header.Get("Mcp-Session-Id") == "" {
		s.Errorf("the control: %d %s", r.Status, r.Body)
	}
	n6 := a.HTTP("POST", `{"jsonrpc": "2.0", "id": 6, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}}`, in())
	if n6.Status == 200 && n6.Header.Get("Mcp-Session-Id") == "" && len(n6.Frames) > 0 && !n6.Frames[0].IsError() {
		s.Errorf("n6: %d %s", n6.Status, n6.Body)
	}
	works("after n6")
	erase := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"erase","arguments":{}}}`
	for _, sid := range []string{id, n6.Header.Get("Mcp-Session-Id")} { // nothing was shed
		if sid != "" {
			r := a.HTTP("POST", erase, headers("Mcp-Session-Id", sid))
			if len(r.Frames) != 1 {
				s.Fatalf("erase: %d %s", r.Status, r.Body)
			}
			s.audited(h, stage.Refused(s, r.Frames[0]))
		}
	}
	h.Restart()
	if r := h.Agent(s.rev).HTTP("POST", listO25, in()); r.Status != 404 {
		s.Errorf("after a restart: %d %s", r.Status, r.Body)
	}
	b := s.started(h)
	s.runs(h, b, "add", `{}`)
	s.never(h, "erase")
	for _, e := range h.Find(func(e entry) bool { return e.Type == "call.decided" }) {
		if e.Run != h.Entries()[0].Run { // one run all along
			s.Errorf("another run: %+v", e)
		}
	}
}

// shedding: neither n6 nor any other second handshake, with another revision, name or
// session, sheds a sealed intent.
func (s *scene) shedding() {
	h := stage.New(s, s.way, scriptO25(), stage.Options{})
	a := s.sealed(h, s.intent(h, "intent", "task: add\nexpires: 1h\ntools: [add]\n"))
	a.Start()
	only := func(what string, a *mcptest.Agent) {
		s.Helper()
		if got := a.Tools(); !slices.Equal(got, []string{"add"}) {
			s.Errorf("%s: listed %q", what, got)
		}
		s.audited(h, stage.Refused(s, a.Call("erase", `{}`), "outside_intent", "not_shown"))
		s.runs(h, a, "add", `{}`)
		s.never(h, "erase")
	}
	only("at first", a.Agent)
	for i, rev := range []string{"2024-11-05", "2031-01-01", "2025-11-25"} {
		n6 := a.Do(strings.NewReplacer(`"id": 1`, `"id": `+itoa(600+i), `"name": "t"`, `"name": "somebody else"`).Replace(initialize(rev)))
		if s.way.Guarded() && !n6.IsError() {
			s.Errorf("n6: %s", n6.Raw)
		}
		only("after a second initialize of "+rev, a.Agent)
	}
	if s.way.Guarded() { // a launch is one connection
		return
	}
	for _, rev := range []string{"2024-11-05", "2025-11-25", mcptest.Modern} {
		b := mcptest.DialHTTP(s, rev, a.url)
		b.ClientInfo = mcptest.JSON(`{"name":"somebody else","version":"9"}`)
		b.Start()
		only("a session of its own in "+rev, b)
	}
	h.Restart()
	b := a.again(s)
	b.Start()
	only("after a restart", b.Agent)
}
