package fetch_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/internal/fetch"
)

func Example() {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	}))
	defer srv.Close()

	_, err := fetch.New(nil).Get(context.Background(), srv.URL)
	fmt.Println(err)
	loose := fetch.New(&fetch.Options{RootCAs: pool(srv), AllowPrivate: fetch.Loopback()})
	doc, err := loose.Get(context.Background(), srv.URL, "application/json")
	fmt.Println(string(doc.Body), doc.MediaType, err)
	// Output:
	// host has no public address
	// {} application/json <nil>
}

// site is a TLS server on loopback and a fetcher that may reach it.
func site(t *testing.T, opt fetch.Options, h http.HandlerFunc) (*fetch.Fetcher, string) {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	t.Cleanup(srv.Close)
	opt.RootCAs, opt.AllowPrivate = pool(srv), fetch.Loopback()
	return fetch.New(&opt), srv.URL
}

// An answered is one way of answering, and what a fetch makes of it.
type answered struct {
	name string
	h    http.HandlerFunc
	want error
}

func answering(status int, ct, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if ct != "" {
			w.Header().Set("Content-Type", ct)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func hang(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(200)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	for range 64 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
}

func answers() []answered {
	return []answered{
		{"good", answering(200, "application/json; charset=utf-8", "{}"), nil},
		{"at the bound", answering(200, "application/json", strings.Repeat("a", fetch.MaxBytes)), nil},
		{"above the bound", answering(200, "application/json", strings.Repeat("a", fetch.MaxBytes+1)), fetch.ErrTooLarge},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, fetch.ErrRedirect},
		{"redirect without a place", answering(307, "application/json", "{}"), fetch.ErrRedirect},
		{"not modified", answering(304, "", ""), fetch.ErrRedirect},
		{"missing", answering(404, "application/json", "{}"), fetch.ErrMissing},
		{"gone", answering(410, "application/json", "{}"), fetch.ErrMissing},
		{"error", answering(500, "application/json", "{}"), fetch.ErrStatus},
		{"partial", answering(206, "application/json", "{}"), fetch.ErrStatus},
		{"no content", answering(204, "", ""), fetch.ErrStatus},
		{"html", answering(200, "text/html", "{}"), fetch.ErrType},
		{"no type", answering(200, "", "{}"), fetch.ErrType},
		{"broken type", answering(200, "application/json;;=", "{}"), fetch.ErrType},
		{"two types", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{"application/json", "text/html"}
		}, fetch.ErrType},
		{"gzip bomb", bomb, fetch.ErrEncoding},
		{"big header", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X", strings.Repeat("a", 64<<10))
		}, fetch.ErrUnreachable},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, fetch.ErrUnreachable},
		{"slow body", hang, fetch.ErrTimeout},
		{"slow head", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, fetch.ErrTimeout},
	}
}

func TestGet(t *testing.T) {
	for _, tt := range answers() {
		t.Run(tt.name, func(t *testing.T) {
			opt := fetch.Options{}
			if tt.want == fetch.ErrTimeout {
				opt.Timeout = 300 * time.Millisecond
			}
			f, url := site(t, opt, tt.h)
			doc, err := f.Get(t.Context(), url+"/x", "application/json")
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if (doc == nil) != (tt.want != nil) {
				t.Errorf("a document and an error: %v, %v", doc, err)
			}
			if err != nil && err.Error() != tt.want.Error() {
				t.Errorf("error says more than its name: %v", err)
			}
		})
	}
}

// All tests run with a proxy in the environment that leads nowhere: net/http
// reads these once per process.
func TestMain(m *testing.M) {
	for _, k := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		os.Setenv(k, "http://127.0.0.1:1")
	}
	os.Unsetenv("NO_PROXY")
	os.Unsetenv("no_proxy")
	os.Exit(m.Run())
}

func TestRequestCarriesNothing(t *testing.T) {
	var got atomic.Pointer[http.Request]
	f, url := site(t, fetch.Options{Resolver: resolver(t, "127.0.0.1")}, func(w http.ResponseWriter, r *http.Request) {
		got.Store(r)
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.Header().Set("Content-Type", "a/b")
	})
	url = strings.Replace(url, "127.0.0.1", "example.com", 1) // proxies are not asked for loopback
	for range 2 {
		if _, err := f.Get(t.Context(), url+"/p?q=1", "a/b", "c/d"); err != nil {
			t.Fatal(err)
		}
	}
	r := got.Load()
	if r.Method != "GET" || r.RequestURI != "/p?q=1" || r.Header.Get("Accept") != "a/b, c/d" ||
		r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("Cookie") != "" || r.Header.Get("Authorization") != "" {
		t.Errorf("request is %s %s %v", r.Method, r.RequestURI, r.Header)
	}
}

