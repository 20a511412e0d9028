package policy

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels/guard"
)

// decode reads the text of a rule file. Its error names the line, the rule and the key,
// and repeats no value: of the file it repeats names of rules, and keys that are ours.
func decode(text []byte, f *file) error {
	tree, err := parser.ParseBytes(text, 0)
	if err != nil {
		return unparsed(text, err)
	}
	if len(tree.Docs) == 0 || tree.Docs[0].Body == nil || tree.Docs[0].Body.Type() == ast.NullType {
		return nil
	}
	body := tree.Docs[0].Body
	if err := new(reading).value(body, reflect.TypeFor[file](), ""); err != nil {
		return err
	}
	if err := yaml.NodeToValue(body, f, yaml.Strict()); err != nil {
		return yamltext.Placed(err, "")
	}
	return nil
}

// unparsed says more of what is no YAML because of a key that stands twice.
func unparsed(text []byte, err error) error {
	tree, again := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if again != nil {
		return yamltext.Placed(err, "")
	}
	if len(tree.Docs) > 0 && tree.Docs[0].Body != nil {
		if err := new(reading).value(tree.Docs[0].Body, reflect.TypeFor[file](), ""); err != nil {
			return err
		}
	}
	return yamltext.Placed(err, "repeated key")
}

// A reading holds a text against the types that it is read as.
type reading struct {
	rule string // that it is in; empty: none
}

// A misreading is where a text is not what is read there.
func (r *reading) misreading(n ast.Node, key, what string) error {
	var b strings.Builder
	if t := n.GetToken(); t != nil && t.Position != nil {
		fmt.Fprintf(&b, "line %d: ", t.Position.Line)
	}
	if r.rule != "" {
		fmt.Fprintf(&b, "rule %s: ", r.rule)
	}
	if key != "" {
		b.WriteString(key + ": ")
	}
	return errors.New(b.String() + what)
}

const noValue = "it has no value; leave the key out"

var (
	wordType     = reflect.TypeFor[guard.Word]()
	wordsType    = reflect.TypeFor[guard.Words]()
	literalType  = reflect.TypeFor[guard.Literal]()
	literalsType = reflect.TypeFor[guard.Literals]()
	ruleType     = reflect.TypeFor[fileRule]()
)

// value holds what stands under a key against its type.
func (r *reading) value(n ast.Node, t reflect.Type, key string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Type() == ast.NullType && !(t == literalType && strings.HasSuffix(key, ".equals")) {
		return r.misreading(n, key, noValue)
	}
	switch {
	case t == literalType || t == literalsType:
		if reflect.New(t).Interface().(yaml.NodeUnmarshaler).UnmarshalYAML(n) != nil {
			return r.misreading(n, key, "it is no value as JSON has them; put text in quotes")
		}
		return nil
	case t == wordsType:
		if isList(n) {
			return r.list(n, wordType, key)
		}
		return r.scalar(n, key, "a text or a list of texts", isText(n))
	}
	switch t.Kind() {
	case reflect.String:
		return r.scalar(n, key, "a text", isText(n))
	case reflect.Bool:
		return r.scalar(n, key, "true or false", n.Type() == ast.BoolType)
	case reflect.Int:
		return r.scalar(n, key, "a whole number", n.Type() == ast.IntegerType)
	case reflect.Slice:
		return r.list(n, t.Elem(), key)
	case reflect.Map, reflect.Struct:
		return r.members(n, t, key)
	}
	return nil
}

func isList(n ast.Node) bool { return n.Type() == ast.SequenceType }
func isText(n ast.Node) bool { return n.Type() == ast.StringType || n.Type() == ast.LiteralType }

// scalar wants one value of a kind.
func (r *reading) scalar(n ast.Node, key, want string, ok bool) error {
	switch {
	case ok:
		return nil
	case !isList(n) && !isMembers(n) && strings.HasPrefix(want, "a text"):
		return r.misreading(n, key, "it is read as a number, true or false, and has to be a text; put it in quotes")
	}
	return r.misreading(n, key, "it has to be "+want+", and is "+sortOf(n))
}

