package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

const listFrame = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`

// Whatever is wrong with a request, it is answered before anything of it is
// done, and the session goes on.
func TestRequestsThatAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{Origins: []string{"https://console.example"}, Limits: Limits{Frame: 4096}})
		hs := r.initialize(mcp.Rev20251125)
		path := "/mcp/" + alice
		for _, c := range []struct {
			name, method, path, body string
			heads                    head
			status                   int
		}{
			{"a good one", "POST", path, listFrame, nil, 200},
			{"another host", "POST", path, listFrame, head{"Host": "evil.example.com"}, 403},
			{"another host's origin", "POST", path, listFrame, head{"Host": "evil.example.com", "Origin": "http://evil.example.com"}, 403},
			{"a foreign origin", "POST", path, listFrame, head{"Origin": "https://evil.example"}, 403},
			{"a null origin", "POST", path, listFrame, head{"Origin": "null"}, 403},
			{"an origin on another port", "POST", path, listFrame, head{"Origin": "http://127.0.0.1:9"}, 403},
			{"its own origin", "POST", path, listFrame, head{"Origin": at}, 200},
			{"a configured origin", "POST", path, listFrame, head{"Origin": "https://console.example"}, 200},
			{"localhost", "POST", path, listFrame, head{"Host": "LOCALHOST:4000"}, 200},
			{"a host that ends in a listed one", "POST", path, listFrame, head{"Host": "x127.0.0.1:4000"}, 403},
			{"a port that is none", "POST", path, listFrame, head{"Host": "localhost:4000x"}, 403},
			{"no credential", "POST", "/mcp", listFrame, nil, 401},
			{"no credential, a slash", "POST", "/mcp/", listFrame, nil, 401},
			{"a wrong credential", "POST", "/mcp/pratique_agent_eve", listFrame, nil, 401},
			{"a wrong token", "POST", "/mcp", listFrame, head{"Authorization": "Bearer pratique_agent_eve"}, 401},
			{"a token", "POST", "/mcp", listFrame, head{"Authorization": "bearer " + alice}, 200},
			{"the same twice", "POST", path, listFrame, head{"Authorization": "Bearer " + alice}, 200},
			{"two that differ", "POST", path, listFrame, head{"Authorization": "Bearer " + bob}, 401},
			{"basic", "POST", path, listFrame, head{"Authorization": "Basic " + alice}, 401},
			{"below the credential", "POST", path + "/x", listFrame, nil, 401},
			{"beside the path", "POST", "/mcpx", listFrame, head{"Authorization": "Bearer " + alice}, 401},
			{"another agent's session", "POST", "/mcp/" + bob, listFrame, nil, 404},
			{"no type", "POST", path, listFrame, head{"Content-Type": ""}, 415},
			{"text", "POST", path, listFrame, head{"Content-Type": "text/plain"}, 415},
			{"a form", "POST", path, listFrame, head{"Content-Type": "application/x-www-form-urlencoded"}, 415},
			{"utf-8", "POST", path, listFrame, head{"Content-Type": "application/json; charset=UTF-8"}, 200},
			{"latin-1", "POST", path, listFrame, head{"Content-Type": "application/json; charset=latin1"}, 415},
			{"compressed", "POST", path, listFrame, head{"Content-Encoding": "gzip"}, 415},
			{"identity", "POST", path, listFrame, head{"Content-Encoding": "identity"}, 415},
			{"only JSON", "POST", path, listFrame, head{"Accept": "application/json"}, 406},
			{"only streams", "POST", path, listFrame, head{"Accept": "text/event-stream"}, 406},
			{"anything", "POST", path, listFrame, head{"Accept": "*/*"}, 200},
			{"no JSON by quality", "POST", path, listFrame, head{"Accept": "application/json;q=0, text/event-stream"}, 406},
			{"too long", "POST", path, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"x":"` + strings.Repeat("a", 5000) + `"}}`, nil, 413},
			{"nothing", "POST", path, "", nil, 400},
			{"no JSON", "POST", path, "{", nil, 400},
			{"two frames", "POST", path, listFrame + listFrame, nil, 400},
			{"no session", "POST", path, listFrame, head{"Mcp-Session-Id": ""}, 400},
			{"an unknown session", "POST", path, listFrame, head{"Mcp-Session-Id": "x"}, 404},
			{"GET without a session", "GET", path, "", head{"Mcp-Session-Id": ""}, 400},
			{"GET of JSON", "GET", path, "", head{"Accept": "application/json"}, 406},
			{"GET of what is not kept", "GET", path, "", head{"Last-Event-Id": "77_3"}, 400},
			{"GET of nonsense", "GET", path, "", head{"Last-Event-Id": "nonsense"}, 400},
			{"GET of another's", "GET", "/mcp/" + bob, "", nil, 404},
			{"DELETE of another's", "DELETE", "/mcp/" + bob, "", nil, 404},
			{"DELETE without a session", "DELETE", path, "", head{"Mcp-Session-Id": ""}, 400},
			{"PUT", "PUT", path, "", nil, 405},
			{"OPTIONS", "OPTIONS", path, "", nil, 405},
			{"GET of the other era", "GET", path, "", head{"Mcp-Protocol-Version": "2026-07-28"}, 405},
			{"DELETE of the other era", "DELETE", path, "", head{"Mcp-Protocol-Version": "2026-07-28"}, 405},
			{"the other era in a session", "POST", path, listFrame, head{"Mcp-Protocol-Version": "2026-07-28"}, 400},
		} {
			all := head{"Mcp-Session-Id": hs["Mcp-Session-Id"]}
			for k, v := range c.heads {
				all[k] = v
			}
			res, text := r.do(c.method, c.path, c.body, all)
			if res.StatusCode != c.status {
				t.Errorf("%s: %d, want %d: %s", c.name, res.StatusCode, c.status, text)
			}
			switch {
			case c.status == 401 && !strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer"):
				t.Errorf("%s: no challenge", c.name)
			case c.status == 405 && res.Header.Get("Allow") == "":
				t.Errorf("%s: no Allow", c.name)
			case strings.Contains(text, "pratique_agent"), strings.Contains(text, "evil"):
				t.Errorf("%s: echoes what was sent: %s", c.name, text)
			case res.Header.Get("Access-Control-Allow-Origin") != "":
				t.Errorf("%s: CORS", c.name)
			}
			r.pings(hs, "3")
		}
	})
}

