package policy_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

var update = flag.Bool("update", false, "write the vocabulary")

func Example() {
	rules, err := policy.Load([]byte("rules:\n  - name: mail\n    ask: [send_mail]\n"))
	if err != nil {
		panic(err)
	}
	f := policy.Facts{
		Fit: policy.Fits, Profile: policy.Personal, Method: "tools/call", Tool: "send_mail", Gate: policy.Cleared,
		Tier: labels.Yellow, Standing: labels.Pinned, Content: labels.Inspected, Context: policy.Clean,
	}
	d := policy.Of(rules).Decide(f)
	fmt.Println(d.Verb(), d.Reason(), d.Rule())
	f.Channel = true
	d = policy.Of(rules).Decide(f)
	fmt.Println(d.Verb(), d.Reason(), d.Rule())
	// Output:
	// deny no_channel mail
	// ask rule_ask mail
}

// The vocabulary is what logs, refusals and the page module share: a word that
// is in use never changes its meaning.
func TestVocabulary(t *testing.T) {
	got, err := json.Marshal(policy.Vocabulary(), jsontext.WithIndent(" "))
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const file = "vocabulary.json"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says; run go test -update and look at the difference", file)
	}
}

func TestMeanings(t *testing.T) {
	seen := map[policy.Reason]bool{}
	for _, m := range policy.Meanings() {
		if seen[m.Reason] || !m.Reason.Known() || m.Reason.Meaning() != m {
			t.Errorf("%s: twice, or not known", m.Reason)
		}
		seen[m.Reason] = true
		if !strings.HasSuffix(m.Text, ".") || m.Verb == "" || !slices.Contains([]string{"yes", "no", "unknown"}, m.Invoked) {
			t.Errorf("%s: %+v", m.Reason, m)
		}
		if m.Retryable && m.Invoked != "no" {
			t.Errorf("%s: a call that may have been executed is not called retryable", m.Reason)
		}
	}
	if policy.Reason("nonsense").Known() || policy.Reason("nonsense").Meaning().Reason != policy.Undecided {
		t.Error("an unknown reason has a meaning")
	}
}

// The zero value of everything denies.
func TestZero(t *testing.T) {
	var d policy.Decision
	if d.Verb() != policy.Deny || d.Reason() != policy.Undecided || !d.Enforced() || d.Would().Verb() != policy.Deny {
		t.Errorf("%+v", d)
	}
	if p := policy.Of(nil); p.Decide(policy.Facts{}).Verb() != policy.Deny || p.Listed(policy.Facts{}) {
		t.Error("no facts, and a permission")
	}
	if d := policy.Strictest().Decide(policy.Facts{}); d.Verb() != policy.Deny {
		t.Error("no layers, and a permission")
	}
	if policy.Strictest().Listed(policy.Facts{}) {
		t.Error("no layers, and listed")
	}
	if d := policy.Refuse("", ""); d.Verb() != policy.Deny || d.Reason() != policy.Undecided {
		t.Errorf("%+v", d)
	}
	if d := policy.Refuse(policy.RuleAllow, "x"); d.Verb() != policy.Deny {
		t.Error("a refusal permits")
	}
}

