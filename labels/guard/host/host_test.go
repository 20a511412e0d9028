package host_test

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/fetch"
	"github.com/pratique-dev/pratique/labels/guard/host"
)

func rule(t testing.TB, o host.Options) *host.Rule {
	t.Helper()
	r, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ordinary are URLs and hosts as people and programs write them.
var ordinary = []string{
	"https://example.com", "http://example.com/", "HTTPS://Example.COM/Path", "https://example.com:8443/a?b=c#d", "https://sub.example.co.uk/a/b.html", "wss://example.com/socket",
	"example.com", "example.com:443", "example.com:80#a", "example.com:80?a", "example.com/path", "example.com:8080/x?y", "Example.com", "my_app.example.com", "r3---sn-x.example.com", "1password.com", "3com.com", "a.b.c.d.example.org",
	"https://8.8.8.8/", "8.8.8.8", "8.8.8.8:53", "https://[2606:4700::1111]/", "[2606:4700::1111]:443", "2606:4700::1111",
	"https://example.com/a@b", "https://example.com/~user/", "https://example.com/a b", "https://example.com/caf\u00e9", "https://example.com/?q=a\\b", "https://example.com?x=1", "https://example.com#top",
	"https://example.com/?email=me@example.org", "https://example.com/login?next=/dashboard", "https://example.com/login?next=%2Fdashboard", "https://example.com/?t=10:30", "https://example.com/?q=50%25",
	"https://example.com/share?u=https://www.example.org/page", "https://example.com/share?u=https%3A%2F%2Fwww.example.org%2Fpage", "https://web.archive.org/web/2020/https://example.org/", "https://example.com/?redirect_uri=myapp://callback",
	"https://example.com/?a=1;b=2", "https://example.com/?path=a/b/c", "https://ec2-54-12-13-14.compute-1.example.com/", "https://example.com/?x=%E2%82%AC",
	"https://b\u00fccher.example/", "https://xn--bcher-kva.example/", "https://k\u00f8benhavn.example/", "https://\u65e5\u672c\u8a9e.example/", "https://\u043f\u0440\u0438\u0432\u0435\u0442.example/", "https://\ud55c\uad6d.example", "https://\u5dde\u30d3\u30eb.example",
	"https://\u03b5\u03bb\u03bb\u03ac\u03b4\u03b1.example", "https://\u05e9\u05dc\u05d5\u05dd.example",
	"ssh://git@example.com/group/project.git", "git@example.com:group/project.git", "ssh://example.com:2222/x", "ssh://git@xn--bcher-kva.example/x", "deploy@example.com:srv/app", "deploy-2_a@example.com:srv/app",
	"/api/v4/projects", "/a?next=/b",
}

func TestOrdinaryURLsPass(t *testing.T) {
	r := rule(t, host.Options{})
	for _, u := range ordinary {
		if why := r.Check(u); why != "" {
			t.Errorf("%q: %s", u, why)
		}
	}
}

// refused are spellings by the reason that refuses them whatever the rule.
var refused = map[string][]string{
	host.WhyEmpty:     {""},
	host.WhyLong:      {"https://example.com/" + strings.Repeat("a", 8192)},
	host.WhyNoHost:    {"https://:443/", "ssh://git@/x", "?a=b", "#a", "?@example.com"},
	host.WhyScheme:    {"ftp://example.com/", "h2://example.com", "git+ssh://example.com", "gopher://example.com", "data:text/html,x", "mailto:me@example.com", "about:blank", "git://example.com/a", "a:b", "example.com:", "file:///etc/passwd", "view-source:https://example.com"},
	host.WhySlashes:   {"https:/example.com", "https:example.com", "https:///example.com", "//example.com", "http:8080", "https://", "https:", "https:443", "https://?x", "ftp:x"},
	host.WhyControl:   {"https://exam\tple.com", "https://example.com\n", "\nhttps://example.com", " https://example.com", "https://example.com ", "https://example.com/\x00", "https://ex ample.com/", "\ufeffhttps://example.com", "https://example.com/\u2028", "https://example.com/\u2029", "https://example.com/\u200b", "https://example.com\u3000", "\x7f", "\u00a0https://example.com", "https://\xff.com", "java\nscript:x", "see docs(1)"},
	host.WhyBackslash: {`https:\\example.com`, `https://example.com\@evil.test/`, `https://evil.test\.example.com`, `\\example.com`, `/\example.com`, `https://example.com/a\b`, `https:/\example.com`},
	host.WhyUser:      {"https://user@example.com", "https://user:pass@example.com/", "https://example.com@evil.test", "https://example.com:443@evil.test/", "https://@example.com", "https://a@b@c.test", "https://example.com?@evil.test/", "https://example.com#@evil.test", "me@example.com", "ssh://git:pw@example.com/x", "ssh://@example.com/x", "https://example.com%40evil.test@x.test", "git@example.com://x", "git@a.test:b@c.test"},
	host.WhyPort:      {"https://example.com:", "https://example.com:0", "https://example.com:080", "https://example.com:65536", "https://example.com:4a", "https://example.com:-1", "https://example.com:99999999999", "https://::1/", "https://example.com:80:80", "https://[2606:4700::1]:x"},
	host.WhyHost: {"https://example..com", "https://.example.com", "https://-a.example.com", "https://a-.example.com", "https://exam%70le.com", "https://ex<am>ple.com", "https://[2606:4700::1", "https://[2606:4700::1]a", "https://a,b.com", "https://*.example.com", "https://ex'ample.com", "https://" + strings.Repeat("a", 64) + ".com", "https://" + strings.Repeat("a.", 127) + "com",
		"{{host}}", "$HOST", "https://xn--example-.com", "https://xn--.example", "https://exam|ple.com"},
	host.WhyDot:       {"https://example.com.", "example.com.", "https://example.com.:443/", "localhost."},
	host.WhyAddress:   {"https://[]/", "https://2130706433/", "https://0x7f000001", "https://0177.0.0.1", "https://127.1", "https://0x7f.1", "https://127.0.0.1.5", "https://256.1.1.1", "https://1.1.1.01", "https://a.0x", "https://a.1", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[fe80::1%eth0]", "https://[::127.0.0.1]", "https://[1.2.3.4]", "https://[2606:4700::1::2]", "017700000001", "https://08.1.1.1", "1::2::3"},
	host.WhyIDN:       {"ssh://b\u00fccher.example/x", "git@b\u00fccher.example:x", "https://ｅxample.com", "https://example。com", "https://exam\u00adple.com", "https://B\u00fccher.example", "https://stra\u00dfe.example", "https://xn--strae-oqa.example", "https://xn--nxasmm1c.com", "https://xn--mgba3gch31f060k.com", "https://" + strings.Repeat("b\u00fccher.", 20) + "example", "https://xn--a.example", "https://\u2488.example", "https://example.com\uff0fevil.test", "https://①.example", "https://１２７.0.0.1", "https://a\u200db.example", "https://b\u00fccher_x.example", "https://\u2100.example", "https://bu\u0308cher.example"},
	host.WhyLookalike: {"https://\u0430\u0440\u0440\u04cf\u0435.com", "https://xn--80ak6aa92e.com", "https://ex\u0430mple.com", "https://xn--exmple-4nf.com", "https://\u0261oogle.com", "https://g\u03bf\u03bfgle.com", "https://\u0440\u0430\u0443\u0440\u0430l.com", "https://example.com\u0131.org"},
}

// TestRefused: spellings that programs read in two ways, for their reasons, with and
// without a list of hosts.
func TestRefused(t *testing.T) {
	r, listed := rule(t, host.Options{}), rule(t, host.Options{Allow: []string{"example.com", "*.example.com", "evil.test:*"}})
	for why, list := range refused {
		for _, u := range list {
			if got := r.Check(u); got != why {
				t.Errorf("%q: %q, want %q", u, got, why)
			}
			if listed.Check(u) == "" {
				t.Errorf("%q is allowed", u)
			}
		}
	}
}

// TestPrivate: what is not public is refused where no list names it, in every spelling.
func TestPrivate(t *testing.T) {
	list := []string{
		"http://127.0.0.1/", "127.0.0.1:8080", "http://0.0.0.0", "http://10.1.2.3", "http://172.16.0.1", "http://172.31.255.255", "http://192.168.1.1", "http://169.254.169.254/latest/meta-data/", "http://100.64.0.1", "http://100.100.100.200",
		"http://168.63.129.16", "http://192.0.0.192", "http://198.18.0.1", "http://224.0.0.1", "http://255.255.255.255", "http://240.0.0.1",
		"http://[::1]/", "http://[::]", "[::1]:80", "::1", "http://[fe80::1]", "http://[fc00::1]", "http://[fd00:ec2::254]", "http://[64:ff9b::a00:1]", "http://[2002:7f00:1::]", "http://[2001:0:1::]", "http://[ff02::1]", "http://[fec0::1]",
		"http://localhost", "localhost:3000", "LOCALHOST", "http://a.localhost", "http://localhost.localdomain", "http://ip6-localhost", "http://router", "http://printer.local", "http://metadata.google.internal/computeMetadata/v1/", "http://metadata", "http://metadata.goog",
		"http://gitlab.corp", "http://x.home.arpa", "http://kubernetes.default.svc.cluster.local", "http://host.docker.internal", "http://nas.lan",
		"http://127.0.0.1.nip.io", "http://8.8.8.8.nip.io", "http://7f000001.nip.io", "http://app.10.0.0.1.sslip.io", "http://10-0-0-1.sslip.io", "http://localtest.me", "http://a.localtest.me", "http://lvh.me", "http://NIP.io",
		"http://127.0.0.1.evil.test", "http://192-168-0-1.evil.test", "http://a-10-0-0-1.b.example.com", "http://www.169.254.169.254.example.com",
	}
	r, open := rule(t, host.Options{}), rule(t, host.Options{Private: true})
	for _, u := range list {
		if why := r.Check(u); why != host.WhyPrivate {
			t.Errorf("%q: %q", u, why)
		}
		if why := open.Check(u); why != "" {
			t.Errorf("%q with private hosts: %s", u, why)
		}
	}
	for _, u := range []string{"http://172.32.0.1", "http://11.0.0.1", "http://100.128.0.1", "http://nip.io.example.com", "http://notlocalhost.com", "http://mylocal.example", "http://8-8-8-8.example.com", "http://10.0.0.256.example.com", "http://10.0.0.1a.example.com", "http://10.0.0.example.com", "http://a10.0.0.1.example.com", "http://v1.2.3.example.com", "http://110.0.0.1.example.com", "http://internal.example.com"} {
		if why := r.Check(u); why != "" {
			t.Errorf("%q: %s", u, why)
		}
	}
	for _, p := range []string{"0.0.0.0", "10.0.0.1", "100.64.1.1", "127.0.0.1", "168.63.129.16", "169.254.1.1", "172.20.1.1", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.19.0.1", "198.51.100.1", "203.0.113.1", "230.0.0.1", "250.0.0.1", "2001:1::", "2001:db8::1", "2002::1", "3fff::1", "::1", "fe80::1", "8.8.8.8", "2606:4700::1"} {
		if a := netip.MustParseAddr(p); (r.Check(bracketed(a)) == "") != fetch.Public(a) {
			t.Errorf("%s: not what the fetcher takes for public", p)
		}
	}
}

func bracketed(a netip.Addr) string {
	if a.Is6() {
		return "[" + a.String() + "]"
	}
	return a.String()
}

// TestAllow: the hosts of a list, their ports, what lies below them, and the two ways
// of not being one.
func TestAllow(t *testing.T) {
	for _, c := range []struct {
		allow []string
		pass  []string
		fail  map[string]string
	}{
		{[]string{"example.com"},
			[]string{"https://example.com/a", "EXAMPLE.com", "example.com:443", "http://example.com:80/", "https://example.com:443", "ssh://git@example.com:22/x", "git@example.com:a/b.git", "wss://example.com:443"},
			map[string]string{"https://www.example.com": host.WhyOther, "https://example.com.evil.test": host.WhyOther, "https://notexample.com": host.WhyOther, "https://example.co": host.WhyOther,
				"https://example.com:8443": host.WhyOtherPort, "http://example.com:443": host.WhyOtherPort, "https://8.8.8.8": host.WhyUnlike, "/api": host.WhyNoHost, "http://localhost": host.WhyOther, "git@evil.test:a": host.WhyOther}},
		{[]string{"*.example.com:*", "example.com:8443"},
			[]string{"https://a.example.com", "https://a.b.Example.com:99", "https://example.com:8443"},
			map[string]string{"https://example.com": host.WhyOtherPort, "https://aexample.com": host.WhyOther, "https://evil.test/.example.com": host.WhyOther, "https://.example.com": host.WhyHost}},
		{[]string{"10.0.0.5", "[2001:db8::1]:8080", "localhost:3000"},
			[]string{"http://10.0.0.5/", "http://[2001:DB8:0::1]:8080", "http://localhost:3000/x", "localhost:3000"},
			map[string]string{"http://10.0.0.6": host.WhyUnlike, "http://localhost": host.WhyOtherPort, "http://[2001:db8::1]": host.WhyOtherPort, "http://167772165": host.WhyAddress, "http://example.com": host.WhyUnlike, "http://[::ffff:10.0.0.5]": host.WhyAddress}},
		{[]string{"b\u00fccher.example", "*.xn--80ak6aa92e.com", "\u0430\u0440\u0440\u04cf\u0435.com"},
			[]string{"https://xn--bcher-kva.example", "https://b\u00fccher.example/", "https://XN--BCHER-KVA.example", "https://a.xn--80ak6aa92e.com", "https://xn--80ak6aa92e.com"},
			map[string]string{"https://bucher.example": host.WhyOther, "https://apple.com": host.WhyOther, "https://ex\u0430mple.com": host.WhyLookalike, "https://B\u00fccher.example": host.WhyIDN}},
		{[]string{"example.com:443", "a.test:22"}, []string{"https://example.com/", "wss://example.com", "https://example.com:443", "example.com:443", "ssh://git@a.test/x", "git@a.test:x"},
			map[string]string{"http://example.com/": host.WhyOtherPort, "example.com": host.WhyOtherPort, "https://example.com:8443": host.WhyOtherPort, "https://a.test": host.WhyOtherPort}},
		{[]string{"10.0.0.5"}, []string{"10.0.0.5"}, map[string]string{"10.0.0.6": host.WhyOther}},
	} {
		r := rule(t, host.Options{Allow: c.allow})
		for _, u := range c.pass {
			if why := r.Check(u); why != "" {
				t.Errorf("%v: %q: %s", c.allow, u, why)
			}
		}
		for u, want := range c.fail {
			if why := r.Check(u); why != want {
				t.Errorf("%v: %q: %q, want %q", c.allow, u, why, want)
			}
		}
	}
}

// TestNested: a parameter that is a URL must lead to a host that is allowed, however
// it is encoded and wherever it begins.
func TestNested(t *testing.T) {
	listed, open := rule(t, host.Options{Allow: []string{"example.com"}}), rule(t, host.Options{})
	for _, q := range []string{
		"?url=https://evil.test", "?next=//evil.test", "?next=%2f%2fevil.test", "?next=%252f%252fevil.test", "?next=%25252f%25252fevil.test", `?next=\\evil.test`, `?next=/\evil.test`, "?next=/%5cevil.test", "?https://evil.test", "?a=1&b=http://evil.test/x", "#next=https://evil.test", "?a=b#/?u=https://evil.test",
		"?u=https://example.com@evil.test", "?u=https://example.com?@evil.test/", "?u=https://example.com/?u=https://evil.test", "?u=https%3A%2F%2Fexample.com%2F%3Fu%3Dhttps%253A%252F%252Fevil.test", "?u=http:evil.test", "?u=HTTPS://EVIL.TEST", "?u=+https://evil.test", "?u=%20https://evil.test", "?u=%09//evil.test",
		"?a=1;u=https://evil.test", "?u[]=https://evil.test", "?u=ftp://evil.test", "?u=ssh://evil.test/x", "?u=gopher://evil.test:70/_x", "?u=file:///etc/passwd", "?u=https:%2F%2Fevil.test", "?u=https://example.com:8443/", "?u=https://evil.test;x", "?u=https://example.com;x=https://evil.test", "?a=b=https://evil.test", "?a=;;;;;;;;;;;;//evil.test", "?=%2525252525252f",
	} {
		if why := listed.Check("https://example.com/" + q); why != host.WhyNested {
			t.Errorf("%q: %q", q, why)
		}
	}
	for _, q := range []string{"?url=https://example.com/x", "?next=%2F%2Fexample.com", "?a=https://example.com/?b=https://example.com/", "?q=http", "?q=http:", "?t=a//b", "?a=1;b=2;c=3", "?date=2026-01-01T10:00:00"} {
		if why := listed.Check("https://example.com/" + q); why != "" {
			t.Errorf("%q: %s", q, why)
		}
	}
	for q, want := range map[string]string{"?url=https://other.test": "", "?url=http://169.254.169.254/": host.WhyNested, "?url=http%3A%2F%2Flocalhost%3A8080": host.WhyNested, "?url=http://[::1]": host.WhyNested, "?url=https://u:p@other.test": host.WhyNested} {
		if why := open.Check("https://example.com/" + q); why != want {
			t.Errorf("%q: %q, want %q", q, why, want)
		}
	}
	deep := "https://example.com/?u=https://example.com/?u=https://example.com/"
	for range 2 {
		if why := listed.Check(deep); why != "" {
			t.Errorf("a URL in another: %s", why)
		}
		deep = "https://example.com/?u=" + url.QueryEscape(deep)
	}
	if why := listed.Check(deep); why != host.WhyNested {
		t.Errorf("four URLs in one another: %q", why)
	}
}

// A rule that nobody made refuses, and what is no host or scheme makes none.
func TestNoRule(t *testing.T) {
	var none *host.Rule
	if none.Check("https://example.com") != host.WhyNoRule || new(host.Rule).Check("") != host.WhyNoRule {
		t.Error("a rule that nobody made lets pass")
	}
	for _, a := range []string{"", "*", "*.", "*.com", "a.*.com", "https://example.com", "example.com/", "example.com.", "u@example.com", "127.1", "example.com:0", "example.com:x", "*.10.0.0.1", "[::1", "ex ample.com", "example.com:80:*", "::ffff:1.2.3.4", "*:80", "ex%61mple.com"} {
		if _, err := host.New(host.Options{Allow: []string{"a.test", a}}); !errors.Is(err, host.ErrHost) {
			t.Errorf("%q: %v", a, err)
		} else if a != "" && a != "*" && strings.Contains(err.Error(), a) {
			t.Errorf("repeats the host: %v", err)
		}
	}
	for _, s := range []string{"", "file", "javascript", "HTTP", "a b", "1a", "data"} {
		if _, err := host.New(host.Options{Schemes: []string{s}}); !errors.Is(err, host.ErrHost) {
			t.Errorf("scheme %q: %v", s, err)
		}
	}
	if why := rule(t, host.Options{Schemes: []string{"https"}}).Check("http://example.com"); why != host.WhyScheme {
		t.Errorf("another scheme: %q", why)
	}
	if why := rule(t, host.Options{Schemes: []string{"https"}}).Check("git@example.com:a"); why != host.WhyUser {
		t.Errorf("ssh where it is not allowed: %q", why)
	}
}

// Every sentence is one of Reasons and ends as one.
func TestReasons(t *testing.T) {
	all := host.Reasons()
	for why := range refused {
		if !slices.Contains(all, why) {
			t.Errorf("%q is missing", why)
		}
	}
	for i, why := range all {
		if !strings.HasSuffix(why, ".") || slices.Contains(all[:i], why) {
			t.Errorf("%q twice, or no sentence", why)
		}
	}
}

// An ordinary URL is judged without a copy of it.
func TestNoAllocation(t *testing.T) {
	for _, r := range []*host.Rule{rule(t, host.Options{}), rule(t, host.Options{Allow: []string{"other.test", "*.example.com"}})} {
		if n := testing.AllocsPerRun(100, func() {
			if r.Check("https://api.example.com/v4/projects/12?page=2&next=/a") != "" {
				t.Error("refused")
			}
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	for n, o := range map[string]host.Options{"public": {}, "allow": {Allow: []string{"other.test", "*.example.com"}}} {
		r := rule(b, o)
		b.Run(n, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Check("https://api.example.com/v4/projects/12?page=2&per_page=100")
			}
		})
	}
}
