package content

import (
	"strings"
)

// scripts judges files that hold commands: shell scripts, makefiles, Jenkinsfiles.
func (c *check) scripts() {
	if c.j.off[CI] {
		return
	}
	switch c.kind {
	case jenkins:
		if c.j.ciNever {
			c.all(CI, whyCIWritten)
			return
		}
		c.groovy()
	case gradle:
		c.groovy()
	case makefile:
		c.makefile()
	default:
		c.shellText(c.text, 0)
	}
}

// shellText judges shell text that stands at an offset of c.text as it is.
func (c *check) shellText(s string, base int) {
	if strings.HasPrefix(s, "#!") {
		first := s[:lineLength(s)]
		if f := strings.Fields(first[2:]); len(f) > 1 && c.at0(f) {
			c.sh.trace, c.sh.from, c.sh.to = true, base, base+len(first)
		}
	}
	c.commands(s, func(cmd command) (int, int) { return base + cmd.from, base + cmd.to }, 0)
}

// at0 tells whether the first line of a script turns tracing on.
func (c *check) at0(f []string) bool {
	c.command(":", 0, 0) // there is a state now
	for _, w := range f[1:] {
		if c.sh != nil && len(w) > 1 && w[0] == '-' && strings.Contains(w, "x") {
			return true
		}
	}
	return false
}

// joinedLines goes through lines; those that end in a backslash go on with the next, but
// for comments.
func joinedLines(s string, f func(text string, from, to int)) {
	var joined strings.Builder
	from := -1
	eachLine(s, func(l textLine) {
		if from < 0 {
			from = l.from
		}
		t, more := strings.CutSuffix(l.text, "\\")
		if strings.HasPrefix(t, "#") {
			more = false // a comment does not go on
		}
		if joined.Len() == 0 && !more {
			f(t, from, l.to)
			from = -1
			return
		}
		joined.WriteString(t)
		joined.WriteByte(' ')
		if more && l.to < len(s) {
			return
		}
		f(joined.String(), from, l.to)
		joined.Reset()
		from = -1
	})
}

// makefile judges the recipes of a makefile or a justfile, and what it runs while it is
// read.
func (c *check) makefile() {
	joinedLines(c.text, func(s string, from, to int) {
		recipe := from < len(c.text) && (c.text[from] == '\t' || c.text[from] == ' ')
		s = strings.TrimLeft(s, "@-+ \t")
		switch {
		case recipe:
			c.command(fromMake(s), from, to)
		case strings.Contains(s, "$(shell ") || strings.Contains(s, "!="):
			_, s, _ = strings.Cut(fromMake(s), "=")
			c.command("x="+strings.TrimSpace(s), from, to)
		}
		if i := strings.Index(s, ": "); !recipe && i > 0 && strings.Contains(s[i:], ";") {
			_, s, _ = strings.Cut(s, ";")
			c.command(fromMake(s), from, to)
		}
	})
}

// fromMake writes what make passes to the shell: $$X as $X, $(X) as ${X}, $(shell X) as
// $(X).
func fromMake(s string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	s = strings.ReplaceAll(s, "$(shell ", "$( ")
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "$$"):
			b.WriteByte('$')
			i++
		case strings.HasPrefix(s[i:], "$("):
			n := i + 2
			for n < len(s) && nameByte(s[n]) {
				n++
			}
			if n < len(s) && s[n] == ')' && n > i+2 {
				b.WriteString("${" + s[i+2:n] + "}")
				i = n
				continue
			}
			b.WriteByte('$')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// A literal is a text in quotes in Groovy, and the word before it.
type literal struct {
	before   string
	text     string
	from, to int
}

// literals are the texts in a Groovy or Kotlin script, also those of three quotes.
func literals(s string, f func(l literal)) {
	for i := 0; i < len(s); i++ {
		switch q := s[i]; {
		case q == '/' && strings.HasPrefix(s[i:], "//"):
			i += lineLength(s[i:]) - 1
		case q == '"' || q == '\'':
			mark := s[i : i+1]
			if strings.HasPrefix(s[i:], strings.Repeat(mark, 3)) {
				mark = strings.Repeat(mark, 3)
			}
			start := i + len(mark)
			end := literalEnd(s, start, mark)
			before := strings.TrimRight(s[max(0, i-64):i], " \t([,")
			before = before[strings.LastIndexAny(before, " \t\n(.;,{[")+1:]
			f(literal{strings.TrimSuffix(before, ":"), s[start:end], i, end})
			i = min(end+len(mark), len(s)) - 1
		}
	}
}

func literalEnd(s string, at int, mark string) int {
	for at < len(s) {
		switch {
		case s[at] == '\\':
			at++
		case s[at] == '\n' && len(mark) == 1:
			return at
		case strings.HasPrefix(s[at:], mark):
			return at
		}
		at++
	}
	return len(s)
}

// groovy judges the commands in a Jenkinsfile or a build script of Gradle, and what it
// prints.
func (c *check) groovy() {
	literals(c.text, func(l literal) {
		switch l.before {
		case "sh", "bat", "pwsh", "powershell", "script", "commandLine", "exec", "command":
			c.command(l.text, l.from, l.to)
		case "@Library":
			name, _ := cutVersion(l.text)
			if !c.j.lists["include"].allowsAny(name) {
				c.add(CI, l.from, l.to, whyInclude)
			}
		case "echo", "println", "print", "error":
			c.command(`echo "`+strings.ReplaceAll(l.text, `"`, `'`)+`"`, l.from, l.to)
		default:
			if strings.Contains(l.text, " ") && c.kind == jenkins || dumpWord(l.text) {
				c.command(l.text, l.from, l.to)
			}
		}
	})
	eachLine(c.text, func(l textLine) {
		if wholeEnvironment(l.text) && (strings.Contains(l.text, "print") || strings.Contains(l.text, "echo")) {
			c.add(CI, l.from, l.to, whyPrints)
		}
		for _, p := range []string{"echo ", "println ", "println(", "print("} {
			if rest, ok := strings.CutPrefix(l.text, p); ok && c.kind == jenkins {
				name := strings.TrimPrefix(strings.Trim(rest, " ();"), "env.")
				if isName(name) && secretName(name) {
					c.add(CI, l.from, l.to, whyPrints)
				}
			}
		}
	})
}
