package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// good are facts that nothing but rules stands against.
func good() policy.Facts {
	return policy.Facts{
		Profile: policy.Personal, Method: "tools/call", Tool: "t", Origin: "stdio:x", Tier: labels.Green, Standing: labels.Attested, Content: labels.Inspected,
		Effect: labels.Write, Gate: policy.Cleared, Context: policy.Clean, Channel: true, Agent: "agt_1", AgentName: "bot", Run: "r", Ver: 3, Way: "stdio",
		At: time.Date(2026, 11, 30, 15, 4, 5, 0, time.UTC), Fit: policy.Fits, Counts: policy.Counts{Known: true}, Args: []byte(`{}`),
	}
}

func when(t *testing.T, verb, text string) policy.Policy {
	t.Helper()
	file := fmt.Sprintf("rules:\n  - name: r\n    %s: [t]\n    when: |\n      %s\n", verb, strings.ReplaceAll(text, "\n", "\n      "))
	if verb == "ask" { // which only takes where it fires for an error
		file += "  - {name: s, allow: [t]}\n"
	}
	r, err := policy.Load([]byte(file))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return policy.Of(r)
}

// TestWhen: conditions over the arguments say what they say, in every verb, and one
// that errs opens nothing (RULES.md 30).
func TestWhen(t *testing.T) {
	const yes, no, errs = "true", "false", "error"
	for _, c := range []struct{ text, args, want string }{
		{`args.a == "x"`, `{"a":"x"}`, yes},
		{`args.a == "x"`, `{"a":"y"}`, no},
		{`args.a == "x"`, `{}`, errs},
		{`args.a == "x"`, `{"A":"x"}`, errs},
		{`has(args.a) && args.a == "x"`, `{}`, no},
		{`args["a b"] == "x"`, `{"a b":"x"}`, yes},
		{`args.a`, `{"a":true}`, yes},
		{`args.a`, `{"a":"true"}`, errs},
		{`args.a`, `{"a":{"b":1}}`, errs},
		{`args.a`, `{"a":null}`, errs},
		{`args.a == null`, `{"a":null}`, yes},
		{`args.a.b.c == 1`, `{"a":{"b":{"c":1}}}`, yes},
		{`args.a.b.c == 1`, `{"a":{"b":[]}}`, errs},
		{`args.a[1] == "y"`, `{"a":["x","y"]}`, yes},
		{`args.a[2] == "y"`, `{"a":["x","y"]}`, errs},
		{`"y" in args.a`, `{"a":["x","y"]}`, yes},
		{`"z" in args.a`, `{"a":["x","y"]}`, no},
		{`"b" in args.a`, `{"a":{"b":1}}`, yes},
		{`args.a in ["x", "y"]`, `{"a":"y"}`, yes},
		{`args.a in ["x", "y"]`, `{"a":"z"}`, no},
		{`args.a == ["x", "y"]`, `{"a":["x","y"]}`, yes},
		{`["x", "y"] == args.a`, `{"a":["x","y"]}`, yes},
		{`args.a == args.b`, `{"a":{"x":[1,{"y":2}]},"b":{"x":[1,{"y":2}]}}`, yes},
		{`args.a == args.b`, `{"a":{"x":[1,{"y":2}]},"b":{"x":[1,{"y":3}]}}`, no},
		{`args.a.all(x, x.startsWith("docs/"))`, `{"a":["docs/a","docs/b"]}`, yes},
		{`args.a.all(x, x.startsWith("docs/"))`, `{"a":["docs/a","src/b"]}`, no},
		{`args.a.all(x, x.startsWith("docs/"))`, `{"a":["docs/a",1]}`, errs},
		{`args.a.exists(x, x.path == "b")`, `{"a":[{"path":"a"},{"path":"b"}]}`, yes},
		{`args.a.exists_one(x, x == 1)`, `{"a":[1,1]}`, no},
		{`args.all(k, k != "x")`, `{"a":1,"b":2}`, errs},
		{`args.a.all(x, x.startsWith("docs/"))`, `{"a":{"docs/a":"src/b"}}`, errs},
		{`args.a.exists(x, x == "b")`, `{"a":{"0":"b"}}`, errs},
		{`args.a.exists_one(x, x == "b")`, `{"a":{"b":1}}`, errs},
		{`args.a.all(x, x == "a")`, `{"a":"aa"}`, errs},
		{`"b" in args.a && size(args.a) == 1 && args.a.b == 1 && has(args.a.b)`, `{"a":{"b":1}}`, yes},
		{`size(args.a) == 3`, `{"a":[1,2,3]}`, yes},
		{`size(args.a) == 3`, `{"a":"äöü"}`, yes},
		{`args.a.matches("^[a-z]+$")`, `{"a":"abc"}`, yes},
		{`args.a.contains("b") && args.a.endsWith("c")`, `{"a":"abc"}`, yes},
		{`int(args.a) + 1 == 3`, `{"a":2}`, yes},
		{`int(args.a) + 1 == 3`, `{"a":"2"}`, yes},
		{`int(args.a) + 1 == 3`, `{"a":2.5}`, errs},
		{`int(args.a) + 1 > 0`, `{"a":9223372036854775807}`, errs},
		{`string(args.a) == "9007199254740993"`, `{"a":9007199254740993}`, yes},
		{`args.a > 1 || args.b == "x"`, `{"b":"x"}`, yes},
		{`args.a > 1 && args.b == "x"`, `{"b":"y"}`, no},
		{`within(args.p, "docs")`, `{"p":"docs/a.md"}`, yes},
		{`within(args.p, "docs")`, `{"p":"src/a.go"}`, no},
		{`within(args.p, "docs")`, `{"p":"docs/../src/a.go"}`, errs},
		{`within(args.p, "docs")`, `{"p":"docs%2f..%2fsrc"}`, no},
		{`within(args.p, ["docs", "notes"])`, `{"p":"notes/a.md"}`, yes},
		{`within(args.p, ["docs", "notes"])`, `{"p":"src/a.md"}`, no},
		{`within(args.p, "docs")`, `{"p":["docs/a"]}`, errs},
		{`within(args.p, "docs")`, `{}`, errs},
		{`refers(args.b, "main")`, `{"b":"main"}`, yes},
		{`refers(args.b, "main")`, `{"b":"feat/x"}`, no},
		{`refers(args.b, "main")`, `{"b":"maintenance"}`, no},
		{`refers(args.b, ["main", "release/*"])`, `{"b":"release/2.4"}`, yes},
		{`refers(args.b, ["main", "release/*"])`, `{"b":"HEAD"}`, errs},
		{`hosted(args.u, "example.com")`, `{"u":"https://example.com/a"}`, yes},
		{`hosted(args.u, "example.com")`, `{"u":"https://example.org/a"}`, no},
		{`hosted(args.u, "example.com")`, `{"u":"example.com@evil.example"}`, errs},
		{`hosted(args.u, ["example.com", "*.example.org"])`, `{"u":"https://x.example.org/"}`, yes},
		{`args.l.all(x, within(x, "docs"))`, `{"l":["docs/a","docs/b"]}`, yes},
		{`agent.name == "bot" && agent.id == "agt_1" && agent.profile == "personal"`, `{}`, yes},
		{`tool.name == "t" && tool.method == "tools/call" && tool.ver == 3 && tool.target == ""`, `{}`, yes},
		{`origin == "stdio:x" && channel.way == "stdio"`, `{}`, yes},
		{`time >= timestamp("2026-11-30T15:04:05Z") && time.getHours() == 15 && time.getDayOfWeek() == 1`, `{}`, yes},
		{`time - timestamp("2026-11-30T14:04:05Z") == duration("1h")`, `{}`, yes},
	} {
		for verb, rest := range map[string]string{"allow": "", "ask": "", "never": ""} {
			f := good()
			f.Args = []byte(c.args)
			got := when(t, verb, c.text+rest).Decide(f)
			fires := got.Rule() == "r"
			if want := c.want == yes || c.want == errs && verb != "allow"; fires != want {
				t.Errorf("%s %s of %s, %s: %v %s", verb, c.text, c.args, c.want, got.Verb(), got.Reason())
			}
		}
	}
}

