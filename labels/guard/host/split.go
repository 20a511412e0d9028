package host

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// parts are what a text has: scheme, host and port as they stand, each may be empty,
// and what follows the host.
type parts struct {
	scheme, host, port, rest string

	path bool // there is no host: all of the text is rest
}

// browsed are the schemes that browsers read without slashes too.
var browsed = []string{"http", "https", "ws", "wss", "ftp", "file"}

// split takes a text apart where every program takes it apart in the same place.
func (r *Rule) split(text string) (p parts, why string) {
	if why := characters(text); why != "" {
		return p, why
	}
	switch c := text[0]; {
	case c == '/' && len(text) > 1 && text[1] == '/':
		return p, WhySlashes
	case c == '/':
		p.rest, p.path = text, true
		return p, ""
	case c == '?' || c == '#':
		return p, WhyNoHost
	}
	p.scheme = schemeOf(text)
	rest := text[len(p.scheme):]
	switch {
	case p.scheme == "" && r.copied(text):
		return r.fromCopy(text)
	case p.scheme == "":
		return p.authority(text, false)
	case strings.HasPrefix(rest, "://"):
		if !r.speaks(p.scheme) {
			return p, WhyScheme
		}
		return p.authority(rest[3:], equalFold(p.scheme, "ssh"))
	case r.speaks(p.scheme) || listed(browsed, p.scheme):
		return p, WhySlashes // browsers take "http:8080" for the host 8080
	case portThenEnd(rest[1:]):
		p.scheme = ""
		return p.authority(text, false)
	}
	return p, WhyScheme
}

// characters judges the characters that programs drop or take for others: controls
// anywhere, blanks at the ends, backslashes in front of the query.
func characters(text string) string {
	ascii, query := true, false
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f:
			return WhyControl
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '?' || c == '#':
			query = true
		case c == '\\' && !query:
			return WhyBackslash
		}
	}
	if text[0] == ' ' || text[len(text)-1] == ' ' {
		return WhyControl
	}
	if !ascii && (!utf8.ValidString(text) || strings.ContainsFunc(text, unseen)) {
		return WhyControl
	}
	return ""
}

// unseen are the controls beyond ASCII, blanks that some trim, and what stands for
// bytes that were no text.
func unseen(c rune) bool {
	return c >= 0x80 && c <= 0xa0 || c == '\u2028' || c == '\u2029' || c == '\u3000' || c == '\ufeff' || c == '\u200b' || c == utf8.RuneError
}

// schemeOf is what stands before the first colon, if a scheme may be written so.
func schemeOf(text string) string {
	for i := range len(text) {
		c := text[i]
		switch {
		case c == ':' && i > 0:
			return text[:i]
		case letter(c):
		case i > 0 && (digit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return ""
		}
	}
	return ""
}

func (r *Rule) speaks(scheme string) bool { return listed(r.schemes, scheme) }

// portThenEnd tells whether digits follow, and then nothing more of a host.
func portThenEnd(s string) bool {
	i := 0
	for i < len(s) && digit(s[i]) {
		i++
	}
	return i > 0 && (i == len(s) || s[i] == '/' || s[i] == '?' || s[i] == '#')
}

// authority takes host and port off a text. user says that a user may stand before
// them.
func (p parts) authority(text string, user bool) (parts, string) {
	end := 0
	for end < len(text) && text[end] != '/' && text[end] != '?' && text[end] != '#' {
		end++
	}
	p.host, p.rest = text[:end], text[end:]
	if p.host == "" {
		return p, WhySlashes
	}
	// Some programs look for the slash first, and take a "?" or "#" before it for a
	// part of a user's name.
	if early := p.rest != "" && p.rest[0] != '/'; early {
		slash := strings.IndexByte(p.rest, '/')
		if slash < 0 {
			slash = len(p.rest)
		}
		if strings.IndexByte(p.rest[:slash], '@') >= 0 {
			return p, WhyUser
		}
	}
	if i := strings.LastIndexByte(p.host, '@'); i >= 0 {
		if !user || !account(p.host[:i]) {
			return p, WhyUser
		}
		p.host = p.host[i+1:]
	}
	return p.cutPort()
}

// cutPort takes the port off the host.
func (p parts) cutPort() (parts, string) {
	i := strings.IndexByte(p.host, ':')
	if strings.HasPrefix(p.host, "[") {
		end := strings.IndexByte(p.host, ']')
		if end < 0 {
			return p, WhyHost
		}
		if i = -1; end+1 < len(p.host) {
			if i = end + 1; p.host[i] != ':' {
				return p, WhyHost
			}
		}
	}
	if i < 0 {
		return p, ""
	}
	if p.scheme == "" && p.rest == "" && strings.Count(p.host, ":") > 1 && p.host[0] != '[' {
		return p, "" // an IPv6 address alone
	}
	p.host, p.port = p.host[:i], p.host[i+1:]
	if !plainPort(p.port) {
		return p, WhyPort
	}
	return p, ""
}

// plainPort tells whether a text is a port from 1 to 65535 without leading zeros.
func plainPort(s string) bool {
	if s == "" || len(s) > 5 || s[0] == '0' {
		return false
	}
	n := 0
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= 65535
}

// account tells whether a text is a user's name, without a password.
func account(s string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && c != '_' && (i == 0 || !digit(c) && c != '-') {
			return false
		}
	}
	return s != ""
}

// copied tells whether a text has the form "user@host:path".
func (r *Rule) copied(text string) bool {
	user, rest, ok := strings.Cut(text, "@")
	return ok && r.speaks("ssh") && account(user) && strings.IndexByte(rest, ':') > 0
}

func (r *Rule) fromCopy(text string) (p parts, why string) {
	_, rest, _ := strings.Cut(text, "@")
	p.scheme = "ssh"
	p.host, p.rest, _ = strings.Cut(rest, ":")
	if strings.ContainsAny(p.host, "/?#@[") || strings.HasPrefix(p.rest, "//") || strings.IndexByte(p.rest, '@') >= 0 {
		return p, WhyUser
	}
	return p, ""
}

func listed(list []string, s string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return equalFold(e, s) })
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c-'0' <= 9 }

// equalFold compares without the case of ASCII letters.
func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if a[i] != b[i] && (a[i]|0x20 != b[i]|0x20 || !letter(a[i])) {
			return false
		}
	}
	return true
}
