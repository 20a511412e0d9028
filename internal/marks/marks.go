// Package marks reads JSON by its marks only: quotes, braces, brackets and commas.
// It is for texts that a strict decoder let through, many times as fast as one, and
// builds nothing of them. Of other texts it answers nonsense, but it neither panics
// nor reads beyond their end.
package marks

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Space is the index behind the white space at i.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// near is how far a string is read byte by byte behind a quote that is escaped.
const near = 48

// String is the index behind the string whose opening quote is at i.
func String(b []byte, i int) int {
	for at := i + 1; at < len(b); {
		j := bytes.IndexByte(b[at:], '"')
		if j < 0 {
			break
		}
		quote, slashes := at+j, 0
		for quote-1-slashes >= at && b[quote-1-slashes] == '\\' {
			slashes++
		}
		at = quote + 1
		if slashes%2 == 0 {
			return at
		}
		// Where one quote is escaped the next is near, as in JSON inside of a string.
		for end := min(at+near, len(b)); at < end; at++ {
			switch b[at] {
			case '"':
				return at + 1
			case '\\':
				if at++; at < len(b) && b[at] == '"' {
					end = min(at+near, len(b))
				}
			}
		}
	}
	return len(b)
}

// Scalar is the index behind the number, true, false or null at i.
func Scalar(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[':
			return i
		}
		i++
	}
	return i
}

// Value is the index behind the value that begins at i.
func Value(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = String(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
		default:
			i = max(Scalar(b, i), i+1)
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

// Text is what stands between the quotes of a string, unescaped. It is the text
// itself where nothing in it is escaped, so whoever keeps it copies it.
func Text(quoted []byte) []byte {
	if len(quoted) < 2 || quoted[0] != '"' {
		return nil
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	out, _ := jsontext.AppendUnquote(nil, quoted) // of what is strict there is no error
	return out
}

// Parts goes through the members of the object, or the elements of the array, that
// begins at i. part gets the name with its quotes, nil in an array, and where the
// value begins; it returns the index behind that, or less than zero to stop. The
// result is the index behind the closing bracket, or -1.
func Parts(b []byte, i int, part func(name []byte, value int) int) int {
	if i >= len(b) {
		return -1
	}
	object := b[i] == '{'
	for i = Space(b, i+1); i < len(b) && b[i] != '}' && b[i] != ']'; {
		var name []byte
		if object {
			end := String(b, i)
			name = b[i:end]
			i = Space(b, Space(b, end)+1) // the colon is between
		}
		if i >= len(b) {
			return -1
		}
		if i = part(name, i); i < 0 {
			return -1
		}
		if i = Space(b, i); i < len(b) && b[i] == ',' {
			i = Space(b, i+1)
		} else {
			break
		}
	}
	if i >= len(b) {
		return -1
	}
	return i + 1
}
