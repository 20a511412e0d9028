package advise

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
)

// ErrCalls says that there is nothing to suggest rules for.
var ErrCalls = errors.New("advise: no calls, or one whose arguments are not an object of JSON")

// A Call is one call of a run that was let through.
type Call struct {
	Method string
	Tool   string // the upstream's own name of tool, prompt, resource or template
	Target string // the URI that was read through a template; else empty
	Args   []byte // nil: none
}

// A Suggestion is a rule file that allows some calls, and little else.
type Suggestion struct {
	Text  []byte   // that policy.Load takes
	Rules int      // how many
	Open  []string // arguments that nothing bounds: "tool /argument"
}

// Bounds of what is said of one argument.
const (
	fewValues  = 8   // that are listed
	shortValue = 120 // bytes
)

// Suggest makes the least rules that allow what calls did: each item in the methods that
// were used, each argument that was given as narrow as its values show. It is for a
// person to read: a run that was led astray suggests that it was right. Calls to what
// Text allows pass its constraints; the guards of a rule file hold besides.
func Suggest(calls []Call) (*Suggestion, error) {
	type use struct{ method, name string }
	byUse := map[use][]Call{}
	for _, c := range calls {
		u := use{c.Method, c.Tool}
		if c.Target != "" {
			u.name = c.Target
		}
		byUse[u] = append(byUse[u], c)
	}
	if len(byUse) == 0 {
		return nil, ErrCalls
	}
	uses := slices.SortedFunc(maps.Keys(byUse), func(a, b use) int {
		return strings.Compare(a.method+"\x00"+a.name, b.method+"\x00"+b.name)
	})
	s := &Suggestion{}
	var b bytes.Buffer
	b.WriteString("# Suggested from what a run did. Read it before you use it.\nrules:\n")
	bare := map[string][]string{} // names without arguments, by method
	for _, u := range uses {
		given, open, err := constraints(byUse[u])
		if err != nil {
			return nil, err
		}
		for _, name := range open {
			s.Open = append(s.Open, u.name+" /"+name)
		}
		if len(given) == 0 {
			bare[u.method] = append(bare[u.method], u.name)
			continue
		}
		s.Rules++
		writeRule(&b, s.Rules, u.method, []string{u.name})
		if err := writeArgs(&b, given); err != nil {
			return nil, err
		}
	}
	for _, method := range slices.Sorted(maps.Keys(bare)) {
		s.Rules++
		writeRule(&b, s.Rules, method, bare[method])
	}
	s.Text = b.Bytes()
	if _, err := policy.Load(s.Text); err != nil {
		return nil, fmt.Errorf("advise: %w", err)
	}
	return s, nil
}

func writeRule(b *bytes.Buffer, n int, method string, names []string) {
	fmt.Fprintf(b, "  - name: seen-%d\n    allow:\n", n)
	for _, name := range names {
		fmt.Fprintf(b, "      - %s\n", quote(name))
	}
	if method != "tools/call" {
		fmt.Fprintf(b, "    methods: [%s]\n", method)
	}
}

func writeArgs(b *bytes.Buffer, given map[string]guard.Constraint) error {
	b.WriteString("    args:\n")
	for _, name := range slices.Sorted(maps.Keys(given)) {
		text, err := json.Marshal(given[name], json.Deterministic(true))
		if err != nil {
			return fmt.Errorf("advise: %w", err)
		}
		fmt.Fprintf(b, "      %s: %s\n", quote(name), text)
	}
	return nil
}

// quote is a text as YAML and JSON both read it.
func quote(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return []byte(`""`)
	}
	return b
}

// seen is what was given for one argument.
type seen struct {
	kinds  map[byte]bool
	values map[string]bool // as JSON
	texts  []string
	calls  int
	most   int // bytes of text, or elements
	ints   []int64
	plain  bool // all are short and none has parts
}

