// Package origin names where a tool comes from: a web origin, an MCP endpoint
// URL, a pinned stdio launch or a message channel.
//
// An Origin has exactly one text form, so that two origins are the same
// exactly when they are ==, and one may be compared, signed and used as a map
// key. Parse takes what a person or a registrant wrote and normalises it;
// whoever reads a signed statement uses UnmarshalText, which refuses anything
// that is not already in that form.
//
// An origin in a registration is a claim: nothing here says that it is true.
package origin

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// A Kind says what sort of place an origin is. The zero value is no origin.
type Kind uint8

// The kinds.
const (
	None     Kind = iota
	Web           // https://host[:port]
	Endpoint      // https://host[:port]/path, one MCP server
	Stdio         // stdio:NAME, a pinned launch; written by the gateway only
	Channel       // channel:NAME, a message channel; written by the gateway only
)

var kindNames = [...]string{"none", "web", "endpoint", "stdio", "channel"}

// String is the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// MaxLength is the longest origin, in bytes.
const MaxLength = 1024

// WellKnown is the path of a site's topology (RULES.md 16).
const WellKnown = "/.well-known/pratique-topology"

// Errors of origins; each names the part that is wrong. The text given is
// never repeated, since it may be a URL with a password in it.
var (
	ErrScheme   = errors.New("origin is not https:, stdio: or channel: (http: only for loopback)")
	ErrHost     = errors.New("origin's host is not a lower-case ASCII name or a plain IP address; write an international name in its xn-- form")
	ErrPort     = errors.New("origin's port is not a number from 1 to 65535")
	ErrUserinfo = errors.New("origin holds a user name or password")
	ErrQuery    = errors.New("origin holds a query or fragment")
	ErrPath     = errors.New("origin's path is empty in parts, has dot segments, or escapes what needs none")
	ErrName     = errors.New("name after stdio: or channel: is not 1 to 256 characters of [A-Za-z0-9._@:+/-]")
	ErrLong     = errors.New("origin is longer than 1024 bytes")
	ErrForm     = errors.New("origin is not in its normal form")
)

// An Origin is a parsed, normalised origin. It is comparable; the zero value
// is no origin and matches nothing.
type Origin struct {
	text string
	site int // length of scheme://host[:port]; 0 for stdio and channel
	kind Kind
}

// Parse reads an origin and brings it to its normal form: scheme and host in
// lower case, default port dropped, "/" alone dropped, percent-escapes in
// upper case. It refuses whatever two readers could take for different places.
func Parse(s string) (Origin, error) {
	if len(s) > MaxLength {
		return Origin{}, ErrLong
	}
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok {
		return Origin{}, ErrScheme
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "https", "http":
		return parseURL(scheme, rest)
	case "stdio":
		return named(Stdio, "stdio:", rest)
	case "channel":
		return named(Channel, "channel:", rest)
	}
	return Origin{}, ErrScheme
}

// Must is Parse for literals in tests and examples; it panics on error.
func Must(s string) Origin {
	o, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return o
}

func named(k Kind, prefix, name string) (Origin, error) {
	if len(name) == 0 || len(name) > 256 {
		return Origin{}, ErrName
	}
	for i := range len(name) {
		if c := name[i]; !alnum(c) && strings.IndexByte("._@:+/-", c) < 0 {
			return Origin{}, ErrName
		}
	}
	return Origin{text: prefix + name, kind: k}, nil
}

func parseURL(scheme, rest string) (Origin, error) {
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return Origin{}, ErrHost
	}
	if strings.ContainsAny(rest, "?#") {
		return Origin{}, ErrQuery
	}
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if strings.IndexByte(authority, '@') >= 0 {
		return Origin{}, ErrUserinfo
	}
	host, port, err := splitPort(authority)
	if err != nil {
		return Origin{}, err
	}
	host, err = normalHost(host)
	if err != nil {
		return Origin{}, err
	}
	if scheme == "http" && !loopback(host) {
		return Origin{}, ErrScheme
	}
	if (scheme == "https" && port == "443") || (scheme == "http" && port == "80") {
		port = ""
	}
	site := scheme + "://" + host
	if port != "" {
		site += ":" + port
	}
	if path == "" || path == "/" {
		return Origin{text: site, site: len(site), kind: Web}, nil
	}
	path, err = normalPath(path)
	if err != nil {
		return Origin{}, err
	}
	return Origin{text: site + path, site: len(site), kind: Endpoint}, nil
}

// String is the normal form.
func (o Origin) String() string { return o.text }

// Kind is the kind of place.
func (o Origin) Kind() Kind { return o.kind }

// IsZero reports whether o is no origin.
func (o Origin) IsZero() bool { return o.kind == None }

// GatewayOnly reports whether only the gateway may write this origin (RULES.md
// 16): a registration that claims one is refused.
func (o Origin) GatewayOnly() bool { return o.kind != Web && o.kind != Endpoint }

// WebOrigin is the site whose topology speaks for o: o itself for a web origin,
// the site of an endpoint, none for launches and channels.
func (o Origin) WebOrigin() (Origin, bool) {
	if o.GatewayOnly() {
		return Origin{}, false
	}
	return Origin{text: o.text[:o.site], site: o.site, kind: Web}, true
}

// TopologyURL is where the site's topology is read, "" if o has no site.
func (o Origin) TopologyURL() string {
	w, ok := o.WebOrigin()
	if !ok {
		return ""
	}
	return w.text + WellKnown
}

// Host is the host without its port, "" if o has no site. An IPv6 address has
// its brackets.
func (o Origin) Host() string {
	if o.GatewayOnly() {
		return ""
	}
	_, hp, _ := strings.Cut(o.text[:o.site], "://")
	h, _, _ := splitPort(hp) // was split once without error
	return h
}

// Loopback reports whether o's site is on this machine by its name alone.
func (o Origin) Loopback() bool { return !o.GatewayOnly() && loopback(o.Host()) }

// MarshalText implements encoding.TextMarshaler; no origin is ErrForm.
func (o Origin) MarshalText() ([]byte, error) {
	if o.IsZero() {
		return nil, ErrForm
	}
	return []byte(o.text), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It normalises nothing: a
// signed or stored origin that is not in normal form is ErrForm.
func (o *Origin) UnmarshalText(b []byte) error {
	v, err := Parse(string(b))
	if err != nil {
		return err
	}
	if v.text != string(b) {
		return ErrForm
	}
	*o = v
	return nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}
