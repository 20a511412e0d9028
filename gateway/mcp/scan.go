package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

// The scanner below reads JSON that the strict decoder let through, by its marks
// only: braces, brackets, commas and quotes. Up to the first error in a text it is
// exact on any input, which is what the depth check before the decode needs.

// skipValue is the index behind the value that begins at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = marks.String(b, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// deeper tells whether arrays and objects nest deeper than the limit. It costs
// no stack and a fraction of the decode.
func deeper(b []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = marks.String(b, i)
			continue
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		}
		i++
	}
	return false
}

// A span is where one member, or element, stands: name and value by their first
// bytes and the ones behind them; from and to enclose all that is between the
// commas or brackets around it.
type span struct {
	from, name, nameEnd, value, valueEnd, to int
}

// A walker goes through the members of an object or the elements of an array.
type walker struct {
	b      []byte
	at     int // behind the opening bracket or the last comma
	object bool
	done   bool
}

// walk is ready before the first member; false if b is neither object nor array.
func walk(b []byte) (walker, bool) {
	i := marks.Space(b, 0)
	if i >= len(b) || b[i] != '{' && b[i] != '[' {
		return walker{}, false
	}
	return walker{b: b, at: i + 1, object: b[i] == '{'}, true
}

func (w *walker) next() (span, bool) {
	if w.done {
		return span{}, false
	}
	s := span{from: w.at}
	i := marks.Space(w.b, w.at)
	if w.object {
		if i >= len(w.b) || w.b[i] != '"' {
			w.done = true
			return span{}, false
		}
		s.name, s.nameEnd = i, marks.String(w.b, i)
		if i = marks.Space(w.b, s.nameEnd); s.nameEnd < s.name+2 || i >= len(w.b) || w.b[i] != ':' {
			w.done = true
			return span{}, false
		}
		i = marks.Space(w.b, i+1)
	}
	s.value, s.valueEnd = i, skipValue(w.b, i)
	if s.valueEnd == s.value {
		w.done = true
		return span{}, false
	}
	s.to = marks.Space(w.b, s.valueEnd)
	w.done = s.to >= len(w.b) || w.b[s.to] != ','
	w.at = s.to + 1
	return s, true
}

// name is the unescaped name of a member.
func (w *walker) name(s span) string { return unquote(w.b[s.name:s.nameEnd]) }

// is tells whether the member has the name, without an allocation as a rule.
func (w *walker) is(s span, name string) bool {
	raw := w.b[s.name:s.nameEnd]
	if len(raw) < 2 {
		return false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == name
	}
	return unquote(raw) == name
}

// unquote is the text of a JSON string; of what is none, nothing.
func unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	out, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ""
	}
	return string(out)
}