// TestExactNumbers: no number of the arguments is compared as another one.
func TestExactNumbers(t *testing.T) {
	for _, c := range []struct {
		text, number string
		want         string
	}{
		{`args.n <= 1915883588174806058`, "1915883588174806058", "yes"},
		{`args.n <= 1915883588174806058`, "1915883588174806059", "no"},
		{`args.n <= 1915883588174806057`, "1915883588174806058", "no"},
		{`args.n == 9007199254740992`, "9007199254740993", "no"},
		{`args.n == 9007199254740993`, "9007199254740993", "yes"},
		{`args.n in [9007199254740992]`, "9007199254740993", "no"},
		{`args.n in [9007199254740993, 1]`, "9007199254740993", "yes"},
		{`args.n in [1, 2]`, "2.0", "yes"},
		{`args.n == 9007199254740993`, "9007199254740993.0", "yes"},
		{`args.n == 9007199254740993`, "9.007199254740993e15", "yes"},
		{`args.n == 9007199254740992`, "9.007199254740993e15", "no"},
		{`args.n == 9223372036854775807`, "9223372036854775807", "yes"},
		{`args.n > 9223372036854775807`, "9223372036854775808", "yes"},
		{`args.n == 18446744073709551615u`, "18446744073709551615", "yes"},
		{`args.n == 18446744073709551615u`, "18446744073709551614", "no"},
		{`args.n > 0`, "18446744073709551616", "error"},
		{`args.n < 0`, "-9223372036854775809", "error"},
		{`args.n == -9223372036854775808`, "-9223372036854775808", "yes"},
		{`args.n > 0`, "1e400", "error"},
		{`args.n > 0`, "1e99999999", "error"},
		{`args.n < 1`, "1e-400", "error"},
		{`args.n < 1`, "1e-99999999999999999999", "error"},
		{`args.n == 0`, "0e99999999999999999999", "error"},
		{`args.n == 0`, "-0", "yes"},
		{`args.n == 0`, "0.000", "yes"},
		{`args.n <= 0.1`, "0.1", "yes"},
		{`args.n <= 0.1`, "0.10000000000000000001", "error"},
		{`args.n <= 0.1`, "0.11", "no"},
		{`args.n <= 19.99`, "19.99", "yes"},
		{`args.n <= 19.99`, "20", "no"},
		{`args.n <= 20`, "19.99", "yes"},
		{`args.n == 1`, "1.0", "yes"},
		{`args.n == 1000`, "1e3", "yes"},
		{`args.n == 1000`, "1.0E+3", "yes"},
		{`args.n >= 1.5`, "1.5e0", "yes"},
		{`args.n < 9007199254740993`, "9007199254740992.5", "error"},
		{`args.n > 5`, `"NaN"`, "error"},
		{`args.n > 5`, `"6"`, "error"},
		{`args.n == 6`, `"6"`, "error"},
		{`args.n > 5`, `true`, "error"},
		{`args.n != -1.5`, `-1.5`, "no"},
	} {
		for _, verb := range []string{"allow", "never"} {
			f := good()
			f.Args = []byte(`{"n":` + c.number + `}`)
			fires := when(t, verb, c.text).Decide(f).Rule() == "r"
			if want := c.want == "yes" || c.want == "error" && verb == "never"; fires != want {
				t.Errorf("%s %s of %s: %v, want %s", verb, c.text, c.number, fires, c.want)
			}
		}
	}
}

