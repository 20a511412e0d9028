package serve

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// The frames of case O-02, and what must come of each in the revisions without
// arrays and in the one with them. The last two get no answer.
var smuggled = []struct{ name, frame, old, batches string }{
	{"one in an array", `[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_record","arguments":{"id":"r-17"}}}]`, "-32600", "blocked_by_policy"},
	{"blanks before it", "  \t" + ` [{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_record","arguments":{"id":"r-17"}}}]`, "-32600", "blocked_by_policy"},
	{"a byte order mark", "\xef\xbb\xbf" + `[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"delete_record","arguments":{"id":"r-17"}}}]`, "-32600", "-32600"},
	{"two", `[{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"ping_tool","arguments":{}}},{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"send_mail","arguments":{"to":"x@example.test"}}}]`, "-32600", "blocked_by_policy"},
	{"nested", `[[{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"delete_record","arguments":{"id":"r-18"}}}]]`, "-32600", "-32600"},
	{"empty", `[]`, "-32600", "-32600"},
	{"an orphan answer", `{"jsonrpc":"2.0","id":4711,"result":{"action":"accept","content":{"ok":true}}}`, "", ""},
	{"a call without an id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"delete_record","arguments":{"id":"r-19"}}}`, "", ""},
}

// The frames 1 to 4 of case O-03, the last one in both spellings.
var folded = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_note","Name":"delete_note","arguments":{"id":"n1"}}}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"NAME":"delete_note","name":"read_note","arguments":{"id":"n1"}}}`,
	`{"jsonrpc":"2.0","id":3,"method":"tools/list","Method":"tools/call","params":{"name":"delete_note","arguments":{"id":"n1"}}}`,
	`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_note","arguments":{"id":"n1"}},"param\u017f":{"name":"delete_note","arguments":{"id":"n1"}}}`,
	`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_note","arguments":{"id":"n1"}},"paramſ":{"name":"delete_note","arguments":{"id":"n1"}}}`,
}

func TestO02OverHTTP(t *testing.T) {
	for _, rev := range []mcp.Revision{mcp.Rev20241105, mcp.Rev20250326, mcp.Rev20250618, mcp.Rev20251125} {
		t.Run(string(rev), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t, &fakeGateway{}, Options{})
				hs := r.initialize(rev)
				for i, c := range smuggled {
					want := c.old
					if rev.Batches() {
						want = c.batches
					}
					res, text := r.post(c.frame, hs)
					switch {
					case want == "" && (res.StatusCode != 202 || text != ""):
						t.Errorf("%s: %d %s", c.name, res.StatusCode, text)
					case want == "-32600" && !rev.Batches() && res.StatusCode != 400:
						t.Errorf("%s: %d", c.name, res.StatusCode)
					}
					has(t, c.name, text, want)
					checkDrop(t, r.g.last(), c.name, want, rev)
					r.pings(hs, "10"+string(rune('0'+i)))
				}
			})
		})
	}
}

func TestO02OverStdio(t *testing.T) {
	for _, rev := range []mcp.Revision{mcp.Rev20241105, mcp.Rev20250326, mcp.Rev20250618, mcp.Rev20251125} {
		t.Run(string(rev), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPipe(t, &fakeGateway{}, Options{})
				p.initialize(rev)
				for i, c := range smuggled {
					want := c.old
					if rev.Batches() {
						want = c.batches
					}
					p.send(c.frame)
					if want != "" {
						has(t, c.name, p.read(), want)
					}
					p.pings("10" + string(rune('0'+i)))
					checkDrop(t, p.g.last(), c.name, want, rev)
				}
			})
		})
	}
}

func checkDrop(t *testing.T, s *fakeSession, name, answer string, rev mcp.Revision) {
	t.Helper()
	want := ""
	switch {
	case name == "an orphan answer":
		want = dropOrphan
	case name == "a call without an id":
		want = dropNoID
	case !rev.Batches() && answer == "-32600" && name != "a byte order mark":
		want = dropBatch
	}
	if got := s.dropped(); want != "" && got != want {
		t.Errorf("%s: recorded %q, want %q", name, got, want)
	}
}

func TestO02Stateless(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{})
		p := newPipe(t, &fakeGateway{}, Options{})
		for _, c := range smuggled {
			hs := head{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "delete_record"}
			res, text := r.post(c.frame, hs)
			if want := 400; c.old != "" && res.StatusCode != want {
				t.Errorf("%s: %d %s", c.name, res.StatusCode, text)
			}
			has(t, c.name, text, c.old)
			good := modernCall("99", "ping_tool", "{}")
			res, text = r.post(good, modernHeads(methodCall, "ping_tool"))
			if res.StatusCode != 200 {
				t.Errorf("after %s: %d %s", c.name, res.StatusCode, text)
			}
			p.send(c.frame)
			if c.old != "" {
				has(t, c.name, p.read(), c.old)
			}
			p.send(good)
			has(t, "after "+c.name, p.read(), "pong")
		}
		if got := r.g.shared.dropped(); got != "batch batch unreadable batch batch batch orphan_answer no_id" {
			t.Errorf("recorded %q", got)
		}
	})
}