func TestAnonymous(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{Anonymous: &gateway.Agent{ID: "agt_anonymous"}})
		res, text := r.do("POST", "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, nil)
		if res.StatusCode != 200 || r.g.last().who.ID != "agt_anonymous" {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
		// A wrong credential is not none.
		if res, _ := r.do("POST", "/mcp/pratique_agent_eve", listFrame, nil); res.StatusCode != 401 {
			t.Errorf("a wrong one: %d", res.StatusCode)
		}
	})
}

// The gateway's reasons for no session come out as answers with a status.
func TestSessionsThatAreNotOpened(t *testing.T) {
	bubble(t, func(t *testing.T) {
		init := `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
		for _, c := range []struct {
			err    error
			status int
			want   string
		}{
			{gateway.ErrEra, 400, `"supported":["2026-07-28"]`},
			{gateway.ErrBusy, 429, "-32011"},
			{gateway.ErrNotNow, 503, "-32011"},
			{gateway.ErrClosed, 503, "-32011"},
			{gateway.ErrUnreachable, 502, "-32014"},
			{gateway.ErrCredential, 401, "-32010"},
			{io.ErrUnexpectedEOF, 500, "-32603"},
		} {
			g := &fakeGateway{err: fmt.Errorf("why: %w", c.err), modern: c.err}
			r := newRig(t, g, Options{})
			res, text := r.post(init, nil)
			if res.StatusCode != c.status || res.Header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%v: %d", c.err, res.StatusCode)
			}
			has(t, c.err.Error(), text, c.want, `"id":"i"`)
			if res, text = r.post(modernCall("1", "echo", "{}"), modernHeads(methodCall, "echo")); res.StatusCode != c.status {
				t.Errorf("stateless %v: %d %s", c.err, res.StatusCode, text)
			}
			p := newPipe(t, g, Options{})
			p.send(init)
			has(t, "stdio", p.read(), c.want, `"id":"i"`)
		}
		r := newRig(t, &fakeGateway{}, Options{})
		res, text := r.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, nil)
		if res.StatusCode != 400 {
			t.Errorf("no revision: %d", res.StatusCode)
		}
		has(t, "no revision", text, "-32602")
	})
}

// An agent that leaves sessions behind loses the one that it has not used for
// longest, not the one that it is using.
func TestRoomForASession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{busy: 2}, Options{})
		first := r.initialize(mcp.Rev20250618)
		second := r.initialize(mcp.Rev20250618)
		time.Sleep(time.Second)
		r.pings(first, "1")
		third := r.initialize(mcp.Rev20250618)
		r.pings(first, "2")
		r.pings(third, "3")
		if res, _ := r.post(listFrame, second); res.StatusCode != 404 {
			t.Errorf("the oldest: %d", res.StatusCode)
		}
	})
}

func TestIdleSessionsEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{})
		hs, kept := r.initialize(mcp.Rev20250618), r.initialize(mcp.Rev20250618)
		es := r.stream(r.request(context.Background(), "GET", "/mcp/"+alice, "", kept))
		gone := make(chan struct{})
		go func() { _, _ = es.r.Read(); close(gone) }() // an agent that reads: comments reach it
		time.Sleep(20 * time.Minute)
		r.pings(hs, "1")
		time.Sleep(20 * time.Minute)
		r.pings(hs, "2") // used in between
		time.Sleep(31 * time.Minute)
		if res, _ := r.post(listFrame, hs); res.StatusCode != 404 {
			t.Errorf("idle: %d", res.StatusCode)
		}
		r.pings(kept, "3") // a stream is open
		es.c.Close()
		<-gone
		if !r.g.sessions[0].over() || r.g.sessions[1].over() {
			t.Error("the gateway's sessions")
		}
	})
}

func TestDeleteEndsASession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		started := make(chan struct{})
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if f.Method != methodCall {
				return mcp.Frame{}
			}
			close(started)
			<-ctx.Done()
			return mcp.Fail(f.ID, mcp.CodeRetry, "cancelled", nil)
		}}
		r := newRig(t, g, Options{})
		hs := r.initialize(mcp.Rev20251125)
		es := r.stream(r.request(context.Background(), "GET", "/mcp/"+alice, "", hs))
		answered := make(chan string)
		go func() { _, text := r.post(callOf("1", "echo"), hs); answered <- text }()
		<-started
		if res, _ := r.do("DELETE", "/mcp/"+alice, "", hs); res.StatusCode != 204 {
			t.Errorf("%d", res.StatusCode)
		}
		has(t, "the open call", <-answered, "cancelled")
		es.end()
		if res, _ := r.post(listFrame, hs); res.StatusCode != 404 {
			t.Errorf("afterwards: %d", res.StatusCode)
		}
		if res, _ := r.do("DELETE", "/mcp/"+alice, "", hs); res.StatusCode != 404 {
			t.Errorf("again: %d", res.StatusCode)
		}
	})
}

// A session that the gateway ended is one that never was.
func TestSessionsThatTheGatewayEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{})
		hs := r.initialize(mcp.Rev20251125)
		close(r.g.last().done)
		if res, _ := r.post(listFrame, hs); res.StatusCode != 404 {
			t.Errorf("%d", res.StatusCode)
		}
	})
}

// Answers with nothing else to say are one JSON text; what the agent asked for,
// what takes long, and what has more to say is a stream.
func TestResponses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			switch name, _ := mcp.GetString(f.Params, "name"); name {
			case "talk":
				peer.Notify(mcp.Note("notifications/progress", jsontext.Value(`{"progressToken":1,"progress":1}`)))
				return mcp.Answer(f.ID, jsontext.Value(`{"content":[]}`))
			case "slow":
				time.Sleep(time.Minute)
				return mcp.Answer(f.ID, jsontext.Value(`{"content":[]}`))
			case "fail":
				return mcp.Fail(f.ID, mcp.CodeInvalidParams, "no", nil)
			}
			return mcp.Frame{}
		}}
		r := newRig(t, g, Options{})
		for _, rev := range []mcp.Revision{mcp.Rev20250618, mcp.Rev20251125} {
			hs := r.initialize(rev)
			prime := rev == mcp.Rev20251125
			res, text := r.post(callOf("1", "echo"), hs)
			if res.Header.Get("Content-Type") != "application/json" || text[0] != '{' {
				t.Errorf("%s: %v %s", rev, res.Header, text)
			}
			if res, _ = r.post(callOf("1", "fail"), hs); res.StatusCode != 200 {
				t.Errorf("%s: %d", rev, res.StatusCode)
			}
			for _, name := range []string{"talk", "slow", "echo"} {
				all := head{"Mcp-Session-Id": hs["Mcp-Session-Id"]}
				if name == "echo" {
					all["Accept"] = "text/event-stream, application/json"
				}
				es := r.stream(r.request(context.Background(), "POST", "/mcp/"+alice, callOf("1", name), all))
				if prime {
					if e := es.next(); len(e.Data) != 0 || e.ID == nil || e.Retry == 0 {
						t.Errorf("%s %s: prime %+v", rev, name, e)
					}
				}
				if name == "talk" {
					has(t, name, string(es.next().Data), "notifications/progress")
				}
				e := es.next()
				has(t, name, string(e.Data), `"id":1`, `"result"`)
				if e.ID == nil {
					t.Errorf("%s %s: no event id", rev, name)
				}
				es.end()
			}
		}
	})
}

// An agent whose connection broke comes back for the rest, with the id of the
// last event that it saw; the call goes on meanwhile. Nobody else's id helps.
func TestResumption(t *testing.T) {
	bubble(t, func(t *testing.T) {
		more := make(chan struct{})
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if f.Method != methodCall {
				return mcp.Frame{}
			}
			for i := range 3 {
				peer.Notify(mcp.Note("notifications/progress", jsontext.Value(fmt.Sprintf(`{"progressToken":1,"progress":%d}`, i))))
				if i == 0 {
					<-more
				}
			}
			if ctx.Err() != nil {
				return mcp.Fail(f.ID, mcp.CodeInternal, "cancelled by a broken connection", nil)
			}
			return mcp.Answer(f.ID, jsontext.Value(`{"content":[]}`))
		}}
		r := newRig(t, g, Options{})
		hs := r.initialize(mcp.Rev20251125)
		es := r.stream(r.request(context.Background(), "POST", "/mcp/"+alice, callOf("1", "echo"), hs))
		es.next() // prime
		first := es.next()
		has(t, "first", string(first.Data), `"progress":0`)
		es.c.Close()
		synctest.Wait()
		close(more)
		synctest.Wait()
		get := func(last string) *events {
			return r.stream(r.request(context.Background(), "GET", "/mcp/"+alice, "", head{"Mcp-Session-Id": hs["Mcp-Session-Id"], "Last-Event-Id": last}))
		}
		for range 2 { // and once more, if that connection breaks too
			es = get(*first.ID)
			has(t, "second", string(es.next().Data), `"progress":1`)
			has(t, "third", string(es.next().Data), `"progress":2`)
			has(t, "answer", string(es.next().Data), `"id":1`, `"result"`)
			es.end()
		}
		other := r.initialize(mcp.Rev20251125)
		if res, _ := r.do("GET", "/mcp/"+alice, "", head{"Mcp-Session-Id": other["Mcp-Session-Id"], "Last-Event-Id": *first.ID}); res.StatusCode != 400 {
			t.Errorf("another session's event: %d", res.StatusCode)
		}
	})
}

// What belongs to no request waits for the GET stream, which is only one.
func TestTheStreamOfASession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{Limits: Limits{Queue: 10}})
		hs := r.initialize(mcp.Rev20251125)
		own := r.g.last().own
		changed := mcp.Note("notifications/tools/list_changed", nil)
		if _, err := own.Ask(context.Background(), mcp.Ask("1", "roots/list", nil)); err != gateway.ErrNoQuestions {
			t.Errorf("asked without a stream: %v", err)
		}
		for range 1000 {
			own.Notify(changed) // nobody listens: bounded
		}
		es := r.stream(r.request(context.Background(), "GET", "/mcp/"+alice, "", hs))
		var last string
		for range 10 {
			e := es.next()
			has(t, "event", string(e.Data), "list_changed")
			last = *e.ID
		}
		if res, _ := r.do("GET", "/mcp/"+alice, "", hs); res.StatusCode != 409 {
			t.Errorf("a second stream: %d", res.StatusCode)
		}
		r.pings(hs, "1")
		// Who comes back with an event's id takes over.
		again := r.stream(r.request(context.Background(), "GET", "/mcp/"+alice, "", head{"Mcp-Session-Id": hs["Mcp-Session-Id"], "Last-Event-Id": last}))
		es.end()
		own.Notify(changed)
		has(t, "after it", string(again.next().Data), "list_changed")
		time.AfterFunc(2*time.Minute, func() { own.Notify(changed) }) // comments keep it open
		has(t, "later", string(again.next().Data), "list_changed")
		again.c.Close()
	})
}

// A question goes out on the response of its request and is answered by another
// POST; an answer to nothing is dropped, recorded, and cannot be given elsewhere.
func TestQuestions(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if f.Method != methodCall {
				return mcp.Frame{}
			}
			a, err := peer.Ask(ctx, mcp.Ask(`"upstream's"`, "elicitation/create", jsontext.Value(`{"message":"?"}`)))
			if err != nil {
				return mcp.Fail(f.ID, mcp.CodeInternal, err.Error(), nil)
			}
			if a.ID != `"upstream's"` {
				return mcp.Fail(f.ID, mcp.CodeInternal, "the wrong id", nil)
			}
			return mcp.Answer(f.ID, a.Result)
		}}
		r := newRig(t, g, Options{})
		mine, other := r.initialize(mcp.Rev20250618), r.initialize(mcp.Rev20250618)
		es := r.stream(r.request(context.Background(), "POST", "/mcp/"+alice, callOf("1", "echo"), mine))
		q, err := mcp.ParseOne(es.next().Data, mcp.Limits{})
		if err != nil || q.Method != "elicitation/create" {
			t.Fatalf("%v %+v", err, q)
		}
		answer := `{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":{"action":"accept"}}`
		if res, _ := r.post(answer, other); res.StatusCode != 202 { // a session of the same agent's, even
			t.Errorf("%d", res.StatusCode)
		}
		if got := g.sessions[1].dropped(); got != dropOrphan {
			t.Errorf("recorded %q", got)
		}
		if res, text := r.post(answer, mine); res.StatusCode != 202 || text != "" {
			t.Errorf("%d %s", res.StatusCode, text)
		}
		has(t, "answer", string(es.next().Data), `"id":1`, `"action":"accept"`)
		es.end()
		if res, _ := r.post(answer, mine); res.StatusCode != 202 || g.sessions[0].dropped() != dropOrphan {
			t.Error("a second answer counted")
		}

		// An agent that does not answer is not waited for without end.
		es = r.stream(r.request(context.Background(), "POST", "/mcp/"+alice, callOf("2", "echo"), mine))
		es.next()
		has(t, "withdrawn", string(es.next().Data), "notifications/cancelled")
		has(t, "failed", string(es.next().Data), `"id":2`, "deadline")
		es.end()
		if len(r.h.sessions[mine["Mcp-Session-Id"]].asked.open) != 0 {
			t.Error("a question is left")
		}
	})
}

func TestCancellation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		started := make(chan mcp.ID, 4)
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if f.Method != methodCall {
				return mcp.Frame{}
			}
			started <- f.ID
			<-ctx.Done()
			return mcp.Fail(f.ID, mcp.CodeInternal, context.Cause(ctx).Error(), nil)
		}}
		r := newRig(t, g, Options{})
		mine, other := r.initialize(mcp.Rev20250618), r.initialize(mcp.Rev20250618)
		cancelOf := func(id string) string {
			return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
		}
		for _, id := range []string{"9007199254740993", "1.50", `"a"`} {
			answered := make(chan string, 1)
			go func() { _, text := r.post(callOf(id, "echo"), mine); answered <- text }()
			<-started
			for _, c := range []struct {
				body string
				hs   head
			}{{cancelOf(id), other}, {cancelOf("9007199254740992"), mine}, {cancelOf("null"), mine}, {cancelOf(`{"a":1}`), mine}} {
				if res, text := r.post(c.body, c.hs); res.StatusCode != 202 {
					t.Errorf("%s: %d %s", c.body, res.StatusCode, text)
				}
			}
			synctest.Wait()
			select {
			case text := <-answered:
				t.Fatalf("%s was cancelled by another: %s", id, text)
			default:
			}
			if res, text := r.post(callOf(id, "echo"), mine); res.StatusCode != 200 || !strings.Contains(text, "-32600") {
				t.Errorf("the id of an open request: %d %s", res.StatusCode, text)
			}
			r.post(cancelOf(id), mine)
			has(t, id, <-answered, errCancelled.Error())
			r.post(cancelOf(id), mine) // too late: nothing
		}
		if got := g.sessions[0].dropped(); got != dropTwice+" "+dropTwice+" "+dropTwice {
			t.Errorf("recorded %q", got)
		}
	})
}

