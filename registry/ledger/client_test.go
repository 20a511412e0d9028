package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// liveLog is a log in memory that is served and can grow.
type liveLog struct {
	*memLog
	tree  *Tree
	s     *Signer
	board *Board
	url   string
	hits  atomic.Int64
}

func live(t testing.TB, n int) *liveLog {
	l := &liveLog{memLog: newMemLog(), tree: &Tree{}, s: testSigner(t, 1), board: &Board{}}
	h := NewHandler(NewTiles(l.memLog, nil), l.board, l.s.VerifierKeys)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.hits.Add(1)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	l.url = srv.URL + "/ledger/"
	l.grow(t, n)
	return l
}

// grow appends n entries and publishes the checkpoint.
func (l *liveLog) grow(t testing.TB, n int) Checkpoint {
	t.Helper()
	es := make([][]byte, n)
	for i := range es {
		es[i] = fmt.Appendf(nil, "entry %d", l.tree.Size()+uint64(i))
	}
	l.add(t, l.tree, l.s, es...)
	raw := l.notes[len(l.notes)-1].note
	if err := l.board.Publish(raw); err != nil {
		t.Fatal(err)
	}
	cp, err := mustPolicy(t, l.s.VerifierKeys()...).Open(raw)
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

func (l *liveLog) client(t testing.TB) *Client {
	t.Helper()
	c, err := NewClient(l.url, mustPolicy(t, l.s.VerifierKeys()...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClientAnyTwoCheckpoints checks consistency between any two of many
// checkpoints, both ways, and entries against each (Show 6).
func TestClientAnyTwoCheckpoints(t *testing.T) {
	rng := newRand(t)
	l := live(t, 0)
	c := l.client(t)
	cps := []Checkpoint{l.grow(t, 0)}
	for range 24 {
		cps = append(cps, l.grow(t, 1+rng.IntN(400)))
	}
	for i, a := range cps {
		for j, b := range cps {
			err := c.Consistency(t.Context(), a, b)
			if a.Size <= b.Size && err != nil || a.Size > b.Size && !errors.Is(err, ErrRollback) {
				t.Fatalf("from %d (%d) to %d (%d): %v", a.Size, i, b.Size, j, err)
			}
		}
		bad := a
		bad.Root[5] ^= 1
		if err := c.Consistency(t.Context(), bad, cps[24]); !errors.Is(err, ErrFork) {
			t.Fatalf("changed root of %d: %v", a.Size, err)
		}
		if a.Size == 0 {
			continue
		}
		k := rng.Uint64N(a.Size)
		if err := c.Inclusion(t.Context(), k, l.rows[k].data, a); err != nil {
			t.Fatal(err)
		}
		if err := c.Inclusion(t.Context(), k, []byte("other"), a); !errors.Is(err, ErrProof) {
			t.Fatalf("another entry: %v", err)
		}
		es, err := c.Entries(t.Context(), k, 10, a)
		if err != nil || len(es) == 0 {
			t.Fatal(err)
		}
		for m, e := range es {
			if !bytes.Equal(e, l.rows[k+uint64(m)].data) {
				t.Fatalf("entry %d is %q", k, e)
			}
		}
	}
	if _, err := c.InclusionProof(t.Context(), cps[24].Size, cps[24]); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if es, err := c.Entries(t.Context(), cps[24].Size, 1, cps[24]); len(es) != 0 || err != nil {
		t.Error(es, err)
	}
	n := l.hits.Load() // what was verified is kept
	if err := c.Consistency(t.Context(), cps[24], cps[24]); err != nil || l.hits.Load() != n {
		t.Error("equal checkpoints asked the server")
	}
}

// TestClientLyingServer: whatever tiles and bundles a server invents, the
// client says so.
func TestClientLyingServer(t *testing.T) {
	l := live(t, 700)
	cp := l.grow(t, 1)
	m := l.memLog.clone()
	m.rows[300].data = []byte("invented")
	leaf := boundLeaf(300, LeafHash(m.rows[300].data))
	m.rows[300].leaf = leaf[:]
	srv := served(t, m, l.board, nil)
	c, err := NewClient(srv.URL+"/ledger", mustPolicy(t, l.s.VerifierKeys()...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Entries(t.Context(), 299, 3, cp); !errors.Is(err, ErrProof) {
		t.Errorf("entries: %v", err)
	}
	if err := c.Inclusion(t.Context(), 300, m.rows[300].data, cp); !errors.Is(err, ErrProof) {
		t.Errorf("inclusion: %v", err)
	}
	if err := c.Consistency(t.Context(), Checkpoint{Origin: cp.Origin, Head: treeOf(m, 400).Head()}, cp); !errors.Is(err, ErrProof) {
		t.Errorf("consistency: %v", err)
	}
	rep := mustVerify(t, c.Auditor(cp), VerifyOptions{Policy: c.policy})
	if len(rep.Problems) != 1 || rep.Problems[0].Kind != KindChanged {
		t.Errorf("report %+v", rep)
	}
}

func TestRemoteVerify(t *testing.T) {
	l := live(t, 0)
	if rep := mustVerify(t, l.client(t).Auditor(l.grow(t, 0)), VerifyOptions{Policy: l.client(t).policy}); !rep.OK() {
		t.Errorf("empty: %v", rep.Problems)
	}
	old := l.grow(t, 500)
	cp := l.grow(t, 501)
	c := l.client(t)
	rep := mustVerify(t, c.Auditor(cp), VerifyOptions{Policy: c.policy, Outside: [][]byte{old.Note}})
	if !rep.OK() || rep.Size != 1001 || rep.Root != cp.Root {
		t.Errorf("%+v", rep)
	}
	l.rows[700].data = []byte("changed in the table")
	rep = mustVerify(t, c.Auditor(cp), VerifyOptions{Policy: c.policy})
	if len(rep.Problems) != 1 || rep.Problems[0].Kind != KindChanged || rep.Problems[0].Index != 700 {
		t.Errorf("%+v", rep)
	}
	l.rows[700].data = make([]byte, MaxEntry+1) // the bundle cannot be built any more
	if _, err := Verify(t.Context(), c.Auditor(cp), VerifyOptions{Policy: c.policy}); err != nil {
		t.Errorf("unbuildable bundle: %v", err)
	}
}

// TestClientBadAnswers: redirects, floods and nonsense are refused by name.
func TestClientBadAnswers(t *testing.T) {
	l := live(t, 300)
	cp := l.grow(t, 1)
	var mode string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch mode {
		case "redirect":
			http.Redirect(w, r, l.url+strings.TrimPrefix(r.URL.Path, "/"), http.StatusFound)
		case "flood":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "teapot":
			w.WriteHeader(http.StatusTeapot)
		case "empty":
		case "gone":
			w.WriteHeader(http.StatusGone)
		}
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL, mustPolicy(t, l.s.VerifierKeys()...), nil)
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[string][3]error{
		"redirect": {ErrAnswer, ErrAnswer, ErrAnswer},
		"flood":    {ErrAnswer, ErrAnswer, ErrAnswer},
		"teapot":   {ErrAnswer, ErrAnswer, ErrAnswer},
		"empty":    {ErrNote, ErrAnswer, ErrAnswer},
		"gone":     {ErrNoCheckpoint, ErrNotServed, ErrNotServed},
	} {
		mode = m
		_, e0 := c.Checkpoint(t.Context())
		_, e1 := c.InclusionProof(t.Context(), 3, cp)
		_, e2 := c.Entries(t.Context(), 0, 5, cp)
		for i, err := range []error{e0, e1, e2} {
			if !errors.Is(err, want[i]) {
				t.Errorf("%s: call %d: %v, want %v", m, i, err, want[i])
			}
		}
	}
	for _, u := range []string{"", "ftp://x", "http://", "http://u:p@x", "http://x?q", "http://x#f", "x/y", "http:opaque"} {
		if _, err := NewClient(u, Policy{}, nil); !errors.Is(err, ErrURL) {
			t.Errorf("%q: %v", u, err)
		}
	}
}

func TestFollower(t *testing.T) {
	l := live(t, 0)
	path := filepath.Join(t.TempDir(), "last")
	f := NewFollower(l.client(t), FileMemory(path))
	if _, err := f.Last(t.Context()); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("before the first: %v", err)
	}
	for _, n := range []int{0, 1, 300, 0, 700} {
		want := l.grow(t, n)
		cp, err := f.Update(t.Context())
		if err != nil || cp.Head != want.Head {
			t.Fatalf("after %d more: %v", n, err)
		}
	}
	last := l.notes[len(l.notes)-1].note
	evil := func(build func(m *memLog, tree *Tree)) error {
		m, tree := newMemLog(), &Tree{}
		build(m, tree)
		board := &Board{}
		if err := board.Publish(m.notes[len(m.notes)-1].note); err != nil {
			t.Fatal(err)
		}
		c, err := NewClient(served(t, m, board, nil).URL+"/ledger", mustPolicy(t, l.s.VerifierKeys()...), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewFollower(c, FileMemory(path)).Update(t.Context())
		return err
	}
	entries := func(n int) (out [][]byte) {
		for _, r := range l.rows[:n] {
			out = append(out, bytes.Clone(r.data))
		}
		return out
	}
	if err := evil(func(m *memLog, tree *Tree) { m.add(t, tree, l.s, entries(900)...) }); !errors.Is(err, ErrRollback) {
		t.Errorf("rollback: %v", err)
	}
	for _, more := range []int{0, 5} {
		if err := evil(func(m *memLog, tree *Tree) {
			es := entries(1001)
			es[500] = []byte("rewritten")
			m.add(t, tree, l.s, append(es, entries(more)...)...)
		}); !errors.Is(err, ErrFork) {
			t.Errorf("fork with %d more: %v", more, err)
		}
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, last) {
		t.Errorf("an attack changed the memory: %v", err)
	}
	// A follower with a damaged memory stops; so does one with a foreign one.
	if err := os.WriteFile(path, last[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFollower(l.client(t), FileMemory(path)).Update(t.Context()); !errors.Is(err, ErrNote) {
		t.Errorf("damaged memory: %v", err)
	}
	if err := os.WriteFile(path, bytes.Replace(last, []byte("registry"), []byte("somebody"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewFollower(l.client(t), FileMemory(path)).Update(t.Context()); !errors.Is(err, ErrOrigin) {
		t.Errorf("foreign memory: %v", err)
	}
}

// TestFollowerThroughRotation: the memory outlives the key that signed it.
func TestFollowerThroughRotation(t *testing.T) {
	l := live(t, 10)
	mem := FileMemory(filepath.Join(t.TempDir(), "last"))
	update := func(known ...string) error {
		c, err := NewClient(l.url, mustPolicy(t, known...), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewFollower(c, mem).Update(t.Context())
		return err
	}
	oldKey := testSigner(t, 1).VerifierKeys()[0]
	newKey := testSigner(t, 2).VerifierKeys()[0]
	if err := update(oldKey); err != nil {
		t.Fatal(err)
	}
	grow := func(keys ...byte) {
		s := testSigner(t, keys...)
		l.add(t, l.tree, s, []byte("more"))
		if err := l.board.Publish(l.notes[len(l.notes)-1].note); err != nil {
			t.Fatal(err)
		}
	}
	grow(2, 1)
	if err := update(oldKey); err != nil {
		t.Errorf("old key during the overlap: %v", err)
	}
	grow(2)
	if err := update(oldKey); !errors.Is(err, ErrSignature) {
		t.Errorf("old key afterwards: %v", err)
	}
	if err := update(newKey); err != nil {
		t.Errorf("new key afterwards: %v", err)
	}
}

func TestFileMemoryKeepsTheLarger(t *testing.T) {
	s := testSigner(t, 1)
	m := FileMemory(filepath.Join(t.TempDir(), "last"))
	n5, _ := s.Sign(testHead(5))
	n6, _ := s.Sign(testHead(6))
	x6, _ := s.Sign(Head{6, Hash{1}})
	for _, step := range []struct {
		raw  []byte
		want error
	}{{n6, nil}, {n5, nil}, {x6, ErrFork}} {
		if err := m.Save(context.Background(), step.raw); !errors.Is(err, step.want) {
			t.Errorf("%v, want %v", err, step.want)
		}
	}
	if raw, err := m.Load(t.Context()); err != nil || !bytes.Equal(raw, n6) {
		t.Errorf("%s %v", raw, err)
	}
	if err := os.Chmod(string(m), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Load(t.Context()); err == nil {
		t.Error("a loose file was read")
	}
}

func FuzzSplitBundle(f *testing.F) {
	f.Add([]byte{0, 1, 'a', 0, 0, 0, 2, 'b', 'c'})
	f.Fuzz(func(t *testing.T, b []byte) {
		es, err := splitBundle(b)
		if err != nil || len(b) > 1<<20 {
			return
		}
		m := newMemLog()
		for _, e := range es {
			m.rows = append(m.rows, memRow{data: e})
		}
		if len(es) == 0 {
			if len(b) != 0 {
				t.Error("bytes without entries")
			}
			return
		}
		back, err := NewTiles(plainLog{m}, nil).Bundle(t.Context(), 0, len(es))
		if err != nil || !bytes.Equal(back, b) {
			t.Errorf("re-encoding: %v", err)
		}
	})
}
