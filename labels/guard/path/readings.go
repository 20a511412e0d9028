package path

import (
	"strings"
	"unicode/utf8"
)

// maxDepth is how many steps of undoing follow one another: what is written once in
// another form is plain after a few, and any more was written to be read in many ways.
const maxDepth = 5

// maxReadings is how many texts may come of one. Undoings in another order mostly end in
// the same texts; more was written to be read in many ways.
const maxReadings = 256

// A text's readings are the text as it stands and every text that programs make of it.
type reader struct {
	*Rule
	files Files
	seen  map[madeText]bool // that came of the text and were judged, with all that comes of them
}

// A madeText came of another; folded as in readings.
type madeText struct {
	text   string
	folded bool
}

// readings judges a text that has characters of the kinds f, and all its readings.
// folded says that it is the compatible form of another.
func (r *reader) readings(text string, f flag, depth int, folded bool) string {
	if depth > maxDepth {
		return WhyPercent
	}
	if text == "" {
		return WhyEmpty
	}
	if why := r.characters(text, f, folded); why != "" {
		return why
	}
	if why := r.reading(text, r.files); why != "" {
		return why
	}
	for i, undone := range undoings {
		t, why := undone(text, f)
		if why == "" && t != text {
			why = r.made(t, depth, i == 0 || folded && i == 1)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// made judges a text that came of another at that depth, unless it was judged before,
// with all that comes of it.
func (r *reader) made(text string, depth int, folded bool) string {
	key := madeText{text, folded}
	if r.seen[key] {
		return ""
	}
	if len(r.seen) >= maxReadings {
		return WhyPercent
	}
	why := r.readings(text, scan(text), depth+1, folded)
	if why == "" {
		if r.seen == nil {
			r.seen = map[madeText]bool{}
		}
		r.seen[key] = true
	}
	return why
}

// undoings make another text of one, or say why they will not. The first is the
// compatible form.
var undoings = [...]func(string, flag) (string, string){folds, unquoted, unset, cutSegments, cutEnd, beginning, undo}

// unquoted takes out the marks that shells take out.
func unquoted(text string, f flag) (string, string) {
	if f&quote == 0 {
		return text, ""
	}
	return strings.NewReplacer(`'`, "", `"`, "").Replace(text), ""
}

// unset takes out the variables that a shell has no value for: ".$x." is "..".
func unset(text string, f flag) (string, string) {
	if f&expand == 0 {
		return text, ""
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			b.WriteByte(text[i])
			continue
		}
		n := identifier(text[i+1:])
		if n == 0 && i+1 < len(text) && strings.IndexByte("@*#?-!$0123456789", text[i+1]) >= 0 {
			n = 1
		}
		if n == 0 {
			b.WriteByte('$')
		}
		i += n
	}
	return b.String(), ""
}

// cutSegments is what servers make of a path that cut each segment at a sign: "..;x" is
// "..".
func cutSegments(text string, f flag) (string, string) {
	if f&cut == 0 {
		return text, ""
	}
	list := strings.Split(text, "/")
	for i, seg := range list {
		if at := strings.IndexAny(seg, ";?#"); at >= 0 {
			list[i] = seg[:at]
		}
	}
	if t := strings.Join(list, "/"); t != "" {
		return t, ""
	}
	return text, ""
}

// cutEnd is a path that is cut where the query of a URL begins.
func cutEnd(text string, f flag) (string, string) {
	if i := strings.IndexAny(text, "?#"); f&cut != 0 && i > 0 {
		return text[:i], ""
	}
	return text, ""
}

// beginning is a text without "./" before it, which what follows is then judged as.
func beginning(text string, _ flag) (string, string) {
	if t := clean(text, strings.IndexByte(text, '\\') >= 0); t != "" {
		return t, ""
	}
	return text, ""
}

// folds is the compatible form.
func folds(text string, f flag) (string, string) {
	if f&wide == 0 {
		return text, ""
	}
	return compatible(text), ""
}

// characters judges the characters of a text.
func (r *Rule) characters(text string, f flag, folded bool) string {
	switch {
	case f&control != 0:
		return WhyControl
	case f&backslash != 0 && !r.windows:
		return WhyBackslash
	}
	if f&wide != 0 {
		if why := letters(text, folded); why != "" {
			return why
		}
	}
	if f&colon != 0 && !r.climb {
		if why := r.colons(text, folded); why != "" {
			return why
		}
	}
	if f&(expand|percent) != 0 && !r.climb && expands(text) {
		return WhyExpands
	}
	if f&(pattern|cut) != 0 {
		if len(r.places) > 0 && !folded && many(text) {
			return WhyPattern
		}
		if why := r.patterns(text); why != "" {
			return why
		}
	}
	if r.windows && !folded {
		if f&windowed != 0 {
			return WhyStream
		}
		if short(text) {
			return WhyShort
		}
	}
	return ""
}

// undo undoes percent escapes once. Letters, digits, blanks and what is not ASCII may
// be encoded; what gives a path its parts may not.
func undo(text string, f flag) (string, string) {
	if f&percent == 0 {
		return text, ""
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '%' {
			b = append(b, c)
			continue
		}
		if i+5 < len(text) && text[i+1]|0x20 == 'u' && allHex(text[i+2:i+6]) {
			return "", WhyPercent
		}
		if i+2 >= len(text) || !allHex(text[i+1:i+3]) {
			b = append(b, c)
			continue
		}
		c = hex(text[i+1])<<4 | hex(text[i+2])
		if c == '/' || c == '.' || kinds[c]&^wide != 0 {
			return "", WhyPercent
		}
		b = append(b, c)
		i += 2
	}
	t := string(b)
	if !utf8.ValidString(t) {
		return "", WhyPercent // overlong forms of dots and slashes among them
	}
	return t, ""
}

func allHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; c-'0' > 9 && (c|0x20)-'a' > 5 {
			return false
		}
	}
	return true
}