// sortOf is what a value is, in a word.
func sortOf(n ast.Node) string {
	switch {
	case isList(n):
		return "a list"
	case isMembers(n):
		return "keys with values"
	case isText(n):
		return "a text"
	}
	return "another value"
}

func isMembers(n ast.Node) bool {
	return n.Type() == ast.MappingType || n.Type() == ast.MappingValueType
}

func (r *reading) list(n ast.Node, t reflect.Type, key string) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		what := "it has to be a list, and is " + sortOf(n)
		if isText(n) {
			what += "; put it in [ ]"
		}
		return r.misreading(n, key, what)
	}
	for i, v := range seq.Values {
		if t == ruleType {
			r.rule = ruleAt(v, i)
			key = ""
		}
		if err := r.value(v, t, key); err != nil {
			return err
		}
	}
	if t == ruleType {
		r.rule = ""
	}
	return nil
}

// ruleAt is how a rule is called: by its name where it has one, or by its place.
func ruleAt(n ast.Node, i int) string {
	for _, m := range membersOf(n) {
		if s, ok := m.Value.(*ast.StringNode); ok && keyOf(m) == "name" && ruleName.MatchString(s.Value) {
			return s.Value
		}
	}
	return fmt.Sprint(i + 1)
}

// ruleLine is the line where a rule begins, for errors that are found when the text is
// read already; empty: of a text in one line, as ours are.
func ruleLine(text []byte, i int) string {
	tree, err := parser.ParseBytes(text, 0)
	if err != nil || !bytes.ContainsRune(text, '\n') || len(tree.Docs) == 0 {
		return ""
	}
	for _, m := range membersOf(tree.Docs[0].Body) {
		list, ok := m.Value.(*ast.SequenceNode)
		if !ok || keyOf(m) != "rules" || i >= len(list.Values) {
			continue
		}
		n := list.Values[i]
		if own := membersOf(n); len(own) > 0 {
			n = own[0].Key
		}
		if t := n.GetToken(); t != nil && t.Position != nil {
			return fmt.Sprintf("line %d: ", t.Position.Line)
		}
	}
	return ""
}

func membersOf(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

func keyOf(m *ast.MappingValueNode) string {
	if t := m.Key.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// members holds keys against those that there are. Under a map the keys are names of
// others, which are not repeated.
func (r *reading) members(n ast.Node, t reflect.Type, key string) error {
	if !isMembers(n) {
		return r.misreading(n, key, "it has to be keys with values, and is "+sortOf(n))
	}
	seen := map[string]bool{}
	for i, m := range membersOf(n) {
		name := keyOf(m)
		under, elem := fmt.Sprintf("name %d", i+1), t
		if t.Kind() == reflect.Map {
			elem = t.Elem()
		} else if elem = fieldOf(t, name); elem == nil {
			return r.misreading(m, key, "unknown key; "+instead(name, keysOf(t)))
		} else {
			under = name
		}
		if key != "" {
			under = key + "." + under
		}
		if seen[name] {
			return r.misreading(m, under, "it is given twice")
		}
		seen[name] = true
		if err := r.value(m.Value, elem, under); err != nil {
			return err
		}
	}
	return nil
}

// fieldOf is the type of what stands under a key; nil: there is none.
func fieldOf(t reflect.Type, key string) reflect.Type {
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") == key && key != "" {
			return f.Type
		}
	}
	return nil
}

func keysOf(t reflect.Type) (list []string) {
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" {
			list = append(list, key)
		}
	}
	return list
}

// instead is which keys there are: the one that is nearly the same, or all.
func instead(key string, keys []string) string {
	best, least := "", 3
	for _, k := range keys {
		if d := distance(strings.ToLower(key), k); d < least && d < len(k)-1 {
			best, least = k, d
		}
	}
	if best != "" {
		return "is " + best + " meant?"
	}
	return "there are " + strings.Join(keys, ", ")
}

// distance is how many letters are to be put in, left out or changed.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := last
			if a[i] != b[j] {
				d++
			}
			last = row[j+1]
			row[j+1] = slices.Min([]int{d, row[j+1] + 1, row[j] + 1})
		}
	}
	return row[len(b)]
}
