package client_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

func newLabels(t testing.TB, f *fake, edit func(*client.LabelOptions, *client.Trust)) *client.Labels {
	t.Helper()
	o := client.LabelOptions{KeysOptions: client.KeysOptions{Network: f.network()}}
	tr := client.Trust{Roots: []credentials.KeyID{f.root()}}
	if edit != nil {
		edit(&o, &tr)
	}
	l, err := client.NewLabels(fakeURL, tr, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// What is about to be shown is held against every member of the label (RULES.md
// 22); the digest is computed anew.
func TestLabelIsOfWhatIsShown(t *testing.T) {
	f := newFake(t, time.Now)
	l := newLabels(t, f, nil)
	tok := f.labelOf(nil)
	other, err := origin.Parse("https://evil.example")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(*labels.Shown)
		want error
	}{
		{"as registered", func(*labels.Shown) {}, nil},
		{"spelled otherwise", func(w *labels.Shown) {
			w.Metadata = []byte(`{ "description": "Pays.", "name":"pay", "inputSchema" : {"type":"object"} }`)
		}, nil},
		{"one letter more", func(w *labels.Shown) { w.Metadata = []byte(strings.Replace(metaPay, "Pays", "Pays!", 1)) }, labels.ErrOtherMetadata},
		{"a member more", func(w *labels.Shown) { w.Metadata = []byte(strings.Replace(metaPay, `{"name"`, `{"x":1,"name"`, 1)) }, labels.ErrOtherMetadata},
		{"another tool", func(w *labels.Shown) { w.Tool = toolOther }, labels.ErrOtherTool},
		{"another origin", func(w *labels.Shown) { w.Origin = other }, labels.ErrOtherOrigin},
		{"another name", func(w *labels.Shown) { w.Name = "pay2" }, labels.ErrOtherName},
		{"another generation", func(w *labels.Shown) { w.Gen = 2 }, labels.ErrOtherGeneration},
		{"another version", func(w *labels.Shown) { w.Ver = 9 }, labels.ErrOtherVersion},
		{"another owner", func(w *labels.Shown) { w.Owner = keyOf(t, "other").ID }, labels.ErrOtherOwner},
		{"another registry's", func(w *labels.Shown) { w.Issuer = "https://other.example" }, credentials.ErrIssuer},
		{"a later one was seen", func(w *labels.Shown) { w.MinSeq = 11 }, labels.ErrOldSeq},
		{"nothing said of the origin", func(w *labels.Shown) { w.Origin = origin.Origin{} }, labels.ErrShown},
	} {
		for range 2 { // cold and from the cache
			w := shownPay(t)
			c.edit(&w)
			v, err := l.Verify(t.Context(), tok, w)
			if !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			}
			if err != nil && v.Tool() != "" || err == nil && v.Tier() != labels.Yellow {
				t.Errorf("%s: verified %v", c.name, v.Tier())
			}
		}
	}
}

// The highest seq of a tool's labels is kept, across restarts too, and less is
// refused (RULES.md 24).
func TestLowerSeqIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		state := client.FileState(filepath.Join(t.TempDir(), "state.json"))
		durable := func(_ *client.LabelOptions, tr *client.Trust) { tr.State = state }
		l := newLabels(t, f, durable)
		old := f.labelOf(nil)
		f.set(func() { f.seq = 12 })
		newer := f.labelOf(func(s *labels.Statement) { s.Content = labels.Suspect })
		for _, c := range []struct {
			tok  string
			want error
		}{{old, nil}, {newer, nil}, {old, labels.ErrOldSeq}, {newer, nil}} {
			if _, err := l.Verify(t.Context(), c.tok, shownPay(t)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		}
		// A label that is refused as not of what is shown is the registry's all
		// the same.
		f.set(func() { f.seq = 20 })
		moved := f.labelOf(func(s *labels.Statement) { s.Ver, s.Mdg = 2, credentials.Digest{1} })
		if _, err := l.Verify(t.Context(), moved, shownPay(t)); !errors.Is(err, labels.ErrOtherMetadata) {
			t.Error(err)
		}
		if _, err := l.Verify(t.Context(), newer, shownPay(t)); !errors.Is(err, labels.ErrOldSeq) {
			t.Errorf("after a newer version's label: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = newLabels(t, f, durable)
		defer l.Close()
		if _, err := l.Verify(t.Context(), newer, shownPay(t)); !errors.Is(err, labels.ErrOldSeq) {
			t.Errorf("after a restart: %v", err)
		}
	})
}