func hex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// colons judges drives, streams, URLs and hosts.
func (r *Rule) colons(text string, folded bool) string {
	if strings.Contains(text, "::") || strings.Contains(text, ":$") || r.windows && !folded && strings.LastIndexByte(text, ':') > 1 {
		return WhyStream
	}
	if len(text) >= 5 && equalFold(text[:4], "file") && text[4] == ':' {
		return WhyURL
	}
	return ""
}

// hosted tells whether a relative text begins with a scheme or a host: "host:path" of
// copying programs, "https://…". A colon behind another script is punctuation.
func hosted(text string) bool {
	if i := strings.IndexByte(text, ':'); i >= 0 {
		return strings.IndexByte(text[:i], '/') < 0 && (i == 0 || text[i-1] < utf8.RuneSelf)
	}
	return false
}

// expands tells whether a shell puts something else in place of a part: $NAME, $home,
// ${…}, $(…), `…`, %NAME%. A name in lower case behind "$" is left alone: routes of web
// frameworks are called so ("$userId.tsx").
func expands(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '`':
			return true
		case '$':
			rest := text[i+1:]
			n := identifier(rest)
			name := rest[:n]
			if rest != "" && (rest[0] == '{' || rest[0] == '(') || strings.HasPrefix(rest[n:], ":") ||
				n > 0 && (name == strings.ToUpper(name) || equalFold(name, "home") || equalFold(name, "pwd") || equalFold(name, "pshome")) {
				return true
			}
		case '%':
			n := identifier(text[i+1:])
			if rest := text[i+1+n:]; strings.HasPrefix(rest, "(x86)") {
				n += 5 // %ProgramFiles(x86)%
			}
			if n > 1 && i+1+n < len(text) && text[i+1+n] == '%' && (n != 2 || !allHex(text[i+1:i+3])) {
				return true
			}
		}
	}
	return false
}

// identifier is the length of the name that a text begins with.
func identifier(s string) int {
	for i := range len(s) {
		if c := s[i]; !letter(c) && c != '_' && (i == 0 || c-'0' > 9) {
			return i
		}
	}
	return len(s)
}

// short tells whether a segment may be the short form that Windows makes of a long
// name: "PROGRA~1".
func short(text string) bool {
	for i := 1; i+1 < len(text); i++ {
		if text[i] == '~' && text[i+1]-'0' <= 9 {
			return true
		}
	}
	return false
}
