package intent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml/ast"

	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/lookalike"
	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels/policy"
)

// ruleSet is what is known here of a rule file in its canonical spelling.
type ruleSet struct {
	Rules []ruleForm     `json:"rules"`
	Rest  jsontext.Value `json:",embed"`
}

type ruleForm struct {
	Name    string         `json:"name"`
	Allow   []string       `json:"allow,omitzero"`
	Ask     []string       `json:"ask,omitzero"`
	Never   []string       `json:"never,omitzero"`
	Methods []string       `json:"methods,omitzero"`
	Rest    jsontext.Value `json:",embed"`
}

// names are what the rule speaks of.
func (r *ruleForm) names() []string { return slices.Concat(r.Allow, r.Ask, r.Never) }

// implied is the name of the rule that allows what no other allows or asks for: as it is
// for tools, named.prompts for prompts.
const implied = "named"

func impliedOf(kind Kind) string {
	if kind == Tool {
		return implied
	}
	return implied + "." + string(kind) + "s"
}

// readRules reads the rules, and adds the one that allows what is only named.
func (p *Plan) readRules(text []byte) (jsontext.Value, error) {
	set := ruleSet{Rest: jsontext.Value(`{}`)}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := binding(text); err != nil {
			return nil, err
		}
		if err := set.load(text); err != nil {
			return nil, err
		}
	}
	if err := p.aboutItems(&set); err != nil {
		return nil, err
	}
	methods := map[Kind][]string{Prompt: {"prompts/get"}, Resource: {"resources/read"}, Template: {"resources/read"}}
	for _, kind := range Kinds() {
		r := ruleForm{Name: impliedOf(kind), Methods: methods[kind]}
		for _, n := range p.Names {
			if n.Kind == kind && !set.permits(n.Name) {
				r.Allow = append(r.Allow, n.Name)
			}
		}
		if len(r.Allow) == 0 {
			continue
		}
		set.Rules = append(set.Rules, r)
	}
	raw, err := canon.Marshal(&set)
	if err != nil {
		return nil, fmt.Errorf("%w: a name has no canonical form", ErrFile)
	}
	rules, err := policy.Load(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFile, err)
	}
	return rules.Text(), nil
}

// aboutItems refuses rules that speak of what the plan does not name. A misspelt name
// would leave the right one without the rule, and so allowed as one that is only named.
func (p *Plan) aboutItems(set *ruleSet) error {
	for _, r := range set.Rules {
		for _, n := range r.names() {
			if n != policy.Any && !slices.ContainsFunc(p.Names, func(x Name) bool { return x.Name == n }) {
				return fmt.Errorf("%w: rule %s", ErrUnnamed, r.Name)
			}
		}
	}
	return nil
}

