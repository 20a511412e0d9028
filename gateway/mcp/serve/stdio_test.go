package serve

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Whatever a line holds, the next one is read.
func TestLines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPipe(t, &fakeGateway{}, Options{Limits: Limits{Frame: 8192}})
		p.initialize(mcp.Rev20251125)
		for i, c := range []struct{ name, line, want string }{
			{"noise", "npm WARN deprecated", "-32700"},
			{"blank", "  \t", ""},
			{"half a frame", `{"jsonrpc":"2.0","id":1,`, "-32700"},
			{"two members of a name", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, "-32600"},
			{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", "-32700"},
			{"a null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "-32600"},
			{"too long", `{"jsonrpc":"2.0","id":77,"method":"ping","params":{"a":"` + strings.Repeat("a", 9000) + `"}}`, `"id":77`},
			{"too deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`, "-32600"},
			{"a carriage return", `{"jsonrpc":"2.0","id":5,"method":"ping"}` + "\r", `"result":{}`},
			{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/nothing"}`, ""},
			{"a broken notification", `{"jsonrpc":"2.0","method":"notifications/initialized","method":"x"}`, "?"},
			{"a server's notification", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, ""},
			{"a good notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
			{"a broken answer", `{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":""}}`, "?"},
			{"an answer to nothing", `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":""}}`, ""},
		} {
			p.send(c.line)
			switch c.want {
			case "":
			case "?": // answered or not, as far as it could be read
				p.send(callOf("9000", "ping_tool"))
				for !strings.Contains(p.read(), `"id":9000`) {
				}
			default:
				has(t, c.name, p.read(), c.want)
			}
			p.pings(fmt.Sprint(100 + i))
		}
		s := p.g.last()
		if len(s.notices) != 1 || s.notices[0] != methodInitialized {
			t.Errorf("passed on: %v", s.notices)
		}
		has(t, "recorded", s.dropped(), dropNotice+" ", dropOrphan)
	})
}

// Which era a connection is of, its first frame that the upstream can answer says.
func TestErasOnStdio(t *testing.T) {
	bubble(t, func(t *testing.T) {
		discover := `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{` + modernMeta + `}}`
		g := &fakeGateway{modern: gateway.ErrEra}
		p := newPipe(t, g, Options{})
		p.send(discover)
		has(t, "an upstream of sessions", p.read(), "-32601", `"id":"d"`)
		p.send(modernCall("9", "echo", "{}"))
		has(t, "a call to an upstream of sessions", p.read(), "-32022", `"2025-11-25"`, `"id":9`)
		p.initialize(mcp.Rev20251125)
		p.pings("1")

		p = newPipe(t, &fakeGateway{}, Options{})
		p.send(`{"jsonrpc":"2.0","id":"d","method":"server/discover"}`)
		has(t, "without meta", p.read(), "-32602")
		p.send(strings.ReplaceAll(discover, "2026-07-28", "2027-01-01"))
		has(t, "a later revision", p.read(), "-32022", `"2026-07-28"`)
		p.send(discover)
		has(t, "discover", p.read(), "supportedVersions")
		p.send(modernCall("2", "echo", "{}"))
		has(t, "call", p.read(), "pong")
		p.send(callOf("3", "echo"))
		has(t, "call without meta", p.read(), "-32602")
		p.send(`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
		p.read() // whatever it is, it opens no session
		if len(p.g.sessions) != 0 {
			t.Error("a session beside stateless requests")
		}
	})
}

func TestCancelAndAskOnStdio(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			switch name, _ := mcp.GetString(f.Params, "name"); name {
			case "wait":
				<-ctx.Done()
				return mcp.Fail(f.ID, mcp.CodeInternal, "cancelled", nil)
			case "ask":
				a, err := peer.Ask(ctx, mcp.Ask(`"q"`, "roots/list", nil))
				if err != nil {
					return mcp.Fail(f.ID, mcp.CodeInternal, err.Error(), nil)
				}
				if a.Shape == mcp.Failure {
					return mcp.Fail(f.ID, a.Error.Code, a.Error.Message, nil)
				}
				return mcp.Answer(f.ID, a.Result)
			}
			return mcp.Frame{}
		}}
		p := newPipe(t, g, Options{})
		p.initialize(mcp.Rev20250618)
		p.send(callOf(`"w"`, "wait"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`)
		p.pings("1") // and no answer to "w" before it
		p.send(callOf("2", "ask"))
		q, err := mcp.ParseOne([]byte(p.read()), mcp.Limits{})
		if err != nil || q.Method != "roots/list" || q.ID == `"q"` {
			t.Fatalf("%v %+v", err, q)
		}
		p.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"roots":[]}}`)
		has(t, "asked", p.read(), `"id":2`, `"roots":[]`)
		p.send(callOf("3", "ask"))
		q, _ = mcp.ParseOne([]byte(p.read()), mcp.Limits{})
		p.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"roots":[],"roots":[]}}`)
		has(t, "an answer that cannot be read", p.read(), `"id":3`, "error")
		p.send(callOf("4", "ping_tool"), callOf("5", "wait"), callOf("5", "ping_tool"))
		has(t, "first", p.read()+p.read(), "pong", "-32600")
		if got := g.last().dropped(); got != dropTwice {
			t.Errorf("recorded %q", got)
		}
	})
}

