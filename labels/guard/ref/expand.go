package ref

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// expand reads a variable, a sum or a command that a shell replaces. Commands are read
// for themselves.
func (r *reader) expand(c byte, quoted bool) {
	rest := r.s[r.pos:]
	switch {
	case c == '`':
		r.substitute(r.inside('`', '`'), quoted)
	case strings.HasPrefix(rest, "("):
		r.pos++
		r.substitute(r.inside('(', ')'), quoted)
	case strings.HasPrefix(rest, "{"):
		r.pos++
		r.parameter(r.inside('{', '}'), quoted)
	case strings.HasPrefix(rest, "'") && !quoted:
		r.pos++
		r.escapes()
	case strings.HasPrefix(rest, `"`) && !quoted: // of another language
	default:
		n := letters(rest)
		if n > 0 && '0' <= rest[0] && rest[0] <= '9' || n == 0 && rest != "" && strings.IndexByte("@*#?$!-", rest[0]) >= 0 {
			n = 1
		}
		if n == 0 {
			r.put('$')
			return
		}
		r.pos += n
		r.variable(rest[:n], "", quoted)
	}
}

// parameter is what stands in ${}: a name, and what is done with it.
func (r *reader) parameter(body string, quoted bool) {
	n := letters(body)
	if otherwise := strings.TrimLeft(body[n:], ":-=+?"); strings.ContainsAny(otherwise, " $`") {
		r.nested(otherwise)
	}
	change := body[n:]
	if otherwise, ok := strings.CutPrefix(strings.TrimPrefix(change, ":"), "-"); ok || strings.HasPrefix(strings.TrimPrefix(change, ":"), "=") {
		if _, set := r.vars[body[:n]]; !set && r.vars != nil && body[:n] != "IFS" {
			r.value(strings.TrimPrefix(otherwise, "="), quoted)
			return
		}
		change = ""
	}
	r.variable(body[:n], change, quoted)
}

// variable puts what a variable is, as far as the line itself says so. White space is
// what IFS holds, unless it was set.
func (r *reader) variable(name, change string, quoted bool) {
	value, known := r.vars[name]
	switch {
	case name == "IFS" && quoted:
		r.put(' ')
	case name == "IFS":
		r.endWord()
	case !known || change != "":
		r.word, r.open = append(r.word, unknown...), true
	default:
		r.value(value, quoted)
	}
}

// value puts a text that a shell parts into words unless it is quoted.
func (r *reader) value(text string, quoted bool) {
	r.open = r.open || quoted
	r.grow(len(text))
	marks := " \t\n"
	if ifs, ok := r.vars["IFS"]; ok {
		marks = ifs
	}
	for i := range len(text) {
		switch c := text[i]; {
		case !quoted && strings.IndexByte(marks, c) >= 0:
			r.endWord()
		case c == unknown[0]:
			r.word, r.open = append(r.word, c), true
		default:
			r.put(c)
		}
	}
}

// substitute puts what a command prints: what echo does is known.
func (r *reader) substitute(body string, quoted bool) {
	list := r.nested(body)
	if r.vars != nil && len(list) == 1 && (list[0][0] == "echo" || list[0][0] == "printf" && !strings.Contains(body, "%")) {
		words := list[0][1:]
		for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' && strings.Trim(words[0][1:], "neE") == "" {
			words = words[1:]
		}
		r.value(strings.Join(words, " "), quoted)
		return
	}
	r.word, r.open = append(r.word, unknown...), true
}

// escapes reads on to the end of $'…'.
func (r *reader) escapes() {
	r.open = true
	for r.pos < len(r.s) {
		c := r.s[r.pos]
		r.pos++
		switch {
		case c == '\'':
			return
		case c != '\\' || r.pos == len(r.s):
			r.put(c)
		default:
			c = r.s[r.pos]
			r.pos++
			r.escape(c)
		}
	}
}

