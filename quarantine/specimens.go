package quarantine

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

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
// place. kind is tool, prompt, resource, template or server (raw is an object),
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
	w := walker{inner: true}
	err := w.document(raw, resultPlace)
	return w.out, err
}

// ErrorSpecimens does the same for the error of a request. data may be nil.
func ErrorSpecimens(message string, data jsontext.Value) ([]Specimen, error) {
	w := walker{inner: true, path: []byte("error.message")}
	if err := w.text(resultPlace, message); err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return w.out, nil
	}
	w.path = append(w.path[:0], "error.data"...)
	err := w.document(data, resultPlace)
	return w.out, err
}

// MessageSpecimens takes the params of what an upstream sends apart:
// notifications and questions. params may be nil.
func MessageSpecimens(method string, params jsontext.Value) ([]Specimen, error) {
	if len(params) == 0 {
		return nil, nil
	}
	w := walker{inner: true}
	err := w.document(params, messagePlace)
	return w.out, err
}

// A walker takes one document apart.
type walker struct {
	out   []Specimen
	path  []byte
	seen  map[string]bool // member names met before, where inner is set: rows repeat them
	inner bool            // look inside of strings
	level int             // of strings that we are inside of
}

func (w *walker) document(raw []byte, p *place) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if err := w.value(d, p, 0); err != nil {
		if err == ErrTooDeep || err == ErrTooMany {
			return err
		}
		return ErrUnreadable
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return ErrUnreadable
	}
	return nil
}

func (w *walker) value(d *jsontext.Decoder, p *place, depth int) error {
	if depth > MaxDepth {
		return ErrTooDeep
	}
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case '"':
		return w.text(p, t.String())
	case '[':
		return w.array(d, p, depth)
	case '{':
		return w.object(d, p, depth)
	}
	return nil
}

func (w *walker) array(d *jsontext.Decoder, p *place, depth int) error {
	at := len(w.path)
	for i := 0; d.PeekKind() != ']'; i++ {
		w.path = append(w.path[:at], '[')
		w.path = strconv.AppendInt(w.path, int64(i), 10)
		w.path = append(w.path, ']')
		if err := w.value(d, p, depth+1); err != nil {
			return err
		}
	}
	w.path = w.path[:at]
	_, err := d.ReadToken()
	return err
}

func (w *walker) object(d *jsontext.Decoder, p *place, depth int) error {
	at := len(w.path)
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		w.path = appendMember(w.path[:at], name)
		child, known := p.members[name]
		if !known {
			child = p.rest
			if err := w.name(p, name); err != nil {
				return err
			}
		}
		switch {
		case w.inner && (name == "blob" || name == "data") && d.PeekKind() == '"':
			err = w.blob(d, child)
		default:
			err = w.value(d, child, depth+1)
		}
		if err != nil {
			return err
		}
	}
	w.path = w.path[:at]
	_, err := d.ReadToken()
	return err
}

// name adds a member name that is not the protocol's own.
func (w *walker) name(p *place, name string) error {
	if w.inner {
		if w.seen[name] {
			return nil
		}
		if w.seen == nil {
			w.seen = map[string]bool{}
		}
		w.seen[name] = true
	}
	return w.add(p.names, name)
}

// text adds a string, and what is inside of it where it is JSON. Without a
// backslash everything inside stands in the string itself, word for word.
func (w *walker) text(p *place, s string) error {
	if err := w.add(p.text, s); err != nil {
		return err
	}
	if !w.inner || w.level >= MaxInner || !strings.Contains(s, `\`) {
		return nil
	}
	if t := strings.TrimLeft(s, " \t\r\n"); t == "" || !strings.ContainsRune(`{["`, rune(t[0])) || !jsontext.Value(t).IsValid() {
		return nil
	}
	sub := walker{out: w.out, path: append(w.path, "(json)"...), seen: w.seen, inner: true, level: w.level + 1}
	err := sub.document([]byte(s), p)
	w.out, w.seen = sub.out, sub.seen
	return err
}

// blob adds a string that may be base64, and the text that it stands for, if it
// is text: some clients show it.
func (w *walker) blob(d *jsontext.Decoder, p *place) error {
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	s := t.String()
	if err := w.text(p, s); err != nil || len(s) < 16 {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(b) {
		return nil
	}
	w.path = append(w.path, "(base64)"...)
	return w.text(p, string(b))
}

func (w *walker) add(k Kind, s string) error {
	if s == "" {
		return nil
	}
	if len(w.out) >= MaxSpecimens {
		return ErrTooMany
	}
	w.out = append(w.out, Specimen{Path: string(w.path), Kind: k, Text: s})
	return nil
}

// appendMember appends a member's name to a path. Paths are shown to people:
// what is not a plain short word is quoted, in ASCII, and cut.
func appendMember(path []byte, name string) []byte {
	const most = 64
	plain := name != "" && len(name) <= most
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_$-/:@+", c) >= 0
	}
	if plain {
		if len(path) > 0 {
			path = append(path, '.')
		}
		return append(path, name...)
	}
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	path = append(path, '[')
	path = strconv.AppendQuoteToASCII(path, name)
	return append(path, ']')
}
