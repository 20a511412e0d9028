package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// Each property is held against as many random policies (see long_test.go), with so
// many calls each.
const (
	perEach = 100
	atLeast = policies * perEach
)

// told is all that a decision says.
func told(d policy.Decision) string {
	w := d.Would()
	return fmt.Sprint(d.Verb(), d.Reason(), d.Rule(), d.Results(), d.Guard(), d.Paths(), d.Why(), d.Sentence(), d.Assurance(), d.Shadow(), d.Enforced(), w.Verb(), w.Reason(), w.Rule(), w.Results())
}

// permits compares two decisions of one call: b permits no more than a.
func permits(a, b policy.Decision) bool {
	return b.Verb() <= a.Verb() && b.Results() <= a.Results()
}

// each drives a property over random policies.
func each(t *testing.T, seed uint64, try func(c chance, n int) int) {
	t.Helper()
	total := 0
	for i := range policies {
		total += try(chanceOf(seed<<32|uint64(i)), i)
		if t.Failed() {
			return
		}
	}
	if total < atLeast {
		t.Errorf("only %d cases", total)
	}
}

// TestFurtherLayers: no further layer ever permits more.
func TestFurtherLayers(t *testing.T) {
	each(t, 1, func(c chance, _ int) int {
		org, site, own := fileOf(c.lines(1+c.IntN(5))), fileOf(c.lines(1+c.IntN(4))), fileOf(c.lines(1+c.IntN(4)))
		l := policy.Layers{}
		if !c.odds(4) {
			l.Organisation = mustLoad(t, []byte(org))
		}
		one := l.Policy()
		two, three := l, l
		two.Origin = mustLoad(t, []byte(site))
		three.Origin, three.Intent = two.Origin, c.sealed(mustLoad(t, []byte(own)))
		if c.odds(3) {
			three.Intent.Rules = nil
		}
		more := []policy.Policy{two.Policy(), three.Policy(), policy.Under(one, three.Intent), policy.Strictest(one, two.Policy())}
		for range perEach {
			f := c.facts()
			for i, p := range more {
				less := one
				if i == 1 && (f.Profile != policy.Strict || l.Organisation != nil) {
					less = more[0]
				}
				if f.Profile == policy.Strict && l.Organisation == nil && i < 3 && i > 0 {
					continue // the intent is then no further layer but the first one (TestStrictNeedsALayer)
				}
				if a, b := less.Decide(f), p.Decide(f); !permits(a, b) || p.Listed(f) && !less.Listed(f) {
					t.Fatalf("%d: %s is %s, and with a further layer %s\n%s%s%s%+v", i, f.Args, told(a), told(b), org, site, own, f)
				}
			}
		}
		return perEach
	})
}

// TestFurtherRules: no further ask or never permits more.
func TestFurtherRules(t *testing.T) {
	each(t, 2, func(c chance, _ int) int {
		lines := c.lines(1 + c.IntN(6))
		x := c.line("x", pick(c, "ask", "never"))
		more := slices.Insert(slices.Clone(lines), c.IntN(len(lines)+1), x)
		_, err := policy.Load([]byte("rules:\n" + line{name: "x", verb: "allow", rest: strings.Split(x.rest, ", results")[0]}.text(x.when)))
		stands := x.verb == "ask" && (err == nil || strings.Contains(x.rest, "assurance")) // an allow of the same words would be one
		a, b := policy.Of(mustLoad(t, []byte(fileOf(lines)))), policy.Of(mustLoad(t, []byte(fileOf(more))))
		for range perEach {
			f := c.facts()
			was, is := a.Decide(f), b.Decide(f)
			if was.Verb() == policy.Deny && is.Verb() == policy.Ask && stands {
				continue // what no rule allows, a person may be asked for (TestAskStands)
			}
			if !permits(was, is) {
				t.Fatalf("%s is %s, and with a further rule %s\n%s%+v", f.Args, told(was), told(is), fileOf(more), f)
			}
		}
		return perEach
	})
}

