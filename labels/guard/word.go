package guard

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/host"
	"github.com/pratique-dev/pratique/labels/guard/path"
	"github.com/pratique-dev/pratique/labels/guard/ref"
	"github.com/pratique-dev/pratique/labels/guard/value"
)

// A word is one word of a constraint, compiled.
type word struct {
	guard    string
	rule     string                                      // what violations name
	text     func(text string, files Files) (why string) // of each text; nil: it judges no text
	mayText  func(text string, files Files) bool
	refs     *ref.Rule // where it judges refs, for the words of a command
	command  bool      // the name of the argument says that it is the words of a command
	mail     bool      // whether an object of a name and an address counts
	names    nameKind  // which names of objects count as texts, for may
	number   func(value.Number) (why string)
	literals []literal
	notOne   string // what is said where none of literals is equal
	longest  int    // -1: not asked
}

// wordsFor compiles the words of a constraint on arguments whose name says k.
func wordsFor(c *Constraint, k kind) ([]word, error) {
	var list []word
	for _, make := range []func(*Constraint, kind) (*word, error){literalWords, pathWord, refsWord, notRefsWord, hostWord, mailWord, numberWord, dateWord} {
		w, err := make(c, k)
		if err != nil {
			return nil, err
		}
		if w != nil {
			w.longest, w.command = -1, k&(isCommand|isWords) != 0
			list = append(list, *w)
		}
	}
	if c.Longest != nil {
		if *c.Longest < 0 {
			return nil, errors.New("longest: not negative")
		}
		list = append(list, word{guard: "value", longest: *c.Longest})
	}
	return list, nil
}

func literalWords(c *Constraint, _ kind) (*word, error) {
	texts, why := c.OneOf, WhyNotListed
	switch {
	case !c.Equals.IsZero() && c.OneOf != nil:
		return nil, errors.New("equals and one_of: one of them")
	case !c.Equals.IsZero():
		texts, why = Literals{c.Equals}, WhyNotEqual
	case c.OneOf == nil:
		return nil, nil
	}
	if len(texts) == 0 || len(texts) > maxKeys {
		return nil, fmt.Errorf("one_of: 1 to %d values", maxKeys)
	}
	w := &word{guard: "value", notOne: why}
	for _, t := range texts {
		l, err := newLiteral(t)
		if err != nil {
			return nil, err
		}
		w.literals = append(w.literals, l)
	}
	return w, nil
}

// drive begins a path of Windows.
var drive = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

func pathWord(c *Constraint, k kind) (*word, error) {
	if c.Within == nil && c.File == nil {
		return nil, nil
	}
	o := path.Options{Within: texts(c.Within), Exactly: texts(c.File)}
	if n := len(o.Within) + len(o.Exactly); n == 0 || n > maxPatterns {
		return nil, fmt.Errorf("within, file: 1 to %d paths", maxPatterns)
	}
	for _, p := range append(texts(c.Within), texts(c.File)...) {
		o.Windows = o.Windows || drive.MatchString(p)
	}
	r, err := path.New(o)
	if err != nil {
		return nil, fmt.Errorf("within, file: %w", err)
	}
	many := k&isMany != 0
	may, err := newReach(r, o)
	if err != nil {
		return nil, fmt.Errorf("within, file: %w", err)
	}
	return &word{guard: "path", names: signedNames, text: func(t string, f Files) string { return allPaths(r, t, many, f) },
		mayText: func(t string, f Files) bool { return may.any(t, many, f) }}, nil
}

// refsWord and notRefsWord judge both ways: what is not surely outside of some refs
// may be one of them.
func refsWord(c *Constraint, _ kind) (*word, error) {
	w, err := refWord("refs", c.Refs, ref.Only, ref.Protect)
	if w != nil {
		w.names = otherNames
	}
	return w, err
}

func notRefsWord(c *Constraint, _ kind) (*word, error) {
	return refWord("not_refs", c.NotRefs, ref.Protect, ref.Only)
}

func refWord(key string, patterns Words, holds, fails func([]string) (*ref.Rule, error)) (*word, error) {
	if patterns == nil {
		return nil, nil
	}
	if len(patterns) > maxPatterns {
		return nil, fmt.Errorf("%s: 1 to %d patterns", key, maxPatterns)
	}
	r, err := holds(texts(patterns))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	not, err := fails(texts(patterns))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return &word{guard: "ref", refs: r, text: func(t string, _ Files) string { return r.Check(t) },
		mayText: func(t string, _ Files) bool { return not.Check(t) != "" }}, nil
}

func hostWord(c *Constraint, k kind) (*word, error) {
	if c.Hosts == nil {
		return nil, nil
	}
	if len(c.Hosts) == 0 || len(c.Hosts) > maxPatterns {
		return nil, fmt.Errorf("hosts: 1 to %d hosts", maxPatterns)
	}
	r, err := host.New(host.Options{Allow: texts(c.Hosts)})
	if err != nil {
		return nil, fmt.Errorf("hosts: %w", err)
	}
	many := k&isMany != 0
	return &word{guard: "host", names: signedNames, text: func(t string, _ Files) string { return allHosts(r, t, many) },
		mayText: func(t string, _ Files) bool { return anyHost(r, t, many) }}, nil
}

