package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/path"
)

// A sign is what a member has that matters whatever it is called: a set.
type sign uint8

const (
	oddName sign = 1 << iota // its name has a sign of paths or hosts, or is not ASCII
	hasURL                   // a text of it is a URL that programs fetch, or has several
	hasDash                  // a text of it begins like an option
)

// odd are the characters of ASCII that make a name odd.
var odd = func() (t [0x80]bool) {
	for _, c := range []byte(`/\.%~:`) {
		t[c] = true
	}
	return t
}()

// opening are the bytes that a text with a sign may begin with. Any letter is one of
// them: before a "+" in a scheme stands whatever fetches, as in "bzr+https".
var opening = func() (t [256]bool) {
	for c := range t {
		t[c] = c <= ' ' || c >= 0x80 || isLetter(byte(c)) || strings.IndexByte(`-/\+`, byte(c)) >= 0
	}
	return t
}()

// longestPart is the length of the longest part of a scheme that isFetched takes.
const longestPart = 8

// signsIn are those of a text under a name of kind k.
func signsIn(v args.Value, k kind) (s sign) {
	if !v.Marked() { // no colon, no slash and nothing that would be folded into one: no URL
		if t := v.Written(); t == "" || t[0] > ' ' && t[0] != '-' && t[0] != '\\' {
			return 0
		}
		if beginsWithDash(v.Text()) {
			return hasDash
		}
		return 0
	}
	text := v.Text()
	if text != "" && k&isLoose == 0 && severalURLs(text) {
		s |= hasURL
	}
	if text == "" || !opening[text[0]] {
		return s
	}
	if isLetter(text[0]) { // most texts are no scheme by their first letters
		i := 1
		for i < len(text) && i <= longestPart && isLetter(text[i]) {
			i++
		}
		if i == len(text) || text[i] != ':' && text[i] != '+' && text[i] > ' ' {
			return s
		}
	}
	if isFetched(text) && !(k&isLoose != 0 && blankInside(text)) {
		s |= hasURL
	}
	if beginsWithDash(text) {
		s |= hasDash
	}
	return s
}

// blankInside tells whether a text has more than one word; what programs drop inside of
// a URL parts none.
func blankInside(s string) bool { return strings.Contains(strings.TrimSpace(s), " ") }

func beginsWithDash(s string) bool {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	return s != "" && s[0] == '-'
}

// odd judges what is judged whatever a member is called: its name as a text, and texts
// that are URLs.
func (w *walker) odd(m *member) {
	if m.signs&oddName != 0 && w.set.paths != nil {
		if why := climbsByName(m.value.Name()); why != "" {
			w.refuse("path", m.value, why)
			return
		}
	}
	if m.around >= 0 {
		if around := &w.index.list[m.around]; around.kind != 0 || w.keys != nil {
			w.named(m, w.kindOf(around))
		}
	}
	if m.signs&hasDash != 0 && w.set.refs != nil && w.tool().git {
		if k := w.kindOf(m); k&(isProse|isCommand|isWords) == 0 && !(k&isRef != 0 && w.writes(k)) {
			w.options(m.value)
		}
	}
	if m.signs&hasURL == 0 || w.set.hosts == nil || w.keys.silent(w.index.name(m), isURL) {
		return
	}
	if k := w.kindOf(m); k&(isProse|isLoose) != isProse && k&(isHost|isURL|isURI) == 0 {
		w.urls(m.value, k)
	}
}

// climbsByName is why a name leads up or hides that it does, in whatever object: some
// servers write what stands there to a file of that name.
func climbsByName(name string) string {
	var buf [256]byte
	for i := range len(name) {
		if name[i] >= 0x80 {
			name = string(lookalike.Fold(buf[:0], name))
			break
		}
	}
	switch {
	case climbs(name):
		return path.WhyParent
	case encodes(name):
		return path.WhyPercent
	}
	return ""
}

// named judges the name of a member as a text of kind k, which the name around it
// says. A word that is plainly a name of an argument is none, as in {"file": {"name": …}};
// nor is any other plain word held to lie in a folder.
func (w *walker) named(m *member, k kind) {
	marked := m.signs&oddName != 0
	if k&judged == 0 || m.kind&^(isTurn|isVague) != 0 && !marked {
		return
	}
	s, name := w.set, m.value.Name()
	if s.paths != nil && (k&isPath != 0 || k&likePath != 0 && looksLikePath(name)) {
		rule := s.plain
		if marked {
			rule = s.paths
		}
		w.refuse("path", m.value, rule.Check(name, w.call.Files))
	}
	if k&isRef != 0 && s.refs != nil && w.writes(k) {
		w.wrote = true
		w.refuse("ref", m.value, s.refs.Check(name))
	}
	if s.hosts != nil && name != "" && (k&(isHost|isURL) != 0 && (looksLikeURL(name) || k&isHost != 0 && '0' <= name[0] && name[0] <= '9') || isFetched(name)) {
		w.refuse("host", m.value, s.hosts.Check(name))
	}
}

// urls judges the texts of a value that are URLs which programs fetch.
func (w *walker) urls(v args.Value, k kind) {
	switch v.Kind() {
	case '[':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			w.urls(e, k)
		}
	case '"':
		if text := v.Text(); isFetched(text) && !(k&isLoose != 0 && blankInside(text)) {
			w.refuse("host", v, w.set.hosts.Check(text))
		} else if k&isLoose == 0 && severalURLs(text) {
			w.refuse("host", v, w.set.hosts.Further(text))
		}
		if k&isProse != 0 {
			return
		}
		if in, ok := v.Inner(); ok {
			w.urls(in, k)
		}
	}
}

// options refuses the texts of a value that git takes for options: of a remote
// "--mirror" and "--receive-pack=…".
func (w *walker) options(v args.Value) {
	switch v.Kind() {
	case '[':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			w.options(e)
		}
	case '"':
		if beginsWithDash(v.Text()) {
			w.refuse("ref", v, WhyOption)
		}
		if in, ok := v.Inner(); ok {
			w.options(in)
		}
	}
}