// TestWorse: nothing that is worse permits more, under any layers.
func TestWorse(t *testing.T) {
	each(t, 3, func(c chance, _ int) int {
		text := fileOf(c.lines(1 + c.IntN(6)))
		l := policy.Layers{Organisation: mustLoad(t, []byte(text))}
		if c.odds(2) {
			l.Origin = mustLoad(t, []byte(fileOf(c.lines(1+c.IntN(3)))))
		}
		if c.odds(2) {
			l.Intent = c.sealed(mustLoad(t, []byte(fileOf(c.lines(1+c.IntN(3))))))
		}
		if c.odds(8) {
			l.Organisation = nil
		}
		p := l.Policy()
		timed := strings.Contains(string(policy.Text(p)), "timestamp")
		for range perEach {
			f := c.facts()
			w := c.worse(f)
			if timed && !f.At.Equal(w.At) {
				continue
			}
			a, b := p.Decide(f), p.Decide(w)
			if a.Enforced() && !permits(a, b) || p.Listed(w) && !p.Listed(f) && f.Profile != policy.Watch {
				t.Fatalf("%s, and of worse %s\n%s\n%+v\n%+v", told(a), told(b), policy.Text(p), f, w)
			}
			if x, y := a.Would(), b.Would(); x.Verb() < y.Verb() {
				t.Fatalf("would be %s, and of worse %s\n%s\n%+v\n%+v", told(x), told(y), policy.Text(p), f, w)
			}
			if a.Verb() != policy.Deny && !p.Listed(f) {
				t.Fatalf("%s, and not listed\n%s\n%+v", told(a), policy.Text(p), f)
			}
		}
		return perEach
	})
}

// always is a condition that fires, and that no person is asked for alone.
const always = "counts.run >= 0"

// TestErrorsOpenNothing: a condition that errs counts as true in an ask or never and as
// false in an allow: the decision is the one without the allow, and with the ask or
// never for every call.
func TestErrorsOpenNothing(t *testing.T) {
	erred := 0
	each(t, 4, func(c chance, _ int) int {
		lines := c.lines(2 + c.IntN(5))
		for i := range lines {
			if c.odds(2) {
				lines[i].when = c.when(lines[i].verb)
				if strings.Contains(lines[i].rest, "results: hold") {
					lines[i].when = ""
				}
			}
		}
		p := policy.Of(mustLoad(t, []byte(fileOf(lines))))
		alone := make([][2]policy.Policy, len(lines)) // the condition in an allow, and in a never
		for i, l := range lines {
			if l.when == "" {
				continue
			}
			for j, verb := range []string{"allow", "never"} {
				r, err := policy.Load([]byte("rules:\n  - {name: r, " + verb + ": [\"*\"], methods: [tools/call, prompts/get, resources/read], when: '" + l.when + "'}\n"))
				if err == nil { // a condition that moves stands in one of them alone
					alone[i][j] = policy.Of(r)
				}
			}
		}
		decided := map[string]policy.Policy{}
		for range perEach {
			f := c.facts()
			g := f
			g.Profile, g.Gate, g.Channel, g.Context, g.Fit, g.Method = policy.Personal, policy.Cleared, true, policy.Clean, policy.Fits, "tools/call"
			g.Tier, g.Standing, g.Content = labels.Green, labels.Attested, labels.Inspected
			var rest []line
			some := false
			for i, l := range lines {
				if alone[i][0] == nil || alone[i][1] == nil || alone[i][0].Decide(g).Rule() == "r" || alone[i][1].Decide(g).Rule() != "r" {
					rest = append(rest, l)
					continue
				}
				some = true
				if l.when = always; l.verb != "allow" {
					rest = append(rest, l)
				}
			}
			if !some || len(rest) == 0 {
				continue
			}
			erred++
			text := fileOf(rest)
			q := decided[text]
			if q == nil {
				q = policy.Of(mustLoad(t, []byte(text)))
				decided[text] = q
			}
			if a, b := p.Decide(f), q.Decide(f); told(a) != told(b) {
				t.Fatalf("%s, and where errors are decided %s\n%s%s%+v", told(a), told(b), fileOf(lines), fileOf(rest), f)
			}
		}
		return perEach
	})
	if erred < 5_000 {
		t.Errorf("only %d cases erred", erred)
	}
}

