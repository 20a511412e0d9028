package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"cel.dev/cel-go/common/types"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
)

var plainLeaves = []string{
	`args.a == "x"`, `"x" != args.a`, `args.a == ""`, `args["a"] == "main"`, `args.a.b == "x"`, `args.a == true`, `false != args.a`, `args.a == null`, `null != args.a`,
	`args.a`, `args.a.b`, `has(args.a)`, `has(args.a.b)`, `args.a == 1`, `args.a != 9007199254740993`, `args.a < 2`, `args.a <= -1`, `args.a > 0`, `args.a >= 100`,
	`size(args.a) == 2`, `size(args.a) < 1`, `args.a.size() > 1`, `size(args.a.b) == 0`, `args.a.startsWith("x")`, `args.a.endsWith("n")`, `args.a.contains("ai")`,
	`args.a in ["x", "main"]`, `args.a in ["x", 1]`, `agent.name == "bot"`, `agent.profile != "watch"`, `agent.id in ["p:1", "p:2"]`, `origin.startsWith("https://")`,
	`tool.target == ""`, `effect.write`, `effect.read == true`, `effect.write != false`, `label.tier == "red"`, `label.content in ["violated", "suspect"]`, `provenance.context != "clean"`,
	`channel.way == "http"`, `tool.ver > 1`, `counts.run > 1`, `true`, `false`, `args.a == args.b`, `args.b.exists(e, e == "x")`, `args.b == ["x"]`, `args.b.all(e, has(e.c))`,
	`args.missing == "x"`, `args.c == "x"`, `args.a == 1.5`, `args.a.matches("^x")`, `string(args.a) == "1"`, `"x" in args.b`, `args.a == "é"`, `size(args.c) == 1`,
}

func plainExpr(c *rand.Rand, depth int) string {
	if depth == 0 || c.IntN(4) == 0 {
		return plainLeaves[c.IntN(len(plainLeaves))]
	}
	a, b := plainExpr(c, depth-1), plainExpr(c, depth-1)
	return []string{"(" + a + " && " + b + ")", "(" + a + " || " + b + ")", "!(" + a + ")", "((" + a + ") ? " + b + " : " + a + ")"}[c.IntN(4)]
}

func plainArgs(c *rand.Rand) string {
	values := []string{`"x"`, `"main"`, `""`, `"é"`, `"\u00e9x"`, `true`, `false`, `null`, `0`, `1`, `-1`, `1.0`, `1e2`, `-0`, `1.5`, `9007199254740993`, `99999999999999999999`, `0.1000000000000000055`,
		`{}`, `{"b":"x"}`, `{"b":null}`, `{"b":true}`, `{"b":[]}`, `[]`, `["x"]`, `["x","y"]`, `[{"c":1}]`, `{"a":1,"b":{"b":2}}`}
	var list []string
	for _, name := range []string{"a", "b", "c"} {
		if c.IntN(5) > 0 {
			list = append(list, fmt.Sprintf("%q:%s", name, values[c.IntN(len(values))]))
		}
	}
	if c.IntN(4) == 0 { // many members are found by a table
		for i := range 20 {
			list = append(list, fmt.Sprintf(`"m%d":%d`, i, i))
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}

// TestPlainIsCEL: whatever a plain condition says, CEL's program says.
func TestPlainIsCEL(t *testing.T) {
	c := rand.New(rand.NewPCG(7, 7))
	told, left := map[truth]int{}, 0
	for range 4000 {
		text := plainExpr(c, c.IntN(4))
		cond, err := compile(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if cond.plain == nil {
			left++
			continue
		}
		for range 25 {
			raw := plainArgs(c)
			f := &Facts{Agent: []credentials.AgentID{"", "p:1", "p:3"}[c.IntN(3)], AgentName: []string{"", "bot"}[c.IntN(2)], Profile: []Profile{Watch, Strict}[c.IntN(2)], Origin: "https://a.example",
				Tool: "t", Method: "tools/call", Way: []string{"", "http"}[c.IntN(2)], Effect: labels.Effect(c.IntN(32)), Standing: labels.Standing(c.IntN(5)), Content: labels.Content(c.IntN(6)), Context: Context(c.IntN(3))}
			tree, err := args.Parse([]byte(raw))
			if err != nil {
				t.Fatal(raw, err)
			}
			if c.IntN(50) == 0 {
				tree.Release()
				tree = nil
			}
			var s scope
			s.open(f, tree)
			got := cond.plain(&s)
			if told[got]++; got == elsewhere {
				continue
			}
			s.steps = maxSteps
			want := broken
			if out, _, err := cond.quick.Eval(&s); err == nil && out.Type() == types.BoolType {
				want = truthOf(out == types.True)
			}
			if got != want {
				t.Fatalf("%s\nof %s\nof %+v\nplain says %d, CEL %d", text, raw, f, got, want)
			}
			if tree != nil {
				tree.Release()
			}
		}
	}
	if told[broken] < 1000 || told[isTrue] < 1000 || told[untrue] < 1000 || told[elsewhere] == 0 || left == 0 || left > 3000 {
		t.Errorf("%v, %d have no plain form", told, left)
	}
}

// TestPlainOfMany: a long condition is the program's.
func TestPlainOfMany(t *testing.T) {
	for n, want := range map[int]bool{1: true, maxPlain: true, maxPlain + 1: false} {
		c, err := compile(strings.TrimSuffix(strings.Repeat(`args.a == "x" || `, n), " || "))
		if err != nil || (c.plain != nil) != want {
			t.Errorf("%d: %v", n, err)
		}
	}
}
