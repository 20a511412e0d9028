package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
)

func testNotes(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	h := grow(t, s, tree, 5)
	notes := as[store.Notes](t, s)
	put := func(n ...store.Note) error { return s.Append(ctx, h, h, store.Batch{Notes: n}) }
	n3, n5 := store.Note{Size: 3, Text: []byte("three")}, store.Note{Size: 5, Text: []byte("five")}
	if err := put(n3, n5); err != nil {
		t.Fatal(err)
	}
	if err := put(n5); err != nil {
		t.Errorf("the same text again: %v", err)
	}
	for _, bad := range []string{"fivE", "five ", "fiv"} {
		n4 := store.Note{Size: 4, Text: []byte("four")}
		if err := put(n4, store.Note{Size: 5, Text: []byte(bad)}); !errors.Is(err, store.ErrNoteExists) || !store.Unwritten(err) {
			t.Errorf("another text for one size: %v", err)
		}
	}
	if _, err := notes.Note(ctx, 4); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("note beside a refused one: %v", err)
	}
	same := func(name string, got store.Note, err error, want store.Note) {
		t.Helper()
		if err != nil || got.Size != want.Size || !bytes.Equal(got.Text, want.Text) {
			t.Errorf("%s: %d %q, %v", name, got.Size, got.Text, err)
		}
	}
	got, err := notes.LatestNote(ctx)
	same("latest", got, err, n5)
	got, err = notes.Note(ctx, 3)
	same("by size", got, err, n3)
	if _, err := notes.Note(ctx, 1<<63); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("size 2^63: %v", err)
	}
	list, err := notes.Notes(ctx, 0, 10)
	if err != nil || len(list) != 2 || list[0].Size != 3 || list[1].Size != 5 {
		t.Errorf("list %v, %v", list, err)
	}
	if list, err := notes.Notes(ctx, 4, 1); err != nil || len(list) != 1 || list[0].Size != 5 {
		t.Errorf("list from 4: %v, %v", list, err)
	}
	// A row rides in the append that follows it, and covers what it appends.
	prev := tree.Head()
	tree.Add(entry(5))
	b := store.Batch{Entries: [][]byte{entry(5)}, Notes: []store.Note{{Size: 6, Text: []byte("six")}}}
	if err := s.Append(ctx, prev, tree.Head(), b); err != nil {
		t.Error(err)
	}
	unchanged(t, s, tree)
}