// TestUnknownFacts: what nobody found out opens nothing and closes what it can.
func TestUnknownFacts(t *testing.T) {
	for text, forget := range map[string]func(*policy.Facts){
		`agent.id != "x"`:              func(f *policy.Facts) { f.Agent = "" },
		`agent.name != "x"`:            func(f *policy.Facts) { f.AgentName = "" },
		`origin != "x"`:                func(f *policy.Facts) { f.Origin = "" },
		`channel.way != "x"`:           func(f *policy.Facts) { f.Way = "" },
		`tool.ver != 99`:               func(f *policy.Facts) { f.Ver = 0 },
		`time.getFullYear() != 1`:      func(f *policy.Facts) { f.At = time.Time{} },
		`args.x != 1 || args.y != "x"`: func(f *policy.Facts) { f.Args = []byte(`{"z":1}`) },
	} {
		f := good()
		f.Args = []byte(`{"x":2,"y":"y"}`)
		if d := when(t, "allow", text).Decide(f); d.Verb() != policy.Allow {
			t.Errorf("%s: %v", text, d.Reason())
		}
		forget(&f)
		if d := when(t, "allow", text).Decide(f); d.Verb() != policy.Deny {
			t.Errorf("%s opens without the fact", text)
		}
		if d := when(t, "never", text).Decide(f); d.Reason() != policy.RuleNever {
			t.Errorf("%s does not close without the fact", text)
		}
	}
}

