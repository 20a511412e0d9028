package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
)

// scoped is a decision's scope over arguments.
func scoped(t *testing.T, raw string) *scope {
	t.Helper()
	tree, err := args.Parse([]byte(raw))
	if err != nil {
		t.Fatal(raw, err)
	}
	t.Cleanup(tree.Release)
	s := &scope{}
	s.open(&Facts{}, tree)
	return s
}

func compiled(t *testing.T, text string) *condition {
	t.Helper()
	c, err := compile(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return c
}

// TestMatchesAsCEL: within its bound a pattern says what CEL's says, of every value.
func TestMatchesAsCEL(t *testing.T) {
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(11, 2026))
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	told := map[truth]int{}
	for range 1500 {
		pattern := one(`a`, `^a`, `b$`, `^(a|b)*$`, `^$`, ``, `(?i)A`, `^.{2,3}$`, `\\bb`, `[^a]`, `é|😀`, `(?s)a.b`, `\\d+`)
		x := one(`args.x`, `args.y`, `args.x.y`, `args["x"]`, `args.l[0]`, `tool.name`, `string(args.x)`, `"ab"`, `(args.x + "a")`)
		text := one(`%s.matches(%q)`, `matches(%s, %q)`, `!%s.matches(%q)`, `has(args.x) && %s.matches(%q)`, `args.l.all(e, args.l.exists(f, f.matches("a")) && %s.matches(%q))`,
			`true || %s.matches(%q)`, `false && %s.matches(%q)`)
		text = strings.ReplaceAll(fmt.Sprintf(text, x, pattern), `\\\\`, `\\`)
		if one("e", "") == "e" {
			text = strings.ReplaceAll(text, "args.y", "args.l[0]")
		}
		c, err := compile(text)
		if err != nil {
			continue
		}
		checked, issues := env.Compile(text)
		if issues.Err() != nil {
			t.Fatal(text, issues.Err())
		}
		theirs, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(maxCost))
		if err != nil {
			t.Fatal(text, err)
		}
		counted, err := c.counted()
		if err != nil {
			t.Fatal(text, err)
		}
		for range 8 {
			value := func() string {
				return one(`"a"`, `"ab"`, `""`, `"a\nb"`, `"\u00e9"`, `"😀b"`, `1`, `12.5`, `true`, `null`, `["a"]`, `{"y":"ab"}`, `"b a"`)
			}
			raw := one(`{"x":`+value()+`,"l":[`+value()+`,`+value()+`]}`, `{"y":`+value()+`,"l":["a","b"]}`, `{"l":[]}`)
			want := said(t, theirs, scoped(t, raw))
			for _, p := range []cel.Program{c.quick, counted} {
				if got := said(t, p, scoped(t, raw)); got != want {
					t.Fatalf("%s of %s: %d, CEL says %d", text, raw, got, want)
				}
			}
			told[want]++
		}
	}
	if told[broken] < 500 || told[isTrue] < 500 || told[untrue] < 500 {
		t.Errorf("%v", told)
	}
}

func said(t *testing.T, p cel.Program, s *scope) truth {
	t.Helper()
	s.f.Tool, s.steps = "ab", maxSteps
	out, _, err := p.Eval(s)
	if err != nil {
		return broken
	}
	b, ok := out.Value().(bool)
	if !ok {
		t.Fatalf("%v", out)
	}
	return truthOf(b)
}