func testContent(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	h := grow(t, s, tree, 1)
	c := as[store.Contents](t, s)
	d := [32]byte{1, 2, 3}
	put := func(b ...store.Blob) error { return s.Append(ctx, h, h, store.Batch{Content: b}) }
	for range 2 { // again is fine
		if err := put(store.Blob{Digest: d, Data: []byte("tool")}, store.Blob{Digest: [32]byte{4}, Data: []byte{0}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(store.Blob{Digest: [32]byte{5}, Data: []byte("x")}, store.Blob{Digest: d, Data: []byte("fool")}); !errors.Is(err, store.ErrContentExists) || !store.Unwritten(err) {
		t.Errorf("other bytes under one digest: %v", err)
	}
	if _, err := c.Content(ctx, [32]byte{5}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("beside a refused one: %v", err)
	}
	if got, err := c.Content(ctx, d); err != nil || string(got) != "tool" {
		t.Errorf("%q, %v", got, err)
	}
}

func testAtomic(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	h := grow(t, s, tree, 40)
	if err := s.Append(ctx, h, h, store.Batch{Notes: []store.Note{{Size: 40, Text: []byte("a")}}}); err != nil {
		t.Fatal(err)
	}
	after := tree.Clone()
	var b store.Batch
	for i := range 40 {
		b.Entries = append(b.Entries, entry(40+i))
		after.Add(entry(40 + i))
	}
	b.Content = []store.Blob{{Digest: [32]byte{1}, Data: []byte("c")}}
	b.Notes = []store.Note{{Size: 40, Text: []byte("b")}} // the last thing written is refused
	if err := s.Append(ctx, h, after.Head(), b); !errors.Is(err, store.ErrNoteExists) {
		t.Fatal(err)
	}
	unchanged(t, s, tree)
	if _, err := as[store.Contents](t, s).Content(ctx, [32]byte{1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("content of a refused batch: %v", err)
	}
}

func testReopen(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	for i := range 5 {
		h := grow(t, s, tree, 10)
		n := store.Note{Size: h.Size, Text: fmt.Appendf(nil, "note %d", i)}
		c := store.Blob{Digest: [32]byte{byte(i)}, Data: []byte{byte(i)}}
		if err := s.Append(ctx, h, h, store.Batch{Notes: []store.Note{n}, Content: []store.Blob{c}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = e.open()
		unchanged(t, s, tree)
		if got, err := as[store.Notes](t, s).LatestNote(ctx); err != nil || !bytes.Equal(got.Text, n.Text) {
			t.Fatalf("%q, %v", got.Text, err)
		}
		if got, err := as[store.Contents](t, s).Content(ctx, c.Digest); err != nil || !bytes.Equal(got, c.Data) {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if r, err := as[store.Repairs](t, s).Repairs(ctx); err != nil || len(r) != 0 {
		t.Errorf("a clean close needs no repair: %v, %v", r, err)
	}
}

func testCancelled(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	late, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	for _, c := range []context.Context{gone, late} {
		prev := tree.Head()
		tree.Add(entry(int(prev.Size)))
		if err := s.Append(c, prev, tree.Head(), store.Batch{Entries: [][]byte{entry(int(prev.Size))}}); err != nil {
			t.Errorf("append: %v", err)
		}
		if _, err := s.Head(c); !errors.Is(err, c.Err()) {
			t.Errorf("head: %v", err)
		}
		if _, err := s.Read(c, 0, 1); !errors.Is(err, c.Err()) {
			t.Errorf("read: %v", err)
		}
		if err := s.Wait(c, 1000); !errors.Is(err, c.Err()) {
			t.Errorf("wait: %v", err)
		}
	}
	unchanged(t, s, tree)
}

func testRace(t *testing.T, e env) {
	const procs, writers, each = 3, 4, 25
	var wg sync.WaitGroup
	acked := make(chan string, procs*writers*each)
	var last store.Store
	for p := range procs {
		s := e.open()
		last = s
		c, err := NewCommitter(s, p%2 == 0) // with and without turns
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					x := fmt.Sprintf("%d/%d/%d", p, w, i)
					n, err := c.Do([]byte(x))
					if err != nil {
						t.Errorf("%s: %v", x, err)
						return
					}
					acked <- fmt.Sprintf("%d=%s", n, x)
				}
			})
		}
	}
	wg.Wait()
	close(acked)
	es, err := Entries(last)
	if err != nil {
		t.Fatal(err)
	}
	if len(es) != procs*writers*each {
		t.Fatalf("%d entries, want %d", len(es), procs*writers*each)
	}
	have := map[string]bool{}
	for i, x := range es {
		have[fmt.Sprintf("%d=%s", i, x)] = true
	}
	for a := range acked {
		if !have[a] {
			t.Errorf("acknowledged and not there: %s", a)
		}
	}
}

func testWait(t *testing.T, e env) {
	a, b, tree := e.open(), e.open(), new(Tree)
	for _, s := range []store.Store{a, b} {
		size := tree.size
		woken := make(chan error, 2)
		for _, w := range []store.Store{a, b} {
			go func() {
				for { // may be spurious
					if err := w.Wait(ctx, size); err != nil {
						woken <- err
						return
					}
					if h, err := w.Head(ctx); err != nil || h.Size > size {
						woken <- err
						return
					}
				}
			}()
		}
		grow(t, s, tree, 1)
		for range 2 {
			if err := <-woken; err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Wait(ctx, size); err != nil { // there already
			t.Fatal(err)
		}
	}
}

func testClosed(t *testing.T, e env) {
	s := e.open()
	waiting := make(chan error, 1)
	go func() { waiting <- s.Wait(ctx, 10) }()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Head(ctx)
	_, err2 := s.Read(ctx, 0, 1)
	tree := new(Tree)
	tree.Add(entry(0))
	for name, err := range map[string]error{
		"head": err, "read": err2, "wait": s.Wait(ctx, 0), "waiting": <-waiting,
		"append": s.Append(ctx, store.EmptyHead(), tree.Head(), store.Batch{Entries: [][]byte{entry(0)}}),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func testLeases(t *testing.T, e env) {
	a, b := as[store.Leases](t, e.open()), as[store.Leases](t, e.open())
	now := time.Unix(1_800_000_000, 0)
	lagging := func(applied uint64, at time.Time, want int) {
		t.Helper()
		for _, l := range []store.Leases{a, b} {
			if n, err := l.Lagging(ctx, applied, at); err != nil || n != want {
				t.Errorf("lagging(%d, +%v) = %d, %v; want %d", applied, at.Sub(now), n, err, want)
			}
		}
	}
	lagging(10, now, 0)
	for id, applied := range map[string]uint64{"one": 5, "../two": 9, "": 10} {
		if err := a.Lease(ctx, id, applied, now.Add(2*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	lagging(10, now, 2)
	lagging(5, now, 0)
	lagging(1000, now, 3)
	lagging(1000, now.Add(2*time.Second), 0) // until then, not longer
	if err := b.Lease(ctx, "one", 10, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	lagging(10, now, 1)
	if err := b.Unlease(ctx, "../two"); err != nil {
		t.Fatal(err)
	}
	if err := b.Unlease(ctx, "never"); err != nil {
		t.Error(err)
	}
	lagging(10, now, 0)
}

func testTurns(t *testing.T, e env) {
	a, b := e.open(), e.open()
	ta, tb := as[store.Turns](t, a), as[store.Turns](t, b)
	release, err := ta.Turn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tree := new(Tree)
	grow(t, a, tree, 1) // inside its own turn
	short, cancel := context.WithCancel(ctx)
	refused := make(chan error)
	go func() {
		_, err := tb.Turn(short)
		refused <- err
	}()
	cancel()
	if err := <-refused; !errors.Is(err, context.Canceled) {
		t.Errorf("turn while another has it: %v", err)
	}
	release()
	release()
	for range 3 { // the turn that was given up comes and goes
		for _, x := range []store.Turns{tb, ta} {
			release, err := x.Turn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
	}
	grow(t, b, tree, 1)
	unchanged(t, a, tree)
}

func testCheck(t *testing.T, e env) {
	s, tree := e.open(), new(Tree)
	grow(t, s, tree, 200)
	if err := as[store.Checker](t, s).Check(ctx); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := as[store.Backup](t, s).BackupTo(ctx, path); err != nil {
		t.Fatal(err)
	}
	if err := as[store.Backup](t, s).BackupTo(ctx, path); err == nil {
		t.Error("a backup replaced a file")
	}
}
