package gateway

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/tallies"
)

// asideRules let one tool be called for branches of bots.
const asideRules = `rules:
- {name: bots, allow: [it], args: {branch: {refs: ["bot/*"]}, text: {one_of: [a], optional: true}}}
- {name: forced, never: [it], args: {force: {equals: true, optional: true}}}
- {name: acts, never: [it], args: {action: {equals: accept, optional: true}}}
- {name: completes, allow: [p], methods: [completion/complete]}
`

func asideHouse(t *testing.T, u *server) *house {
	t.Helper()
	rules, err := policy.Load([]byte(asideRules))
	if err != nil {
		t.Fatal(err)
	}
	return newHouse(t, u, policy.Personal, func(o *Options) { o.Policy = policy.Of(rules) })
}

// secretText is a secret that nobody has.
var secretText = "ghp_" + "x7Kq9ZtR2mVb4LwYc8NdPf3GhJs6Ae1Uo5Wi"

// TestWhatStandsBesideIsJudged: guards and rules see everything that goes upstream with a
// call, not only its arguments.
func TestWhatStandsBesideIsJudged(t *testing.T) {
	const call, with = `{"name":"it","arguments":{"branch":"bot/x"}`, `"action":"accept","content":`
	rest := func(name, value string) mcp.Frame {
		f := ask(methodCall, call+"}")
		f.Rest = []mcp.Member{{Name: name, Value: jsontext.Value(value)}}
		return f
	}
	complete := func(argument, context string) mcp.Frame {
		return ask(methodComplete, `{"ref":{"type":"ref/prompt","name":"p"},"argument":`+argument+`,"context":{"arguments":`+context+`}}`)
	}
	for _, c := range []struct {
		name string
		f    mcp.Frame
		want string // reason, and the place that is told
		at   string
	}{
		{"nothing", ask(methodCall, call+`}`), "", ""},
		{"plain members", ask(methodCall, call+`,"extra":{"note":"x","branch":"bot/y"},"_meta":{"progressToken":7,"com.example/x":"y"}}`), "", ""},
		{"another branch", ask(methodCall, call+`,"extra":{"branch":"feature"}}`), "guard", "frame:/params/extra/branch"},
		{"a protected branch", ask(methodCall, call+`,"extra":[{"target_ref":"main"}]}`), "guard", "frame:/params/extra/0/target_ref"},
		{"a path", ask(methodCall, call+`,"_meta":{"com.example":{"path":"../../etc/passwd"}}}`), "guard", "frame:/params/_meta/com.example/path"},
		{"a secret in _meta", ask(methodCall, call+`,"_meta":{"com.example/x":"`+secretText+`"}}`), "guard", "frame:/params/_meta/com.example~1x"},
		{"a secret for a token", ask(methodCall, call+`,"_meta":{"progressToken":"`+secretText+`"}}`), "guard", "frame:/params/_meta/progressToken"},
		{"a secret for a level", ask(methodCall, call+`,"_meta":{"io.modelcontextprotocol/logLevel":"`+secretText+`"}}`), "guard", "frame:/params/_meta/io.modelcontextprotocol~1logLevel"},
		{"an answer to nothing", ask(methodCall, call+`,"inputResponses":{"q":{`+with+`{"branch":"main"}}}}`), "guard", "frame:/params/inputResponses/1/branch"},
		{"JSON in a text", ask(methodCall, call+`,"inputResponses":{"q":{`+with+`{"data":"{\"branch\":\"main\"}"}}}}`), "guard", "frame:/params/inputResponses/1/data!/branch"},
		{"the protocol's own words", ask(methodCall, call+`,"inputResponses":{"branch":{`+with+`{"note":"x"}},"r":{"roots":[{"uri":"file:///home/u/main","name":"main"}]},"m":{"role":"assistant","model":"m","content":{"type":"text","text":"push to main"}}}}`), "", ""},
		{"what a model wants called", ask(methodCall, call+`,"inputResponses":{"m":{"role":"assistant","model":"m","content":[{"type":"tool_use","id":"1","name":"push","input":{"branch":"main"}}]}}}`), "guard", "frame:/params/inputResponses/5/branch"},
		{"a secret that a model says", ask(methodCall, call+`,"inputResponses":{"m":{"role":"assistant","model":"m","content":{"type":"text","text":"`+secretText+`"}}}}`), "guard", "frame:/params/inputResponses/3/answered_text"},
		{"an answer that is a text", ask(methodCall, call+`,"inputResponses":{"q":"`+secretText+`"}}`), "guard", "frame:/params/inputResponses/0"},
		{"an answer that is a list", ask(methodCall, call+`,"inputResponses":{"q":["x",{"branch":"main"}]}}`), "guard", "frame:/params/inputResponses/0/1/branch"},
		{"a list of answers", ask(methodCall, call+`,"inputResponses":{"q":[{`+with+`{"force":true}}]}}`), "rule_never", ""},
		{"an answer to a secret", ask(methodCall, call+`,"inputResponses":{"`+secretText+`":{`+with+`{}}}}`), "guard", "frame:/params/inputResponses/0/answered_text"},
		{"_meta of an answer", ask(methodCall, call+`,"inputResponses":{"q":{"_meta":"`+secretText+`",`+with+`{}}}}`), "guard", "frame:/params/inputResponses/0"},
		{"the protocol's _meta of an answer", ask(methodCall, call+`,"inputResponses":{"q":{"_meta":{"baggage":"`+secretText+`"},`+with+`{}}}}`), "guard", "frame:/params/inputResponses/0/baggage"},
		{"a member of another method", ask(methodCall, call+`,"uri":"`+secretText+`","level":"x"}`), "guard", "frame:/params/uri"},
		{"one more of another method", ask(methodCall, call+`,"ref":{"branch":"main"}}`), "guard", "frame:/params/ref/branch"},
		{"what a rule forbids", ask(methodCall, call+`,"inputResponses":{"q":{`+with+`{"force":true}}}}`), "rule_never", ""},
		{"beside the params", rest("com.example", `{"branch":"main"}`), "guard", "frame:/com.example/branch"},
		{"beside the params, plain", rest("com.example", `{"a":1}`), "", ""},
		{"deep", rest("com.example", strings.Repeat("[", 120)+strings.Repeat("]", 120)), "", ""},
		{"a completion", complete(`{"name":"path","value":"do"}`, `{"kind":"x"}`), "", ""},
		{"a completion with more", ask(methodComplete, `{"ref":{"type":"ref/prompt","name":"p","path":"../x"},"argument":{"name":"a","value":"x"}}`), "guard", "frame:/params/ref/path"},
		{"a completion with more beside the value", ask(methodComplete, `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"x","path":"../x"}}`), "guard", "frame:/params/argument/path"},
		{"a completion of a path", complete(`{"name":"path","value":"../../etc/pass"}`, `{}`), "guard", "frame:/params/argument/path"},
		{"a completion under a path", complete(`{"name":"kind","value":"x"}`, `{"path":"../x","url":"http://169.254.169.254/"}`), "guard", "frame:/params/context/arguments/path"},
	} {
		u := newServer(tool("it"))
		u.rev = mcp.Rev20260728
		u.set(methodPrompts, `{"name":"p","arguments":[{"name":"path"}]}`)
		h := asideHouse(t, u)
		s := h.shown(newPerson())
		if c.f.Method == methodComplete {
			u.answer(`{"resultType":"complete","completion":{"values":["docs"]}}`)
		}
		a := s.Handle(ctx, c.f, newPerson())
		if got := reason(a); got != c.want {
			t.Errorf("%s: %q: %s", c.name, got, a.Bytes())
		}
		if n := u.executed(c.f.Method, "*"); (n == 0) != (c.want != "") {
			t.Errorf("%s: executed %d times", c.name, n)
		}
		if strings.Contains(string(a.Bytes()), secretText) {
			t.Errorf("%s: the refusal repeats the secret", c.name)
		}
		if c.at == "" {
			continue
		}
		e := h.book.of(refusals)
		if len(e) != 1 || len(e[0].Paths) == 0 || e[0].Paths[0] != c.at || e[0].Params.IsZero() && c.f.Method != methodComplete {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

// TestAnswersAreJudged: what the agent answers to a question of the upstream is held
// against the rules of the call that it belongs to.
func TestAnswersAreJudged(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"the protocol's own words", `{"action":"decline","content":{}}`, ""},
		{"plain", `{"action":"accept","content":{"size":"L","branch":"bot/y"}}`, ""},
		{"another branch", `{"action":"accept","content":{"branch":"main"}}`, "guard"},
		{"a secret", `{"action":"accept","content":{"note":"` + secretText + `"}}`, "guard"},
		{"what a rule forbids", `{"action":"accept","content":{"force":true}}`, "rule_never"},
		{"a secret in the protocol's _meta", `{"action":"accept","_meta":{"baggage":"` + secretText + `"},"content":{}}`, "guard"},
		{"a secret for _meta", `{"action":"accept","_meta":["` + secretText + `"],"content":{}}`, "guard"},
	} {
		u := newServer(tool("it"))
		var got mcp.Frame
		u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
			got = x.Ask(ctx, mcp.Ask("42", "elicitation/create", jsontext.Value(`{"message":"Which size?","requestedSchema":{"type":"object"}}`)))
			return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
		}
		h := asideHouse(t, u)
		s := h.shown(newPerson())
		p := newPerson()
		p.reply = func(f mcp.Frame) (mcp.Frame, error) { return mcp.Answer(f.ID, jsontext.Value(c.answer)), nil }
		s.Handle(ctx, ask(methodCall, `{"name":"it","arguments":{"branch":"bot/x"}}`), p)
		if (got.Shape == mcp.Result) != (c.want == "") {
			t.Errorf("%s: %s", c.name, got.Bytes())
		}
		out := h.book.of(func(e registry.Entry) bool {
			return e.Method == "elicitation/create" && e.Type == registry.EntryOutcome
		})
		if len(out) != 1 || out[0].Reason != c.want {
			t.Errorf("%s: %+v", c.name, out)
		}
	}
}

