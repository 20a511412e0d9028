// Package quarantine is where the untrusted waits: specimens, the verdicts that
// an inspector gives, and what a verdict means for them.
//
// The inspector explains and routes. Nothing here grants anything: a clear
// verdict opens no gate by itself, and a model may raise a verdict, never lower
// it.
package quarantine

import (
	"context"
	"errors"
)

// A Verdict is what an inspector says of a specimen. The zero value is no
// verdict at all, which is never clear: late, failed and missing inspections
// stay there and are treated as suspect.
type Verdict uint8

// The verdicts, in text "missing", "clear", "suspect" and "hostile".
const (
	Missing Verdict = iota
	Clear
	Suspect
	Hostile
)

// A Category says what a finding is about. The set is closed; it is for
// operators, never for agents (RULES.md 10, 22).
type Category string

// The categories, by the stage that finds them.
const (
	// unfold
	Invisible Category = "invisible" // zero-width, tag, variation and bidirectional characters outside of their honest uses
	Lookalike Category = "lookalike" // letters of another script inside a word, to look like it
	Control   Category = "control"   // control characters, terminal escapes
	Hidden    Category = "hidden"    // markup that a renderer hides and a model reads: comments, styles
	Encoded   Category = "encoded"   // words in base64, hex, percent, entities, rot13 or JSON inside of a string

	// structure
	Prose         Category = "prose"         // sentences where a name, a value or an identifier belongs
	Padding       Category = "padding"       // text pushed out of sight
	Reference     Category = "reference"     // a schema that points to somewhere else
	SideParameter Category = "sideparameter" // a parameter that asks for the conversation, the prompt or a note
	OtherTool     Category = "othertool"     // a tool that speaks of when and instead of what other tools are to be used
	TwinName      Category = "twinname"      // a name that looks like another tool's
	Contradiction Category = "contradiction" // annotations against verb or schema
	Overreach     Category = "overreach"     // a parameter that the tool's purpose has no use for
	Tracking      Category = "tracking"      // a URL or an image that carries data away when it is shown
	SecretValue   Category = "secretvalue"   // a key or password as such

	// wording
	Override Category = "override" // wording that orders the reader: ignore, before any other tool, do not tell
	Secrets  Category = "secrets"  // wording that asks for keys, credentials, private files

	// models
	Learned Category = "learned" // the embedded model
	Opinion Category = "opinion" // a language model

	Unreadable Category = "unreadable" // not decoded, too deep, too large: not inspected
	Late       Category = "late"       // a stage that should have run did not: down, late, refused or malformed
)

// A Span is a range of bytes of the specimen's text as received: [From, To).
type Span struct {
	From, To int
}

// A Finding is one reason for a verdict.
type Finding struct {
	Category Category
	Verdict  Verdict // what this finding alone would give
	Path     string  // of the specimen: tools[3].inputSchema.properties.q.description
	At       int     // the specimen's place in the batch
	Span     Span    // of its text
}

// A Kind is the class of place where a specimen stands; the same words are
// judged by it, since a sentence in a description is no sentence in a name.
type Kind string

// The kinds of places.
const (
	KindName        Kind = "name"        // identifiers: tool, prompt and parameter names, property names of schemas
	KindTitle       Kind = "title"       // short display text
	KindDescription Kind = "description" // prose is expected
	KindValue       Kind = "value"       // enum, default, example, const, pattern
	KindURI         Kind = "uri"
	KindInstruction Kind = "instructions" // a server's own words to the model
	KindResult      Kind = "result"       // what a call returned, errors included
	KindMessage     Kind = "message"      // progress, log, question
)

// A Specimen is one piece of content under inspection.
type Specimen struct {
	Path string // where it stands, for people
	Kind Kind
	Text string // decoded: what an agent would read

	// Token is where the JSON string stands that the text was taken out of, in the
	// bytes that were taken apart, quotes included; of the outermost one for what
	// is inside of a string. Empty where the text was no JSON.
	Token  Span
	Inner  bool // inside of another string: JSON or base64
	Within Span // of an inner one: where the value that it is in stands in the text of the outermost string, quotes included; empty: not known
	Name   bool // the name of a member, not a value
	Form   Form // what may stand in the token's place
}

// A Form says what a string has to be for those who read it to go on.
type Form uint8

// The forms.
const (
	FormText   Form = iota // any text
	FormBase64             // base64: clients decode it
	FormFixed              // exactly what it is: an address, an identifier, a word of the protocol
)

// A Depth says how far an inspection goes. The zero value goes to the end.
type Depth uint8

// The depths.
const (
	Full          Depth = iota // every stage, the models too
	Deterministic              // the stages that are rules and tables
)

// String is the depth's name: part of cache keys and records.
func (d Depth) String() string {
	if d == Deterministic {
		return "deterministic"
	}
	return "full"
}

// A Batch is what is judged at once because it is read together. All of it is
// from one origin: texts of two never meet in one inspection.
type Batch struct {
	Origin    string // text form; a language model off this machine may see some only
	Depth     Depth
	Specimens []Specimen
}

// A Report is the answer of an inspector to a batch. Verdict is the maximum over
// the findings, or Clear.
type Report struct {
	Verdict  Verdict
	Findings []Finding // bounded; in the order of the specimens
	Engine   string    // identifies the stages and versions that ran
	// Partial says that a stage did not run to its end: down, late, refused. The
	// verdict stands for now and is kept in no cache (RULES.md 35).
	Partial bool
}

// An Inspector judges. It never fails open: whatever goes wrong inside is a
// report whose verdict is not Clear. It is safe for concurrent use.
type Inspector interface {
	Inspect(ctx context.Context, b Batch) Report
	// Engine is what Report.Engine says of a full inspection: part of every cache
	// key.
	Engine() string
}

var verdictNames = [...]string{"missing", "clear", "suspect", "hostile"}

// String is the text form.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return verdictNames[Missing]
}

// Worse is the worse of two verdicts: hostile before suspect before missing
// before clear.
func Worse(a, b Verdict) Verdict {
	if rank(a) >= rank(b) {
		return a
	}
	return b
}

func rank(v Verdict) int {
	switch v {
	case Clear:
		return 0
	case Suspect:
		return 2
	case Hostile:
		return 3
	default:
		return 1
	}
}

// ErrVerdict says that a text names no verdict.
var ErrVerdict = errors.New("verdict is not one of missing, clear, suspect, hostile")

// ParseVerdict reads the text form.
func ParseVerdict(s string) (Verdict, error) {
	for i, n := range verdictNames {
		if n == s {
			return Verdict(i), nil
		}
	}
	return Missing, ErrVerdict
}

// MarshalText implements encoding.TextMarshaler.
func (v Verdict) MarshalText() ([]byte, error) {
	if int(v) >= len(verdictNames) {
		return nil, ErrVerdict
	}
	return []byte(v.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler; on error v becomes Missing.
func (v *Verdict) UnmarshalText(b []byte) (err error) {
	*v, err = ParseVerdict(string(b))
	return err
}

// Kinds lists the kinds of places.
func Kinds() []Kind {
	return []Kind{KindName, KindTitle, KindDescription, KindValue, KindURI, KindInstruction, KindResult, KindMessage}
}

// Returned tells whether the place is in what an upstream returns or says
// during a call, where coloured logs, quoted attacks and pasted text are honest;
// everything else is metadata.
func (k Kind) Returned() bool { return k == KindResult || k == KindMessage }
