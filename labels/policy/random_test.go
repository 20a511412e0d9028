package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// A chance makes rules and facts at random, from a seed.
type chance struct{ *rand.Rand }

func chanceOf(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 5))} }

func pick[T any](c chance, list ...T) T { return list[c.IntN(len(list))] }

func (c chance) odds(n int) bool { return c.IntN(n) == 0 }

// free is a condition on what has no order, of which many err for many arguments.
func (c chance) free(depth int) string {
	if depth > 0 && c.odds(2) {
		a, b := c.free(depth-1), c.free(depth-1)
		return pick(c, "("+a+" && "+b+")", "("+a+" || "+b+")", "!("+a+")", "("+a+" ? "+b+" : "+a+")")
	}
	return pick(c,
		`args.a == 1`, `args.a > 0`, `args.b == "x"`, `args.b.startsWith("x")`, `has(args.a)`, `args.c.all(e, e == 1)`, `args.c.exists(e, e.d > 1)`, `size(args.c) < 2`,
		`args.b in ["x", "y"]`, `args.a in [1, 2.5]`, `args.a`, `args.c == [1]`, `"x" in args.c`, `agent.name == "bot"`, `origin != "stdio:x"`, `tool.ver > 1`,
		`time > timestamp("2026-11-30T00:00:00Z")`, `channel.way == "http"`, `int(args.a) % 2 == 0`, `args.b.matches("^x+$")`, `args.a <= 9007199254740993`, `true`, `false`)
}

// moving is a condition that only rises as things get worse.
func (c chance) moving(depth int) string {
	if depth > 0 && c.odds(2) {
		a, b := c.moving(depth-1), c.moving(depth-1)
		return pick(c, "("+a+" && "+b+")", "("+a+" || "+b+")", "("+c.free(0)+" ? "+a+" : "+b+")", "args.c.exists(e, e == 1 && "+a+")", "args.c.all(e, e == 1 || "+a+")")
	}
	if c.odds(3) {
		return c.free(1)
	}
	return pick(c,
		`effect.write`, `effect.egress`, `effect.destructive`, `label.tier != "green"`, `label.tier in ["red", "yellow"]`, `label.standing in ["vetoed", "unknown"]`,
		`label.content != "consistent"`, `label.content in ["violated", "suspect", "uninspected"]`, `provenance.context == "worst"`, `provenance.context != "clean"`,
		`counts.run > 2`, `counts.hour >= 3`, `2 < counts.minute`, `counts.day > args.a`, `"to" in counts.new`)
}

// when is a condition that a rule of that verb may have.
func (c chance) when(verb string) string {
	for {
		text := c.moving(2)
		if verb == "allow" && c.odds(2) {
			text = c.free(2)
		} else if verb == "allow" {
			text = "!(" + text + ")"
		}
		if strings.Count(text, "args.c.") <= 2 { // no more loops than are taken
			return text
		}
	}
}

// A line is a rule, in parts.
type line struct {
	name, verb, rest, when string
}

func (l line) text(when string) string {
	if when != "" {
		when = ", when: '" + when + "'"
	}
	return "  - {name: " + l.name + ", " + l.verb + l.rest + when + "}\n"
}

func (c chance) line(name, verb string) line {
	l := line{name: name, verb: verb}
	l.rest = ": " + pick(c, "[t]", "[t]", "[t, u]", `["*"]`, "[u]")
	if c.odds(4) {
		l.rest += ", methods: " + pick(c, "[tools/call]", "[prompts/get]", "[tools/call, prompts/get]")
	}
	if c.odds(5) {
		l.rest += ", effects: " + pick(c, "[read]", "[write]", "[read, write]", "[egress, destructive]", "[read, write, egress, execute, destructive]")
	}
	if c.odds(8) {
		l.rest += ", origins: " + pick(c, `["stdio:x"]`, `["stdio:y"]`)
	}
	if c.odds(8) {
		l.rest += ", agents: " + pick(c, `[bot]`, `[agt_2]`)
	}
	if c.odds(8) {
		l.rest += ", args: " + pick(c, `{a: {max: 2}}`, `{b: {one_of: [x, y], optional: true}}`, `{c: {longest: 2}}`)
	}
	if verb != "allow" && c.odds(6) {
		l.rest += pick(c, ", rate: {over: 2, per: hour}", ", rate: {over: 1, per: run}", ", new: [to]")
	}
	if c.odds(2) {
		l.when = c.when(verb)
	}
	switch {
	case verb == "allow" && c.odds(4):
		l.rest += ", results: mark"
	case verb == "allow" && l.when == "" && !strings.ContainsAny(l.rest[3:], "{") && !strings.Contains(l.rest, "effects") && !strings.Contains(l.rest, "origins") && !strings.Contains(l.rest, "agents") && c.odds(4):
		l.rest += ", results: hold"
	case verb == "ask" && c.odds(4):
		l.rest += ", results: hold"
	case verb == "ask" && c.odds(3):
		l.rest += ", assurance: " + pick(c, "tap", "passkey")
	}
	if c.odds(12) {
		l.rest += ", shadow: true"
	}
	return l
}

