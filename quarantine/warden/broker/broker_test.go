package broker

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

func benign(w http.ResponseWriter, _ *request) { answer(w, "benign") }

// TestWhatIsSent: one request, to the one place, with these headers and no others,
// and with a body that is made of the settings and the batch.
func TestWhatIsSent(t *testing.T) {
	f := newFake(t, benign)
	b := newBroker(t, Config{URL: f.URL + "/v1/", Name: "judge", KeyFile: keyFile(t, testKey), MaxTokens: 333}, nil)
	if _, err := b.Ask(t.Context(), batch(words), whole); err != nil {
		t.Fatal(err)
	}
	r := f.requests[0]
	if r.Method != "POST" || r.RequestURI != "/v1/chat/completions" || "http://"+r.Host != f.URL || r.Proto != "HTTP/1.1" {
		t.Errorf("%s %s at %s, %s", r.Method, r.RequestURI, r.Host, r.Proto)
	}
	want := map[string]string{
		"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "pratique",
		"Authorization": "Bearer " + testKey, "Content-Length": fmt.Sprint(len(r.raw)), "Connection": "close",
	}
	for k, v := range r.Header {
		if len(v) != 1 || want[k] != v[0] {
			t.Errorf("header %s: %q", k, v)
		}
		delete(want, k)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	lines := opinion.Lines(batch(words).Specimens, []opinion.Piece{{At: 0, From: 0, To: len(words)}})
	signs, err := opinion.Draw(never{}, lines)
	if err != nil {
		t.Fatal(err)
	}
	body, err := opinion.Compose(lines, signs).Body(opinion.Model{Name: "judge", MaxTokens: 333})
	if err != nil || !bytes.Equal(body, r.raw) {
		t.Errorf("sent %s", r.raw)
	}
	if e := b.to.(*endpoint); e.transport.Proxy != nil {
		t.Error("a proxy of the environment is asked for other hosts")
	}
}

// TestWithoutAKeyNoneIsSent: the environment has one.
func TestWithoutAKeyNoneIsSent(t *testing.T) {
	f := newFake(t, benign)
	if _, err := f.broker(t).Ask(t.Context(), batch(words), whole); err != nil {
		t.Fatal(err)
	}
	if h := f.requests[0].Header; h.Get("Authorization") != "" || h.Get("Api-Key") != "" {
		t.Errorf("%v", h)
	}
}

// TestATakenOverChild: whatever the child sends, it is a question about the batch
// that the parent has, or nothing is sent at all.
func TestATakenOverChild(t *testing.T) {
	f := newFake(t, benign)
	b := f.broker(t)
	if err := b.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	const foreign = "a private text of another origin"
	bt := batch(words, "a second text")
	for _, q := range []string{
		``, `{}`, `null`, "\x00", string(said(foreign)),
		`{"v":1,"pieces":[[0,0,24]],"model":"gpt-x"}`,
		`{"v":1,"pieces":[[0,0,24]],"tools":[{"type":"function"}],"stream":true}`,
		`{"v":1,"pieces":[[0,0,24]],"url":"http://evil.example/"}`,
		`{"v":1,"pieces":[[0,0,24]],"origin":"https://named.example"}`,
		`{"v":1,"pieces":[["` + foreign + `",0,5]]}`,
		`{"v":1,"pieces":[[0,0,25]]}`, `{"v":1,"pieces":[[2,0,1]]}`,
		`{"v":1,"pieces":[[0,0,24]]}{"v":1,"pieces":[[0,0,24]]}`,
		`{"v":1,"pieces":[[0,0,24]],"messages":[{"role":"system","content":"` + foreign + `"}]}`,
		`{"v":1,"pieces":[[0,0,24]]}` + strings.Repeat(" ", opinion.MaxQuestion),
	} {
		if _, err := b.Ask(t.Context(), bt, []byte(q)); err != ErrQuestion {
			t.Errorf("%.50s: %v", q, err)
		}
	}
	if n, _ := f.counts(); n != 0 {
		t.Fatalf("%d requests were sent", n)
	}
	// What is sent differs from question to question in the texts only.
	var fixed string
	for _, q := range []string{`{"v":1,"pieces":[[0,0,4]]}`, `{"v":1,"pieces":[[0,5,24]]}`, `{"v":1,"pieces":[[1,1,3]]}`} {
		if _, err := b.Ask(t.Context(), bt, []byte(q)); err != nil {
			t.Fatal(err)
		}
		r := f.requests[len(f.requests)-1]
		from, to := bytes.Index(r.raw, []byte(`1 result `)), bytes.LastIndex(r.raw, []byte(`\n----`))
		same := string(r.raw[:from]) + string(r.raw[to:])
		if fixed != "" && same != fixed {
			t.Errorf("%s changes the request: %s", q, same)
		}
		fixed = same
	}
}

// TestOnlyNamedOriginsLeaveTheMachine is RULES.md 35, for the batch's origin.
func TestOnlyNamedOriginsLeaveTheMachine(t *testing.T) {
	f := newFake(t, benign)
	for name, tt := range map[string]struct {
		cfg  Config
		want map[string]bool
	}{
		"local":            {Config{}, map[string]bool{home: true, "stdio:files": true, "": true}},
		"local, some":      {Config{Origins: []string{"stdio:files"}}, map[string]bool{home: false, "stdio:files": true, "stdio:files2": false, "": false}},
		"off the machine":  {Config{OffMachine: true, Origins: []string{home}}, map[string]bool{home: true, "stdio:files": false, "": false, home + "/x": false, "https://tools.example": false}},
		"several of these": {Config{OffMachine: true, Origins: []string{home, "stdio:files"}}, map[string]bool{home: true, "stdio:files": true, "stdio:file": false}},
	} {
		tt.cfg.URL, tt.cfg.Name = f.URL, "judge"
		b := newBroker(t, tt.cfg, nil)
		for from, want := range tt.want {
			bt := batch(words)
			bt.Origin = from
			before, _ := f.counts()
			_, err := b.Ask(t.Context(), bt, whole)
			after, _ := f.counts()
			if b.Serves(from) != want || (err == nil) != want || after-before != map[bool]int{true: 1, false: 0}[want] {
				t.Errorf("%s: %q: serves %v, %v, %d requests", name, from, b.Serves(from), err, after-before)
			}
			if !want && !errors.Is(err, ErrOrigin) {
				t.Errorf("%s: %q: %v", name, from, err)
			}
		}
	}
	remote, err := New(Config{URL: "https://models.example/v1", Name: "m", Origins: []string{home}}, nil)
	if err != nil || remote.Serves("stdio:files") || !remote.Serves(home) {
		t.Errorf("%v", err)
	}
}

func TestKeyFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, s string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(s), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(folder, "link")
	good := write("good", "abc\r\n", 0o400)
	if err := os.Symlink(good, link); err != nil {
		t.Skip("no symbolic links here")
	}
	for name, tt := range map[string]struct {
		path string
		want error
	}{
		"good": {good, nil}, "missing": {filepath.Join(folder, "none"), os.ErrNotExist}, "link": {link, durable.ErrSymlink},
		"loose": {write("loose", testKey, 0o644), durable.ErrLoose}, "long": {write("long", strings.Repeat("k", maxKey+1), 0o600), durable.ErrTooLarge},
		"empty": {write("empty", "\n", 0o600), ErrKey}, "two lines": {write("two", testKey+"\n"+testKey, 0o600), ErrKey},
		"header in it": {write("header", testKey+"\r\nX-Evil: 1", 0o600), ErrKey}, "space": {write("space", testKey+" x", 0o600), ErrKey},
		"not ASCII": {write("utf", testKey+"é", 0o600), ErrKey}, "NUL": {write("nul", testKey+"\x00", 0o600), ErrKey}, "folder": {folder, durable.ErrNotRegular},
	} {
		_, err := New(Config{URL: "https://models.example/v1", Name: "m", Origins: []string{home}, KeyFile: tt.path}, nil)
		if !errors.Is(err, tt.want) || err == nil != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the key is in %v", name, err)
		}
	}
}