// TestConditionErrors: what cannot be judged exactly, boundedly and in one direction is
// refused when it is loaded, with its place.
func TestConditionErrors(t *testing.T) {
	deep := strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000)
	for name, c := range map[string]struct{ verb, text string }{
		"empty":                   {"allow", `" "`},
		"no CEL":                  {"allow", `args.a ==`},
		"unknown variable":        {"allow", `arg.a == 1`},
		"unknown member":          {"allow", `agent.nickname == "x"`},
		"type":                    {"allow", `agent.name > 5`},
		"no bool":                 {"allow", `agent.name`},
		"an int":                  {"allow", `size(args.a)`},
		"double":                  {"allow", `double(args.a) > 1.0`},
		"bytes":                   {"allow", `bytes(args.a) == b"x"`},
		"type()":                  {"allow", `type(args.a) == int`},
		"map":                     {"allow", `args.a.map(x, x) == []`},
		"filter":                  {"allow", `args.a.filter(x, x > 1) == []`},
		"literal map":             {"allow", `args.a == {"x": 1}`},
		"arithmetic":              {"allow", `args.a + 1 > 2`},
		"arithmetic of doubles":   {"allow", `1.5 + 1.5 == 3.0`},
		"minus":                   {"allow", `-args.a > 2`},
		"large double":            {"allow", `args.a <= 9007199254740992.0`},
		"long double":             {"allow", `args.a <= 0.10000000000000000001`},
		"large int":               {"allow", `args.a <= 9223372036854775808`},
		"pattern of an argument":  {"allow", `"x".matches(args.a)`},
		"bad pattern":             {"allow", `args.a.matches("(")`},
		"large pattern":           {"allow", `args.a.matches("(a{1000}){1000}")`},
		"look-ahead":              {"allow", `args.a.matches("(?=a)")`},
		"zone of time":            {"allow", `time.getHours("Europe/Berlin") > 8`},
		"bad timestamp":           {"allow", `time > timestamp("yesterday")`},
		"bad duration":            {"allow", `time - time > duration("1 day")`},
		"three loops":             {"allow", `args.a.all(x, x.all(y, y.all(z, z == 1)))`},
		"own name in a loop":      {"allow", `args.a.all(agent, agent == 1)`},
		"long":                    {"allow", "args.a == 1" + strings.Repeat(" || args.a == 1", 400)},
		"deep":                    {"allow", deep},
		"deep list":               {"allow", strings.Repeat("[", 300) + strings.Repeat("]", 300) + " == args.a"},
		"folder of an argument":   {"allow", `within(args.p, args.q)`},
		"folder of several":       {"allow", `within(args.p, ["docs", args.q])`},
		"unplain folder":          {"allow", `within(args.p, "docs/../x")`},
		"no pattern of refs":      {"allow", `refers(args.p, "a..b")`},
		"no host":                 {"allow", `hosted(args.p, "exa mple")`},
		"hosted by label":         {"never", `hosted(label.tier, "green")`},
		"no such tier":            {"allow", `label.tier == "gren"`},
		"worse label opens":       {"allow", `label.tier != "green"`},
		"middle label opens":      {"allow", `label.tier == "yellow"`},
		"better label closes":     {"never", `label.tier == "green"`},
		"worse standing opens":    {"allow", `label.standing in ["vetoed", "unknown"]`},
		"context opens":           {"allow", `provenance.context == "worst"`},
		"context closes":          {"ask", `provenance.context in ["clean", "own"]`},
		"effect opens":            {"allow", `effect.read`},
		"no effect closes":        {"never", `!effect.write`},
		"count opens":             {"allow", `counts.hour > 3`},
		"few close":               {"never", `counts.hour < 3`},
		"equal count":             {"never", `counts.hour == 3`},
		"new opens":               {"allow", `"to" in counts.new`},
		"new by an argument":      {"never", `args.a in counts.new`},
		"new in a loop":           {"never", `counts.new.exists(n, n == "to")`},
		"known closes":            {"never", `!("to" in counts.new)`},
		"both ways":               {"never", `effect.write || !effect.read`},
		"choice by effect":        {"never", `effect.write ? args.a == 1 : args.a == 2`},
		"exactly one":             {"never", `args.a.exists_one(x, x == 1 && effect.write)`},
		"compared effects":        {"never", `effect.write == effect.read`},
		"label as text":           {"never", `label.tier.startsWith("g")`},
		"label against argument":  {"never", `label.tier == args.a`},
		"counts together":         {"never", `counts.hour + counts.day > 7`},
		"characters without form": {"never", "args.a == \"\u200b\""},
	} {
		text := "rules:\n  - name: r\n    " + c.verb + ": [t]\n    when: |\n      " + c.text + "\n"
		if name == "empty" {
			text = "rules:\n  - {name: r, allow: [t], when: \" \"}\n"
		}
		r, err := policy.Load([]byte(text))
		if err == nil {
			t.Errorf("%s: it is taken", name)
			continue
		}
		if r != nil || !strings.Contains(err.Error(), "rule r: when") || len(err.Error()) > 320 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTrendTaken: the directions that are taken are.
func TestTrendTaken(t *testing.T) {
	for _, c := range []struct{ verb, text string }{
		{"allow", `label.tier == "green"`}, {"allow", `label.tier != "red"`}, {"allow", `label.standing in ["pinned", "attested"]`}, {"allow", `"clean" == provenance.context`},
		{"allow", `!effect.write && !(effect.egress || effect.destructive)`}, {"allow", `counts.hour < 3 && 5 > counts.day`}, {"allow", `!("to" in counts.new)`},
		{"never", `label.tier != "green"`}, {"never", `label.content in ["violated", "suspect"]`}, {"never", `provenance.context == "worst"`}, {"ask", `effect.write && counts.minute >= 10`},
		{"ask", `"to" in counts.new`}, {"ask", `args.a == 1 ? effect.write : effect.egress`}, {"ask", `args.a.exists(x, x == 1 && effect.write)`}, {"ask", `3 < counts.run`},
	} {
		when(t, c.verb, c.text)
	}
}

// TestCost: what costs too much counts as true in a never and as false in an allow; what
// is large and cheap does not.
func TestCost(t *testing.T) {
	list := func(n int, elem string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(elem+",", n), ",") + "]"
	}
	nested := strings.Repeat("[", 60) + list(300, "1") + strings.Repeat("]", 60)
	object := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":1,`, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	for _, c := range []struct{ what, text, args, want string }{
		{"few pairs", `args.a.all(x, args.b.all(y, x < y))`, `{"a":` + list(20, "1") + `,"b":` + list(20, "2") + `}`, "true"},
		{"many pairs", `args.a.all(x, args.b.all(y, x < y))`, `{"a":` + list(2000, "1") + `,"b":` + list(2000, "2") + `}`, "error"},
		{"many pairs of small arguments", `args.a.all(x, args.b.all(y, x < y))`, `{"a":` + list(400, "1") + `,"b":` + list(400, "2") + `}`, "error"},
		{"many elements", `args.a.all(x, x == 1)`, `{"a":` + list(5000, "1") + `}`, "true"},
		{"too many elements", `args.a.all(x, x == 1)`, `{"a":` + list(200_000, "1") + `}`, "error"},
		{"deep comparisons", `args.a.all(x, x == args.b)`, `{"a":` + list(600, nested) + `,"b":` + nested + `}`, "error"},
		{"many members", `args.a.k1 == 1 && size(args.a) == 3000`, `{"a":` + object(3000) + `}`, "true"},
		{"long text", `args.a.contains("y")`, `{"a":"` + strings.Repeat("x", 100_000) + `"}`, "false"},
		{"much longer text", `args.a.contains("yyyyyyyyyy")`, `{"a":"` + strings.Repeat("x", 3_000_000) + `"}`, "error"},
		{"texts that are long together", `args.a.all(x, x.matches("^x+$"))`, `{"a":` + list(10, `"`+strings.Repeat("x", 60_000)+`"`) + `}`, "error"},
		{"pattern over long text", `args.a.matches("(x+x+)+y")`, `{"a":"` + strings.Repeat("x", 5000) + `"}`, "false"},
	} {
		for _, verb := range []string{"allow", "never"} {
			f := good()
			f.Args = []byte(c.args)
			d := when(t, verb, c.text).Decide(f)
			if want := c.want == "true" || c.want == "error" && verb == "never"; want != (d.Rule() == "r") {
				t.Errorf("%s, %s: %s by %s, want %s", c.what, verb, d.Reason(), d.Rule(), c.want)
			}
		}
	}
}