// TestAnAnswerIsNew: a value that an answer brings to a place is new to it, whatever stood
// there when the call was let through.
func TestAnAnswerIsNew(t *testing.T) {
	rules, err := policy.Load([]byte("rules:\n- {name: a, allow: [it]}\n- {name: b, never: [it], new: [to]}\n- {name: c, never: [it], rate: {over: 100, per: day}, new: [cc]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]string{
		`{"action":"accept","content":{"size":"L"}}`:        "",
		`{"action":"accept","content":{"to":"evil"}}`:       "rule_never",
		`{"action":"accept","content":{"to":{"x":"evil"}}}`: "rule_never",
		`{"action":"accept","content":{"a":[{"to":"x"}]}}`:  "rule_never",
	} {
		u := newServer(tool("it"))
		var got mcp.Frame
		u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
			got = x.Ask(ctx, mcp.Ask("42", "elicitation/create", jsontext.Value(`{"message":"Who?","requestedSchema":{"type":"object"}}`)))
			return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
		}
		h := newHouse(t, u, policy.Personal, func(o *Options) { o.Policy, o.Tallies = policy.Of(rules), known{} })
		p := newPerson()
		p.reply = func(f mcp.Frame) (mcp.Frame, error) { return mcp.Answer(f.ID, jsontext.Value(answer)), nil }
		if a := h.shown(newPerson()).Handle(ctx, ask(methodCall, `{"name":"it","arguments":{"to":"ann"}}`), p); reason(a) != "" {
			t.Fatalf("%s: %s", answer, a.Bytes())
		}
		if (got.Shape == mcp.Result) != (want == "") {
			t.Errorf("%s: %s", answer, got.Bytes())
		}
	}
}

