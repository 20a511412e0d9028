package gateway

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/internal/marks"
	"github.com/pratique-dev/pratique/labels/args"
)

// namesCall is names of the params of a request whose arguments were read; tree is nil
// where they could not be.
func (g *oldGuard) namesCall(p *params, tree *args.Tree) bool {
	if g == nil || len(p.raw) == 0 {
		return false
	}
	if tree != nil && p.args != nil {
		s := newOldSweep(g)
		found, sure := s.tree(tree)
		if !found && sure {
			found, sure = s.beside(p)
		}
		if found || sure && len(s.above) == 0 {
			return found
		}
	}
	return g.names(p.raw)
}

// tree looks at each text in the arguments once. It is not sure where something in
// them may be a port of ours, whose host stands beside.
func (s *oldSweep) tree(tree *args.Tree) (found, sure bool) {
	d := tree.Doc()
	for i := range d.Nodes {
		n, x := uint32(i), &d.Nodes[i]
		if name := d.NameOf(n); oldClasses(name)&(oldSlash|oldColon|oldPercent) != 0 && s.text(name, 0) {
			return true, true
		}
		switch x.Kind {
		case '"':
			v := d.TextOf(n)
			if s.g.mayBePort(v) {
				return false, false
			}
			if s.text(v, 0) {
				return true, true
			}
		case '0':
			if s.g.mayBePort(d.Src[x.At:x.End]) {
				return false, false
			}
		}
	}
	return false, true
}

// beside looks at what stands beside the arguments.
func (s *oldSweep) beside(p *params) (found, sure bool) {
	w := oldLookout{s: s, b: p.raw, from: p.argsAt, to: p.argsAt + len(p.args)}
	_, found = w.inside(marks.Space(p.raw, 0))
	return found, true
}

// bare tells whether a bare word can be a path.
func (s *oldSweep) bare() bool { return s.second || s.g.stat != nil && s.g.root != "" }

// namesFolder tells whether a text has a path to a folder of ours in it. c is what else
// is in it.
func (s *oldSweep) namesFolder(v string, c uint8) bool {
	g := s.g
	if len(g.folders) == 0 {
		return false
	}
	if len(v) <= maxShort {
		return s.whole(v) || c&oldApart != 0 && (s.second || oldPathlike(v)) && s.words(v)
	}
	// In a long text a path is looked for by its text alone.
	low := strings.ToLower(v)
	for i, f := range g.folders {
		base := strings.ToLower(path.Base(f))
		if !strings.Contains(low, base) {
			continue
		}
		if contains(oldSqueeze(low), strings.ToLower(g.folders[i])) || s.around(v, base) {
			return true
		}
	}
	return false
}

// pathlike tells whether a word of a text may be a path: a slash or tilde is in it, or
// it begins with a dot.
func oldPathlike(v string) bool {
	if strings.IndexByte(v, '/') >= 0 || strings.IndexByte(v, '\\') >= 0 || strings.IndexByte(v, '~') >= 0 {
		return true
	}
	for from := 0; ; {
		i := strings.IndexByte(v[from:], '.')
		if i < 0 {
			return false
		}
		if from += i; from == 0 || v[from-1] >= 0x80 || separates(rune(v[from-1])) {
			return true
		}
		from++
	}
}

// around looks at the words of a long text that have the folder's last element
// in them.
func (s *oldSweep) around(v, base string) bool {
	for w := range strings.FieldsFuncSeq(v, separates) {
		if len(w) <= maxShort && strings.Contains(strings.ToLower(w), base) && s.path(w, &s.left) {
			return true
		}
	}
	return false
}

