package host

import (
	"net/netip"
	"strings"

	"github.com/pratique-dev/pratique/internal/publicaddr"
)

// locals are domains that never lead out of a machine, network or cluster (RFC 6761,
// 6762, 8375, ICANN's .internal, and what routers and clouds are set up with).
var locals = []string{
	"localhost", "local", "localdomain", "localdomain6", "internal", "intranet", "lan", "home", "corp", "private", "home.arpa",
	"metadata.goog",
}

// pointers are public domains whose names stand for an address that is a part of the
// name, or for this machine.
var pointers = []string{
	"nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me", "vcap.me", "fuf.me", "lacolhost.com", "localho.st", "local.gd", "traefik.me",
	"backname.io", "rbndr.us", "1u.ms", "plex.direct", "local-ip.co", "local-ip.sh", "localhost.direct", "ip.addr.tools", "spoofed.burpcollaborator.net",
}

// public tells whether a host is one of the public internet, as far as its name says.
func (n name) public() bool {
	if n.address.IsValid() {
		return publicaddr.Public(n.address)
	}
	return !n.local() && !n.under(pointers) && !embedded(n.text)
}

// local tells whether a name is one of a machine or its network: without a dot, or in
// a domain that is never public.
func (n name) local() bool {
	return strings.IndexByte(n.text, '.') < 0 || n.under(locals)
}

// under tells whether a name is one of the domains or lies below one.
func (n name) under(domains []string) bool {
	for _, d := range domains {
		at := len(n.text) - len(d)
		if at >= 0 && (at == 0 || n.text[at-1] == '.') && equalFold(n.text[at:], d) {
			return true
		}
	}
	return false
}

// embedded tells whether a name has an IPv4 address in it that is not public, with
// dots or hyphens: names of which some servers make that address.
func embedded(text string) bool {
	for i := 0; i < len(text); i++ {
		if digit(text[i]) && (i == 0 || text[i-1] == '.' || text[i-1] == '-') {
			if a, ok := quad(text[i:]); ok && !publicaddr.Public(a) {
				return true
			}
		}
	}
	return false
}

// quad reads the four numbers that a text begins with.
func quad(s string) (netip.Addr, bool) {
	var b [4]byte
	for k := range b {
		n, i := 0, 0
		for i < len(s) && i < 3 && digit(s[i]) {
			n = n*10 + int(s[i]-'0')
			i++
		}
		end := i == len(s) || s[i] == '.' || s[i] == '-'
		if i == 0 || n > 255 || !end || k < 3 && i == len(s) {
			return netip.Addr{}, false
		}
		b[k] = byte(n)
		s = s[min(i+1, len(s)):]
	}
	return netip.AddrFrom4(b), true
}
