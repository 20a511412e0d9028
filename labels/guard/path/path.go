// Package path judges texts that name a file: whether every reading of the text stays
// inside of the folders that are allowed, or is exactly one file. It judges the text
// that is forwarded and rewrites nothing; a text that programs read in two ways is
// refused instead of being understood.
//
// Spellings that pass are the plain one, "./" and "//" inside of it, and a slash at
// the end of a folder. What is encoded, quoted or written in other letters passes
// where every reading of it does: its percent escapes undone, in compatible form
// (NFKC), without quotation marks. Refused is what Reasons lists, ".." always.
package path

import (
	"errors"
	"fmt"
)

// ErrRoot says that a folder or file of Options cannot be used: it is not written
// plainly. The error repeats it not.
var ErrRoot = errors.New("path: a folder or file that is allowed is not a plain path")

// Files is what can be seen of the file system that a path is about.
type Files interface {
	// Resolve is the absolute path with its links resolved, as far as it exists; ok is
	// false where that cannot be told. "." is where relative paths start.
	Resolve(path string) (resolved string, ok bool)
}

// Options say what a path has to be. The zero value asks for hygiene alone: a plain
// text with one reading.
type Options struct {
	// Within are the folders, one of which the path must lie in: absolute ones of the
	// server's machine, or relative ones ("src", "" and "." for the whole) of the
	// folder or repository that the server starts from. A relative path lies in no
	// absolute folder, and the other way round.
	Within []string
	// Exactly are files, one of which the path must be, or lie in one of Within.
	Exactly []string
	// Fold says that letters of ASCII have no case in the names of folders and files.
	Fold bool
	// Windows says that paths are those of a Windows machine: backslashes are slashes,
	// "C:\" begins an absolute path, and Fold is set.
	Windows bool
	// Climbing asks of the text only that no segment of it leads up, in any reading: for
	// URIs, whose schemes and other parts are not this package's to judge. It goes with
	// no other option.
	Climbing bool
}

// A Rule judges paths. It is immutable and may be shared. The zero value, and nil,
// refuse every path.
type Rule struct {
	made    bool
	fold    bool
	windows bool
	climb   bool // what could lead up, and nothing else
	places  []place
	// kinds are those of places: where both are named, what lies in none of them lies
	// outside of the other kind's only perhaps.
	absolute, relative bool
}

// maxPath is what Linux takes (PATH_MAX), in bytes.
const maxPath = 4096

// New compiles a rule. It fails with ErrRoot.
func New(o Options) (*Rule, error) {
	r := &Rule{made: true, fold: o.Fold || o.Windows, windows: o.Windows, climb: o.Climbing}
	if o.Climbing && (len(o.Within)+len(o.Exactly) > 0 || r.fold) {
		return nil, ErrRoot
	}
	for i, texts := range [][]string{o.Within, o.Exactly} {
		for n, text := range texts {
			p, err := r.newPlace(text, i == 1)
			if err != nil {
				return nil, fmt.Errorf("%w: number %d", err, n+1)
			}
			r.places = append(r.places, p)
		}
	}
	for _, p := range r.places {
		r.absolute = r.absolute || p.absolute
		r.relative = r.relative || !p.absolute
	}
	return r, nil
}

// Check is why the rule refuses the text, a sentence of a closed set (see Reasons);
// empty: it passes. files may be nil: then links are not resolved.
func (r *Rule) Check(text string, files Files) (why string) {
	switch {
	case r == nil || !r.made:
		return WhyNoRule
	case text == "" && len(r.places) == 0:
		return ""
	case text == "":
		return WhyEmpty
	case len(text) > maxPath:
		return WhyLong
	}
	f := scan(text)
	if f == 0 {
		return r.reading(text, files)
	}
	return (&reader{Rule: r, files: files}).readings(text, f, 0, false)
}

// reading judges one reading of a text, all of whose characters have been judged.
func (r *Rule) reading(text string, files Files) string {
	if why := r.segments(text); why != "" || len(r.places) == 0 {
		return why
	}
	return r.place(text, files)
}
