package vectors_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/vectors"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

// A batch is vectors that one gateway and one upstream can do one after the other.
type batch struct {
	profile  policy.Profile
	rules    string
	standing string
	channel  bool
	context  string
	surface  string
	intent   *vectors.Intent
	counted  bool              // somebody counts, so that it is one vector alone
	items    map[string]string // by kind and name: the item and what it was
	vectors  []vectors.Vector
}

func (b *batch) takes(v vectors.Vector, key, item string) bool {
	if b.profile != v.Profile || b.rules != v.Rules || b.standing != v.Standing || b.channel != v.Channel || b.context != v.Context || b.surface != v.Surface ||
		!reflect.DeepEqual(b.intent, v.Intent) || b.counted || v.Earlier != nil {
		return false
	}
	had, ok := b.items[key]
	return !ok || had == item
}

// batches puts the vectors together.
func batches(t *testing.T) (all []*batch) {
	t.Helper()
	list, err := vectors.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		name, err := v.ItemName()
		if err != nil {
			t.Fatal(err)
		}
		v.Earlier = slices.Clone(v.Earlier)
		raws := []*jsontext.Value{&v.Item, &v.Was, &v.Args}
		for n := range v.Earlier {
			raws = append(raws, &v.Earlier[n])
		}
		for _, raw := range raws { // a frame is one line
			if err := raw.Compact(); *raw != nil && err != nil {
				t.Fatal(err)
			}
		}
		key, item := v.Kind+" "+name, fmt.Sprint(string(v.Item), string(v.Was), v.Released, v.Effect)
		i := slices.IndexFunc(all, func(b *batch) bool { return b.takes(v, key, item) })
		if i < 0 {
			i = len(all)
			all = append(all, &batch{profile: v.Profile, rules: v.Rules, standing: v.Standing, channel: v.Channel, context: v.Context, surface: v.Surface, intent: v.Intent, counted: v.Earlier != nil, items: map[string]string{}})
		}
		all[i].items[key] = item
		all[i].vectors = append(all[i].vectors, v)
	}
	return all
}

// An outcome is what became of one vector, without what has to differ.
type outcome struct {
	Decided, Finished registry.Entry
	Refusal           string // as the agent was told
	Listed            bool
}

// TestVectors drives every vector on four ways, and wants equal outcomes, which are
// those that the vector expects.
func TestVectors(t *testing.T) {
	t.Parallel()
	all := batches(t)
	n := 0
	for _, b := range all {
		n += len(b.vectors)
		t.Run(fmt.Sprintf("%s %s %s %s", b.profile, b.standing, b.surface, b.vectors[0].Name), func(t *testing.T) {
			t.Parallel()
			var first []outcome
			for _, w := range ways {
				if b.profile == "" && w.name == "stdio" {
					continue // no launch has none: the gateway does not start
				}
				got := drive(t, b, w)
				for i, v := range b.vectors {
					if got[i] == nil {
						continue // the era has no such method
					}
					check(t, w, v, *got[i])
					if first == nil || len(first) <= i {
						continue
					}
					compare(t, w, v, first[i], *got[i])
				}
				if first == nil { // the legacy era has every method
					for _, o := range got {
						first = append(first, *o)
					}
				}
			}
		})
	}
	if n < 100 {
		t.Errorf("%d vectors are driven", n)
	}
	t.Logf("%d vectors in %d batches on %d ways", n, len(all), len(ways))
}

// check holds an outcome against what the vector wants.
func check(t *testing.T, w way, v vectors.Vector, got outcome) {
	t.Helper()
	verb, reason, rule := v.Want.Verb, v.Want.Reason, v.Want.Rule
	if v.Want.Would != nil { // an entry says what would have been, and that it was not enforced
		verb, reason, rule = v.Want.Would.Verb, v.Want.Would.Reason, v.Want.Would.Rule
	}
	d := got.Decided
	if d.Verb != verb || d.Reason != string(reason) || d.Rule != rule {
		t.Errorf("%s, %s: decided %s, %s by %q; want %s, %s by %q", v.Name, w, d.Verb, d.Reason, d.Rule, verb, reason, rule)
	}
	if d.Guard != v.Want.Guard || !slices.Equal(d.Paths, v.Want.At) {
		t.Errorf("%s, %s: guard %q at %q, want %q at %q", v.Name, w, d.Guard, d.Paths, v.Want.Guard, v.Want.At)
	}
	if (v.Intent != nil) != !d.Intent.IsZero() {
		t.Errorf("%s, %s: the intent on record is %s", v.Name, w, d.Intent)
	}
	loose := v.Want.Would != nil || v.Want.Reason == policy.Watched
	if (d.Enforced != nil && !*d.Enforced) != loose {
		t.Errorf("%s, %s: enforced %v", v.Name, w, d.Enforced)
	}
	forwarded := v.Want.Verb == "allow"
	if (got.Finished.Type != "") != forwarded || (got.Refusal == "") != forwarded || !forwarded && (d.Invoked != "no" || d.Outcome != registry.OutcomeRefused) {
		t.Errorf("%s, %s: want forwarded %v: %+v, then %+v; told %q", v.Name, w, forwarded, d, got.Finished, got.Refusal)
	}
	if got.Listed != v.Want.Listed {
		t.Errorf("%s, %s: listed %v", v.Name, w, got.Listed)
	}
	if d.Profile != string(v.Profile) || v.Surface != vectors.Unlisted && v.Surface != vectors.Incomplete && d.Standing != v.Standing {
		t.Errorf("%s, %s: profile %q, standing %q", v.Name, w, d.Profile, d.Standing)
	}
}

