package guard

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// together judges the parts of a command with the words beside them. Which of several
// a program takes, and in which order, is not known: each is tried first, and each list
// that is more than options alone.
func (w *walker) together(b *ref.Budget, parts []args.Value, lists []wordList) {
	at, size := args.Value{}, 0
	for _, p := range parts {
		at, size = p, size+len(p.Text())
	}
	for i, l := range lists {
		if size += len(l.text) + len(l.words); i == 0 {
			at = l.at
		}
	}
	for i := range max(1, len(parts)) {
		if !b.Take(size) { // before it is made
			w.refuse("ref", at, ref.WhyLong)
			return
		}
		var head wordList
		for _, p := range rotated(parts, i) {
			head = head.with(wordList{words: strings.Fields(p.Text()), text: p.Text()})
		}
		for j := range max(1, len(lists)) {
			if why := w.tried(b, head, lists, j, size); why != "" {
				w.refuse("ref", at, why)
				return
			}
		}
	}
}

// tried is why a command with all lists behind it, the list j first, or with that alone
// is refused.
func (w *walker) tried(b *ref.Budget, head wordList, lists []wordList, j, size int) string {
	if !b.Take(size) {
		return ref.WhyLong
	}
	all := head
	for _, l := range rotated(lists, j) {
		all = all.with(l)
	}
	why := w.written(b, all)
	if why == "" && len(lists) > 1 && !onlyOptions(lists[j].words) {
		why = w.written(b, head.with(lists[j]))
	}
	return why
}

// written is why a command and its words are refused: as they are, as a shell reads
// them, and as programs do that part words like a shell and know no comments.
func (w *walker) written(b *ref.Budget, l wordList) string {
	git := w.tool().git
	why := ""
	if len(l.text) <= ref.MaxText { // of longer ones only those pass as a line that do not speak of git
		why = w.set.refs.CheckWordsIn(b, l.words, git)
	}
	if why == "" {
		why = w.set.refs.CheckCommandIn(b, l.text, git)
	}
	if why == "" && strings.Contains(l.text, "#") {
		why = w.set.refs.CheckCommandIn(b, strings.ReplaceAll(l.text, "#", `\#`), git)
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