// known are tallies that know every value.
type known struct{}

func (known) Decide(_ context.Context, _ tallies.Subject, _ tallies.Values, decide func(policy.Counts) bool) error {
	decide(policy.Counts{Known: true})
	return nil
}

// A faulty policy fails in calls as a fault of ours would, once it is armed.
type faulty struct {
	policy.Policy
	armed *atomic.Bool
}

func (f faulty) Decide(x policy.Facts) policy.Decision {
	if f.armed.Load() {
		panic("a fault")
	}
	return f.Policy.Decide(x)
}

// TestAFaultRefusesOneCall: where deciding fails by a fault of ours the call is refused
// and on record, nothing goes upstream, and the next call is decided.
func TestAFaultRefusesOneCall(t *testing.T) {
	u := newServer(tool("it"))
	var answer mcp.Frame
	bad := faulty{policy.Of(nil), new(atomic.Bool)}
	u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
		bad.armed.Store(true)
		answer = x.Ask(ctx, mcp.Ask("42", "elicitation/create", jsontext.Value(`{"message":"Who?","requestedSchema":{"type":"object"}}`)))
		bad.armed.Store(false)
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
	}
	h := newHouse(t, u, policy.Personal, func(o *Options) { o.Policy = bad })
	s := h.shown(newPerson())
	p := newPerson()
	p.reply = func(f mcp.Frame) (mcp.Frame, error) {
		return mcp.Answer(f.ID, jsontext.Value(`{"action":"accept","content":{}}`)), nil
	}
	call := ask(methodCall, `{"name":"it","arguments":{}}`)
	bad.armed.Store(true)
	if a := s.Handle(ctx, call, p); !strings.Contains(string(a.Bytes()), "Nothing was executed") || u.executed(methodCall, "*") != 0 {
		t.Errorf("executed %d times: %s", u.executed(methodCall, "*"), a.Bytes())
	}
	if e := h.book.of(refusals); len(e) != 1 || e[0].Reason != string(policy.Undecided) || e[0].Rule != "fault" {
		t.Errorf("on record: %+v", e)
	}
	bad.armed.Store(false)
	if a := s.Handle(ctx, call, p); reason(a) != "" || u.executed(methodCall, "*") != 1 || answer.Shape == mcp.Result {
		t.Errorf("executed %d times, answered %s: %s", u.executed(methodCall, "*"), answer.Bytes(), a.Bytes())
	}
}