func TestURLs(t *testing.T) {
	f := fetch.New(&fetch.Options{AllowPrivate: fetch.Loopback()})
	for _, u := range []string{
		"", "http://127.0.0.1", "http://a.example", "ftp://a.example", "file:///etc/passwd", "https://u:p@a.example",
		"https://a.example/#x", "https://a.example/?a#x", "https://127.1/", "https://0x7f000001/", "stdio:x", "channel:y", "//a.example",
		"https://a.example/../x", "https://[fe80::1%25lo]/", "https://a.example:99999/", "gopher://a", "https://a.example/\r\nX: y",
	} {
		if _, err := f.Get(t.Context(), u); !errors.Is(err, fetch.ErrURL) {
			t.Errorf("%q: %v", u, err)
		}
	}
}

// Without AllowPrivate nothing on this machine hears of us, whatever it is called.
func TestPrivateTargetsAreNeverConnectedTo(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer srv.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "https://"), ":")
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "127.9.9.9", "0.0.0.0", "10.0.0.1", "192.168.0.1", "172.16.0.1", "169.254.169.254",
		"100.64.0.1", "224.0.0.1", "[fd00::1]", "[fe80::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[ff02::1]", "[::]",
	} {
		f := fetch.New(&fetch.Options{RootCAs: pool(srv)})
		_, err := f.Get(t.Context(), "https://"+host+":"+port+"/")
		if !errors.Is(err, fetch.ErrAddress) {
			t.Errorf("%s: %v, want %v", host, err, fetch.ErrAddress)
		}
	}
	if hits.Load() != 0 {
		t.Errorf("%d requests came through", hits.Load())
	}
}

// The check is at the connection, so a name whose address changes gains nothing.
func TestRebindingName(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hits.Add(1) }))
	defer srv.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "https://"), ":")
	// The first answer is an address that may be connected to (nothing listens
	// there), each later one is not.
	r := resolver(t, "127.0.0.2", "127.0.0.1")
	f := fetch.New(&fetch.Options{RootCAs: pool(srv), Resolver: r, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}})
	for i, want := range []error{fetch.ErrUnreachable, fetch.ErrAddress, fetch.ErrAddress} {
		if _, err := f.Get(t.Context(), "https://example.com:"+port+"/"); !errors.Is(err, want) {
			t.Errorf("fetch %d: %v, want %v", i, err, want)
		}
	}
	if hits.Load() != 0 {
		t.Error("a rebound name was connected to")
	}
	// The control: the same name through the same resolver, loopback allowed.
	f = fetch.New(&fetch.Options{RootCAs: pool(srv), Resolver: resolver(t, "127.0.0.1"), AllowPrivate: fetch.Loopback()})
	if _, err := f.Get(t.Context(), "https://example.com:"+port+"/"); err != nil || hits.Load() != 1 {
		t.Errorf("control: %v, %d hits", err, hits.Load())
	}
}

func TestCertificates(t *testing.T) {
	f, url := site(t, fetch.Options{}, func(http.ResponseWriter, *http.Request) {})
	if _, err := fetch.New(&fetch.Options{AllowPrivate: fetch.Loopback()}).Get(t.Context(), url); !errors.Is(err, fetch.ErrTLS) {
		t.Errorf("unknown CA: %v", err)
	}
	if _, err := f.Get(t.Context(), strings.Replace(url, "127.0.0.1", "localhost", 1)); !errors.Is(err, fetch.ErrTLS) {
		t.Errorf("wrong name: %v", err)
	}
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer plain.Close()
	_, err := fetch.New(&fetch.Options{AllowPrivate: fetch.Loopback()}).Get(t.Context(), strings.Replace(plain.URL, "http:", "https:", 1))
	if !errors.Is(err, fetch.ErrTLS) {
		t.Errorf("no TLS: %v", err)
	}
}

func TestLoopbackHTTPIsALoosening(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	for _, tt := range []struct {
		opt  fetch.Options
		url  string
		want error
	}{
		{fetch.Options{AllowPrivate: fetch.Loopback(), AllowLoopbackHTTP: true}, srv.URL, nil},
		{fetch.Options{AllowPrivate: fetch.Loopback()}, srv.URL, fetch.ErrURL},
		{fetch.Options{AllowLoopbackHTTP: true}, srv.URL, fetch.ErrAddress},
		{fetch.Options{AllowPrivate: fetch.Loopback(), AllowLoopbackHTTP: true}, "http://a.example", fetch.ErrURL},
		{fetch.Options{AllowLoopbackHTTP: true, AllowPrivate: fetch.Loopback()}, "http://10.0.0.1", fetch.ErrURL},
	} {
		if _, err := fetch.New(&tt.opt).Get(t.Context(), tt.url); !errors.Is(err, tt.want) {
			t.Errorf("%s %+v: %v, want %v", tt.url, tt.opt.AllowLoopbackHTTP, err, tt.want)
		}
	}
}

func TestCancelledFetchSaysSo(t *testing.T) {
	f, url := site(t, fetch.Options{}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Get(ctx, url); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestBoundsAreOnlyLowered(t *testing.T) {
	f, url := site(t, fetch.Options{MaxBytes: 1 << 30, Timeout: time.Hour}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, fetch.MaxBytes+1))
	})
	if _, err := f.Get(t.Context(), url); !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	f, url = site(t, fetch.Options{MaxBytes: 3}, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("four")) })
	if _, err := f.Get(t.Context(), url); !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}