// whole looks at the text as one path, and for our folders' paths anywhere in
// it: they may have spaces.
func (s *oldSweep) whole(v string) bool {
	if strings.IndexByte(v, '/') < 0 && strings.IndexByte(v, '\\') < 0 && strings.IndexByte(v, '~') < 0 && strings.IndexByte(v, '.') < 0 {
		return s.bare() && len(v) <= 255 && s.path(v, &s.values)
	}
	if s.path(v, &s.values) {
		return true
	}
	if !s.second && !s.g.fold && !slices.ContainsFunc(s.g.folders, func(f string) bool { return strings.Contains(v, path.Base(f)) }) {
		return false
	}
	q := oldSqueeze(v)
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
func (s *oldSweep) spaced(q, f string) bool {
	return slices.ContainsFunc(s.above, func(up string) bool {
		rest, ok := strings.CutPrefix(f, strings.TrimSuffix(up, "/")+"/")
		return ok && strings.Contains(rest, " ") && contains(q, rest)
	})
}

// words looks at every word of the text that could be a path.
func (s *oldSweep) words(v string) bool {
	for w := range strings.FieldsFuncSeq(v, separates) {
		if len(w) < len(v) && (s.second || strings.ContainsAny(w, `/\~`) || strings.HasPrefix(w, ".")) && s.path(w, &s.left) {
			return true
		}
	}
	return false
}

// squeeze brings the paths inside of a text to a plain form: slashes, none of
// them twice, no "/./".
func oldSqueeze(s string) string {
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
func (s *oldSweep) path(w string, left *int) bool {
	g := s.g
	if s.second {
		return s.below(w)
	}
	if g.root == "" && !oldRooted(w) {
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

// notice keeps a folder that is above ours.
func (s *oldSweep) notice(p, f string) {
	if strings.HasPrefix(f, strings.TrimSuffix(p, "/")+"/") && len(s.above) < maxAbove && !slices.Contains(s.above, p) {
		s.above = append(s.above, p)
	}
}

// below tells whether a word is the way from a folder above ours to ours.
func (s *oldSweep) below(w string) bool {
	w = slashed(strings.TrimSpace(w))
	if strings.HasPrefix(w, "/") || len(w) > maxShort {
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
func oldRooted(w string) bool {
	if w == "" {
		return false
	}
	switch c := w[0]; {
	case c <= ' ', c >= 0x80, c == '/', c == '\\', c == '~', c == '$', c == '%', c|0x20 == 'f':
		return true
	}
	return strings.IndexByte(w, ':') >= 0
}

// absolute is what a word says as an absolute path, not cleaned: "a/link/.." is
// another place than "a" where link is one.
func (g *oldGuard) absolute(w string) (string, bool) {
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

// namesListener tells whether host:port of a listener stands in a text, in any
// spelling of the host.
func (g *oldGuard) namesListener(v string) bool {
	if strings.IndexByte(v, ':') < 0 {
		return false
	}
	for port := range g.ports {
		for from := 0; ; {
			i := strings.IndexByte(v[from:], ':')
			if i < 0 {
				break
			}
			i += from
			end := i + 1 + len(port)
			if strings.HasPrefix(v[i+1:], port) && (end == len(v) || v[end] < '0' || v[end] > '9') && g.ours(hostBefore(v[:i]), port) {
				return true
			}
			from = i + 1
		}
		if port == "80" && g.schemeHost(v, "http://", port) || port == "443" && g.schemeHost(v, "https://", port) {
			return true
		}
	}
	return false
}

// schemeHost looks for URLs whose port is the scheme's own.
func (g *oldGuard) schemeHost(v, scheme, port string) bool {
	low := strings.ToLower(v)
	for from := 0; ; {
		i := strings.Index(low[from:], scheme)
		if i < 0 {
			return false
		}
		from += i + len(scheme)
		rest := low[from:]
		if j := strings.IndexFunc(rest, func(r rune) bool { return r == '/' || r == '?' || r == '#' || separates(r) }); j >= 0 {
			rest = rest[:j]
		}
		if g.ours(strings.TrimSuffix(rest, ":"), port) {
			return true
		}
	}
}

// A oldPairing finds host and port of a listener that stand apart, in one object
// or array.
type oldPairing struct {
	g     *oldGuard
	hosts []string
	ports []string
}

// port notes a text that is a port of ours.
func (p *oldPairing) port(v string) {
	if len(p.ports) < 16 && p.g.mayBePort(v) {
		p.ports = append(p.ports, v)
	}
}

// mayBePort tells whether a text is a port of one of our listeners.
func (g *oldGuard) mayBePort(v string) bool {
	if len(v) > 16 || v == "" || v[0] < '0' || v[0] > '9' {
		return false
	}
	_, ok := g.ports[v]
	return ok
}

// host notes a text that may be a host.
func (p *oldPairing) host(v string) {
	if len(v) > 256 || v == "" || len(p.hosts) >= 64 {
		return
	}
	if _, ok := p.g.ports[v]; ok {
		return
	}
	if n, err := strconv.ParseUint(v, 10, 64); err == nil && n < 1<<24 {
		return // 0 and 1 are counts before they are addresses
	}
	p.hosts = append(p.hosts, v)
}

func (p *oldPairing) found() bool {
	for _, port := range p.ports {
		for _, h := range p.hosts {
			if rest, ok := strings.CutPrefix(h, "http://"); ok {
				h = rest
			}
			h = strings.TrimSuffix(h, "/")
			if p.g.ours(h, port) {
				return true
			}
		}
	}
	return false
}
