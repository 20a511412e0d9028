package policy

// Needs are what a policy wants to know of earlier calls before it decides on an item.
type Needs struct {
	Counts bool     // Facts.Counts, but for New
	New    []string // names of members, or JSON Pointers, of which it has to be known whether their values are new; shared
}
