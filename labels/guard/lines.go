package guard

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// A line is the members of one object that hold a command or a part of it, and those
// that hold words of it, in order.
type line struct {
	object args.Value
	parts  []args.Value
	lists  []wordList
}

// A wordList is the words of a list, and what a program makes of them that hands a
// text to a shell.
type wordList struct {
	at    args.Value
	words []string
	text  string
}

// Bounds of the commands in one call, besides what a ref.Budget has.
const (
	maxCommands = 256 << 10 // bytes of texts that are commands, or parts of them
	maxParts    = 6         // of one line, and as many lists
	maxProgram  = 4096      // bytes of the name of a program
)

// A liner judges the commands of one call, all within one budget.
type liner struct {
	budget   *ref.Budget
	left     int // of maxCommands
	order    []*line
	of       map[args.Value]*line
	has      map[args.Value]bool         // objects that have a command
	programs map[args.Value][]args.Value // and those that have the name of a program
}

// lines judges the commands in the arguments, object by object.
func (w *walker) lines() { w.commands(new(ref.Budget)) }

func (w *walker) commands(b *ref.Budget) {
	l := liner{budget: b, left: maxCommands, of: map[args.Value]*line{}, has: map[args.Value]bool{}, programs: map[args.Value][]args.Value{}}
	w.findCommands(&l)
	w.allLines(&l)
}

// findCommands looks for commands and programs, that other members may be the words of.
func (w *walker) findCommands(l *liner) {
	for i := range w.index.list {
		m := &w.index.list[i]
		if w.kindOf(m)&isCommand != 0 {
			l.has[m.value.Parent()] = true
		} else if m.value.Kind() == '"' && isProgram[string(w.index.name(m))] && len(strings.TrimSpace(m.value.Text())) <= maxProgram {
			object := m.value.Parent()
			l.programs[object] = append(l.programs[object], m.value)
		}
	}
}

// isProgram are names of what is run with the words beside it; where there are none
// they say nothing.
var isProgram = map[string]bool{"program": true, "executable": true, "binary": true, "exe": true}

// isWide are names of words that are more often those of all the input of something.
var isWide = map[string]bool{"params": true, "parameters": true, "arguments": true}

// enough tells whether nothing more is to be told, or the budget is spent: that was told.
func (w *walker) enough(b *ref.Budget) bool {
	return len(w.out) == maxViolations || b.Over() || w.tries && w.failed
}

func (w *walker) allLines(l *liner) {
	for i := range w.index.list {
		m := &w.index.list[i]
		if k := w.kindOf(m); k&(isCommand|isWords) != 0 && !w.part(l, m, k) || w.enough(l.budget) {
			return
		}
	}
	for _, ln := range l.order {
		if w.enough(l.budget) {
			return
		}
		if len(ln.lists) > 0 {
			ln.parts = append(ln.parts, l.programs[ln.object]...)
		}
		if len(ln.parts) > maxParts {
			w.refuse("ref", ln.lists[0].at, ref.WhyLong)
			return
		}
		w.command(l.budget, ln)
		if len(ln.parts) == 0 { // what it is the words of may stand around it
			if around := l.above(ln.object); len(around) > 0 && !allOptions(ln.lists) {
				w.together(l.budget, around, ln.lists)
			}
		}
	}
}

// part takes a member for a part of the line of its object; false where there is too
// much of that.
func (w *walker) part(l *liner, m *member, k kind) bool {
	v, object := m.value, m.value.Parent()
	if k&isCommand == 0 && w.isInput(l, m) {
		return true
	}
	if l.left -= sizeOf(v); l.left < 0 {
		w.refuse("ref", v, ref.WhyLong)
		return false
	}
	ln := l.of[object]
	if ln == nil {
		ln = &line{object: object}
		l.of[object], l.order = ln, append(l.order, ln)
	}
	ln.add(v, k)
	if len(ln.parts) > maxParts || len(ln.lists) > maxParts {
		w.refuse("ref", v, ref.WhyLong)
		return false
	}
	w.elements(l.budget, v, k)
	return true
}

// isInput tells whether a member that may hold words is an object of named input, or
// stands in one, of which no command speaks: its members say themselves what they are.
func (w *walker) isInput(l *liner, m *member) bool {
	inside := false
	for m.kind&isInner != 0 && m.around >= 0 {
		m, inside = &w.index.list[m.around], true
	}
	if !isWide[string(w.index.name(m))] || w.tool().git {
		return false
	}
	if in, ok := m.value.Inner(); !inside && m.value.Kind() != '{' && (!ok || in.Kind() != '{') {
		return false
	}
	for v := m.value.Parent(); v.Kind() != 0; v = v.Parent() {
		if l.has[v] || len(l.programs[v]) > 0 {
			return false
		}
	}
	return true
}

// sizeOf is how long the texts of a value are, without those of objects in it: these
// have names of their own.
func sizeOf(v args.Value) int {
	switch v.Kind() {
	case '[':
		n := 2
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			n += sizeOf(e) + 1
		}
		return n
	case '"':
		return len(v.Raw())
	}
	return 0
}

