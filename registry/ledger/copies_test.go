package ledger

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// bucket keeps what is PUT and gives it to GET, as an object store does.
type bucket struct {
	mu   sync.Mutex
	data []byte
	fail int // status of the next PUTs
	puts int
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case r.Method == http.MethodPut && b.fail != 0:
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(b.fail)
	case r.Method == http.MethodPut:
		b.data, _ = io.ReadAll(r.Body)
		b.puts++
		w.WriteHeader(http.StatusCreated)
	case b.data == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Write(b.data)
	}
}

// TestCopies publishes to a file and a URL: only ever forward, and what is
// damaged or unreachable is named instead of skipped (RULES.md 28).
func TestCopies(t *testing.T) {
	s := testSigner(t, 1)
	policy := mustPolicy(t, s.VerifierKeys()...)
	b := &bucket{}
	srv := httptest.NewServer(b)
	defer srv.Close()
	path := filepath.Join(t.TempDir(), "checkpoint")
	c := &Copies{Files: []string{path}, URLs: []string{srv.URL + "/cp"}}
	if known, err := c.Known(t.Context(), policy); err != nil || len(known) != 0 {
		t.Fatalf("before the first: %v %v", known, err)
	}
	n5, _ := s.Sign(testHead(5))
	n6, _ := s.Sign(testHead(6))
	x6, _ := s.Sign(Head{6, Hash{1}})
	for i, step := range []struct {
		raw  []byte
		want error
	}{{n5, nil}, {n5, nil}, {n6, nil}, {n5, ErrRollback}, {x6, ErrFork}, {[]byte("x"), ErrNote}} {
		if err := c.Publish(t.Context(), step.raw); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
	}
	known, err := c.Known(t.Context(), policy)
	if err != nil || len(known) != 2 || known[0].Head != testHead(6) || known[1].Head != testHead(6) {
		t.Fatalf("%v %v", known, err)
	}
	for _, status := range []int{500, 302, 404} {
		b.fail = status
		if err := c.Publish(t.Context(), n6); !errors.Is(err, ErrAnswer) {
			t.Errorf("status %d: %v", status, err)
		}
	}
	b.fail = 0
	if err := os.WriteFile(path, n6[:30], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Known(t.Context(), policy); !errors.Is(err, ErrNote) {
		t.Errorf("damaged file: %v", err)
	}
	if err := c.Publish(t.Context(), n6); !errors.Is(err, ErrNote) {
		t.Errorf("publishing over a damaged file: %v", err)
	}
	foreign, _ := testSigner(t, 9).Sign(testHead(9))
	b.data = foreign
	c.Files = nil
	if _, err := c.Known(t.Context(), policy); !errors.Is(err, ErrSignature) {
		t.Errorf("copy that we did not sign: %v", err)
	}
	srv.Close()
	if _, err := c.Known(t.Context(), policy); err == nil {
		t.Error("an unreachable place passed")
	}
}

// TestCheckKnown: a shorter or inconsistent log stops the start (RULES.md 28).
func TestCheckKnown(t *testing.T) {
	m, tree := filled(t, 600, nil)
	tiles := NewTiles(m, nil)
	at := func(n int) Checkpoint { return Checkpoint{Head: treeOf(m, n).Head()} }
	wrong := Checkpoint{Head: Head{300, Hash{1}}}
	for name, tc := range map[string]struct {
		head  Head
		known []Checkpoint
		want  error
	}{
		"nothing known":      {tree.Head(), nil, nil},
		"same":               {tree.Head(), []Checkpoint{at(600)}, nil},
		"older":              {tree.Head(), []Checkpoint{at(0), at(1), at(300)}, nil},
		"shorter log":        {treeOf(m, 599).Head(), []Checkpoint{at(1), at(600)}, ErrRollback},
		"emptied log":        {EmptyHead(), []Checkpoint{at(1)}, ErrRollback},
		"inconsistent":       {tree.Head(), []Checkpoint{at(5), wrong}, ErrFork},
		"head row differs":   {Head{600, Hash{2}}, []Checkpoint{at(600)}, ErrFork},
		"table is too short": {Head{700, Hash{}}, []Checkpoint{{Head: Head{650, Hash{}}}}, ErrShort},
	} {
		if err := CheckKnown(t.Context(), tiles, tc.head, tc.known...); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// TestPublisher runs in a synthetic time: the newest offer wins, a failure is
// reported and repeated, a stop copies what was offered last.
func TestPublisher(t *testing.T) {
	s := testSigner(t, 1)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "later", "checkpoint") // the folder is not there yet
		var failures atomic.Int64
		p := NewPublisher(&Copies{Files: []string{path}}, time.Second, func(error) { failures.Add(1) })
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { p.Run(ctx); close(done) }()
		for i := range 4 {
			raw, _ := s.Sign(testHead(i + 1))
			p.Offer(raw)
		}
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		if n := failures.Load(); n != 3 {
			t.Errorf("%d failures in 2.5 s", n)
		}
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		want, _ := s.Sign(testHead(4))
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("copy %q %v", got, err)
		}
		last, _ := s.Sign(testHead(9))
		p.Offer(last)
		stop()
		<-done
		if got, _ := os.ReadFile(path); !bytes.Equal(got, last) {
			t.Errorf("after the stop %q", got)
		}
	})
}
