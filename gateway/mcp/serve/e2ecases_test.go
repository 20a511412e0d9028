package serve

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// The policy of case O-02, and what O-03 needs beside it.
const caseRules = `rules:
  - {name: fine, allow: [ping_tool, read_note]}
  - {name: held, ask: [send_mail]}
  - {name: shut, never: [delete_record, delete_note]}
`

// Case O-02 through the gateway to a server that would execute everything: what
// its own record says is that it never was asked to.
func TestO02ThroughTheGateway(t *testing.T) {
	for _, rev := range []mcp.Revision{mcp.Rev20241105, mcp.Rev20250326, mcp.Rev20250618, mcp.Rev20251125} {
		t.Run(string(rev), func(t *testing.T) {
			up, done := endpointUpstream(t, false)
			g := realGateway(t, up, caseRules)
			r, p := rigOf(t, real{g}, Options{}), pipeOf(t, real{g}, Options{})
			hs := r.initialize(rev)
			r.post(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`, hs)
			p.initialize(rev)
			p.send(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
			has(t, "list", p.read(), "ping_tool")
			for i, c := range smuggled {
				id := "10" + string(rune('0'+i))
				r.post(c.frame, hs)
				r.pings(hs, id)
				p.send(c.frame)
				want := c.old
				if rev.Batches() {
					want = c.batches
				}
				if want != "" {
					has(t, c.name, p.read(), want)
				}
				p.pings(id)
			}
			shut(t, done)
		})
	}
}

func TestO02StatelessThroughTheGateway(t *testing.T) {
	up, done := endpointUpstream(t, true)
	g := realGateway(t, up, caseRules)
	r, p := rigOf(t, real{g}, Options{}), pipeOf(t, real{g}, Options{})
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	r.post(list, modernHeads("tools/list", ""))
	p.send(list)
	has(t, "list", p.read(), "ping_tool")
	good := modernCall("99", "ping_tool", "{}")
	for _, c := range smuggled {
		r.post(c.frame, modernHeads(methodCall, "delete_record"))
		if res, text := r.post(good, modernHeads(methodCall, "ping_tool")); res.StatusCode != 200 || !strings.Contains(text, "pong") {
			t.Errorf("after %s: %d %s", c.name, res.StatusCode, text)
		}
		p.send(c.frame)
		if c.old != "" {
			has(t, c.name, p.read(), c.old)
		}
		p.send(good)
		has(t, "after "+c.name, p.read(), "pong")
	}
	shut(t, done)
}

// Case O-03 in the same way. Frame 5 is an ordinary call that policy denies.
func TestO03ThroughTheGateway(t *testing.T) {
	up, done := endpointUpstream(t, false)
	g := realGateway(t, up, caseRules)
	r, p := rigOf(t, real{g}, Options{}), pipeOf(t, real{g}, Options{})
	hs := r.initialize(mcp.Rev20250618)
	r.post(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`, hs)
	p.initialize(mcp.Rev20251125)
	five := `{"jsonrpc":"2.0","id":5,"meth\u006fd":"tools/call","params":{"n\u0061me":"delete_note","arguments":{"id":"n1"}}}`
	for _, f := range append(folded, five) {
		_, text := r.post(f, hs)
		p.send(f)
		for _, answer := range []string{text, p.read()} {
			if f == five {
				has(t, "frame 5", answer, "blocked_by_policy", `"capabilityInvoked":false`, `"id":5`)
			} else if !strings.Contains(answer, "-32600") && !strings.Contains(answer, "-32602") {
				t.Errorf("%s: %s", f, answer)
			}
		}
		r.pings(hs, "100")
	}
	shut(t, done)
}

func shut(t *testing.T, done *executions) {
	t.Helper()
	for _, name := range []string{"delete_record", "send_mail", "delete_note", "read_note"} {
		if n := done.of(name); n != 0 {
			t.Errorf("%s was executed %d times", name, n)
		}
	}
	if done.of("ping_tool") == 0 {
		t.Error("the control was not executed")
	}
}
