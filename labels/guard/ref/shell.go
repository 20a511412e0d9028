package ref

import "strings"

// unknown stands in a word for what a shell would put there.
const unknown = "\x01"

// maxSubstitutions is how deep commands inside of commands are read.
const maxSubstitutions = 8

// A reader takes a command line apart as a POSIX shell does, without running anything.
type reader struct {
	s     string
	pos   int
	depth int
	list  [][]string
	words []string
	word  []byte
	open  bool // whether there is a word, perhaps an empty one
	drop  bool // whether the next word is a file of a redirection
	deep  bool // whether something was nested deeper than is read
}

// commands are the words of each command of a line, those that are run to make a word
// included; false where they are nested deeper than is read. A shell's own words (if,
// do, VAR=x) are words here.
func commands(line string) ([][]string, bool) {
	r := &reader{s: line}
	r.read()
	return r.list, !r.deep
}

func (r *reader) read() {
	for r.pos < len(r.s) {
		c := r.s[r.pos]
		r.pos++
		switch c {
		case ' ', '\t', '\r':
			r.endWord()
		case '\n', ';', '&', '|', '(', ')':
			r.endCommand()
		case '#':
			if r.open {
				r.put(c)
				break
			}
			for r.pos < len(r.s) && r.s[r.pos] != '\n' {
				r.pos++
			}
		case '<', '>':
			r.redirect()
		case '\'':
			r.quoted()
		case '"':
			r.doubled()
		case '\\':
			r.escaped()
		case '$', '`':
			r.expand(c)
		default:
			r.put(c)
		}
	}
	r.endCommand()
}

func (r *reader) put(c byte) {
	if c == unknown[0] { // not from us
		c = '*'
	}
	r.word, r.open = append(r.word, c), true
}

func (r *reader) endWord() {
	if r.open && !r.drop {
		r.words = append(r.words, string(r.word))
	}
	r.drop = r.drop && !r.open
	r.word, r.open = r.word[:0], false
}

func (r *reader) endCommand() {
	r.endWord()
	if r.drop = false; len(r.words) > 0 {
		r.list = append(r.list, r.words)
	}
	r.words = nil
}

// redirect leaves out the number before and the file behind.
func (r *reader) redirect() {
	if strings.Trim(string(r.word), "0123456789") == "" {
		r.word, r.open = r.word[:0], false
	}
	r.endWord()
	for r.pos < len(r.s) && strings.IndexByte("<>&|-", r.s[r.pos]) >= 0 {
		r.pos++
	}
	r.drop = true
}

// quoted reads on to the closing single quote.
func (r *reader) quoted() {
	r.open = true
	for r.pos < len(r.s) {
		c := r.s[r.pos]
		if r.pos++; c == '\'' {
			return
		}
		r.put(c)
	}
}

// doubled reads on to the closing double quote.
func (r *reader) doubled() {
	r.open = true
	for r.pos < len(r.s) {
		c := r.s[r.pos]
		r.pos++
		switch c {
		case '"':
			return
		case '\\':
			if r.pos < len(r.s) && strings.IndexByte("$`\"\\\n", r.s[r.pos]) >= 0 {
				r.escaped()
				break
			}
			r.put(c)
		case '$', '`':
			r.expand(c)
		default:
			r.put(c)
		}
	}
}

// escaped takes the character behind a backslash as it stands.
func (r *reader) escaped() {
	if r.pos == len(r.s) {
		return
	}
	c := r.s[r.pos]
	if r.pos++; c != '\n' {
		r.put(c)
	}
}

// expand reads a variable, a sum or a command that a shell replaces. The command is
// read for itself.
func (r *reader) expand(c byte) {
	rest := r.s[r.pos:]
	switch {
	case c == '`':
		r.inside('`', '`')
	case strings.HasPrefix(rest, "("):
		r.pos++
		r.inside('(', ')')
	case strings.HasPrefix(rest, "{"):
		if i := strings.IndexByte(rest, '}'); i >= 0 {
			r.pos += i + 1
		} else {
			r.pos = len(r.s)
		}
	case strings.HasPrefix(rest, "'"), strings.HasPrefix(rest, `"`): // $'\x6d': what follows is read as it stands
	default:
		n := 0
		for n < len(rest) && (rest[n] == '_' || '0' <= rest[n] && rest[n] <= '9' || 'a' <= rest[n]|0x20 && rest[n]|0x20 <= 'z') {
			n++
		}
		if n == 0 && rest != "" && strings.IndexByte("@*#?$!-", rest[0]) >= 0 {
			n = 1
		}
		if n == 0 {
			r.put('$')
			return
		}
		r.pos += n
	}
	r.word, r.open = append(r.word, unknown...), true
}

// inside reads the command up to the closing character.
func (r *reader) inside(opens, closes byte) {
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
	end := r.pos
	if level == 0 {
		end--
	}
	if r.depth == maxSubstitutions {
		r.deep = true
		return
	}
	sub := &reader{s: r.s[start:end], depth: r.depth + 1}
	sub.read()
	r.list, r.deep = append(r.list, sub.list...), r.deep || sub.deep
}
