package policy

// Statuses of a refusal (RULES.md 10).
const (
	StatusBlocked = "blocked_by_policy"
	StatusHeld    = "held_for_approval"
	EnforcedBy    = "pratique"
)

// A Lexicon is the closed set of words that decisions are told in.
type Lexicon struct {
	Verbs    []string  `json:"verbs"` // from the strictest
	States   []string  `json:"states"`
	Contexts []string  `json:"contexts"` // from the worst
	Results  []string  `json:"results"`  // from the strictest
	Profiles []Profile `json:"profiles"`
	Statuses []string  `json:"statuses"`
	Methods  []string  `json:"methods"`
	Reasons  []Meaning `json:"reasons"`
}

// Vocabulary is that set; vocabulary.json beside this file is it in JSON, for
// the page module. The JSON is written by go test -update.
func Vocabulary() Lexicon {
	return Lexicon{
		Verbs:    verbNames[:],
		States:   stateNames[:],
		Contexts: contextNames[:],
		Results:  resultsNames[:],
		Profiles: []Profile{Personal, Strict, Watch},
		Statuses: []string{StatusBlocked, StatusHeld},
		Methods:  Methods(),
		Reasons:  Meanings(),
	}
}
