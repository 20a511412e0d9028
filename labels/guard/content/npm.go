package content

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pratique-dev/pratique/labels/args"
)

// unquoteJSON decodes a JSON string as far as it can be.
func unquoteJSON(q string) string {
	if !strings.Contains(q, `\`) {
		return q[1 : len(q)-1]
	}
	out, _ := jsontext.AppendUnquote(nil, q)
	return string(out)
}

// npmSections are the members of package.json that name dependencies with versions.
var npmSections = map[string]bool{
	"dependencies": true, "devDependencies": true, "peerDependencies": true, "optionalDependencies": true,
	"resolutions": true, "overrides": true, "catalog": true, "bundleDependencies": true, "bundledDependencies": true,
}

// npmInstall are the scripts that npm, yarn or pnpm run by themselves when a package is
// installed, or packed out of a repository.
var npmInstall = map[string]bool{
	"preinstall": true, "install": true, "postinstall": true, "prepublish": true, "preprepare": true, "prepare": true, "postprepare": true,
	"prepack": true, "postpack": true, "dependencies": true, "pnpm:devPreinstall": true, "postuninstall": true, "preuninstall": true, "uninstall": true,
}

// npm judges a package.json.
func (c *check) npm(root args.Value) {
	for _, section := range []string{"dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "catalog"} {
		each(root, section, func(name string, x args.Value) { c.npmSpec(x, name, x.Text()) })
	}
	each(root, "catalogs", func(_ string, x args.Value) { c.npmSpecs(x) })
	each(root, "resolutions", func(name string, x args.Value) { c.npmSpec(x, lastName(name), x.Text()) })
	for _, name := range slices.Sorted(maps.Keys(npmSections)) {
		if x, ok := root.Get(name); ok && !sectionRead(name, x) {
			c.at(Unread, x, whyUnread)
		}
	}
	if o, _ := root.Get("overrides"); o.Kind() == '{' {
		c.overrides(o)
	}
	for _, section := range []string{"bundleDependencies", "bundledDependencies"} {
		if b, _ := root.Get(section); b.Kind() == '[' {
			for _, x := range b.All() {
				c.npmSpec(x, x.Text(), "")
			}
		}
	}
	if p, _ := root.Get("pnpm"); p.Kind() == '{' {
		c.pnpm(p)
	}
	if w, _ := root.Get("workspaces"); w.Kind() == '{' {
		each(w, "catalog", func(name string, x args.Value) { c.npmSpec(x, name, x.Text()) })
		each(w, "catalogs", func(_ string, x args.Value) { c.npmSpecs(x) })
	}
	c.npmRuns(root)
}

// sectionRead tells whether a section has the one form that is judged: an object of
// texts, or what else it may be.
func sectionRead(name string, v args.Value) bool {
	switch {
	case strings.HasPrefix(name, "bundle"):
		return v.Kind() == '[' || v.Kind() == 't' || v.Kind() == 'f'
	case v.Kind() != '{':
		return false
	case name == "overrides":
		return true
	}
	for _, x := range v.All() {
		if x.Kind() != '"' {
			return false
		}
	}
	return true
}

func (c *check) npmSpecs(v args.Value) {
	if v.Kind() == '{' {
		for name, x := range v.All() {
			c.npmSpec(x, name, x.Text())
		}
	}
}

// npmRuns judges what a package.json has run, and where it fetches and publishes.
func (c *check) npmRuns(root args.Value) {
	each(root, "scripts", func(name string, x args.Value) {
		if npmInstall[name] {
			c.at(Script, x, whyInstall)
		}
		c.command(x.Text(), x.Offset(), x.Offset()+len(x.Raw()))
	})
	if b, ok := root.Get("trustedDependencies"); ok && b.Len() > 0 {
		c.at(Script, b, whyInstall)
	}
	if g, ok := root.Get("gypfile"); ok && g.Kind() != 'f' {
		c.at(Script, g, whyInstall)
	}
	for _, name := range []string{"husky", "simple-git-hooks", "pre-commit", "pre-push", "ghooks", "gitHooks"} {
		if h, ok := root.Get(name); ok {
			c.at(Settings, h, whyHooks)
		}
	}
	each(root, "publishConfig", func(name string, x args.Value) {
		if strings.HasSuffix(name, "registry") && !c.j.registry(x.Text()) {
			c.at(Registry, x, whyRegistry)
		}
	})
	if p, ok := root.Get("packageManager"); ok {
		name, version := cutVersion(p.Text())
		if name != "npm" && name != "pnpm" && name != "yarn" && name != "bun" || strings.ContainsAny(version, ":/") {
			c.at(Registry, p, whyRegistry)
		}
	}
}

// overrides judges npm's overrides: a name, perhaps with a version, and a version or
// further overrides below.
func (c *check) overrides(v args.Value) {
	for name, x := range v.All() {
		base, _ := cutVersion(name)
		switch {
		case x.Kind() == '{':
			c.overrides(x)
		case base == ".":
			up, _ := cutVersion(v.Name())
			c.npmSpec(x, up, x.Text())
		default:
			c.npmSpec(x, base, x.Text())
		}
	}
}

func (c *check) pnpm(p args.Value) {
	each(p, "overrides", func(name string, x args.Value) { c.npmSpec(x, lastName(name), x.Text()) })
	each(p, "packageExtensions", func(_ string, x args.Value) {
		each(x, "dependencies", func(name string, y args.Value) { c.npmSpec(y, name, y.Text()) })
		each(x, "optionalDependencies", func(name string, y args.Value) { c.npmSpec(y, name, y.Text()) })
		each(x, "peerDependencies", func(name string, y args.Value) { c.npmSpec(y, name, y.Text()) })
	})
	for _, name := range []string{"onlyBuiltDependencies", "dangerouslyAllowAllBuilds", "patchedDependencies", "configDependencies"} {
		if b, ok := p.Get(name); ok && b.Len() > 0 || b.Kind() == 't' {
			c.at(Script, b, whyInstall)
		}
	}
}

// lastName is the package that a resolution of yarn or an override of pnpm is about:
// **/a/b, a/@s/b, a>b, b@^1.
func lastName(s string) string {
	if i := strings.LastIndexByte(s, '>'); i >= 0 && i+1 < len(s) && s[i+1] != '=' && s[i+1] != ' ' {
		s = s[i+1:]
	}
	s, _ = cutVersion(s)
	if i := strings.LastIndex(s, "/@"); i >= 0 {
		return s[i+1:]
	}
	if strings.HasPrefix(s, "@") && strings.Count(s, "/") == 1 {
		return s
	}
	return s[strings.LastIndexByte(s, '/')+1:]
}

// npmSpec judges one dependency of npm as its version says where it comes from.
func (c *check) npmSpec(v args.Value, name, spec string) {
	from := v.Offset()
	c.npmDependency(from, from+len(v.Raw()), name, spec)
}

func (c *check) npmDependency(from, to int, name, spec string) {
	spec = strings.TrimSpace(spec)
	scheme, rest, ok := strings.Cut(spec, ":")
	switch {
	case ok && scheme == "npm":
		target, version := cutVersion(rest)
		if target != "" && target[0] >= '0' && target[0] <= '9' || strings.HasPrefix(rest, "^") || strings.HasPrefix(rest, "~") {
			target, version = name, rest // yarn: npm:^1.0.0
		}
		c.dependency("npm", from, to, target, version)
	case ok && (scheme == "workspace" || scheme == "catalog"):
		if target, _ := cutVersion(rest); target != rest {
			name = target
		}
		if scheme == "catalog" {
			c.dependencyName("npm", from, to, name)
		}
	case ok && (scheme == "file" || scheme == "link" || scheme == "portal"):
		c.local("npm", from, to, spec, rest)
	case strings.HasPrefix(spec, ".") || strings.HasPrefix(spec, "/") || strings.HasPrefix(spec, "~/"):
		c.local("npm", from, to, spec, spec)
	case strings.HasPrefix(spec, "$"):
		c.dependencyName("npm", from, to, name)
	case ok || strings.Contains(spec, "/"): // a URL, git@host:path or owner/repository
		if !c.j.lists["npm"].allowsURL(spec) && !c.j.lists["npm"].allowsURL("github:"+spec) {
			c.add(Dependency, from, to, whyFetched)
		}
	default:
		c.dependency("npm", from, to, name, spec)
	}
}

// npmFields are members of package.json that are no dependencies even where a part
// does not show what stands around them. A package of such a name passes there.
var npmFields = map[string]bool{
	"name": true, "version": true, "description": true, "main": true, "module": true, "types": true, "typings": true, "type": true, "license": true, "author": true,
	"homepage": true, "url": true, "email": true, "browser": true, "node": true, "npm": true, "yarn": true, "pnpm": true, "vscode": true, "repository": true, "bugs": true, "directory": true,
	"import": true, "require": true, "default": true, "access": true, "sideEffects": true, "$schema": true, "private": true, "bin": true,
}

var npmScripts = map[string]bool{
	"test": true, "build": true, "start": true, "dev": true, "lint": true, "format": true, "typecheck": true, "coverage": true,
	"clean": true, "watch": true, "serve": true, "preview": true, "docs": true, "bench": true, "e2e": true,
}

// npmPart judges one pair of a part of a package.json.
func (c *check) npmPart(m member) {
	switch {
	case m.name == "":
		if npmSections[m.section] {
			c.npmDependency(m.from, m.to, m.value, "")
		}
	case npmSections[m.section]:
		c.npmDependency(m.from, m.to, lastName(m.name), m.value)
	case m.section == "scripts" || npmInstall[m.name]:
		if npmInstall[m.name] {
			c.add(Script, m.from, m.to, whyInstall)
		}
		c.command(m.value, m.from, m.to)
	case m.section != "" && c.kind == npmManifest && !c.j.lists["npm"].allowsAny(m.section) && npmOther[m.section]:
	case npmFields[m.name]:
	case strings.ContainsAny(m.value, " \t") && !rangeLike(m.value), npmScripts[m.name]:
		c.command(m.value, m.from, m.to)
	case !c.j.lists["npm"].allowsAny(m.name) && !rangeLike(m.value) && !isURL(m.value) && !strings.HasPrefix(m.value, "npm:"):
		c.add(Dependency, m.from, m.to, whyPart)
	default:
		c.npmDependency(m.from, m.to, m.name, m.value)
	}
}

// npmOther are objects in a package.json that name no dependency.
var npmOther = map[string]bool{
	"engines": true, "exports": true, "imports": true, "author": true, "repository": true, "bugs": true, "funding": true, "files": true, "keywords": true,
	"contributors": true, "maintainers": true, "browserslist": true, "config": true, "directories": true, "bin": true, "man": true, "os": true, "cpu": true, "lint-staged": true, "workspaces": true,
}

// rangeLike tells whether a text is a version or a range of versions.
func rangeLike(s string) bool {
	switch {
	case s == "" || s == "x" || s == "latest" || s == "next":
		return true
	case strings.IndexByte("^~<>=*", s[0]) >= 0, s[0] >= '0' && s[0] <= '9':
		return true
	}
	return len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9'
}
