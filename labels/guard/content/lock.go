package content

import (
	"encoding/base64"
	"strings"
)

// textLine is one line of a text and where it stands.
type textLine struct {
	text     string // without white space around and what ends the line
	indent   int    // blanks before it; a tab is one
	from, to int
}

// eachLine goes through the lines of a text.
func eachLine(s string, f func(l textLine)) {
	for at := 0; at < len(s); {
		raw, _, _ := strings.Cut(s[at:], "\n")
		trimmed := strings.TrimLeft(raw, " \t")
		f(textLine{strings.TrimRight(trimmed, " \t\r"), len(raw) - len(trimmed), at, at + len(raw)})
		at += len(raw) + 1
	}
}

// readLock judges lock files that are read line by line.
func (c *check) readLock() {
	if c.j.off[Lock] {
		return
	}
	switch c.kind {
	case goSum:
		c.goSum()
	case yarnLock:
		c.yarnLock()
	case pnpmLock:
		eachLine(c.text, c.pnpmLine)
	case gemfileLock:
		c.gemLock()
	}
}

// goSum judges go.sum: module, version and a digest of the one form there is.
func (c *check) goSum() {
	eachLine(c.text, func(l textLine) {
		if l.text == "" {
			return
		}
		f := strings.Fields(l.text)
		if len(f) != 3 {
			c.add(Unread, l.from, l.to, whyUnread)
			return
		}
		sum, ok := strings.CutPrefix(f[2], "h1:")
		b, err := base64.StdEncoding.DecodeString(sum)
		if !ok || err != nil || len(b) != 32 {
			c.add(Lock, l.from, l.to, whyIntegrity)
		}
	})
}

// A yarnEntry is one package of a yarn.lock, as far as it was read.
type yarnEntry struct {
	head              textLine
	name              string
	fetched, checked  bool
	conditions, local bool
}

// yarnLock judges a yarn.lock of either form.
func (c *check) yarnLock() {
	var e yarnEntry
	end := func() {
		if e.name != "" && e.fetched && !e.checked && !e.conditions && !e.local && !c.w.Part {
			c.add(Lock, e.head.from, e.head.to, whyNoIntegrity)
		}
	}
	eachLine(c.text, func(l textLine) {
		switch {
		case l.text == "" || l.text[0] == '#':
		case l.indent == 0:
			end()
			e = yarnEntry{head: l, name: yarnName(l.text)}
		default:
			c.yarnLine(&e, l)
		}
	})
	end()
}

// yarnName is the package of a block: "a@^1, a@^2": or "a@npm:b@^1":.
func yarnName(head string) string {
	head, _, _ = strings.Cut(strings.Trim(strings.TrimSuffix(head, ":"), `"`), ",")
	name, version := cutVersion(strings.Trim(head, `"`))
	if alias, ok := strings.CutPrefix(version, "npm:"); ok {
		if n, v := cutVersion(alias); v != "" {
			return n
		}
	}
	if name == "__metadata" {
		return ""
	}
	return name
}

func (c *check) yarnLine(e *yarnEntry, l textLine) {
	key, value, _ := strings.Cut(l.text, " ")
	value = strings.Trim(strings.TrimSpace(value), `"`)
	switch strings.TrimSuffix(key, ":") {
	case "resolved":
		e.fetched = true
		if strings.HasPrefix(value, "file:") || strings.HasPrefix(value, "git") {
			e.local = true
		}
		if !strings.HasPrefix(value, "file:") {
			c.lockURL("npm", l.from, l.to, value, e.name)
		}
	case "integrity":
		e.checked = true
		c.integrity(l.from, l.to, value)
	case "checksum":
		e.checked = true
		if _, sum, ok := strings.Cut(value, "/"); ok {
			value = sum
		}
		if !hexDigest("sha512:"+value, ":") {
			c.add(Lock, l.from, l.to, whyIntegrity)
		}
	case "conditions":
		e.conditions = true
	case "resolution":
		c.yarnResolution(e, l, value)
	}
}

func (c *check) yarnResolution(e *yarnEntry, l textLine, value string) {
	name, where := cutVersion(value)
	switch {
	case strings.HasPrefix(where, "workspace:") || strings.HasPrefix(where, "link:") || strings.HasPrefix(where, "portal:"):
		e.local = true
	case strings.HasPrefix(where, "patch:"):
		e.local = true
		if !strings.Contains(where, "builtin<") {
			c.add(Dependency, l.from, l.to, whyFetched)
		}
	case strings.HasPrefix(where, "npm:"):
		e.fetched = true
		if u, ok := strings.CutPrefix(where[strings.Index(where, "::")+1:], ":__archiveUrl="); ok && strings.Contains(where, "::") {
			c.lockURL("npm", l.from, l.to, unpercent(u), name)
		}
		if e.name != "" && name != e.name {
			c.add(Lock, l.from, l.to, whyOtherName)
		}
	default:
		e.local = true
		c.fetched("npm", l.from, l.to, where)
	}
}

// pnpmLine judges one line of a pnpm-lock.yaml, which is written by a program: each
// resolution stands on one line, or its members on one line each.
func (c *check) pnpmLine(l textLine) {
	s := l.text
	if i := strings.Index(s, "resolution:"); i == 0 {
		s = strings.Trim(s[len("resolution:"):], " {}")
		if s == "" {
			return
		}
		if !strings.Contains(s, "integrity:") && !strings.Contains(s, "type: directory") && !strings.Contains(s, "repo:") && !strings.Contains(s, "commit:") {
			c.add(Lock, l.from, l.to, whyNoIntegrity)
		}
	}
	for _, part := range strings.Split(s, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		value = strings.Trim(strings.TrimSpace(value), `'"`)
		switch strings.Trim(key, `'"`) {
		case "integrity":
			c.integrity(l.from, l.to, value)
		case "tarball":
			if !strings.HasPrefix(value, "file:") {
				c.lockURL("npm", l.from, l.to, value, "")
			}
		case "repo":
			c.fetched("npm", l.from, l.to, value)
		case "registry":
			c.registry(l.from, l.to, value)
		}
	}
}

// gemLock judges a Gemfile.lock.
func (c *check) gemLock() {
	section := ""
	eachLine(c.text, func(l textLine) {
		if l.indent == 0 && l.text != "" && strings.ToUpper(l.text) == l.text {
			section = l.text
			return
		}
		if u, ok := strings.CutPrefix(l.text, "remote: "); ok {
			switch section {
			case "PATH":
				c.local("gem", l.from, l.to, u, u)
			case "GIT":
				c.fetched("gem", l.from, l.to, u)
			default:
				c.registry(l.from, l.to, u)
			}
		}
		if section == "CHECKSUMS" {
			if _, sum, ok := strings.Cut(l.text, ") "); ok && !hexDigest(sum, "=") {
				c.add(Lock, l.from, l.to, whyIntegrity)
			}
		}
	})
}
