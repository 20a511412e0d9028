package content

import (
	"errors"
	"strings"
)

// A list is what manifests of one ecosystem may name.
type list struct {
	eco      string
	names    map[string][]string // versions by name; "" is every version
	prefixes []prefixed
	urls     []string
}

type prefixed struct{ name, version string }

var errEntry = errors.New("an entry is neither a name, a beginning of names with * at its end, nor a URL")

func newList(eco string, entries []string) (*list, error) {
	l := &list{eco: eco, names: map[string][]string{}}
	for _, e := range entries {
		if e == "" || strings.TrimSpace(e) != e {
			return nil, errEntry
		}
		if isURL(e) {
			l.urls = append(l.urls, e)
			continue
		}
		name, version := cutVersion(e)
		if i := strings.IndexByte(name, '*'); i >= 0 && i != len(name)-1 {
			return nil, errEntry
		}
		if i := strings.IndexByte(version, '*'); i >= 0 && i != len(version)-1 {
			return nil, errEntry
		}
		if p, ok := strings.CutSuffix(name, "*"); ok {
			l.prefixes = append(l.prefixes, prefixed{nameForm(eco, p), version})
			continue
		}
		name = nameForm(eco, name)
		l.names[name] = append(l.names[name], version)
	}
	return l, nil
}

// cutVersion takes name@version apart; the first letter may be the @ of a scope.
func cutVersion(e string) (name, version string) {
	if e == "" {
		return "", ""
	}
	if i := strings.IndexByte(e[1:], '@'); i >= 0 {
		return e[:i+1], e[i+2:]
	}
	return e, ""
}

// isURL tells whether an entry or a requirement is fetched from where it says itself.
func isURL(s string) bool {
	i := strings.IndexByte(s, ':')
	if i <= 0 {
		return false
	}
	return strings.HasPrefix(s[i:], "://") || strings.HasPrefix(s, "git@") ||
		s[:i] == "file" || s[:i] == "github" || s[:i] == "gitlab" || s[:i] == "bitbucket" || s[:i] == "gist" || s[:i] == "jsr"
}

// nameForm is a name as its ecosystem compares names.
func nameForm(eco, name string) string {
	switch eco {
	case "pypi":
		return pypiName.Replace(strings.ToLower(name))
	case "cargo":
		return strings.ReplaceAll(strings.ToLower(name), "_", "-")
	case "composer", "action", "include":
		return strings.ToLower(name)
	case "image":
		return imageForm(name)
	}
	return name
}

// imageForm completes the name of an image as Docker does.
func imageForm(name string) string {
	first, _, more := strings.Cut(name, "/")
	switch {
	case name == "":
		return ""
	case !more:
		return "docker.io/library/" + name
	case !strings.ContainsAny(first, ".:") && first != "localhost":
		return "docker.io/" + name
	}
	return strings.Replace(name, "index.docker.io/", "docker.io/", 1)
}

// allows tells whether a manifest may name this at this version.
func (l *list) allows(name, version string) bool {
	if l == nil || name == "" {
		return false
	}
	name, version = nameForm(l.eco, name), strings.TrimSpace(version)
	for _, v := range l.names[name] {
		if versionFits(v, version) {
			return true
		}
	}
	for _, p := range l.prefixes {
		if p.covers(name) && versionFits(p.version, version) {
			return true
		}
	}
	return false
}

// covers tells whether a name has this beginning. What leads up in a path is no name.
func (p prefixed) covers(name string) bool {
	return strings.HasPrefix(name, p.name) && !strings.Contains(name, "..") && !strings.ContainsAny(name, " \\%${}\t\r\n")
}

// allowsAny tells whether some version of this may be named.
func (l *list) allowsAny(name string) bool {
	if l == nil {
		return false
	}
	name = nameForm(l.eco, name)
	if l.names[name] != nil {
		return true
	}
	for _, p := range l.prefixes {
		if p.covers(name) {
			return true
		}
	}
	return false
}

// versionFits compares a version as the manifest has it. A * at the end of the entry
// stands for letters, digits, dots, dashes and pluses: for the rest of one version,
// never for another range.
func versionFits(entry, version string) bool {
	p, open := strings.CutSuffix(entry, "*")
	switch {
	case entry == "":
		return true
	case !open:
		return entry == version
	case !strings.HasPrefix(version, p):
		return false
	}
	return strings.Trim(version[len(p):], "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-") == ""
}

// allowsURL tells whether something may be fetched from a URL: an entry is the whole of
// it or ends where one of its parts does. What could be read in two ways is never.
func (l *list) allowsURL(u string) bool {
	if l == nil || strings.ContainsAny(u, "\\%\t\r\n $`{") || strings.Contains(u, "/..") {
		return false
	}
	for _, e := range l.urls {
		if u == e || strings.HasPrefix(u, e) && (strings.HasSuffix(e, "/") || strings.HasSuffix(e, ":") || strings.ContainsAny(u[len(e):len(e)+1], "/#?@") || strings.HasPrefix(u[len(e):], ".git")) {
			return true
		}
	}
	return false
}

// hostOf is the host that a URL is fetched from, and whether that is clear and the way
// there encrypted. Forms that readers take in two ways are not clear.
func hostOf(u string) (string, bool) {
	for _, p := range []string{"git+", "registry+", "sparse+", "hg+", "svn+", "bzr+"} {
		u = strings.TrimPrefix(u, p)
	}
	scheme, rest, ok := strings.Cut(u, "://")
	if !ok || scheme != "https" && scheme != "ssh" {
		return "", false
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.TrimSuffix(rest, ":443")
	return plainHost(rest) // userinfo, ports and backslashes are no host names
}

// registry tells whether packages may come from a URL.
func (j *Judge) registry(u string) bool {
	h, ok := hostOf(strings.TrimSpace(u))
	return ok && j.registries[h]
}

var pypiName = strings.NewReplacer("_", "-", ".", "-")
