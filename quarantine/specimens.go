package quarantine

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// Errors of content that cannot be taken apart. Whoever gets one treats the
// content as not inspected: it is never clear. They repeat none of it.
var (
	ErrUnreadable = errors.New("quarantine: not strict JSON of the expected shape")
	ErrTooDeep    = errors.New("quarantine: nested too deep")
	ErrTooMany    = errors.New("quarantine: more strings than are inspected")
	ErrItemKind   = errors.New("quarantine: no such kind of item")
)

// Bounds of what is taken apart at once.
const (
	MaxDepth     = 128     // of arrays and objects
	MaxSpecimens = 1 << 18 // of one item or result
	MaxInner     = 6       // levels of JSON inside of strings; below, such a string is one text
)

// Specimens takes one item of a surface apart: every string and every member
// name that an agent may come to read, each with its path and the kind of its
// place. kind is tool, prompt, resource, template, server (raw is an object), page
// (raw is what a browser says of a document: url, origin, title, frames, forms),
// or instructions (raw is a string).
func Specimens(kind string, raw jsontext.Value) ([]Specimen, error) {
	p, ok := items[kind]
	if !ok {
		return nil, ErrItemKind
	}
	want := jsontext.Kind('{')
	if kind == "instructions" {
		want = '"'
	}
	if raw.Kind() != want {
		return nil, ErrUnreadable
	}
	w := walker{}
	if kind == "instructions" {
		w.path = append(w.path, kind...)
	}
	err := w.document(raw, p)
	return w.out, err
}

// ResultSpecimens takes the result of a request apart: every string and every
// member name, JSON inside of strings, and text in base64. All of it is of one
// kind, whatever the method.
func ResultSpecimens(method string, raw jsontext.Value) ([]Specimen, error) {
	w := walker{returned: true}
	err := w.document(raw, resultPlace)
	return w.out, err
}

// ErrorSpecimens does the same for the error of a request: an object with
// message, data and whatever else stands in it.
func ErrorSpecimens(raw jsontext.Value) ([]Specimen, error) {
	w := walker{returned: true, path: []byte("error")}
	err := w.document(raw, errorPlace)
	return w.out, err
}

// MessageSpecimens takes the params of what an upstream sends apart:
// notifications and questions. params may be nil.
func MessageSpecimens(method string, params jsontext.Value) ([]Specimen, error) {
	if len(params) == 0 {
		return nil, nil
	}
	w := walker{returned: true}
	err := w.document(params, messagePlace)
	return w.out, err
}