// TestAnAnswerOfSeveralCalls: where a question may belong to any of several open calls,
// its answer has to pass for each.
func TestAnAnswerOfSeveralCalls(t *testing.T) {
	u := newServer(tool("it"), tool("free"))
	var got mcp.Frame
	var h *house
	var s *Session
	p := newPerson()
	p.reply = func(f mcp.Frame) (mcp.Frame, error) {
		return mcp.Answer(f.ID, jsontext.Value(`{"action":"accept","content":{"branch":"main"}}`)), nil
	}
	u.do = func(_ context.Context, _ *wire, x Exchange) (mcp.Frame, error) {
		if name, _ := mcp.GetString(x.Frame.Params, "name"); name == "it" {
			s.Handle(ctx, ask(methodCall, `{"name":"free","arguments":{}}`), p)
		} else {
			got = u.links[0].sink.Ask(ctx, mcp.Ask("42", "elicitation/create", jsontext.Value(`{"message":"Which?","requestedSchema":{"type":"object"}}`)))
		}
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[]}`)), nil
	}
	rules, err := policy.Load([]byte("guards: {off: [refs]}\n" + asideRules + "- {name: free, allow: [free]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	h = newHouse(t, u, policy.Personal, func(o *Options) { o.Policy = policy.Of(rules) })
	s = h.shown(newPerson())
	if a := s.Handle(ctx, ask(methodCall, `{"name":"free","arguments":{}}`), p); reason(a) != "" || got.Shape != mcp.Result {
		t.Errorf("one call: %s %s", a.Bytes(), got.Bytes())
	}
	got = mcp.Frame{}
	if a := s.Handle(ctx, ask(methodCall, `{"name":"it","arguments":{"branch":"bot/x"}}`), p); reason(a) != "" || got.Shape != mcp.Failure {
		t.Errorf("two calls: %s %s", a.Bytes(), got.Bytes())
	}
}
