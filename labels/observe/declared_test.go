package observe_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/observe"
)

func TestAsked(t *testing.T) {
	for _, c := range []struct {
		tool, method string
		want         observe.Sign
	}{
		{`{"name":"weather","description":"Tells the weather of a town."}`, observe.AskUser, observe.UserAsked},
		{`{"name":"weather","description":"Tells the weather of a town.","annotations":{"readOnlyHint":true}}`, observe.AskUser, observe.ReadAsked},
		{`{"name":"weather","description":"Tells the weather of a town.","annotations":{"readOnlyHint":true,"destructiveHint":true}}`, observe.AskUser, observe.UserAsked},
		{`{"name":"weather","description":"Tells the weather of a town."}`, observe.AskModel, observe.ModelAsked},
		{`{"name":"weather","description":"Tells the weather of a town."}`, observe.AskRoots, observe.RootsAsked},
		{`{"name":"book","description":"Books a table after you confirmed it."}`, observe.AskUser, ""},
		{`{"name":"startElicitation"}`, observe.AskUser, ""},
		{`{"name":"sampleLLM","description":"Runs a prompt."}`, observe.AskModel, ""},
		{`{"name":"digest","title":"Summarize a page"}`, observe.AskModel, ""},
		{`{"name":"pay","inputSchema":{"properties":{"askFirst":{"type":"boolean"}}}}`, observe.AskUser, ""},
		{`not JSON`, observe.AskUser, observe.UserAsked},
		{`{"name":"weather"}`, "ping", ""},
	} {
		d := observe.Declare([]byte(c.tool))
		if got := d.Asked(c.method); got != c.want {
			t.Errorf("%s asks %s: %q, want %q", c.tool, c.method, got, c.want)
		}
	}
}

// What a call did not ask for, each with an innocent twin beside it.
func TestUnasked(t *testing.T) {
	const (
		plain = `{"name":"w","outputSchema":{"type":"object","properties":{"t":{"type":"number"},"at":{"type":"object","properties":{"x":{}}},"l":{"type":"array","items":{"type":"object","properties":{"y":{}}}}}}}`
		open  = `{"name":"w","outputSchema":{"type":"object","properties":{"t":{"type":"number"}},"additionalProperties":{"type":"string"}}}`
		bare  = `{"name":"w","outputSchema":{"type":"object"}}`
		none  = `{"name":"w"}`
	)
	known := func(uri string) bool { return uri == "file:///listed" }
	for _, c := range []struct {
		name, tool string
		r          observe.Returned
		want       []observe.Sign
	}{
		{"as declared", plain, observe.Returned{Structured: []byte(`{"t":1,"at":{"x":1},"l":[{"y":1}]}`)}, nil},
		{"a member more", plain, observe.Returned{Structured: []byte(`{"t":1,"mail":"x"}`)}, []observe.Sign{observe.MemberUnasked}},
		{"a member more below", plain, observe.Returned{Structured: []byte(`{"at":{"x":1,"mail":1}}`)}, []observe.Sign{observe.MemberUnasked}},
		{"a member more in a list", plain, observe.Returned{Structured: []byte(`{"l":[{"y":1},{"mail":1}]}`)}, []observe.Sign{observe.MemberUnasked}},
		{"a schema that leaves it open", open, observe.Returned{Structured: []byte(`{"t":1,"mail":"x"}`)}, nil},
		{"a schema that names nothing", bare, observe.Returned{Structured: []byte(`{"t":1,"mail":"x"}`)}, nil},
		{"no schema", none, observe.Returned{Structured: []byte(`{"mail":"x"}`)}, nil},
		{"another value", plain, observe.Returned{Structured: []byte(`[1]`)}, nil},
		{"a file nobody named", none, observe.Returned{Arguments: []byte(`{"q":"notes"}`), Embedded: []string{"file:///home/u/.ssh/id_rsa"}}, []observe.Sign{observe.ContentUnasked}},
		{"a file that was named", none, observe.Returned{Arguments: []byte(`{"path":"docs/notes.txt"}`), Embedded: []string{"file:///srv/docs/notes.txt"}}, nil},
		{"a file that is listed", none, observe.Returned{Embedded: []string{"file:///listed"}, Known: known}, nil},
		{"another host", none, observe.Returned{Place: "https://api.example/mcp", Embedded: []string{"https://other.example/x"}}, []observe.Sign{observe.ContentUnasked}},
		{"its own host", none, observe.Returned{Place: "https://api.example/mcp", Embedded: []string{"https://api.example/x"}}, nil},
		{"a scheme of its own", none, observe.Returned{Embedded: []string{"memo://insights"}}, nil},
		{"a credential", none, observe.Returned{Secret: true}, []observe.Sign{observe.SecretUnasked}},
		{"a credential that was asked for", none, observe.Returned{Secret: true, Arguments: []byte(`{"apiKey":true}`)}, nil},
		{"a tool for credentials", `{"name":"get_token"}`, observe.Returned{Secret: true}, nil},
	} {
		d := observe.Declare([]byte(c.tool))
		if got := d.Unasked(&c.r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What a change says of a tool, each with an innocent twin.
func TestMoved(t *testing.T) {
	const tools, prompts, made, updated = "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/resources/updated"
	const read = `{"name":"weather","description":"Tells the weather.","annotations":{"readOnlyHint":true}}`
	const write = `{"name":"notes","description":"Keeps notes."}`
	const loads = `{"name":"enable_toolset","annotations":{"readOnlyHint":true}}`
	for _, c := range []struct {
		tool, method string
		want         observe.Sign
	}{
		{read, made, observe.ReadWrote}, {read, updated, observe.ReadWrote}, {read, tools, observe.ListMoved}, {read, prompts, observe.ListMoved},
		{write, made, ""}, {write, updated, ""}, {write, tools, observe.ListMoved},
		{loads, tools, ""}, {loads, prompts, ""}, {read, "notifications/progress", ""},
	} {
		d := observe.Declare([]byte(c.tool))
		if got := d.Moved(c.method); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.tool, c.method, got, c.want)
		}
	}
}

// BenchmarkUnasked100kB is what it costs to look for members that nobody named.
func BenchmarkUnasked100kB(b *testing.B) {
	d := observe.Declare([]byte(`{"name":"list","outputSchema":{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object",
		"properties":{"id":{"type":"integer"},"title":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}}}}}}}}`))
	v := []byte(`{"rows":[` + strings.Repeat(`{"id":1,"title":"Issue number one of this list","labels":["a","b"]},`, 1450) + `{}]}`)
	b.SetBytes(int64(len(v)))
	b.ReportAllocs()
	for b.Loop() {
		if got := d.Unasked(&observe.Returned{Structured: v}); got != nil {
			b.Fatal(got)
		}
	}
}
