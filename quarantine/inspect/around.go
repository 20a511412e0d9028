package inspect

import "strings"

// opening are the bytes behind which a word may be more than a word.
var opening = func() (t [256]bool) {
	for _, c := range "./(`\"'<[|*# " {
		t[c] = c != ' '
	}
	return t
}()

// around is the class that a word has by what stands around it.
func (r *reader) around(w []byte, from, to int, b, after byte) (c class) {
	b2 := byte(' ')
	if from > 1 {
		b2 = r.text[from-2]
	}
	switch b {
	case '.':
		if k := kinds[b2]; k == gapByte || k == endByte {
			c = among(dotSecrets, w, cSecret).or(among(softSecrets, w, cSoft))
		}
		if strings.HasSuffix(r.text[:from], "/tmp/.") {
			c = c.or(cHiddenFile.class())
		}
	case '/':
		c = among(slashSecrets, w, cSecret).or(among(slashSoft, w, cSoft))
	case '(':
		if b2 == '$' {
			c = among(substWords, w, cSubst)
		}
	case '`', '"', '\'':
		if after == b {
			c = among(sideWords, w, cSide)
		}
	}
	if tagged(b, b2, after) {
		if tagWords[string(w)] {
			c = c.or(r.tag(w, to, b2, after))
		}
		c = c.or(among(markWords, w, cSquare))
		if b == '/' && b2 == '<' {
			c = c.or(among(endTags, w, cEndTag))
		}
	}
	if (b == '[' || b == '*' || b == '#') && headWords[string(w)] && r.heading(from, to) {
		c = c.or(cHead.class())
	}
	if after == ':' {
		switch string(w) {
		case "system":
			if lineStart(r.text, from) {
				c = c.or(cSys.class())
			}
		case "http", "https":
			c = c.or(cURL.class())
		}
	}
	return c
}

// tag tells the two kinds of pseudo tags apart: what stands in square brackets
// may be a link, or the mark of a log.
func (r *reader) tag(w []byte, to int, b2, after byte) class {
	if after != ']' || string(w) == "inst" {
		return cTag.class()
	}
	if to+1 == len(r.text) {
		return cSquare.class()
	}
	if kinds[b2] == aByte || kinds[b2] == zeroByte { // map[instruction]bool
		return class{}
	}
	switch c := r.text[to+1]; {
	case c == '(', c == '[', c == ':':
		return class{}
	case c == '\n', kinds[c] == aByte: // a log has a blank there
		return cTag.class()
	}
	return cSquare.class()
}

func among(set map[string]bool, w []byte, p part) class {
	if set[string(w)] {
		return p.class()
	}
	return class{}
}

// heading tells whether a word stands in capitals in a heading of capitals:
// [SYSTEM MONITOR], **HIDDEN**.
func (r *reader) heading(from, to int) bool {
	for i := from; i < len(r.text) && i < from+40; i++ {
		switch c := r.text[i]; {
		case c >= 'a' && c <= 'z':
			return false
		case i >= to && (c == ']' || c == '*' || c == ':'):
			return true
		}
	}
	return false
}

// tagged tells whether a word stands in <word>, </word>, [word], <<word>> or
// <|word|>.
func tagged(b, b2, after byte) bool {
	switch b {
	case '<', '[':
		return after == '>' || after == ']'
	case '(':
		return after == ')' && b2 == '#'
	case '/':
		return (b2 == '<' || b2 == '[') && (after == '>' || after == ']')
	case '|':
		return b2 == '<' && after == '|'
	}
	return false
}

func lineStart(s string, at int) bool {
	for i := at - 1; i >= 0 && at-i <= 8; i-- {
		switch c := s[i]; {
		case c == '\n' || c == '\r':
			return true
		case kinds[c] == aByte || kinds[c] == zeroByte || c >= 0x80:
			return false
		}
	}
	return at <= 8
}

// clause tells whether a word at byte i begins a clause, as orders do: behind a
// mark, or a word that leads to one.
func clause(s string, i int) bool {
	for i > 0 && (s[i-1] == ' ' || s[i-1] == '\t' || s[i-1] == '*' || s[i-1] == '"') {
		i--
	}
	if i == 0 {
		return true
	}
	switch s[i-1] {
	case '.', ':', ';', '!', '?', ',', '\n', '>', ')':
		return true
	}
	for _, w := range [...]string{" and", " then", " now", " please", " must", "Please", "Then", "Now", "Just", " just", " instead", " also", "Also", "First"} {
		if strings.HasSuffix(s[:i], w) {
			return true
		}
	}
	return false
}
