package ref

import (
	"bytes"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// Bounds of what is looked at of one text: beyond them it is refused.
const (
	maxDecodings = 3
	maxGlobs     = 4   // destinations that are patterns, in one text
	maxGlobBytes = 128 // of such a destination
)

// maybe refuses a text in which some reader could find a protected destination: git, a
// server that folds case or takes encoded names, a tool that splits lists.
func (r *Rule) maybe(text string) string {
	var buf, control [256]byte
	if name, ok := plainName(buf[:0], text); ok {
		return r.named(name)
	}
	s := lookalike.Fold(buf[:0], text)
	for range maxDecodings {
		if why := r.list(s); why != "" {
			return why
		}
		if bare := without(control[:0], s); len(bare) != len(s) {
			if why := r.list(bare); why != "" {
				return why
			}
		}
		if !hasEscape(s) {
			return ""
		}
		s = lookalike.Fold(nil, string(unescape(s)))
	}
	return WhyEncoded
}

// plainName appends the folded form of a text that is one name and that nobody reads
// in another way: the common case.
func plainName(b []byte, text string) ([]byte, bool) {
	last := byte('/')
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case (c == '-' || c == '_') && i > 0:
		case (c == '/' || c == '.') && last != '/' && last != '.':
		default:
			return nil, false
		}
		b, last = append(b, c), c
	}
	if last == '/' || last == '.' || len(text) > 128 || bytes.HasSuffix(b, []byte(".git")) || bytes.HasSuffix(b, []byte(".lock")) {
		return nil, false
	}
	return b, true
}

// without appends s without control characters: some readers drop them.
func without(b, s []byte) []byte {
	for _, c := range s {
		if c > ' ' && c != 0x7f || c == ' ' {
			b = append(b, c)
		}
	}
	return b
}

// between tells whether a character parts destinations in a list, in the eyes of some
// reader.
func between(c byte) bool {
	if c <= ' ' || c == 0x7f {
		return true
	}
	switch c {
	case ',', ';', '"', '\'', '`', '|', '&', '(', ')', '<', '>', '=':
		return true
	}
	return false
}

// list judges each destination of a folded text.
func (r *Rule) list(s []byte) string {
	globs, found := 0, false
	for i := 0; i < len(s); {
		if between(s[i]) {
			i++
			continue
		}
		end := i
		for end < len(s) && !between(s[end]) {
			end++
		}
		word := s[i:end]
		i = end
		if len(bytes.Trim(word, "[]{}")) == 0 { // of a list
			continue
		}
		found = true
		if why := r.spec(word, &globs); why != "" {
			return why
		}
	}
	if !found {
		return r.unseen(WhyUnseen)
	}
	return ""
}

// unseen is the sentence for destinations that are hidden, which only a rule about
// branches minds.
func (r *Rule) unseen(why string) string {
	if r.branches || r.only {
		return why
	}
	return ""
}

// spec judges one refspec. git takes what is behind the last colon for the
// destination; all that is behind the first is judged.
func (r *Rule) spec(s []byte, globs *int) string {
	if s[0] == '-' {
		if len(s) == 1 {
			return r.unseen(WhyHead) // the branch before
		}
		return WhyOption
	}
	s = bytes.TrimLeft(s, "+")
	if len(s) == 0 || s[0] == '^' { // with nothing else, all matching branches but these
		return r.unseen(WhyUnseen)
	}
	i := bytes.IndexByte(s, ':')
	if i < 0 {
		return r.destination(s, globs)
	}
	s = s[i+1:]
	found := false
	for len(s) > 0 {
		dst := s
		if i = bytes.IndexByte(s, ':'); i >= 0 {
			dst, s = s[:i], s[i+1:]
		} else {
			s = nil
		}
		if len(dst) == 0 {
			continue
		}
		found = true
		if why := r.destination(dst, globs); why != "" {
			return why
		}
	}
	if !found {
		return r.unseen(WhyUnseen)
	}
	return ""
}

