package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
)

type told map[Key]credentials.Digest

func (s told) Shown(k Key) (credentials.Digest, bool, error) {
	d, ok := s[k]
	return d, ok, nil
}

func toolItem(name, description string) Item {
	return Decode(Tool, []byte(fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{}}`, name, description)))
}

func clear(it Item) Judged { return Judged{Item: it, Verdict: quarantine.Clear} }

func accepted(items ...Item) *Baseline {
	b := &Baseline{Seen: true, Items: map[Key]*Accepted{}}
	for _, it := range items {
		b.Items[it.Key] = &Accepted{Key: it.Key, Tool: "tool_1", Gen: 1, Ver: 1, Digest: it.Digest, Canonical: it.Canonical}
	}
	return b
}

// Every way in which an item is not cleared, and the only one in which it is.
func TestStates(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	it, other := toolItem("a", "x"), toolItem("a", "y")
	row := func(f func(*Row)) map[string]*Row {
		r := &Row{Live: true, Digest: it.Digest, Standing: labels.Attested, Content: labels.Inspected, Tool: "tool_2", Gen: 2}
		f(r)
		return map[string]*Row{"a": r}
	}
	good := func() Input {
		return Input{Complete: true, Items: []Judged{clear(it)}, Baseline: accepted(it), Shown: told{it.Key: it.Digest}, Standing: labels.Pinned, Now: now}
	}
	for _, c := range []struct {
		name string
		f    func(*Input)
		want policy.State
		err  error
	}{
		{"cleared", func(*Input) {}, policy.Cleared, nil},
		{"zero input", func(in *Input) { *in = Input{} }, policy.NotShown, ErrIncomplete},
		{"incomplete", func(in *Input) { in.Complete = false }, policy.Incomplete, ErrIncomplete},
		{"no baseline", func(in *Input) { in.Baseline = nil }, policy.Incomplete, ErrIncomplete},
		{"first sight not over", func(in *Input) { in.Baseline.Seen = false }, policy.Incomplete, ErrIncomplete},
		{"never shown", func(in *Input) { in.Shown = nil }, policy.NotShown, ErrNotShown},
		{"shown another", func(in *Input) { in.Shown = told{it.Key: other.Digest} }, policy.Changed, ErrChanged},
		{"accepted another", func(in *Input) { in.Baseline = accepted(other) }, policy.Changed, ErrChanged},
		{"accepted nothing", func(in *Input) { in.Baseline = accepted() }, policy.New, ErrNew},
		{"suspect", func(in *Input) { in.Items[0].Verdict = quarantine.Suspect }, policy.Withheld, ErrWithheld},
		{"hostile", func(in *Input) { in.Items[0].Verdict = quarantine.Hostile }, policy.Withheld, ErrWithheld},
		{"no verdict", func(in *Input) { in.Items[0].Verdict = quarantine.Missing }, policy.Withheld, ErrWithheld},
		{"fault", func(in *Input) { in.Items[0].Fault = FaultName }, policy.Withheld, ErrWithheld},
		{"twice", func(in *Input) { in.Items = append(in.Items, clear(other)) }, policy.Withheld, ErrWithheld},
		{"twice the same", func(in *Input) { in.Items = append(in.Items, clear(it)) }, policy.Cleared, nil},
		{"uncovered", func(in *Input) { in.Uncovered = map[string]bool{"a": true} }, policy.Withheld, ErrWithheld},
		{"vetoed place", func(in *Input) { in.Standing = labels.Vetoed }, policy.Withheld, ErrWithheld},
		{"unknown place", func(in *Input) { in.Standing = labels.Unknown }, policy.Cleared, nil},
		{"registered", func(in *Input) { in.Registered = row(func(*Row) {}); in.Baseline = accepted() }, policy.Cleared, nil},
		{"registrant signed another", func(in *Input) { in.Registered = row(func(r *Row) { r.Digest = other.Digest }) }, policy.Changed, ErrChanged},
		{"registration revoked", func(in *Input) { in.Registered = row(func(r *Row) { r.Live = false }) }, policy.Withheld, ErrWithheld},
		{"registration withheld", func(in *Input) { in.Registered = row(func(r *Row) { r.Withheld = true }) }, policy.Withheld, ErrWithheld},
		{"condemned", func(in *Input) { in.Registered = row(func(r *Row) { r.Content = labels.Violated }) }, policy.Withheld, ErrWithheld},
	} {
		in := good()
		c.f(&in)
		s := Build(in)
		e, err := s.Look(Tool, "a")
		if e.State != c.want || !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: %v, %v", c.name, e.State, err)
		}
		e.Digest, e.Kind, e.Name = it.Digest, Tool, "a"
		p, perr := s.Pass(e, "tools/call", []byte(`{"name":"a"}`))
		if (perr == nil) != (c.want == policy.Cleared) || (p.Spend("tools/call", []byte(`{"name":"a"}`)) == nil) != (c.want == policy.Cleared) {
			t.Errorf("%s: pass: %v", c.name, perr)
		}
		// The profile watch tells the same and lets it through, if it was ever shown.
		in.UnsafeWatch = true
		if w, _ := Build(in).Look(Tool, "a"); w.State != c.want {
			t.Errorf("%s: watch sees %v", c.name, w.State)
		}
	}
}

func TestPassNamesTheItem(t *testing.T) {
	a, b := toolItem("a", "x"), toolItem("b", "x")
	prompt := Decode(Prompt, []byte(`{"name":"a"}`))
	tmpl := Decode(Template, []byte(`{"uriTemplate":"n://x/{id}","name":"t"}`))
	s := Build(Input{
		Complete: true, Items: []Judged{clear(a), clear(b), clear(prompt), clear(tmpl)}, Baseline: accepted(a, b, prompt, tmpl), Standing: labels.Pinned,
		Shown: told{a.Key: a.Digest, b.Key: b.Digest, prompt.Key: prompt.Digest, tmpl.Key: tmpl.Digest},
	})
	for _, c := range []struct {
		key            Key
		method, params string
		ok             bool
	}{
		{a.Key, "tools/call", `{"name":"a"}`, true},
		{a.Key, "tools/call", `{"name":"b"}`, false},
		{a.Key, "tools/call", `{"name":"a","Name":"b"}`, true}, // case folding is for the frame's own check
		{a.Key, "tools/call", `{"Name":"a"}`, false},
		{a.Key, "tools/call", `{}`, false},
		{a.Key, "tools/call", `not json`, false},
		{a.Key, "prompts/get", `{"name":"a"}`, false},
		{a.Key, "tools/list", `{"name":"a"}`, false},
		{prompt.Key, "prompts/get", `{"name":"a"}`, true},
		{prompt.Key, "completion/complete", `{"ref":{"type":"ref/prompt","name":"a"}}`, true},
		{prompt.Key, "completion/complete", `{"ref":{"type":"ref/resource","name":"a"}}`, false},
		{tmpl.Key, "completion/complete", `{"ref":{"type":"ref/resource","uri":"n://x/{id}"}}`, true},
		{tmpl.Key, "completion/complete", `{"ref":{"type":"ref/resource","uri":"n://x/1"}}`, false},
		{tmpl.Key, "resources/read", `{"uri":"n://x/1"}`, true},
		{tmpl.Key, "resources/subscribe", `{"uri":"n://x/1"}`, true},
		{tmpl.Key, "resources/read", `{"uri":"n://y/1"}`, false},
		{tmpl.Key, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":["n://x/1"]}}`, true},
		{tmpl.Key, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":["n://x/1","n://x/2"]}}`, false},
		{tmpl.Key, "subscriptions/listen", `{"notifications":{"resourceSubscriptions":["n://x/1"],"toolsListChanged":true}}`, false},
		{tmpl.Key, "subscriptions/listen", `{"uri":"n://x/1"}`, false},
	} {
		e, err := s.Look(c.key.Kind, c.key.Name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Pass(e, c.method, []byte(c.params))
		if (err == nil) != c.ok {
			t.Errorf("%s %s %s: %v", c.key.Name, c.method, c.params, err)
		}
		if err == nil && p.Spend(c.method, []byte(c.params+" ")) != ErrOtherCall {
			t.Error("a pass opens other bytes")
		}
	}
	if err := (Pass{}).Spend("tools/call", nil); err != ErrNoPass {
		t.Errorf("zero pass: %v", err)
	}
	for params, ok := range map[string]bool{`{"level":"info"}`: true, `{"level":"loud"}`: false, `{"level":"info","x":1}`: false, `{}`: false} {
		if _, err := s.PassLevel([]byte(params)); (err == nil) != ok {
			t.Errorf("level %s: %v", params, err)
		}
	}
}

func TestOrderAndDigest(t *testing.T) {
	items := []Judged{clear(toolItem("b", "x")), clear(toolItem("a", "x")), clear(Decode(Server, []byte(`{"name":"s","version":"1"}`))), clear(toolItem("evil", "z"))}
	items[3].Verdict = quarantine.Hostile
	in := Input{Complete: true, Items: items, Baseline: accepted(items[0].Item, items[1].Item, items[2].Item), Standing: labels.Pinned}
	s := Build(in)
	in.Items = []Judged{items[3], items[2], items[1], items[0]}
	r := Build(in)
	if s.Digest() != r.Digest() || s.Digest().IsZero() {
		t.Error("the upstream's order moves the digest")
	}
	var order []string
	for _, e := range r.Entries("") {
		order = append(order, string(e.Kind)+":"+e.Name)
	}
	if got := strings.Join(order, " "); got != "tool:a tool:b tool:evil server:" {
		t.Errorf("order: %s", got)
	}
	if len(r.Entries(Tool)) != 3 || len(r.Entries(Prompt)) != 0 || len(r.Entries(Server)) != 1 {
		t.Error("Entries cuts at the wrong places")
	}
	in.Items = items[:3]
	if Build(in).Digest() != s.Digest() {
		t.Error("what is withheld moves the digest of what is listed")
	}
	in.Items = items[:1]
	if Build(in).Digest() == s.Digest() {
		t.Error("what is missing does not move the digest")
	}
}

func TestFaults(t *testing.T) {
	long := strings.Repeat("x", MaxName+1)
	for _, c := range []struct {
		kind Kind
		raw  string
		want Fault
		name string
	}{
		{Tool, `{"name":"a.b-c_1","inputSchema":{"type":"object"},"x":[1e3],"title":null,"_meta":{}}`, NoFault, "a.b-c_1"},
		{Tool, `{"name":"a"}`, FaultShape, "a"},
		{Tool, `{"name":"a","inputSchema":[]}`, FaultShape, "a"},
		{Tool, `{"name":"a","inputSchema":{},"annotations":7}`, FaultShape, "a"},
		{Tool, `{"name":"a","inputSchema":{},"description":7}`, FaultShape, "a"},
		{Tool, `{"name":"","inputSchema":{}}`, FaultName, ""},
		{Tool, `{"name":"a b","inputSchema":{}}`, FaultName, "a b"},
		{Tool, `{"name":"а","inputSchema":{}}`, FaultName, "а"}, // Cyrillic
		{Tool, `{"name":"` + long + `","inputSchema":{}}`, FaultName, long},
		{Tool, `{"Name":"a","inputSchema":{}}`, FaultShape, ""},
		{Tool, `{"name":"a","name":"b","inputSchema":{}}`, FaultJSON, "a"},
		{Tool, `{"name":"a","inputSchema":{"x":"\u0000"}}`, FaultJSON, "a"},
		{Tool, `{"name":"a","inputSchema":{"x":0.10000000000000000001}}`, FaultJSON, "a"},
		{Tool, `[]`, FaultShape, ""},
		{Tool, `{"name":"a","inputSchema":` + strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100) + `}`, FaultJSON, "a"},
		{Prompt, `{"name":"ns:a/b","arguments":[{"name":"x"}]}`, NoFault, "ns:a/b"},
		{Prompt, `{"name":"a","arguments":[{}]}`, FaultShape, "a"},
		{Resource, `{"uri":"file:///a%20b","name":"any words here"}`, NoFault, "file:///a%20b"},
		{Resource, `{"uri":"a b","name":"x"}`, FaultName, "a b"},
		{Resource, `{"name":"x"}`, FaultShape, ""},
		{Template, `{"uriTemplate":"f://{+p}","name":"x"}`, NoFault, "f://{+p}"},
		{Template, `{"uriTemplate":"{p}","name":"x"}`, FaultTemplate, "{p}"},
		{Instructions, `"Use it."`, NoFault, ""},
		{Instructions, `{}`, FaultShape, ""},
		{Server, `{"name":"x","version":"1","icons":[]}`, NoFault, ""},
		{Server, `{}`, FaultShape, ""},
		{"other", `{}`, FaultShape, ""},
	} {
		it := Decode(c.kind, []byte(c.raw))
		if it.Fault != c.want || it.Name != c.name || it.Digest.IsZero() {
			t.Errorf("%s %.60s: fault %q, name %q", c.kind, c.raw, it.Fault, it.Name)
		}
	}
}

