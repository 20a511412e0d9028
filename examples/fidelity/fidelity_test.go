package fidelity_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/internal/mcptest/frames"
)

func TestMain(m *testing.M) { stage.Main(m) }

// A route is a way through the gateway in one era.
type route struct {
	way      stage.Way
	revision string
}

func (r route) era() string {
	if r.revision == mcptest.Modern {
		return "modern"
	}
	return "legacy"
}

var routes = []route{
	{stage.StdioStdio, "2025-11-25"}, {stage.HTTPHTTP, "2025-11-25"},
	{stage.StdioStdio, mcptest.Modern}, {stage.HTTPHTTP, mcptest.Modern},
}

// ours are the members of _meta that are the protocol's or the gateway's own, and
// so may differ on both sides (RULES.md 6).
var ours = []string{
	"io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities", "io.modelcontextprotocol/clientInfo",
	"traceparent", "tracestate", "progressToken", "dev.pratique/label",
}

// members are those of an object, each in compact form, tokens unchanged; _meta
// without what is ours, and not at all if nothing else is left.
func members(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	if len(raw) == 0 {
		return out
	}
	var m map[string]jsontext.Value
	if err := json.Unmarshal(raw, &m, jsontext.AllowInvalidUTF8(false)); err != nil {
		t.Fatalf("%v: %.200s", err, raw)
	}
	for name, v := range m {
		if name == "_meta" && v.Kind() == '{' {
			for k, x := range members(t, v) {
				if !slices.Contains(ours, k) {
					out["_meta."+k] = x
				}
			}
			continue
		}
		if err := v.Compact(jsontext.PreserveRawStrings(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
			t.Fatal(err)
		}
		out[name] = string(v)
	}
	return out
}

// differ tells what differs between two objects.
func differ(want, got map[string]string) string {
	for name, w := range want {
		if g, ok := got[name]; !ok {
			return fmt.Sprintf("%s is missing, was %.200s", name, w)
		} else if g != w {
			return fmt.Sprintf("%s is %.200s, was %.200s", name, g, w)
		}
	}
	for name, g := range got {
		if _, ok := want[name]; !ok {
			return fmt.Sprintf("%s came to it: %.200s", name, g)
		}
	}
	return ""
}

// TestToUpstream sends every call of the corpus and compares the params that the
// server received.
func TestToUpstream(t *testing.T) {
	for _, r := range routes {
		t.Run(string(r.way)+" "+r.revision, func(t *testing.T) {
			echo := mcptest.JSON(`{"name":"echo","description":"Gives its arguments back.","inputSchema":{"type":"object","properties":{"id":{},"ID":{}},"additionalProperties":true}}`)
			h := stage.New(t, r.way, mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{echo}}}, stage.Options{})
			a := h.Agent(r.revision)
			a.Start()
			a.Tools()
			n := 0
			for _, f := range frames.Select("agent", r.era()) {
				sent := mcptest.Decode(f.Bytes)
				if sent.Method != "tools/call" || mcptest.Text(sent.Params, "name") != "echo" || mcptest.Path(sent.Params, "requestState") != nil || f.Theme == "ids" {
					continue
				}
				if f.Theme == "keys" && twins(t, mcptest.Path(sent.Params, "arguments")) {
					continue // refused on purpose: other readers fold case (TestCaseO03)
				}
				if r.way == stage.StdioStdio && bytes.ContainsAny(sent.Params, "\n\r") {
					continue // on stdio a frame is a line
				}
				before := h.Up.Executed("echo")
				answer := a.Request("tools/call", string(sent.Params))
				if h.Up.Executed("echo") != before+1 {
					t.Errorf("%s: not forwarded: %.300s\n%.300s", f.Theme, f.Bytes, answer.Raw)
					continue
				}
				want, got := members(t, sent.Params), members(t, h.Up.Last("echo").Params)
				if d := differ(want, got); d != "" {
					t.Errorf("%s: %s", f.Theme, d)
				}
				n++
			}
			if n < 90 {
				t.Errorf("only %d calls", n)
			}
			t.Logf("%d calls arrived equal", n)
		})
	}
}

// twins tells whether two names of an object differ in case only, other than the
// two that the schema names.
func twins(t *testing.T, raw []byte) bool {
	seen := map[string]bool{}
	for name := range members(t, raw) {
		if name == "id" || name == "ID" {
			continue
		}
		fold := strings.ToLower(strings.NewReplacer("ſ", "s", "\u212a", "k").Replace(name))
		if fold == "id" || seen[fold] {
			return len(members(t, raw)) > 1
		}
		seen[fold] = true
	}
	return false
}