// destination judges one name or pattern, in whatever spelling.
func (r *Rule) destination(dst []byte, globs *int) string {
	var buf [256]byte
	name, glob := tidy(buf[:0], dst)
	if len(name) == 0 {
		return r.unseen(WhyUnseen)
	}
	if glob {
		if *globs++; *globs > maxGlobs || len(name) > maxGlobBytes {
			return WhyPattern
		}
		for _, p := range r.spelled {
			if meets(p, name) {
				return WhyPattern
			}
		}
	}
	return r.named(name)
}

// named judges a folded name, with each prefix taken off that says where it lies.
func (r *Rule) named(name []byte) string {
	at := anySpace
	for {
		if r.branches && headLike(name) {
			return WhyHead
		}
		for i := range r.patterns {
			if p := &r.patterns[i]; p.fits(name, at) {
				return WhyProtected
			}
		}
		rest, space, ok := strip(name)
		if !ok {
			return ""
		}
		if name = rest; at == anySpace {
			at = space
		}
	}
}

// fits tells whether a folded name, found in a space, may be one of the pattern.
func (p *pattern) fits(name []byte, at space) bool {
	if p.space != anySpace && at != anySpace && p.space != at {
		return false
	}
	if !p.star {
		return string(p.glob) == string(name)
	}
	return matches(p.glob, name)
}

// strip takes one prefix off a name that says where it lies. Names that have one by
// chance are judged both ways.
func strip(name []byte) (rest []byte, at space, ok bool) {
	i := bytes.IndexByte(name, '/')
	if i < 0 {
		return name, anySpace, false
	}
	switch string(name[:i]) {
	case "refs":
		return name[i+1:], anySpace, true
	case "heads":
		return name[i+1:], heads, true
	case "tags":
		return name[i+1:], tags, true
	case "origin", "upstream":
		return name[i+1:], heads, true
	case "for": // refs/for/main asks for a review, unless an option says to merge at once
		if bytes.IndexByte(name, '%') >= 0 {
			name, _, _ = bytes.Cut(name, []byte("%"))
			return name[i+1:], heads, true
		}
	case "remotes":
		if j := bytes.IndexByte(name[i+1:], '/'); j >= 0 {
			return name[i+1+j+1:], heads, true
		}
	}
	return name, anySpace, false
}

// tidy appends the name that a lenient reader makes of one: backslashes are slashes,
// slashes, blanks and dots too many go, "..", and what git or a server takes off an
// end. Whatever a shell or a server could take for a pattern becomes "*".
func tidy(b, s []byte) (name []byte, glob bool) {
	s = bytes.TrimLeft(s, `./\`)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			b = slash(b)
		case '/':
			b = slash(b)
		case '~', '^':
			i = len(s)
		case '@':
			if i+1 < len(s) && s[i+1] == '{' {
				i = len(s)
				break
			}
			b = append(b, c)
		case '*', '?', '[', '{', '$':
			glob = true
			if b = append(b, '*'); c == '[' || c == '{' || c == '$' {
				i = len(s) // what follows may be anything
			}
		default:
			b = append(b, c)
		}
	}
	return trimEnd(slash(b)), glob
}

// slash appends a slash behind a path so far, without empty and dotted parts.
func slash(b []byte) []byte {
	i := bytes.LastIndexByte(b, '/') + 1
	switch string(b[i:]) {
	case "", ".":
		return b[:i]
	case "..":
		b = b[:max(i-1, 0)]
		return b[:bytes.LastIndexByte(b, '/')+1]
	}
	return append(b, '/')
}

// trimEnd takes off what servers and git take off, or refuse, at the end of a name.
func trimEnd(b []byte) []byte {
	for {
		n := len(b)
		b = bytes.TrimRight(b, "/.}]")
		b = bytes.TrimSuffix(b, []byte(".git"))
		b = bytes.TrimSuffix(b, []byte(".lock"))
		if len(b) == n {
			return b
		}
	}
}

// hasEscape tells whether a text holds a percent sign with two hexadecimal digits.
func hasEscape[T string | []byte](s T) bool {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' && unhex(s[i+1]) >= 0 && unhex(s[i+2]) >= 0 {
			return true
		}
	}
	return false
}

// unescape decodes such signs.
func unescape(s []byte) []byte {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && unhex(s[i+1]) >= 0 && unhex(s[i+2]) >= 0 {
			b = append(b, byte(unhex(s[i+1])<<4|unhex(s[i+2])))
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return b
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
