package mcp

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// schema is every method of the MCP schema, all revisions, both directions:
// a copy of what the specification's schema.ts files and the Go SDK name.
var schema = strings.Fields(`
	initialize ping server/discover tools/list tools/call prompts/list prompts/get resources/list
	resources/templates/list resources/read resources/subscribe resources/unsubscribe subscriptions/listen
	completion/complete logging/setLevel sampling/createMessage elicitation/create roots/list
	tasks/get tasks/result tasks/list tasks/cancel
	notifications/initialized notifications/cancelled notifications/progress notifications/message
	notifications/tools/list_changed notifications/prompts/list_changed notifications/resources/list_changed
	notifications/resources/updated notifications/roots/list_changed notifications/elicitation/complete
	notifications/subscriptions/acknowledged notifications/tasks/status`)

func TestEveryMethodHasARow(t *testing.T) {
	for _, name := range schema {
		m, ok := Lookup(name)
		if !ok {
			t.Errorf("%s has no row", name)
			continue
		}
		if m.Notification != strings.HasPrefix(name, "notifications/") {
			t.Errorf("%s is a notification: %v", name, m.Notification)
		}
	}
	for _, m := range Methods() {
		if !slices.Contains(schema, m.Name) {
			t.Errorf("%s is in no schema", m.Name)
		}
	}
}

// Deny is the zero value, and each direction has its own handlings: an agent
// asks no questions, an upstream calls nothing.
func TestRowsMakeSense(t *testing.T) {
	if m, ok := Lookup("tools/Call"); ok {
		t.Errorf("found %v", m)
	}
	if (Method{}).Agent != Refused || (Method{}).Effect != Unclassified {
		t.Error("the zero row permits")
	}
	for _, m := range Methods() {
		for _, h := range []Handling{m.Agent, m.Upstream} {
			if m.Notification && (h == Surface || h == Path || h == Question) || !m.Notification && h == Passed {
				t.Errorf("%s: handling %d", m.Name, h)
			}
		}
		if m.Agent == Question || m.Upstream == Path || m.Upstream == Surface {
			t.Errorf("%s goes the wrong way", m.Name)
		}
		if m.Input != (m.Upstream == Question) {
			t.Errorf("%s: Input is %v", m.Name, m.Input)
		}
		if m.Agent == Path && m.Effect == NoEffect {
			t.Errorf("%s carries the agent's values and has no effect", m.Name)
		}
		if m.List != "" && ListOf(m.Items) != m.List {
			t.Errorf("%s: %s are not listed by %s", m.Name, m.Items, m.List)
		}
		if !slices.Contains(m.Params, "_meta") || m.Header != "" && !slices.Contains(m.Params, m.Header) {
			t.Errorf("%s knows %v", m.Name, m.Params)
		}
	}
}

func TestRevisionsOfMethods(t *testing.T) {
	for name, want := range map[string]string{
		"initialize": "11110", "ping": "11110", "tools/call": "11111", "server/discover": "00001", "subscriptions/listen": "00001",
		"resources/subscribe": "11110", "logging/setLevel": "11110", "elicitation/create": "00110", "tasks/get": "00010", "roots/list": "11110",
	} {
		m, _ := Lookup(name)
		got := ""
		for _, r := range Revisions() {
			got += map[bool]string{true: "1", false: "0"}[m.In(r)]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if m.In("2031-01-01") || m.In("") {
			t.Errorf("%s is in a revision that we do not know", name)
		}
	}
}

func TestRefs(t *testing.T) {
	for _, c := range []struct {
		method, params string
		want           []Ref
		err            error
	}{
		{"tools/call", `{"name":"a","arguments":{"name":"b"}}`, []Ref{{KindTool, "a"}}, nil},
		{"tools/call", `{"name":"get_ticket "}`, []Ref{{KindTool, "get_ticket "}}, nil},
		{"tools/call", `{"name":7}`, nil, ErrParams},
		{"tools/call", `{"name":""}`, nil, ErrParams},
		{"tools/call", `{}`, nil, ErrParams},
		{"tools/call", ``, nil, ErrParams},
		{"prompts/get", `{"name":"p"}`, []Ref{{KindPrompt, "p"}}, nil},
		{"resources/read", `{"uri":"test://a"}`, []Ref{{KindResource, "test://a"}}, nil},
		{"resources/read", `{"name":"test://a"}`, nil, ErrParams},
		{"resources/subscribe", `{"uri":"test://a"}`, []Ref{{KindResource, "test://a"}}, nil},
		{"tools/list", `{}`, nil, nil},
		{"logging/setLevel", `{"level":"info"}`, nil, nil},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":""}}`, []Ref{{KindPrompt, "p"}}, nil},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"t://{x}"},"argument":{"name":"x","value":"1"}}`, []Ref{{KindTemplate, "t://{x}"}}, nil},
		{"completion/complete", `{"ref":{"type":"ref/tool","name":"p"},"argument":{"name":"n","value":""}}`, nil, ErrParams},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"p","Name":"q"},"argument":{"name":"n","value":""}}`, nil, ErrFold},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"n","value":1}}`, nil, ErrParams},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"p"}}`, nil, ErrParams},
		{"subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, nil, nil},
		{"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["a","b"]}}`, []Ref{{KindResource, "a"}, {KindResource, "b"}}, nil},
		{"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["a",1]}}`, nil, ErrParams},
		{"subscriptions/listen", `{"notifications":{"resourceSubscriptions":"a"}}`, nil, ErrParams},
		{"subscriptions/listen", `{"notifications":{"ResourceSubscriptions":["a"]}}`, nil, ErrFold},
		{"subscriptions/listen", `{}`, nil, ErrParams},
	} {
		m, _ := Lookup(c.method)
		var params jsontext.Value
		if c.params != "" {
			params = jsontext.Value(c.params)
		}
		got, err := m.Refs(params)
		if !errors.Is(err, c.err) || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, %v", c.method, c.params, got, err)
		}
	}
}