// cells walks every combination of what a decision depends on, those that make
// no sense included.
func cells(yield func(policy.Facts)) {
	for _, profile := range []policy.Profile{"", policy.Strict, policy.Personal, "other"} {
		for gate := policy.NotShown; gate <= policy.Cleared+1; gate++ {
			for tier := labels.Red; tier <= labels.Green+1; tier++ {
				for standing := labels.Vetoed; standing <= labels.Attested+1; standing++ {
					for content := labels.Violated; content <= labels.Consistent+1; content++ {
						for _, effect := range []labels.Effect{labels.Unclassified, labels.AllEffects, labels.Write, labels.Read} {
							for _, tool := range []string{"free", "asked", "shut", "other"} {
								for context := policy.Worst; context <= policy.Clean+1; context++ {
									for _, channel := range []bool{false, true} {
										yield(policy.Facts{
											Fit: policy.Fits, Profile: profile, Method: "tools/call", Tool: tool, Tier: tier, Standing: standing, Content: content,
											Effect: effect, Gate: gate, Channel: channel, Context: context,
										})
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

var ruleText = []byte("rules:\n  - {name: a, allow: [free, asked, shut]}\n  - {name: b, ask: [asked]}\n  - {name: c, never: [shut]}\n  - {name: d, allow: [free], results: mark}\n  - {name: e, allow: [other], results: hold}\n")

func mustLoad(t *testing.T, text []byte) *policy.Rules {
	t.Helper()
	r, err := policy.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Worse facts never permit more: every cell against its neighbour in each
// direction (RULES.md 30).
func TestMonotone(t *testing.T) {
	for _, p := range []policy.Policy{policy.Of(nil), policy.Of(mustLoad(t, ruleText))} {
		n := 0
		cells(func(f policy.Facts) {
			n++
			d := p.Decide(f)
			no := func(what string, worse policy.Facts) {
				if w := p.Decide(worse); w.Verb() > d.Verb() {
					t.Errorf("%s: %+v gives %v, %+v gives %v", what, f, d.Verb(), worse, w.Verb())
				} else if w.Results() > d.Results() {
					t.Errorf("%s: %+v has results %v, %+v %v", what, f, d.Results(), worse, w.Results())
				}
				if p.Listed(worse) && !p.Listed(f) {
					t.Errorf("%s: %+v lists more than %+v", what, worse, f)
				}
			}
			// Cells outside of the vocabulary are worst, so they are left out as the
			// better of a pair.
			if f.Gate <= policy.Cleared && f.Tier.Valid() && f.Standing.Valid() && f.Content.Valid() && f.Context <= policy.Clean {
				if w := f; w.Gate > 0 {
					w.Gate--
					no("state", w)
				}
				if w := f; w.Tier > 0 {
					w.Tier--
					no("tier", w)
				}
				if w := f; w.Standing > 0 {
					w.Standing--
					no("standing", w)
				}
				if w := f; w.Content > 0 {
					w.Content--
					no("content", w)
				}
				if w := f; w.Context > 0 {
					w.Context--
					no("context", w)
				}
				w := f
				w.Effect = labels.Unclassified
				no("effect", w)
				w = f
				w.Channel = false
				no("channel", w)
			}
			switch {
			case f.Gate != policy.Cleared, f.Tier == labels.Red, !f.Tier.Valid(), f.Tool == "shut" && p.Digest() != policy.Of(nil).Digest(), f.Profile == "", f.Profile == "other":
				if d.Verb() != policy.Deny || p.Listed(f) {
					t.Errorf("%+v gives %v", f, d.Verb())
				}
			}
			if (f.Context == policy.Worst || f.Context > policy.Clean) && d.Verb() == policy.Allow {
				t.Errorf("%+v is let through out of a context at its worst", f)
			}
			if d.Verb() == policy.Deny && d.Results() != policy.Hold {
				t.Errorf("%+v is refused, and has results %v", f, d.Results())
			}
			if d.Verb() == policy.Ask && !f.Channel {
				t.Errorf("%+v asks nobody", f)
			}
			if !d.Reason().Known() || !d.Enforced() {
				t.Errorf("%+v: %s", f, d.Reason())
			}
		})
		if n < 10_000 {
			t.Errorf("only %d cells", n)
		}
	}
}

// A further layer never permits more, nor does a further ask or never rule.
func TestLayers(t *testing.T) {
	one, two := policy.Of(nil), policy.Of(mustLoad(t, ruleText))
	both := policy.Strictest(one, two)
	more := policy.Of(mustLoad(t, append(slices.Clone(ruleText), "  - {name: f, ask: [free], results: hold}\n  - {name: g, never: [asked]}\n"...)))
	cells(func(f policy.Facts) {
		v := both.Decide(f).Verb()
		if r := both.Decide(f).Results(); r > one.Decide(f).Results() || r > two.Decide(f).Results() || more.Decide(f).Results() > two.Decide(f).Results() {
			t.Errorf("%+v: two layers, or more rules, let more of a result through", f)
		}
		if v > one.Decide(f).Verb() || v > two.Decide(f).Verb() || both.Listed(f) && !(one.Listed(f) && two.Listed(f)) {
			t.Errorf("%+v: two layers permit more than one", f)
		}
		if more.Decide(f).Verb() > two.Decide(f).Verb() || more.Listed(f) && !two.Listed(f) {
			t.Errorf("%+v: more rules permit more", f)
		}
	})
	if both.Digest() == policy.Strictest(two, one).Digest() || both.Digest() == two.Digest() {
		t.Error("other layers, same digest")
	}
}

// Watch lets through what is an item and says what would have been decided; it
// says so in each decision (RULES.md 12).
func TestWatch(t *testing.T) {
	p, personal := policy.Of(nil), policy.Of(nil)
	cells(func(f policy.Facts) {
		if f.Profile != policy.Personal {
			return
		}
		want := personal.Decide(f)
		f.Profile = policy.Watch
		d := p.Decide(f)
		item := f.Gate > policy.Incomplete && f.Gate <= policy.Cleared
		if item != (d.Verb() == policy.Allow) || item == d.Enforced() || item != p.Listed(f) {
			t.Fatalf("%+v: %v, enforced %v", f, d.Verb(), d.Enforced())
		}
		if w := d.Would(); w.Verb() != want.Verb() || w.Reason() != want.Reason() {
			t.Fatalf("%+v: would be %v %s, want %v %s", f, w.Verb(), w.Reason(), want.Verb(), want.Reason())
		}
	})
	// An enforced layer above it binds.
	f := policy.Facts{Fit: policy.Fits, Profile: policy.Watch, Method: "tools/call", Tool: "shut", Gate: policy.Cleared, Context: policy.Clean, Tier: labels.Yellow, Standing: labels.Pinned, Content: labels.Inspected}
	if d := policy.Strictest(p, refuser{}).Decide(f); d.Verb() != policy.Deny || !d.Enforced() {
		t.Errorf("%v, enforced %v", d.Verb(), d.Enforced())
	}
}

// TestAskStands: a person is asked for what no rule allows where an allow of the same
// words would allow it; an ask that fires because something is bad or not known only
// takes from what others allow.
func TestAskStands(t *testing.T) {
	for _, c := range []struct {
		rest   string
		change func(*policy.Facts)
		stands bool
	}{
		{"", func(*policy.Facts) {}, true},
		{"", func(f *policy.Facts) { f.Method = "resources/read" }, true},
		{`, when: 'args.a == 1'`, func(f *policy.Facts) { f.Args = []byte(`{"a":1}`) }, true},
		{`, when: 'args.a == 1'`, func(f *policy.Facts) { f.Args = []byte(`{}`) }, false},
		{`, when: 'effect.write'`, func(*policy.Facts) {}, false},
		{`, when: 'label.tier != "green" || args.a == 1'`, func(f *policy.Facts) { f.Args = []byte(`{"a":1}`) }, false},
		{`, effects: [write]`, func(*policy.Facts) {}, true},
		{`, effects: [write]`, func(f *policy.Facts) { f.Effect = labels.Unclassified }, false},
		{`, origins: ["stdio:x"]`, func(*policy.Facts) {}, true},
		{`, origins: ["stdio:x"]`, func(f *policy.Facts) { f.Origin = "" }, false},
		{`, agents: [bot]`, func(f *policy.Facts) { f.Agent, f.AgentName = "", "" }, false},
		{`, rate: {over: 0, per: hour}`, func(*policy.Facts) {}, false},
		{`, new: [to]`, func(f *policy.Facts) { f.Counts.New = []string{"to"} }, false},
	} {
		ask := "rules:\n  - {name: r, ask: [t]" + c.rest + "}\n"
		f := good()
		c.change(&f)
		d := policy.Of(mustLoad(t, []byte(ask))).Decide(f)
		if c.stands != (d.Verb() == policy.Ask) || !c.stands && d.Reason() != policy.NoRule {
			t.Errorf("%s: %v %s", c.rest, d.Verb(), d.Reason())
		}
		steady := !strings.Contains(c.rest, "rate") && !strings.Contains(c.rest, "new") && !strings.Contains(c.rest, "effect.write") && !strings.Contains(c.rest, "label.tier")
		if listed := policy.Of(mustLoad(t, []byte(ask))).Listed(f); listed && !steady || c.stands && !listed {
			t.Errorf("%s: listed %v", c.rest, listed)
		}
		both := policy.Of(mustLoad(t, []byte(ask+"  - {name: s, allow: [t], methods: [tools/call, resources/read]}\n")))
		if d := both.Decide(f); d.Verb() != policy.Ask || d.Rule() != "r" {
			t.Errorf("%s, beside an allow: %v by %s", c.rest, d.Verb(), d.Rule())
		}
	}
}

func TestRulesErrors(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"only a comment":    "# nothing\n",
		"null":              "null\n",
		"a list":            "- a\n",
		"no rules":          "default: deny\n",
		"empty rules":       "rules: []\n",
		"default allow":     "default: allow\nrules:\n  - {name: a, allow: [x]}\n",
		"unknown key":       "rules:\n  - {name: a, allow: [x], permit: [y]}\n",
		"unknown top key":   "tools: {x: allow}\nrules:\n  - {name: a, allow: [x]}\n",
		"key of other case": "Rules:\n  - {name: a, allow: [x]}\n",
		"repeated key":      "rules:\n  - {name: a, allow: [x]}\nrules:\n  - {name: b, allow: [y]}\n",
		"repeated verb":     "rules:\n  - name: a\n    allow: [x]\n    allow: [y]\n",
		"two verbs":         "rules:\n  - {name: a, allow: [x], never: [y]}\n",
		"no verb":           "rules:\n  - {name: a}\n",
		"no name":           "rules:\n  - {allow: [x]}\n",
		"bad name":          "rules:\n  - {name: \"a b\", allow: [x]}\n",
		"reserved name":     "rules:\n  - {name: default, allow: [x]}\n",
		"name twice":        "rules:\n  - {name: a, allow: [x]}\n  - {name: a, never: [x]}\n",
		"names nothing":     "rules:\n  - {name: a, never: []}\n",
		"names null":        "rules:\n  - {name: a, never: null}\n",
		"a word for names":  "rules:\n  - {name: a, allow: x}\n",
		"a number":          "rules:\n  - {name: a, allow: [42]}\n",
		"a bool":            "rules:\n  - {name: a, allow: [true]}\n",
		"a null":            "rules:\n  - {name: a, allow: [null]}\n",
		"nested":            "rules:\n  - {name: a, allow: [[x]]}\n",
		"empty word":        "rules:\n  - {name: a, allow: [\"\"]}\n",
		"blank at an end":   "rules:\n  - {name: a, allow: [\"x \"]}\n",
		"invisible":         "rules:\n  - {name: a, allow: [\"x\u200b\"]}\n",
		"pattern":           "rules:\n  - {name: a, never: [\"delete_*\"]}\n",
		"given twice":       "rules:\n  - {name: a, never: [x, x]}\n",
		"unknown method":    "rules:\n  - {name: a, never: [x], methods: [tools/list]}\n",
		"no methods":        "rules:\n  - {name: a, never: [x], methods: []}\n",
		"results cut":       "rules:\n  - {name: a, allow: [x], results: cut}\n",
		"results nonsense":  "rules:\n  - {name: a, allow: [x], results: pass}\n",
		"results of never":  "rules:\n  - {name: a, never: [x], results: hold}\n",
		"ask that marks":    "rules:\n  - {name: a, ask: [x], results: mark}\n",
		"results a list":    "rules:\n  - {name: a, allow: [x], results: [hold]}\n",
		"method twice":      "rules:\n  - {name: a, never: [x], methods: [tools/call, tools/call]}\n",
		"anchor":            "rules:\n  - {name: a, allow: &n [x]}\n  - {name: b, allow: *n}\n",
		"merge":             "rules:\n  - {<<: {name: a}, allow: [x]}\n",
		"tag":               "rules:\n  - {name: !!str a, allow: [x]}\n",
		"two documents":     "rules:\n  - {name: a, allow: [x]}\n---\nrules:\n  - {name: b, allow: [y]}\n",
		"broken":            "rules:\n  - {name: a, allow: [x\n",
		"tab":               "rules:\n\t- {name: a, allow: [x]}\n",
		"not UTF-8":         "rules:\n  - {name: a, allow: [\"\xff\"]}\n",
		"JSON":              `{"rules": {"name": "a"}}`,
		"deep":              strings.Repeat("[", 5000),
		"dashes":            strings.Repeat("- ", 200_000),
		"colons":            strings.Repeat("a: ", 200_000),
		"questions":         strings.Repeat("? ", 200_000),
		"complex key":       "? rules\n: - {name: a, allow: [x]}\n",
		"long":              "rules: # " + strings.Repeat("x", policy.MaxRulesBytes),
		"UTF-16":            "\xff\xfer\x00u\x00",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := policy.Load([]byte(text))
			if err == nil || r != nil || !errors.Is(err, policy.ErrRules) {
				t.Fatalf("%v, %v", r, err)
			}
			if strings.Contains(err.Error(), "\n") || len(err.Error()) > 200 {
				t.Errorf("error text: %q", err)
			}
		})
	}
}

// What becomes of suspect results: cut, but for what rules say, of which the
// strictest counts; marked is only what an allow says so of, and never out of a
// context at its worst or of a tool in doubt.
func TestResults(t *testing.T) {
	rules := mustLoad(t, []byte("rules:\n  - {name: a, allow: [\"*\"]}\n  - {name: b, allow: [page, both], results: mark}\n  - {name: c, ask: [both, mail], results: hold}\n  - {name: d, allow: [get], methods: [prompts/get], results: hold}\n"))
	again := mustLoad(t, rules.Text())
	f := policy.Facts{Fit: policy.Fits, Profile: policy.Personal, Method: "tools/call", Gate: policy.Cleared, Context: policy.Clean, Channel: true, Tier: labels.Green, Standing: labels.Attested, Content: labels.Inspected}
	for tool, want := range map[string]policy.Results{"any": policy.Cut, "page": policy.Mark, "both": policy.Hold, "mail": policy.Hold, "get": policy.Cut} {
		f.Tool = tool
		for _, r := range []*policy.Rules{rules, again} {
			if d := policy.Of(r).Decide(f); d.Results() != want {
				t.Errorf("%s: %v by %s, want %v", tool, d.Results(), d.Rule(), want)
			}
		}
		if d := policy.Of(nil).Decide(f); d.Results() != policy.Cut {
			t.Errorf("%s, no rules: %v", tool, d.Results())
		}
	}
	f.Tool = "page"
	for what, change := range map[string]func(*policy.Facts){
		"worst": func(f *policy.Facts) { f.Context = policy.Worst },
		"doubt": func(f *policy.Facts) { f.Content, f.Tier = labels.Suspect, labels.Yellow },
	} {
		g := f
		if change(&g); policy.Of(rules).Decide(g).Verb() != policy.Ask || policy.Of(rules).Decide(g).Results() != policy.Cut {
			t.Errorf("%s: %v %v", what, policy.Of(rules).Decide(g).Verb(), policy.Of(rules).Decide(g).Results())
		}
	}
	for _, r := range []policy.Results{policy.Hold, policy.Cut, policy.Mark} {
		if got, err := policy.ParseResults(r.String()); err != nil || got != r {
			t.Errorf("%v is read as %v, %v", r, got, err)
		}
	}
	if r, err := policy.ParseResults("x"); err == nil || r != policy.Hold || policy.Results(9).String() != "hold" {
		t.Error("something else than hold of nonsense")
	}
}

// Out of a context at its worst every call asks, under every profile and rule; and
// where nobody could answer, the refusal names what ends that (RULES.md 9).
func TestWithdrawn(t *testing.T) {
	for _, p := range []policy.Policy{policy.Of(nil), policy.Of(mustLoad(t, ruleText))} {
		cells(func(f policy.Facts) {
			if f.Context != policy.Clean {
				return
			}
			d, w := p.Decide(f), f
			w.Context = policy.Worst
			is := p.Decide(w)
			switch {
			case d.Verb() == policy.Deny && d.Reason() != policy.NoChannel:
				if is.Verb() != policy.Deny || is.Reason() != d.Reason() {
					t.Errorf("%+v: %v %s, was %s", w, is.Verb(), is.Reason(), d.Reason())
				}
			case is.Reason() != policy.Withdrawn || (is.Verb() == policy.Ask) != f.Channel || is.Rule() != "context:withdrawn":
				t.Errorf("%+v: %v %s", w, is.Verb(), is.Reason())
			}
			if p.Listed(f) != p.Listed(w) {
				t.Errorf("%+v: the lists differ", w)
			}
		})
	}
	for c := policy.Worst; c <= policy.Clean; c++ {
		if got, err := policy.ParseContext(c.String()); err != nil || got != c {
			t.Errorf("%v is read as %v, %v", c, got, err)
		}
	}
	if c, err := policy.ParseContext("x"); err == nil || c != policy.Worst || policy.Context(9).String() != "worst" {
		t.Error("something else than worst of nonsense")
	}
}

// The digest names what the rules say, not how the file says it.
func TestRulesDigest(t *testing.T) {
	a := mustLoad(t, []byte("rules:\n  - {name: a, allow: [x, y]}\n  - {name: b, never: [z], methods: [tools/call, prompts/get]}\n"))
	b := mustLoad(t, []byte("\xef\xbb\xbf# rules\r\ndefault: deny\r\nrules:\r\n  - name: b\r\n    methods: [prompts/get, tools/call]\r\n    never: [\"z\"]\r\n  - name: a\r\n    allow:\r\n      - y\r\n      - x\r\n"))
	if a.Digest() != b.Digest() || policy.Of(a).Digest() != policy.Of(b).Digest() || a.Len() != 2 {
		t.Error("the same rules, another digest")
	}
	for _, other := range []string{
		"rules:\n  - {name: a, allow: [x]}\n  - {name: b, never: [z], methods: [tools/call, prompts/get]}\n",
		"rules:\n  - {name: a, allow: [x, y], results: hold}\n  - {name: b, never: [z], methods: [tools/call, prompts/get]}\n",
		"rules:\n  - {name: a, ask: [x, y]}\n  - {name: b, never: [z], methods: [tools/call, prompts/get]}\n",
		"rules:\n  - {name: c, allow: [x, y]}\n  - {name: b, never: [z], methods: [tools/call, prompts/get]}\n",
		"rules:\n  - {name: a, allow: [x, y]}\n  - {name: b, never: [z]}\n",
	} {
		if mustLoad(t, []byte(other)).Digest() == a.Digest() {
			t.Errorf("other rules, the same digest: %s", other)
		}
	}
	p := policy.Of(a)
	if p.Decide(policy.Facts{}).Policy() != p.Digest() || p.Digest() == policy.Of(nil).Digest() {
		t.Error("a decision does not name what decided")
	}
}

// The canonical text of rules is a rule file that makes the same rules.
func TestRulesText(t *testing.T) {
	for _, text := range []string{
		string(ruleText),
		"rules:\n  - name: odd\n    never: ['a\"b', 'c\\d', \"日本語\", 'x: y', '- z', '#', '{', 'file:///a?b=c&d', '42', 'null', '<a>']\n    methods: [resources/read]\n",
	} {
		r := mustLoad(t, []byte(text))
		again := mustLoad(t, r.Text())
		if again.Digest() != r.Digest() || !bytes.Equal(again.Text(), r.Text()) {
			t.Errorf("%s is read as %s", r.Text(), again.Text())
		}
	}
}

// Test case O-08, part c: without readable rules nothing starts, and a failed
// reload keeps the last good ones.
func TestSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if _, err := policy.OpenSource(path); !errors.Is(err, policy.ErrRules) || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("no file: %v", err)
	}
	if _, err := policy.OpenSource(t.TempDir()); !errors.Is(err, policy.ErrRules) {
		t.Fatalf("a folder: %v", err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rules: [broken")
	if _, err := policy.OpenSource(path); !errors.Is(err, policy.ErrRules) {
		t.Fatalf("broken: %v", err)
	}
	write("rules:\n  - {name: a, allow: [get_ticket]}\n")
	s, err := policy.OpenSource(path)
	if err != nil {
		t.Fatal(err)
	}
	good := s.Rules().Digest()
	for _, bad := range []string{"rules: [broken", "", "default: allow\n"} {
		write(bad)
		if changed, err := s.Reload(); err == nil || changed || s.Rules().Digest() != good {
			t.Fatalf("%q: changed %v, %v", bad, changed, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if changed, err := s.Reload(); err == nil || changed || s.Rules().Digest() != good {
		t.Fatalf("gone: %v, %v", changed, err)
	}
	f := policy.Facts{Fit: policy.Fits, Profile: policy.Personal, Method: "tools/call", Tool: "close_account", Gate: policy.Cleared, Context: policy.Clean, Tier: labels.Yellow, Standing: labels.Pinned, Content: labels.Inspected}
	if d := s.Policy().Decide(f); d.Verb() != policy.Deny {
		t.Error("without a file everything goes")
	}
	write("# the same\nrules:\n  - {name: a, allow: [get_ticket]}\n")
	if changed, err := s.Reload(); err != nil || changed {
		t.Fatalf("the same: %v, %v", changed, err)
	}
	write("rules:\n  - {name: a, allow: [close_account]}\n")
	if changed, err := s.Reload(); err != nil || !changed {
		t.Fatalf("others: %v, %v", changed, err)
	}
	if d := s.Policy().Decide(f); d.Verb() != policy.Allow {
		t.Errorf("%v %s", d.Verb(), d.Reason())
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("rules:\n  - {name: a, allow: [x]}\n"))
	f.Add(ruleText)
	f.Add([]byte("default: deny\r\nrules:\r\n  - name: b\r\n    methods: [prompts/get]\r\n    never: [\"*\"]\r\n"))
	f.Add([]byte("rules:\n  - {name: a, allow: &n [x]}\n  - {name: b, allow: *n}\n"))
	f.Add([]byte("? [rules]\n: {"))
	f.Add([]byte(everything))
	f.Add([]byte("shadow: true\nrules:\n  - name: a\n    ask: [x]\n    when: |\n      args.a[\"b\"].all(x, x > 0.1) || counts.hour >= 3 && \"to\" in counts.new\n"))
	f.Add([]byte(`{"rules":[{"name":"a","never":["x"],"when":"args.a.matches(\"^a+$\") && args.n == 9007199254740993\n|| !(refers(args.b, [\"main\"]))"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := policy.Load(text)
		if (r == nil) == (err == nil) {
			t.Fatal("neither rules nor an error, or both")
		}
		if err != nil {
			if !errors.Is(err, policy.ErrRules) {
				t.Fatal(err)
			}
			return
		}
		again, err := policy.Load(r.Text())
		if err != nil || again.Digest() != r.Digest() || r.Len() == 0 {
			t.Fatal("read again, the rules are others")
		}
		d := policy.Of(r).Decide(policy.Facts{Fit: policy.Fits, Profile: policy.Strict, Method: "tools/call", Tool: "x"})
		if d.Verb() != policy.Deny {
			t.Fatal("rules open what is not shown")
		}
	})
}

// The cost of a decision does not depend on how many rules there are.
func BenchmarkDecide(b *testing.B) {
	f := policy.Facts{Fit: policy.Fits, Profile: policy.Personal, Method: "tools/call", Tool: "tool_7", Gate: policy.Cleared, Context: policy.Clean, Tier: labels.Yellow, Standing: labels.Pinned, Content: labels.Inspected}
	for _, n := range []int{0, 10, 10_000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			var rules *policy.Rules
			if n > 0 {
				var text strings.Builder
				text.WriteString("rules:\n")
				for i := range n {
					fmt.Fprintf(&text, "  - {name: r%d, allow: [tool_%d]}\n", i, i)
				}
				var err error
				if rules, err = policy.Load([]byte(text.String())); err != nil {
					b.Fatal(err)
				}
			}
			p := policy.Of(rules)
			b.ReportAllocs()
			for b.Loop() {
				if p.Decide(f).Verb() != policy.Allow {
					b.Fatal("refused")
				}
			}
		})
	}
}