// An agent with too much open is told so at once, and what is open is not hurt.
func TestFlood(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if name, _ := mcp.GetString(f.Params, "name"); name == "held" {
				<-hold
			}
			return mcp.Frame{}
		}}
		r := newRig(t, g, Options{Limits: Limits{Open: 8, Requests: 16}})
		hs := r.initialize(mcp.Rev20250618)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() { r.post(callOf(fmt.Sprint(i), "held"), hs) })
		}
		synctest.Wait()
		for i := range 10_000 {
			if i%100 == 0 { // the whole way; the rest would only be slow
				_, text := r.post(callOf(fmt.Sprint(100+i), "echo"), hs)
				has(t, "refused", text, "-32011")
			}
		}
		for range 8 { // and as many that read no further than their head
			pr, pw := io.Pipe()
			all.Go(func() {
				req := r.request(context.Background(), "POST", "/mcp/"+alice, "", hs)
				req.Body, req.ContentLength = pr, -1
				if res, err := r.client.Do(req); err == nil {
					res.Body.Close()
				}
			})
			all.Go(func() { <-hold; pw.Close() })
		}
		synctest.Wait()
		if res, _ := r.post(callOf("5", "echo"), hs); res.StatusCode != 429 {
			t.Errorf("more requests than one agent may have: %d", res.StatusCode)
		}
		if res, _ := r.do("POST", "/mcp/"+bob, listFrame, nil); res.StatusCode != 400 {
			t.Errorf("another agent: %d", res.StatusCode)
		}
		close(hold)
		all.Wait()
		r.pings(hs, "1")
		for i := range 10_000 {
			f := mcp.Frame{}
			if r.h.sessions[hs["Mcp-Session-Id"]].s.Handle(context.Background(), mcp.Ask(mcp.NumberID(int64(i)), methodCall, jsontext.Value(`{"name":"unknown"}`)), nil).Shape == f.Shape {
				t.Fatal("no answer")
			}
		}
	})
}

