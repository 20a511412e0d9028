// Package files looks at the links of this machine's file system, so that a path can
// be judged by where it leads. It opens no file.
package files

// Files resolves paths as they lead from one folder. It is immutable and may be
// shared. The zero value tells nothing.
type Files struct {
	base string
}

// From is the file system as it is seen by a process that runs in the folder base, an
// absolute path. Where base is empty, relative paths cannot be resolved.
func From(base string) *Files { return &Files{base: base} }

// Resolve is the absolute path with its links resolved, as far as it exists; what does
// not exist is taken as it stands. ok is false where that cannot be told: a folder that
// may not be read, a loop, too many links, "..", no base.
func (f *Files) Resolve(path string) (resolved string, ok bool) {
	return "", false
}
