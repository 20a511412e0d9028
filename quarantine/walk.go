package quarantine

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A walker takes one document apart.
type walker struct {
	doc      string // all of the text that is taken apart: specimens are parts of it
	out      []Specimen
	path     []byte
	left     *int            // bytes of paths and texts that the document may still cost
	seen     map[string]bool // member names met before, in what is returned: rows repeat them
	returned bool            // of a call, not of an item
	level    int             // of strings that we are inside of

	// what follows is of a walker inside of a string
	token  Span // the outermost string
	form   Form // of it
	within Span // the value of its text that we are inside of; empty: not known
	opaque bool // the text stands nowhere as it is: base64
	quiet  bool // the values stood in the outer text word for word
}

// document walks through all of a JSON text, which is one value.
func (w *walker) document(raw []byte, p *place) error {
	w.doc = string(raw)
	left := perByte*len(raw) + alone
	w.left = &left
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
	if d.PeekKind() == '"' {
		s, at, err := w.readString(d)
		if err != nil {
			return err
		}
		return w.text(p, s, at)
	}
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch t.Kind() {
	case '[':
		return w.array(d, p, depth)
	case '{':
		return w.object(d, p, depth)
	case 't', 'f', '0':
		if p.literal {
			return w.add(p, t.String(), Span{}, false)
		}
	}
	return nil
}

// readString is the next string, and where it stands.
func (w *walker) readString(d *jsontext.Decoder) (string, Span, error) {
	v, err := d.ReadValue()
	if err != nil {
		return "", Span{}, err
	}
	to := int(d.InputOffset())
	at := Span{to - len(v), to}
	if bytes.IndexByte(v, '\\') < 0 {
		return w.doc[at.From+1 : at.To-1], at, nil
	}
	b, _ := jsontext.AppendUnquote(nil, v) // what the decoder let through: its error speaks of U+FFFD in the place of something
	return string(b), at, nil
}

func (w *walker) array(d *jsontext.Decoder, p *place, depth int) error {
	outer := w.enter()
	at := len(w.path)
	for i := 0; d.PeekKind() != ']'; i++ {
		w.path = append(w.path[:at], '[')
		w.path = strconv.AppendInt(w.path, int64(i), 10)
		w.path = append(w.path, ']')
		if err := w.value(d, p, depth+1); err != nil {
			return err
		}
	}
	w.leave(outer, at)
	_, err := d.ReadToken()
	return err
}

func (w *walker) object(d *jsontext.Decoder, p *place, depth int) error {
	outer := w.enter()
	at := len(w.path)
	var blobs []blobText
	kind := ""
	for d.PeekKind() == '"' {
		name, where, err := w.readString(d)
		if err != nil {
			return err
		}
		w.path = appendMember(w.path[:at], name)
		child, known := p.members[name]
		if !known {
			child = p.rest
			if err := w.name(p, name, where); err != nil {
				return err
			}
		}
		switch {
		case w.returned && (name == "blob" || name == "data") && d.PeekKind() == '"':
			x := blobText{p: child, path: string(w.path)}
			x.s, x.at, err = w.readString(d)
			blobs = append(blobs, x)
		case w.returned && name == "mimeType":
			from := d.InputOffset()
			err = w.value(d, child, depth+1)
			kind = w.doc[from:d.InputOffset()]
		default:
			err = w.value(d, child, depth+1)
		}
		if err != nil {
			return err
		}
	}
	if err := w.blobs(blobs, kind); err != nil {
		return err
	}
	w.leave(outer, at)
	_, err := d.ReadToken()
	return err
}

// name adds a member name that is not the protocol's own.
func (w *walker) name(p *place, name string, at Span) error {
	if w.quiet && plainName(name) {
		return nil
	}
	if w.returned {
		if w.seen[name] {
			return nil
		}
		if w.seen == nil {
			w.seen = map[string]bool{}
		}
		w.seen[name] = true
	}
	return w.add(p, name, at, true)
}

