package gateway

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

// A walk reads JSON that was received once, from front to back. A strict decoder let
// it through before, when the frame was read.
type walk struct {
	raw []byte
	i   int
	tmp []byte
}

// object enters an object.
func (w *walk) object() bool {
	w.i = marks.Space(w.raw, w.i)
	if w.i >= len(w.raw) || w.raw[w.i] != '{' {
		return false
	}
	w.i++
	return true
}

// name is the next member's name, decoded; false at the object's end, which is
// read by end. It is good until the next call.
func (w *walk) name() ([]byte, bool) {
	if w.i = marks.Space(w.raw, w.i); w.i < len(w.raw) && w.raw[w.i] == ',' {
		w.i = marks.Space(w.raw, w.i+1)
	}
	if w.i >= len(w.raw) || w.raw[w.i] != '"' {
		return nil, false
	}
	end := marks.String(w.raw, w.i)
	quoted := w.raw[w.i:end]
	w.i = marks.Space(w.raw, end) + 1 // the colon is between
	if bytes.IndexByte(quoted, '\\') < 0 && len(quoted) > 1 {
		return quoted[1 : len(quoted)-1], true
	}
	var err error
	w.tmp, err = jsontext.AppendUnquote(w.tmp[:0], quoted)
	return w.tmp, err == nil
}

// value is the next value, as part of raw.
func (w *walk) value() (jsontext.Value, bool) {
	from := marks.Space(w.raw, min(w.i, len(w.raw)))
	w.i = marks.Value(w.raw, from)
	return jsontext.Value(w.raw[from:w.i:w.i]), w.i > from
}

func (w *walk) skip() bool {
	_, ok := w.value()
	return ok
}

// end leaves the object.
func (w *walk) end() bool {
	w.i = marks.Space(w.raw, min(w.i, len(w.raw)))
	if w.i >= len(w.raw) || w.raw[w.i] != '}' {
		return false
	}
	w.i++
	return true
}
