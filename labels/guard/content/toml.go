package content

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A table is a table of TOML.
type table = map[string]any

// readTOML judges a manifest or lock file in TOML.
func (c *check) readTOML() {
	if c.j.off[Dependency] && c.j.off[Script] {
		return
	}
	if c.w.Part {
		c.tomlPart()
		return
	}
	if !fewKeys(c.text) {
		c.all(Unread, whyLong)
		return
	}
	var root table
	if toml.Unmarshal([]byte(c.text), &root) != nil {
		c.all(Unread, whyUnread)
		return
	}
	switch c.kind {
	case pyproject:
		c.pyproject(root)
	case pipfile:
		c.poetry(root, "packages")
		c.poetry(root, "dev-packages")
		c.sources(root["source"])
	case cargoManifest:
		c.cargo(root)
	case tomlLock:
		c.tomlLock(root)
	}
}

// sorted goes through a table by name, so that the same text gives the same findings.
func sorted(t table) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, k := range slices.Sorted(maps.Keys(t)) {
			if !yield(k, t[k]) {
				return
			}
		}
	}
}

// mostKeys is how many names one table may have, or so many more as come to the same
// work: each is compared with all others of its table when the file is read.
const mostKeys = 4000

// fewKeys tells whether a file has no more names than people and programs write.
func fewKeys(s string) bool {
	keys, tables, cost := 0, 0, 0
	few := true
	eachLine(s, func(l textLine) {
		switch {
		case l.text == "" || l.text[0] == '#' || l.text[0] == '{' || l.text[0] == ']':
		case strings.HasPrefix(l.text, "[["):
			keys = 0
		case l.text[0] == '[':
			keys = 0
			tables++
			cost += tables
		case strings.Contains(l.text, "="):
			keys++
			cost += keys
		}
		few = few && cost <= mostKeys*mostKeys/2 && (l.to-l.from < mostKeys || strings.Count(s[l.from:l.to], "=") < 1000)
	})
	return few
}

// tableOf is the table below some names; nil where there is none.
func tableOf(t table, names ...string) table {
	for _, n := range names {
		t, _ = t[n].(table)
	}
	return t
}

// texts are the texts of an array, or the one text.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

func (c *check) requirementList(v any) {
	for _, s := range texts(v) {
		from, to := c.lineOf(s)
		c.requirement(s, from, to)
	}
}

// pyproject judges a pyproject.toml by PEP 517, 621 and 735, and as Poetry, PDM, uv,
// Hatch and setuptools read it.
func (c *check) pyproject(root table) {
	build := tableOf(root, "build-system")
	c.requirementList(build["requires"])
	if build["backend-path"] != nil {
		c.named(Script, "backend-path", whyInstall)
	}
	c.requirementList(tableOf(root, "project")["dependencies"])
	for _, group := range []table{tableOf(root, "project", "optional-dependencies"), tableOf(root, "dependency-groups"), tableOf(root, "tool", "pdm", "dev-dependencies")} {
		for _, v := range sorted(group) {
			c.requirementList(v)
		}
	}
	poetry := tableOf(root, "tool", "poetry")
	c.poetry(poetry, "dependencies")
	c.poetry(poetry, "dev-dependencies")
	for _, g := range sorted(tableOf(poetry, "group")) {
		if g, ok := g.(table); ok {
			c.poetry(g, "dependencies")
		}
	}
	c.sources(poetry["source"])
	if poetry["build"] != nil {
		c.named(Script, "build", whyInstall)
	}
	c.sources(tableOf(root, "tool", "pdm")["source"])
	c.uv(tableOf(root, "tool", "uv"))
	if tableOf(root, "tool", "hatch", "build", "hooks") != nil || tableOf(root, "tool", "hatch", "metadata", "hooks") != nil {
		c.named(Script, "hooks", whyInstall)
	}
	for _, env := range sorted(tableOf(root, "tool", "hatch", "envs")) {
		if env, ok := env.(table); ok {
			c.requirementList(env["dependencies"])
			c.requirementList(env["extra-dependencies"])
		}
	}
	c.dynamic(tableOf(root, "tool", "setuptools", "dynamic"))
	if tableOf(root, "tool", "setuptools")["cmdclass"] != nil {
		c.named(Script, "cmdclass", whyInstall)
	}
	for _, t := range []table{tableOf(root, "tool", "poe", "tasks"), tableOf(root, "tool", "pdm", "scripts"), tableOf(root, "tool", "taskipy", "tasks")} {
		c.tasks(t, 0)
	}
}

// dynamic judges what setuptools reads out of other files.
func (c *check) dynamic(t table) {
	for _, v := range sorted(t) {
		if v, ok := v.(table); ok {
			for _, p := range texts(v["file"]) {
				from, to := c.lineOf(p)
				if kindOf(fold(p)) == plain && strings.HasSuffix(p, ".txt") && !strings.Contains(strings.ToLower(p), "version") && !strings.Contains(strings.ToLower(p), "readme") {
					c.includesFile(p, from, to)
				}
			}
		}
	}
}

func (c *check) named(class, name, why string) {
	from, to := c.lineOf(name)
	c.add(class, from, to, why)
}

