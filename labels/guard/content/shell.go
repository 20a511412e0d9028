package content

import (
	"slices"
	"strings"
)

// A word is one word of a shell command: its text with the quotes taken off, with
// variables as $NAME, and the variables it expands.
type word struct {
	text string
	vars []string
}

// A command is one simple command.
type command struct {
	words    []word
	assigned []word // NAME=value before it; text is the whole
	targets  []word // files that its output goes to
	inputs   []word // files, texts and documents that it reads
	next     int    // of the commands: the one that reads its output; 0: none
	captured bool   // its output becomes a part of a word
	from, to int
}

// Pseudo variables: what a command in a word does.
const (
	dumped   = "\x00dump"  // prints all variables
	fetching = "\x00fetch" // fetches something
)

// A lexer takes shell text apart as POSIX shells and bash do: quotes, escapes, $'...',
// substitutions, documents, and the expressions of GitHub. It is linear.
type lexer struct {
	s        string
	i        int
	commands []command
	pending  []pendingDoc
	depth    int
	ticks    int // backticks that are open
}

type pendingDoc struct {
	end     string
	quoted  bool
	command int
}

// maxSubstitutions is how deep substitutions may stand in each other.
const maxSubstitutions = 24

// maxVars is how many different variables of one substitution are followed.
const maxVars = 64

func lex(s string) []command {
	l := &lexer{s: s, commands: make([]command, 1, 8)} // 0 is none
	for l.i < len(l.s) {
		l.run(0, false)
	}
	return l.commands
}

// A commandList is one run over commands that follow each other.
type commandList struct {
	cur  command
	prev int   // the command whose output the next one reads; 0: none
	own  []int // its commands, without those in their words
}

// end puts the command that was read to the others; pipe: the next one reads its output.
func (l *lexer) end(r *commandList, pipe bool) {
	if c := &r.cur; len(c.words)+len(c.assigned)+len(c.targets)+len(c.inputs) > 0 {
		c.to = l.i
		l.commands = append(l.commands, *c)
		n := len(l.commands) - 1
		r.own = append(r.own, n)
		if r.prev > 0 {
			l.commands[r.prev].next = n
		}
		if r.prev = 0; pipe {
			r.prev = n
		}
	}
	r.cur = command{from: l.i, captured: r.cur.captured}
}

// run reads commands up to a byte that ends them; 0: the end of the text.
func (l *lexer) run(end byte, captured bool) (vars []string) {
	r := &commandList{cur: command{from: l.i, captured: captured}}
	for l.i < len(l.s) {
		c := l.s[l.i]
		if end != 0 && c == end {
			l.i++
			break
		}
		if len(r.cur.words)+len(r.cur.assigned) == 0 {
			r.cur.from = l.i
		}
		l.step(r, c)
	}
	l.end(r, false)
	if !captured {
		return nil
	}
	for _, n := range r.own { // what stands in words of words is in their words' variables
		for _, v := range l.commands[n].effects() {
			if len(vars) < maxVars && !slices.Contains(vars, v) {
				vars = append(vars, v)
			}
		}
	}
	return vars
}

