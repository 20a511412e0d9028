package content

import (
	"strings"
)

// cargo judges a Cargo.toml.
func (c *check) cargo(root table) {
	c.crates(root)
	c.crates(tableOf(root, "workspace"))
	for _, t := range sorted(tableOf(root, "target")) {
		if t, ok := t.(table); ok {
			c.crates(t)
		}
	}
	for _, t := range sorted(tableOf(root, "patch")) {
		if t, ok := t.(table); ok {
			c.crates(table{"dependencies": t})
		}
	}
	for name, v := range sorted(tableOf(root, "replace")) {
		name, _, _ = strings.Cut(name, ":")
		c.crate(name, v)
	}
	if b, ok := tableOf(root, "package")["build"]; ok && b != false {
		c.named(Script, "build", whyInstall)
	}
}

func (c *check) crates(t table) {
	for _, section := range []string{"dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies"} {
		for name, v := range sorted(tableOf(t, section)) {
			c.crate(name, v)
		}
	}
}

// crate judges one dependency of Cargo.
func (c *check) crate(name string, v any) {
	from, to := c.lineOf(name)
	if s, ok := v.(string); ok {
		c.dependency("cargo", from, to, name, s)
		return
	}
	d, ok := v.(table)
	if !ok {
		c.add(Unread, from, to, whyUnread)
		return
	}
	if p, ok := d["package"].(string); ok {
		name = p
	}
	if u, ok := d["registry-index"].(string); ok {
		c.registry(from, to, u)
	}
	if _, ok := d["registry"].(string); ok {
		c.add(Registry, from, to, whyRegistry)
	}
	version, _ := d["version"].(string)
	switch _, local := d["path"]; {
	case d["workspace"] == true:
		c.dependencyName("cargo", from, to, name)
	case c.tomlSource("cargo", name, d) && (local || d["git"] != nil):
	default:
		c.dependency("cargo", from, to, name, version)
	}
}

// tomlLock judges Cargo.lock, poetry.lock, uv.lock, pdm.lock and pylock.toml.
func (c *check) tomlLock(root table) {
	for _, k := range []string{"package", "packages"} {
		for _, p := range tables(root[k]) {
			name, _ := p["name"].(string)
			from, to := c.lineOf("name = \"" + name + "\"")
			c.locked(p, from, to, tableOf(root, "metadata", "files")[name])
		}
	}
}

// cratesIndex is how Cargo.lock says crates.io.
const cratesIndex = "registry+https://github.com/rust-lang/crates.io-index"

// locked judges one package of a lock file in TOML; files is what old lock files say of
// its files elsewhere.
func (c *check) locked(p table, from, to int, files any) {
	l := textLine{from: from, to: to}
	needed := false
	switch source := p["source"].(type) {
	case string:
		needed = strings.HasPrefix(source, "registry+") || strings.HasPrefix(source, "sparse+")
		c.tomlLockPair("source", source, l)
		if _, ok := p["checksum"]; needed && !ok {
			c.add(Lock, from, to, whyNoIntegrity)
		}
		needed = false
	case table:
		switch kind, _ := source["type"].(string); {
		case kind == "git" || source["git"] != nil || kind == "url":
			for _, k := range []string{"url", "git"} {
				if u, ok := source[k].(string); ok {
					c.fetched("pypi", from, to, u)
				}
			}
			return
		case kind == "directory" || kind == "file" || source["editable"] != nil || source["virtual"] != nil || source["directory"] != nil || source["path"] != nil:
			return
		}
		for k, v := range sorted(source) {
			if k == "url" || k == "registry" {
				c.tomlLockPair(k, v, l)
			}
		}
		needed = true
	case nil:
		needed = p["files"] != nil || p["wheels"] != nil || p["sdist"] != nil
	}
	n := c.lockFiles(files, l)
	for _, k := range []string{"files", "wheels", "sdist", "archive"} {
		n += c.lockFiles(p[k], l)
	}
	if sum, ok := p["checksum"]; ok {
		c.tomlLockPair("checksum", sum, l)
	}
	if needed && n == 0 {
		c.add(Lock, from, to, whyNoIntegrity)
	}
}

// lockFiles judges the files of a package and counts them.
func (c *check) lockFiles(v any, l textLine) (n int) {
	for _, f := range tables(v) {
		n++
		summed := false
		for k, v := range sorted(f) {
			if hashes, ok := v.(table); ok && k == "hashes" {
				for alg, sum := range sorted(hashes) {
					s, _ := sum.(string)
					c.tomlLockPair("hash", alg+":"+s, l)
					summed = true
				}
			}
			summed = summed || k == "hash"
			c.tomlLockPair(k, v, l)
		}
		if !summed {
			c.add(Lock, l.from, l.to, whyNoIntegrity)
		}
	}
	return n
}

// tomlLockPair judges one member of a package or file.
func (c *check) tomlLockPair(name string, v any, l textLine) {
	s, ok := v.(string)
	if !ok {
		if t, ok := v.(table); ok && (name == "source" || name == "sdist") {
			for k, v := range sorted(t) {
				c.tomlLockPair(k, v, l)
			}
		}
		return
	}
	switch name {
	case "source":
		if s == cratesIndex && c.j.registries["index.crates.io"] {
			return
		}
		if strings.HasPrefix(s, "git+") {
			c.fetched("cargo", l.from, l.to, s)
		} else {
			c.registry(l.from, l.to, s)
		}
	case "url", "registry", "index":
		c.lockURL("pypi", l.from, l.to, s, "")
	case "git":
		c.fetched("pypi", l.from, l.to, s)
	case "hash":
		if !hexDigest(s, ":") {
			c.add(Lock, l.from, l.to, whyIntegrity)
		}
	case "checksum":
		if !hexDigest("sha256:"+s, ":") {
			c.add(Lock, l.from, l.to, whyIntegrity)
		}
	}
}
