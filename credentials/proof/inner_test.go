package proof

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

var start = time.Unix(1_800_000_000, 0)

func jktOf(i int) credentials.KeyID { return credentials.KeyID(fmt.Sprintf("%043d", i)) }
func jtiOf(i int) credentials.TokenID {
	return credentials.TokenID(fmt.Sprintf("%016d", i))
}

func TestNormalise(t *testing.T) {
	for raw, want := range map[string]string{
		"https://reg.example":                      "https://reg.example/",
		"HTTPS://Reg.EXAMPLE:443/A":                "https://reg.example/A",
		"http://reg.example:80/":                   "http://reg.example/",
		"http://reg.example:443/":                  "http://reg.example:443/",
		"https://reg.example:/":                    "https://reg.example/",
		"https://[::1]:8443/x":                     "https://[::1]:8443/x",
		"https://reg.example/a/./b/../c":           "https://reg.example/a/c",
		"https://reg.example/%7Euser/%2e%2E/a%2fb": "https://reg.example/a%2Fb",
		"https://reg.example/..":                   "https://reg.example/",
		"https://reg.example/a/..":                 "https://reg.example/",
		"https://reg.example/a/.":                  "https://reg.example/a/",
		"https://reg.example//a":                   "https://reg.example//a",
		"https://reg.example/a?b":                  "",
		"https://reg.example/a?":                   "",
		"https://reg.example/a#":                   "",
		"https://u:p@reg.example/":                 "",
		"https:///a":                               "",
		"https:reg.example/a":                      "",
		"//reg.example/a":                          "",
		"/a":                                       "",
		"ftp://reg.example/":                       "",
		"https://reg.example/%zz":                  "",
		"https://reg.exa mple/":                    "",
		"https://rég.example/":                     "",
		"":                                         "",
	} {
		got, err := normalise(raw)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("normalise(%q) = %q, %v; want %q", raw, got, err, want)
		}
	}
}

func TestSameURL(t *testing.T) {
	b, err := base("https://Reg.example:443/p/")
	if err != nil || b != "https://reg.example/p" {
		t.Fatal(b, err)
	}
	for htu, want := range map[string]bool{
		"https://reg.example/p/v1/tools":       true,
		"HTTPS://REG.example:443/p/v1/%74ools": true,
		"https://reg.example/p/x/../v1/tools":  true,
		"https://reg.example/v1/tools":         false,
		"https://reg.example/p/v1/tools/":      false,
		"https://reg.example/P/v1/tools":       false,
		"http://reg.example/p/v1/tools":        false,
		"https://reg.example.evil/p/v1/tools":  false,
		"https://reg.example/p/v1%2Ftools":     false,
	} {
		if got := sameURL(htu, b, "/v1/tools"); got != want {
			t.Errorf("%s: %t", htu, got)
		}
	}
	if sameURL("https://reg.example/p/v1?x", b, "/v1?x") {
		t.Error("a query was compared")
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"https://reg.example/a/../%7e", "http://[::1]:80", "https://x/%2F..", "https://x//../.", "https://x/%25%32%65"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, err := normalise(s)
		if err != nil {
			return
		}
		twice, err := normalise(once)
		if err != nil || once != twice {
			t.Errorf("%q -> %q -> %q (%v)", s, once, twice, err)
		}
	})
}

