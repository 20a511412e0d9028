// Package guard judges the arguments of a call field by field: paths, branches,
// hosts, recipients, numbers and dates, and what is written. A guard refuses or says
// nothing; it never permits.
package guard

// A Violation is one argument that a guard refuses. It repeats no value.
type Violation struct {
	Guard string // closed set: path, ref, host, recipient, number, date, value, content
	Path  string // JSON Pointer of the argument; what stands in JSON inside of a string goes on behind a "!"
	Why   string // one sentence of ours, of a closed set
	Rule  string // the rule or the default that says so
	Line  int    // of the text that Path names, decoded, from 1; 0: not known, or all of it
}

// Files is what can be seen of the file system that a path is about. nil: nothing.
type Files interface {
	// Resolve is the path with its links resolved, as far as it exists; ok is false
	// where that cannot be told.
	Resolve(path string) (resolved string, ok bool)
}