func TestTemplates(t *testing.T) {
	for _, c := range []struct {
		template, uri string
		want          bool
	}{
		{"test://template/{id}/data", "test://template/42/data", true},
		{"test://template/{id}/data", "test://template//data", false},
		{"test://template/{id}/data", "test://template/a/b/data", false},
		{"test://template/{id}/data", "test://template/a%2Fb/data", false},
		{"test://template/{id}/data", "test://template/../data", false},
		{"test://template/{id}/data", "test://template/%2e%2e/data", false},
		{"file:///{+path}", "file:///a/b.txt", true},
		{"file:///{+path}", "file:///a/../b", false},
		{"file:///{+path}", "file:///..", false},
		{"file:///{+path}", "file:///a/%2e%2e/b", false},
		{"file:///{+path}", "FILE:///a", false},
		{"file:///{+path}", "file:///a b", false},
		{"file:///x{+path}", "file:///x/../../etc", false},
		{"a://{x,y}", "a://1,2", true},
		{"a://{x,y}", "a://1,2,3", false},
		{"a://h{/x,y}", "a://h/1/2", true},
		{"a://h{/x*}", "a://h/1/2/3", true},
		{"a://h{/x}", "a://h/1/2", false},
		{"a://h{?q,r}", "a://h?q=1&r=2", true},
		{"a://h{?q,r}", "a://h?r=2", true},
		{"a://h{?q,r}", "a://h", true},
		{"a://h{?q,r}", "a://h?r=2&q=1", false},
		{"a://h{?q,r}", "a://h?s=1", false},
		{"a://h?z=1{&q}", "a://h?z=1&q=2", true},
		{"a://h{#f}", "a://h#x", true},
		{"a://h{.f}", "a://h.json", true},
		{"a://{x:3}", "a://abc", true},
		{"a://{x:3}", "a://abcd", false},
		{"a://h(x)/{y}", "a://h(x)/1", true},
	} {
		m, err := ParseTemplate(c.template)
		if err != nil {
			t.Errorf("%s: %v", c.template, err)
			continue
		}
		if m.Match(c.uri) != c.want {
			t.Errorf("%s and %s: want %v", c.template, c.uri, c.want)
		}
	}
	for _, bad := range []string{"", "{+uri}", "{scheme}://x", "a://{", "a://{}", "a://{x", "a://}", "a://{;x}", "a://{x:0}", "a://{x:9999}", "a://{!x}", "a://{x y}", "no scheme/{x}", "a://é{x}"} {
		if _, err := ParseTemplate(bad); err == nil {
			t.Errorf("%q is a template", bad)
		}
	}
}

