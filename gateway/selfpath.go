package gateway

import (
	"path"
	"slices"
	"strings"
)

func slashed(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// bare tells whether a bare word can be a path: a link to our folder, or the rest of
// the way.
func (s *sweep) bare() bool { return s.second || s.g.stat != nil && s.g.root != "" }

// namesFolder tells whether a text has a path to a folder of ours in it. c is what else
// is in it.
func (s *sweep) namesFolder(v string, c uint8) bool {
	g := s.g
	if len(g.folders) == 0 || s.second && !g.mayEnd(v) {
		return false
	}
	if len(v) <= maxShort {
		return s.whole(v, c) || (s.second || c&slash != 0 || pathlike(v)) && s.words(v)
	}
	// In a long text a path is looked for by its text alone.
	for i, n := range g.needles {
		if !n.in(v, c) {
			continue
		}
		if contains(squeeze(strings.ToLower(v)), strings.ToLower(g.folders[i])) || s.around(v, n.low) {
			return true
		}
	}
	return false
}

// around looks at the words of a long text that have the folder's last element
// in them.
func (s *sweep) around(v, base string) bool {
	for w := range strings.FieldsFuncSeq(v, separates) {
		if len(w) <= maxShort && strings.Contains(strings.ToLower(w), base) && s.path(w, &s.left) {
			return true
		}
	}
	return false
}

// whole looks at the text as one path, and for our folders' paths anywhere in
// it: they may have spaces.
func (s *sweep) whole(v string, c uint8) bool {
	if c&slash == 0 && strings.IndexByte(v, '.') < 0 {
		return s.bare() && len(v) <= 255 && s.path(v, &s.values)
	}
	if s.path(v, &s.values) {
		return true
	}
	if !s.second && !s.g.fold && !s.g.hasLast(v) {
		return false
	}
	q := squeeze(v)
	for _, f := range s.g.folders {
		if s.g.fold {
			q, f = strings.ToLower(q), strings.ToLower(f)
		}
		if contains(q, f) || s.spaced(q, f) {
			return true
		}
	}
	return false
}

// spaced finds, at the second look, the rest of the way where it has blanks: as
// words it is not found.
func (s *sweep) spaced(q, f string) bool {
	return slices.ContainsFunc(s.above, func(up string) bool {
		rest, ok := strings.CutPrefix(f, strings.TrimSuffix(up, "/")+"/")
		return ok && strings.Contains(rest, " ") && contains(q, rest)
	})
}

// contains tells whether the path f stands in q with nothing before or after it
// that would make it another one.
func contains(q, f string) bool {
	for from := 0; ; {
		i := strings.Index(q[from:], f)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(f)
		if end == len(q) || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", rune(q[end])) &&
			(q[end] != '.' || trailing(q[end:])) {
			return true
		}
		from = i + 1
	}
}

// trailing tells whether dots end a path's element: they are dropped by some
// file systems.
func trailing(s string) bool {
	t := strings.TrimLeft(s, ".")
	return t == "" || t[0] == '/' || separates(rune(t[0]))
}

// squeeze brings the paths inside of a text to a plain form: slashes, none of
// them twice, no "/./".
func squeeze(s string) string {
	s = slashed(s)
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	for strings.Contains(s, "/./") {
		s = strings.ReplaceAll(s, "/./", "/")
	}
	return s
}

// path tells whether one word is a path to a folder of ours or into it. left is
// how often the file system may still be asked; of texts that are nothing but a
// path, none goes on that was not looked up.
func (s *sweep) path(w string, left *int) bool {
	g := s.g
	if s.second {
		return s.below(w)
	}
	if g.root == "" && !rooted(w) {
		return false
	}
	p, ok := g.absolute(w)
	if !ok {
		return false
	}
	clean := path.Clean(p)
	for _, f := range g.folders {
		if g.within(clean, f) {
			return true
		}
		s.notice(clean, f)
	}
	if g.stat == nil || len(p) > maxShort {
		return false
	}
	if *left <= 0 {
		return left == &s.values
	}
	*left--
	return g.lookUp(p) || clean != p && g.lookUp(clean)
}

// maxAbove is how many folders above ours are kept.
const maxAbove = 64

// notice keeps a folder that is above ours.
func (s *sweep) notice(p, f string) {
	rest, ok := strings.CutPrefix(f, strings.TrimSuffix(p, "/"))
	if ok && strings.HasPrefix(rest, "/") && len(s.above) < maxAbove && !slices.Contains(s.above, p) {
		s.above = append(s.above, p)
	}
}

// mayEnd tells whether the last element of a folder of ours may stand in a text, or a
// wildcard for it: the rest of the way from a folder above has one.
func (g *guard) mayEnd(v string) bool {
	return g.fold || g.hasLast(v) || wild(v)
}

// wild tells whether a text has wildcards.
func wild(v string) bool {
	return strings.IndexByte(v, '*') >= 0 || strings.IndexByte(v, '?') >= 0 || strings.IndexByte(v, '[') >= 0
}

// mayReach tells whether some element of a way is the last one of a folder of ours.
func (g *guard) mayReach(way string) bool {
	for more := true; more; {
		var e string
		e, way, more = strings.Cut(way, "/")
		for _, last := range g.lasts {
			if g.same(e, last) {
				return true
			}
		}
	}
	return false
}

// below tells whether a word is the way from a folder above ours to ours.
func (s *sweep) below(w string) bool {
	w = slashed(strings.TrimSpace(w))
	if strings.HasPrefix(w, "/") || len(w) > maxShort || !s.g.mayReach(w) {
		return false
	}
	for _, up := range s.above {
		p := path.Clean(up + "/" + w)
		for _, f := range s.g.folders {
			if s.g.within(p, f) {
				return true
			}
		}
	}
	return false
}

// rooted tells whether absolute may make anything of a word where nothing is known of
// the folder that relative paths start from.
func rooted(w string) bool {
	if w == "" {
		return false
	}
	switch c := w[0]; {
	case c <= ' ', c >= 0x80, c == '/', c == '\\', c == '~', c == '$', c == '%':
		return true
	}
	return strings.IndexByte(w, ':') >= 0
}

// absolute is what a word says as an absolute path, not cleaned: "a/link/.." is
// another place than "a" where link is one.
func (g *guard) absolute(w string) (string, bool) {
	if w = slashed(strings.TrimSpace(w)); w == "" {
		return "", false
	}
	for _, scheme := range schemes(w[0]) {
		if rest, ok := strings.CutPrefix(w, scheme); ok {
			w = rest
			if host, ok := strings.CutPrefix(rest, "//"); ok {
				i := strings.IndexByte(host, '/')
				if i < 0 {
					return "", false
				}
				w = host[i:]
			}
		}
	}
	for _, h := range homes(w) {
		if rest, ok := strings.CutPrefix(w, h); ok && (rest == "" || rest[0] == '/') && g.home != "" {
			w = g.home + rest
		}
	}
	if at := strings.Index(w, ":/"); at > 1 && !strings.Contains(w[:at], "/") && !strings.HasPrefix(w[at:], "://") {
		w = w[at+1:] // host:/path, and -v/-p options that end in :/path
	}
	switch {
	case strings.HasPrefix(w, "/"), len(w) > 2 && w[1] == ':' && w[2] == '/':
		return w, true
	case strings.Contains(w, "://"):
		return "", false
	case g.root != "":
		return g.root + "/" + w, true
	case strings.HasPrefix(w, ".."):
		return "", false
	}
	return "", false
}

// schemes are what URLs of files begin with, by their first letter.
func schemes(first byte) []string {
	if first|0x20 != 'f' {
		return nil
	}
	return fileSchemes
}

var fileSchemes = []string{"file:", "FILE:", "File:"}

// homes are what a text may begin with that stands for the home folder.
func homes(w string) []string {
	if w == "" || w[0] != '~' && w[0] != '$' && w[0] != '%' {
		return nil
	}
	return homeWords
}

var homeWords = []string{"~", "$HOME", "${HOME}", "%USERPROFILE%", "$env:USERPROFILE"}

// within tells whether the clean path p is f or inside of it, element by
// element: trailing dots and blanks do not count, and an element with wildcards
// is what it matches.
func (g *guard) within(p, f string) bool {
	for {
		fe, frest, fmore := strings.Cut(strings.TrimPrefix(f, "/"), "/")
		pe, prest, pmore := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if !g.same(pe, fe) {
			return false
		}
		if !fmore {
			return true
		}
		if !pmore {
			return false
		}
		f, p = frest, prest
	}
}

func (g *guard) same(pe, fe string) bool {
	if pe == fe {
		return true
	}
	if n := len(pe); n > 0 && (pe[n-1] == '.' || pe[n-1] == ' ') {
		if t := strings.TrimRight(pe, ". "); t != "" {
			pe = t
		}
	}
	if g.fold {
		pe, fe = strings.ToLower(pe), strings.ToLower(fe)
	}
	if pe == fe {
		return true
	}
	if !wild(pe) || strings.Trim(pe, "*?") == "" {
		return false // a wildcard alone names everything, and so nothing
	}
	ok, err := path.Match(pe, fe)
	return err == nil && ok
}

// lookUp tells whether a path leads to our folder or through it, by asking the
// file system about each of its beginnings.
func (g *guard) lookUp(p string) bool {
	from := 1
	if g.root != "" && strings.HasPrefix(p, g.root+"/") {
		from = len(g.root) + 1 // where the launch runs is no secret of ours
	}
	for i := from; i <= len(p); i++ {
		if i < len(p) && p[i] != '/' {
			continue
		}
		same, ok := g.stat(p[:i])
		if same {
			return true
		}
		if !ok {
			return false
		}
	}
	return false
}
