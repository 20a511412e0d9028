package policy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A resource can be written in many ways: %73 for s, another case, "./", "//", "\\", a
// host that says nothing. Which of them a server takes for the same one is not known, so
// an ask or a never about one is about all of them. An allow is about what it says.

const (
	maxSpelled = 1 << 16 // bytes; for a longer URI every ask and never about one fires, whatever its conditions
	maxUndone  = 8       // rounds of undoing
)

// resourceBits are the methods that name a resource.
var resourceBits = methodBit("resources/read") | methodBit("resources/subscribe") | methodBit("resources/unsubscribe") | methodBit("completion/complete")

// addAlike adds an ask or never under what its resources come to.
func (r *Rules) addAlike(rl *rule) {
	taking := *rl
	taking.takes = true
	some := false
	for _, n := range rl.names {
		if !strings.ContainsAny(n, ":/") {
			continue
		}
		some = true
		list, _ := spellings(n, false)
		for _, key := range list {
			s := r.alike[key]
			if s == nil {
				s = &slot{}
				if r.alike == nil {
					r.alike = map[string]*slot{}
				}
				r.alike[key] = s
			}
			if l := s.watch[rl.verb]; len(l) == 0 || l[len(l)-1].name != rl.name {
				s.add(&taking)
			}
		}
	}
	if some {
		if r.every == nil {
			r.every = &slot{}
		}
		bare := taking
		bare.when, bare.args, bare.set, bare.per, bare.fresh = nil, nil, nil, nil, nil
		r.every.add(&bare)
	}
}

// spelled are the asks and nevers about the resource of a call in whatever spelling; nil:
// there are none.
func (r *Rules) spelled(f *Facts) *slot {
	var found *slot
	for _, uri := range [2]string{f.Tool, f.Target} {
		if uri == "" {
			continue
		}
		list, ok := spellings(uri, true)
		if !ok {
			return r.every
		}
		for _, key := range list {
			switch s := r.alike[key]; {
			case s == nil || s == found:
			case found == nil:
				found = s
			default:
				found = found.and(s)
			}
		}
	}
	return found
}

// and is the rules of both.
func (s *slot) and(o *slot) *slot {
	n := &slot{}
	for _, list := range [2]*slot{s, o} {
		for _, rules := range list.watch {
			for _, rl := range rules {
				if !slices.ContainsFunc(n.watch[rl.verb], func(x *rule) bool { return x.name == rl.name }) {
					n.add(rl)
				}
			}
		}
	}
	return n
}

// SameResource tells whether an ask or a never about the resource name is about uri too:
// they are the same, or a server could take them for the same.
func SameResource(name, uri string) bool {
	of, ok := spellings(uri, true)
	if name == uri || !ok {
		return true
	}
	list, _ := spellings(name, false)
	return slices.ContainsFunc(list, func(key string) bool { return slices.Contains(of, key) })
}

// spellings are what a URI comes to. Of one that is asked for (loose) there is what is
// left when a server drops its query, its fragment, the parameters of its segments or the
// host of a file, too. Not ok: it is too long, or undoing it has no end.
func spellings(uri string, loose bool) (list []string, ok bool) {
	if len(uri) > maxSpelled {
		return nil, false
	}
	text, ok := undone(uri)
	if !ok {
		return nil, false
	}
	forms := []string{text}
	if loose {
		for _, signs := range []string{"?#\x00", "#\x00", "\x00"} {
			if i := strings.IndexAny(text, signs); i >= 0 {
				forms = append(forms, text[:i])
			}
		}
	}
	for _, form := range forms {
		for _, key := range resolved(form, loose) {
			if !slices.Contains(list, key) {
				list = append(list, key)
			}
		}
	}
	return list, true
}

// undone is a text without escapes, cases and compatible letters.
func undone(s string) (string, bool) {
	for range maxUndone {
		t := strings.Map(seen, strings.ToValidUTF8(unescaped(s), "\ufffd"))
		t = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(t)))
		if t == s {
			return strings.ReplaceAll(strings.TrimSpace(s), "\\", "/"), true
		}
		s = t
	}
	return "", false
}

