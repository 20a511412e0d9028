package gateway

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// A walk reads JSON that was received once, from front to back.
type walk struct {
	buf bytes.Buffer
	dec jsontext.Decoder
	raw []byte
	tmp []byte
}

var walks = sync.Pool{New: func() any { return new(walk) }}

// keepWalk is the largest name buffer that goes back to the pool.
const keepWalk = 4 << 10

func newWalk(raw []byte) *walk {
	w := walks.Get().(*walk)
	w.raw = raw
	w.buf = *bytes.NewBuffer(raw)
	w.dec.Reset(&w.buf)
	return w
}

// free gives the walk back. Names that it returned are not good any more;
// values are, since they lie in raw.
func (w *walk) free() {
	w.raw, w.buf = nil, bytes.Buffer{}
	w.dec.Reset(&w.buf)
	if cap(w.tmp) > keepWalk {
		w.tmp = nil
	}
	walks.Put(w)
}

// object enters an object.
func (w *walk) object() bool {
	t, err := w.dec.ReadToken()
	return err == nil && t.Kind() == '{'
}

// name is the next member's name, decoded; false at the object's end, which is
// read by end. It is good until the next call.
func (w *walk) name() ([]byte, bool) {
	if w.dec.PeekKind() != '"' {
		return nil, false
	}
	v, err := w.dec.ReadValue()
	if err != nil {
		return nil, false
	}
	w.tmp, err = jsontext.AppendUnquote(w.tmp[:0], v)
	return w.tmp, err == nil
}

// value is the next value, as part of raw.
func (w *walk) value() (jsontext.Value, bool) {
	v, err := w.dec.ReadValue()
	if err != nil {
		return nil, false
	}
	to := int(w.dec.InputOffset())
	return jsontext.Value(w.raw[to-len(v) : to : to]), true
}

func (w *walk) skip() bool { return w.dec.SkipValue() == nil }

// end leaves the object or array.
func (w *walk) end() bool {
	_, err := w.dec.ReadToken()
	return err == nil
}
