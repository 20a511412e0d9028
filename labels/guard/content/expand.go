package content

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// expand reads what begins with a dollar. It is true where that parts the word: ${IFS}
// is white space.
func (l *lexer) expand(w *word, b *strings.Builder) bool {
	s := l.s[l.i:]
	switch {
	case strings.HasPrefix(s, "${{"):
		n := strings.Index(s, "}}")
		if n < 0 {
			n = len(s) - 2
		}
		expr := strings.TrimSpace(s[3:max(3, n)])
		w.vars = append(w.vars, "{"+expr)
		b.WriteString("${{" + expr + "}}")
		l.i = min(l.i+n+2, len(l.s))
	case strings.HasPrefix(s, "$(("):
		b.WriteByte('0')
		l.i += 3
	case strings.HasPrefix(s, "$("):
		l.i += 2
		b.WriteString("$()")
		w.vars = append(w.vars, l.nested(')')...)
	case strings.HasPrefix(s, "${"):
		return l.braced(w, b)
	case strings.HasPrefix(s, "$'"):
		l.i += 2
		l.ansi(b)
	case len(s) > 5 && strings.EqualFold(s[:5], "$env:"):
		n := 5
		for n < len(s) && nameByte(s[n]) {
			n++
		}
		w.vars = append(w.vars, s[5:n])
		b.WriteString("$" + s[5:n])
		l.i += n
	default:
		n := 1
		for n < len(s) && nameByte(s[n]) {
			n++
		}
		if n > 1 {
			w.vars = append(w.vars, s[1:n])
		}
		b.WriteString(s[:n])
		l.i += n
	}
	return false
}

// braced reads ${NAME...}.
func (l *lexer) braced(w *word, b *strings.Builder) bool {
	l.i += 2
	from := l.i
	for l.i < len(l.s) && (nameByte(l.s[l.i]) || l.i == from && (l.s[l.i] == '!' || l.s[l.i] == '#')) {
		l.i++
	}
	name := l.s[from:l.i]
	if strings.EqualFold(name, "env") && l.i < len(l.s) && l.s[l.i] == ':' {
		at := l.i + 1
		for l.i++; l.i < len(l.s) && nameByte(l.s[l.i]); {
			l.i++
		}
		name = l.s[at:l.i]
	}
	rest := l.i
	var inner word
	for l.i < len(l.s) && l.s[l.i] != '}' {
		switch {
		case l.s[l.i] == '$' && l.depth < maxSubstitutions:
			l.depth++
			l.expand(&inner, &strings.Builder{})
			l.depth--
		case l.s[l.i] == '\\':
			l.i = min(l.i+2, len(l.s))
		default:
			l.i++
		}
	}
	op := l.s[rest:l.i]
	l.i = min(l.i+1, len(l.s))
	w.vars = append(w.vars, inner.vars...)
	switch {
	case name == "IFS":
		return true
	case strings.HasPrefix(name, "#") || strings.HasPrefix(op, ":+") || strings.HasPrefix(op, "+"):
	default:
		w.vars = append(w.vars, name)
		b.WriteString("$" + name)
	}
	return false
}

// ansi reads $'...'.
func (l *lexer) ansi(b *strings.Builder) {
	for l.i < len(l.s) {
		switch c := l.s[l.i]; {
		case c == '\'':
			l.i++
			return
		case c == '\\' && l.i+1 < len(l.s):
			n := unescape(b, l.s[l.i+1:])
			l.i += 1 + n
		default:
			b.WriteByte(c)
			l.i++
		}
	}
}

// unescape writes what stands behind a backslash, as C, Python and JavaScript write
// characters, and is how long that was.
func unescape(b *strings.Builder, s string) int {
	digits, base, from := 0, 16, 1
	switch s[0] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case 'n':
		b.WriteByte('\n')
		return 1
	case 't':
		b.WriteByte('\t')
		return 1
	case '0', '1', '2', '3', '4', '5', '6', '7':
		digits, base, from = 3, 8, 0
	}
	n := from
	for n < len(s) && n-from < digits {
		if d := hexDigit(s[n]); d < 0 || d >= base {
			break
		}
		n++
	}
	if digits == 0 || n == from {
		b.WriteByte(s[0])
		return 1
	}
	v, _ := strconv.ParseUint(s[from:n], base, 32)
	if v < 0x80 || digits < 4 {
		b.WriteByte(byte(v))
	} else if v <= utf8.MaxRune {
		b.WriteRune(rune(v))
	}
	return n
}

// effects are what a command expands, with what it does itself where that counts in
// the word around.
func (c *command) effects() (vars []string) {
	for _, list := range [][]word{c.words, c.assigned, c.inputs} {
		for _, w := range list {
			vars = append(vars, w.vars...)
		}
	}
	name, args := c.program()
	if dumps(name, args, c) {
		vars = append(vars, dumped)
	}
	if fetchers[name] || decodes(name, args) {
		vars = append(vars, fetching)
	}
	return vars
}
