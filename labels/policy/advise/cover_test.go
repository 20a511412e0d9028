package advise_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/labels/policy/advise"
)

type chance struct{ *rand.Rand }

func pick[T any](c chance, list ...T) T { return list[c.IntN(len(list))] }

func (c chance) odds(n int) bool { return c.IntN(n) == 0 }

// when is a condition of few words, so that two rules often have the same.
func (c chance) when(verb string) string {
	one := func() string {
		if c.odds(6) {
			return pick(c, "true", "false")
		}
		if c.odds(5) {
			return map[string]string{"allow": `label.tier == "green"`}[verb] + map[string]string{"ask": `effect.write`, "never": `effect.write`}[verb]
		}
		return pick(c, `args.a == 1`, `args.b == "x"`, `args.b == "x && y"`, `args.c.all(e, e == 1)`, `(args.a > 0 || has(args.b))`, `has(args.a)`)
	}
	list := []string{one()}
	for c.odds(2) && len(list) < 3 {
		list = append(list, one())
	}
	return strings.Join(list, pick(c, " && ", " && ", " && ", " && ", " || "))
}

// rule is a line of a file.
func (c chance) rule(name string) string {
	verb := pick(c, "allow", "allow", "allow", "ask", "ask", "never", "never")
	s := "  - {name: " + name + ", " + verb + ": " + pick(c, "[t]", "[t]", "[t, u]", "[u]", `["*"]`)
	if c.odds(4) {
		s += ", methods: " + pick(c, "[tools/call]", "[prompts/get]", "[prompts/get, tools/call]")
	}
	if c.odds(3) {
		s += ", effects: " + pick(c, "[read]", "[write]", "[read, write]", "[egress, execute, destructive]", "[read, write, egress, execute, destructive]")
	}
	if c.odds(8) {
		s += ", origins: " + pick(c, `["stdio:x"]`, `["stdio:x", "stdio:y"]`)
	}
	if c.odds(8) {
		s += ", agents: " + pick(c, "[bot]", "[bot, agt_2]")
	}
	if c.odds(4) {
		s += ", args: {" + pick(c, "", "a: {max: 2}, ") + pick(c, "a2: {equals: 1, optional: true}", "b: {one_of: [x, y]}", "c: {longest: 2}", "d: {within: docs}", "d: {within: docs, optional: true}", "e: {refs: [main]}", "f: {hosts: [a.example]}") + "}"
	}
	if verb != "allow" && c.odds(5) {
		s += pick(c, ", rate: {over: 2, per: hour}", ", rate: {over: 1, per: hour}", ", new: [to]", ", new: [to, cc]")
	}
	if c.odds(3) {
		s += ", when: '" + c.when(verb) + "'"
	}
	if verb == "allow" && c.odds(8) {
		s += ", results: mark"
	}
	if verb == "ask" && c.odds(6) {
		s += pick(c, ", results: hold", ", assurance: passkey")
	}
	if c.odds(15) {
		s += ", shadow: true"
	}
	return s + "}\n"
}