// A label that was lowered is refused with the next statement of freshness; a
// list that cannot be had leaves the older one in use until the bound.
func TestLoweredLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		l := newLabels(t, f, nil)
		defer l.Close()
		tok := f.labelOf(nil)
		verify := func(when string, want error) {
			t.Helper()
			if _, err := l.Verify(t.Context(), tok, shownPay(t)); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", when, err, want)
			}
		}
		next := func() { // the refresh that this request sets off, and its end
			time.Sleep(client.DefaultRefresh)
			_, _ = l.Verify(t.Context(), tok, shownPay(t))
			synctest.Wait()
		}
		verify("nothing lowered", nil)
		if f.lowGets.Load() != 0 {
			t.Error("an empty list was fetched")
		}
		f.set(func() {
			f.seq, f.lowered = 11, labels.NewLowered([]labels.Lower{labels.Fell(toolOther, 11, f.now())}, f.now())
		})
		next()
		verify("another tool was lowered", nil)
		if n := f.lowGets.Load(); n != 1 {
			t.Errorf("list fetched %d times", n)
		}
		next()
		verify("no change", nil)
		if n := f.lowGets.Load(); n != 1 {
			t.Errorf("list fetched %d times without a change", n)
		}
		f.set(func() {
			f.seq, f.lowered = 12, labels.NewLowered([]labels.Lower{labels.Fell(toolPay, 12, f.now())}, f.now())
		})
		next()
		verify("lowered", labels.ErrLowered)
		f.set(func() { f.seq = 13 })
		tok = f.labelOf(nil)
		verify("labelled anew", nil)
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		l := newLabels(t, f, nil)
		defer l.Close()
		tok, red := f.labelOf(nil), f.labelOf(func(s *labels.Statement) { s.Tier, s.Standing = labels.Red, labels.Vetoed })
		if _, err := l.Verify(t.Context(), tok, shownPay(t)); err != nil {
			t.Fatal(err)
		}
		// From now on the statement of freshness names a list that is never served.
		f.set(func() {
			f.jwks = func(w http.ResponseWriter, _ *http.Request) {
				doc, err := f.ring.Document(f.now(), keyring.Inputs{Lowered: credentials.Digest{9}, Seq: 10})
				if err != nil {
					t.Error(err)
				}
				w.Header().Set("Content-Type", "application/json")
				w.Write(doc)
			}
		})
		for range 14 {
			time.Sleep(time.Minute)
			if _, err := l.Verify(t.Context(), tok, shownPay(t)); err != nil {
				t.Fatalf("within the bound: %v", err)
			}
		}
		time.Sleep(2 * time.Minute)
		if _, err := l.Verify(t.Context(), tok, shownPay(t)); !errors.Is(err, labels.ErrStale) {
			t.Errorf("after the bound: got %v, want %v", err, labels.ErrStale)
		}
		if v, err := l.Verify(t.Context(), red, shownPay(t)); err != nil || v.Tier() != labels.Red {
			t.Errorf("a Red label needs no freshness: %v", err)
		}
	})
}

// Label asks the registry once, and again when the answer does not fit any more
// or half of its life is over.
func TestLabelByTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		l := newLabels(t, f, nil)
		defer l.Close()
		if _, err := l.Label(t.Context(), shownPay(t)); !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("no label: %v", err)
		}
		gets := f.labGets.Load()
		serve := func(edit func(*labels.Statement)) {
			tok := f.labelOf(edit)
			f.set(func() { f.label[toolPay] = tok })
		}
		serve(nil)
		for range 100 {
			if v, err := l.Label(t.Context(), shownPay(t)); err != nil || v.Tier() != labels.Yellow {
				t.Fatal(err)
			}
		}
		if n := f.labGets.Load() - gets; n != 1 {
			t.Errorf("%d fetches for 100 requests", n)
		}
		// The tool was overwritten; the runtime is about to show the new text.
		w := shownPay(t)
		w.Metadata = []byte(strings.Replace(metaPay, "Pays", "Pays twice", 1))
		_, d, _ := canon.Metadata(w.Metadata)
		f.set(func() { f.seq++ })
		serve(func(s *labels.Statement) { s.Mdg, s.Ver = d, 2 })
		time.Sleep(5 * time.Second)
		if v, err := l.Label(t.Context(), w); err != nil || v.Statement().Ver != 2 {
			t.Errorf("after an overwrite: %v", err)
		}
		// Whoever goes on showing the old text cannot have the registry asked
		// without end.
		gets = f.labGets.Load()
		for range 100 {
			if _, err := l.Label(t.Context(), shownPay(t)); !errors.Is(err, labels.ErrOtherMetadata) {
				t.Fatalf("old text: %v", err)
			}
		}
		if n := f.labGets.Load() - gets; n > 1 {
			t.Errorf("%d fetches for 100 misfits", n)
		}
		time.Sleep(6*time.Hour + time.Minute)
		gets = f.labGets.Load()
		serve(func(s *labels.Statement) { s.Mdg, s.Ver = d, 2 })
		if _, err := l.Label(t.Context(), w); err != nil || f.labGets.Load() != gets+1 {
			t.Errorf("at half life: %v, %d fetches", err, f.labGets.Load()-gets)
		}
	})
}

