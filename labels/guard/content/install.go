package content

import (
	"strings"
)

// installs judges a command that fetches packages by name: it is held against the same
// lists as a manifest.
func (c *check) installs(name string, args []word, from, to int) {
	if c.j.off[Dependency] || len(args) == 0 {
		return
	}
	if m := strings.HasPrefix(name, "python") || name == "py"; m && len(args) > 2 && args[0].text == "-m" {
		name, args = args[1].text, args[2:]
	}
	verb, rest := args[0].text, args[1:]
	if name == "uv" && verb == "pip" && len(rest) > 0 {
		name, verb, rest = "pip", rest[0].text, rest[1:]
	}
	c.registryOptions(name, args, from, to)
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		if npmAdds[verb] || name == "yarn" && verb == "global" {
			c.each(rest, npmValued, func(s string) { c.npmArgument(s, from, to) })
		}
	case "npx", "pnpx", "bunx":
		c.npx(args, from, to)
	case "pip", "pip3", "pipx", "uv", "poetry", "pdm", "pipenv", "uvx":
		if verb == "install" || verb == "add" || verb == "run" && name == "pipx" {
			c.each(rest, pipValued, func(s string) { c.requirement(strings.TrimSuffix(s, "@latest"), from, to) })
		}
	case "go":
		if verb == "get" || verb == "install" || verb == "run" {
			c.each(rest, nil, func(s string) { c.goArgument(s, from, to) })
		}
	case "cargo":
		if verb == "install" || verb == "add" {
			c.each(rest, cargoValued, func(s string) {
				crate, version := cutVersion(s)
				c.dependency("cargo", from, to, crate, version)
			})
		}
	case "gem":
		if verb == "install" {
			c.each(rest, gemValued, func(s string) { c.dependencyName("gem", from, to, s) })
		}
	case "composer":
		if verb == "require" || verb == "global" {
			c.each(rest, nil, func(s string) {
				vendor, version, _ := strings.Cut(s, ":")
				c.composerSpec(from, to, vendor, version)
			})
		}
	case "docker", "podman":
		c.dockerCommand(verb, rest, from, to)
	}
}

var (
	npmAdds     = map[string]bool{"install": true, "i": true, "add": true, "in": true, "ins": true, "inst": true, "insta": true, "isntall": true, "dlx": true, "link": true}
	npmValued   = map[string]bool{"--registry": true, "--prefix": true, "--cache": true, "--tag": true, "-w": true, "--workspace": true, "--userconfig": true, "--loglevel": true, "-C": true, "--dir": true, "--filter": true, "--cwd": true}
	pipValued   = map[string]bool{"-i": true, "--index-url": true, "--extra-index-url": true, "-f": true, "--find-links": true, "-r": true, "--requirement": true, "-c": true, "--constraint": true, "-t": true, "--target": true, "--prefix": true, "--root": true, "--cache-dir": true, "--python": true, "--group": true, "-G": true, "--trusted-host": true, "--extra": true, "--only-binary": true, "--no-binary": true, "--platform": true, "--python-version": true, "--timeout": true, "--retries": true}
	cargoValued = map[string]bool{"--version": true, "--vers": true, "--features": true, "-F": true, "--path": true, "--root": true, "--git": true, "--branch": true, "--tag": true, "--rev": true, "--bin": true, "--target": true, "--profile": true, "--registry": true, "--index": true, "-j": true}
	gemValued   = map[string]bool{"-v": true, "--version": true, "--source": true, "-s": true, "--clear-sources": false, "-i": true, "--install-dir": true}
)

// each goes through the words that are no options and no values of options.
func (c *check) each(args []word, valued map[string]bool, f func(s string)) {
	for i := 0; i < len(args); i++ {
		s := args[i].text
		switch {
		case s == "" || s == "." || s == "--":
		case s[0] == '-':
			if valued[s] {
				i++
			}
		default:
			f(s)
		}
	}
}

func (c *check) npmArgument(s string, from, to int) {
	if s == "add" { // yarn global add
		return
	}
	if isURL(s) || strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/") || !strings.HasPrefix(s, "@") && strings.Contains(s, "/") {
		c.npmDependency(from, to, s, s)
		return
	}
	name, version := cutVersion(s)
	c.npmDependency(from, to, name, version)
}

// npx runs what is installed already, unless it is told to fetch something.
func (c *check) npx(args []word, from, to int) {
	fetch := false
	for i, a := range args {
		switch s := a.text; {
		case s == "-y" || s == "--yes":
			fetch = true
		case (s == "-p" || s == "--package") && i+1 < len(args):
			c.npmArgument(args[i+1].text, from, to)
			return
		case strings.HasPrefix(s, "--package="):
			c.npmArgument(s[len("--package="):], from, to)
			return
		case !strings.HasPrefix(s, "-"):
			if _, version := cutVersion(s); fetch || version != "" {
				c.npmArgument(s, from, to)
			}
			return
		}
	}
}

