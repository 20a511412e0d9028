package quarantine

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// minBase64 is the shortest text that is tried as base64.
const minBase64 = 16

// A blobText is a string that may be base64, kept until its object was read: what
// type it is of may be said behind it.
type blobText struct {
	p    *place
	s    string
	at   Span
	path string
}

// blobs adds strings that may be base64, and the texts that they stand for: some
// clients show them. kind is the value of the object's mimeType as it was written.
func (w *walker) blobs(list []blobText, kind string) error {
	if len(list) == 0 {
		return nil
	}
	if b, err := jsontext.AppendUnquote(nil, strings.TrimLeft(kind, ": \t\r\n")); err == nil {
		kind = string(b)
	}
	for _, x := range list {
		w.path = append(w.path[:0], x.path...)
		if err := w.blob(x.p, x.s, x.at, kind); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) blob(p *place, s string, at Span, kind string) error {
	b, is := fromBase64(s)
	if is && p.form == FormText {
		p = &place{text: p.text, names: p.names, form: FormBase64, members: p.members, rest: p.rest}
	}
	if err := w.text(p, s, at); err != nil {
		return err
	}
	return w.readings(p, b, at, kind, "(base64)")
}

// readings adds what bytes say to those who read them as text.
func (w *walker) readings(p *place, b []byte, at Span, kind, what string) error {
	for _, r := range readings(b, kind) {
		if r.binary {
			what = binaryPath
		}
		if err := w.stands(p, r.text, at, what, r.binary); err != nil {
			return err
		}
	}
	return nil
}

// stands adds the text that a string stands for; a plain one is not looked into.
func (w *walker) stands(p *place, text string, at Span, what string, plain bool) error {
	if w.level >= MaxInner {
		return nil
	}
	sub := w.inside(p, at, what)
	sub.opaque = w.level == 0 || w.opaque
	var err error
	if plain {
		err = sub.add(p, text, Span{}, false)
	} else {
		err = sub.text(p, text, Span{})
	}
	w.out = sub.out
	return err
}

// fromBase64 is what a string stands for in base64, read as lenient decoders read
// it: either alphabet, other characters left out. is tells whether it is base64 to
// the letter, but for line ends.
func fromBase64(s string) (b []byte, is bool) {
	if len(s) < minBase64 {
		return nil, false
	}
	b = make([]byte, 0, len(s)/4*3+3)
	var group uint32
	n, ended := 0, false
	is = true
	for i := range len(s) {
		v := sextets[s[i]]
		switch {
		case v >= 0:
			is = is && !ended && s[i] != '-' && s[i] != '_'
			if group, n = group<<6|uint32(v), n+1; n == 4 {
				b = append(b, byte(group>>16), byte(group>>8), byte(group))
				group, n = 0, 0
			}
		case s[i] == '=':
			is = is && (n > 1 || ended)
			b, ended = appendRest(b, group, n), true
			group, n = 0, 0
		default:
			is = is && (s[i] == '\r' || s[i] == '\n')
		}
	}
	return appendRest(b, group, n), is && n == 0
}

// appendRest appends the bytes of a last group of n letters.
func appendRest(b []byte, group uint32, n int) []byte {
	switch n {
	case 2:
		return append(b, byte(group>>4))
	case 3:
		return append(b, byte(group>>10), byte(group>>2))
	}
	return b
}

// sextets are the values of the letters of base64, in both alphabets; of others -1.
var sextets = func() (t [256]int8) {
	for c := range t {
		t[c] = -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		t[c] = int8(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

// dataURI adds the text that a data URI holds. Of items only what says that it is
// text: in the icons of tools pictures are written as text.
func (w *walker) dataURI(p *place, s string, at Span) error {
	if len(s) < 6 || !strings.EqualFold(s[:5], "data:") {
		return nil
	}
	head, body, ok := strings.Cut(s[5:], ",")
	if !ok || body == "" {
		return nil
	}
	kind, _, _ := strings.Cut(strings.ToLower(head), ";")
	if !w.returned && kind != "" && !strings.HasPrefix(kind, "text/") && kind != "application/json" {
		return nil
	}
	if p.text == KindURI { // the text in it is no address
		p = descLeaf
	}
	if strings.HasSuffix(strings.ToLower(head), ";base64") {
		b, _ := fromBase64(body)
		return w.readings(p, b, at, kind, "(data)")
	}
	text, err := url.PathUnescape(body)
	if err != nil || text == body || !utf8.ValidString(text) {
		return nil
	}
	return w.stands(p, text, at, "(data)", false)
}
