package inspect

import "strings"

// Words that hold sentences together, and words that speak to a reader. Names of
// tools are full of the former (GET_A_USER_FOR_THE_TEAM) and never have much of
// the latter.
var (
	joining  = set("the a an of to in and is are was with that for be by on as or at from into if per so but can has have had its their than do does after until first also just here there")
	speaking = set("you your yours must should shall will never always please before when whenever then this these it i me my not dont now instead every them we our us ignore while")
)

func set(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// A measure is what a short text is made of.
type measure struct {
	words, joining, speaking int
	lower, upper             int // whole words between joints that begin with a small or a capital letter
	ends                     int // ends of sentences with more behind
	lines                    int
}

// measured counts a text of at most a few hundred bytes; of a longer one the
// beginning is enough.
func measured(text string) (m measure) {
	if len(text) > 1024 {
		text = text[:1024]
	}
	var buf [longest]byte
	for i := 0; i < len(text); {
		c := text[i]
		if kinds[c] != aByte {
			switch {
			case c == '\n':
				m.lines++
			case kinds[c] == endByte && i+1 < len(text) && text[i+1] == ' ' && i > 0 && kinds[text[i-1]] == aByte:
				m.ends++
			}
			i++
			continue
		}
		from, n := i, 0
		for i < len(text) && (kinds[text[i]] == aByte || kinds[text[i]] == quoteByte) && (i == from || text[i] >= 'a' || text[i] < 'A' || text[i-1] < 'a') {
			if kinds[text[i]] == aByte && n < longest {
				buf[n] = text[i] | 0x20
				n++
			}
			i++
		}
		m.words++
		if joining[string(buf[:n])] {
			m.joining++
		}
		if speaking[string(buf[:n])] {
			m.speaking++
		}
		if (from == 0 || joint(text[from-1])) && (i == len(text) || joint(text[i])) {
			if c >= 'a' {
				m.lower++
			} else if n > 1 {
				m.upper++
			}
		}
	}
	return m
}

// joint tells whether a byte joins the words of a name; a dot parts names.
func joint(c byte) bool { return c == '_' || c == '-' || c == ' ' || c == ',' || c == ':' }

// sentenceName tells whether an identifier is a sentence: too many words, words
// that speak to a reader, or the capitals of sentences.
func sentenceName(text string) bool {
	if len(text) < 20 {
		return false
	}
	m := measured(text)
	tied := m.joining + m.speaking
	switch {
	case m.words >= 14, strings.Count(text, " ") >= 8:
		return true
	case m.words >= 6 && m.speaking >= 2:
		return true
	case m.words >= 8 && m.speaking >= 1 && tied >= 3:
		return true
	case m.words >= 6 && m.lower >= 2 && m.upper >= 1 && tied >= 1:
		return true
	}
	return m.words >= 7 && m.lower >= 2 && m.upper >= 1
}

// sentenceTitle tells whether a title is more than one.
func sentenceTitle(text string) bool {
	if len(text) < 20 {
		return false
	}
	m := measured(text)
	switch {
	case m.words > 14, m.words >= 8 && m.lines > 0, m.words >= 6 && m.ends > 0:
		return true
	}
	return m.words >= 6 && m.speaking >= 2
}

// sentenceValue tells whether a value that a call is to carry is a sentence.
func sentenceValue(text string) bool {
	if len(text) < 20 || !strings.ContainsAny(text, " _-") {
		return false
	}
	m := measured(text)
	tied := m.joining + m.speaking
	return m.words >= 8 && tied >= 2 || m.words >= 6 && m.speaking >= 1 && tied >= 2 && strings.Contains(text, " ")
}