func mailWord(c *Constraint, _ kind) (*word, error) {
	if c.Recipients == nil {
		return nil, nil
	}
	if len(c.Recipients) > maxPatterns {
		return nil, fmt.Errorf("recipients: 1 to %d of them", maxPatterns)
	}
	r, err := value.ReadRecipients(texts(c.Recipients))
	if err != nil {
		return nil, fmt.Errorf("recipients: %w", err)
	}
	return &word{guard: "recipient", mail: true, names: otherNames, text: func(t string, _ Files) string { return r.Check(t) },
		mayText: func(t string, _ Files) bool { return r.May(t) }}, nil
}

func numberWord(c *Constraint, _ kind) (*word, error) {
	if c.Min == nil && c.Max == nil {
		return nil, nil
	}
	var least, most *value.Number
	for _, x := range []struct {
		from *Literal
		to   **value.Number
	}{{c.Min, &least}, {c.Max, &most}} {
		if x.from == nil {
			continue
		}
		n, ok := value.ParseNumber(x.from.raw)
		if !ok {
			return nil, errors.New("min, max: numbers as JSON writes them")
		}
		*x.to = &n
	}
	if least != nil && most != nil && value.Compare(*least, *most) > 0 {
		return nil, errors.New("min, max: nothing is that large and that small")
	}
	return &word{guard: "number", number: func(n value.Number) string {
		switch {
		case least != nil && value.Compare(n, *least) < 0:
			return value.WhyTooSmall
		case most != nil && value.Compare(n, *most) > 0:
			return value.WhyTooLarge
		}
		return ""
	}}, nil
}

func dateWord(c *Constraint, _ kind) (*word, error) {
	if c.Before == nil && c.After == nil {
		return nil, nil
	}
	var before, after value.Date
	for _, x := range []struct {
		from *Word
		to   *value.Date
	}{{c.Before, &before}, {c.After, &after}} {
		ok := true
		if x.from != nil {
			*x.to, ok = value.ParseDate(string(*x.from))
		}
		if !ok {
			return nil, errors.New("before, after: dates or times of RFC 3339")
		}
	}
	if c.Before != nil && c.After != nil && !after.Before(before) {
		return nil, errors.New("before, after: nothing is that early and that late")
	}
	check := func(t string, _ Files) string {
		d, ok := value.ParseDate(t)
		switch {
		case !ok:
			return value.WhyNotDate
		case c.Before != nil && !d.Before(before):
			return value.WhyNotBefore
		case c.After != nil && !after.Before(d):
			return value.WhyNotAfter
		}
		return ""
	}
	return &word{guard: "date", text: check, mayText: func(t string, _ Files) bool {
		d, ok := value.ParseDate(t)
		return !ok || !(c.Before != nil && (before.Before(d) || before == d)) && !(c.After != nil && (d.Before(after) || after == d))
	}}, nil
}

// check judges a value and reports what does not hold.
func (w *word) check(v args.Value, files Files, optional bool, to *walker) {
	k := v.Kind()
	switch {
	case w.literals != nil:
		if w.isOne(v) || k == 'n' {
			return
		}
		if k != '[' || v.Len() == 0 {
			to.fail(w, v, w.notOne)
			return
		}
	case w.longest >= 0:
		switch {
		case k == '"' && len(v.Text()) > w.longest, k == '[' && v.Len() > w.longest:
			to.fail(w, v, WhyTooLong)
		case k != '"' && k != '[' && k != 'n':
			to.fail(w, v, WhyKind)
		}
		return
	}
	switch k {
	case 'n': // absent, see constraint.absent
	case '[':
		w.checkArray(v, files, optional, to)
	case '"':
		if why := w.checkText(v.Text(), files); why != "" {
			to.fail(w, v, why)
		} else if in, ok := v.Inner(); ok {
			w.check(in, files, optional, to)
		}
	case '0':
		n, ok := value.ParseNumber(v.Number())
		switch {
		case w.number == nil:
			to.fail(w, v, WhyKind)
		case !ok:
			to.fail(w, v, value.WhyNotNumber)
		default:
			if why := w.number(n); why != "" {
				to.fail(w, v, why)
			}
		}
	default:
		if k == '{' && w.mail && w.checkPerson(v, files, to) {
			return
		}
		to.fail(w, v, WhyKind)
	}
}

func (w *word) checkArray(v args.Value, files Files, optional bool, to *walker) {
	if v.Len() == 0 && !optional {
		to.fail(w, v, WhyAbsent)
		return
	}
	if words := wordsOf(v); w.refs != nil && w.command && isPush(words) {
		if why := w.refs.CheckWords(words, true); why != "" {
			to.fail(w, v, why)
		}
		return
	}
	for e := v.First(); e.Kind() != 0; e = e.Next() {
		if e.Kind() == 'n' {
			to.fail(w, e, WhyKind)
			continue
		}
		w.check(e, files, optional, to)
	}
}

// isPush tells whether the texts of an array are the words of a git command.
func isPush(words []string) bool {
	return len(words) > 0 && (words[0] == "git" || words[0] == "push" || strings.HasPrefix(words[0], "-"))
}

// plainNumber is a number that all programs read alike in a text.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// checkText judges one text.
func (w *word) checkText(text string, files Files) string {
	switch {
	case w.text != nil:
		return w.text(text, files)
	case w.number == nil:
		return w.notOne
	case !plainNumber.MatchString(text):
		return value.WhyNotNumber
	}
	n, ok := value.ParseNumber([]byte(text))
	if !ok {
		return value.WhyNotNumber
	}
	return w.number(n)
}
