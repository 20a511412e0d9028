// Package host judges texts that name a host: URLs, and hosts with or without a port.
// It judges the text that is forwarded and rewrites nothing; a text in which browsers
// and libraries read two different hosts is refused.
//
// Of a text with several URLs each is judged.
//
// It sees names and addresses, not what a name points to: a public name with a private
// address gets by.
package host

import (
	"errors"
	"fmt"
	"strings"
)

// ErrHost says that a host or scheme of Options cannot be used. The error repeats it
// not.
var ErrHost = errors.New("host: an allowed host or scheme is not written plainly")

// Options say which hosts may be named. The zero value allows every public host.
type Options struct {
	// Allow are hosts: "example.com", "example.com:8443", "*.example.com" (every name
	// below it, however deep, and not the domain itself), "10.0.0.5", "[2001:db8::1]",
	// "localhost:3000". A port of "*" is every port; without a port it is the scheme's
	// own. An international name may be written in its own letters. None: every public
	// host, with any port.
	Allow []string
	// Schemes are those that a URL may have; none: http, https, ws, wss and ssh. Of ssh
	// a user without a password may stand before the host, also in the form
	// "git@example.com:group/project.git".
	Schemes []string
	// Private lets addresses and names pass that are not public, where Allow is empty.
	Private bool
}

// A Rule judges URLs and hosts. It is immutable and may be shared. The zero value,
// and nil, refuse every text.
type Rule struct {
	made    bool
	private bool
	may     bool  // it looks for what may be a host of allow, see May
	loose   *Rule // this one with may
	schemes []string
	allow   []entry
	// What allow has: of a name among addresses alone it cannot be told whether it is
	// one of them.
	names, addresses bool
}

const (
	maxURL    = 8192 // bytes
	maxNested = 3    // URLs inside of one another
)

// hostless are schemes whose URLs name no host, or none that could be judged.
var hostless = []string{"file", "data", "javascript", "vbscript", "blob", "about", "mailto", "tel", "sms", "urn", "jar", "view-source", "filesystem", "intent"}

// New compiles a rule. It fails with ErrHost.
func New(o Options) (*Rule, error) {
	r := &Rule{made: true, private: o.Private, schemes: o.Schemes}
	if len(r.schemes) == 0 {
		r.schemes = []string{"https", "http", "wss", "ws", "ssh"}
	}
	for n, s := range r.schemes {
		if s == "" || schemeOf(s+":") != s || s != strings.ToLower(s) || listed(hostless, s) {
			return nil, fmt.Errorf("%w: scheme %d", ErrHost, n+1)
		}
	}
	for n, text := range o.Allow {
		e, ok := newEntry(text)
		if !ok {
			return nil, fmt.Errorf("%w: host %d", ErrHost, n+1)
		}
		r.allow = append(r.allow, e)
		r.addresses = r.addresses || e.address.IsValid()
		r.names = r.names || !e.address.IsValid()
	}
	loose := *r
	loose.may, r.loose = true, &loose
	return r, nil
}

// Check is why the rule refuses the text, a sentence of a closed set (see Reasons);
// empty: it passes.
func (r *Rule) Check(text string) (why string) {
	switch {
	case r == nil || !r.made:
		return WhyNoRule
	case text == "":
		return WhyEmpty
	case len(text) > maxURL:
		return WhyLong
	}
	why = r.check(text, 0)
	if strings.Contains(text, "://") {
		return r.further(text, why, 1)
	}
	return why
}

// May tells whether a host of Allow may be named in the text: by a URL, in its
// parameters, or by what cannot be told.
func (r *Rule) May(text string) bool {
	return r == nil || !r.made || r.loose.Check(text) != WhyOther
}

// Further is why the rule refuses one of the URLs in a text but for the one that it
// begins with; empty: they pass, or there is none.
func (r *Rule) Further(text string) (why string) {
	switch {
	case r == nil || !r.made:
		return WhyNoRule
	case len(text) > maxURL:
		return WhyLong
	}
	return r.further(text, "", 0)
}

// check judges a text that stands in others.
func (r *Rule) check(text string, depth int) string {
	if depth > maxNested {
		return WhyNested
	}
	p, why := r.split(text)
	if why != "" {
		return why
	}
	if p.path {
		// A path on the server that a tool works for anyway.
		if len(r.allow) > 0 {
			return WhyNoHost
		}
	} else if why = r.judge(p); why != "" && !(r.may && why == WhyOther) {
		return why
	}
	if in := r.nested(p.rest, depth); in != "" {
		return in
	}
	return why
}

// judge judges the host that was found.
func (r *Rule) judge(p parts) string {
	n, why := read(p.host)
	if why == "" && p.scheme != "" && n.text != p.host && !n.address.IsValid() && !listed(browsed, p.scheme) {
		return WhyIDN // other schemes have no rule for letters that are not ASCII
	}
	switch {
	case why == WhyLookalike && len(r.allow) > 0:
		if r.allowed(n, p) != "" {
			return why
		}
		return "" // the operator named it
	case why != "":
		return why
	case len(r.allow) > 0:
		return r.allowed(n, p)
	case r.private || n.public():
		return ""
	}
	return WhyPrivate
}

// allowed looks for the host among those that are allowed.
func (r *Rule) allowed(n name, p parts) string {
	port := false
	for i := range r.allow {
		e := &r.allow[i]
		if !e.names(n) {
			continue
		}
		if e.port == "*" || e.port == "" && p.ownPort() || e.port != "" && (e.port == p.port || p.port == "" && e.port == p.standard()) {
			return ""
		}
		port = true
	}
	switch {
	case port:
		return WhyOtherPort
	case n.address.IsValid() && r.names, !n.address.IsValid() && r.addresses:
		return WhyUnlike
	}
	return WhyOther
}

// ownPort tells whether a port is the scheme's own; without a scheme that of http or
// https.
func (p parts) ownPort() bool {
	return p.port == "" || p.port == p.standard() || p.scheme == "" && (p.port == "443" || p.port == "80")
}

// standard is the port of a scheme where none is given.
func (p parts) standard() string {
	switch {
	case equalFold(p.scheme, "https"), equalFold(p.scheme, "wss"):
		return "443"
	case equalFold(p.scheme, "http"), equalFold(p.scheme, "ws"):
		return "80"
	case equalFold(p.scheme, "ssh"):
		return "22"
	}
	return ""
}
