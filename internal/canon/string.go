package canon

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// str takes one string and appends its canonical form (RFC 8785 section
// 3.2.2.2). For a name it returns the unescaped text, which may alias in.
func (w *writer) str(name bool) ([]byte, error) {
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
	return w.slowStr(start, name)
}

// plain are the bytes that stand for themselves in and out of a string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 0x80; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// slowStr goes on where the plain run that began at start ended.
func (w *writer) slowStr(start int, name bool) ([]byte, error) {
	w.out = append(w.out, '"')
	var text []byte // of a name, once it has an escape
	from := start   // of the run that is copied as it stands
	for w.pos < len(w.in) {
		switch c := w.in[w.pos]; {
		case plain[c]:
			w.pos++
		case c == '"':
			w.out = append(append(w.out, w.in[from:w.pos]...), '"')
			if text == nil {
				text = w.in[start:w.pos]
			} else {
				text = append(text, w.in[from:w.pos]...)
			}
			w.pos++
			return text, nil
		case c == '\\':
			run := w.in[from:w.pos]
			w.out = append(w.out, run...)
			r, err := w.escape()
			if err != nil {
				return nil, err
			}
			w.out = appendRune(w.out, r)
			if name {
				text = utf8.AppendRune(append(text, run...), r)
			}
			from = w.pos
		case c == 0:
			return nil, ErrNUL
		case c < 0x20:
			return nil, ErrControl
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

var shortEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape takes one escape, or the two of a surrogate pair.
func (w *writer) escape() (rune, error) {
	if w.pos+1 >= len(w.in) {
		return 0, ErrSyntax
	}
	c := w.in[w.pos+1]
	if c != 'u' {
		r := shortEscapes[c]
		if r == 0 {
			return 0, ErrSyntax
		}
		w.pos += 2
		return rune(r), nil
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