// text adds a string, and what is inside of it.
func (w *walker) text(p *place, s string, at Span) error {
	if !w.quiet {
		if err := w.add(p, s, at, false); err != nil {
			return err
		}
	}
	if len(s) < 5 || w.level >= MaxInner {
		return nil
	}
	if s[0] == 'd' || s[0] == 'D' {
		return w.dataURI(p, s, at)
	}
	return w.json(p, s, at)
}

// json looks inside of a string that is JSON. Without a backslash the values in it
// stand in the string itself, word for word, so that only names that are no plain
// words are of interest.
func (w *walker) json(p *place, s string, at Span) error {
	if t := strings.TrimLeft(s, " \t\r\n"); t == "" || t[0] != '{' && t[0] != '[' && t[0] != '"' {
		return nil
	}
	quiet := strings.IndexByte(s, '\\') < 0
	if quiet && strings.IndexByte(s, '"') < 0 {
		return nil
	}
	sub := w.inside(p, at, "(json)")
	sub.quiet = quiet
	err := sub.documents(s, p)
	if err == ErrTooDeep || err == ErrTooMany {
		return err
	}
	if err == nil { // else it was no JSON, and stands there as one text
		w.out = sub.out
	}
	return nil
}

// inside is a walker for what is inside of a string of this one.
func (w *walker) inside(p *place, at Span, what string) *walker {
	sub := &walker{
		out: w.out, path: append(w.path, what...), left: w.left, returned: w.returned, level: w.level + 1,
		token: w.token, form: w.form, within: w.within, opaque: w.opaque,
	}
	switch w.level {
	case 0:
		sub.token, sub.form = at, p.form
	case 1:
		sub.within = at
	}
	return sub
}

// documents walks through a text that is JSON, one value or one after the other.
// It reads what lenient readers read: names that stand twice, halves of surrogate
// pairs.
func (w *walker) documents(s string, p *place) error {
	w.doc = s
	d := jsontext.NewDecoder(bytes.NewBufferString(s), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if d.PeekKind() == 0 {
			_, err := d.ReadToken()
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := w.value(d, p, 0); err != nil {
			return err
		}
	}
}

// IsDocument tells whether a text is JSON in itself: an object, array or string, or
// several one after the other.
func IsDocument(s string) bool {
	if t := strings.TrimLeft(s, " \t\r\n"); t == "" || t[0] != '{' && t[0] != '[' && t[0] != '"' {
		return false
	}
	d := jsontext.NewDecoder(bytes.NewBufferString(s), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if err := d.SkipValue(); err != nil {
			return err == io.EOF
		}
	}
}

// add adds a specimen that stands at a place of the text that the walker is in.
func (w *walker) add(p *place, s string, at Span, name bool) error {
	if s == "" {
		return nil
	}
	if len(w.out) >= MaxSpecimens {
		return ErrTooMany
	}
	if err := w.spend(s); err != nil {
		return err
	}
	x := Specimen{Path: string(w.path), Kind: p.text, Text: s, Name: name, Token: at, Form: p.form}
	if name {
		x.Kind, x.Form = p.names, FormText
	}
	if w.level > 0 {
		x.Token, x.Form, x.Inner = w.token, w.form, true
		switch {
		case w.opaque:
		case w.level > 1:
			x.Within = w.within
		case !name:
			x.Within = at
		}
	}
	if n := len(w.out); n == cap(w.out) && n >= fewSpecimens && at.To > 0 { // the rest of the text is like what was read
		w.out = slices.Grow(w.out, 1+min(n*(len(w.doc)-at.To)/at.To, maxAhead))
	}
	w.out = append(w.out, x)
	return nil
}

// From how many specimens on room is made for those to come, and for how many at
// most.
const (
	fewSpecimens = 32
	maxAhead     = 1 << 12
)
