package quarantine

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// minBase64 is the shortest text that is tried as base64.
const minBase64 = 16

// blob adds a string that may be base64, and the text that it stands for, if it
// is text: some clients show it.
func (w *walker) blob(d *jsontext.Decoder, p *place) error {
	s, at, err := w.readString(d)
	if err != nil {
		return err
	}
	decoded, is := base64Text(s)
	if is && p.form == FormText {
		p = &place{text: p.text, names: p.names, form: FormBase64, members: p.members, rest: p.rest}
	}
	if decoded == "" {
		return w.text(p, s, at)
	}
	if !w.quiet {
		if err := w.add(p, s, at, false); err != nil {
			return err
		}
	}
	return w.stands(p, decoded, at, "(base64)")
}

// stands adds the text that a string stands for.
func (w *walker) stands(p *place, text string, at Span, what string) error {
	if w.level >= MaxInner {
		return nil
	}
	sub := w.inside(p, at, what)
	sub.opaque = w.level == 0 || w.opaque
	err := sub.text(p, text, Span{})
	w.out = sub.out
	return err
}

// base64Text is the text that a string stands for in base64; empty if that is none.
// is tells whether it is base64 at all, as far as its beginning shows.
func base64Text(s string) (text string, is bool) {
	const look = 1024 // a multiple of 4
	if len(s) < minBase64 {
		return "", false
	}
	head, err := base64.StdEncoding.DecodeString(s[:min(len(s), look)])
	if err != nil {
		return "", false
	}
	if len(s) <= look {
		if !utf8.Valid(head) {
			return "", true
		}
		return string(head), true
	}
	for n := 0; n < 4 && len(head) > 0 && !utf8.Valid(head); n++ { // the last letter may be in two halves
		head = head[:len(head)-1]
	}
	if !utf8.Valid(head) {
		return "", true // an image, a sound: not decoded as a whole
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil || !utf8.Valid(b) {
		return "", err == nil
	}
	return string(b), true
}

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
	text := ""
	if strings.HasSuffix(strings.ToLower(head), ";base64") {
		text, _ = base64Text(body)
	} else if t, err := url.PathUnescape(body); err == nil && t != body && utf8.ValidString(t) {
		text = t
	}
	if text == "" {
		return nil
	}
	if p.text == KindURI { // the text in it is no address
		p = descLeaf
	}
	return w.stands(p, text, at, "(data)")
}
