package host_test

import (
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/pratique-dev/pratique/labels/guard/host"
)

// What programs read in a text, written without a look at the package: net/url, the
// URL parser of browsers, and what older programs do by cutting at the first slash and
// the last "@". What passes must have an allowed host in every one of them.

// browser is the host that the URL standard (url.spec.whatwg.org) reads, by its steps;
// ok is false where it fails or has no host.
func browser(text string) (h, port string, ok bool) {
	text = strings.Trim(text, controls)
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
	scheme, rest, found := strings.Cut(text, ":")
	if !found || !schemes.MatchString(text) {
		return "", "", false
	}
	scheme = strings.ToLower(scheme)
	special := scheme == "http" || scheme == "https" || scheme == "ws" || scheme == "wss" || scheme == "ftp"
	end := "/?#"
	if special {
		rest = strings.TrimLeft(rest, `/\`)
		end += `\`
	} else if rest, found = strings.CutPrefix(rest, "//"); !found {
		return "", "", false
	}
	if i := strings.IndexAny(rest, end); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		rest, port = rest[:i], rest[i+1:]
		if n, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil {
			return "", "", false
		} else if port != "" {
			port = strconv.Itoa(int(n))
		}
	}
	h, ok = domain(rest)
	return h, port, ok
}

var (
	schemes  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
)

var controls = func() string {
	var b strings.Builder
	for c := range rune(0x21) {
		b.WriteRune(c)
	}
	return b.String()
}()

// domain is the standard's host parser.
func domain(h string) (string, bool) {
	if strings.HasPrefix(h, "[") {
		a, err := netip.ParseAddr(strings.Trim(h, "[]"))
		return a.String(), err == nil && a.Zone() == ""
	}
	if u, err := url.PathUnescape(h); err == nil {
		h = u
	}
	if !utf8.ValidString(h) {
		h = strings.ToValidUTF8(h, "\ufffd")
	}
	ascii, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false)).ToASCII(h)
	if err != nil {
		if ascii = strings.ToLower(h); strings.ContainsFunc(h, func(c rune) bool { return c >= 0x80 }) {
			return "", false
		}
	}
	if ascii == "" || strings.ContainsAny(ascii, "\x00\t\n\r #/:<>?@[\\]^|%\x7f") {
		return "", false
	}
	trimmed := strings.TrimSuffix(ascii, ".")
	last := trimmed[strings.LastIndexByte(trimmed, '.')+1:]
	if _, ok := numeral(last); ok || last != "" && strings.Trim(last, "0123456789") == "" {
		return address4(trimmed)
	}
	return ascii, true
}

// numeral is the standard's IPv4 number parser.
func numeral(s string) (n uint64, ok bool) {
	base := 10
	switch {
	case s == "":
		return 0, false
	case len(s) > 1 && (s[:2] == "0x" || s[:2] == "0X"):
		s, base = s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return 0, true
	}
	if strings.ContainsAny(s, "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(s, base, 64)
	return n, err == nil
}

func address4(s string) (string, bool) {
	var ip uint64
	list := strings.Split(s, ".")
	if len(list) > 4 {
		return "", false
	}
	for i, p := range list {
		n, ok := numeral(p)
		last := i == len(list)-1
		if !ok || !last && n > 255 || last && n >= 1<<(8*(5-len(list))) {
			return "", false
		}
		if last {
			ip |= n
		} else {
			ip |= n << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}).String(), true
}

// library is what net/url reads.
func library(text string) (h, port string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", "", false
	}
	h, ok = domain(u.Hostname())
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		h, ok = a.String(), true
	}
	return h, u.Port(), ok
}

// cutter is what a program reads that cuts at the first slash behind the scheme, and
// then at the last "@".
func cutter(text string) (h, port string, ok bool) {
	_, rest, found := strings.Cut(text, "://")
	if !found || !schemes.MatchString(text) {
		return "", "", false
	}
	rest, _, _ = strings.Cut(rest, "/")
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	rest = rest[:strings.IndexAny(rest+"?", "?#")]
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
		rest, port = rest[:i], rest[i+1:]
	}
	h, ok = domain(rest)
	return h, port, ok
}

var readers = map[string]func(string) (string, string, bool){"browser": browser, "net/url": library, "cutter": cutter}

// permitted is what the rules of the fuzz target allow.
func permitted(h string) bool {
	return h == "example.com" || strings.HasSuffix(h, ".example.com") || h == "8.8.8.8" || h == "xn--bcher-kva.example"
}

func harmless(h string) bool {
	if a, err := netip.ParseAddr(h); err == nil {
		return !a.IsLoopback() && !a.IsPrivate() && !a.IsLinkLocalUnicast() && !a.IsUnspecified() && !a.IsMulticast() && !a.Is4In6()
	}
	h = strings.TrimSuffix(h, ".")
	return h != "localhost" && !strings.HasSuffix(h, ".localhost") && !strings.HasSuffix(h, ".internal") && strings.Contains(h, ".")
}

// parameters are the URLs that stand in a URL's query or fragment, as servers get them.
func parameters(text string) (out []string) {
	u, err := url.Parse(text)
	if err != nil {
		return nil
	}
	for _, q := range []string{u.RawQuery, u.Fragment, u.RawFragment} {
		values, _ := url.ParseQuery(q)
		for name, vs := range values {
			out = append(append(out, vs...), name)
		}
		for pair := range strings.SplitSeq(q, "&") {
			_, v, _ := strings.Cut(pair, "=")
			out = append(out, v)
		}
	}
	for _, v := range out {
		if w, err := url.QueryUnescape(v); err == nil && w != v {
			out = append(out, w)
		}
	}
	return out
}

// leads is where a browser goes from a page when it is sent to v; ok is false where it
// stays, or opens something that is no page.
func leads(v string) (string, bool) {
	v = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(strings.Trim(v, controls))
	if len(v) > 1 && strings.ContainsAny(v[:1], `/\`) && strings.ContainsAny(v[1:2], `/\`) {
		v = "https:" + v
	}
	scheme, _, _ := strings.Cut(v, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "ws", "wss", "ftp":
		h, _, ok := browser(v)
		return h, ok
	}
	return "", false
}

// FuzzReadings: what passes has an allowed host in every reading.
func FuzzReadings(f *testing.F) {
	for _, u := range ordinary {
		f.Add(u)
		f.Add(strings.ReplaceAll(u, "example.org", "example.com"))
	}
	for _, list := range refused {
		for _, u := range list {
			f.Add(u)
		}
	}
	f.Add("?a0.@x")
	f.Add("ple.com/amgit://exa")
	f.Add("https://:443/")
	for _, q := range []string{"?u=https://example.com@evil.test", "?u=%2f%2fevil.test", "?u=https:%5c%5cevil.test", "#u=//evil.test", "?a;b=//evil.test", "?/%0a\\b", "?u=/%09/evil.test", "?u=%01//evil.test"} {
		f.Add("https://example.com/" + q)
	}
	allow := rule(f, host.Options{Allow: []string{"example.com:*", "*.example.com:*", "8.8.8.8:*", "xn--bcher-kva.example:*"}})
	open := rule(f, host.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []struct {
			r  *host.Rule
			ok func(string) bool
		}{{allow, permitted}, {open, harmless}} {
			if c.r.Check(text) != "" {
				continue
			}
			forms := []string{text}
			if !absolute.MatchString(text) && !strings.HasPrefix(text, "/") {
				forms = []string{"https://" + text}
				if u, rest, copied := strings.Cut(text, "@"); copied && !strings.ContainsAny(u, "/?#.:") {
					h, p, _ := strings.Cut(rest, ":")
					forms = []string{"ssh://" + u + "@" + h + "/" + p}
				}
			}
			if strings.HasPrefix(text, "/") {
				if h, stays := leads(text); stays {
					t.Fatalf("%q leads to %q", text, h)
				}
				forms = []string{"https://example.com" + text}
			}
			for _, form := range forms {
				for who, read := range readers {
					if strings.HasPrefix(text, "/") && who != "net/url" {
						continue
					}
					if h, _, ok := read(form); ok && !c.ok(h) {
						t.Fatalf("%q passes, and %s reads the host %q", text, who, h)
					}
				}
				for _, v := range parameters(form) {
					if h, ok := leads(v); ok && !c.ok(h) {
						t.Fatalf("%q passes, and its parameter %q leads to %q", text, v, h)
					}
				}
			}
		}
	})
}

// TestReaders: the readings are independent, and see what the package is for.
func TestReaders(t *testing.T) {
	for text, want := range map[string]map[string]string{
		`https://good.test\@evil.test/`: {"browser": "good.test", "cutter": "evil.test"},
		"https://good.test@evil.test/":  {"browser": "evil.test", "net/url": "evil.test", "cutter": "evil.test"},
		"https://good.test?@evil.test/": {"browser": "good.test", "net/url": "good.test", "cutter": "evil.test"},
		"https:evil.test":               {"browser": "evil.test", "net/url": ""},
		"https:///evil.test":            {"browser": "evil.test", "net/url": ""},
		"http://0x7f.1/":                {"browser": "127.0.0.1"},
		"ht\ntps://evil.test":           {"browser": "evil.test", "net/url": ""},
		"https://e%76il.test":           {"browser": "evil.test"},
		"https://\uff45vil.test":        {"browser": "evil.test"},
	} {
		for who, h := range want {
			if got, _, _ := readers[who](text); got != h {
				t.Errorf("%q: %s reads %q, want %q", text, who, got, h)
			}
		}
	}
}
