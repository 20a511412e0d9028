package host

import (
	"net/netip"
	"strings"
	"unicode/utf8"
)

// A name is a host: a name in ASCII, in whatever case, or an address.
type name struct {
	text    string
	address netip.Addr
}

// read reads a host, or says why it is none that all programs read alike.
func read(h string) (n name, why string) {
	if h == "" {
		return n, WhyNoHost
	}
	if strings.IndexByte(h, ':') >= 0 || h[0] == '[' {
		return readIPv6(h)
	}
	wide, ace, start := false, false, 0
	for i := 0; i <= len(h); i++ {
		if i < len(h) && h[i] != '.' {
			c := h[i]
			if wide = wide || c >= utf8.RuneSelf; !wide && !letter(c) && !digit(c) && c != '-' && c != '_' {
				if c == ' ' {
					return n, WhyControl
				}
				return n, WhyHost
			}
			continue
		}
		l := h[start:i]
		if why := label(l, i == len(h), start > 0); why != "" {
			return n, why
		}
		ace = ace || len(l) > 3 && equalFold(l[:4], "xn--")
		start = i + 1
	}
	if wide || ace {
		return readIDN(h)
	}
	if len(h) > 253 {
		return n, WhyHost
	}
	return readASCII(h)
}

// label judges one label of a name. last says that no other follows, more that others
// stand before it.
func label(l string, last, more bool) string {
	switch {
	case l == "" && last && more:
		return WhyDot
	case l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-':
		return WhyHost
	}
	return ""
}

// readASCII tells addresses from names: what ends in a number is an address to
// browsers, and has to be one in its plain form.
func readASCII(h string) (n name, why string) {
	last := h[strings.LastIndexByte(h, '.')+1:]
	if !number(last) {
		return name{text: h}, ""
	}
	a, err := netip.ParseAddr(h)
	if err != nil {
		return n, WhyAddress
	}
	return name{text: h, address: a}, ""
}

// number tells whether a label is a number as the C library reads them.
func number(l string) bool {
	if len(l) > 1 && l[0] == '0' && l[1]|0x20 == 'x' {
		for i := 2; i < len(l); i++ {
			if c := l[i]; !digit(c) && (c|0x20)-'a' > 5 {
				return false
			}
		}
		return true
	}
	for i := range len(l) {
		if !digit(l[i]) {
			return false
		}
	}
	return true
}

// readIPv6 reads an address with or without brackets. Zones are names of this
// machine's own, and an IPv4 address inside has a plainer form.
func readIPv6(h string) (n name, why string) {
	if h[0] == '[' {
		h = strings.TrimSuffix(h[1:], "]")
	}
	a, _ := netip.ParseAddr(h)
	if !a.Is6() || a.Is4In6() || a.Zone() != "" || strings.IndexByte(h, '.') >= 0 {
		return n, WhyAddress
	}
	return name{text: h, address: a}, ""
}

// An entry is one host that is allowed.
type entry struct {
	name
	below bool   // every name below, not the name itself
	port  string // "" the scheme's own, "*" every
}

// newEntry takes a host as an operator writes it.
func newEntry(text string) (e entry, ok bool) {
	rest, below := strings.CutPrefix(text, "*.")
	if rest == "" || characters(rest) != "" {
		return e, false
	}
	every := false
	if h, cut := strings.CutSuffix(rest, ":*"); cut && h != "" && h[len(h)-1] != ':' {
		rest, every = h, true
	}
	p, why := parts{}.authority(rest, false)
	if why != "" || p.rest != "" {
		return e, false
	}
	n, why := read(p.host)
	if why != "" && why != WhyLookalike {
		return e, false
	}
	if below && (n.address.IsValid() || strings.IndexByte(n.text, '.') < 0 && !n.under(locals)) {
		return e, false // "*.com" is no host of anybody
	}
	if e = (entry{name: n, below: below, port: p.port}); every {
		if e.port != "" {
			return e, false
		}
		e.port = "*"
	}
	return e, true
}

// names tells whether the entry is the host.
func (e *entry) names(n name) bool {
	switch {
	case e.address.IsValid() || n.address.IsValid():
		return e.address == n.address
	case e.below:
		at := len(n.text) - len(e.text)
		return at > 1 && n.text[at-1] == '.' && equalFold(n.text[at:], e.text)
	}
	return equalFold(e.text, n.text)
}