// TestMatchesAreBounded: a pattern is counted by bytes and instructions before it is run,
// over all conditions of a decision, and over that it errs. The largest pattern has room
// for a text as large as estimates assume.
func TestMatchesAreBounded(t *testing.T) {
	if maxRegex*(assumedBytes+1) > maxMatch || maxMatch > 1<<23 { // 1<<23 are about 100 ms
		t.Errorf("maxMatch is %d", maxMatch)
	}
	c := compiled(t, `args.x.matches("(.{1,120})(x|y)$")`)
	size := 0
	spent := func(n int) (truth, int) {
		s := scoped(t, `{"x":"`+strings.Repeat("a", n)+`"}`)
		return c.holds(s), s.match.spent
	}
	if got, cost := spent(0); got != untrue || cost < 200 || cost > maxRegex {
		t.Errorf("an empty text: %d, %d", got, cost)
	} else {
		size = cost
	}
	for _, n := range []int{1, 1000, 5000} {
		if got, cost := spent(n); got != untrue || cost != (n+1)*size {
			t.Errorf("%d bytes: %d, cost %d, want %d", n, got, cost, (n+1)*size)
		}
	}
	for _, n := range []int{maxMatch / size, 500_000} { // one more would have room, and these have none
		if got, cost := spent(n); got != broken || cost != 0 {
			t.Errorf("%d bytes: %d, cost %d", n, got, cost)
		}
	}

	// One purse for all conditions, and for the elements of a list.
	s := scoped(t, `{"x":"`+strings.Repeat("a", 2000)+`","l":["`+strings.Repeat("a", 2000)+strings.Repeat(`","`, 40_000)+`"]}`)
	s.match.spent = maxMatch - 2001*size
	if got := c.holds(s); got != untrue || s.match.spent != maxMatch {
		t.Errorf("what just has room: %d, %d", got, s.match.spent)
	}
	if got := c.holds(s); got != untrue || s.match.spent != maxMatch {
		t.Errorf("again, of the same text: %d, %d", got, s.match.spent)
	}
	for _, text := range []string{`args.x.matches("aa")`, `true || args.x.matches("aa")`, `args.x == "" || args.x.matches("aa")`} {
		want := broken
		if strings.HasPrefix(text, "true") {
			want = isTrue
		}
		if got := compiled(t, text).holds(s); got != want {
			t.Errorf("%s without room: %d", text, got)
		}
	}
	s.match = purse{}
	if got := compiled(t, `args.l.all(e, e.matches("^(.{1,120}(x|y)?)?$") || true)`).holds(s); got != broken || s.match.spent > maxMatch {
		t.Errorf("a list: %d, %d", got, s.match.spent)
	}
}

// TestRecordingTakesNothing: rules that only record have a purse of their own.
func TestRecordingTakesNothing(t *testing.T) {
	heavy := func(n int) string { return fmt.Sprintf(`args.x.matches("(.{1,120})(x|y)%d?$")`, n) }
	shadow := "rules:\n"
	for i := range 9 { // much more than a purse
		shadow += fmt.Sprintf("- {name: a%d, never: [t], shadow: true, when: '%s'}\n", i, heavy(i))
	}
	org, err := Load([]byte(shadow + "- {name: z, allow: [t]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	origin, err := Load([]byte("rules:\n- {name: o, allow: [t], when: '!" + heavy(100) + "'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	light, err := Load([]byte("shadow: true\nrules:\n- {name: b, never: [t], when: '" + heavy(200) + "'}\n- {name: z, allow: [t]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	only, err := Load([]byte("shadow: true\n" + shadow + "- {name: z, allow: [t]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Facts{Profile: Personal, Tier: labels.Green, Standing: labels.Attested, Content: labels.Inspected, Effect: labels.Write, Context: Clean, Method: "tools/call", Tool: "t", Gate: Cleared, Fit: Fits, Channel: true, Args: []byte(`{"x":"` + strings.Repeat("a", 20_000) + `"}`)}
	for _, l := range []Layers{{Organisation: org, Origin: origin}, {Organisation: only, Origin: origin}} {
		if d := l.Policy().Decide(f); d.Verb() != Allow {
			t.Errorf("%s by %s", d.Reason(), d.Rule())
		}
		x := Explain(l.Policy(), f)
		for _, says := range x.Layers {
			if says.Layer == "origin" && says.Decision.Verb() != Allow {
				t.Errorf("explained: %s by %s", says.Decision.Reason(), says.Decision.Rule())
			}
		}
	}
	// And what binds takes nothing from them.
	for _, x := range (Layers{Organisation: light, Origin: origin}).Policy().Decide(f).Shadow() {
		if x.Verb != Allow {
			t.Errorf("recorded: %s by %s", x.Reason, x.Rule)
		}
	}
}
