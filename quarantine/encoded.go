package quarantine

import (
	"bytes"
	"net/url"
	"slices"
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
	all, is := fromBase64(s)
	if is && p.form == FormText {
		p = &place{text: p.text, names: p.names, form: FormBase64, members: p.members, rest: p.rest}
	}
	if err := w.text(p, s, at); err != nil {
		return err
	}
	return w.readings(p, all, at, kind, "(base64)")
}

// readings adds what bytes, which are read in several ways, say to those who read
// them as text.
func (w *walker) readings(p *place, all [][]byte, at Span, kind, what string) error {
	for i, b := range all {
		if i > 0 && kind == "" { // the other ways are noise mostly, and must say more
			kind = "application/octet-stream"
		}
		for _, r := range readings(b, kind) {
			path := what
			if r.binary {
				path = binaryPath
			}
			if err := w.stands(p, r.text, at, path, r.binary); err != nil {
				return err
			}
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

// fromBase64 is what a string stands for in base64, in every way that a lenient
// decoder reads it. is tells whether it is base64 to the letter, but for line ends:
// then there is one way.
func fromBase64(s string) (all [][]byte, is bool) {
	if len(s) < minBase64 {
		return nil, false
	}
	is, url, pads := strays(s)
	alphabets, ways := []*[256]int8{&sextets}, []padding{padEnds}
	if url {
		alphabets = append(alphabets, &standard)
	}
	if pads {
		ways = append(ways, padStops, padSkipped)
	}
	for _, alphabet := range alphabets {
		for _, way := range ways {
			b := decode(s, alphabet, way)
			if !slices.ContainsFunc(all, func(x []byte) bool { return bytes.Equal(x, b) }) {
				all = append(all, b)
			}
		}
	}
	return all, is
}

// strays tells whether a string is base64 to the letter, and what in it is read in
// several ways: letters of the other alphabet, "=" with letters behind it.
func strays(s string) (is, url, pads bool) {
	n, padded := 0, false // letters of the group; whether there was an "="
	is = true
	for i := range len(s) {
		switch c := s[i]; {
		case sextets[c] >= 0:
			dash := standard[c] < 0
			is = is && !padded && !dash
			url, pads = url || dash, pads || padded
			n = (n + 1) & 3
		case c == '=':
			is = is && (n > 1 || padded)
			n, padded = 0, true
		default:
			is = is && (c == '\r' || c == '\n')
		}
	}
	return is && n == 0, url, pads
}

// A padding is what a decoder makes of "=" that more letters follow.
type padding int

const (
	padEnds    padding = iota // it ends the group, and another begins
	padStops                  // it ends the text if the group is full with it, else it is skipped: Python
	padSkipped                // PHP
)

// decode reads a string as base64; what is not in the alphabet is left out.
func decode(s string, alphabet *[256]int8, way padding) []byte {
	b := make([]byte, 0, len(s)/4*3+3)
	var group uint32
	n, pads := 0, 0
	for i := range len(s) {
		if v := alphabet[s[i]]; v >= 0 {
			pads = 0
			if group, n = group<<6|uint32(v), n+1; n == 4 {
				b = append(b, byte(group>>16), byte(group>>8), byte(group))
				group, n = 0, 0
			}
			continue
		}
		if s[i] != '=' || way == padSkipped {
			continue
		}
		if way == padEnds {
			b, group, n = appendRest(b, group, n), 0, 0
			continue
		}
		if n > 1 {
			if pads++; n+pads >= 4 {
				break
			}
		}
	}
	return appendRest(b, group, n)
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
// standard are those of the first alphabet alone.
var sextets, standard = func() (both, one [256]int8) {
	for c := range one {
		one[c] = -1
	}
	for i, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
		one[c] = int8(i)
	}
	both = one
	both['-'], both['_'] = 62, 63
	return both, one
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
		all, _ := fromBase64(body)
		if plain, err := url.PathUnescape(body); err == nil && plain != body {
			more, _ := fromBase64(plain)
			all = append(all, more...)
		}
		return w.readings(p, all, at, kind, "(data)")
	}
	text, err := url.PathUnescape(body)
	if err != nil || text == body || !utf8.ValidString(text) {
		return nil
	}
	return w.stands(p, text, at, "(data)", false)
}