func compare(t *testing.T, w way, v vectors.Vector, a, b outcome) {
	t.Helper()
	if v.Method == "resources/subscribe" && w.modern() { // lives on until it is cancelled
		a.Finished, b.Finished = registry.Entry{}, registry.Entry{}
		a.Refusal, b.Refusal = "", ""
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s differs between %s and %s:\n%s", v.Name, ways[0], w, differences(a, b))
	}
}

// differences are the members in which two outcomes differ.
func differences(a, b outcome) string {
	var out strings.Builder
	for _, f := range [][2]any{{a.Decided, b.Decided}, {a.Finished, b.Finished}} {
		x, y := reflect.ValueOf(f[0]), reflect.ValueOf(f[1])
		for i := range x.NumField() {
			if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
				fmt.Fprintf(&out, "%s: %v, %v\n", x.Type().Field(i).Name, x.Field(i), y.Field(i))
			}
		}
	}
	if a.Refusal != b.Refusal || a.Listed != b.Listed {
		fmt.Fprintf(&out, "told %s, listed %v\ntold %s, listed %v\n", a.Refusal, a.Listed, b.Refusal, b.Listed)
	}
	return out.String()
}

// drive does one call for each vector of a batch, in order. Of methods that the era
// has not, the outcome is nil.
func drive(t *testing.T, b *batch, w way) []*outcome {
	t.Helper()
	before, after := scripts(t, b)
	h := build(t, b, w, before)
	h.agent.Start()
	lists(h.agent)
	h.release(t, b)
	h.up.Set(func(s *mcptest.Script) { *s = after })
	lists(h.agent) // so that the gateway has seen it
	var out []*outcome
	var calls []string
	for _, v := range b.vectors {
		if w.modern() && v.Method == "resources/unsubscribe" {
			out, calls = append(out, nil), append(calls, "")
			continue
		}
		earlier(t, h.agent, w, v)
		from := h.spy.size()
		out = append(out, &outcome{Refusal: call(t, h.agent, w, v)})
		calls = append(calls, h.spy.since(t, v, w, from))
	}
	shown := lists(h.agent)
	h.leave()
	decided, finished := entries(t, h.data)
	for n, v := range b.vectors {
		if out[n] == nil {
			continue
		}
		name, _ := v.ItemName()
		if v.Surface == vectors.Unlisted {
			name = v.Call
		}
		out[n].Decided, out[n].Finished, out[n].Listed = strip(decided[calls[n]]), strip(finished[calls[n]]), slices.Contains(shown[v.Kind], name)
	}
	return out
}

// scripts are what the upstream serves when the agent makes its list, and since.
func scripts(t *testing.T, b *batch) (before, after mcptest.Script) {
	t.Helper()
	empty := mcptest.Script{
		Capabilities: mcptest.JSON(`{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"completions":{}}`),
		Answers:      map[string]mcptest.Answer{},
	}
	before, after = empty, empty
	if b.surface == vectors.Incomplete {
		before.Tools.Endless, after.Tools.Endless = "new", "new"
	}
	seen := map[string]bool{}
	for _, v := range b.vectors {
		name, _ := v.ItemName()
		if key := v.Kind + " " + name; !seen[key] {
			seen[key] = true
			add(&after, v.Kind, v.Item)
			switch b.surface {
			case vectors.New:
			case vectors.Changed: // by more than wording, which a rule would accept
				add(&before, v.Kind, mcptest.JSON(strings.Replace(string(v.Was), "{", `{"title":"Was",`, 1)))
			default:
				add(&before, v.Kind, v.Item)
			}
		}
		if v.Kind == "template" && v.Call != "" {
			after.Answers["resource:"+v.Call] = mcptest.Answer{Result: mcptest.JSON(fmt.Sprintf(`{"contents":[{"uri":%q,"text":"a note"}]}`, v.Call))}
		}
	}
	serveNamed(b, &before, &after)
	return before, after
}

