package content

import (
	"strings"
)

// requirements judges a requirements.txt: one requirement or option on each line.
func (c *check) requirements() {
	if c.j.off[Dependency] {
		return
	}
	joinedLines(c.text, c.requirementLine)
}

func (c *check) requirementLine(s string, from, to int) {
	if i := strings.Index(s, " #"); i >= 0 {
		s = s[:i]
	}
	if s = strings.TrimSpace(s); s == "" || s[0] == '#' {
		return
	}
	if s[0] == '-' {
		c.requirementOption(s, from, to)
		return
	}
	c.requirement(s, from, to)
}

func (c *check) requirementOption(s string, from, to int) {
	key, value, ok := strings.Cut(s, "=")
	if i := strings.IndexAny(s, " \t"); i >= 0 && (!ok || i < len(key)) {
		key, value = s[:i], s[i+1:]
	}
	if len(key) > 2 && key[1] != '-' { // -rfile
		key, value = key[:2], key[2:]
	}
	value = strings.Trim(strings.TrimSpace(value), `"'`)
	switch key {
	case "-i", "--index-url", "--extra-index-url", "--pypi-url", "-f", "--find-links":
		if isURL(value) || !strings.HasPrefix(key, "-f") && key != "--find-links" {
			c.registry(from, to, value)
		} else {
			c.local("pypi", from, to, value, value)
		}
	case "--trusted-host":
		c.add(Registry, from, to, whyUnchecked)
	case "-r", "--requirement", "-c", "--constraint":
		if isURL(value) {
			c.registry(from, to, value)
		} else {
			c.includesFile(value, from, to)
		}
	case "-e", "--editable":
		c.requirement(value, from, to)
	case "--no-index", "--pre", "--prefer-binary", "--only-binary", "--no-binary", "--require-hashes", "--use-feature":
	default:
		c.add(Unread, from, to, whyUnread)
	}
}

// includesFile judges that further requirements stand in another file, which has to be
// judged as such when it is written.
func (c *check) includesFile(p string, from, to int) {
	c.local("pypi", from, to, p, p)
	if c.j.kindOf(fold(p)) != requirements {
		c.add(Dependency, from, to, whyUnjudged)
	}
}

// requirement judges one requirement as PEP 508 or pip's files write it.
func (c *check) requirement(s string, from, to int) {
	s, _, _ = strings.Cut(s, " --")
	s, _, _ = strings.Cut(s, ";")
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	n := strings.IndexFunc(s, func(r rune) bool { return !nameRune(r) })
	if n < 0 {
		n = len(s)
	}
	name, rest := s[:n], strings.TrimSpace(s[n:])
	if strings.HasPrefix(rest, "[") {
		if i := strings.IndexByte(rest, ']'); i >= 0 {
			rest = strings.TrimSpace(rest[i+1:])
		}
	}
	switch {
	case strings.HasPrefix(rest, "@"):
		c.fetched("pypi", from, to, strings.TrimSpace(rest[1:]))
	case isURL(s) || strings.Contains(s, "://"):
		c.fetched("pypi", from, to, s)
	case name == "" || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "\\") || strings.HasPrefix(s, ".") || archive(s):
		c.local("pypi", from, to, s, s)
	default:
		c.dependency("pypi", from, to, name, strings.ReplaceAll(strings.Trim(rest, "()"), " ", ""))
	}
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
}

// setupCfg judges a setup.cfg: lists of requirements, commands that run.
func (c *check) setupCfg() {
	section, list := "", false
	eachLine(c.text, func(l textLine) {
		switch {
		case l.text == "" || l.text[0] == '#' || l.text[0] == ';':
		case l.text[0] == '[' && l.indent == 0:
			section, list = strings.Trim(l.text, "[] "), false
		case l.indent > 0 && list:
			c.requirement(l.text, l.from, l.to)
		case l.indent == 0 || c.w.Part:
			key, value, _ := strings.Cut(l.text, "=")
			key = strings.ReplaceAll(strings.TrimSpace(key), "-", "_")
			list = key == "install_requires" || key == "setup_requires" || key == "tests_require" || section == "options.extras_require"
			switch {
			case list:
				c.requirement(strings.TrimSpace(value), l.from, l.to)
			case key == "cmdclass" || key == "entry_points" && strings.Contains(value, "distutils.commands"):
				c.add(Script, l.from, l.to, whyInstall)
			case key == "dependency_links" || key == "index_url":
				c.registry(l.from, l.to, strings.TrimSpace(value))
			}
		}
	})
}

// setupPy judges a setup.py, which is code that runs at installation. What it requires
// is read where it stands as a plain list.
func (c *check) setupPy() {
	c.all(Script, whyInstall)
	if c.j.off[Dependency] {
		return
	}
	for _, key := range []string{"install_requires", "setup_requires", "tests_require"} {
		rest := c.text
		for range 8 {
			var ok bool
			if _, rest, ok = strings.Cut(rest, key); !ok {
				break
			}
			rest = strings.TrimLeft(rest, " \t=:\"'")
			if !strings.HasPrefix(rest, "[") {
				continue
			}
			base := len(c.text) - len(rest)
			quotedIn(rest[:closing(rest)], func(s string, from, to int) { c.requirement(s, base+from, base+to) })
		}
	}
}

// closing is where the bracket that s begins with is closed.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'':
			n := strings.IndexByte(s[i+1:], s[i])
			if n < 0 {
				return len(s)
			}
			i += n + 1
		}
	}
	return len(s)
}

// quotedIn finds what stands in quotes.
func quotedIn(s string, f func(text string, from, to int)) {
	for i := 0; i < len(s); i++ {
		if q := s[i]; q == '"' || q == '\'' {
			n := strings.IndexByte(s[i+1:], q)
			if n < 0 {
				return
			}
			f(s[i+1:i+1+n], i, i+n+2)
			i += n + 1
		}
	}
}
