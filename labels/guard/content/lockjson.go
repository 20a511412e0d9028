package content

import (
	"encoding/base64"
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// jsonPart judges a part of a manifest or lock file in JSON.
func (c *check) jsonPart() {
	members(c.text, func(m member) {
		switch c.kind {
		case npmManifest:
			c.npmPart(m)
		case composerManifest:
			c.composerPart(m)
		default:
			c.lockPart(m)
		}
	})
}

// lockPart judges one pair of a part of a lock file.
func (c *check) lockPart(m member) {
	switch m.name {
	case "resolved", "url", "tarball", "git", "file":
		if m.section == "funding" || m.section == "support" || strings.HasPrefix(m.value, "file:") || m.value == "" {
			return
		}
		c.lockURL("npm", m.from, m.to, m.value, "")
	case "integrity":
		c.integrity(m.from, m.to, m.value)
	case "version":
		if isURL(m.value) {
			c.lockURL("npm", m.from, m.to, m.value, "")
		}
	}
}

// npmLock judges package-lock.json and npm-shrinkwrap.json.
func (c *check) npmLock(root args.Value) {
	each(root, "packages", func(key string, p args.Value) {
		i := strings.LastIndex(key, "node_modules/")
		if i < 0 {
			for _, section := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"} {
				each(p, section, func(name string, x args.Value) { c.npmSpec(x, name, x.Text()) })
			}
			return
		}
		name := key[i+len("node_modules/"):]
		if n := text(p, "name"); n != "" {
			name = n
		}
		c.npmLocked(p, name)
	})
	c.npmLockedBelow(root)
}

// npmLockedBelow judges the form of version 1, where packages are nested.
func (c *check) npmLockedBelow(v args.Value) {
	each(v, "dependencies", func(name string, p args.Value) {
		version := text(p, "version")
		if alias, ok := strings.CutPrefix(version, "npm:"); ok {
			name, _ = cutVersion(alias)
		}
		switch {
		case p.Kind() != '{':
		case strings.HasPrefix(version, "file:"):
		case isURL(version):
			x, _ := p.Get("version")
			c.lockURL("npm", x.Offset(), x.Offset()+len(x.Raw()), version, name)
		default:
			c.npmLocked(p, name)
		}
		c.npmLockedBelow(p)
	})
}

// npmLocked judges one package of a lock file.
func (c *check) npmLocked(p args.Value, name string) {
	if is(p, "link") || is(p, "inBundle") || is(p, "bundled") {
		return
	}
	integrity, ok := p.Get("integrity")
	if resolved, is := p.Get("resolved"); is {
		u := resolved.Text()
		if strings.HasPrefix(u, "file:") {
			c.local("npm", resolved.Offset(), resolved.Offset()+len(u), u, u[len("file:"):])
			return
		}
		git := strings.HasPrefix(u, "git")
		c.lockURL("npm", resolved.Offset(), resolved.Offset()+len(resolved.Raw()), u, name)
		if git && !ok {
			return // the commit is the digest
		}
	}
	if !ok {
		c.at(Lock, p, whyNoIntegrity)
		return
	}
	c.integrity(integrity.Offset(), integrity.Offset()+len(integrity.Raw()), integrity.Text())
}

func is(v args.Value, name string) bool {
	m, _ := v.Get(name)
	return m.Kind() == 't'
}

// lockURL judges where a lock file fetches from; name is the package that it should be,
// empty where that is not known.
func (c *check) lockURL(eco string, from, to int, u, name string) {
	plain, _, _ := strings.Cut(u, "#")
	switch {
	case strings.HasPrefix(u, "git") || strings.HasPrefix(u, "ssh:") || strings.HasSuffix(plain, ".git") || isURL(u) && !strings.HasPrefix(u, "http"):
		c.fetched(eco, from, to, u)
	case c.j.lists[eco].allowsURL(u):
	case !c.j.registry(u):
		c.add(Registry, from, to, whyRegistry)
	case name != "" && eco == "npm" && !strings.Contains(unpercent(plain), "/"+name+"/-/"):
		c.add(Lock, from, to, whyOtherName)
	}
}

// digests are the lengths of the digests that protect, in bytes.
var digests = map[string]int{"sha256": 32, "sha384": 48, "sha512": 64}

// integrity judges the digests of one package as SRI writes them. One that protects is
// needed, and none may be of another form: some readers take the first they know.
func (c *check) integrity(from, to int, s string) {
	if !sri(s) {
		c.add(Lock, from, to, whyIntegrity)
	}
}

func sri(s string) bool {
	fields := strings.Fields(s)
	for _, f := range fields {
		alg, sum, _ := strings.Cut(f, "-")
		sum, _, _ = strings.Cut(sum, "?")
		b, err := base64.StdEncoding.DecodeString(sum)
		if err != nil || len(b) == 0 || len(b) != digests[alg] {
			return false
		}
	}
	return len(fields) > 0
}

// hexDigest tells whether s is alg, a mark and a digest in hex.
func hexDigest(s, mark string) bool {
	alg, sum, ok := strings.Cut(s, mark)
	return ok && digests[alg] > 0 && len(sum) == 2*digests[alg] && strings.Trim(sum, "0123456789abcdefABCDEF") == ""
}

// pipfileLock judges a Pipfile.lock.
func (c *check) pipfileLock(root args.Value) {
	meta, _ := root.Get("_meta")
	if sources, _ := meta.Get("sources"); sources.Kind() == '[' {
		for _, s := range sources.All() {
			u, _ := s.Get("url")
			c.registry(u.Offset(), u.Offset()+len(u.Raw()), u.Text())
			if v, ok := s.Get("verify_ssl"); ok && v.Kind() != 't' {
				c.at(Registry, v, whyUnchecked)
			}
		}
	}
	for section, group := range root.All() {
		if section == "_meta" || group.Kind() != '{' {
			continue
		}
		for _, p := range group.All() {
			c.pipLocked(p)
		}
	}
}

func (c *check) pipLocked(p args.Value) {
	for _, name := range []string{"git", "file", "hg", "svn"} {
		if u, ok := p.Get(name); ok {
			c.fetched("pypi", u.Offset(), u.Offset()+len(u.Raw()), u.Text())
			return
		}
	}
	if hasAny(p, "path", "editable") {
		return
	}
	hashes, _ := p.Get("hashes")
	if hashes.Len() == 0 {
		c.at(Lock, p, whyNoIntegrity)
	}
	if hashes.Kind() == '[' {
		for _, h := range hashes.All() {
			if !hexDigest(h.Text(), ":") {
				c.at(Lock, h, whyIntegrity)
			}
		}
	}
}