// tasks judges commands in a table, at a depth that no program goes beyond.
func (c *check) tasks(t table, depth int) {
	for _, v := range sorted(t) {
		if below, ok := v.(table); ok && depth < 4 {
			c.tasks(below, depth+1)
		}
		for _, s := range texts(v) {
			from, to := c.lineOf(s)
			c.command(s, from, to)
		}
	}
}

func (c *check) uv(uv table) {
	if uv == nil {
		return
	}
	for _, k := range []string{"dev-dependencies", "override-dependencies", "constraint-dependencies", "build-constraint-dependencies"} {
		c.requirementList(uv[k])
	}
	c.sources(uv["index"])
	for _, k := range []string{"index-url", "extra-index-url", "find-links"} {
		for _, u := range texts(uv[k]) {
			from, to := c.lineOf(u)
			c.registry(from, to, u)
		}
	}
	if uv["allow-insecure-host"] != nil {
		c.named(Registry, "allow-insecure-host", whyUnchecked)
	}
	for name, s := range sorted(tableOf(uv, "sources")) {
		for _, t := range tables(s) {
			c.tomlSource("pypi", name, t)
		}
	}
}

// tables are one table or those of an array.
func tables(v any) []table {
	switch v := v.(type) {
	case table:
		return []table{v}
	case []any:
		var out []table
		for _, x := range v {
			if t, ok := x.(table); ok {
				out = append(out, t)
			}
		}
		return out
	}
	return nil
}

func (c *check) sources(v any) {
	for _, t := range tables(v) {
		u, _ := t["url"].(string)
		from, to := c.lineOf(u)
		if u != "" || t["name"] != "PyPI" && t["name"] != "pypi" {
			c.registry(from, to, u)
		}
		if v, ok := t["verify_ssl"].(bool); ok && !v {
			c.named(Registry, "verify_ssl", whyUnchecked)
		}
	}
}

// poetry judges a table of dependencies: a version, a table, or several of these.
func (c *check) poetry(t table, section string) {
	for name, v := range sorted(tableOf(t, section)) {
		from, to := c.lineOf(name)
		if s, ok := v.(string); ok {
			if name != "python" {
				c.dependency("pypi", from, to, name, s)
			}
			continue
		}
		list := tables(v)
		if len(list) == 0 {
			c.add(Unread, from, to, whyUnread)
		}
		for _, d := range list {
			if !c.tomlSource("pypi", name, d) {
				version, _ := d["version"].(string)
				c.dependency("pypi", from, to, name, version)
			}
		}
	}
}

// tomlSource judges where a dependency is fetched from, if it says so itself.
func (c *check) tomlSource(eco, name string, d table) bool {
	from, to := c.lineOf(name)
	found := false
	for _, k := range []string{"git", "url", "file", "hg", "svn", "path"} {
		u, ok := d[k].(string)
		if !ok {
			continue
		}
		found = true
		if k == "path" || k == "file" && !isURL(u) {
			c.local(eco, from, to, u, u)
			continue
		}
		c.fetched(eco, from, to, u)
	}
	return found || d["workspace"] == true || d["include-group"] != nil
}

// tomlPart judges a part of a manifest or lock file in TOML line by line: every pair of
// a name and a version, and every requirement in quotes.
func (c *check) tomlPart() {
	section := ""
	eachLine(c.text, func(l textLine) {
		s := l.text
		switch {
		case s == "" || s[0] == '#':
			return
		case s[0] == '[' && strings.HasSuffix(s, "]") && !strings.ContainsAny(s, `"'=`):
			section = strings.Trim(s, "[] ")
			return
		}
		var one table
		if toml.Unmarshal([]byte(s), &one) == nil && len(one) == 1 {
			for name, v := range one {
				c.tomlPair(section, name, v, l)
			}
			return
		}
		quotedIn(s, func(q string, _, _ int) {
			if c.kind == pyproject {
				c.requirement(q, l.from, l.to)
			}
		})
	})
}

// tomlFields are names in manifests that are no dependencies.
var tomlFields = map[string]bool{
	"name": true, "version": true, "description": true, "edition": true, "license": true, "readme": true, "python": true, "requires-python": true, "rust-version": true,
	"authors": true, "keywords": true, "homepage": true, "repository": true, "documentation": true, "build-backend": true, "target-version": true, "line-length": true, "resolver": true, "publish": true, "default-run": true,
}

func (c *check) tomlPair(section, name string, v any, l textLine) {
	known := strings.Contains(section, "dependencies") || strings.HasSuffix(section, "packages")
	switch {
	case c.kind == tomlLock:
		c.tomlLockPair(name, v, l)
	case name == "dependencies" || name == "requires":
		c.requirementList(v)
	case name == "build" && c.kind == cargoManifest, name == "cmdclass", name == "backend-path":
		c.add(Script, l.from, l.to, whyInstall)
	case !known && (section != "" || tomlFields[name]):
	case c.kind == cargoManifest:
		c.crate(name, v)
	default:
		c.poetry(table{"d": table{name: v}}, "d")
	}
}
