package guard

import (
	"bytes"
	"strings"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/content"
	"github.com/pratique-dev/pratique/labels/guard/gitdir"
)

// WhyInside is said of a path in the folder of a Git repository.
const WhyInside = "The path lies in the folder of a Git repository, whose refs, hooks and settings are there."

// Bounds of texts that are looked at for a path.
const (
	maxPath  = 4096
	maxPlain = 64 // of a text without any sign of paths
)

// inside refuses to write where Git keeps refs, hooks and settings: a file there moves a
// protected ref, or has a command run, as no destination would tell.
func (w *walker) inside() {
	if w.call.Method != "tools/call" || w.call.Effect == labels.Read || w.index.calm {
		return
	}
	before, further := len(w.told), false // whether something may be told that no name of a path says
	for i := range w.index.list {
		m := &w.index.list[i]
		if m.signs&oddName != 0 {
			further = w.insideName(m) || further
		}
		switch m.value.Kind() {
		case '"', '[':
			further = w.insideText(m.value, m) || further
		}
	}
	w.index.calm = !further && len(w.told) == before
	if further && w.changes() {
		content.Places(w.call.Args.Root(), func(path string, at args.Value) {
			if gitdir.Of(path) != gitdir.Elsewhere && !w.keys.silent(squash(nil, at.Name()), isPath) && !w.locates(squash(nil, at.Name()), path) {
				w.refuse("ref", at, WhyInside)
			}
		})
	}
}

// changes tells whether the tool is not known to be a read.
func (w *walker) changes() bool {
	return w.call.Effect != labels.Read && (w.call.Effect != labels.Unclassified || !w.tool().looks)
}

// insideName judges the name of a member, below which a server may take it for a file's;
// further tells whether it may be one.
func (w *walker) insideName(m *member) (further bool) {
	name := m.value.Name()
	if gitdir.Of(name) == gitdir.Elsewhere {
		return false
	}
	path := m.around >= 0 && w.kindOf(&w.index.list[m.around])&isPath != 0
	switch m.value.Kind() {
	case '"', '{', '[':
		path = true // what such a file would hold; true and null are settings of it
	}
	if path && w.changes() {
		w.refuse("ref", m.value, WhyInside)
	}
	return true
}

// insideText judges the texts of a value; further tells whether one of them may name
// such a path without being one by its name.
func (w *walker) insideText(v args.Value, m *member) (further bool) {
	switch v.Kind() {
	case '[':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			further = w.insideText(e, m) || further
		}
		return further
	case '"':
	default:
		return false
	}
	if m.kind&isProse != 0 && m.kind&(isPath|likePath|isInner) == 0 && !v.Marked() && strings.IndexByte(v.Written(), ' ') >= 0 {
		return false // no path and not encoded: not decoded for it
	}
	t := v.Text()
	if m.kind&isProse != 0 && len(t) > maxPlain && strings.IndexByte(t, ' ') < 0 && isPatch(w.index.name(m)) {
		return true // it may be encoded
	}
	if t == "" {
		return false
	}
	if m.kind&isProse == 0 && !isLetter(t[0]) {
		if in, ok := v.Inner(); ok && in.Kind() != '{' {
			further = w.insideText(in, m)
		}
	}
	if !v.Marked() && (m.kind&(isPath|likePath|isInner) == 0 || len(t) > maxPlain) {
		return further
	}
	if m.kind&(isPath|likePath|isInner) == 0 && (len(t) > maxPath || strings.IndexByte(t, '\n') >= 0) {
		return content.Patchy(t) && (gitdir.May(t) || strings.IndexByte(t, '\\') >= 0) || further
	}
	one := m.value.Kind() == '"' // not perhaps a line of a patch
	if one && m.kind&(isProse|isRef) != 0 && m.kind&(isPath|likePath) == 0 || !gitdir.May(t) {
		return further
	}
	return w.insidePath(v, t, m) || further
}

// insidePath judges a text that may be such a path.
func (w *walker) insidePath(v args.Value, t string, m *member) (further bool) {
	k := w.kindOf(m)
	at := gitdir.Of(t)
	if k&isMany != 0 && at == gitdir.Elsewhere {
		for f := range strings.FieldsSeq(t) {
			at = max(at, gitdir.Of(f))
		}
	}
	switch {
	case at == gitdir.Elsewhere:
		return content.Patchy(t)
	case k&(isPath|likePath) == 0 || k&isMail != 0 && k&isPath == 0 || !w.changes():
		return true
	case k&isPath == 0 && strings.Contains(strings.TrimSpace(t), " "): // a sentence
		return true
	case !w.locates(w.index.name(m), t):
		w.refuse("ref", v, WhyInside)
	}
	return false
}

// locates tells whether a path under a squashed name says of a tool that is git which
// repository it works on.
func (w *walker) locates(name []byte, path string) bool {
	switch string(name) {
	case "repopath", "repositorypath", "gitdir", "repo", "repository", "repodir", "repositorydir":
		return w.tool().git && gitdir.Of(path) == gitdir.Folder
	}
	return false
}

// isPatch tells whether a squashed name is that of a patch.
func isPatch(name []byte) bool {
	return bytes.Contains(name, []byte("patch")) || bytes.Contains(name, []byte("diff"))
}
