package origin

import (
	"net/netip"
	"strconv"
	"strings"
)

// splitPort splits host[:port]. A port is 1 to 65535 without leading zeros; a
// colon without a port is refused.
func splitPort(s string) (host, port string, err error) {
	host = s
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", "", ErrHost
		}
		host = s[:end+1]
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		host = s[:i]
	}
	rest := s[len(host):]
	if rest == "" {
		return host, "", nil
	}
	port, ok := strings.CutPrefix(rest, ":")
	n, err := strconv.ParseUint(port, 10, 16)
	if !ok || err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return "", "", ErrPort
	}
	return host, port, nil
}

// normalHost is the host in lower case. A name is RFC 1123: labels of letters,
// digits and inner hyphens, 253 bytes in all, no final dot. What a browser
// would read as an IPv4 address (its last label is a number) must be one in
// plain dotted form, since readers differ on 127.1 and 0x7f.1.
func normalHost(h string) (string, error) {
	if v6, ok := strings.CutPrefix(h, "["); ok {
		a, err := netip.ParseAddr(strings.TrimSuffix(v6, "]"))
		if err != nil || !a.Is6() || a.Is4In6() || a.Zone() != "" {
			return "", ErrHost
		}
		return "[" + a.String() + "]", nil
	}
	if h == "" || len(h) > 253 {
		return "", ErrHost
	}
	labels := strings.Split(h, ".")
	for _, l := range labels {
		if !hostLabel(l) {
			return "", ErrHost
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		a, err := netip.ParseAddr(h)
		if err != nil || !a.Is4() {
			return "", ErrHost
		}
	}
	return strings.ToLower(h), nil // ASCII by now: no other letter folds into it
}

func hostLabel(l string) bool {
	if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
		return false
	}
	for i := range len(l) {
		if !alnum(l[i]) && l[i] != '-' {
			return false
		}
	}
	return true
}

// normalPath keeps a path as it is but for the case of its escapes. It refuses
// empty and dot segments, and an escape of a character that needs none or that
// a server might decode into structure: such a path has two spellings.
func normalPath(p string) (string, error) {
	segs := strings.Split(p[1:], "/")
	for i, s := range segs {
		if (s == "" && i < len(segs)-1) || s == "." || s == ".." {
			return "", ErrPath
		}
	}
	out := []byte(p)
	for i := 0; i < len(out); i++ {
		c := out[i]
		switch {
		case alnum(c) || strings.IndexByte("-._~!$&'()*+,;=:@/", c) >= 0:
		case c == '%' && i+2 < len(out):
			n, err := strconv.ParseUint(p[i+1:i+3], 16, 8)
			if err != nil || n < 0x20 || n == 0x7f || alnum(byte(n)) || strings.IndexByte(`-._~/\%`, byte(n)) >= 0 {
				return "", ErrPath
			}
			copy(out[i+1:], strings.ToUpper(p[i+1:i+3]))
			i += 2
		default:
			return "", ErrPath
		}
	}
	return string(out), nil
}

func alnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