func add(s *mcptest.Script, kind string, item jsontext.Value) {
	l := map[string]*mcptest.List{"tool": &s.Tools, "prompt": &s.Prompts, "resource": &s.Resources, "template": &s.Templates}[kind]
	l.Items = append(l.Items, item)
}

// lists is what the agent is shown, by kind.
func lists(a *mcptest.Agent) map[string][]string {
	out := map[string][]string{}
	for kind, method := range map[string]string{"tool": "tools/list", "prompt": "prompts/list", "resource": "resources/list", "template": "resources/templates/list"} {
		out[kind] = a.Request(method, "").Names()
	}
	return out
}

// call makes the call of a vector, and gives what the agent is told of a refusal.
func call(t *testing.T, a *mcptest.Agent, w way, v vectors.Vector) string {
	t.Helper()
	name, err := v.ItemName()
	if err != nil {
		t.Fatal(err)
	}
	target := name
	if v.Call != "" {
		target = v.Call
	}
	switch v.Method {
	case "tools/call", "prompts/get":
		return told(a.Request(v.Method, fmt.Sprintf(`{"name":%q,"arguments":%s}`, target, v.Args)))
	case "resources/subscribe":
		if w.modern() {
			return listen(a, target)
		}
		return told(a.Request(v.Method, fmt.Sprintf(`{"uri":%q}`, target)))
	case "resources/read", "resources/unsubscribe":
		return told(a.Request(v.Method, fmt.Sprintf(`{"uri":%q}`, target)))
	case "completion/complete":
		ref := fmt.Sprintf(`{"type":"ref/prompt","name":%q}`, name)
		if v.Kind != "prompt" {
			ref = fmt.Sprintf(`{"type":"ref/resource","uri":%q}`, name)
		}
		return told(a.Request(v.Method, fmt.Sprintf(`{"ref":%s,"argument":%s}`, ref, v.Args)))
	}
	t.Fatalf("%s: method %s", v.Name, v.Method)
	return ""
}

// listen subscribes in the modern era, and leaves again.
func listen(a *mcptest.Agent, uri string) string {
	id := a.Begin("subscriptions/listen", fmt.Sprintf(`{"notifications":{"resourceSubscriptions":[%q]}}`, uri))
	ack := a.NextMethod("notifications/subscriptions/acknowledged")
	if !strings.Contains(string(ack.Params), uri) {
		a.Wait(id)
		return "not acknowledged"
	}
	a.Cancel(id)
	return ""
}

// told is the refusal in an answer, without its reference; empty if there is none.
func told(m mcptest.Message) string {
	o := mcptest.Path(m.Result, "structuredContent")
	if o == nil {
		o = mcptest.Path(m.Error, "data")
	}
	if mcptest.Text(o, "enforcedBy") != "pratique" {
		if m.IsError() {
			return string(m.Raw)
		}
		return ""
	}
	var r map[string]any
	if err := json.Unmarshal(o, &r); err != nil {
		return err.Error()
	}
	delete(r, "ref")
	delete(r, "origins") // named as the upstream is reached
	b, _ := json.Marshal(r, json.Deterministic(true))
	return string(b)
}

// entries are those of calls, as they stand in the log: decisions and outcomes.
func entries(t *testing.T, data string) (decided, finished map[string]registry.Entry) {
	t.Helper()
	decided, finished = map[string]registry.Entry{}, map[string]registry.Entry{}
	for r, err := range decisions.Read(data, decisions.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		switch r.Entry.Type {
		case registry.EntryDecision:
			decided[r.Entry.Call] = r.Entry
		case registry.EntryOutcome:
			finished[r.Entry.Call] = r.Entry
		}
	}
	return decided, finished
}

// strip takes off an entry what differs from one call to the next: times, ids, era,
// way, where the upstream is, and digests under keys of their own.
func strip(e registry.Entry) registry.Entry {
	e.At, e.Run, e.Agent, e.N, e.Last, e.Call, e.Delivered, e.Millis, e.View = 0, "", "", 0, 0, "", "", 0, 0
	e.Era, e.Way, e.Origin, e.Tool, e.Named = "", "", "", "", ""
	e.Args, e.Result, e.Surface = credentials.Digest{}, credentials.Digest{}, credentials.Digest{}
	if !e.Intent.IsZero() { // it names agent and origin, and the policy names it
		e.Intent, e.Policy = credentials.Digest{1}, credentials.Digest{}
	}
	if e.Method == "subscriptions/listen" {
		e.Method = "resources/subscribe"
	}
	return e
}
