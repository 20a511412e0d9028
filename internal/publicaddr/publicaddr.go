// Package publicaddr tells the addresses of the public internet from all others.
package publicaddr

import (
	"net/netip"
	"slices"
)

// special are the addresses that are not public, from the IANA special-purpose
// registries (RFC 6890 and what followed), widened where a part of a block is
// reachable but never a web site.
var special = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT; also cloud metadata
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // a cloud's host agent, reachable only from inside it
	"169.254.0.0/16",   // link local; cloud metadata
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // IETF protocols; cloud metadata
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast
	"2001::/23",        // IETF protocols: Teredo, ORCHID, benchmarks
	"2001:db8::/32",    // documentation
	"2002::/16",        // 6to4: holds any IPv4 address
	"3fff::/20",        // documentation
)

// global is the only IPv6 space that is handed out: what lies outside (loopback,
// IPv4-mapped, NAT64, unique local, link local, multicast) is never public.
var global = netip.MustParsePrefix("2000::/3")

// Public reports whether a is an address of the public internet. An IPv4
// address in IPv6 clothing is not.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !global.Contains(a) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

func prefixes(ss ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(ss))
	for i, s := range ss {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}
