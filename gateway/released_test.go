package gateway

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
)

// TestReleasesAreOfOneFormAndMethod: an operator who lets a line of a log through has
// let no request to a model through, whatever bytes it has.
func TestReleasesAreOfOneFormAndMethod(t *testing.T) {
	params := jsontext.Value(`{"level":"info","progressToken":7,"progress":1,"message":"HOSTILE","maxTokens":1,"messages":[],"requestedSchema":{}}`)
	as := map[string]func(ctx context.Context, x Exchange, p *person) bool{
		"notifications/message":  nil,
		"notifications/progress": nil,
		"sampling/createMessage": nil,
		"elicitation/create":     nil,
	}
	for method := range as {
		as[method] = func(ctx context.Context, x Exchange, p *person) bool {
			if m, _ := mcp.Lookup(method); m.Notification {
				before := len(p.heard)
				x.Receive(mcp.Note(method, params))
				return len(p.heard) > before
			}
			before := len(p.asked)
			x.Ask(ctx, mcp.Ask("9", method, params))
			return len(p.asked) > before
		}
	}
	for first := range as {
		u := newServer(tool("it"))
		h, _, v := guarded(t, u, policy.Personal)
		s, p := h.shown(newPerson()), newPerson()
		try := func(method string) (heard bool) {
			u.do = func(ctx context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
				heard = as[method](ctx, x, p)
				return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
			}
			s.Handle(ctx, ask(methodCall, `{"name":"it","_meta":{"progressToken":7}}`), p)
			return heard
		}
		if try(first) {
			t.Fatalf("%s: heard", first)
		}
		list, err := v.List()
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", first, list, err)
		}
		v.mu.Lock()
		v.released[list[0].Subject] = true
		v.mu.Unlock()
		for then := range as {
			if try(then) != (then == first) {
				t.Errorf("%s released, %s heard: %v", first, then, then != first)
			}
		}
	}
	// A result and an error, and a tool's and a prompt's.
	u := newServer(tool("it"))
	h, _, _ := guarded(t, u, policy.Personal)
	s := h.shown(newPerson())
	raw := jsontext.Value(`{"code":1,"message":"HOSTILE"}`)
	failure := mcp.Frame{Shape: mcp.Failure, Error: &mcp.Error{Code: 1, Message: "HOSTILE"}}
	calls := []*call{{f: &mcp.Frame{Method: methodCall}}, {f: &mcp.Frame{Method: methodPrompt}}, {f: &mcp.Frame{Method: methodRead}}}
	seen := map[any]string{}
	for _, c := range calls {
		for _, a := range []mcp.Frame{mcp.Answer("1", raw), failure} {
			x := sentAnswer(c, &a)
			if string(x.raw) != string(raw) {
				t.Fatalf("%s", x.raw)
			}
			sub := s.subject(nil, &x)
			if was, ok := seen[sub]; ok {
				t.Errorf("%s and %s are one", was, sub.Kind)
			}
			seen[sub] = string(sub.Kind)
		}
	}
}
