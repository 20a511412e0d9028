package guard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// maxConstraints is how many arguments one rule may speak of.
const maxConstraints = 256

// A constraint is what a rule says of one argument.
type constraint struct {
	name     string   // squashed; empty: it is of one place
	place    []string // JSON Pointer, taken apart; of a name the name alone
	optional bool
	words    []word
}

// Constrain makes what a rule says of arguments, by name or JSON Pointer. It holds no
// default; nothing at all is a Set that holds. The error is an ErrConfig.
func Constrain(list map[string]Constraint) (*Set, error) {
	if len(list) > maxConstraints {
		return nil, fmt.Errorf("%w: a rule speaks of more than %d arguments", ErrConfig, maxConstraints)
	}
	s := &Set{made: true}
	for i, key := range slices.Sorted(maps.Keys(list)) {
		c := list[key]
		con, err := newConstraint(key, &c)
		if err != nil {
			return nil, fmt.Errorf("%w: argument %d of the rule in order of names: %w", ErrConfig, i+1, err)
		}
		s.args = append(s.args, con)
		for n := range con.words {
			if con.words[n].mail && con.kind()&isMail != 0 {
				s.mail = append(s.mail, &con.words[n])
			}
		}
	}
	return s, nil
}

func newConstraint(key string, c *Constraint) (constraint, error) {
	con, err := newPlace(key)
	if err != nil {
		return con, err
	}
	con.optional = c.Optional
	if con.words, err = wordsFor(c, con.kind()); err == nil && len(con.words) == 0 {
		err = errSilent
	}
	for i := range con.words {
		con.words[i].rule = "args." + key
	}
	return con, err
}

// newPlace reads the name or JSON Pointer that a constraint stands under.
func newPlace(key string) (constraint, error) {
	con := constraint{}
	if rest, pointer := strings.CutPrefix(key, "/"); pointer {
		for seg := range strings.SplitSeq(rest, "/") {
			con.place = append(con.place, strings.NewReplacer("~1", "/", "~0", "~").Replace(seg))
		}
	} else {
		con.place, con.name = []string{key}, string(squash(nil, key))
		if con.name == "" {
			return con, errNames
		}
	}
	if len(key) > 1024 || len(con.place) > maxNesting {
		return con, errNames
	}
	return con, nil
}

// kind is what the name of the argument says.
func (c *constraint) kind() kind {
	for i := len(c.place) - 1; i >= 0; i-- {
		if name := squash(nil, c.place[i]); len(name) > 0 && strings.Trim(string(name), "0123456789") != "" {
			return kindOf(name)
		}
	}
	return 0
}

var (
	errNames  = errors.New("not a name or a JSON Pointer of at most 16 parts")
	errSilent = errors.New("it says nothing of the argument")
)

// check judges what the constraint speaks of. Where it is not there the server chooses,
// and that is refused.
func (c *constraint) check(w *walker, root args.Value) {
	there := false
	c.each(root, w.index, func(v args.Value, exact bool) bool {
		there = there || exact && c.counts(v)
		for i := range c.words {
			c.words[i].check(v, w.call.Files, c.optional, w)
		}
		return true
	})
	if !there && !c.optional {
		w.add(Violation{Guard: c.words[0].guard, Path: "/" + strings.Join(escaped(c.place), "/"), Why: WhyAbsent, Rule: c.words[0].rule})
	}
}

// fail adds what a word refuses.
func (w *walker) fail(wd *word, at args.Value, why string) {
	w.tell(wd.guard, wd.rule, at, why)
}

// counts tells whether a value is one: null is the same as none, unless the rule names
// it.
func (c *constraint) counts(v args.Value) bool { return v.Kind() != 'n' || c.takesNull() }

func escaped(place []string) []string {
	list := make([]string, len(place))
	for i, s := range place {
		list[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
	}
	return list
}

func (c *constraint) takesNull() bool {
	return slices.ContainsFunc(c.words, func(w word) bool {
		return slices.ContainsFunc(w.literals, func(l literal) bool { return l.kind == 'n' })
	})
}

// may tells whether the constraint may hold (see Set.May).
func (c *constraint) may(root args.Value, x *Index, files Files) bool {
	there, may := false, false
	c.each(root, x, func(v args.Value, exact bool) bool {
		if c.counts(v) {
			there = there || exact
			may = may || c.mayAll(v, files)
		}
		return !may
	})
	return may || !there && !c.optional
}

func (c *constraint) mayAll(v args.Value, files Files) bool {
	for i := range c.words {
		if !c.words[i].may(v, files) {
			return false
		}
	}
	return true
}

// each calls f with every value that the constraint speaks of, until f is false. exact
// tells whether it stands where the rule says, spelled as the rule spells it.
func (c *constraint) each(root args.Value, x *Index, f func(v args.Value, exact bool) bool) {
	if c.name == "" {
		c.at(root, c.place, true, f)
		return
	}
	x.each(c.name, func(m *member) bool { return f(m.value, m.top && m.value.Name() == c.place[0]) })
}

// at walks down to one place, by every spelling of its names.
func (c *constraint) at(v args.Value, place []string, exact bool, f func(args.Value, bool) bool) bool {
	if len(place) == 0 {
		return f(v, exact)
	}
	if in, ok := v.Inner(); ok {
		v = in
	}
	var want, have [64]byte
	name := squash(want[:0], place[0])
	i := 0
	for m := v.First(); m.Kind() != 0; m = m.Next() {
		same := m.Name() == place[0]
		if v.Kind() == '[' {
			same = fmt.Sprint(i) == place[0]
		}
		if i++; same || v.Kind() == '{' && string(squash(have[:0], m.Name())) == string(name) {
			if !c.at(m, place[1:], exact && same, f) {
				return false
			}
		}
	}
	return true
}
