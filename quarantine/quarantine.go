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

// The categories of the structural inspector.
const (
	Invisible  Category = "invisible"  // zero-width, tag, variation and bidirectional characters outside of their honest uses
	Lookalike  Category = "lookalike"  // letters of another script inside a word, to look like it
	Control    Category = "control"    // control characters, terminal escapes
	Prose      Category = "prose"      // sentences where a name or an identifier belongs
	Override   Category = "override"   // wording that orders the reader: ignore, before any other tool, do not tell
	Secrets    Category = "secrets"    // wording that asks for keys, credentials, private files
	Padding    Category = "padding"    // text pushed out of sight
	Reference  Category = "reference"  // a schema that points to somewhere else
	Unreadable Category = "unreadable" // not decoded, too deep, too large: not inspected
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
	Span     Span
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
}

// A Report is the answer of an inspector to a set of specimens that are read
// together. Verdict is the maximum over the findings, or Clear.
type Report struct {
	Verdict  Verdict
	Findings []Finding // bounded; in the order of the specimens
	Engine   string    // identifies the stages and versions that ran
}

// An Inspector judges. It never fails open: whatever goes wrong inside is a
// report whose verdict is not Clear. It is safe for concurrent use.
type Inspector interface {
	Inspect(ctx context.Context, set []Specimen) Report
	// Engine is what Report.Engine will say: part of every cache key.
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
