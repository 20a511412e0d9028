package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// A line is the members of one object that hold a command or a part of it, in order,
// and the words behind.
type line struct {
	parts [3]args.Value
	n     int
	words args.Value
}

// maxCommands is how many bytes of values that are commands, or parts of them, are
// judged in one call.
const maxCommands = 256 << 10

// lines judges the commands in the arguments, object by object.
func (w *walker) lines() {
	var order []*line
	left := maxCommands
	of := map[args.Value]*line{}
	for i := range w.index.list {
		m := &w.index.list[i]
		k := w.kindOf(m)
		if k&(isCommand|isWords) == 0 {
			continue
		}
		if left -= len(m.value.Raw()); left < 0 {
			w.refuse("ref", m.value, ref.WhyLong)
			return
		}
		v, object := m.value, m.value.Parent()
		l := of[object]
		if l == nil {
			l = new(line)
			of[object], order = l, append(order, l)
		}
		switch text := v.Kind() == '"'; {
		case text && k&isCommand != 0:
			if l.n < len(l.parts) {
				l.parts[l.n] = v
				l.n++
			} else {
				w.refuse("ref", v, w.set.refs.CheckCommand(v.Text(), false))
			}
		case text, v.Kind() == '[':
			l.words = v
		}
		w.elements(v, k)
	}
	for _, l := range order {
		w.command(l)
	}
}

// elements judges the commands in a list of them, lines or arrays of words.
func (w *walker) elements(v args.Value, k kind) {
	if in, ok := v.Inner(); ok && in.Kind() == '[' {
		w.refuse("ref", v, w.set.refs.CheckWords(wordsOf(in), w.tool().git))
		v = in
	}
	if v.Kind() != '[' {
		return
	}
	for e := v.First(); e.Kind() != 0; e = e.Next() {
		switch e.Kind() {
		case '[':
			w.wrote = true
			w.refuse("ref", e, w.set.refs.CheckWords(wordsOf(e), w.tool().git))
			w.elements(e, k)
		case '"':
			if k&isCommand != 0 {
				w.refuse("ref", e, w.set.refs.CheckCommand(e.Text(), false))
			}
		}
	}
}

// command judges a command and its words that stand side by side in one object:
// {"command": "git push origin main"}, {"command": "git", "args": ["push"]}, and of a
// tool that is git {"args": ["push"]}.
func (w *walker) command(l *line) {
	git, refs, words := w.tool().git, w.set.refs, l.words
	var all []string
	for _, part := range l.parts[:l.n] {
		text := part.Text()
		all = append(all, strings.Fields(text)...)
		alone := l.n == 1 && words.Kind() == 0
		if alone && git && strings.TrimSpace(text) == "push" {
			w.trade.push = true // what is pushed stands in other members
			return
		}
		if alone || strings.ContainsAny(text, ";|&$`(\n") {
			w.refuse("ref", part, refs.CheckCommand(text, git && alone))
		}
	}
	if l.n > 0 {
		w.wrote = true
		if words.Kind() != 0 || l.n > 1 {
			at := words
			if at.Kind() == 0 {
				at = l.parts[l.n-1]
			}
			w.refuse("ref", at, refs.CheckWords(append(all, wordsOf(words)...), git))
		}
		return
	}
	list := wordsOf(words)
	if len(list) == 0 {
		return
	}
	if w.trade.push && strings.HasPrefix(list[0], "-") {
		w.refuse("ref", words, refs.CheckOptions(list))
		return
	}
	w.wrote = true
	if words.Kind() == '"' {
		w.refuse("ref", words, refs.CheckCommand(words.Text(), git))
		return
	}
	w.refuse("ref", words, refs.CheckWords(list, git))
}

// pushes refuses a git push whose destination no argument names, or that writes all.
func (w *walker) pushes() {
	if w.set.refs == nil || !w.tool().push || w.keys != nil && w.keys.refs != nil {
		return
	}
	switch {
	case w.flag.Kind() != 0 && (w.wrote || w.trade.git):
		w.refuse("ref", w.flag, w.set.refs.Check(":"))
	case w.trade.git && !w.wrote:
		w.refuse("ref", w.call.Args.Root(), w.set.refs.Check(":"))
	}
}

// wordsOf are the texts of an array, or the words of a text.
func wordsOf(v args.Value) []string {
	if v.Kind() == '"' {
		return strings.Fields(v.Text())
	}
	var list []string
	for e := v.First(); e.Kind() != 0; e = e.Next() {
		if e.Kind() == '"' {
			list = append(list, e.Text())
		}
	}
	return list
}