// TestErrorsClose: every condition of a file errs at once, for ≥ 100,000 random calls:
// nothing is let through that an unconditional allow does not let through, and every
// ask and never fires.
func TestErrorsClose(t *testing.T) {
	each(t, 5, func(c chance, _ int) int {
		lines := c.lines(2 + c.IntN(5))
		broken, sure := slices.Clone(lines), []line(nil)
		for i, l := range lines {
			if strings.Contains(l.rest, "results: hold") && l.verb == "allow" {
				broken[i].when = ""
				sure = append(sure, broken[i])
				continue
			}
			broken[i].when = pick(c, `args.nobody == 1`, `args.q.all(e, e)`, `int(args.b) > 0 && args.nobody`, `args.nobody.x || agent.id == "other"`, `size(args.a) > 0 && args.nobody == 2 || args.nobody`)
			if l.verb != "allow" {
				l.when = always
				sure = append(sure, l)
			}
		}
		sure = append(sure, line{name: "zz", verb: "allow", rest: ": [nothing]"})
		p, q := policy.Of(mustLoad(t, []byte(fileOf(append(broken, sure[len(sure)-1]))))), policy.Of(mustLoad(t, []byte(fileOf(sure))))
		for range perEach {
			f := c.facts()
			f.Args = []byte(pick(c, `{}`, `{"a":1}`, `{"a":true,"b":"x"}`, `{"b":null}`))
			if a, b := p.Decide(f), q.Decide(f); told(a) != told(b) {
				t.Fatalf("%s, and where errors are decided %s\n%s%s%+v", told(a), told(b), fileOf(broken), fileOf(sure), f)
			}
		}
		return perEach
	})
}

// TestOrder: the order of rules, of their names and of the keys never matters.
func TestOrder(t *testing.T) {
	each(t, 6, func(c chance, _ int) int {
		lines := c.lines(2 + c.IntN(6))
		a := mustLoad(t, []byte(fileOf(lines)))
		c.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		b := mustLoad(t, []byte(strings.ReplaceAll(fileOf(lines), "[t, u]", "[u, t]")))
		if a.Digest() != b.Digest() {
			t.Fatalf("the order of rules is part of the digest\n%s", fileOf(lines))
		}
		p, q := policy.Of(a), policy.Of(b)
		for range perEach {
			f := c.facts()
			if x, y := p.Decide(f), q.Decide(f); told(x) != told(y) || p.Listed(f) != q.Listed(f) {
				t.Fatalf("%s, and in another order %s\n%s%+v", told(x), told(y), fileOf(lines), f)
			}
		}
		return perEach
	})
}

// TestReplayEqualsLive: the policy that is read from the text that is kept decides
// every call as the one that decided.
func TestReplayEqualsLive(t *testing.T) {
	each(t, 7, func(c chance, _ int) int {
		l := policy.Layers{}
		if !c.odds(3) {
			l.Organisation = mustLoad(t, []byte(fileOf(c.lines(1+c.IntN(5)))))
		}
		if c.odds(2) {
			l.Origin = mustLoad(t, []byte(pick(c, "", "shadow: true\n")+fileOf(c.lines(1+c.IntN(3)))))
		}
		if c.odds(2) {
			l.Intent = c.sealed(mustLoad(t, []byte(fileOf(c.lines(1+c.IntN(3))))))
		}
		live := l.Policy()
		again, err := policy.Read(policy.Text(live))
		if err != nil || again.Digest() != live.Digest() {
			t.Fatalf("%v: %s", err, policy.Text(live))
		}
		for range perEach {
			f := c.facts()
			if a, b := live.Decide(f), again.Decide(f); told(a) != told(b) || a.Policy() != b.Policy() || live.Listed(f) != again.Listed(f) {
				t.Fatalf("%s, and again %s\n%s\n%+v", told(a), told(b), policy.Text(live), f)
			}
		}
		return perEach
	})
}
