package content

import (
	"strings"
)

// settings judges files that make other programs run or fetch something. Of some kinds
// the harmless part is known and may be written.
func (c *check) settings() {
	switch c.kind {
	case npmrc, yarnrc:
		eachLine(c.text, c.npmrcLine)
	case pipConf:
		eachLine(c.text, c.pipLine)
	case gitmodules:
		eachLine(c.text, c.moduleLine)
	case gitattributes:
		eachLine(c.text, c.attributeLine)
	case instructions:
		c.all(Settings, whyAgents)
	default:
		c.all(Settings, whySettings)
	}
}

// harmlessSettings are names in .npmrc and .yarnrc.yml that run and fetch nothing.
var harmlessSettings = map[string]bool{
	"save-exact": true, "save-prefix": true, "engine-strict": true, "package-lock": true, "fund": true, "audit": true, "loglevel": true, "progress": true, "legacy-peer-deps": true, "strict-peer-dependencies": true, "auto-install-peers": true,
	"shamefully-hoist": true, "hoist": true, "node-linker": true, "nodelinker": true, "always-auth": true, "update-notifier": true, "color": true, "audit-level": true, "init-license": true, "access": true, "provenance": true, "enabletelemetry": true, "enableglobalcache": true, "compressionlevel": true, "nmhoistinglimits": true,
	"public-hoist-pattern": true, "prefer-workspace-packages": true, "link-workspace-packages": true, "resolution-mode": true, "lockfile": true, "min-release-age": true, "minimum-release-age": true, "npmminimalagegate": true,
}

// npmrcLine judges one line of .npmrc, .yarnrc or .yarnrc.yml.
func (c *check) npmrcLine(l textLine) {
	s := l.text
	if s == "" || s[0] == '#' || s[0] == ';' {
		return
	}
	i := strings.IndexAny(s, "= ")
	if c.kind == yarnrc {
		i = strings.IndexAny(s, ": ")
	}
	if i < 0 {
		i = len(s)
	}
	key, value := strings.ToLower(strings.Trim(s[:i], `" `)), strings.Trim(s[i:], ` =:"'`)
	switch {
	case strings.HasPrefix(key, "//"):
		if strings.Contains(value, "$") || c.j.off[Secret] {
			h, _, _ := strings.Cut(key[2:], "/")
			if !c.j.registries[h] {
				c.add(Registry, l.from, l.to, whyRegistry)
			}
			return
		}
		c.add(Secret, l.from, l.to, whySecret)
	case strings.HasSuffix(key, "registry") || key == "npmregistryserver" || key == "npmpublishregistry":
		c.registry(l.from, l.to, value)
	case key == "ignore-scripts" && value == "true", key == "enablescripts" && value == "false":
	case key == "strict-ssl" && value == "true":
	case harmlessSettings[key], l.indent > 0 && value == "":
	default:
		c.add(Settings, l.from, l.to, whySettings)
	}
}

// pipLine judges one line of pip.conf.
func (c *check) pipLine(l textLine) {
	key, value, ok := strings.Cut(l.text, "=")
	key, value = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), "_", "-"), strings.TrimSpace(value)
	switch {
	case l.text == "" || l.text[0] == '#' || l.text[0] == ';' || l.text[0] == '[':
	case key == "index-url" || key == "extra-index-url" || key == "find-links" || key == "index":
		for u := range strings.FieldsSeq(value) {
			c.registry(l.from, l.to, u)
		}
	case !ok && isURL(l.text):
		c.registry(l.from, l.to, l.text)
	case key == "trusted-host":
		c.add(Registry, l.from, l.to, whyUnchecked)
	case key == "timeout" || key == "retries" || key == "no-cache-dir" || key == "disable-pip-version-check" || key == "require-hashes" || key == "only-binary" || key == "require-virtualenv":
	default:
		c.add(Settings, l.from, l.to, whySettings)
	}
}

// moduleLine judges one line of .gitmodules.
func (c *check) moduleLine(l textLine) {
	key, value, _ := strings.Cut(l.text, "=")
	key, value = strings.ToLower(strings.TrimSpace(key)), strings.Trim(strings.TrimSpace(value), `"`)
	switch {
	case l.text == "" || l.text[0] == '#' || l.text[0] == ';' || l.text[0] == '[':
		if strings.Contains(l.text, "..") {
			c.add(Settings, l.from, l.to, whySettings)
		}
	case key == "url":
		if strings.HasPrefix(value, "../") || strings.HasPrefix(value, "./") {
			return // of the same server
		}
		if !c.j.registry(value) {
			c.add(Registry, l.from, l.to, whyRegistry)
		}
	case key == "path" && !strings.HasPrefix(value, "-") && !strings.Contains(value, ".."):
	case key == "branch" || key == "shallow" || key == "ignore" || key == "fetchrecursesubmodules":
		if strings.HasPrefix(value, "-") {
			c.add(Settings, l.from, l.to, whySettings)
		}
	default: // update = !command, and what is not known
		c.add(Settings, l.from, l.to, whySettings)
	}
}

// attributeLine judges one line of .gitattributes: filters and drivers run commands.
func (c *check) attributeLine(l textLine) {
	if l.text == "" || l.text[0] == '#' {
		return
	}
	for f := range strings.FieldsSeq(l.text) {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "filter", "diff", "merge":
			if value != "" && value != "lfs" && value != "union" && value != "binary" && !gitDrivers[value] {
				c.add(Settings, l.from, l.to, whySettings)
			}
		}
	}
}

// gitDrivers are the diff drivers that Git has itself.
var gitDrivers = map[string]bool{
	"ada": true, "bash": true, "bibtex": true, "cpp": true, "csharp": true, "css": true, "dts": true, "elixir": true, "fortran": true, "fountain": true, "golang": true, "html": true, "java": true, "kotlin": true, "markdown": true, "matlab": true, "objc": true, "pascal": true, "perl": true, "php": true, "python": true, "ruby": true, "rust": true, "scheme": true, "tex": true, "astextplain": false,
}
