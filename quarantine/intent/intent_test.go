package intent_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/intent"
)

const (
	agent = credentials.AgentID("agt_01J00000000000000000000000")
	place = "https://forge.example.test/mcp"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func item(name string, version byte) intent.Item {
	var n byte
	for _, c := range []byte(name) {
		n = n*31 + c
	}
	id := credentials.ToolID(fmt.Sprintf("tool_01J00000000000000000000%03d", n))
	return intent.Item{Origin: place, Kind: intent.Tool, Name: name, ID: id, Digest: credentials.Digest{1, version}}
}

func parse(t testing.TB, text string) *intent.Plan {
	t.Helper()
	p, err := intent.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

func seal(t testing.TB, text string) *intent.Intent {
	t.Helper()
	p := parse(t, text)
	var items []intent.Item
	for _, n := range p.Names {
		i := item(n.Name, 1)
		i.Kind = n.Kind
		items = append(items, i)
	}
	i, err := p.Seal(agent, false, items, now)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

const plain = `task: Raise left-pad in acme/shop
expires: 2h
tools: [read_file, create_branch, push_files]
`

// TestParse: a list of tools is an intent; what rules say of them counts in its place.
func TestParse(t *testing.T) {
	p := parse(t, "\xef\xbb\xbf---\r\n# words\r\ntask: >\r\n  Raise left-pad\r\n  in acme/shop\r\nagent: bot\r\nexpires: 2026-11-30T18:00:00Z\r\nguards:\r\n  refs: {}\r\nrules:\r\n- name: reading\r\n  allow: [read_file]\r\ntools:\r\n- read_file\r\n- push_files\r\nprompts: [plan]\r\n")
	if p.Task != "Raise left-pad in acme/shop" || p.Agent != "bot" || !p.Until.Equal(now.Add(6*time.Hour)) || len(p.Names) != 3 {
		t.Errorf("%+v", p)
	}
	i := seal(t, "task: a\nexpires: 1h\ntools: [a, b, c]\nprompts: [p]\nrules:\n- {name: x, ask: [b]}\n- {name: y, never: [c]}\n")
	for _, x := range []struct {
		method, name string
		want         policy.Verb
	}{{"tools/call", "a", policy.Allow}, {"tools/call", "b", policy.Ask}, {"tools/call", "c", policy.Deny}, {"prompts/get", "p", policy.Allow}, {"tools/call", "d", policy.Deny}} {
		f := policy.Facts{Profile: policy.Personal, Method: x.method, Tool: x.name, Origin: place, Gate: policy.Cleared, Args: []byte(`{}`), Channel: true, Fit: policy.Fits, Context: policy.Clean}
		f.Tier, f.Standing, f.Content = labels.Green, labels.Attested, labels.Inspected
		if d := policy.Of(i.Rules()).Decide(f); d.Verb() != x.want {
			t.Errorf("%s %s: %v %v", x.method, x.name, d.Verb(), d.Reason())
		}
	}
	again, err := intent.Read(i.Text())
	if err != nil || again.Digest() != i.Digest() || again.Task() != "a" || again.Agent() != agent || !again.Expires().Equal(now.Add(time.Hour)) || len(again.Items()) != 4 {
		t.Errorf("%v %+v", err, again)
	}
}

// TestBadFiles: every text that is not exactly an intent is refused, with a word that
// repeats nothing of it.
func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no task": "expires: 2h\ntools: [a]", "no end": "task: a\ntools: [a]", "no items": "task: a\nexpires: 2h",
		"an unknown key": plain + "secret: x", "a key twice": plain + "task: secret", "all tools": "task: a\nexpires: 2h\ntools: [\"*\"]",
		"a tool twice": "task: a\nexpires: 2h\ntools: [a, a]", "an end that is none": "task: a\nexpires: secret\ntools: [a]", "too long": "task: a\nexpires: 10000h\ntools: [a]",
		"a negative end": "task: a\nexpires: -1h\ntools: [a]", "a number for an end": "task: a\nexpires: 3600\ntools: [a]", "agent and launch": plain + "agent: a\nlaunch: b",
		"a hidden letter": "task: \"a\\u202eb\"\nexpires: 2h\ntools: [a]", "a hidden name": "task: a\nexpires: 2h\ntools: [\"a\\u200bb\"]", "blanks": "task: a\nexpires: 2h\ntools: [\"a \"]",
		"an anchor": "task: &x secret\nexpires: 2h\ntools: [a]", "two documents": plain + "---\ntask: secret", "no margin": "{task: a, expires: 2h, tools: [a]}",
		"a quoted key": "\"task\": a\nexpires: 2h\ntools: [a]", "a bad rule": plain + "rules:\n- {name: a, allow: [secret], never: [secret]}", "no rules": plain + "rules: []",
		"a taken name": plain + "rules:\n- {name: named, never: [read_file]}", "a shadow": plain + "shadow: true", "allow by default": plain + "default: allow",
		"brackets": "task: a\nexpires: 2h\ntools: " + strings.Repeat("[", 1000), "dashes": "task: a\nexpires: 2h\ntools: " + strings.Repeat("- ", 1000),
		"not UTF-8": plain + "# \xff", "huge": plain + "#" + strings.Repeat("x", intent.MaxFile),
	} {
		if _, err := intent.Parse([]byte(text)); !errors.Is(err, intent.ErrFile) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRulesSpeakOfItems: a rule about a name that is not there is refused by its name. A
// misspelt one would leave the right tool without its rule, and so allowed.
func TestRulesSpeakOfItems(t *testing.T) {
	const frame = "task: a\nexpires: 2h\ntools: [write_file]\nresources: [\"file:///a\"]\nrules:\n- "
	for _, rule := range []string{
		"{name: docs, allow: [write_fil], args: {path: {within: docs}}}", "{name: docs, ask: [write_file, write_fil]}", "{name: docs, never: [write_fil]}",
		"{name: docs, never: [\"file:///b\"]}", "{name: docs, never: [Write_file]}",
	} {
		_, err := intent.Parse([]byte(frame + rule))
		if !errors.Is(err, intent.ErrUnnamed) || !errors.Is(err, intent.ErrFile) || !strings.Contains(err.Error(), "rule docs") || strings.Contains(err.Error(), "rite_fil") || strings.Contains(err.Error(), "///b") {
			t.Errorf("%s: %v", rule, err)
		}
	}
	for _, rule := range []string{"{name: docs, never: [\"*\"]}", "{name: docs, ask: [write_file]}", "{name: docs, never: [\"file:///a\"]}"} {
		parse(t, frame+rule)
	}
}

// TestSeal: what a plan names is there, each once, and nothing else; the end lies ahead.
func TestSeal(t *testing.T) {
	p := parse(t, plain)
	all := []intent.Item{item("read_file", 1), item("push_files", 1), item("create_branch", 1)}
	for name, items := range map[string][]intent.Item{
		"one is missing": all[:2], "one too many": append(slices.Clone(all), item("delete_branch", 1)), "another in its place": {all[0], all[1], item("x", 1)},
		"no digest": {all[0], all[1], {Origin: place, Kind: intent.Tool, Name: "create_branch", ID: all[2].ID}}, "twice": {all[0], all[0], all[1], all[2]},
	} {
		if i, err := p.Seal(agent, false, items, now); err == nil {
			t.Errorf("%s: %s", name, i.Text())
		}
	}
	if _, err := p.Seal(agent, false, all[:2], now); !errors.Is(err, intent.ErrMissing) || !strings.Contains(err.Error(), "create_branch") {
		t.Error(err)
	}
	if _, err := p.Seal("somebody", false, all, now); err == nil {
		t.Error("for nobody")
	}
	if _, err := parse(t, "task: a\nexpires: 2020-01-01T00:00:00Z\ntools: [a]").Seal(agent, false, []intent.Item{item("a", 1)}, now); !errors.Is(err, intent.ErrFile) {
		t.Error(err)
	}
	if _, err := parse(t, "task: a\nexpires: "+now.Add(60*24*time.Hour).Format(time.RFC3339)+"\ntools: [a]").Seal(agent, false, []intent.Item{item("a", 1)}, now); !errors.Is(err, intent.ErrFile) {
		t.Error(err)
	}
	rules := string(seal(t, "task: a\nexpires: 1h\ntools: [a, b]\nrules:\n- {name: x, allow: [a]}\n- {name: y, never: [b]}\n").Text())
	x, y := `{"allow":["a"],"name":"x"}`, `{"name":"y","never":["b"]}`
	if text := strings.Replace(rules, x+","+y, y+","+x, 1); text == rules {
		t.Errorf("no rules in %s", rules)
	} else if _, err := intent.Read([]byte(text)); !errors.Is(err, intent.ErrText) {
		t.Errorf("another spelling of the same: %v", err)
	}
	a, _ := p.Seal(agent, false, all, now)
	slices.Reverse(all)
	if b, _ := p.Seal(agent, false, all, now); a.Digest() != b.Digest() {
		t.Error("the order of items matters")
	}
	for _, text := range []string{"", "{}", strings.Replace(string(a.Text()), `"v":1`, `"v":2`, 1), string(a.Text()) + " ", strings.Replace(string(a.Text()), `"task"`, `"more":1,"task"`, 1),
		strings.Replace(string(a.Text()), `"v":1`, `"v":1,"launch":false`, 1)} {
		if _, err := intent.Read([]byte(text)); !errors.Is(err, intent.ErrText) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// TestNarrower goes through every step of the proof, both ways.
func TestNarrower(t *testing.T) {
	const base = "task: a\nexpires: 2h\ntools: [a, b, c]\nrules:\n- {name: r, allow: [a, b]}\n- {name: s, never: [c], methods: [tools/call]}\n- {name: w, allow: [c], results: mark}\n"
	was := seal(t, base)
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(base) }
	for name, text := range map[string]string{
		"the same": base, "an earlier end": swap("2h", "1h"), "fewer names": swap("allow: [a, b]", "allow: [a]", "[a, b, c]", "[a, c]"),
		"an allow less": swap("- {name: r, allow: [a, b]}\n", "", "[a, b, c]", "[c]"), "a never more": base + "- {name: t, never: [a]}\n",
		"a tool with its allow and never": swap("- {name: s, never: [c], methods: [tools/call]}\n- {name: w, allow: [c], results: mark}\n", "", "[a, b, c]", "[a, b]"),
		"an ask of what is allowed":       base + "- {name: t, ask: [a], methods: [tools/call]}\n",
	} {
		if err := intent.Narrower(was, seal(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"another task": swap("task: a", "task: b"), "a later end": swap("2h", "3h"), "a tool more": swap("[a, b, c]", "[a, b, c, d]"), "a name more": swap("allow: [a, b]", "allow: [a, b, c]"),
		"a never less": swap("- {name: s, never: [c], methods: [tools/call]}\n", ""), "a never of less": swap(", methods: [tools/call]", ", methods: [prompts/get]"),
		"an allow more": base + "- {name: t, allow: [a]}\n", "an allow of all": swap("allow: [a, b]", "allow: [\"*\"]"), "an allow for more methods": swap("allow: [a, b]", "allow: [a, b], methods: [tools/call, prompts/get]"),
		"results otherwise": swap("results: mark", "results: hold"), "results unsaid": swap(", results: mark", ""), "an ask of what was not allowed": base + "- {name: t, ask: [d], methods: [tools/call]}\n",
		"an ask for every method": base + "- {name: t, ask: [a]}\n", "an ask of everything": base + "- {name: t, ask: [\"*\"], methods: [tools/call]}\n", "another name": swap("name: r", "name: q"),
		"an ask of what is allowed on conditions": base + "- {name: t, ask: [c], methods: [tools/call]}\n",
		"an ask in the place of an allow":         swap("allow: [a, b]", "ask: [c], methods: [tools/call]", "[a, b, c]", "[c]"),
		"an ask in the place of a never":          swap("never: [c]", "ask: [c]"), "guards": base + "guards: {off: [refs]}\n",
	} {
		i := func() (i *intent.Intent) {
			defer func() { _ = recover() }()
			p, err := intent.Parse([]byte(text))
			if err != nil {
				t.Logf("%s: %v", name, err) // the format does not take it: no intent at all
				return nil
			}
			var items []intent.Item
			for _, n := range p.Names {
				items = append(items, item(n.Name, 1))
			}
			i, err = p.Seal(agent, false, items, now)
			if err != nil {
				t.Error(err)
			}
			return i
		}()
		if i == nil {
			continue
		}
		if err := intent.Narrower(was, i); !errors.Is(err, intent.ErrWider) {
			t.Errorf("%s: %v", name, err)
		}
	}
	const several = "task: a\nexpires: 2h\ntools: [a, b, c]\ntemplates: [\"t:{x}\"]\nresources: [\"t:1\"]\nrules:\n- {name: s, never: [b, c]}\n- {name: u, never: [\"t:1\"]}\n"
	tools := strings.NewReplacer("templates: [\"t:{x}\"]\n", "", "resources: [\"t:1\"]\n", "", "- {name: u, never: [\"t:1\"]}\n", "").Replace(several)
	if err := intent.Narrower(seal(t, tools), seal(t, strings.NewReplacer("[a, b, c]", "[a, c]", "[b, c]", "[c]").Replace(tools))); err != nil {
		t.Errorf("a tool with its name in a never: %v", err)
	}
	if err := intent.Narrower(seal(t, tools), seal(t, strings.Replace(tools, "[b, c]}", "[c]}", 1))); !errors.Is(err, intent.ErrWider) {
		t.Errorf("a name of a never less: %v", err)
	}
	if err := intent.Narrower(seal(t, several), seal(t, strings.NewReplacer("resources: [\"t:1\"]\n", "", "- {name: u, never: [\"t:1\"]}\n", "").Replace(several))); !errors.Is(err, intent.ErrWider) {
		t.Errorf("a never of what a template reaches: %v", err)
	}
	p := parse(t, base)
	other, err := p.Seal("agt_01J00000000000000000000001", false, was.Items(), now)
	if err != nil || !errors.Is(intent.Narrower(was, other), intent.ErrWider) {
		t.Errorf("another agent: %v", err)
	}
	launch, err := p.Seal(agent, true, was.Items(), now)
	if err != nil || !errors.Is(intent.Narrower(was, launch), intent.ErrWider) {
		t.Errorf("a launch: %v", err)
	}
	versions := slices.Clone(was.Items())
	versions[0].Digest[1]++
	version, err := p.Seal(agent, false, versions, now)
	if err != nil || !errors.Is(intent.Narrower(was, version), intent.ErrWider) {
		t.Errorf("another version: %v", err)
	}
}

// TestNarrowerNeverPermitsMore draws pairs of intents; where the proof holds, nothing
// that the narrower one permits was denied before, for any call that could be made.
func TestNarrowerNeverPermitsMore(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 32))
	names := []string{"a", "b", "c", "d"}
	some := func() string {
		var out []string
		for _, n := range names {
			if r.IntN(2) == 0 {
				out = append(out, n)
			}
		}
		if len(out) == 0 {
			out = []string{names[r.IntN(len(names))]}
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	methods := []string{"", "", ", methods: [tools/call]", ", methods: [tools/call, prompts/get]", ", methods: [prompts/get]"}
	rule := func(n int) string {
		verb := []string{"allow", "allow", "ask", "never"}[r.IntN(4)]
		list := some()
		if r.IntN(6) == 0 {
			list = "[\"*\"]"
		}
		more := methods[r.IntN(len(methods))]
		if verb == "allow" && r.IntN(6) == 0 {
			more += ", results: mark"
		} else if verb != "never" && r.IntN(6) == 0 {
			more += ", results: hold"
		}
		return fmt.Sprintf("- {name: r%d, %s: %s%s}\n", n, verb, list, more)
	}
	build := func(tools, life string, rules []string) *intent.Intent {
		rules = slices.Clone(rules)
		for i, r := range rules { // a rule speaks of what is named: of the others it says nothing
			at, end := strings.Index(r, ": ["), strings.Index(r, "]")
			if left := slices.DeleteFunc(strings.Split(r[at+3:end], ", "), func(n string) bool { return n != "\"*\"" && !strings.Contains(tools, n) }); len(left) > 0 {
				rules[i] = r[:at+3] + strings.Join(left, ", ") + r[end:]
			} else {
				rules[i] = fmt.Sprintf("- {name: none%d, never: [\"*\"], methods: [completion/complete]}\n", i)
			}
		}
		return seal(t, "task: a\nexpires: "+life+"\ntools: "+tools+"\nrules:\n"+strings.Join(rules, ""))
	}
	proved, held := 0, 0
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for range rounds {
		var rules []string
		for n := range 1 + r.IntN(4) {
			rules = append(rules, rule(n))
		}
		tools := some()
		was := build(tools, "2h", rules)
		next := slices.Clone(rules) // a small change, so that many proofs hold
		switch r.IntN(6) {
		case 0:
			next = append(next, rule(9))
		case 1:
			if n := r.IntN(len(next)); len(next) > 1 {
				next = slices.Delete(next, n, n+1)
			}
		case 2:
			next[r.IntN(len(next))] = rule(r.IntN(4) + 4)
		case 3:
			tools = some()
		case 4:
			n := r.IntN(len(next))
			next[n] = rule(n)
		}
		now := build(tools, []string{"1h", "2h", "3h"}[r.IntN(3)], next)
		if intent.Narrower(was, now) != nil {
			continue
		}
		proved++
		held += compare(t, was, now, names)
	}
	if proved < rounds/10 || !testing.Short() && held < 100_000 {
		t.Errorf("only %d proofs of %d held, over %d calls", proved, rounds, held)
	}
	t.Logf("%d proofs, %d calls", proved, held)
}

// compare judges every call that differs under two intents.
func compare(t *testing.T, was, next *intent.Intent, names []string) (n int) {
	a, b := policy.Layers{Intent: was.Sealed()}.Policy(), policy.Layers{Intent: next.Sealed()}.Policy()
	for _, name := range names {
		for _, method := range []string{"tools/call", "prompts/get", "completion/complete"} {
			for _, at := range []time.Duration{time.Minute, 90 * time.Minute, 150 * time.Minute, 4 * time.Hour} {
				for _, context := range []policy.Context{policy.Clean, policy.Untrusted} {
					for _, channel := range []bool{true, false} {
						i := item(name, 1)
						f := policy.Facts{Profile: policy.Personal, Method: method, Tool: name, ID: i.ID, Digest: i.Digest, Origin: place, Agent: agent, Gate: policy.Cleared, Args: []byte(`{}`), Channel: channel,
							Fit: policy.Fits, Context: context, At: now.Add(at), Tier: labels.Green, Standing: labels.Attested, Content: labels.Inspected}
						x, y := a.Decide(f), b.Decide(f)
						if y.Verb() > x.Verb() || y.Verb() > policy.Deny && y.Results() > x.Results() || b.Listed(f) && !a.Listed(f) {
							t.Fatalf("%s %s at %v: %v/%v after %v/%v\n%s\n%s", method, name, at, y.Verb(), y.Results(), x.Verb(), x.Results(), was.Text(), next.Text())
						}
						n++
					}
				}
			}
		}
	}
	return n
}

func FuzzParse(f *testing.F) {
	f.Add(plain)
	f.Add("task: a\nexpires: 1h\ntools:\n- a\nrules:\n- name: x\n  allow: [a]\nguards: {}\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := intent.Parse([]byte(text))
		if err != nil {
			if !errors.Is(err, intent.ErrFile) {
				t.Fatal(err)
			}
			return
		}
		var items []intent.Item
		for _, n := range p.Names {
			i := item(n.Name, 1)
			i.Kind = n.Kind
			items = append(items, i)
		}
		i, err := p.Seal(agent, false, items, now)
		if err != nil {
			return // two names with one id, an end in the past
		}
		again, err := intent.Read(i.Text())
		if err != nil || again.Digest() != i.Digest() || intent.Narrower(i, again) != nil {
			t.Fatalf("%v: %s", err, i.Text())
		}
	})
}