// add takes a member for what it may be: a text that is a command, or words. A list in
// a text is one as well.
func (l *line) add(v args.Value, k kind) {
	if v.Kind() == '"' {
		if in, ok := v.Inner(); ok && in.Kind() == '[' {
			l.lists = append(l.lists, listOf(in))
		} else if k&isCommand != 0 {
			l.parts = append(l.parts, v)
		} else {
			l.lists = append(l.lists, listOf(v))
		}
	} else if v.Kind() == '[' {
		l.lists = append(l.lists, listOf(v))
	}
}

// above is the command of the nearest line around an object that has one.
func (l *liner) above(object args.Value) []args.Value {
	for v := object.Parent(); v.Kind() != 0; v = v.Parent() {
		if ln := l.of[v]; ln != nil && len(ln.parts) > 0 {
			return ln.parts
		}
		if list := l.programs[v]; len(list) > 0 {
			return list[:min(len(list), maxParts)]
		}
	}
	return nil
}

// elements judges the commands in a list of them, lines or arrays of words.
func (w *walker) elements(b *ref.Budget, v args.Value, k kind) {
	git := w.tool().git
	if in, ok := v.Inner(); ok && in.Kind() == '[' {
		w.refuse("ref", v, w.set.refs.CheckWordsIn(b, wordsOf(in), git))
		v = in
	}
	if v.Kind() != '[' {
		return
	}
	whole := git && strings.Contains(strings.TrimSpace(v.First().Text()), " ") // lines, not words
	for e := v.First(); e.Kind() != 0 && !w.enough(b); e = e.Next() {
		switch e.Kind() {
		case '[':
			w.wrote = true
			w.refuse("ref", e, w.set.refs.CheckWordsIn(b, wordsOf(e), git))
			w.elements(b, e, k)
		case '"':
			if k&isCommand != 0 || whole {
				w.refuse("ref", e, w.set.refs.CheckCommandIn(b, e.Text(), whole))
			}
		}
	}
}

// command judges a command and its words that stand side by side in one object:
// {"command": "git push origin main"}, {"command": "git", "args": ["push"]}, and of a
// tool that is git {"args": ["push"]}.
func (w *walker) command(b *ref.Budget, l *line) {
	git, refs := w.tool().git, w.set.refs
	if len(l.parts) == 1 && git && strings.TrimSpace(l.parts[0].Text()) == "push" && allOptions(l.lists) {
		w.trade.push = true // what is pushed stands in other members
		for _, list := range l.lists {
			w.refuse("ref", list.at, refs.CheckOptions(list.words))
		}
		return
	}
	alone := len(l.parts) == 1 && len(l.lists) == 0
	for _, part := range l.parts {
		w.wrote = true
		w.refuse("ref", part, refs.CheckCommandIn(b, part.Text(), git && alone))
	}
	if len(l.parts) > 0 {
		if !alone {
			w.together(b, l.parts, l.lists)
		}
		return
	}
	bare := false // whether some list is more than options
	for _, list := range l.lists {
		switch {
		case len(list.words) == 0:
		case w.trade.push && strings.HasPrefix(list.words[0], "-"):
			w.refuse("ref", list.at, refs.CheckOptions(list.words))
		default:
			bare, w.wrote = true, true
			w.list(b, list)
		}
	}
	if bare && len(l.lists) > 1 {
		w.together(b, nil, l.lists)
	}
}

// list judges words that no command stands beside.
func (w *walker) list(b *ref.Budget, l wordList) {
	git, refs := w.tool().git, w.set.refs
	if l.at.Kind() == '"' {
		w.refuse("ref", l.at, refs.CheckCommandIn(b, l.text, git))
	}
	w.refuse("ref", l.at, refs.CheckWordsIn(b, l.words, git))
}

// rotated is a list that begins with the element i.
func rotated[T any](list []T, i int) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Concat(list[i:i+1], list[:i], list[i+1:])
}

func onlyOptions(words []string) bool {
	return !slices.ContainsFunc(words, func(s string) bool { return !strings.HasPrefix(s, "-") })
}

func allOptions(lists []wordList) bool {
	return !slices.ContainsFunc(lists, func(l wordList) bool { return !onlyOptions(l.words) })
}

// listOf are the words of an array or a text. What stands in an array is joined as many
// programs do that hand it to a shell, without quotes, but for messages of a commit in
// which a shell would find no further command.
func listOf(v args.Value) wordList {
	l := wordList{at: v, words: wordsOf(v), text: v.Text()}
	if v.Kind() == '"' {
		return l
	}
	var b strings.Builder
	for i, word := range l.words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i > 0 && isMessage[l.words[i-1]] && !strings.ContainsAny(word, ";|&$`\n()<>'\"\\#") {
			word = "x"
		}
		b.WriteString(word)
	}
	l.text = b.String()
	return l
}

// isMessage are options whose value is a text for people.
var isMessage = map[string]bool{"-m": true, "-am": true, "--message": true, "--body": true, "--title": true, "--description": true}

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
