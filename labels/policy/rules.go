package policy

import "errors"

// Errors of a rule file. They name the rule or the line, never more of the file.
var ErrRules = errors.New("policy file")

// Rules are an operator's rules for one organisation, from a file. They are
// immutable.
type Rules struct {
	rules []rule
	index map[string][]int // by name; "*" is any
}

type rule struct {
	name    string
	verb    Verb // Deny is never
	names   []string
	methods []string // nil: tools/call for allow, every method for ask and never
}

type form struct {
	Default string     `json:"default"`
	Rules   []ruleForm `json:"rules"`
}

type ruleForm struct {
	Name    string   `json:"name"`
	Verb    string   `json:"verb"`
	Names   []string `json:"names"`
	Methods []string `json:"methods,omitzero"`
}

func (r *Rules) form() *form { return &form{Default: "deny"} }

// Load reads a rule file, strictly.
func Load(text []byte) (*Rules, error) { return nil, ErrRules }

func (r *Rules) decide(method, name string) Decision {
	return Decision{reason: NoRule, rule: "default"}
}

// A Source is a rule file that can be read again. It keeps the last good rules.
type Source struct{ rules *Rules }

// OpenSource reads a rule file for the first time: what is not there, not
// readable or not valid fails.
func OpenSource(path string) (*Source, error) { return nil, ErrRules }

// Rules are the last good rules.
func (s *Source) Rules() *Rules { return s.rules }

// Policy is the policy of the last good rules.
func (s *Source) Policy() Policy { return Of(s.rules) }

// Reload reads the file again. On an error the last good rules stay, and the
// error says why. changed tells whether other rules hold than before.
func (s *Source) Reload() (changed bool, err error) { return false, ErrRules }
