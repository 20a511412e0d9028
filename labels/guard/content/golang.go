package content

import (
	"strings"

	"golang.org/x/mod/modfile"
)

// goModule judges go.mod and go.work.
func (c *check) goModule() {
	if c.j.off[Dependency] {
		return
	}
	if c.w.Part {
		c.goPart()
		return
	}
	var require []*modfile.Require
	var replace []*modfile.Replace
	if c.kind == goWork {
		f, err := modfile.ParseWork("go.work", []byte(c.text), nil)
		if err != nil {
			c.all(Unread, whyUnread)
			return
		}
		replace = f.Replace
	} else {
		f, err := modfile.Parse("go.mod", []byte(c.text), nil)
		if err != nil {
			c.all(Unread, whyUnread)
			return
		}
		require, replace = f.Require, f.Replace
	}
	for _, r := range require {
		from, to := r.Syntax.Start.Byte, r.Syntax.End.Byte
		c.dependency("go", from, to, r.Mod.Path, r.Mod.Version)
	}
	for _, r := range replace {
		from, to := r.Syntax.Start.Byte, r.Syntax.End.Byte
		if r.New.Version == "" {
			c.local("go", from, to, r.New.Path, r.New.Path)
			continue
		}
		c.dependency("go", from, to, r.New.Path, r.New.Version)
	}
}

// goPart judges lines of a go.mod: whatever looks like a module and a version.
func (c *check) goPart() {
	eachLine(c.text, func(l textLine) {
		s, _, _ := strings.Cut(l.text, "//")
		f := strings.Fields(s)
		if i := index(f, "=>"); i >= 0 {
			switch rest := f[i+1:]; len(rest) {
			case 1:
				c.local("go", l.from, l.to, rest[0], rest[0])
			case 2:
				c.dependency("go", l.from, l.to, rest[0], rest[1])
			}
			return
		}
		if len(f) > 0 && (f[0] == "require" || f[0] == "exclude" || f[0] == "module" || f[0] == "go" || f[0] == "toolchain") {
			if f[0] != "require" {
				return
			}
			f = f[1:]
		}
		if len(f) == 2 && len(f[1]) > 1 && f[1][0] == 'v' {
			c.dependency("go", l.from, l.to, strings.Trim(f[0], "\"`"), f[1])
		}
	})
}

func index(f []string, s string) int {
	for i, x := range f {
		if x == s {
			return i
		}
	}
	return -1
}