// facts are those of a call that rules decide.
func (c chance) facts() policy.Facts {
	f := policy.Facts{Profile: policy.Personal, Method: pick(c, "tools/call", "tools/call", "prompts/get", "resources/read"), Tool: pick(c, "t", "t", "u", "v"), Origin: pick(c, "stdio:x", "stdio:y", "stdio:z", ""),
		Agent: "agt_1", AgentName: pick(c, "bot", "cat", ""), Run: "r", Ver: 1, Way: "stdio", At: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Gate: policy.Cleared, Fit: policy.Fits, Context: policy.Clean,
		Tier: pick(c, labels.Green, labels.Green, labels.Yellow), Standing: labels.Attested, Content: labels.Inspected, Channel: true, Effect: labels.Effect(c.IntN(32))}
	f.Counts = policy.Counts{Known: !c.odds(4), Hour: c.Uint64N(4)}
	if c.odds(3) {
		f.Counts.New = []string{pick(c, "to", "cc")}
	}
	if c.odds(6) {
		f.Tool, f.Target = "w", pick(c, "t", "u")
	}
	var list []string
	for _, members := range [][]string{{`"a":1`, `"a":2.5`, `"a":"1"`, `"a":null`}, {`"a2":1`, `"a2":"1"`}, {`"b":"x"`, `"b":"X"`, `"b":["x"]`, `"b":"x && y"`}, {`"c":[1]`, `"c":[]`, `"c":[1,2,3]`, `"c":"xxxx"`, `"c":7`},
		{`"d":"docs/a"`, `"d":"src/a"`, `"d":"docs/../a"`, `"d":["docs/a"]`, `"d":[]`}, {`"e":"main"`, `"e":"feat/x"`, `"e":"refs/heads/main"`}, {`"f":"https://a.example/x"`, `"f":"https://b.example"`, `"f":"a.example"`}} {
		if !c.odds(3) {
			list = append(list, pick(c, members...))
		}
	}
	if f.Args = []byte("{" + strings.Join(list, ",") + "}"); c.odds(30) {
		f.Args = []byte(pick(c, `{"a":1,"a":2}`, `[]`, `{"b":"`+strings.Repeat("x", 9000)+`","a":1}`)) // nobody can read it, or it is large
	}
	return f
}

// TestUnreachableNeverDecides: over random files and calls, a rule that is called
// unreachable, or that a never shadows, never decides, and one that is called redundant
// changes nothing that comes out. Of each there are many.
func TestUnreachableNeverDecides(t *testing.T) {
	found := map[advise.Kind]int{}
	calls := 0
	for i := range 2000 {
		c := chance{rand.New(rand.NewPCG(uint64(i), 11))}
		var lines []string
		for n := range 2 + c.IntN(4) {
			lines = append(lines, c.rule(fmt.Sprintf("r%d", n)))
		}
		text := "guards: {off: [paths, refs, hosts, secrets]}\nrules:\n" + strings.Join(lines, "")
		rules, err := policy.Load([]byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		p := policy.Of(rules)
		for _, x := range advise.Check(rules, nil) {
			if x.Kind != advise.Unreachable && x.Kind != advise.ShadowedAsk && x.Kind != advise.Redundant {
				continue
			}
			found[x.Kind]++
			var rest []string
			for _, l := range lines {
				if !strings.HasPrefix(l, "  - {name: "+x.Rule+",") {
					rest = append(rest, l)
				}
			}
			without := policy.Of(load(t, "guards: {off: [paths, refs, hosts, secrets]}\nrules:\n"+strings.Join(rest, "")+"  - {name: zz, never: [nobody]}\n"))
			beaten := x.Kind == advise.Unreachable || x.Kind == advise.ShadowedAsk && !strings.HasPrefix(x.Text, "The ask")
			opens := x.Kind == advise.Unreachable && strings.HasSuffix(x.Text, "together always beat it.") // several asks stand only beside it
			for range 150 {
				calls++
				f := c.facts()
				d, e := p.Decide(f), without.Decide(f)
				if beaten && d.Rule() == x.Rule && (d.Reason() == policy.RuleAllow || d.Reason() == policy.RuleAsk || d.Reason() == policy.RuleNever) {
					t.Fatalf("%s (%s) decides: %v\n%s%+v\n%s", x.Rule, x.Text, d.Verb(), text, f, f.Args)
				}
				if !opens && (d.Verb() != e.Verb() || d.Results() != e.Results() || d.Assurance() != e.Assurance()) {
					t.Fatalf("%s (%s: %s): %v %v %v, and without it %v %v %v\n%s%+v\n%s", x.Rule, x.Kind, x.Text, d.Verb(), d.Results(), d.Assurance(), e.Verb(), e.Results(), e.Assurance(), text, f, f.Args)
				}
			}
		}
	}
	for _, k := range []advise.Kind{advise.Unreachable, advise.ShadowedAsk, advise.Redundant} {
		if found[k] < 150 {
			t.Errorf("only %d findings of %s", found[k], k)
		}
	}
	t.Log(found, calls)
}