// TestIDs: every id comes back as its own text, though the upstream sees ids of
// the gateway's own.
func TestIDs(t *testing.T) {
	h := stage.New(t, stage.HTTPHTTP, mcptest.Script{Tools: mcptest.List{Items: []mcptest.JSON{mcptest.Tool("echo", "Gives its arguments back.")}}}, stage.Options{})
	a := h.Agent("2025-11-25")
	a.Start()
	a.Tools()
	for _, f := range frames.Select("agent", "legacy", "ids") {
		sent := mcptest.Decode(f.Bytes)
		if sent.Method != "tools/call" {
			continue
		}
		if got := a.HTTP("POST", string(f.Bytes), http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Session-Id": {a.Session()}, "Mcp-Protocol-Version": {"2025-11-25"},
		}); len(got.Frames) == 0 || got.Frames[len(got.Frames)-1].ID != sent.ID {
			t.Errorf("id %s: %.300s", sent.ID, got.Body)
		}
	}
}

// TestToAgent has the server answer with every result and error of the corpus and
// compares what reaches the agent. What an inspector may hold is in a theme of its
// own and left out.
func TestToAgent(t *testing.T) {
	for _, r := range routes {
		t.Run(string(r.way)+" "+r.revision, func(t *testing.T) {
			h := stage.New(t, r.way, mcptest.Script{
				Tools: mcptest.List{Items: []mcptest.JSON{mcptest.Tool("give", "Gives something.")}},
				HTTP:  mcptest.HTTP{JSON: r.era() == "modern"},
			}, stage.Options{})
			a := h.Agent(r.revision)
			a.Start()
			a.Tools()
			n := 0
			for _, f := range frames.Select("upstream", r.era()) {
				m := mcptest.Decode(f.Bytes)
				if f.Theme == "invisible" || m.Method != "" || mcptest.Path(m.Result, "content") == nil && m.Error == nil || mcptest.Text(m.Result, "resultType") == "input_required" {
					continue
				}
				if r.era() == "modern" && m.Error != nil && m.Code() <= -32020 && m.Code() >= -32029 {
					continue // the transport's own errors: the gateway answers for its transport itself
				}
				raw := bytes.Replace(f.Bytes, []byte(`"id":`+m.ID), []byte(`"id":%ID%`), 1)
				if bytes.Equal(raw, f.Bytes) {
					raw = bytes.Replace(f.Bytes, []byte(`"id": `+m.ID), []byte(`"id": %ID%`), 1)
				}
				if bytes.ContainsAny(raw, "\n\r") && (r.way == stage.StdioStdio || r.era() == "legacy") {
					continue // a frame is a line on stdio, and in the fixture's event streams
				}
				h.Up.Set(func(s *mcptest.Script) { s.Answers = map[string]mcptest.Answer{"give": {Raw: raw}} })
				got := a.Call("give", `{}`)
				want, have := members(t, m.Result), members(t, got.Result)
				if m.Error != nil {
					want, have = members(t, m.Error), members(t, got.Error)
					want["message"], have["message"] = mcptest.Text(m.Error, "message"), mcptest.Text(got.Error, "message")
				}
				if d := differ(want, have); d != "" {
					t.Errorf("%s: %s\n%.300s\n%.300s", f.Theme, d, f.Bytes, got.Raw)
				}
				n++
			}
			if n < 60 {
				t.Errorf("only %d answers", n)
			}
			t.Logf("%d answers arrived equal", n)
		})
	}
}

// TestSchemas: every tool of the corpus is listed as it was sent, schema and all.
func TestSchemas(t *testing.T) {
	for _, r := range routes {
		t.Run(string(r.way)+" "+r.revision, func(t *testing.T) {
			var items []mcptest.JSON
			want := map[string]string{}
			for _, f := range frames.Select("upstream", r.era(), "schemas") {
				var list []jsontext.Value
				if err := json.Unmarshal(mcptest.Path(mcptest.Decode(f.Bytes).Result, "tools"), &list); err != nil {
					continue
				}
				for _, item := range list {
					name := mcptest.Text(mcptest.JSON(item), "name")
					if _, twice := want[name]; twice {
						continue
					}
					_ = item.Compact()
					want[name] = string(item)
					items = append(items, mcptest.JSON(item))
				}
			}
			h := stage.New(t, r.way, mcptest.Script{Tools: mcptest.List{Items: items}}, stage.Options{})
			a := h.Agent(r.revision)
			a.Start()
			var got []jsontext.Value
			if err := json.Unmarshal(mcptest.Path(a.Request("tools/list", "{}").Result, "tools"), &got); err != nil {
				t.Fatal(err)
			}
			have := map[string]string{}
			for _, item := range got {
				name := mcptest.Text(mcptest.JSON(item), "name")
				_ = item.Compact()
				have[name] = string(item)
			}
			if d := differ(want, have); d != "" {
				t.Error(d)
			}
			t.Logf("%d definitions arrived equal", len(have))
		})
	}
}