func TestO03(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{})
		hs := r.initialize(mcp.Rev20250618)
		p := newPipe(t, &fakeGateway{}, Options{})
		p.initialize(mcp.Rev20251125)
		for _, f := range folded {
			_, text := r.post(f, hs)
			for _, answer := range []string{text, func() string { p.send(f); return p.read() }()} {
				if !strings.Contains(answer, "-32600") && !strings.Contains(answer, "-32602") {
					t.Errorf("%s: %s", f, answer)
				}
			}
			r.pings(hs, "100")
			p.pings("100")
		}
		// Frame 5 is an ordinary call of delete_note, with its name unescaped.
		five := `{"jsonrpc":"2.0","id":5,"meth\u006fd":"tools/call","params":{"n\u0061me":"delete_note","arguments":{"id":"n1"}}}`
		_, text := r.post(five, hs)
		has(t, "frame 5", text, "blocked_by_policy", `"id":5`)
	})
}

// Case O-25, in its order.
func TestO25(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{})
		init := func(id, rev string) string {
			return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{"protocolVersion":"` + rev + `","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
		}
		list := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}` }

		res, text := r.post(init("1", "2031-01-01"), nil) // n1
		if res.StatusCode != 200 {
			t.Fatalf("n1: %d %s", res.StatusCode, text)
		}
		has(t, "n1", text, `"protocolVersion":"2025-11-25"`, `"id":1`)
		hs := head{"Mcp-Session-Id": res.Header.Get("Mcp-Session-Id")}

		works := func(what string) {
			t.Helper()
			if res, text := r.post(list("2"), hs); res.StatusCode != 200 || !strings.Contains(text, "echo") {
				t.Fatalf("%s: %d %s", what, res.StatusCode, text)
			}
		}
		works("n2")
		for _, v := range []string{"2031-01-01", "latest", "2025-06-18"} { // n3, n4, and one that is known and not agreed
			res, text := r.post(list("3"), head{"Mcp-Session-Id": hs["Mcp-Session-Id"], "Mcp-Protocol-Version": v})
			if res.StatusCode != 400 {
				t.Errorf("%s: %d %s", v, res.StatusCode, text)
			}
			has(t, v, text, "2025-11-25")
			works("after " + v)
		}
		res, text = r.post(list("5"), head{"Mcp-Session-Id": "no-such-session"}) // n5
		if res.StatusCode != 404 {
			t.Errorf("n5: %d %s", res.StatusCode, text)
		}
		if res, text := r.post(init("1", "2025-11-25"), nil); res.StatusCode != 200 {
			t.Errorf("initialize after n5: %d %s", res.StatusCode, text)
		}
		s := r.g.sessions[0]
		res, text = r.post(init("6", "2024-11-05"), hs) // n6
		if res.StatusCode != 400 {
			t.Errorf("n6: %d %s", res.StatusCode, text)
		}
		has(t, "n6", text, "-32600", `"id":6`)
		works("after n6")
		if len(r.g.sessions) != 2 || s.over() {
			t.Error("n6 opened or closed a session")
		}

		again := newRig(t, &fakeGateway{}, Options{}) // a restart
		if res, text := again.post(list("2"), hs); res.StatusCode != 404 {
			t.Errorf("after a restart: %d %s", res.StatusCode, text)
		}
		old := newRig(t, &fakeGateway{rev: mcp.Rev20241105}, Options{}) // the upstream speaks 2024-11-05 only
		_, text = old.post(init("1", "2025-11-25"), nil)
		has(t, "an old upstream", text, `"protocolVersion":"2024-11-05"`)
	})
}

func TestO25OverStdio(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPipe(t, &fakeGateway{}, Options{})
		p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		has(t, "before initialize", p.read(), "-32600", `"id":1`)
		p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		has(t, "ping before it", p.read(), `"id":"p"`, `"result":{}`)
		p.initialize("2031-01-01")
		p.send(`{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
		has(t, "a second initialize", p.read(), "-32600", `"id":6`)
		p.pings("7")
		if len(p.g.sessions) != 1 {
			t.Errorf("%d sessions", len(p.g.sessions))
		}
	})
}

func modernCall(id, name, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `,` + modernMeta + `}}`
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}}`

func modernHeads(method, name string) head {
	h := head{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method}
	if name != "" {
		h["Mcp-Name"] = name
	}
	return h
}