func TestFindByDigest(t *testing.T) {
	f := newFake(t, time.Now)
	l := newLabels(t, f, nil)
	evil, err := origin.Parse("https://evil.example")
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := f.labelOf(nil), f.labelOf(func(s *labels.Statement) { s.Sub, s.Org = toolOther, evil })
	f.acts = func(w http.ResponseWriter, r *http.Request, _ []byte) {
		if r.URL.Path != "/v1/labels" || !strings.HasPrefix(r.URL.Query().Get("digest"), "sha-256:") {
			problem.New(404, "not_found", "no such path").Write(w)
			return
		}
		answer(w, 200, registry.LabelList{Labels: []registry.LabelView{{Label: theirs}, {Label: mine}, {Label: "junk"}}})
	}
	w := shownPay(t)
	w.Tool = ""
	v, err := l.Find(t.Context(), w)
	if err != nil || v.Tool() != toolPay {
		t.Errorf("got %v, %v", v.Tool(), err)
	}
	f.acts = func(rw http.ResponseWriter, _ *http.Request, _ []byte) { answer(rw, 200, registry.LabelList{}) }
	if _, err := l.Find(t.Context(), w); !errors.Is(err, client.ErrNoLabel) {
		t.Errorf("none: %v", err)
	}
}

// An emergency revocation of the label key reaches the cache of verified labels.
func TestRevokedLabelKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		l := newLabels(t, f, nil)
		defer l.Close()
		tok := f.labelOf(nil)
		if _, err := l.Verify(t.Context(), tok, shownPay(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ring.Revoke(f.activeKid(credentials.RoleLabel), "leaked"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(client.DefaultRefresh)
		_, _ = l.Verify(t.Context(), tok, shownPay(t))
		synctest.Wait()
		for range 3 { // refreshes that change nothing bring nothing back
			if _, err := l.Verify(t.Context(), tok, shownPay(t)); !errors.Is(err, envelope.ErrRevokedKey) {
				t.Errorf("got %v, want %v", err, envelope.ErrRevokedKey)
			}
			time.Sleep(client.DefaultRefresh)
			_, _ = l.Verify(t.Context(), tok, shownPay(t))
			synctest.Wait()
		}
		if _, err := l.Verify(t.Context(), f.labelOf(nil), shownPay(t)); err != nil {
			t.Errorf("by the successor: %v", err)
		}
	})
}

// Follow drops labels that changed, resumes where it broke off, and takes a
// silent stream for dead.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		l := newLabels(t, f, nil)
		defer l.Close()
		tok := f.labelOf(nil)
		f.label[toolPay] = tok
		if _, err := l.Label(t.Context(), shownPay(t)); err != nil {
			t.Fatal(err)
		}
		var seen []registry.LabelChange
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Follow(ctx, func(c registry.LabelChange) { seen = append(seen, c) }) }()
		synctest.Wait()
		send := func(text string) {
			select {
			case f.changes <- text:
			case <-time.After(10 * time.Minute):
				t.Error("nobody follows")
			}
			synctest.Wait()
		}
		send("event: later\ndata: {\"what\":1}\n\n: comment\n\n") // of a later version
		send("event: label\nid: 11\ndata: {\"tool\":\"" + string(toolPay) + "\",\"seq\":11,\"tier\":\"red\",\"status\":\"live\",\"withdrawn\":[\"r1\"]}\n\n")
		if len(seen) != 1 || seen[0].Tool != toolPay || seen[0].Tier != "red" || len(seen[0].Withdrawn) != 1 {
			t.Fatalf("seen: %+v", seen)
		}
		if _, err := l.Verify(t.Context(), tok, shownPay(t)); !errors.Is(err, labels.ErrOldSeq) {
			t.Errorf("a label that fell: %v", err)
		}
		gets := f.labGets.Load()
		f.set(func() { f.seq = 11 })
		fallen := f.labelOf(func(s *labels.Statement) { s.Tier, s.Content = labels.Red, labels.Violated })
		f.set(func() { f.label[toolPay] = fallen })
		if v, err := l.Label(t.Context(), shownPay(t)); err != nil || v.Tier() != labels.Red || f.labGets.Load() != gets+1 {
			t.Errorf("asked anew: %v, %v", v.Tier(), err)
		}
		send("") // the server ends it
		time.Sleep(2 * time.Second)
		synctest.Wait()
		send("data: garbage\n\n") // nothing of it may be guessed
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		f.mu.Lock()
		opened := len(f.streams)
		f.mu.Unlock()
		time.Sleep(client.StreamSilence + 2*time.Minute) // silence
		synctest.Wait()
		f.mu.Lock()
		streams := f.streams
		f.mu.Unlock()
		if len(streams) <= opened {
			t.Errorf("a silent stream was not opened anew: %q", streams)
		}
		for i, id := range streams[1:] {
			if id != "11" {
				t.Errorf("stream %d resumes at %q", i+1, id)
			}
		}
		send("event: reset\nid: 40\ndata: {}\n\n")
		gets = f.labGets.Load()
		if _, err := l.Label(t.Context(), shownPay(t)); err != nil || f.labGets.Load() != gets+1 {
			t.Errorf("after a reset: %v", err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Follow: %v", err)
		}
	})
}