func (c chance) lines(n int) []line {
	list := make([]line, n)
	for i := range list {
		list[i] = c.line(fmt.Sprintf("r%d", i), pick(c, "allow", "allow", "allow", "ask", "never"))
	}
	return list
}

func fileOf(list []line) string {
	var b strings.Builder
	b.WriteString("rules:\n")
	for _, l := range list {
		b.WriteString(l.text(l.when))
	}
	return b.String()
}

func (c chance) sealed(rules *policy.Rules) *policy.Sealed {
	s := &policy.Sealed{Rules: rules, Expires: time.Date(2026, 11, 30, pick(c, 15, 16), 0, 0, 0, time.UTC)}
	for _, name := range []string{"t", "u"} {
		if !c.odds(4) {
			s.Items = append(s.Items, policy.SealedItem{Origin: "stdio:x", Kind: pick(c, "tool", "tool", "prompt"), Name: name, Digest: credentials.Digest{pick[byte](c, 1, 1, 1, 2)}})
		}
	}
	return s
}

// facts are those of a call that mostly has a chance.
func (c chance) facts() policy.Facts {
	f := good()
	f.Profile = pick(c, policy.Personal, policy.Personal, policy.Strict, policy.Watch, policy.Profile(""))
	f.Method = pick(c, "tools/call", "tools/call", "tools/call", "prompts/get", "resources/read")
	f.Tool = pick(c, "t", "t", "u", "v")
	f.Digest = credentials.Digest{pick[byte](c, 1, 1, 1, 0)}
	f.Tier = pick(c, labels.Green, labels.Green, labels.Yellow, labels.Red)
	f.Standing = pick(c, labels.Attested, labels.Attested, labels.Pinned, labels.Unknown, labels.Vetoed)
	f.Content = pick(c, labels.Consistent, labels.Inspected, labels.Inspected, labels.Uninspected, labels.Suspect, labels.Violated)
	f.Effect = labels.Effect(c.IntN(32))
	f.Gate = pick(c, policy.Cleared, policy.Cleared, policy.Cleared, policy.Cleared, policy.New, policy.Changed)
	f.Context = policy.Context(c.IntN(4))
	f.Channel = !c.odds(3)
	f.Fit = pick(c, policy.Fits, policy.Fits, policy.Fits, policy.Unfit, policy.Unchecked)
	f.Counts = policy.Counts{Known: !c.odds(4), Run: c.Uint64N(5), Minute: c.Uint64N(5), Hour: c.Uint64N(5), Day: c.Uint64N(5)}
	if c.odds(3) {
		f.Counts.New = []string{"to"}
	}
	f.Args = []byte("{" + strings.Join([]string{pick(c, `"a":1`, `"a":2.5`, `"a":"1"`, `"a":true`, `"a":9007199254740993`, `"z":0`),
		pick(c, `"b":"x"`, `"b":"xx"`, `"b":null`, `"y":0`), pick(c, `"c":[1]`, `"c":[]`, `"c":[1,{"d":2}]`, `"c":"x"`, `"x":0`)}, ",") + "}")
	if c.odds(20) {
		f.Args = nil
	}
	if c.odds(10) {
		f.Origin, f.AgentName, f.Way, f.Ver = "", "", "", 0
	}
	return f
}

// worse are the facts, with one thing worse.
func (c chance) worse(f policy.Facts) policy.Facts {
	for {
		switch c.IntN(12) {
		case 0:
			if f.Tier > 0 {
				f.Tier--
				return f
			}
		case 1:
			if f.Standing > 0 {
				f.Standing--
				return f
			}
		case 2:
			if f.Content > 0 {
				f.Content--
				return f
			}
		case 3:
			if f.Context > 0 {
				f.Context--
				return f
			}
		case 4:
			if e := f.Effect | 1<<c.IntN(5); f.Effect != labels.Unclassified && e != f.Effect {
				f.Effect = pick(c, e, labels.Unclassified)
				return f
			}
		case 5:
			if f.Gate > 0 {
				f.Gate--
				return f
			}
		case 6:
			if f.Channel {
				f.Channel = false
				return f
			}
		case 7:
			if f.Fit == policy.Fits {
				f.Fit = pick(c, policy.Unfit, policy.Unchecked)
				return f
			}
		case 8:
			if f.Counts.Known {
				f.Counts = policy.Counts{}
				return f
			}
		case 9:
			n := &f.Counts
			*pick(c, &n.Run, &n.Minute, &n.Hour, &n.Day)++
			return f
		case 10:
			if f.Counts.Known && f.Counts.New == nil {
				f.Counts.New = []string{"to"}
				return f
			}
		case 11:
			if !f.At.IsZero() {
				f.At = f.At.Add(3 * time.Hour) // for intents; conditions on time have no worse
				return f
			}
		}
	}
}
