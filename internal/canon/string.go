package canon

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// str takes one string and appends its canonical form (RFC 8785 section
// 3.2.2.2). It returns the unescaped text, which may alias in.
func (w *writer) str() ([]byte, error) {
	w.pos++ // the opening quote
	start := w.pos
	for w.pos < len(w.in) && plain[w.in[w.pos]] {
		w.pos++
	}
	if w.pos < len(w.in) && w.in[w.pos] == '"' { // nothing to unescape or check
		text := w.in[start:w.pos]
		w.out = append(w.out, w.in[start-1:w.pos+1]...)
		w.pos++
		return text, nil
	}
	return w.slowStr(start)
}

// plain are the bytes that stand for themselves in and out of a string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

func (w *writer) slowStr(start int) ([]byte, error) {
	from := start // of the run that is copied as it stands
	w.out = append(w.out, '"')
	var text []byte
	escaped := false
	flush := func(to int) {
		w.out = append(w.out, w.in[from:to]...)
		if escaped {
			text = append(text, w.in[from:to]...)
		}
	}
	for w.pos < len(w.in) {
		switch c := w.in[w.pos]; {
		case c == '"':
			flush(w.pos)
			if !escaped {
				text = w.in[start:w.pos]
			}
			w.out = append(w.out, '"')
			w.pos++
			return text, nil
		case c == '\\':
			flush(w.pos)
			if !escaped {
				escaped = true
				text = bytes.Clone(w.in[start:w.pos])
			}
			r, err := w.escape()
			if err != nil {
				return nil, err
			}
			text = utf8.AppendRune(text, r)
			w.out = appendRune(w.out, r)
			from = w.pos
		case c < 0x20:
			if c == 0 {
				return nil, ErrNUL
			}
			return nil, ErrControl
		case c < utf8.RuneSelf:
			w.pos++
		default:
			r, n := utf8.DecodeRune(w.in[w.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, ErrUTF8
			}
			w.pos += n
		}
	}
	return nil, ErrSyntax
}

var shortEscapes = map[byte]rune{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape takes one escape, or the two of a surrogate pair.
func (w *writer) escape() (rune, error) {
	if w.pos+1 >= len(w.in) {
		return 0, ErrSyntax
	}
	c := w.in[w.pos+1]
	if c != 'u' {
		r, ok := shortEscapes[c]
		if !ok {
			return 0, ErrSyntax
		}
		w.pos += 2
		return r, nil
	}
	r, err := w.unit()
	if err != nil {
		return 0, err
	}
	if r == 0 && !w.lim.AllowNUL {
		return 0, ErrNUL
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if !bytes.HasPrefix(w.in[w.pos:], []byte(`\u`)) {
		return 0, ErrSurrogate
	}
	low, err := w.unit()
	if err != nil {
		return 0, err
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, ErrSurrogate
	}
	return r, nil
}

// unit takes one \uXXXX.
func (w *writer) unit() (rune, error) {
	if w.pos+6 > len(w.in) {
		return 0, ErrSyntax
	}
	var r rune
	for _, c := range w.in[w.pos+2 : w.pos+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, ErrSyntax
		}
		r = r<<4 | rune(c)
	}
	w.pos += 6
	return r, nil
}

func appendRune(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, `\b`...)
	case '\t':
		return append(b, `\t`...)
	case '\n':
		return append(b, `\n`...)
	case '\f':
		return append(b, `\f`...)
	case '\r':
		return append(b, `\r`...)
	}
	if r < 0x20 {
		const hex = "0123456789abcdef"
		return append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
	}
	return utf8.AppendRune(b, r)
}