func TestSettle(t *testing.T) {
	a, b, bad := toolItem("a", "x"), toolItem("b", "y"), toolItem("bad", "z")
	hostile := Judged{Item: bad, Verdict: quarantine.Hostile}
	first := Input{Complete: true, Items: []Judged{clear(a), hostile, clear(b)}, Baseline: &Baseline{}}
	acts := func(ms []Move) string {
		var out []string
		for _, m := range ms {
			out = append(out, fmt.Sprintf("%d %s %s%s", m.Act, m.Name, m.By, m.Why))
		}
		return strings.Join(out, "; ")
	}
	check := func(what string, in Input, wording bool, want string) {
		t.Helper()
		if got := acts(Settle(in, wording)); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("first sight", first, false, fmt.Sprintf("%d a first-sight; %d b first-sight; %d bad hostile; %d  ", Pin, Pin, Pend, Sighted))
	incomplete := first
	incomplete.Complete = false
	check("incomplete", incomplete, false, "")
	late := first
	late.Items = []Judged{clear(a), {Item: b}}
	check("a verdict is missing", late, false, "")

	wording, schema := toolItem("a", "other"), Decode(Tool, []byte(`{"name":"a","description":"x","inputSchema":{"a":1}}`))
	later := Input{Complete: true, Items: []Judged{clear(wording), clear(b), clear(toolItem("c", "n"))}, Baseline: accepted(a, b)}
	later.Baseline.Pending = map[Key]Pending{{Tool, "gone"}: {Digest: credentials.Digest{1}}, b.Key: {Digest: credentials.Digest{2}}}
	check("later", later, false, fmt.Sprintf("%d a changed; %d b back; %d c new; %d gone gone", Pend, Unpend, Pend, Unpend))
	later.Baseline = accepted(a, b)
	check("wording", later, true, fmt.Sprintf("%d a wording; %d c new", Accept, Pend))
	later.Items = []Judged{clear(schema)}
	check("schema", later, true, fmt.Sprintf("%d a changed", Pend))
	later.Items[0].Item, later.Items[0].Verdict = wording, quarantine.Suspect
	check("suspect wording", later, true, fmt.Sprintf("%d a suspect", Pend))
	later.Items[0].Verdict = quarantine.Clear
	later.Registered = map[string]*Row{"a": {Live: true, Digest: wording.Digest}}
	check("the registrant's own", later, false, fmt.Sprintf("%d a registrant", Accept))
	later.Registered["a"] = &Row{Live: true, Digest: a.Digest}
	check("not the registrant's", later, true, fmt.Sprintf("%d a changed", Pend))
}
