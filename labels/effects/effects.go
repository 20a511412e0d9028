// Package effects decides what a call to a tool does, as a set of effects: by the
// operator's file, else by signed catalogues whose keys the operator enrolled, else
// by a rule over verb, schema and annotations in which a claim can only make the
// answer stricter. A verb or a claim alone never makes a tool of an origin that
// nobody attested a read (RULES.md 3).
package effects

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects/declared"
)

// A Source says who decided an effect.
type Source string

// The sources, in the order in which they are asked.
const (
	ByFile      Source = "file"      // the operator's own word
	ByCatalogue Source = "catalogue" // an entry signed by a key that the operator enrolled
	ByRule      Source = ""          // Rule: nobody said anything
)

// A Tool is what tells one version of a tool from all others.
type Tool struct {
	Origin   string // the upstream's, in text form
	Upstream string // the operator's name for it
	Name     string
	Digest   credentials.Digest // of its metadata, as it is now
}

// A Table is what file and catalogues say. The zero value says nothing. It is
// immutable and safe for concurrent use.
type Table struct {
	file       []block
	catalogues []*Catalogue
}

// NewTable joins a file, nil if there is none, and catalogues.
func NewTable(f *File, catalogues ...*Catalogue) *Table {
	t := &Table{catalogues: catalogues}
	if f != nil {
		t.file = f.blocks
	}
	return t
}

// Of is what file or catalogues say of a tool at a time; ok is false where neither
// says anything. Where catalogues differ, the effects are those of all.
func (t *Table) Of(x Tool, now time.Time) (e labels.Effect, by Source, ok bool) {
	if t == nil {
		return labels.Unclassified, ByRule, false
	}
	for i := range t.file {
		b := &t.file[i]
		if !b.is(x) {
			continue
		}
		if s, has := b.tools[x.Name]; has && (s.digest.IsZero() || s.digest == x.Digest) {
			return s.effect, ByFile, true
		}
	}
	for _, c := range t.catalogues {
		if !c.lives(now) {
			continue
		}
		for _, s := range c.by[catalogued{x.Name, x.Digest}] {
			if s.Origin == "" && !t.Packaged(x, s.Package) || s.Origin != "" && s.Origin != x.Origin {
				continue
			}
			if ok && (e == labels.Unclassified || s.Effect == labels.Unclassified) {
				e = labels.Unclassified
			} else {
				e |= s.Effect
			}
			by, ok = ByCatalogue, true
		}
	}
	return e, by, ok
}

// Ends is the next second since the epoch, after a time, from which Of may say
// something else, since a catalogue ends; 0: never.
func (t *Table) Ends(now time.Time) (at int64) {
	if t == nil {
		return 0
	}
	for _, c := range t.catalogues {
		if c.lives(now) && (at == 0 || c.To.Unix() < at) {
			at = c.To.Unix()
		}
	}
	return at
}

// Packaged tells whether the operator's file says that a tool's upstream runs a
// package. What a launch looks like proves nothing.
func (t *Table) Packaged(x Tool, name string) bool {
	for i := range t.file {
		if b := &t.file[i]; b.packaged == name && b.is(x) {
			return true
		}
	}
	return false
}

// Judge is the effect of a tool: what the table says, else what Rule does. raw is its
// metadata as tools/list has it.
func (t *Table) Judge(x Tool, s labels.Standing, raw jsontext.Value, now time.Time) (labels.Effect, Source) {
	if e, by, ok := t.Of(x, now); ok {
		return e, by
	}
	return Rule(s, raw), ByRule
}

// Rule is the effect of a tool that neither file nor catalogue names, from its
// origin's standing and its metadata. Of an origin that is not attested it is
// Unclassified, which counts as every effect.
func Rule(s labels.Standing, raw jsontext.Value) labels.Effect {
	if s != labels.Attested {
		return labels.Unclassified
	}
	t, err := declared.Read(raw)
	if err != nil {
		return labels.Unclassified
	}
	return effectOf(declared.Agreed(t))
}

// Apparent is what a tool's name, schema and claims look like: for people who write
// a file, and decided on by nobody.
func Apparent(raw jsontext.Value) labels.Effect {
	t, err := declared.Read(raw)
	if err != nil {
		return labels.Unclassified
	}
	return effectOf(declared.Apparent(t))
}

func effectOf(a declared.Acts) (e labels.Effect) {
	for act, is := range map[declared.Acts]labels.Effect{
		declared.Reads: labels.Read, declared.Writes: labels.Write, declared.Egress: labels.Egress,
		declared.Executes: labels.Execute, declared.Destroys: labels.Destructive,
	} {
		if a&act != 0 {
			e |= is
		}
	}
	return e
}