// step reads on from a byte.
func (l *lexer) step(r *commandList, c byte) {
	switch {
	case c == '\n':
		l.end(r, false)
		l.i++
		l.documents()
	case c == ' ' || c == '\t' || c == '\r':
		l.i++
	case c == '#':
		l.i += lineLength(l.s[l.i:])
	case c == ';' || c == '(' || c == ')' || c == '&' && !strings.HasPrefix(l.s[l.i:], "&>"):
		l.end(r, false)
		l.i++
	case c == '|':
		two := strings.HasPrefix(l.s[l.i:], "||")
		l.end(r, !two)
		if l.i++; two || strings.HasPrefix(l.s[l.i:], "&") {
			l.i++
		}
	case c == '>' || c == '<' || c == '&':
		l.redirect(&r.cur)
	default:
		l.put(&r.cur)
	}
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// put reads a word and puts it where it belongs.
func (l *lexer) put(cur *command) {
	start := l.i
	w := l.word()
	if l.i == start {
		l.i++ // nothing that a word can begin with
		return
	}
	if (l.i < len(l.s)) && (l.s[l.i] == '>' || l.s[l.i] == '<') && len(w.text) == 1 && w.text[0] >= '0' && w.text[0] <= '9' {
		return // the number of a descriptor
	}
	if name, _, ok := strings.Cut(w.text, "="); ok && len(cur.words) == 0 && isName(strings.TrimSuffix(name, "+")) {
		cur.assigned = append(cur.assigned, w)
		return
	}
	if w.text != "" || len(w.vars) > 0 {
		cur.words = append(cur.words, w)
	}
}

func isName(s string) bool {
	for i := range len(s) {
		if !nameByte(s[i]) || i == 0 && s[0] >= '0' && s[0] <= '9' {
			return false
		}
	}
	return s != ""
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// redirect reads what stands behind > and <.
func (l *lexer) redirect(cur *command) {
	from := l.i
	for l.i < len(l.s) && strings.IndexByte("<>&|-", l.s[l.i]) >= 0 && l.i-from < 3 {
		l.i++
	}
	op := l.s[from:l.i]
	if l.i < len(l.s) && l.s[l.i] == '(' && (op == "<" || op == ">") {
		l.i++
		w := word{text: "/dev/fd", vars: l.nested(')')}
		cur.words = append(cur.words, w)
		return
	}
	for l.i < len(l.s) && (l.s[l.i] == ' ' || l.s[l.i] == '\t') {
		l.i++
	}
	if op == "<<" || op == "<<-" {
		quoted := l.i < len(l.s) && strings.IndexByte(`'"\`, l.s[l.i]) >= 0
		w := l.word()
		cur.inputs = append(cur.inputs, word{text: "\x00document"})
		l.pending = append(l.pending, pendingDoc{w.text, quoted, len(l.commands)})
		return
	}
	w := l.word()
	if strings.HasPrefix(op, "<") {
		cur.inputs = append(cur.inputs, w)
	} else {
		cur.targets = append(cur.targets, w)
	}
}

// documents reads the documents that were announced on the line before.
func (l *lexer) documents() {
	for _, d := range l.pending {
		from := l.i
		end := len(l.s)
		for l.i < len(l.s) {
			n := lineLength(l.s[l.i:])
			at := l.i
			l.i += min(n+1, len(l.s)-l.i)
			if strings.Trim(l.s[at:at+n], " \t\r") == d.end {
				end = at
				break
			}
		}
		if !d.quoted && d.command < len(l.commands) {
			in := &lexer{s: l.s[from:end], depth: l.depth + 1, commands: make([]command, 1)}
			w := word{text: l.s[from:end]}
			for in.i < len(in.s) {
				in.quotedPart(&w, nil, 0)
			}
			l.commands[d.command].inputs = append(l.commands[d.command].inputs, w)
			base := len(l.commands) - 1
			for _, c := range in.commands[1:] {
				if c.next > 0 {
					c.next += base
				}
				c.from, c.to = c.from+from, c.to+from
				l.commands = append(l.commands, c)
			}
		} else if d.command < len(l.commands) {
			l.commands[d.command].inputs = append(l.commands[d.command].inputs, word{text: l.s[from:end]})
		}
	}
	l.pending = l.pending[:0]
}

// nested reads a substitution and is what its commands expand.
func (l *lexer) nested(end byte) []string {
	if l.depth >= maxSubstitutions {
		l.i = len(l.s)
		return []string{dumped} // nobody writes this
	}
	l.depth++
	if end == '`' {
		l.ticks++
	}
	vars := l.run(end, true)
	if end == '`' {
		l.ticks--
	}
	l.depth--
	return vars
}

// word reads one word.
func (l *lexer) word() word {
	var w word
	var b strings.Builder
	for l.i < len(l.s) {
		switch c := l.s[l.i]; c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', '<', '>', '(', ')':
			w.text = b.String()
			return w
		case '\'':
			n := strings.IndexByte(l.s[l.i+1:], '\'')
			if n < 0 {
				n = len(l.s) - l.i - 1
			}
			b.WriteString(l.s[l.i+1 : l.i+1+n])
			l.i = min(l.i+n+2, len(l.s))
		case '"':
			l.i++
			for l.i < len(l.s) && l.s[l.i] != '"' {
				l.quotedPart(&w, &b, '"')
			}
			l.i = min(l.i+1, len(l.s))
		case '\\':
			l.escape(&b)
		case '`':
			if l.ticks > 0 {
				w.text = b.String()
				return w // the end of the substitution around; run takes it
			}
			l.i++
			w.vars = append(w.vars, l.nested('`')...)
		case '$':
			if l.expand(&w, &b) {
				w.text = b.String()
				return w
			}
		default:
			b.WriteByte(c)
			l.i++
		}
	}
	w.text = b.String()
	return w
}

func (l *lexer) escape(b *strings.Builder) {
	if l.i+1 < len(l.s) {
		switch l.s[l.i+1] {
		case '\n':
		default:
			b.WriteByte(l.s[l.i+1])
		}
	}
	l.i = min(l.i+2, len(l.s))
}

// quotedPart reads one step of what stands in double quotes or in a document.
func (l *lexer) quotedPart(w *word, b *strings.Builder, end byte) {
	if b == nil {
		b = &strings.Builder{}
	}
	switch c := l.s[l.i]; {
	case c == '\\' && l.i+1 < len(l.s) && strings.IndexByte("$`\"\\\n", l.s[l.i+1]) >= 0:
		l.escape(b)
	case c == '$':
		l.expand(w, b)
	case c == '`' && l.ticks == 0:
		l.i++
		w.vars = append(w.vars, l.nested('`')...)
	default:
		b.WriteByte(c)
		l.i++
	}
}
