package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
)

// unnamed refuses a push or a commit whose destination stands under no name that is
// known for one: under which it stands is for the file to say. Of what goes upstream
// beside the arguments nothing has to name one.
func (w *walker) unnamed() {
	t := w.tool()
	if !t.push && !t.commits || t.other || w.keys != nil && w.keys.refs != nil {
		return
	}
	switch {
	case w.beside:
		if w.flag.Kind() != 0 && t.push {
			w.refuse("ref", w.flag, w.set.refs.Check(":"))
		}
	case w.wrote || t.looks || w.call.Effect == labels.Read, t.git && t.push: // see pushes
	case t.git:
		w.checkedOut()
	default:
		w.refuse("ref", w.call.Args.Root(), w.set.refs.Check(":"))
	}
}

// checkedOut is unnamed of git commit, which like its command line writes what is
// checked out: of names that say nothing, or may say another thing, it refuses a word
// that is a protected ref.
func (w *walker) checkedOut() {
	for i := range w.index.list {
		m := &w.index.list[i]
		text := m.value.Text()
		if k := w.kindOf(m); k&^(likePath|isTurn|isVague|isMail) != 0 || text == "" || strings.ContainsAny(text, " \t\r\n") {
			continue
		}
		w.refuse("ref", m.value, w.set.refs.Check(text))
	}
}

// isOn tells whether the value of a flag may stand for true.
func isOn(v args.Value) bool {
	switch v.Kind() {
	case 't':
		return true
	case '"', '0':
		x := spelled{said: folded(v)}
		return x.truth(true, true)
	case '[':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			if isOn(e) {
				return true
			}
		}
	}
	return false
}
