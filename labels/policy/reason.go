package policy

// A Reason says in one word why a decision is what it is. Reasons are stable:
// they stand in logs, refusals and vectors, and the page module shares them.
type Reason string

// The reasons.
const (
	Undecided Reason = "undecided" // nobody decided; denies
)

// A Profile is a start for who has no rules.
type Profile string

// The profiles.
const (
	Watch    Profile = "watch"    // records, never blocks, and says so
	Personal Profile = "personal" // a cleared, unchanged tool may be called
	Strict   Profile = "strict"   // nothing without a rule or an intent
)