// TestOtherTypes: a value of another type than what it is compared with may be taken for
// anything by a server, so that no comparison tells it from what a rule means.
func TestOtherTypes(t *testing.T) {
	const yes, no, errs = "true", "false", "error"
	for _, c := range []struct{ text, args, want string }{
		{`has(args.force) && args.force == true`, `{"force":true}`, yes},
		{`has(args.force) && args.force == true`, `{"force":false}`, no},
		{`has(args.force) && args.force == true`, `{"force":"true"}`, errs},
		{`has(args.force) && args.force == true`, `{"force":1}`, errs},
		{`has(args.force) && args.force == true`, `{"force":[true]}`, errs},
		{`has(args.force) && args.force == true`, `{"force":null}`, errs},
		{`true == args.force`, `{"force":"true"}`, errs},
		{`args.mode != "force"`, `{"mode":"x"}`, yes},
		{`args.mode != "force"`, `{"mode":"force"}`, no},
		{`args.mode != "force"`, `{"mode":["force"]}`, errs},
		{`args.mode != "force"`, `{"mode":1}`, errs},
		{`args.mode != "force"`, `{"mode":null}`, errs},
		{`args.mode != "force"`, `{"mode":{"a":1}}`, errs},
		{`!(args.mode == "force")`, `{"mode":["force"]}`, errs},
		{`args.amount != 500`, `{"amount":"500"}`, errs},
		{`args.amount != 500`, `{"amount":500.0}`, no},
		{`args.amount != 500`, `{"amount":500.5}`, yes},
		{`args.amount == 18446744073709551615u`, `{"amount":-1}`, no},
		{`args.x in ["5", "6"]`, `{"x":5}`, errs},
		{`args.x in [5, 6]`, `{"x":"5"}`, errs},
		{`args.x in [5, 6]`, `{"x":7.5}`, no},
		{`args.x in [5, "6"]`, `{"x":5}`, yes},
		{`args.x in [5, "6"]`, `{"x":7}`, errs},
		{`args.x in ["a", null]`, `{"x":null}`, yes},
		{`args.x in ["a", null]`, `{"x":"b"}`, no},
		{`args.x in ["a", "b"]`, `{"x":null}`, errs},
		{`args.x in []`, `{"x":1}`, no},
		{`!(args.x in ["a", "b"])`, `{"x":["a"]}`, errs},
		{`"a" in args.x`, `{"x":["b","a",1]}`, yes},
		{`"a" in args.x`, `{"x":["b",1]}`, errs},
		{`"a" in args.x`, `{"x":["b",null]}`, errs},
		{`"a" in args.x`, `{"x":[["a"]]}`, errs},
		{`"a" in args.x`, `{"x":"a"}`, errs},
		{`"a" in args.x`, `{"x":5}`, errs},
		{`1 in args.x`, `{"x":{"1":2}}`, errs},
		{`args.x in args.y`, `{"x":1,"y":[2,1]}`, yes},
		{`args.x == null`, `{"x":null}`, yes},
		{`args.x == null`, `{"x":"null"}`, no},
		{`null != args.x`, `{"x":[null]}`, yes},
		{`args.x == args.y`, `{"x":1,"y":"1"}`, errs},
		{`args.x == args.y`, `{"x":null,"y":null}`, yes},
		{`args.x == args.y`, `{"x":null,"y":1}`, errs},
		{`args.x == ["a", 1]`, `{"x":["a","1"]}`, errs},
		{`args.x == ["a", 1]`, `{"x":["b","1"]}`, no},
		{`args.x == ["a", 1]`, `{"x":["a"]}`, no},
		{`args.x == args.y`, `{"x":{"a":1},"y":{"a":"1"}}`, errs},
		{`args.x == args.y`, `{"x":{"a":1,"b":2},"y":{"a":"1","b":3}}`, no},
		{`args.x == args.y`, `{"x":{"a":1},"y":{"b":1}}`, no},
		{`args.x.startsWith("a")`, `{"x":["a"]}`, errs},
		{`args.x.contains("a")`, `{"x":["a"]}`, errs},
		{`args.x.contains("a")`, `{"x":null}`, errs},
		{`args.x.matches("a")`, `{"x":1}`, errs},
		{`size(args.x) < 3`, `{"x":1}`, errs},
		{`size(args.x) < 3`, `{"x":null}`, errs},
		{`args.x < 3`, `{"x":"2"}`, errs},
		{`args.x < "3"`, `{"x":2}`, errs},
		{`args.x < 3`, `{"x":null}`, errs},
		{`args.x ? true : false`, `{"x":"true"}`, errs},
		{`!args.x`, `{"x":"false"}`, errs},
		{`!args.x`, `{"x":0}`, errs},
		{`args.x && true`, `{"x":"true"}`, errs},
		{`args.x || false`, `{"x":1}`, errs},
		{`args.l.all(e, e != "main")`, `{"l":["a","b"]}`, yes},
		{`args.l.all(e, e != "main")`, `{"l":["a",["main"]]}`, errs},
		{`args.l.exists(e, e == "main")`, `{"l":["a",["main"]]}`, errs},
		{`args.l.exists_one(e, e == "main")`, `{"l":["main",["main"]]}`, errs},
		{`args.l.all(e, e != "main")`, `{"l":"main"}`, errs},
		{`args.l.all(e, e != "main")`, `{"l":{"main":1}}`, errs},
		{`string(args.x) == "5"`, `{"x":5}`, yes},
		{`string(args.x) == "5"`, `{"x":[5]}`, errs},
		{`int(args.x) == 5`, `{"x":"5"}`, yes},
		{`int(args.x) == 5`, `{"x":[5]}`, errs},
		{`args["x"] == "a"`, `{"x":1}`, errs},
		{`args.x[0] == "a"`, `{"x":"a"}`, errs},
	} {
		for _, pad := range []string{"", strings.Repeat(" ", 10_000)} { // uncounted and counted
			for _, verb := range []string{"allow", "ask", "never"} {
				f := good()
				f.Args = []byte(c.args + pad)
				got := when(t, verb, c.text).Decide(f)
				if want := c.want == yes || c.want == errs && verb != "allow"; want != (got.Rule() == "r") {
					t.Errorf("%s %s of %s, %s: %v %s", verb, c.text, c.args, c.want, got.Verb(), got.Reason())
				}
			}
		}
	}
}