func TestNonces(t *testing.T) {
	n, err := NewNonces("a", nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := NewNonces("a", nil)
	k := jktOf(1)
	mk := func(now time.Time) string {
		s, err := n.New(k, now)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := mk(start)
	if len(s) != 32 || !n.Check(k, s, start) {
		t.Error("fresh nonce refused")
	}
	for name, bad := range map[string]bool{
		"other key":     n.Check(jktOf(2), s, start),
		"other start":   other.Check(k, s, start),
		"empty":         n.Check(k, "", start),
		"cut":           n.Check(k, s[:31], start),
		"altered":       n.Check(k, "B"+s[1:], start),
		"not canonical": n.Check(k, s[:31]+"=", start),
	} {
		if bad {
			t.Errorf("%s: accepted", name)
		}
	}
	// Same secret, other replica.
	n.replica = "b"
	if n.Check(k, s, start) {
		t.Error("nonce of another replica accepted")
	}
	n.replica = "a"
	// Times only go on: a clock that is set back would end the secret.
	if !n.Check(k, s, start.Add(2*time.Minute)) {
		t.Error("nonce refused at the end of its life")
	}
	if n.Check(k, s, start.Add(2*time.Minute+time.Second)) {
		t.Error("nonce accepted after its life")
	}

	// Across the renewal of the secret: the previous one counts, no older.
	edge := start.Add(time.Hour - time.Second)
	s = mk(edge)
	if !n.Check(k, s, edge.Add(time.Minute)) {
		t.Error("nonce refused across the renewal")
	}
	first := n.prev
	if first == nil {
		t.Fatal("secret was not renewed")
	}
	mk(edge.Add(2 * time.Hour))
	mk(edge.Add(3*time.Hour + time.Minute))
	if string(n.prev) == string(first) || string(n.cur) == string(first) {
		t.Error("an old secret stays")
	}
	// After a long pause nothing of before counts.
	mk(edge.Add(24 * time.Hour))
	if n.prev != nil {
		t.Error("secret of before a long pause stays")
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v %s", n, n, n, n), fmt.Sprint(n.cur[:4])[1:8]) {
		t.Error("secret printed")
	}
	for _, o := range []*NonceOptions{{Life: time.Millisecond}, {Life: time.Hour, Rotate: time.Minute}} {
		if _, err := NewNonces("a", o); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
	broken, _ := NewNonces("a", &NonceOptions{Rand: strings.NewReader("")})
	if _, err := broken.New(k, start); err == nil || broken.Check(k, s, start) {
		t.Error("nonce without randomness")
	}
}

// TestClockBack: when our clock is set back, proofs that the replay set has
// forgotten at the later time do not become good again.
func TestClockBack(t *testing.T) {
	c, tok, q := prepared(t)
	if _, err := c.Check(tok, q); err != nil {
		t.Fatal(err)
	}
	later := q
	later.Now = start.Add(time.Hour)
	if err := c.replay.add(jktOf(9), jtiOf(9), later.Now, later.Now); err != nil { // another request drops what has ended
		t.Fatal(err)
	}
	if _, err := c.nonces.New(jktOf(9), later.Now); err != nil {
		t.Fatal(err)
	}
	if c.replay.Len() != 1 {
		t.Fatal("control: the proof is still remembered")
	}
	if _, err := c.Check(tok, q); !errors.Is(err, ErrUseNonce) {
		t.Errorf("after the clock was set back: %v", err)
	}
}

// prepared is a checker and a good proof at start.
func prepared(t testing.TB) (*Checker, string, Request) {
	t.Helper()
	n, err := NewNonces("a", nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewChecker("https://reg.example", n, NewReplay(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	k, err := envelope.NewKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	nonce, err := n.New(k.ID, start)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := Make(key, Params{Method: "GET", URL: "https://reg.example/v1/events", Op: EventsRead, Nonce: nonce, Now: start})
	if err != nil {
		t.Fatal(err)
	}
	return c, tok, Request{Method: "GET", URL: "/v1/events", Op: EventsRead, Now: start}
}

// TestOnceOnly: whatever iat the sender chose and whenever the proof comes,
// it is accepted once at most, while other traffic has the set forget what it
// may.
func TestOnceOnly(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	k, _ := envelope.NewKey(key.Public())
	const most = Window + credentials.Leeway
	for _, life := range []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute} {
		for off := -most; off <= most; off += 13 * time.Second {
			for first := time.Duration(0); first < 140*time.Second; first += 31 * time.Second {
				n, _ := NewNonces("a", &NonceOptions{Life: life})
				c, _ := NewChecker("https://reg.example", n, NewReplay(0, 0))
				nonce, _ := n.New(k.ID, start)
				tok, err := Make(key, Params{Method: "GET", URL: "https://reg.example/v1/events", Op: EventsRead, Nonce: nonce, Now: start.Add(off)})
				if err != nil {
					t.Fatal(err)
				}
				accepted := 0
				for at := first; at < first+200*time.Second; at += 29 * time.Second {
					now := start.Add(at)
					c.replay.mu.Lock()
					c.replay.drop(now)
					c.replay.mu.Unlock()
					if _, err := c.Check(tok, Request{Method: "GET", URL: "/v1/events", Op: EventsRead, Now: now}); err == nil {
						accepted++
					}
				}
				if accepted > 1 {
					t.Fatalf("life %v, iat %v, first sent at %v: accepted %d times", life, off, first, accepted)
				}
			}
		}
	}
}

// TestReplayLife: it covers every instant at which a proof could be accepted,
// and is computed from the limits alone.
func TestReplayLife(t *testing.T) {
	if got, want := replayLife(2*time.Minute), 2*Window+2*credentials.Leeway; got != want {
		t.Errorf("life %v, want %v", got, want)
	}
	if got := replayLife(10 * time.Minute); got < 10*time.Minute {
		t.Errorf("life %v is below that of a nonce", got)
	}
}

func TestReplaySet(t *testing.T) {
	r := NewReplay(10, 4)
	ends := start.Add(time.Minute)
	for i := range 4 {
		if err := r.add(jktOf(1), jtiOf(i), start, ends); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.add(jktOf(1), jtiOf(2), start, ends); err != ErrReplayed {
		t.Errorf("again: %v", err)
	}
	if err := r.add(jktOf(1), jtiOf(4), start, ends); err != ErrReplaySetFull {
		t.Errorf("key is full: %v", err)
	}
	if err := r.add(jktOf(2), jtiOf(2), start, ends); err != nil {
		t.Errorf("the same jti of another key: %v", err)
	}
	for i := range 5 {
		if err := r.add(jktOf(3+i), jtiOf(0), start, ends); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.add(jktOf(9), jtiOf(0), start, ends); err != ErrReplaySetFull {
		t.Errorf("set is full: %v", err)
	}
	if err := r.add(jktOf(2), jtiOf(2), start, ends); err != ErrReplayed {
		t.Errorf("a full set forgot: %v", err)
	}
	// At the last instant all are remembered, after it none.
	if err := r.add(jktOf(1), jtiOf(0), ends, ends); err != ErrReplayed {
		t.Errorf("at the end: %v", err)
	}
	if err := r.add(jktOf(1), jtiOf(0), ends.Add(1), ends.Add(time.Minute)); err != nil {
		t.Errorf("after the end: %v", err)
	}
	if r.Len() != 1 || len(r.count) != 1 {
		t.Errorf("%d entries, %d keys", r.Len(), len(r.count))
	}
}

// TestReplayBounded: a long run at the limit keeps the queue and the maps
// bounded.
func TestReplayBounded(t *testing.T) {
	r := NewReplay(1000, 1000)
	now := start
	for i := range 200_000 {
		now = now.Add(time.Millisecond)
		if err := r.add(jktOf(i%7), jtiOf(i), now, now.Add(500*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.seen) > 1000 || cap(r.queue) > 8192 || len(r.count) > 7 {
		t.Errorf("%d seen, queue of %d, %d keys", len(r.seen), cap(r.queue), len(r.count))
	}
}

// TestOnceAmongMany: of many copies that arrive at the same time one counts.
func TestOnceAmongMany(t *testing.T) {
	c, tok, q := prepared(t)
	var accepted atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, err := c.Check(tok, q); err == nil {
				accepted.Add(1)
			} else if !errors.Is(err, ErrReplayed) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := accepted.Load(); n != 1 {
		t.Errorf("accepted %d times", n)
	}
}

// TestUnsignedBody: a body that the rule has no place for is not let through
// unsigned.
func TestUnsignedBody(t *testing.T) {
	c, tok, q := prepared(t)
	q.Body = []byte("{}")
	if _, err := c.Check(tok, q); !errors.Is(err, ErrRequest) {
		t.Errorf("a body on a read: %v", err)
	}
}

// TestFullSetRefuses: no proof is accepted that cannot be remembered.
func TestFullSetRefuses(t *testing.T) {
	c, tok, q := prepared(t)
	c.replay = NewReplay(1, 1)
	if err := c.replay.add(jktOf(1), jtiOf(1), start, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Check(tok, q); !errors.Is(err, ErrReplaySetFull) || errors.Is(err, ErrProof) {
		t.Errorf("full set: %v", err)
	}
}

// FuzzCheck: no input panics, none that was not made by a key is confirmed.
func FuzzCheck(f *testing.F) {
	c, tok, q := prepared(f)
	parts := strings.Split(tok, ".")
	f.Add(tok)
	f.Add(parts[0] + "." + parts[1] + ".")
	f.Add(parts[0] + ".e30." + parts[2])
	f.Add("e30.e30.e30")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := c.Check(s, q)
		if err == nil && s != tok || err != nil && got.Jkt() != "" {
			t.Errorf("confirmed %q", s)
		}
	})
}

// FuzzParse: what is parsed is within its bounds and reads the same when
// written again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"jti":"0123456789abcdef","htm":"GET","htu":"https://x/","iat":1,"op":"events.read"}`))
	f.Add([]byte(`{"jti":"0123456789abcdef","iat":1e9}`))
	f.Add([]byte(`{"jti":"0123456789abcdef","iat":1,"iat":2}`))
	f.Add([]byte(`{"jti":"0123456789abcdef","ath":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parse(b)
		if err != nil {
			if !errors.Is(err, ErrClaims) && !errors.Is(err, ErrJTI) {
				t.Errorf("unnamed error %v", err)
			}
			return
		}
		if len(p.Jti) < 16 || len(p.Jti) > 64 {
			t.Errorf("jti of %d characters", len(p.Jti))
		}
	})
}
