package content

import "github.com/pratique-dev/pratique/labels/args"

// Patchy tells whether a text may be a patch.
func Patchy(text string) bool { return patchy(text) }

// Places calls f with each path that the arguments of a call would write to, as Writes
// finds them, those that patches name among them, and with the value that says so. Of
// words in a row, which may be those of a command or a list to leave out, none is one.
func Places(root args.Value, f func(path string, at args.Value)) {
	for _, w := range Writes(root) {
		if w.Path != "" && !w.Patch && !w.among {
			f(w.Path, w.value)
		}
		if !w.Patch || len(w.Content) > maxText {
			continue
		}
		c := &check{j: &Judge{}, w: w}
		text, _ := c.decoded()
		for _, p := range readPatch(text, w.seen).files {
			for _, name := range p.names() {
				f(name, w.value)
			}
		}
	}
}
