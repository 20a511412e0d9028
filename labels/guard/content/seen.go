package content

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/labels/args"
)

// patch records a text that has the shape of a patch under a name that does not say so:
// a tool that applies patches calls it content, edits or text as well. A text beside the
// path of a file is what the file will hold, and beside a title what people read: such
// a one counts only where it is a patch from its first line on.
func (g *gather) patch(x args.Value, t string, r role, s *scope) {
	if g.j.secretsOnly || r == patchName || r == proseName || r == oldName && s.new {
		return
	}
	if !patchy(t) {
		if t = patchText(t); !patchy(t) {
			return
		}
	}
	whole, kept := s.topic, false
	for _, p := range s.paths {
		switch e := strings.ToLower(path.Ext(p.Text())); e {
		case "":
		case ".patch", ".diff", ".mbox", ".eml":
			kept = kept || p != x
		default:
			whole = whole || p != x
		}
	}
	if !kept && (!whole || headed(t)) {
		g.out = append(g.out, Write{Content: t, Patch: true, seen: true, value: x})
	}
}

// patchLines records a patch whose lines stand in a list.
func (g *gather) patchLines(x args.Value, r role, s *scope) {
	if !lines(x) || r == proseName {
		return
	}
	for e := x.First(); e.Kind() != 0; e = e.Next() {
		if t := e.Text(); len(t) < 4096 && patchy(t) && !strings.Contains(t, "\n") {
			if r == patchName {
				r = other
			}
			g.patch(x, joined(x), r, s)
			return
		}
	}
}

// patchText is a patch that is encoded as files are; a text that is none is itself.
func patchText(t string) string {
	if len(t) < leastBase64 || strings.IndexByte(t, ' ') >= 0 {
		return t
	}
	d, ok := dataURL(t)
	if !ok {
		d, ok = unbase64(t)
	}
	if d = unicodeText(d); ok && utf8.ValidString(d) {
		return d
	}
	return t
}

// headed tells whether a text is a patch from its first line on: a header, or the mail
// that a patch is sent in.
func headed(t string) bool {
	t = strings.TrimLeft(t, "\ufeff \t\r\n")
	for _, h := range []string{"diff --git ", "--- ", "+++ ", "*** ", "Index:", "From ", "From:", "```diff", "```patch"} {
		if strings.HasPrefix(t, h) {
			return true
		}
	}
	return false
}

// topic tells whether a name is that of a title.
func topic(name string) bool {
	return strings.EqualFold(name, "title") || strings.EqualFold(name, "subject") || strings.EqualFold(name, "heading")
}

// name records the name of a member, which may hold a credential as any text may. What
// is found there is said to be in the object around.
func (g *gather) name(x args.Value) {
	if n := x.Name(); len(n) >= least && suspicious(n) {
		g.names = append(g.names, Write{Content: n, Loose: true, named: true, value: x.Parent()})
	}
}

// Pointer is the JSON Pointer of a value; it ends above a name that holds a credential,
// so that whoever tells it does not repeat one.
func Pointer(v args.Value) string {
	at := v
	for x := v; x.Kind() != 0; x = x.Parent() {
		if n := x.Name(); len(n) >= least && suspicious(n) && credential(n) {
			at = x.Parent()
		}
	}
	return at.Pointer()
}

// Place is a JSON Pointer as Pointer has it, for those who have it as text alone.
func Place(pointer string) string {
	if len(pointer) < least || !suspicious(pointer) && !suspicious(unpointer.Replace(pointer)) {
		return pointer
	}
	for at := 0; at < len(pointer); {
		from := at
		for at++; at < len(pointer) && pointer[at] != '/'; {
			at++
		}
		if n := unpointer.Replace(strings.TrimPrefix(pointer[from:at], "/")); len(n) >= least && credential(n) {
			return pointer[:from]
		}
	}
	return pointer
}

var unpointer = strings.NewReplacer("~1", "/", "~0", "~")

// credential tells whether a text holds one.
func credential(t string) bool {
	c := &check{j: &Judge{}, text: t}
	c.secrets()
	return len(c.out) > 0
}