// constraints is what holds of the arguments of all calls, by name where that is true at
// every depth, else by place.
func constraints(calls []Call) (map[string]guard.Constraint, []string, error) {
	trees := make([]*args.Tree, len(calls))
	all := map[string]*seen{}
	for i, c := range calls {
		raw := c.Args
		if len(raw) == 0 || string(raw) == "null" {
			raw = []byte("{}")
		}
		t, err := args.Parse(raw)
		if err != nil {
			return nil, nil, ErrCalls
		}
		trees[i] = t
		for name, v := range t.Root().All() {
			x := all[name]
			if x == nil {
				x = &seen{kinds: map[byte]bool{}, values: map[string]bool{}, plain: true}
				all[name] = x
			}
			x.add(v)
		}
	}
	given, open := map[string]guard.Constraint{}, []string(nil)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if key, c, ok := narrow(name, all[name], calls, trees); ok {
			given[key] = c
			continue
		}
		open = append(open, name)
	}
	return given, open, nil
}

func (x *seen) add(v args.Value) {
	x.calls++
	kind := v.Kind()
	if kind == 'f' {
		kind = 't'
	}
	x.kinds[kind] = true
	switch kind {
	case '"':
		t := v.Text()
		x.texts, x.most = append(x.texts, t), max(x.most, len(t))
	case '[':
		x.most, x.plain = max(x.most, v.Len()), false
	case '{':
		x.plain = false
	case '0':
		if n, ok := v.Int64(); ok {
			x.ints = append(x.ints, n)
		}
	}
	if len(v.Raw()) > shortValue {
		x.plain = false
	}
	if x.plain && len(x.values) <= fewValues {
		x.values[string(v.Raw())] = true
	}
}

// narrow is the narrowest constraint that all calls meet.
func narrow(name string, x *seen, calls []Call, trees []*args.Tree) (string, guard.Constraint, bool) {
	for _, c := range x.offers() {
		c.Optional = x.calls < len(calls) || x.kinds['n']
		for _, key := range []string{name, "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)} {
			set, err := guard.Constrain(map[string]guard.Constraint{key: c})
			if err != nil {
				continue
			}
			met := true
			for i, call := range calls {
				met = met && len(set.Check(guard.Call{Tool: call.Tool, Method: call.Method, Args: trees[i]})) == 0
			}
			if met {
				return key, c, true
			}
		}
	}
	return "", guard.Constraint{}, false
}

// offers are constraints that may hold, the narrowest first.
func (x *seen) offers() []guard.Constraint {
	var list []guard.Constraint
	if x.plain && len(x.values) <= fewValues {
		var c guard.Constraint
		for _, raw := range slices.Sorted(maps.Keys(x.values)) {
			var l guard.Literal
			if l.UnmarshalJSON([]byte(raw)) == nil {
				c.OneOf = append(c.OneOf, l)
			}
		}
		list = append(list, c)
	}
	if x.kinds['0'] && len(x.kinds) == 1 && len(x.ints) == x.calls {
		list = append(list, guard.Constraint{Min: number(slices.Min(x.ints)), Max: number(slices.Max(x.ints))})
	}
	if x.kinds['"'] && len(x.kinds) == 1 {
		if dir := folder(x.texts); dir != "" {
			list = append(list, guard.Constraint{Within: guard.Words{guard.Word(dir)}})
		}
	}
	if (x.kinds['"'] || x.kinds['[']) && len(x.kinds) == 1 {
		most := x.most
		list = append(list, guard.Constraint{Longest: &most})
	}
	return list
}

func number(n int64) *guard.Literal {
	var l guard.Literal
	if l.UnmarshalJSON(fmt.Append(nil, n)) != nil {
		return nil
	}
	return &l
}

// folder is the deepest one that all of some paths lie in; empty: none.
func folder(texts []string) string {
	dir := path.Dir(texts[0])
	for _, t := range texts {
		for dir != "." && dir != "/" && !strings.HasPrefix(t, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if dir == "." || dir == "/" {
		return ""
	}
	return dir
}