// seen drops what is not seen and what readers of URLs drop.
func seen(c rune) rune {
	switch {
	case c == 0:
		return c
	case unicode.IsControl(c), unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	}
	return c
}

// unescaped undoes percent escapes until there are none, and reads bytes that are no
// UTF-8 as those do who are not strict.
func unescaped(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		b = append(b, s[i])
		for {
			n := len(b)
			if n >= 3 && b[n-3] == '%' && isHex(b[n-2]) && isHex(b[n-1]) {
				b = append(b[:n-3], unhex(b[n-2])<<4|unhex(b[n-1]))
				continue
			}
			if n >= 6 && b[n-6] == '%' && b[n-5]|0x20 == 'u' && isHex(b[n-4]) && isHex(b[n-3]) && isHex(b[n-2]) && isHex(b[n-1]) {
				c := rune(unhex(b[n-4]))<<12 | rune(unhex(b[n-3]))<<8 | rune(unhex(b[n-2]))<<4 | rune(unhex(b[n-1]))
				b = utf8.AppendRune(b[:n-6], c)
				continue
			}
			break
		}
	}
	if utf8.Valid(b) {
		return string(b)
	}
	return lenient(b)
}

// lenient reads overlong forms as what they stand for, and other bytes as Latin-1.
func lenient(b []byte) string {
	var out strings.Builder
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		switch {
		case c != utf8.RuneError || n > 1:
		case b[i]&^1 == 0xc0 && i+1 < len(b) && b[i+1]&0xc0 == 0x80:
			c, n = rune(b[i]&1)<<6|rune(b[i+1]&0x3f), 2
		case b[i] == 0xe0 && i+2 < len(b) && b[i+1]&0xc0 == 0x80 && b[i+2]&0xc0 == 0x80:
			c, n = rune(b[i+1]&0x3f)<<6|rune(b[i+2]&0x3f), 3
		default:
			c, n = rune(b[i]), 1
		}
		out.WriteRune(c)
		i += n
	}
	return out.String()
}

func isHex(c byte) bool { return c-'0' <= 9 || (c|0x20)-'a' <= 5 }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// resolved are the readings of a URI: with a host and without, each with its dots
// resolved.
func resolved(text string, loose bool) (list []string) {
	scheme, rest, found := strings.Cut(text, ":")
	if !found || strings.Contains(scheme, "/") {
		scheme, rest = "", text
	}
	rest, query, asked := strings.Cut(rest, "?")
	host, path := "", rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, path, _ = strings.Cut(after, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		for _, port := range []string{map[string]string{"http": ":80", "https": ":443"}[scheme], ":", "."} {
			host = strings.TrimSuffix(host, port)
		}
		if scheme == "file" && slices.Contains([]string{"localhost", "127.0.0.1", "[::1]"}, host) {
			host = ""
		}
	}
	if asked {
		params := strings.FieldsFunc(query, func(c rune) bool { return c == '&' })
		slices.Sort(params)
		query = "?" + strings.Join(slices.Compact(params), "&")
	}
	add := func(host, path string) {
		for _, cut := range []bool{false, true} {
			if key := scheme + ":" + strings.Trim(host+"/"+segments(path, cut), "/") + query; (!cut || loose) && !slices.Contains(list, key) {
				list = append(list, key)
			}
		}
	}
	add(host, path)
	add("", host+"/"+path)
	if loose && scheme == "file" {
		add("", path)
	}
	return list
}

// segments are those of a path, with dots resolved and without what some systems drop:
// blanks and dots at an end and, cut, what stands behind ";" or ":".
func segments(path string, cut bool) string {
	var list []string
	for seg := range strings.SplitSeq(path, "/") {
		if i := strings.IndexAny(seg, ";:"); cut && i >= 0 && !(i == 1 && len(seg) == 2) {
			seg = seg[:i]
		}
		if seg == ".." {
			list = list[:max(0, len(list)-1)]
			continue
		}
		if seg = strings.TrimRight(seg, ". "); seg != "" {
			list = append(list, strings.ReplaceAll(seg, "+", " "))
		}
	}
	return strings.Join(list, "/")
}
