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

// Bounds of the commands in one call.
const (
	maxCommands = 256 << 10 // bytes of values that are commands, or parts of them
	maxParts    = 6         // of one line, and as many lists
	maxTried    = 2 << 20   // bytes of what they can be together
)

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
			l = &line{object: object}
			of[object], order = l, append(order, l)
		}
		l.add(v, k)
		if len(l.parts) > maxParts || len(l.lists) > maxParts {
			w.refuse("ref", v, ref.WhyLong)
			return
		}
		w.elements(v, k)
	}
	for _, l := range order {
		w.command(l)
		if len(l.parts) == 0 { // what it is the words of may stand around it
			if around := above(of, l.object); around != nil && !allOptions(l.lists) {
				w.together(around.parts, l.lists)
			}
		}
	}
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

// above is the nearest line around an object that has a command.
func above(of map[args.Value]*line, object args.Value) *line {
	for v := object.Parent(); v.Kind() != 0; v = v.Parent() {
		if l := of[v]; l != nil && len(l.parts) > 0 {
			return l
		}
	}
	return nil
}

// elements judges the commands in a list of them, lines or arrays of words.
func (w *walker) elements(v args.Value, k kind) {
	git := w.tool().git
	if in, ok := v.Inner(); ok && in.Kind() == '[' {
		w.refuse("ref", v, w.set.refs.CheckWords(wordsOf(in), git))
		v = in
	}
	if v.Kind() != '[' {
		return
	}
	whole := git && strings.Contains(strings.TrimSpace(v.First().Text()), " ") // lines, not words
	for e := v.First(); e.Kind() != 0; e = e.Next() {
		switch e.Kind() {
		case '[':
			w.wrote = true
			w.refuse("ref", e, w.set.refs.CheckWords(wordsOf(e), git))
			w.elements(e, k)
		case '"':
			if k&isCommand != 0 || whole {
				w.refuse("ref", e, w.set.refs.CheckCommand(e.Text(), whole))
			}
		}
	}
}

// command judges a command and its words that stand side by side in one object:
// {"command": "git push origin main"}, {"command": "git", "args": ["push"]}, and of a
// tool that is git {"args": ["push"]}.
func (w *walker) command(l *line) {
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
		w.refuse("ref", part, refs.CheckCommand(part.Text(), git && alone))
	}
	if len(l.parts) > 0 {
		if !alone {
			w.together(l.parts, l.lists)
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
			w.list(list)
		}
	}
	if bare && len(l.lists) > 1 {
		w.together(nil, l.lists)
	}
}

// list judges words that no command stands beside.
func (w *walker) list(l wordList) {
	git, refs := w.tool().git, w.set.refs
	if l.at.Kind() == '"' {
		w.refuse("ref", l.at, refs.CheckCommand(l.text, git))
	}
	w.refuse("ref", l.at, refs.CheckWords(l.words, git))
}

// together judges the parts of a command with the words beside them. Which of several
// a program takes, and in which order, is not known: each is tried first, and each list
// that is more than options alone.
func (w *walker) together(parts []args.Value, lists []wordList) {
	at := args.Value{}
	if len(lists) > 0 {
		at = lists[0].at
	} else if len(parts) > 0 {
		at = parts[len(parts)-1]
	}
	left := maxTried
	for i := range max(1, len(parts)) {
		var head wordList
		for _, p := range rotated(parts, i) {
			head = head.with(wordList{words: strings.Fields(p.Text()), text: p.Text()})
		}
		for j := range max(1, len(lists)) {
			all := head
			for _, l := range rotated(lists, j) {
				all = all.with(l)
			}
			why := w.written(all, &left)
			if why == "" && len(lists) > 1 && !onlyOptions(lists[j].words) {
				why = w.written(head.with(lists[j]), &left)
			}
			if why != "" {
				w.refuse("ref", at, why)
				return
			}
		}
	}
}

// written is why a command and its words are refused: as they are, as a shell reads
// them, and as programs do that part words like a shell and know no comments.
func (w *walker) written(l wordList, left *int) string {
	git := w.tool().git
	if *left -= len(l.text); *left < 0 {
		return ref.WhyLong
	}
	why := ""
	if len(l.text) <= ref.MaxText { // of longer ones only those pass as a line that do not speak of git
		why = w.set.refs.CheckWords(l.words, git)
	}
	if why == "" {
		why = w.set.refs.CheckCommand(l.text, git)
	}
	if why == "" && strings.Contains(l.text, "#") {
		why = w.set.refs.CheckCommand(strings.ReplaceAll(l.text, "#", `\#`), git)
	}
	return why
}

func (l wordList) with(m wordList) wordList {
	text := l.text
	if text != "" && m.text != "" {
		text += " "
	}
	return wordList{words: slices.Concat(l.words, m.words), text: text + m.text}
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