// load loads the rules of the file. There may be none beside guards: then one stands for
// them that nobody wrote, and is taken out again.
func (s *ruleSet) load(text []byte) error {
	has, err := hasRules(text)
	if err != nil {
		return err
	}
	if !has {
		text = append(slices.Clone(text), "\nrules: [{name: none, never: [\"*\"]}]\n"...)
	}
	rules, err := policy.Load(text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	if err := json.Unmarshal(rules.Text(), s); err != nil {
		return fmt.Errorf("%w: rules", ErrFile)
	}
	if !has {
		s.Rules = nil
	}
	return s.imitates()
}

// permits tells whether an allow or an ask speaks of the name.
func (s *ruleSet) permits(name string) bool {
	return slices.ContainsFunc(s.Rules, func(r ruleForm) bool {
		return slices.Contains(r.Allow, name) || slices.Contains(r.Ask, name) || slices.Contains(r.Allow, policy.Any) || slices.Contains(r.Ask, policy.Any)
	})
}

// margins refuses a text in which a line that begins at the margin is not the key that it
// seems to be, because a text of several lines goes on over it.
func margins(part []byte) error {
	if err := yamltext.PlainTo(part, maxFlow); err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	body, err := yamltext.Body(part)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	var keys []yamltext.Member
	if body != nil {
		keys = yamltext.Members(body)
	}
	n := 0
	for i, line := range bytes.Split(part, []byte{'\n'}) {
		if len(line) == 0 || line[0] < 'a' || line[0] > 'z' {
			continue
		}
		key, _, _ := strings.Cut(string(line), ":")
		if n >= len(keys) || keys[n].Line != i+1 || keys[n].Key != key {
			return fmt.Errorf("%w: line %d: a text of several lines goes on over this key; indent it", ErrFile, i+1)
		}
		n++
	}
	if n != len(keys) {
		return fmt.Errorf("%w: line %d: a key does not stand at the margin", ErrFile, keys[n].Line)
	}
	return nil
}

// hasRules tells whether the key rules is there.
func hasRules(text []byte) (bool, error) {
	body, err := yamltext.Body(text)
	if err != nil || body == nil {
		return false, err
	}
	return slices.ContainsFunc(yamltext.Members(body), func(m yamltext.Member) bool { return m.Key == "rules" }), nil
}

// binding refuses what a rule file may have and an intent not: rules that only record,
// rules for other agents and upstreams than its own, and names of rules that are ours.
// What else a rule may be is for policy.Load to say.
func binding(text []byte) error {
	body, err := yamltext.Body(text)
	if err != nil || body == nil {
		return err
	}
	for _, m := range yamltext.Members(body) {
		seq, ok := m.Value.(*ast.SequenceNode)
		if m.Key != "rules" || !ok {
			continue
		}
		for i, v := range seq.Values {
			if err := ruleBinds(v, fmt.Sprint(i+1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxFlow is how deep [ and { of rules may be nested, which is what a rule file may have.
const maxFlow = 24

func ruleBinds(n ast.Node, name string) error {
	members := yamltext.Members(n)
	for _, m := range members {
		s, ok := m.Value.(*ast.StringNode)
		if m.Key != "name" || !ok {
			continue
		}
		if slices.ContainsFunc(Kinds(), func(k Kind) bool { return impliedOf(k) == s.Value }) {
			return fmt.Errorf("%w: line %d: rule %s: the name is that of what is named and has no rule", ErrFile, m.Line, s.Value)
		}
		if policy.RuleName(s.Value) {
			name = s.Value
		}
	}
	for _, m := range members {
		what := ""
		switch b, ok := m.Value.(*ast.BoolNode); {
		case m.Key == "shadow" && !(ok && !b.Value):
			what = "the rules of an intent always bind; leave shadow out"
		case m.Key == "agents" || m.Key == "origins":
			what = "an intent is for one agent and one upstream; leave " + m.Key + " out"
		}
		if what != "" {
			return fmt.Errorf("%w: line %d: rule %s: %s", ErrFile, m.Line, name, what)
		}
	}
	return nil
}

// imitates refuses rules with words that look as if they were written in other letters:
// a misspelt argument would leave the right one without the rule.
func (s *ruleSet) imitates() error {
	for i := range s.Rules {
		text, err := canon.Marshal(&s.Rules[i])
		if err == nil && imitating(text) {
			return fmt.Errorf("%w: rule %s: a word has letters of another script that look like Latin ones", ErrFile, s.Rules[i].Name)
		}
	}
	if imitating(s.Rest) {
		return fmt.Errorf("%w: guards: a word has letters of another script that look like Latin ones", ErrFile)
	}
	return nil
}

// imitating goes through the texts of a JSON value. Names and conditions are held to
// more than values, which may be words of other languages.
func imitating(text []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	key := ""
	for {
		t, err := d.ReadToken()
		if err != nil {
			return !errors.Is(err, io.EOF)
		}
		if t.Kind() != '"' {
			continue
		}
		in, n := d.StackIndex(d.StackDepth())
		isName := in == '{' && n%2 == 1
		if isName {
			key = t.String()
		}
		if imitatingWord(t.String(), isName || key == "when") {
			return true
		}
	}
}

// lookalikes are the scripts with letters that people take for Latin ones.
var lookalikes = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

// imitatingWord tells whether a word of the text has letters of those beside Latin ones
// or, whole, nothing but such as look like Latin ones.
func imitatingWord(text string, whole bool) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		other := strings.IndexFunc(word, func(r rune) bool { return unicode.In(r, lookalikes...) }) >= 0
		latin := strings.IndexFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) >= 0
		if other && (latin || whole && ascii(lookalike.Fold(nil, word))) {
			return true
		}
	}
	return false
}

func ascii(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf })
}