// A body that does not come is not waited for without end.
func TestSlowBody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRig(t, &fakeGateway{}, Options{})
		pr, pw := io.Pipe()
		req := r.request(context.Background(), "POST", "/mcp/"+alice, "", nil)
		req.Body, req.ContentLength = pr, -1
		begin := time.Now()
		res, err := r.client.Do(req)
		if err == nil {
			res.Body.Close()
			if res.StatusCode != 400 {
				t.Errorf("%d", res.StatusCode)
			}
		}
		if d := time.Since(begin); d < 30*time.Second || d > 31*time.Second {
			t.Errorf("waited %v", d)
		}
		pw.Close()
		r.initialize(mcp.Rev20250618)
	})
}

// All bodies together are bounded too, whatever their lengths claim.
func TestBodiesTogether(t *testing.T) {
	h := newHandler(&fakeGateway{}, Options{Limits: Limits{Bodies: 100 << 10}})
	if !h.hold(90<<10) || h.hold(20<<10) {
		t.Error("not bounded")
	}
	h.hold(-90 << 10)
	if h.bodies != 0 {
		t.Error("not given back")
	}
}

func TestDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		started, hold := make(chan struct{}, 2), make(chan struct{})
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if f.Method == methodListen {
				peer.Notify(mcp.Note("notifications/subscriptions/acknowledged", nil))
				<-ctx.Done()
				return mcp.Answer(f.ID, jsontext.Value(`{}`))
			}
			if f.Method != methodCall {
				return mcp.Frame{}
			}
			started <- struct{}{}
			select {
			case <-hold:
				return mcp.Frame{}
			case <-ctx.Done():
				return mcp.Fail(f.ID, mcp.CodeRetry, "stopped", nil)
			}
		}}
		for _, inTime := range []bool{true, false} {
			r := newRig(t, g, Options{})
			hs := r.initialize(mcp.Rev20251125)
			get := r.stream(r.request(context.Background(), "GET", "/mcp/"+alice, "", hs))
			listen := r.stream(r.request(context.Background(), "POST", "/mcp/"+alice, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},`+modernMeta+`}}`, modernHeads(methodListen, "")))
			has(t, "listen", string(listen.next().Data), "acknowledged")
			answers := make(chan string, 2)
			go func() { _, text := r.post(callOf("1", "echo"), hs); answers <- text }()
			go func() {
				_, text := r.post(modernCall("2", "echo", "{}"), modernHeads(methodCall, "echo"))
				answers <- text
			}()
			<-started
			<-started
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			drained := make(chan error, 1)
			go func() { drained <- r.h.Drain(ctx) }()
			synctest.Wait()
			get.end()
			has(t, "listen", string(listen.next().Data), `"id":1`, "result")
			listen.end()
			if res, _ := r.post(listFrame, hs); res.StatusCode != 503 {
				t.Errorf("while draining: %d", res.StatusCode)
			}
			want, err := "stopped", context.DeadlineExceeded
			if inTime {
				close(hold)
				want, err = "pong", error(nil)
			}
			has(t, "open", <-answers, want)
			has(t, "open", <-answers, want)
			if got := <-drained; got != err {
				t.Errorf("drained: %v", got)
			}
			cancel()
			hold = make(chan struct{})
			if !g.last().over() {
				t.Error("a session is left")
			}
		}
	})
}

// What agents close in the middle of goes on in the era of sessions and is
// cancelled in the other; neither leaves anything behind.
func TestAgentsThatLeave(t *testing.T) {
	bubble(t, func(t *testing.T) {
		started, ended := make(chan struct{}, 1), make(chan error, 1)
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if f.Method != methodCall {
				return mcp.Frame{}
			}
			started <- struct{}{}
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
			}
			ended <- ctx.Err()
			return mcp.Answer(f.ID, jsontext.Value(`{}`))
		}}
		r := newRig(t, g, Options{})
		hs := r.initialize(mcp.Rev20250618)
		for _, c := range []struct {
			body string
			hs   head
			want error
		}{
			{callOf("1", "echo"), hs, nil},
			{modernCall("1", "echo", "{}"), modernHeads(methodCall, "echo"), context.Canceled},
		} {
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				if res, err := r.client.Do(r.request(ctx, "POST", "/mcp/"+alice, c.body, c.hs)); err == nil {
					res.Body.Close()
				}
			}()
			<-started
			cancel()
			if err := <-ended; err != c.want {
				t.Errorf("%v, want %v", err, c.want)
			}
		}
		synctest.Wait()
		if n := r.h.sessions[hs["Mcp-Session-Id"]].open.count(); n != 0 || r.h.inside != 0 {
			t.Errorf("left: %d open, %d inside", n, r.h.inside)
		}
	})
}

var _ http.Handler = (*Handler)(nil)
