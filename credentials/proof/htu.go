package proof

import (
	"errors"
	"net/url"
	"strings"
)

// normalise gives an http(s) address without query and fragment its one
// spelling (RFC 3986 sections 6.2.2 and 6.2.3): scheme and host in lower case,
// no default port, escapes in upper case and only where needed, no dot
// segments, "/" for an empty path. An address with user, query or fragment has
// none: RFC 9449 leaves them out of htu.
func normalise(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", ErrURL // the cause repeats the address
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme != "https" && scheme != "http", u.Opaque != "", u.User != nil,
		u.RawQuery != "", u.ForceQuery, u.Fragment != "", strings.Contains(raw, "#"):
		return "", ErrURL
	}
	host, err := normaliseHost(u, scheme)
	if err != nil {
		return "", err
	}
	path, err := normalisePath(u.EscapedPath())
	if err != nil {
		return "", err
	}
	return scheme + "://" + host + path, nil
}

func normaliseHost(u *url.URL, scheme string) (string, error) {
	name, port := strings.ToLower(u.Hostname()), u.Port()
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '%' }) {
		return "", ErrURL
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	if port == "" || scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		return name, nil
	}
	return name + ":" + port, nil
}

// normalisePath works on an escaped path.
func normalisePath(p string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] != '%' {
			b.WriteByte(p[i])
			continue
		}
		if i+2 >= len(p) {
			return "", ErrURL
		}
		hi, lo := unhex(p[i+1]), unhex(p[i+2])
		if hi < 0 || lo < 0 {
			return "", ErrURL
		}
		if c := byte(hi<<4 | lo); unreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(p[i : i+3]))
		}
		i += 2
	}
	return removeDots(b.String()), nil
}

// removeDots is RFC 3986 section 5.2.4 for an absolute or empty path.
func removeDots(p string) string {
	if p == "" {
		return "/"
	}
	if !strings.Contains(p, "/.") {
		return p
	}
	segments := strings.Split(p, "/")[1:]
	var out []string
	for i, s := range segments {
		last := i == len(segments)-1
		switch {
		case s == ".":
		case s == "..":
			out = out[:max(0, len(out)-1)]
		default:
			out = append(out, s)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// errBase is what NewChecker says of a bad configuration.
var errBase = errors.New("external URL is not an absolute http or https address without user, query and fragment")

// base normalises the configured external address; the result has no slash at
// its end.
func base(raw string) (string, error) {
	b, err := normalise(raw)
	if err != nil {
		return "", errBase
	}
	return strings.TrimSuffix(b, "/"), nil
}

// sameURL compares htu with path at the configured base. Who sent the request
// to which Host, through which proxy, plays no part.
func sameURL(htu, base, path string) bool {
	if len(htu) == len(base)+len(path) && strings.HasPrefix(htu, base) && htu[len(base):] == path &&
		!strings.ContainsAny(path, "?#") {
		return true
	}
	got, err := normalise(htu)
	if err != nil {
		return false
	}
	want, err := normalise(base + path)
	return err == nil && got == want
}
