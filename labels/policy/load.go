package policy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// ErrRules is every error of a rule file. Its text names rule or line, and
// repeats nothing else of the file.
var ErrRules = errors.New("policy file")

// Bounds of a rule file.
const (
	MaxRulesBytes = 1 << 20
	MaxRules      = 10_000
	maxNames      = 100_000 // of all rules together
	maxNameBytes  = 1024
)

// file is the format:
//
//	default: deny        # may be said, and is so anyhow
//	rules:
//	  - name: reading     # of the rule: [A-Za-z0-9_.-], unique
//	    allow: [list_items, get_item]
//	  - name: mail
//	    ask: [send_mail]
//	  - name: records
//	    never: [delete_record]
//	    methods: [tools/call]
//	  - name: pages
//	    allow: [fetch_page]
//	    results: mark     # of suspect results: mark or hold; cut where no rule says
type file struct {
	Default *word      `yaml:"default"`
	Rules   []fileRule `yaml:"rules"`
}

type fileRule struct {
	Name    word    `yaml:"name"`
	Allow   *[]word `yaml:"allow"`
	Ask     *[]word `yaml:"ask"`
	Never   *[]word `yaml:"never"`
	Methods *[]word `yaml:"methods"`
	Results *word   `yaml:"results"`
}

// A word is a string that YAML reads as one: 42, true and null are something
// else, and what they would become is for the file to say, in quotes.
type word string

var errWord = errors.New("not a string; put it in quotes")

// UnmarshalYAML implements yaml.InterfaceUnmarshaler.
func (w *word) UnmarshalYAML(decode func(any) error) error {
	var v any
	if err := decode(&v); err != nil {
		return err
	}
	s, ok := v.(string)
	if !ok {
		return errWord
	}
	*w = word(s)
	return nil
}

func stringsOf(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

var ruleName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// Load reads a rule file, strictly: unknown and repeated keys, values of other
// types, names that cannot match and words without a meaning are errors, and so
// is a file without rules. A byte order mark and CRLF are taken. Nothing here is
// ever read as "no rules, so anything goes".
func Load(text []byte) (*Rules, error) {
	if len(text) > MaxRulesBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrRules, MaxRulesBytes)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", ErrRules)
	}
	if err := plainYAML(string(text)); err != nil {
		return nil, err
	}
	var f file
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
		return nil, yamlError(err)
	}
	if f.Default != nil && *f.Default != "deny" {
		return nil, fmt.Errorf("%w: default can only be deny", ErrRules)
	}
	if len(f.Rules) == 0 {
		return nil, fmt.Errorf("%w: it has no rules", ErrRules)
	}
	if len(f.Rules) > MaxRules {
		return nil, fmt.Errorf("%w: more than %d rules", ErrRules, MaxRules)
	}
	list, err := readRules(f.Rules)
	if err != nil {
		return nil, err
	}
	r, err := newRules(list)
	if err != nil {
		return nil, fmt.Errorf("%w: a name has no canonical form", ErrRules)
	}
	return r, nil
}

// plainYAML refuses what makes a YAML text mean more than it seems to: anchors,
// aliases, merges, tags, directives, complex keys and further documents. It
// bounds nesting, which the parser does not: a line of nothing but dashes would
// take all memory.
func plainYAML(text string) error {
	flow, content := 0, false
	line, dashes, colons := 0, 0, 0
	for _, t := range lexer.Tokenize(text) {
		bad := func(what string) error { return fmt.Errorf("%w: line %d: %s", ErrRules, t.Position.Line, what) }
		if t.Position.Line != line {
			line, dashes, colons = t.Position.Line, 0, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.DirectiveType, token.MappingKeyType:
			return bad("anchors, aliases, merges, tags, directives and complex keys are not taken")
		case token.DocumentHeaderType, token.DocumentEndType:
			if content || t.Type == token.DocumentEndType {
				return bad("one document only")
			}
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType:
			dashes++
		case token.MappingValueType:
			if flow == 0 {
				colons++
			}
		}
		if flow > 4 || dashes > 1 || colons > 1 {
			return bad("nested too deep")
		}
		content = true
	}
	return nil
}

