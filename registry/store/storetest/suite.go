package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/pratique-dev/pratique/registry/store"
)

// Fresh makes a new, empty log and returns how to open it. The opener may be
// called again, while an earlier one is open too: then it stands for
// another process.
type Fresh func(t testing.TB) (open func() (store.Store, error))

// Run is the conformance suite.
func Run(t *testing.T, fresh Fresh) {
	for _, c := range []struct {
		name string
		f    func(t *testing.T, e env)
	}{
		{"empty log", testEmpty},
		{"append and read", testAppendRead},
		{"conflict writes nothing", testConflict},
		{"refused batches write nothing", testRefused},
		{"sizes of entries", testSizes},
		{"notes are unique per size", testNotes},
		{"content by digest", testContent},
		{"all or nothing", testAtomic},
		{"reopen finds everything", testReopen},
		{"a cancelled context never cancels an append", testCancelled},
		{"racing appenders lose nothing", testRace},
		{"wait wakes for own and others' appends", testWait},
		{"closed", testClosed},
		{"leases", testLeases},
		{"turns exclude and end", testTurns},
		{"check and backup", testCheck},
	} {
		t.Run(c.name, func(t *testing.T) { c.f(t, env{t, fresh(t)}) })
	}
}

type env struct {
	t    *testing.T
	make func() (store.Store, error)
}

func (e env) open() store.Store {
	e.t.Helper()
	s, err := e.make()
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { s.Close() })
	return s
}

// as asserts an optional interface, which both engines of this project have.
func as[T any](t testing.TB, s store.Store) T {
	t.Helper()
	v, ok := s.(T)
	if !ok {
		t.Fatalf("%T does not implement %T", s, (*T)(nil))
	}
	return v
}

var ctx = context.Background()

func entry(i int) []byte { return fmt.Appendf(nil, `{"n":%d,"pad":"%0100d"}`, i, i) }

// grow appends n entries in one batch and returns the new head.
func grow(t testing.TB, s store.Store, tree *Tree, n int) store.Head {
	t.Helper()
	prev := tree.Head()
	var b store.Batch
	for i := range n {
		e := entry(int(prev.Size) + i)
		b.Entries = append(b.Entries, e)
		tree.Add(e)
	}
	if err := s.Append(ctx, prev, tree.Head(), b); err != nil {
		t.Fatal(err)
	}
	return tree.Head()
}

// unchanged asserts that the log is exactly what tree says.
func unchanged(t testing.TB, s store.Store, tree *Tree) {
	t.Helper()
	es, err := Entries(s)
	if err != nil {
		t.Fatal(err)
	}
	if uint64(len(es)) != tree.size {
		t.Fatalf("%d entries, want %d", len(es), tree.size)
	}
	var again Tree
	for _, e := range es {
		again.Add(e)
	}
	if again.Head() != tree.Head() {
		t.Fatal("other entries than were appended")
	}
}

func testEmpty(t *testing.T, e env) {
	s := e.open()
	h, err := s.Head(ctx)
	if err != nil || h != store.EmptyHead() || h.Root != sha256.Sum256(nil) {
		t.Fatalf("head %v, %v", h, err)
	}
	if es, err := s.Read(ctx, 0, 10); err != nil || len(es) != 0 {
		t.Fatalf("read %v, %v", es, err)
	}
	if _, err := as[store.Notes](t, s).LatestNote(ctx); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("note: %v", err)
	}
	if _, err := as[store.Contents](t, s).Content(ctx, [32]byte{1}); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("content: %v", err)
	}
	if r, err := as[store.Repairs](t, s).Repairs(ctx); err != nil || len(r) != 0 {
		t.Fatalf("repairs %v, %v", r, err)
	}
}

func testAppendRead(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	for _, n := range []int{1, 2, 15, 16, 17, 100, 300} {
		want := grow(t, s, tree, n)
		if h, err := s.Head(ctx); err != nil || h != want {
			t.Fatalf("head %v, %v, want %v", h, err, want)
		}
	}
	size := int(tree.size)
	for _, r := range []struct{ from, max, n int }{
		{0, 10, 10}, {0, size, size}, {0, size + 100, size}, {5, 7, 7}, {size - 1, 10, 1}, {size, 10, 0}, {size + 9, 10, 0}, {3, 0, 0}, {3, -1, 0},
	} {
		es, err := s.Read(ctx, uint64(r.from), r.max)
		if err != nil || len(es) != r.n {
			t.Fatalf("Read(%d, %d): %d entries, %v; want %d", r.from, r.max, len(es), err, r.n)
		}
		for i, b := range es {
			if !bytes.Equal(b, entry(r.from+i)) {
				t.Fatalf("Read(%d, %d)[%d] = %s", r.from, r.max, i, b)
			}
		}
	}
	if es, err := s.Read(ctx, 1<<63, 1); err != nil || len(es) != 0 {
		t.Fatalf("read beyond 2^63: %v, %v", es, err)
	}
}

