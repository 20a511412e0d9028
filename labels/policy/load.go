package policy

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/pratique-dev/pratique/internal/yamltext"
	"github.com/pratique-dev/pratique/labels/guard"
)

// ErrRules is every error of a rule file. Its text names line, rule and key, and
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

// A word is a string that YAML reads as one.
type word = yamltext.Word

func stringsOf(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

var ruleName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// Load reads a rule file, strictly: unknown and repeated keys, values of other
// types, keys without a value, names that cannot match and words without a meaning are
// errors, and so is a file without rules. A byte order mark and CRLF are taken. Nothing here is
// ever read as "no rules, so anything goes".
func Load(text []byte) (*Rules, error) {
	if len(text) > MaxRulesBytes {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrRules, MaxRulesBytes)
	}
	text, err := yamltext.Clean(text)
	if err == nil {
		err = yamltext.PlainTo(text, maxFlow)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, err)
	}
	var f file
	if err := decode(text, &f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, err)
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
	list, err := readRules(text, f.Rules)
	if err != nil {
		return nil, err
	}
	return newRules(list, f.Shadow != nil && *f.Shadow, f.Guards)
}