// escape is the character that \c stands for in $'…'.
func (r *reader) escape(c byte) {
	const named, are = "abefnrtv", "\a\b\x1b\f\n\r\t\v"
	digits, base := 0, rune(16)
	switch i := strings.IndexByte(named, c); {
	case i >= 0:
		r.put(are[i])
		return
	case c == 'E':
		r.put(0x1b)
		return
	case c == 'c' && r.pos < len(r.s):
		r.put(r.s[r.pos] & 0x1f)
		r.pos++
		return
	case '0' <= c && c <= '7':
		r.pos--
		digits, base = 3, 8
	case c == 'x':
		digits = 2
	case c == 'u':
		digits = 4
	case c == 'U':
		digits = 8
	default:
		r.put(c)
		return
	}
	var n rune
	for ; digits > 0 && r.pos < len(r.s); digits-- {
		d := rune(unhex(r.s[r.pos]))
		if d < 0 || d >= base {
			break
		}
		n = n*base + d
		r.pos++
	}
	if c == 'u' || c == 'U' {
		for _, b := range utf8.AppendRune(nil, n) {
			r.put(b)
		}
		return
	}
	r.put(byte(n))
}

// inside is the text up to the closing character. Quotes in it do not hide the end of a
// command, since what is behind is then read as well.
func (r *reader) inside(opens, closes byte) string {
	start, level := r.pos, 1
	for ; r.pos < len(r.s) && level > 0; r.pos++ {
		switch c := r.s[r.pos]; {
		case c == '\\':
			r.pos++
		case c == closes:
			level--
		case c == opens:
			level++
		}
	}
	r.pos = min(r.pos, len(r.s))
	if level == 0 {
		return r.s[start : r.pos-1]
	}
	return r.s[start:]
}

// nested reads commands inside of one.
func (r *reader) nested(line string) [][]string {
	if r.grow(len(line)); r.depth == maxSubstitutions {
		r.deep = true
		return nil
	}
	sub := &reader{s: line, depth: r.depth + 1, vars: r.vars, grown: r.grown}
	sub.read()
	r.list, r.deep = append(r.list, sub.list...), r.deep || sub.deep
	return sub.list
}

// Braces and commas that were not quoted are marked until the word ends.
const marked = "\x02\x03\x04"

var (
	bare    = regexp.MustCompile("\x02[^\x02\x03\x04]*\x03")                            // none
	brace   = regexp.MustCompile("\x02([^\x02\x03\x04]*(?:\x04[^\x02\x03\x04]*)+)\x03") // a choice without another in it
	unmark  = strings.NewReplacer("\x02", "{", "\x03", "}", "\x04", ",")
	markers = [256]byte{'{': marked[0], '}': marked[1], ',': marked[2]}
)

// Bounds of the braces of one word.
const (
	maxBraces = 256 // words that they become
	maxLevels = 4   // of braces without a choice in each other
)

var letterRange = regexp.MustCompile(`^([!-~])\.\.([!-~])(?:\.\.-?([0-9]{1,3}))?$`)

// ranged is what marked braces are that hold no comma: a choice, of a range of letters
// ({a..e}), or themselves.
func ranged(s string) string {
	body := s[1 : len(s)-1]
	m := letterRange.FindStringSubmatch(body)
	if m == nil {
		return "{" + body + "}"
	}
	from, to, step := int(m[1][0]), int(m[2][0]), 1
	if n, err := strconv.Atoi(m[3]); err == nil && n > 0 {
		step = n
	}
	if to < from {
		step = -step
	}
	list := []string{}
	for c := from; step > 0 && c <= to || step < 0 && c >= to; c += step {
		list = append(list, string(rune(c)))
	}
	if len(list) == 1 {
		return list[0]
	}
	return marked[:1] + strings.Join(list, marked[2:]) + marked[1:2]
}

// braces are the words that one becomes in shells that expand {a,b}.
func (r *reader) braces(w string) []string {
	for range maxLevels { // what holds no choice
		plain := bare.ReplaceAllStringFunc(w, ranged)
		if plain == w {
			break
		}
		if r.grow(len(plain)); r.deep {
			return nil
		}
		w = plain
	}
	list := []string{w}
	for n := 0; n < len(list); {
		at := brace.FindStringSubmatchIndex(list[n])
		if at == nil {
			list[n] = unmark.Replace(list[n])
			n++
			continue
		}
		before, after := list[n][:at[0]], list[n][at[1]:]
		var made []string
		for choice := range strings.SplitSeq(list[n][at[2]:at[3]], marked[2:]) {
			made = append(made, before+choice+after)
			if r.grow(len(w)); r.deep {
				return nil
			}
		}
		if list = append(list[:n], append(made, list[n+1:]...)...); len(list) > maxBraces || r.deep {
			r.deep = true
			return nil
		}
	}
	return list
}
