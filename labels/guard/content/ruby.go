package content

import (
	"strings"
)

// gemfile judges a Gemfile or a gemspec. Both are Ruby: a line that is none of the
// usual statements is code that runs when gems are installed.
func (c *check) gemfile() {
	if c.j.off[Dependency] && c.j.off[Script] {
		return
	}
	spec := strings.HasSuffix(c.name, ".gemspec")
	eachLine(c.text, func(l textLine) {
		s := rubyCode(l.text)
		if s == "" {
			return
		}
		word := s
		if i := strings.IndexAny(s, " (\t"); i >= 0 {
			word = s[:i]
		}
		if i := strings.LastIndexByte(word, '.'); i >= 0 && spec {
			word = word[i+1:]
		}
		switch {
		case strings.Contains(s, "`") || strings.Contains(s, "%x") || strings.Contains(s, "#{") && !spec || strings.Contains(s, ";"):
			c.add(Script, l.from, l.to, whyCode)
		case word == "gem" || strings.HasPrefix(word, "add_") && strings.HasSuffix(word, "dependency"):
			c.gem(s, l)
		case word == "source" || word == "git_source":
			c.gemSource(s, l)
		case word == "git" || word == "github" || word == "path":
			c.gemOption(word, firstQuoted(s), l)
		case word == "extensions" || word == "extensions=":
			c.add(Script, l.from, l.to, whyInstall)
		case gemWords[word] || s[0] == '\'' || s[0] == '"' || s[0] == ']' || s[0] == ')' || s[0] == '}' || s[0] == ':':
			if call := rubyCalls(s); call {
				c.add(Script, l.from, l.to, whyCode)
			}
		case spec && strings.Contains(s, "=") && !rubyCalls(s):
		default:
			c.add(Script, l.from, l.to, whyCode)
		}
	})
}

// gemWords begin the statements of a Gemfile that run nothing else.
var gemWords = map[string]bool{
	"group": true, "end": true, "ruby": true, "gemspec": true, "platforms": true, "platform": true, "do": true, "else": true, "frozen_string_literal:": true,
	"require": false, "new": true, "install_if": false, "plugin": false,
}

// rubyCalls tells whether a line calls something that runs or reads something else.
func rubyCalls(s string) bool {
	for _, w := range []string{"system", "exec", "spawn", "eval", "popen", "IO.", "Kernel", "open(", "Net::", "require ", "load ", "send(", "ENV", "fork", "Process"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// rubyCode is a line without its comment.
func rubyCode(s string) string {
	if strings.HasPrefix(s, "#") {
		return ""
	}
	if i := strings.Index(s, " # "); i >= 0 {
		s = strings.TrimSpace(s[:i])
	}
	return s
}

func firstQuoted(s string) (out string) {
	quotedIn(s, func(q string, _, _ int) {
		if out == "" {
			out = q
		}
	})
	return out
}

// gem judges one gem line: a name, versions, options.
func (c *check) gem(s string, l textLine) {
	if rubyCalls(s) {
		c.add(Script, l.from, l.to, whyCode)
	}
	var name, option string
	var versions []string
	last := 0
	fetched := false
	quotedIn(s, func(q string, from, to int) {
		between := s[last:from]
		last = to
		option = gemKey(between)
		switch {
		case name == "":
			name = q
		case option == "":
			versions = append(versions, q)
		default:
			fetched = c.gemOption(option, q, l) || fetched
		}
	})
	switch {
	case name == "":
		c.add(Unread, l.from, l.to, whyUnread)
	case !fetched:
		c.dependency("gem", l.from, l.to, name, strings.Join(versions, ", "))
	}
}

// gemKey is the name of an option before its value: git:, :git =>.
func gemKey(s string) string {
	s = strings.Trim(s, " ,()[]\t")
	s = strings.TrimSpace(strings.TrimSuffix(s, "=>"))
	return strings.Trim(s[strings.LastIndexAny(s, " ,")+1:], ":")
}

// gemOption judges an option that says where a gem comes from, and is whether it does.
func (c *check) gemOption(key, value string, l textLine) bool {
	switch key {
	case "git":
		c.fetched("gem", l.from, l.to, value)
	case "github", "gist", "bitbucket", "gitlab":
		c.fetched("gem", l.from, l.to, key+":"+value)
	case "path":
		c.local("gem", l.from, l.to, value, value)
	case "source":
		c.registry(l.from, l.to, value)
		return false
	default:
		return false
	}
	return true
}

func (c *check) gemSource(s string, l textLine) {
	u := firstQuoted(s)
	if strings.HasPrefix(s, "git_source") {
		c.add(Script, l.from, l.to, whyCode)
		return
	}
	if u == "" && strings.Contains(s, ":rubygems") {
		u = "https://rubygems.org"
	}
	c.registry(l.from, l.to, u)
}
