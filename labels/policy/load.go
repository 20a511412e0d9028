package policy

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"github.com/pratique-dev/pratique/labels/guard"
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
	maxFlow       = 24 // [ and { inside of each other
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
//
// docs/policy.md is its reference.
type file struct {
	Default *word         `yaml:"default"`
	Shadow  *bool         `yaml:"shadow"`
	Guards  *guard.Config `yaml:"guards"`
	Rules   []fileRule    `yaml:"rules"`
}

type fileRule struct {
	Name      word                        `yaml:"name"`
	Allow     *[]word                     `yaml:"allow"`
	Ask       *[]word                     `yaml:"ask"`
	Never     *[]word                     `yaml:"never"`
	Methods   *[]word                     `yaml:"methods"`
	Results   *word                       `yaml:"results"`
	Say       *word                       `yaml:"say"`
	Origins   *[]word                     `yaml:"origins"`
	Agents    *[]word                     `yaml:"agents"`
	Effects   *[]word                     `yaml:"effects"`
	When      *word                       `yaml:"when"`
	Args      map[string]guard.Constraint `yaml:"args"`
	Rate      *fileRate                   `yaml:"rate"`
	New       *[]word                     `yaml:"new"`
	Assurance *word                       `yaml:"assurance"`
	Shadow    *bool                       `yaml:"shadow"`
}

type fileRate struct {
	Over *guard.Literal `yaml:"over"` // with all its digits
	Per  *word          `yaml:"per"`
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
	return newRules(list, f.Shadow != nil && *f.Shadow, f.Guards)
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
		if flow > maxFlow || dashes > 1 || colons > 1 {
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
	case errors.Is(err, guard.ErrConfig):
		what = "a value of guards or args is not one of this format"
	case errors.Is(err, errWord), errors.As(err, new(*yaml.TypeError)):
		what = "a value has another type than its key wants"
	}
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		return fmt.Errorf("%w: line %d: %s", ErrRules, at.GetToken().Position.Line, what)
	}
	return fmt.Errorf("%w: %s", ErrRules, what)
}