// goArgument judges a package with a version; without one it is of the module itself.
func (c *check) goArgument(s string, from, to int) {
	path, version := cutVersion(s)
	first, _, _ := strings.Cut(path, "/")
	if version == "" || !strings.Contains(first, ".") || strings.HasPrefix(s, ".") {
		return
	}
	for p := path; ; {
		if c.j.lists["go"].allowsAny(p) {
			return
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			break
		}
		p = p[:i]
	}
	c.add(Dependency, from, to, whyDependency)
}

// dockerCommand judges the image that is run or pulled.
func (c *check) dockerCommand(verb string, args []word, from, to int) {
	if verb != "pull" && verb != "run" {
		return
	}
	for i := 0; i < len(args); i++ {
		s := args[i].text
		switch {
		case s == "" || strings.HasPrefix(s, "--") && (strings.Contains(s, "=") || s == "--rm" || s == "--privileged" || s == "--init" || s == "--quiet" || s == "--detach" || s == "--tty" || s == "--interactive"):
		case strings.HasPrefix(s, "--") || s == "-e" || s == "-v" || s == "-w" || s == "-u" || s == "-p" || s == "-l" || s == "-m":
			i++
		case s[0] == '-':
		default:
			if !strings.HasPrefix(s, "$") {
				c.image(s, from, to)
			}
			return
		}
	}
}

// registryOptions judges options and settings that say where packages come from.
func (c *check) registryOptions(name string, args []word, from, to int) {
	if !packagers[name] {
		return
	}
	for i, a := range args {
		key, value, ok := strings.Cut(a.text, "=")
		if !ok && i+1 < len(args) {
			value = args[i+1].text
		}
		switch key {
		case "--registry", "--index-url", "--extra-index-url", "--index", "--default-index", "--find-links", "--source":
			c.registryValue(value, from, to)
		case "-i", "-f":
			if name == "pip" || name == "pip3" {
				c.registryValue(value, from, to)
			}
		case "--trusted-host":
			c.add(Registry, from, to, whyUnchecked)
		case "registry", "global.index-url", "npmRegistryServer":
			c.registryValue(value, from, to)
		}
	}
}

// packagers are programs that fetch packages.
var packagers = map[string]bool{
	"npm": true, "pnpm": true, "yarn": true, "bun": true, "npx": true, "pnpx": true, "bunx": true, "lerna": true, "pip": true, "pip3": true, "pipx": true, "uv": true, "uvx": true, "poetry": true, "pdm": true, "pipenv": true, "gem": true, "bundle": true, "cargo": true, "composer": true, "twine": true, "easy_install": true,
}

func (c *check) registryValue(u string, from, to int) {
	if isURL(u) || strings.Contains(u, "://") {
		c.registry(from, to, u)
	}
}

// registryVariables are variables that say where packages come from.
var registryVariables = map[string]bool{
	"GOPROXY": true, "NPM_CONFIG_REGISTRY": true, "YARN_NPM_REGISTRY_SERVER": true, "YARN_REGISTRY": true, "PIP_INDEX_URL": true, "PIP_EXTRA_INDEX_URL": true, "UV_INDEX_URL": true, "UV_DEFAULT_INDEX": true, "UV_INDEX": true, "UV_EXTRA_INDEX_URL": true, "BUNDLE_MIRROR__ALL": true, "COMPOSER_REPO_PACKAGIST": true,
}

// registryVariable judges that a variable of package managers is set.
func (c *check) registryVariable(name, value string, from, to int) {
	up := strings.ToUpper(name)
	value = strings.Trim(value, `"' `)
	switch {
	case registryVariables[up]:
		for u := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == '|' || r == ' ' }) {
			if u != "direct" && u != "off" && !strings.HasPrefix(u, "$") {
				c.registry(from, to, u)
			}
		}
	case up == "GOSUMDB" && value == "off", up == "GONOSUMDB" && value != "", up == "GONOSUMCHECK", up == "GOINSECURE" && value != "", up == "GOFLAGS" && strings.Contains(value, "insecure"), up == "PIP_TRUSTED_HOST",
		up == "NODE_TLS_REJECT_UNAUTHORIZED" && value == "0", up == "GIT_SSL_NO_VERIFY", up == "NPM_CONFIG_STRICT_SSL" && value == "false":
		c.add(Registry, from, to, whyUnchecked)
	}
}