// yamlError keeps the place of a YAML error and drops its text, which quotes the
// file.
func yamlError(err error) error {
	what := "not valid YAML of this format"
	switch {
	case errors.As(err, new(*yaml.UnknownFieldError)):
		what = "unknown key"
	case errors.As(err, new(*yaml.DuplicateKeyError)):
		what = "repeated key"
	case errors.Is(err, errWord), errors.As(err, new(*yaml.TypeError)):
		what = "a value has another type than its key wants"
	}
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		return fmt.Errorf("%w: line %d: %s", ErrRules, at.GetToken().Position.Line, what)
	}
	return fmt.Errorf("%w: %s", ErrRules, what)
}

func readRules(rules []fileRule) ([]rule, error) {
	seen := map[string]bool{}
	total := 0
	var list []rule
	for i, fr := range rules {
		if !ruleName.MatchString(string(fr.Name)) {
			return nil, fmt.Errorf("%w: rule %d: name must be 1 to 64 of A-Z a-z 0-9 _ . -", ErrRules, i+1)
		}
		if fr.Name == "default" || seen[string(fr.Name)] {
			return nil, fmt.Errorf("%w: rule %s: the name is taken", ErrRules, fr.Name)
		}
		seen[string(fr.Name)] = true
		r, err := fr.read()
		if err != nil {
			return nil, err
		}
		if total += len(r.names); total > maxNames {
			return nil, fmt.Errorf("%w: more than %d names", ErrRules, maxNames)
		}
		list = append(list, r)
	}
	return list, nil
}

func (fr *fileRule) read() (rule, error) {
	bad := func(what string) (rule, error) {
		return rule{}, fmt.Errorf("%w: rule %s: %s", ErrRules, fr.Name, what)
	}
	r := rule{name: string(fr.Name)}
	given := 0
	for _, x := range []struct {
		verb  Verb
		names *[]word
	}{{Allow, fr.Allow}, {Ask, fr.Ask}, {Deny, fr.Never}} {
		if x.names != nil {
			given++
			r.verb, r.names = x.verb, stringsOf(*x.names)
		}
	}
	if given != 1 {
		return bad("exactly one of allow, ask and never")
	}
	if len(r.names) == 0 {
		return bad("it names nothing")
	}
	if what := badName(r.names); what != "" {
		return bad(what)
	}
	if what := fr.results(&r); what != "" {
		return bad(what)
	}
	if fr.Methods == nil {
		return r, nil
	}
	r.methods = stringsOf(*fr.Methods)
	if len(r.methods) == 0 {
		return bad("methods is empty; leave it out")
	}
	for i, m := range r.methods {
		if !slices.Contains(callMethods, m) || slices.Contains(r.methods[:i], m) {
			return bad("methods are some of " + strings.Join(callMethods, ", ") + ", once each")
		}
	}
	return r, nil
}

// badName is what is wrong with one of the names; empty: nothing.
func badName(names []string) string {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		switch {
		case n == "" || len(n) > maxNameBytes:
			return "a name is empty or longer than 1024 bytes"
		case n != strings.TrimSpace(n) || strings.IndexFunc(n, unprintable) >= 0:
			return "a name has blanks at an end or characters that do not show; it could never be what it seems"
		case n != Any && strings.HasSuffix(n, Any):
			return "patterns are not taken: * stands alone, for every name"
		case seen[n]:
			return "a name is given twice"
		}
		seen[n] = true
	}
	return ""
}

// results reads what the rule says of results. Only an allow may loosen: a further
// ask or never permits no more of a result either (RULES.md 30).
func (fr *fileRule) results(r *rule) string {
	if fr.Results == nil {
		return ""
	}
	way, err := ParseResults(string(*fr.Results))
	switch {
	case err != nil || way == Cut:
		return "results is hold or mark; leave it out for cut"
	case r.verb == Deny:
		return "a never has no results"
	case way == Mark && r.verb != Allow:
		return "results: mark is for an allow"
	}
	r.way, r.said = way, true
	return ""
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
