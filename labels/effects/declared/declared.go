// Package declared reads what a tool says of itself: what it seems to do, where that
// contradicts itself, and what it has no business to ask for.
//
// A claim to read is held against a name, a description or a schema that writes, and
// each leaf of the input schema that asks for personal or secret data against what
// the tool, and the server that it is of, say they are for. These are reasons to
// look, found by words: they miss what is said in words that nobody thought of, and
// grant nothing.
//
// It needs nothing but the words, so that the inspector, which reads hostile text,
// can use it.
package declared

// Acts is a set of what a call may do.
type Acts uint8

// The acts. None of them: nothing is known.
const (
	Reads Acts = 1 << iota
	Writes
	Egress
	Executes
	Destroys
)

// A Tool is what a tool says of itself, as far as it is judged.
type Tool struct {
	Name        string
	Title       string
	Description string
	Described   int // for whoever made the tool: where the description stands
	Hints       []Hint
	Leaves      []Leaf // of its input schema, at every depth, in the order of the document
}

// A Hint is one annotation that is true or false.
type Hint struct {
	Name  string // readOnlyHint, destructiveHint, idempotentHint, openWorldHint
	Value bool
	At    int // for whoever made the tool: where it stands
}

// A Leaf is one place of an input schema that a call fills in: a property, at any
// depth, with what its items and alternatives say, or a text of the schema that is of
// none.
type Leaf struct {
	Name   string // the property's, the pattern's of patternProperties; empty: it has none
	Above  string // the name of the leaf that it is a member of; empty: none
	Path   string // for people
	Named  bool   // by "required" only, so far as this leaf goes
	At     int    // for whoever made the tool: where it stands
	Enum   bool   // only values that the schema names can be given: texts
	Values []string

	// What its schema says of it, its items and its alternatives, each in the order of
	// the document.
	Types                                   []string
	Titles, Descriptions, Formats, Patterns []Said
}

// A Said is a text of a schema.
type Said struct {
	Text string
	At   int // for whoever made the tool: where it stands
}

// An Origin is what a server says it is for. The zero value says nothing, and
// Known false that nobody has asked yet.
type Origin struct {
	Name         string
	Title        string
	Instructions string
	Known        bool
}

// A Kind is what a finding is of.
type Kind string

// The kinds.
const (
	Contradiction Kind = "contradiction" // a claim against name, description or schema
	Overreach     Kind = "overreach"     // a leaf that the tool's purpose has no use for
)

// A Finding is one reason to look, for operators only (RULES.md 22).
type Finding struct {
	Kind  Kind
	Class Class  // of an overreach: what is asked for
	At    int    // Hint.At or Tool.Described of a contradiction; of an overreach Said.At, or Leaf.At where it is the name
	Path  string // Leaf.Path; of a contradiction: that of the claim
	Why   string // one sentence of ours; of the tool's own words only names of parameters, quoted
}

// Judge holds a tool's parts against each other. It takes time linear in the size
// of the tool. While the origin is not known, what its purpose could excuse is no
// finding yet.
func Judge(t *Tool, o *Origin) []Finding {
	return append(contradictions(t), overreaches(t, o)...)
}

// Apparent is what a tool's name, schema and claims look like, for people who
// write it into a file: nothing is decided on it.
func Apparent(t *Tool) Acts { return apparent(t) }

// Agreed is what is known of a tool whose name and claims may be believed, since its
// origin is attested: a read is what claims, name and schema agree on, and where any
// of them says more, more it is. None: nothing is known.
func Agreed(t *Tool) Acts { return agreed(t) }
