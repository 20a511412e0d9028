package serve

import (
	"context"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

func TestStatelessHeaders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		heads, err := mcp.ParamHeaders(jsontext.Value(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, &fakeGateway{heads: heads}, Options{})
		with := func(h head, kv ...string) head {
			out := head{}
			for k, v := range h {
				out[k] = v
			}
			for i := 0; i < len(kv); i += 2 {
				out[kv[i]] = kv[i+1]
			}
			return out
		}
		call := modernHeads(methodCall, "echo")
		plain, region := modernCall("1", "echo", "{}"), modernCall("1", "echo", `{"region":"Hello"}`)
		list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
		listHeads := modernHeads("tools/list", "")
		other := strings.ReplaceAll(list, `"2026-07-28"`, `"v999.0.0"`)
		for _, c := range []struct {
			name, body string
			heads      head
			status     int
			code       string
		}{
			{"good", plain, call, 200, "pong"},
			{"a list", list, listHeads, 200, "echo"},
			{"no version", plain, with(call, "Mcp-Protocol-Version", ""), 400, "-32020"},
			{"a legacy version", plain, with(call, "Mcp-Protocol-Version", "2025-11-25"), 400, "-32020"},
			{"another version in the body", other, listHeads, 400, "-32020"},
			{"an unknown version in both", other, with(listHeads, "Mcp-Protocol-Version", "v999.0.0"), 400, "-32022"},
			{"a legacy version in both", strings.ReplaceAll(list, "2026-07-28", "2025-11-25"), with(listHeads, "Mcp-Protocol-Version", "2025-11-25"), 400, "-32022"},
			{"no method", plain, with(call, "Mcp-Method", ""), 400, "-32020"},
			{"another method", plain, with(call, "Mcp-Method", "tools/list"), 400, "-32020"},
			{"a method in capitals", plain, with(call, "Mcp-Method", "TOOLS/CALL"), 400, "-32020"},
			{"no name", plain, with(call, "Mcp-Name", ""), 400, "-32020"},
			{"another name", plain, with(call, "Mcp-Name", "delete_record"), 400, "-32020"},
			{"a name in Base64", plain, with(call, "Mcp-Name", "=?base64?ZWNobw==?="), 200, "pong"},
			{"broken Base64", plain, with(call, "Mcp-Name", "=?base64?ZWNobw?="), 400, "-32020"},
			{"a name where the body has none", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta + `}}`, call, 400, "-32020"},
			{"no name in either", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta + `}}`, with(call, "Mcp-Name", ""), 200, "blocked"}, // the gateway's to refuse
			{"a parameter", region, with(call, "Mcp-Param-Region", "Hello"), 200, "pong"},
			{"a parameter in Base64", region, with(call, "Mcp-Param-Region", "=?base64?SGVsbG8=?="), 200, "pong"},
			{"no parameter", region, call, 400, "-32020"},
			{"another parameter", region, with(call, "Mcp-Param-Region", "hello"), 400, "-32020"},
			{"a parameter too many", plain, with(call, "Mcp-Param-Region", "Hello"), 400, "-32020"},
			{"no meta", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, listHeads, 400, "-32602"},
			{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, listHeads, 400, "-32602"},
			{"no capabilities", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, listHeads, 400, "-32602"},
			{"no client", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, listHeads, 200, "echo"},
			{"discover without anything", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, head{"Mcp-Method": methodDiscover}, 400, "-32020"},
			{"discover", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modernMeta + `}}`, modernHeads(methodDiscover, ""), 200, "supportedVersions"},
			{"a method of the other era", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + modernMeta + `}}`, modernHeads(methodInitialize, ""), 404, "-32601"},
			{"no method at all", `{"jsonrpc":"2.0","id":1,"method":"unknown/method","params":{` + modernMeta + `}}`, modernHeads("unknown/method", ""), 404, "-32601"},
			{"a notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, modernHeads(methodCancelled, ""), 202, ""},
			{"an array", "[" + plain + "]", call, 400, "-32600"},
		} {
			res, text := r.post(c.body, c.heads)
			if res.StatusCode != c.status {
				t.Errorf("%s: %d, want %d: %s", c.name, res.StatusCode, c.status, text)
			}
			has(t, c.name, text, c.code)
			if c.status >= 400 && c.name != "an array" {
				has(t, c.name, text, `"id":1`)
			}
		}
		req := r.request(context.Background(), "POST", "/mcp/"+alice, plain, call)
		req.Header.Add("Mcp-Name", "delete_record")
		res, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 400 {
			t.Errorf("two names: %d", res.StatusCode)
		}
	})
}

func TestStatelessStreams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ended := make(chan struct{}, 1)
		g := &fakeGateway{handle: func(ctx context.Context, s *fakeSession, f mcp.Frame, peer gateway.Peer) mcp.Frame {
			if f.Method != methodListen {
				return mcp.Frame{}
			}
			if _, err := peer.Ask(ctx, mcp.Ask("1", "roots/list", nil)); err != gateway.ErrNoQuestions {
				t.Errorf("a question in the stateless era: %v", err)
			}
			peer.Notify(mcp.Note("notifications/subscriptions/acknowledged", nil))
			<-ctx.Done()
			ended <- struct{}{}
			return mcp.Answer(f.ID, jsontext.Value(`{}`))
		}}
		r := newRig(t, g, Options{})
		es := r.stream(r.request(context.Background(), "POST", "/mcp/"+alice, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},`+modernMeta+`}}`, modernHeads(methodListen, "")))
		e := es.next()
		has(t, "first", string(e.Data), "acknowledged")
		if e.ID != nil || e.Retry != 0 {
			t.Errorf("an event id where nothing can be resumed: %+v", e)
		}
		es.c.Close()
		<-ended

		p := newPipe(t, g, Options{})
		p.send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{},` + modernMeta + `}}`)
		has(t, "on stdio", p.read(), "acknowledged")
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`)
		<-ended
		p.send(modernCall("2", "echo", "{}"))
		has(t, "after it", p.read(), "pong")
	})
}
