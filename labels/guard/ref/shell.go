package ref

import "strings"

// unknown stands in a word for what a shell would put there.
const unknown = "\x01"

// Bounds of a command line.
const (
	maxSubstitutions = 8            // commands inside of commands
	maxPut           = 32 * MaxText // bytes of words that variables grow to
)

// A reader takes a command line apart as a POSIX shell does, without running anything.
type reader struct {
	s     string
	pos   int
	depth int
	list  [][]string
	words []string
	word  []byte
	open  bool              // whether there is a word, perhaps an empty one
	drop  bool              // whether the next word is a file of a redirection
	into  bool              // whether that is written
	here  bool              // whether it is what a command reads
	deep  bool              // whether something was nested deeper than is read, or grew too long
	vars  map[string]string // what the line itself sets; nil: nothing is known
	grown *int              // bytes that came from vars
}

// commands are the words of each command of a line, those that are run to make a word
// included; false where they are nested deeper than is read. A shell's own words (if,
// do, VAR=x) are words here. Where known, variables that the line has set before are
// what they were set to, and what echo prints is that; else both are unknown.
func commands(line string, known bool) ([][]string, bool) {
	r := &reader{s: line, grown: new(int)}
	if known {
		r.vars = map[string]string{}
	}
	r.read()
	return r.list, !r.deep
}

func (r *reader) read() {
	for r.pos < len(r.s) && !r.deep {
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
			r.redirect(c)
		case '\'':
			r.quoted()
		case '"':
			r.doubled()
		case '\\':
			r.escaped()
		case '$', '`':
			r.expand(c, false)
		case '{', '}', ',':
			if r.put(c); r.vars != nil {
				r.word[len(r.word)-1] = markers[c]
			}
		default:
			r.put(c)
		}
	}
	r.endCommand()
}

func (r *reader) put(c byte) {
	if unknown[0] <= c && c <= marked[2] { // not from us
		c = '*'
	}
	r.word, r.open = append(r.word, c), true
}

func (r *reader) endWord() {
	if r.open {
		list := []string{string(r.word)}
		if r.vars != nil && strings.ContainsAny(list[0], marked) {
			list = r.braces(list[0])
		}
		if value, ok := r.vars[aliased+string(r.word)]; ok && len(r.words) == 0 {
			list = strings.Fields(value)
			r.grow(len(value))
		}
		switch {
		case r.here:
			r.list = append(r.list, list)
		case r.drop:
			for _, w := range list {
				if r.into && w != "" && w != "/dev/null" {
					r.list = append(r.list, []string{redirected, w})
				}
			}
		default:
			r.words = append(r.words, list...)
			if r.set(strings.Join(list, " ")); len(r.words) == 4 && r.words[0] == "for" && r.vars != nil {
				r.vars[r.words[1]] = r.words[3]
			}
		}
		r.drop, r.here = false, false
	}
	r.word, r.open = r.word[:0], false
}

// set remembers what a word sets.
func (r *reader) set(w string) {
	name, value, ok := assignment(w)
	if r.vars == nil || !ok {
		return
	}
	if bare, more := strings.CutSuffix(name, "+"); more {
		name, value = bare, r.vars[bare]+value
	}
	if r.vars[name] = value; len(r.words) > 0 && r.words[0] == "alias" {
		r.vars[aliased+name] = value
	}
	r.grow(len(value))
}

func (r *reader) grow(n int) {
	*r.grown += n
	r.deep = r.deep || *r.grown > maxPut
}

// aliased begins the names of aliases among vars; no variable begins so.
const aliased = "alias "

// assignment takes NAME=value and NAME+=value apart.
func assignment(w string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(w, "=")
	n := letters(name)
	return name, value, ok && n > 0 && (n == len(name) || name[n:] == "+")
}

// letters is how long the name of a variable is that a text begins with.
func letters(s string) (n int) {
	for n < len(s) && (s[n] == '_' || '0' <= s[n] && s[n] <= '9' || 'a' <= s[n]|0x20 && s[n]|0x20 <= 'z') {
		n++
	}
	return n
}

func (r *reader) endCommand() {
	r.endWord()
	if r.drop, r.here = false, false; len(r.words) > 0 {
		r.list = append(r.list, r.words)
	}
	r.words = nil
}

// redirect leaves out the number before and the file behind. A text that a command
// reads (<<<) is a command of its own, as if it were a shell that reads it.
func (r *reader) redirect(c byte) {
	if strings.Trim(string(r.word), "0123456789") == "" {
		r.word, r.open = r.word[:0], false
	}
	r.endWord()
	if c == '<' && strings.HasPrefix(r.s[r.pos:], "<<") {
		r.pos += 2
		r.here = true
		return
	}
	r.into = c == '>'
	for r.pos < len(r.s) && strings.IndexByte("<>&|-", r.s[r.pos]) >= 0 {
		r.into = r.into || r.s[r.pos] == '>'
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
	for r.pos < len(r.s) && !r.deep {
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
			r.expand(c, true)
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
