package intent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels/policy"
)

// Narrower proves that next permits nothing that was does not: nil, or ErrWider with
// every step of the proof that fails. It looks at what is written, not at what it
// might come to, so it refuses some texts that would be narrower.
//
//   - agent, launch and task are the same, and the end is not later;
//   - each item of next is in was, the same version;
//   - each allow of next is in was, word for word; its names may be fewer;
//   - each ask and never of was is in next, word for word; of their names those may be
//     missing that are no items any more, where no template could reach them;
//   - a new ask is about names that an allow of next without conditions has, since an
//     ask alone would make something that was denied a question to a person; and it
//     says for which methods;
//   - whatever says something of results stays, and so does everything else.
func Narrower(was, next *Intent) error {
	p := proof{was: was, next: next}
	p.frame()
	p.items()
	if err := p.rules(); err != nil {
		return err
	}
	if len(p.fails) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrWider, errors.Join(p.fails...))
}

// A proof collects what fails. Its words are ours and the names of rules and items
// that stand in the operator's own files.
type proof struct {
	was, next *Intent
	fails     []error
}

func (p *proof) fail(format string, args ...any) {
	p.fails = append(p.fails, fmt.Errorf(format, args...))
}

func (p *proof) frame() {
	a, b := &p.was.form, &p.next.form
	if a.Agent != b.Agent || a.Launch != b.Launch {
		p.fail("it is for another agent")
	}
	if a.Task != b.Task {
		p.fail("it is for another task")
	}
	if b.Expires > a.Expires {
		p.fail("it ends later")
	}
}

func (p *proof) items() {
	for _, i := range p.next.form.Items {
		if !slices.Contains(p.was.form.Items, i) {
			p.fail("%s %s is not in it, or not this version", i.Kind, i.Name)
		}
	}
}

// A said is one rule, apart from what a narrower one may change.
type said struct {
	ruleForm
	rest string // everything but what it speaks of, in its canonical spelling
	bare bool   // nothing but name, names, methods and say
	way  bool   // it says something of results
}

// rulesOf are the rules of an intent, by name, and everything that is no rule.
func rulesOf(i *Intent) (map[string]said, string, error) {
	var set ruleSet
	if err := json.Unmarshal(i.form.Rules, &set); err != nil {
		return nil, "", ErrText
	}
	out := map[string]said{}
	for _, r := range set.Rules {
		s := said{ruleForm: r}
		more := map[string]jsontext.Value{}
		if len(r.Rest) > 0 {
			if err := json.Unmarshal(r.Rest, &more); err != nil {
				return nil, "", ErrText
			}
		}
		_, s.way = more["results"]
		_, says := more["say"]
		s.bare = len(more) == 0 || len(more) == 1 && says
		verb := "allow "
		switch {
		case r.Ask != nil:
			verb = "ask "
		case r.Never != nil:
			verb = "never "
		}
		r.Allow, r.Ask, r.Never = nil, nil, nil
		raw, err := canon.Marshal(&r)
		if err != nil {
			return nil, "", ErrText
		}
		s.rest = verb + string(raw)
		out[r.Name] = s
	}
	rest := i.form.Rules
	if set.Rest != nil {
		rest = set.Rest
	}
	frame, err := canon.JSON(bytes.TrimSpace(rest), canon.Limits{Bytes: MaxText})
	if err != nil {
		return nil, "", ErrText
	}
	return out, string(frame), nil
}

func (p *proof) rules() error {
	was, wasFrame, err := rulesOf(p.was)
	if err != nil {
		return err
	}
	next, nextFrame, err := rulesOf(p.next)
	if err != nil {
		return err
	}
	if wasFrame != nextFrame {
		p.fail("guards, or what else stands beside the rules, are not the same")
	}
	for _, name := range sorted(was) {
		p.kept(was[name], next)
	}
	for _, name := range sorted(next) {
		p.added(next[name], was, next)
	}
	return nil
}

// kept wants a rule of was in next, unless it only permits, or speaks of nothing that
// is left.
func (p *proof) kept(old said, next map[string]said) {
	now, ok := next[old.Name]
	left := slices.DeleteFunc(old.names(), p.gone)
	switch {
	case old.Allow != nil && !old.way:
	case !ok && len(left) > 0:
		p.fail("rule %s is gone", old.Name)
	case ok && (old.rest != now.rest || !contains(now.names(), left) || !contains(old.names(), now.names())):
		p.fail("rule %s is another", old.Name)
	}
}

// gone tells whether nothing of the name can be asked for any more: it is no item, in no
// spelling, and no template could reach it.
func (p *proof) gone(name string) bool {
	return name != policy.Any && !slices.ContainsFunc(p.next.form.Items, func(i Item) bool {
		return i.Name == name || i.Kind == Template || i.Kind == Resource && policy.SameResource(name, i.Name)
	})
}

// added wants a rule of next in was, unless it permits nothing.
func (p *proof) added(now said, was, next map[string]said) {
	old, ok := was[now.Name]
	switch {
	case now.Allow != nil:
		if !ok || old.rest != now.rest || !contains(old.Allow, now.Allow) {
			p.fail("rule %s allows what was not allowed, or not so", now.Name)
		}
	case ok && old.Allow == nil: // see kept
	case now.Ask != nil && !covered(now, next):
		p.fail("rule %s asks for what was not allowed without conditions", now.Name)
	}
}

// covered tells whether all that an ask is about is allowed anyhow.
func covered(ask said, rules map[string]said) bool {
	for _, n := range ask.Ask {
		for _, m := range ask.Methods {
			if !slices.ContainsFunc(sorted(rules), func(name string) bool {
				r := rules[name]
				return r.bare && slices.Contains(r.Allow, n) && (r.Methods == nil && m == "tools/call" || slices.Contains(r.Methods, m))
			}) {
				return false
			}
		}
	}
	return len(ask.Methods) > 0
}

func contains(all, some []string) bool {
	for _, n := range some {
		if !slices.Contains(all, n) {
			return false
		}
	}
	return true
}

func sorted(rules map[string]said) []string {
	out := make([]string, 0, len(rules))
	for n := range rules {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