func testConflict(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	old := grow(t, s, tree, 3)
	grow(t, s, tree, 1)
	other := tree.Head()
	other.Root[5] ^= 1
	next := func(h store.Head) store.Head { return store.Head{Size: h.Size + 1, Root: [32]byte{9}} }
	for name, prev := range map[string]store.Head{"older": old, "other root": other, "beyond": next(tree.Head()), "empty": store.EmptyHead(), "zero": {}} {
		err := s.Append(ctx, prev, next(prev), store.Batch{Entries: [][]byte{entry(1)},
			Notes: []store.Note{{Size: 1, Text: []byte("n")}}, Content: []store.Blob{{Digest: [32]byte{7}, Data: []byte("c")}}})
		if !errors.Is(err, store.ErrConflict) || !store.Unwritten(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	unchanged(t, s, tree)
	if _, err := as[store.Notes](t, s).Note(ctx, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("note of a conflicting batch: %v", err)
	}
	grow(t, s, tree, 1) // and it goes on
	unchanged(t, s, tree)
}

func testRefused(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	h := grow(t, s, tree, 3)
	at := func(n uint64) store.Head { return store.Head{Size: n, Root: [32]byte{1}} }
	one := [][]byte{entry(0)}
	for name, c := range map[string]struct {
		next store.Head
		b    store.Batch
		want error
	}{
		"too few entries":     {at(5), store.Batch{Entries: one}, store.ErrBatch},
		"too many entries":    {at(3), store.Batch{Entries: one}, store.ErrBatch},
		"backwards":           {at(2), store.Batch{Entries: one}, store.ErrBatch},
		"overflow":            {at(1 << 63), store.Batch{Entries: one}, store.ErrBatch},
		"nothing":             {h, store.Batch{}, store.ErrBatch},
		"root without entry":  {at(3), store.Batch{Notes: []store.Note{{Size: 1, Text: []byte("n")}}}, store.ErrBatch},
		"note beyond":         {h, store.Batch{Notes: []store.Note{{Size: 4, Text: []byte("n")}}}, store.ErrBatch},
		"empty note":          {h, store.Batch{Notes: []store.Note{{Size: 1}}}, store.ErrEntrySize},
		"long note":           {h, store.Batch{Notes: []store.Note{{Size: 1, Text: make([]byte, store.MaxNote+1)}}}, store.ErrEntrySize},
		"empty entry":         {at(4), store.Batch{Entries: [][]byte{{}}}, store.ErrEntrySize},
		"long entry":          {at(4), store.Batch{Entries: [][]byte{make([]byte, store.MaxEntry+1)}}, store.ErrEntrySize},
		"empty content":       {h, store.Batch{Content: []store.Blob{{}}}, store.ErrEntrySize},
		"long content":        {h, store.Batch{Content: []store.Blob{{Data: make([]byte, store.MaxContent+1)}}}, store.ErrEntrySize},
		"more than a batch":   {at(3 + store.MaxEntries + 1), store.Batch{Entries: make([][]byte, store.MaxEntries+1)}, store.ErrBatch},
		"second entry is bad": {at(5), store.Batch{Entries: [][]byte{entry(0), nil}}, store.ErrEntrySize},
	} {
		if err := s.Append(ctx, h, c.next, c.b); !errors.Is(err, c.want) || !store.Unwritten(err) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	unchanged(t, s, tree)
}

func testSizes(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	var b store.Batch
	for _, n := range []int{1, 2, 4095, 4096, 4097, store.MaxEntry - 1, store.MaxEntry} {
		x := bytes.Repeat([]byte{0xff, 0}, n)[:n] // neither text nor JSON
		b.Entries = append(b.Entries, x)
		tree.Add(x)
	}
	big := bytes.Repeat([]byte{1, 2, 3, 0}, store.MaxContent/4)
	b.Content = []store.Blob{{Digest: [32]byte{1}, Data: big}}
	if err := s.Append(ctx, store.EmptyHead(), tree.Head(), b); err != nil {
		t.Fatal(err)
	}
	unchanged(t, s, tree)
	if got, err := as[store.Contents](t, s).Content(ctx, [32]byte{1}); err != nil || !bytes.Equal(got, big) {
		t.Fatalf("content: %d bytes, %v", len(got), err)
	}
}
