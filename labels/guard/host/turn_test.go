package host_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/host"
)

// TestRedirects: a bare host under the name of a redirect, in query and fragment, is a
// host that has to be allowed.
func TestRedirects(t *testing.T) {
	listed, open := rule(t, host.Options{Allow: []string{"example.com"}}), rule(t, host.Options{})
	for _, name := range strings.Fields("redirect redirect_uri redirect_url redirectTo REDIRECT next url goto return returnTo return_to continue dest destination callback target u image_url post_logout_redirect_uri to redirect[] %72edirect RelayState") {
		for _, at := range []string{"?", "?a=1&", "#", "#/x?", "?a=1;", "?a=b#"} {
			for _, v := range []string{
				"evil.test", "EVIL.TEST", "evil.test:8443", "evil.test:", "evil.test/x", "evil.test%2Fx", "evil.test?x=1", "evil%2Etest", "evil%252Etest", "%65vil.test", "+evil.test", "%20evil.test", "ev%09il.test", "evil.test.", "evil%E3%80%82test",
				"www.evil.md", "evil.md/x", "evil.test;x", "localhost", "LOCALHOST:3000", "127.0.0.1", "127.0.0.1:80/x", "[::1]", "[::1]:80", "//evil.test", "user@evil.test/x", "b\u00fccher.test",
			} {
				if why := listed.Check("https://example.com/r" + at + name + "=" + v); why != host.WhyNested {
					t.Errorf("%s%s=%s: %q", at, name, v, why)
				}
			}
			for _, v := range []string{
				"example.com", "example.com/x", "example.com%2Fx", "Example.com:443", "/home", "%2Fhome", "docs.md", "docs.md%23top", "index.html", "a.b.html", "a/b.c", "./x.y", "../x", ".env", "home", "", "1.5", "v1.2.3", "myapp:callback", "a%20b.c", "a..b", "-1.x", strings.Repeat("a", 64) + ".b",
			} {
				if why := listed.Check("https://example.com/r" + at + name + "=" + v); why != "" && v != "-1.x" {
					t.Errorf("%s%s=%s: %q", at, name, v, why)
				}
			}
		}
	}
	for q, want := range map[string]string{
		"?redirect=evil.test": "", "?next=localhost:3000": host.WhyNested, "?u=10.0.0.5/x": host.WhyNested, "?u=ann@corp.test": "", "?redirect=ann@corp.test": host.WhyNested, "?target=main.go": "", "?x=localhost": "", "?redirect=": "", "?redirect": "", "?=localhost": "",
	} {
		if why := open.Check("https://example.com/" + q); why != want {
			t.Errorf("%s: %q, want %q", q, why, want)
		}
	}
	for _, q := range []string{"?u=ann@corp.test", "?target=main.go", "?dest=x.tar.gz", "?to=run.sh", "?q=evil.test", "?version=evil.test", "?a=b.c&d=e.f"} {
		if why := listed.Check("https://example.com/" + q); why != "" {
			t.Errorf("%s: %q", q, why)
		}
	}
}

// TestTurn: the same of a text under such a name.
func TestTurn(t *testing.T) {
	r := rule(t, host.Options{Allow: []string{"example.com"}})
	for text, want := range map[string]string{
		"": "", "home": "", "/home": "", "docs.md": "", "example.com/x": "", "evil.test": host.WhyOther, "evil.test:1": host.WhyOther, "example.com:1": host.WhyOtherPort, "evil%2Etest": host.WhyOther, "1.2.3.4": host.WhyUnlike,
		"%2f%2fevil.test": host.WhyOther, "https%3A%2F%2Fevil.test": host.WhyOther, "/x?next=evil.test": host.WhyNested, "a@evil.test": host.WhyUser, strings.Repeat("a", 9000): host.WhyLong,
	} {
		if got := r.Turn(text, false); got != want {
			t.Errorf("%.40s: %q, want %q", text, got, want)
		}
	}
	var none *host.Rule
	if none.Turn("x", true) != host.WhyNoRule || !none.May("x") || !new(host.Rule).May("x") {
		t.Error("a rule that nobody made lets pass")
	}
}

// TestManyRedirects: parameters inside of parameters are looked at once each.
func TestManyRedirects(t *testing.T) {
	r := rule(t, host.Options{Allow: []string{"example.com"}})
	for _, part := range []string{"u=example.com?", "u=example.com;", "next=a%2", "redirect=", "u=%25252e."} {
		r.Check("https://example.com/?" + strings.Repeat(part, 8000/len(part)))
	}
}
