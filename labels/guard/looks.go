package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/internal/lookalike"
)

// looksLikePath tells whether a text under a name that may mean something else is a
// path: how it begins says so, or what is in it.
func looksLikePath(s string) bool {
	t := strings.TrimSpace(s)
	if t == "" {
		return false
	}
	if climbs(t) || startsLikePath(t) {
		return true
	}
	if strings.ContainsFunc(t, func(r rune) bool { return r >= 0x80 }) {
		var buf [256]byte
		if f := string(lookalike.Fold(buf[:0], t)); climbs(f) || startsLikePath(f) {
			return true
		}
	}
	switch {
	case strings.Contains(t, "://"):
		return false
	case strings.Contains(t, "%"):
		return strings.ContainsAny(t, `/\%`)
	}
	return strings.ContainsAny(t, `/\`) && !strings.ContainsAny(t, " \n\t")
}

// startsLikePath tells whether a text begins as paths do, or as an option that stands
// where a path should; a number below zero is none.
func startsLikePath(t string) bool {
	switch {
	case t == "": // a text of nothing but what folding drops
		return false
	case t[0] == '/' || t[0] == '\\' || t[0] == '~' || strings.HasPrefix(t, "./") || strings.HasPrefix(t, `.\`):
		return true
	case len(t) == 1:
		return false
	case t[0] == '-':
		return t[1] == '-' || isLetter(t[1])
	}
	return t[1] == ':' && isLetter(t[0]) || len(t) >= 5 && strings.EqualFold(t[:5], "file:")
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// climbs tells whether a segment of a text leads up, plainly or percent-encoded; of a
// URL its host counts as one, and its query does not.
func climbs(s string) bool {
	if !strings.Contains(s, "..") && strings.IndexByte(s, '%') < 0 {
		return false
	}
	if isHTTP(s) {
		if i := strings.IndexAny(s, "?#"); i >= 0 {
			s = s[:i]
		}
	}
	segments, dots, up, only := 0, 0, false, true
	for i := 0; i <= len(s); {
		c, n := byte('/'), 1
		if i < len(s) {
			c, n = signAt(s[i:])
		}
		switch i += n; c {
		case '.':
			dots++
		case ' ':
		case '/', '\\':
			up = up || only && dots > 1 && (dots == 2 || segments > 0 || i <= len(s))
			segments, dots, only = segments+1, 0, true
		default:
			only = false
		}
	}
	return up
}

// signAt is the first character of a text and its length, dots and separators decoded
// however often they are percent-encoded.
func signAt(s string) (c byte, n int) {
	if s[0] != '%' {
		return s[0], 1
	}
	i := 1
	for strings.HasPrefix(s[i:], "25") {
		i += 2
	}
	if i+2 > len(s) {
		return '%', 1
	}
	switch s[i : i+2] {
	case "2e", "2E":
		return '.', i + 2
	case "2f", "2F":
		return '/', i + 2
	case "5c", "5C":
		return '\\', i + 2
	}
	return '%', 1
}

// encodes tells whether a dot or a separator is percent-encoded in a text.
func encodes(s string) bool {
	for i := strings.IndexByte(s, '%'); i >= 0 && i < len(s); i++ {
		if s[i] == '%' {
			if c, _ := signAt(s[i:]); c != '%' {
				return true
			}
		}
	}
	return false
}

// looksLikeURL tells whether a text is more than a relative path of plain names.
func looksLikeURL(s string) bool {
	return strings.ContainsAny(s, `:.@\%`) || strings.HasPrefix(s, "//") || len(s) >= 9 && strings.EqualFold(s[:9], "localhost") ||
		strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

func isHTTP(s string) bool {
	scheme, _, _ := strings.Cut(s, ":")
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// isWeb tells whether a text under the name of a URI is a URL that programs fetch.
func isWeb(s string) bool {
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, `\\`) || isFetched(s) {
		return true
	}
	scheme, _, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok || len(scheme) > 8 {
		return false
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "ws", "wss", "ftp", "file", "gopher", "dict", "ldap", "tftp":
		return true
	}
	return false
}

// isFetched tells whether a text under any name is a URL that programs fetch. It asks
// for more than isWeb, since "http: 404" may stand there too. What programs drop before
// and inside of a scheme is dropped, and "git+https" is https.
func isFetched(s string) bool {
	if s != "" && s[0] >= 0x80 {
		s = strings.TrimSpace(strings.TrimLeft(s, "\ufeff\u200b"))
	}
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, `\\`) {
		return startsWithHost(s[2:])
	}
	var scheme [8]byte
	n, i := 0, 0
	for ; i < len(s) && s[i] != ':'; i++ {
		switch c := s[i]; {
		case c == '\t' || c == '\n' || c == '\r':
		case c == '+':
			n = 0
		case n == len(scheme) || !isLetter(c):
			return false
		default:
			scheme[n] = c | 0x20
			n++
		}
	}
	if i == len(s) {
		return false
	}
	rest := strings.TrimLeft(s[i+1:], "\t\n\r")
	if rest == "" || rest[0] == ' ' {
		return false
	}
	slashed := rest[0] == '/' || rest[0] == '\\'
	switch string(scheme[:n]) {
	case "http", "https", "ws", "wss", "ftp":
		return slashed || strings.ContainsAny(rest, ".[0123456789") || len(rest) >= 9 && strings.EqualFold(rest[:9], "localhost")
	case "file", "gopher", "dict", "ldap", "ldaps", "tftp", "sftp", "ftps", "ssh", "git", "smb", "svn", "rsync":
		return slashed
	}
	return false
}

// startsWithHost tells whether a name with a dot or a port, or an address, stands before
// the first slash, so that "//" is no comment and no XPath.
func startsWithHost(s string) bool {
	if i := strings.IndexAny(s, `/\?#`); i >= 0 {
		s = s[:i]
	}
	parted := false
	for i := range len(s) {
		c := s[i]
		parted = parted || c == '.' || c == ':'
		if !isLetter(c) && (c < '0' || '9' < c) && strings.IndexByte(".-:@[]", c) < 0 {
			return false
		}
	}
	return parted
}
