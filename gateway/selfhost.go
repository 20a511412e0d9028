package gateway

import (
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// addListeners takes host:port of our listeners, or URLs of them.
func (g *guard) addListeners(list []string) {
	g.ports = map[string][]string{}
	for _, l := range list {
		port := ""
		if rest, ok := strings.CutPrefix(l, "https://"); ok {
			l, port = rest, "443"
		} else if rest, ok := strings.CutPrefix(l, "http://"); ok {
			l, port = rest, "80"
		}
		l, _, _ = strings.Cut(l, "/")
		host := l
		if i := strings.LastIndexByte(l, ':'); i >= 0 && !strings.HasSuffix(l, "]") {
			host, port = l[:i], l[i+1:]
		}
		if port == "" {
			continue
		}
		g.ports[port] = append(g.ports[port], canonicalHost(host))
		g.sizes |= 1 << min(len(port), 31)
		g.firsts[port[0]] = true
	}
}

// hostname is this machine's own, asked for once.
var hostname = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
})

// here stands for every spelling of this machine.
const here = "localhost"

// canonicalHost is a host in one spelling: all that mean this machine are here.
func canonicalHost(h string) string {
	h = strings.ToLower(strings.TrimRight(strings.Trim(h, "[]"), "."))
	if i := strings.LastIndexByte(h, '@'); i >= 0 {
		h = strings.Trim(h[i+1:], "[]")
	}
	h, _, _ = strings.Cut(h, "%") // zone
	switch {
	case h == "", h == "localhost", strings.HasSuffix(h, ".localhost"), h == "localhost.localdomain", h == "ip6-localhost", h == "ip6-loopback":
		return here
	}
	a, err := netip.ParseAddr(h)
	if err != nil {
		v, ok := inetAton(h)
		if !ok {
			if name := hostname(); name != "" && strings.EqualFold(name, h) {
				return here
			}
			return h
		}
		a = v
	}
	a = a.Unmap()
	if a.IsLoopback() || a.IsUnspecified() {
		return here
	}
	return a.String()
}

// inetAton reads an IPv4 address as C libraries do: one to four parts, each
// decimal, octal or hexadecimal, the last one filling what is left.
func inetAton(s string) (netip.Addr, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 || s == "" {
		return netip.Addr{}, false
	}
	var ip uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 64)
		if err != nil || strings.ContainsAny(p, "_+obOB") {
			n, err = strconv.ParseUint(p, 10, 64)
			if err != nil {
				return netip.Addr{}, false
			}
		}
		last := i == len(parts)-1
		switch {
		case last && n < 1<<(8*(4-i)):
			ip |= n
		case !last && n < 256:
			ip |= n << (8 * (3 - i))
		default:
			return netip.Addr{}, false
		}
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}), true
}

// ours tells whether a host is one of a listener's on the port.
func (g *guard) ours(host, port string) bool {
	hosts, ok := g.ports[port]
	if !ok {
		return false
	}
	return slices.Contains(hosts, canonicalHost(host))
}

// namesListener tells whether host:port of a listener stands in a text, in any
// spelling of the host.
func (g *guard) namesListener(v string) bool {
	for i := strings.IndexByte(v, ':'); i >= 0; {
		rest := v[i+1:]
		if rest == "" {
			break
		}
		if g.firsts[rest[0]] && g.portAt(rest, v[:i]) {
			return true
		}
		next := strings.IndexByte(rest, ':')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return g.portSize(2) && g.ports["80"] != nil && g.schemeHost(v, "http://", "80") ||
		g.portSize(3) && g.ports["443"] != nil && g.schemeHost(v, "https://", "443")
}

// portAt tells whether a text begins with a port of a listener, and the one before it
// ends with its host.
func (g *guard) portAt(v, before string) bool {
	for port := range g.ports {
		if n := len(port); strings.HasPrefix(v, port) && (n == len(v) || v[n] < '0' || v[n] > '9') && g.ours(hostBefore(before), port) {
			return true
		}
	}
	return false
}

// schemeHost looks for URLs whose port is the scheme's own.
func (g *guard) schemeHost(v, scheme, port string) bool {
	low := strings.ToLower(v)
	for from := 0; ; {
		i := strings.Index(low[from:], scheme)
		if i < 0 {
			return false
		}
		from += i + len(scheme)
		rest := low[from:]
		if j := strings.IndexFunc(rest, func(r rune) bool { return r == '/' || r == '?' || r == '#' || separates(r) }); j >= 0 {
			rest = rest[:j]
		}
		if g.ours(strings.TrimSuffix(rest, ":"), port) {
			return true
		}
	}
}

// hostBefore is the host that ends a text.
func hostBefore(s string) string {
	if strings.HasSuffix(s, "]") {
		if i := strings.LastIndexByte(s, '['); i >= 0 {
			return s[i:]
		}
	}
	i := len(s)
	for i > 0 {
		c := s[i-1]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_' {
			i--
			continue
		}
		break
	}
	if i == len(s) {
		return "-" // ":8080" alone is a port of nobody
	}
	return s[i:]
}

// A pairing finds host and port of a listener that stand apart, in one object
// or array.
type pairing struct {
	g     *guard
	hosts []string
	ports []string
}

// port notes a text that is a port of ours.
func (p *pairing) port(v string) {
	if len(p.ports) < 16 && p.g.mayBePort(v) {
		p.ports = append(p.ports, v)
	}
}

// mayBePort tells whether a text is a port of one of our listeners.
func (g *guard) mayBePort(v string) bool {
	if !g.portSize(len(v)) || v[0] < '0' || v[0] > '9' {
		return false
	}
	_, ok := g.ports[v]
	return ok
}

// portSize tells whether a port of ours may have n bytes.
func (g *guard) portSize(n int) bool { return n <= 16 && g.sizes>>n&1 != 0 }

// host notes a text that may be a host.
func (p *pairing) host(v string) {
	if len(v) > 256 || v == "" || len(p.hosts) >= 64 {
		return
	}
	if _, ok := p.g.ports[v]; ok {
		return
	}
	if n, err := strconv.ParseUint(v, 10, 64); err == nil && n < 1<<24 {
		return // 0 and 1 are counts before they are addresses
	}
	p.hosts = append(p.hosts, v)
}

func (p *pairing) found() bool {
	for _, port := range p.ports {
		for _, h := range p.hosts {
			if rest, ok := strings.CutPrefix(h, "http://"); ok {
				h = rest
			}
			h = strings.TrimSuffix(h, "/")
			if p.g.ours(h, port) {
				return true
			}
		}
	}
	return false
}