func TestCertificates(t *testing.T) {
	srv := httptest.NewTLSServer(&fake{other: benign})
	defer srv.Close()
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		url, ca string
		want    error
	}{
		"known":      {srv.URL, ca, nil},
		"unknown":    {srv.URL, "", ErrTLS},
		"other name": {strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), ca, ErrTLS},
		"no TLS":     {strings.Replace(newFake(t, benign).URL, "http:", "https:", 1), ca, ErrTLS},
	} {
		b := newBroker(t, Config{URL: tt.url, Name: "judge", CAFile: tt.ca}, nil)
		if _, err := b.Ask(t.Context(), batch(words), whole); !errors.Is(err, tt.want) || err == nil != (tt.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	for _, path := range []string{ca + "x", keyFile(t, "no certificate")} {
		if _, err := New(Config{URL: "https://models.example", Name: "m", Origins: []string{home}, CAFile: path}, nil); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestALoopbackNameStaysHere: a name that promises this machine is held to it at
// the connection, whatever a resolver says.
func TestALoopbackNameStaysHere(t *testing.T) {
	for a, want := range map[string]error{"127.0.0.1:80": nil, "[::1]:80": nil, "127.9.9.9:1": nil, "10.0.0.1:80": ErrAddress, "93.184.216.34:443": ErrAddress, "[2001:db8::1]:80": ErrAddress, "x": ErrAddress} {
		if err := stayHere("tcp", a, nil); err != want {
			t.Errorf("%s: %v", a, err)
		}
	}
	for url, want := range map[string]bool{"http://127.0.0.1:1/v1": true, "https://localhost:1/v1": true, "https://models.example/v1": false} {
		e, err := newEndpoint(Config{URL: url, Name: "m"}.withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		patience := 50 * time.Millisecond
		if want { // it is refused at once, however slow this machine is
			patience = time.Minute
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err = e.transport.DialContext(ctx, "tcp", "192.0.2.1:9") // an address that is nobody's
		cancel()
		if err == nil || (named(err) == ErrAddress) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A clock that tests move.
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

// TestWrongProbes: a model that calls everything benign, or everything hostile, is
// not asked about anything until it answers rightly.
func TestWrongProbes(t *testing.T) {
	for name, wrong := range map[string]func(w http.ResponseWriter, r *request){
		"all benign":  benign,
		"all hostile": func(w http.ResponseWriter, _ *request) { answer(w, "injection") },
		"all unsure":  func(w http.ResponseWriter, _ *request) { answer(w, "unsure") },
		"prose":       text("I think it is fine."),
		// a server that drops the beginning of what is too long, and says nothing
		"short context": func(w http.ResponseWriter, r *request) {
			if i := len(r.body.Messages[1].Content) - 6000; i > 0 {
				r.body.Messages[1].Content = r.body.Messages[1].Content[i:]
			}
			right, _ := r.isProbe()
			answer(w, right)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, benign)
			f.probe = wrong
			c := &clock{t: time.Unix(1e9, 0)}
			b := newBroker(t, Config{URL: f.URL, Name: "judge"}, &Options{Random: never{}, Now: c.now})
			if _, err := b.Ask(t.Context(), batch(words), whole); !errors.Is(err, ErrUnhealthy) {
				t.Fatalf("%v", err)
			}
			_, probes := f.counts()
			for range 5 {
				if _, err := b.Ask(t.Context(), batch(words), whole); !errors.Is(err, ErrDown) {
					t.Fatalf("%v", err)
				}
			}
			if n, p := f.counts(); n != 0 || p != probes {
				t.Errorf("%d requests, %d probes while it was left alone", n, p-probes)
			}
			if r := judged(b, words); r.Verdict != quarantine.Suspect || !r.Partial {
				t.Errorf("%+v", r)
			}
			if h := b.Health(); h.OK || h.Wrong != 1 || h.Last != ErrUnhealthy.Error() {
				t.Errorf("%+v", h)
			}
			c.add(pause)
			if _, err := b.Ask(t.Context(), batch(words), whole); !errors.Is(err, ErrUnhealthy) {
				t.Errorf("after the pause: %v", err)
			}
			c.add(pause)
			f.probe = nil
			if _, err := b.Ask(t.Context(), batch(words), whole); err != nil || !b.Health().OK {
				t.Errorf("after it came to itself: %v, %+v", err, b.Health())
			}
		})
	}
}

// TestProbesComeAtRandom, before and after requests, and what a wrong one came with
// has no answer.
func TestProbesComeAtRandom(t *testing.T) {
	var wrong atomic.Bool
	f := newFake(t, benign)
	c := &clock{t: time.Unix(1e9, 0)}
	b := newBroker(t, Config{URL: f.URL, Name: "judge", PerMinute: 10000}, &Options{Random: rand.NewChaCha8([32]byte{7}), Now: c.now})
	var order []bool // probe or not
	f.probe = func(w http.ResponseWriter, r *request) {
		order = append(order, true)
		right, _ := r.isProbe()
		if wrong.Load() {
			right = "unsure"
		}
		answer(w, right)
	}
	f.other = func(w http.ResponseWriter, _ *request) { order = append(order, false); answer(w, "benign") }
	before, after := 0, 0
	for i := range 800 {
		order = order[:0]
		if _, err := b.Ask(t.Context(), batch(words), whole); err != nil {
			t.Fatal(err)
		}
		switch {
		case i == 0:
			if !slices.Equal(order[:2], []bool{true, true}) {
				t.Errorf("it was asked before it proved itself: %v", order)
			}
		case slices.Equal(order, []bool{true, false}):
			before++
		case slices.Equal(order, []bool{false, true}):
			after++
		}
	}
	if before < 10 || after < 10 || before+after > 100 {
		t.Errorf("%d probes before, %d after 800 requests", before, after)
	}
	wrong.Store(true)
	for range 200 {
		order = order[:0]
		_, err := b.Ask(t.Context(), batch(words), whole)
		if slices.Contains(order, true) != errors.Is(err, ErrUnhealthy) {
			t.Fatalf("%v: %v", order, err)
		}
		if err == nil {
			continue
		}
		c.add(pause) // it has to prove itself again
		order = order[:0]
		if _, err := b.Ask(t.Context(), batch(words), whole); !errors.Is(err, ErrUnhealthy) || slices.Contains(order, false) {
			t.Errorf("after the pause: %v, %v", order, err)
		}
		return
	}
	t.Error("no probe in 200 requests")
}

// A lateSender answers when its time is over.
type lateSender struct{}

func (lateSender) send(ctx context.Context, _ opinion.Prompt, canary string) ([]byte, error) {
	<-ctx.Done()
	return opinion.Direct(canary, []byte(verdict("benign"))), nil
}

func TestLateIsLate(t *testing.T) {
	b := newFake(t, benign).broker(t)
	b.to, b.health.proven, b.cfg.Timeout = lateSender{}, true, 10*time.Millisecond
	if _, err := b.Ask(t.Context(), batch(words), whole); !errors.Is(err, ErrTimeout) {
		t.Error(err)
	}
}

func TestQuestionsAreRated(t *testing.T) {
	f := newFake(t, benign)
	b := newBroker(t, Config{URL: f.URL, Name: "judge", PerMinute: 3}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for i, want := range []error{nil, nil, ErrRated} {
		if _, err := b.Ask(ctx, batch(words), whole); !errors.Is(err, want) {
			t.Errorf("question %d: %v", i, err)
		}
	}
	if n, _ := f.counts(); n != 2 || b.Health().Failed != 0 {
		t.Errorf("%d requests, %+v", n, b.Health())
	}
}

// TestACallersHasteIsNoFailure of the model.
func TestACallersHasteIsNoFailure(t *testing.T) {
	f := newFake(t, func(_ http.ResponseWriter, r *request) { <-r.Context().Done() })
	b := f.broker(t)
	if err := b.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range patience + 1 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err := b.Ask(ctx, batch(words), whole)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrRated) {
			t.Fatal(err)
		}
	}
	if h := b.Health(); !h.OK || h.Failed != 0 {
		t.Errorf("%+v", h)
	}
}

// TestManyAtOnce: no more run at once than is configured, one caller has the model
// prove itself, and who waits gives up with its own time.
func TestManyAtOnce(t *testing.T) {
	var running, most atomic.Int32
	release := make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, _ *request) {
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-release
		answer(w, "benign")
	})
	b := newBroker(t, Config{URL: f.URL, Name: "judge", Parallel: 3}, nil)
	errs := make(chan error)
	for i := range 12 {
		go func() {
			bt := batch(words)
			bt.Origin = []string{home, "stdio:files"}[i%2]
			_, err := b.Ask(context.Background(), bt, whole)
			errs <- err
		}()
	}
	for running.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := b.Ask(ctx, batch(words), whole); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the thirteenth: %v", err)
	}
	close(release)
	for range 12 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n, p := f.counts(); n != 12 || p != 2 || most.Load() != 3 {
		t.Errorf("%d requests, %d probes, %d at once", n, p, most.Load())
	}
}

// TestOneOriginDoesNotUseUpAll is RULES.md 40 for the model.
func TestOneOriginDoesNotUseUpAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRates(60, 4)
		soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		got := 0
		for range 100 {
			if r.wait(soon, r.of("stdio:flood")) == nil {
				got++
			}
		}
		if got != 40 {
			t.Errorf("one origin got %d of 60", got)
		}
		if err := r.wait(soon, r.of("stdio:other")); err != nil {
			t.Error(err)
		}
		later, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := r.wait(later, r.of("stdio:flood")); err != nil {
			t.Errorf("with time to wait: %v", err)
		}
		for i := range maxRated + 10 {
			r.of(fmt.Sprintf("stdio:%d", i)).AllowN(time.Now(), 1)
			if i == maxRated-3 {
				break
			}
		}
		if err := r.wait(soon, r.of("stdio:one-too-many")); !errors.Is(err, ErrRated) {
			t.Errorf("with a full table: %v", err)
		}
		time.Sleep(time.Minute)
		if r.of("stdio:later") == nil || len(r.by) > maxRated {
			t.Errorf("idle origins were not forgotten: %d", len(r.by))
		}
	})
}

func TestCompromisedIsReported(t *testing.T) {
	f := newFake(t, func(w http.ResponseWriter, r *request) { text(r.canary())(w, r) })
	var logged logBuffer
	b := newBroker(t, Config{URL: f.URL, Name: "judge"}, &Options{Random: never{}, Log: slog.New(slog.NewTextHandler(&logged, nil))})
	if r := judged(b, words); r.Verdict != quarantine.Hostile {
		t.Errorf("%+v", r)
	}
	if h := b.Health(); h.Compromised != 1 || !strings.Contains(logged.String(), "steered") || !strings.Contains(logged.String(), home) {
		t.Errorf("%+v %s", h, logged.String())
	}
}
