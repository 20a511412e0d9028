package origin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/internal/origin"
)

func Example() {
	o, err := origin.Parse("HTTPS://Shop.Example:443/mcp")
	fmt.Println(o, o.Kind(), err)
	site, ok := o.WebOrigin()
	fmt.Println(site, ok, o.TopologyURL())
	_, err = origin.Parse("http://shop.example")
	fmt.Println(err)
	// Output:
	// https://shop.example/mcp endpoint <nil>
	// https://shop.example true https://shop.example/.well-known/pratique-topology
	// origin is not https:, stdio: or channel: (http: only for loopback)
}

func TestParse(t *testing.T) {
	tests := []struct {
		in, text string
		kind     origin.Kind
		site     string
	}{
		{"https://shop.example", "https://shop.example", origin.Web, "https://shop.example"},
		{"https://shop.example/", "https://shop.example", origin.Web, "https://shop.example"},
		{"HtTpS://SHOP.example:443/", "https://shop.example", origin.Web, "https://shop.example"},
		{"https://shop.example:8443", "https://shop.example:8443", origin.Web, "https://shop.example:8443"},
		{"https://xn--bcher-kva.example", "https://xn--bcher-kva.example", origin.Web, "https://xn--bcher-kva.example"},
		{"https://intranet", "https://intranet", origin.Web, "https://intranet"},
		{"https://192.0.2.7:1/x", "https://192.0.2.7:1/x", origin.Endpoint, "https://192.0.2.7:1"},
		{"https://[2001:DB8:0::1]/", "https://[2001:db8::1]", origin.Web, "https://[2001:db8::1]"},
		{"https://a.example/Mcp/v1/", "https://a.example/Mcp/v1/", origin.Endpoint, "https://a.example"},
		{"https://a.example/a%c3%a9@~x;y=1", "https://a.example/a%C3%A9@~x;y=1", origin.Endpoint, "https://a.example"},
		{"http://localhost:80", "http://localhost", origin.Web, "http://localhost"},
		{"http://127.0.0.9:3000/mcp", "http://127.0.0.9:3000/mcp", origin.Endpoint, "http://127.0.0.9:3000"},
		{"http://[::1]:443", "http://[::1]:443", origin.Web, "http://[::1]:443"},
		{"stdio:gitlab@1.2", "stdio:gitlab@1.2", origin.Stdio, ""},
		{"channel:telegram/Ops", "channel:telegram/Ops", origin.Channel, ""},
	}
	for _, tt := range tests {
		o, err := origin.Parse(tt.in)
		if err != nil || o.String() != tt.text || o.Kind() != tt.kind {
			t.Errorf("Parse(%q) = %q %v, %v", tt.in, o, o.Kind(), err)
			continue
		}
		site, ok := o.WebOrigin()
		if ok != (tt.site != "") || site.String() != tt.site || o.GatewayOnly() != (tt.site == "") {
			t.Errorf("%q: site %q %v, want %q", tt.in, site, ok, tt.site)
		}
		if again, err := origin.Parse(o.String()); err != nil || again != o {
			t.Errorf("%q: parsed again %q, %v", tt.in, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		in   string
		want error
	}{
		{"", origin.ErrScheme}, {"shop.example", origin.ErrScheme}, {"ftp://a.example", origin.ErrScheme},
		{"http://shop.example", origin.ErrScheme}, {"http://10.0.0.1", origin.ErrScheme},
		{"http://localhost.evil.example", origin.ErrScheme}, {"http\u017f://a.example", origin.ErrScheme}, {"javascript:1", origin.ErrScheme}, {" https://a.example", origin.ErrScheme},
		{"https:", origin.ErrHost}, {"https:/a.example", origin.ErrHost}, {"https://", origin.ErrHost}, {"https:///x", origin.ErrHost},
		{"https://a..example", origin.ErrHost}, {"https://a.example.", origin.ErrHost}, {"https://-a.example", origin.ErrHost},
		{"https://a_b.example", origin.ErrHost}, {"https://b\u00fccher.example", origin.ErrHost}, {"https://\u212a.example", origin.ErrHost}, {"https://a.example\\x", origin.ErrHost},
		{"https://a.ex ample", origin.ErrHost}, {"https://a.example\n", origin.ErrHost}, {"https://%61.example", origin.ErrHost},
		{"https://127.1", origin.ErrHost}, {"https://0x7f.0.0.1", origin.ErrHost}, {"https://2130706433", origin.ErrHost},
		{"https://127.0.0.0x1", origin.ErrHost}, {"https://0177.0.0.1", origin.ErrHost}, {"https://1.2.3.4.5", origin.ErrHost},
		{"https://[::ffff:127.0.0.1]", origin.ErrHost}, {"https://[fe80::1%25eth0]", origin.ErrHost}, {"https://[::1", origin.ErrHost},
		{"https://[127.0.0.1]", origin.ErrHost}, {"https://" + strings.Repeat("a", 64) + ".example", origin.ErrHost},
		{"https://a.example:", origin.ErrPort}, {"https://a.example:0", origin.ErrPort}, {"https://a.example:65536", origin.ErrPort},
		{"https://a.example:0443", origin.ErrPort}, {"https://a.example:+1", origin.ErrPort}, {"https://a:b:c", origin.ErrPort}, {"https://[::1]x", origin.ErrPort},
		{"https://u@a.example", origin.ErrUserinfo}, {"https://u:p@a.example", origin.ErrUserinfo}, {"https://a.example@evil.example/", origin.ErrUserinfo},
		{"https://a.example?x", origin.ErrQuery}, {"https://a.example/#f", origin.ErrQuery}, {"https://a.example/mcp?token=1", origin.ErrQuery},
		{"https://a.example//", origin.ErrPath}, {"https://a.example/a//b", origin.ErrPath}, {"https://a.example/./", origin.ErrPath},
		{"https://a.example/a/..", origin.ErrPath}, {"https://a.example/a/../b", origin.ErrPath}, {"https://a.example/%2e%2e/b", origin.ErrPath},
		{"https://a.example/a%2Fb", origin.ErrPath}, {"https://a.example/a%5cb", origin.ErrPath}, {"https://a.example/a%25", origin.ErrPath},
		{"https://a.example/%61", origin.ErrPath}, {"https://a.example/%0a", origin.ErrPath}, {"https://a.example/%", origin.ErrPath},
		{"https://a.example/%4", origin.ErrPath}, {"https://a.example/%zz", origin.ErrPath}, {"https://a.example/a b", origin.ErrPath},
		{"https://a.example/\u00e9", origin.ErrPath}, {"https://a.example/a\\b", origin.ErrPath}, {"https://a.example/\x00", origin.ErrPath},
		{"stdio:", origin.ErrName}, {"stdio:a b", origin.ErrName}, {"channel:\u202e", origin.ErrName}, {"stdio:" + strings.Repeat("a", 257), origin.ErrName},
		{"https://a.example/" + strings.Repeat("a", 1024), origin.ErrLong},
	}
	for _, tt := range tests {
		if o, err := origin.Parse(tt.in); !errors.Is(err, tt.want) || !o.IsZero() {
			t.Errorf("Parse(%q) = %q, %v; want %v", tt.in, o, err, tt.want)
		}
	}
}

func TestErrorsDoNotRepeatTheInput(t *testing.T) {
	_, err := origin.Parse("https://user:hunter2@a.example")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error is %v", err)
	}
}

func TestTextIsExact(t *testing.T) {
	var o origin.Origin
	for _, in := range []string{`"https://A.example"`, `"https://a.example/"`, `"https://a.example:443"`, `"https://a.example/%c3"`} {
		if err := json.Unmarshal([]byte(in), &o); !errors.Is(err, origin.ErrForm) || !o.IsZero() {
			t.Errorf("%s: %v, %v", in, o, err)
		}
	}
	if err := json.Unmarshal([]byte(`"https://a.example/mcp"`), &o); err != nil || o != origin.Must("https://a.example/mcp") {
		t.Errorf("got %v, %v", o, err)
	}
	if b, err := json.Marshal(origin.Origin{}); err == nil {
		t.Errorf("no origin marshalled to %s", b)
	}
}

func TestLoopbackAndHost(t *testing.T) {
	tests := []struct {
		in, host string
		loop     bool
	}{
		{"http://localhost:1", "localhost", true}, {"https://[::1]:9/x", "[::1]", true}, {"https://127.3.2.1", "127.3.2.1", true},
		{"https://a.example:9/x", "a.example", false}, {"stdio:a", "", false},
	}
	for _, tt := range tests {
		if o := origin.Must(tt.in); o.Host() != tt.host || o.Loopback() != tt.loop {
			t.Errorf("%s: host %q, loopback %v", tt.in, o.Host(), o.Loopback())
		}
	}
}

// Whatever is accepted has one form, and net/url reads the same place from it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"https://shop.example/mcp", "https://[2001:DB8::1]:8443/a%c3%a9", "http://127.0.0.1", "stdio:x", "channel:y",
		"https://a@b", "https://127.1", "https://a.example/%2e", "https://\u212a.example", "https://[::ffff:1.2.3.4]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := origin.Parse(s)
		if err != nil {
			if !o.IsZero() {
				t.Fatal("an origin came with an error")
			}
			return
		}
		again, err := origin.Parse(o.String())
		if err != nil || again != o {
			t.Fatalf("%q: %q parses to %q, %v", s, o, again, err)
		}
		site, ok := o.WebOrigin()
		if !ok {
			return
		}
		u, err := url.Parse(o.String())
		if err != nil {
			t.Fatalf("net/url refuses %q: %v", o, err)
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme+"://"+u.Host != site.String() {
			t.Fatalf("net/url reads %q as %q", o, u)
		}
		if u.EscapedPath() != strings.TrimPrefix(o.String(), site.String()) {
			t.Fatalf("net/url reads the path of %q as %q", o, u.EscapedPath())
		}
	})
}