func TestBatchesOnStdio(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPipe(t, &fakeGateway{}, Options{})
		p.initialize(mcp.Rev20250326)
		p.send("[" + callOf("1", "ping_tool") + "," + callOf("1", "ping_tool") + `,{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}},{"id":4},` + callOf("2", "echo") + "]")
		line := p.read()
		frames, batch, err := mcp.Parse([]byte(line), mcp.Limits{})
		if err != nil || !batch || len(frames) != 5 {
			t.Fatalf("%v %v %s", err, batch, line)
		}
		has(t, "answers", line, "pong", `"id":3`, "-32600")
		p.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`)
		p.pings("7")
	})
}

// What ends a connection: its own end, after which open requests have a while;
// ours; and an agent that does not read.
func TestEndsOfStdio(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			switch name, _ := mcp.GetString(f.Params, "name"); name {
			case "second":
				time.Sleep(time.Second)
			case "hour":
				select {
				case <-ctx.Done():
					return mcp.Fail(f.ID, mcp.CodeRetry, "stopped", nil)
				case <-time.After(time.Hour):
				}
			default:
				return mcp.Frame{}
			}
			return mcp.Answer(f.ID, jsontext.Value(`{"content":[]}`))
		}}
		p := newPipe(t, g, Options{})
		p.initialize(mcp.Rev20250618)
		p.send(callOf("1", "second"), callOf("2", "hour"))
		p.in.Close()
		has(t, "in time", p.read(), `"id":1`, "content")
		has(t, "not in time", p.read(), `"id":2`, "stopped")
		if err := <-p.done; err != nil {
			t.Errorf("end of input: %v", err)
		}
		if !g.last().over() {
			t.Error("the session is left open")
		}

		p = newPipe(t, g, Options{})
		p.initialize(mcp.Rev20250618)
		p.send(callOf("1", "hour"))
		synctest.Wait()
		p.cancel()
		has(t, "stopped", p.read(), "stopped")
		if err := <-p.done; err != nil {
			t.Errorf("stopped: %v", err)
		}

		p = newPipe(t, g, Options{})
		p.initialize(mcp.Rev20250618)
		close(g.last().done)
		if err := <-p.done; err != gateway.ErrClosed {
			t.Errorf("ended by the gateway: %v", err)
		}

		p = newPipe(t, g, Options{})
		p.initialize(mcp.Rev20250618)
		p.outEnd.Close()
		p.send(callOf("1", "ping_tool"))
		if err := <-p.done; err != errGone {
			t.Errorf("nobody reads: %v", err)
		}
	})
}

// An agent that writes and does not read: notifications are dropped, answers
// wait, memory is bounded, and nobody who notifies is held up.
func TestAgentThatDoesNotRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPipe(t, &fakeGateway{}, Options{Limits: Limits{Queue: 16, Open: 32, Grace: time.Second}})
		p.initialize(mcp.Rev20250618)
		own := p.g.last().own
		for range 10_000 {
			own.Notify(mcp.Note("notifications/tools/list_changed", nil))
		}
		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			for i := range 10_000 {
				if _, err := io.WriteString(p.in, callOf(fmt.Sprint(i), "ping_tool")+"\n"); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		p.in.Close()
		<-wrote
		p.outEnd.Close()
		<-p.done
	})
}

func TestTenThousandOnStdio(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := newPipe(t, &fakeGateway{}, Options{})
		p.initialize(mcp.Rev20250618)
		go func() {
			for i := range 10_000 {
				if _, err := io.WriteString(p.in, callOf(fmt.Sprint(i), "unknown")+"\n"); err != nil {
					return
				}
			}
		}()
		for range 10_000 {
			if l := p.read(); !strings.Contains(l, "blocked") && !strings.Contains(l, "-32011") {
				t.Fatal(l)
			}
		}
		p.pings("1")
	})
}
