package fetch

import (
	"net/netip"

	"github.com/pratique-dev/pratique/internal/publicaddr"
)

// Public reports whether a is an address of the public internet. An IPv4
// address in IPv6 clothing is not.
func Public(a netip.Addr) bool { return publicaddr.Public(a) }
