package content

import (
	"path"
	"strings"
)

// dependency judges a name and a version of one ecosystem.
func (c *check) dependency(eco string, from, to int, name, version string) {
	switch l := c.j.lists[eco]; {
	case l.allows(name, version):
	case l.allowsAny(name):
		c.add(Dependency, from, to, whyVersion)
	default:
		c.add(Dependency, from, to, whyDependency)
	}
}

// dependencyName judges a name whose version stands elsewhere.
func (c *check) dependencyName(eco string, from, to int, name string) {
	if !c.j.lists[eco].allowsAny(name) {
		c.add(Dependency, from, to, whyDependency)
	}
}

// fetched judges a dependency that is fetched from a URL of its own.
func (c *check) fetched(eco string, from, to int, u string) {
	if !c.j.lists[eco].allowsURL(u) {
		c.add(Dependency, from, to, whyFetched)
	}
}

// registry judges the URL of a registry.
func (c *check) registry(from, to int, u string) {
	if !c.j.registry(u) {
		c.add(Registry, from, to, whyRegistry)
	}
}

// local judges a dependency that is a folder of the repository itself: it has to stay
// below the repository's root, and be no archive, which nobody has judged.
func (c *check) local(eco string, from, to int, spec, p string) {
	if c.j.lists[eco].allowsURL(spec) {
		return
	}
	p = fold(strings.TrimPrefix(p, "//"))
	raw := strings.ReplaceAll(unpercent(spec), "\\", "/")
	raw = raw[strings.LastIndexByte(raw, ':')+1:]
	at := path.Join(path.Dir(c.name), raw)
	switch {
	case strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "~"), at == ".." || strings.HasPrefix(at, "../"):
		c.add(Dependency, from, to, whyOutside)
	case archive(p):
		c.add(Dependency, from, to, whyOutside)
	}
}

func archive(p string) bool {
	switch path.Ext(p) {
	case ".tgz", ".gz", ".zip", ".whl", ".jar", ".tar", ".bz2", ".xz", ".gem", ".crate", ".egg", ".aar":
		return true
	}
	return false
}

// lookup as the beginning of a finding says that it stands where c.here first does.
const lookup = -2

// lineOf remembers what a finding is about where a parser does not say where it stands;
// it is looked for only if something is found.
func (c *check) lineOf(name string) (from, to int) {
	c.here = name
	return lookup, lookup
}
