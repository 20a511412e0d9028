package fetch_test

import (
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"context"

	"github.com/pratique-dev/pratique/internal/fetch"
)

var quiet = log.New(io.Discard, "", 0)

func pool(srv *httptest.Server) *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(srv.Certificate())
	return p
}

type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func TestRatedPerHost(t *testing.T) {
	c := &clock{t: time.Unix(1e9, 0)}
	f, url := site(t, fetch.Options{Every: time.Minute, Burst: 2, Now: c.now}, func(http.ResponseWriter, *http.Request) {})
	get := func(u string) error {
		_, err := f.Get(t.Context(), u)
		return err
	}
	for i, want := range []error{nil, nil, fetch.ErrRated, fetch.ErrRated} {
		if err := get(url); !errors.Is(err, want) {
			t.Errorf("fetch %d: %v, want %v", i, err, want)
		}
	}
	c.add(time.Minute)
	for i, want := range []error{nil, fetch.ErrRated} {
		if err := get(url); !errors.Is(err, want) {
			t.Errorf("a minute later, fetch %d: %v, want %v", i, err, want)
		}
	}
}

// Many names for one address share the address's rate.
func TestRatedPerAddress(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "https://"), ":")
	c := &clock{t: time.Unix(1e9, 0)}
	f := fetch.New(&fetch.Options{
		RootCAs: pool(srv), AllowPrivate: fetch.Loopback(), Resolver: resolver(t, "127.0.0.1"), Burst: 2, Now: c.now,
	})
	var rated int
	for _, h := range []string{"a.example", "b.example", "c.example", "d.example", "e.example"} {
		if _, err := f.Get(t.Context(), "https://"+h+":"+port); errors.Is(err, fetch.ErrRated) {
			rated++
		}
	}
	if rated != 3 {
		t.Errorf("%d of 5 names for one address were rated, want 3", rated)
	}
}

func TestRateTableIsBounded(t *testing.T) {
	c := &clock{t: time.Unix(1e9, 0)}
	f := fetch.New(&fetch.Options{Burst: 1, Now: c.now, Resolver: resolver(t)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the rate is taken before anything else happens
	var err error
	for i := 0; i < 10000 && !errors.Is(err, fetch.ErrRated); i++ {
		_, err = f.Get(ctx, "https://h"+string(rune('a'+i%26))+netip.AddrFrom4([4]byte{0, 0, byte(i >> 8), byte(i)}).String()+".example")
	}
	if !errors.Is(err, fetch.ErrRated) {
		t.Fatal("10,000 hosts at once were all let through")
	}
	c.add(time.Hour)
	if _, err = f.Get(ctx, "https://later.example"); errors.Is(err, fetch.ErrRated) {
		t.Error("idle hosts were not forgotten")
	}
}

func TestPublic(t *testing.T) {
	for s, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true, "172.32.0.0": true,
		"2606:4700::1111": true, "2a00:1450::1": true, "2001:4860:4860::8888": true, "223.255.255.255": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "100.64.0.0": false, "100.100.100.200": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.255.255": false, "168.63.129.16": false, "169.254.169.254": false, "172.16.0.0": false,
		"172.31.255.255": false, "192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false,
		"198.18.0.1": false, "198.19.255.255": false, "198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false,
		"239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:8.8.8.8": false, "::ffff:127.0.0.1": false, "::8.8.8.8": false, "64:ff9b::808:808": false,
		"64:ff9b:1::1": false, "100::1": false, "2001::1": false, "2001:2::1": false, "2001:20::1": false, "2001:1ff::1": false,
		"2001:db8::1": false, "2002:808:808::1": false, "3fff::1": false, "3fff:fff::1": false, "fc00::1": false, "fd00:ec2::254": false,
		"fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "ff02::1": false, "4000::1": false, "5f00::1": false, "2606:4700::1%a": false,
	} {
		if got := fetch.Public(netip.MustParseAddr(s)); got != want {
			t.Errorf("Public(%s) = %v", s, got)
		}
	}
	if fetch.Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// resolver answers each query for an A record with the next of addrs, the last
// one for ever; other queries and no addrs get an empty answer.
func resolver(t *testing.T, addrs ...string) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = pc.WriteTo(answer(buf[:n], &addrs), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

// answer is a DNS answer (RFC 1035 section 4) to the one question in q.
func answer(q []byte, addrs *[]string) []byte {
	end := 12
	for q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5
	out := append([]byte(nil), q[:end]...)
	out[2], out[3] = 0x81, 0x80 // answer, recursion available
	clear(out[6:12])            // no records yet
	if a := *addrs; len(a) > 0 && binary.BigEndian.Uint16(q[end-4:]) == 1 {
		ip := netip.MustParseAddr(a[0]).As4()
		if len(a) > 1 {
			*addrs = a[1:]
		}
		out[7] = 1
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		out = append(out, ip[:]...)
	}
	return out
}
