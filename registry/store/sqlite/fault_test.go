package sqlite

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

var errInjected = errors.New("injected")

// appendOne appends one entry with content and note, and returns the new tree.
func appendOne(l *Log, tree *storetest.Tree) (*storetest.Tree, error) {
	prev, next := tree.Head(), tree.Clone()
	x := fmt.Appendf(nil, "entry %d", prev.Size)
	next.Add(x)
	h := next.Head()
	return next, l.Append(ctx, prev, h, store.Batch{
		Entries: [][]byte{x},
		Content: []store.Blob{{Digest: sha256.Sum256(x), Data: x}},
		Notes:   []store.Note{{Size: h.Size, Text: fmt.Appendf(nil, "%d %x", h.Size, h.Root)}},
	})
}

// TestFaultOfEachCall: each call of the write path fails, or fails after it
// has worked. The outcome is then unknown, the head tells it, and the log goes on.
func TestFaultOfEachCall(t *testing.T) {
	for _, call := range []string{"begin", "swap", "entry", "content", "note", "commit"} {
		for _, persisted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/persisted=%v", call, persisted), func(t *testing.T) {
				var armed atomic.Bool
				opt := &Options{fault: func(c string, after bool) error {
					if c == call && after == persisted && armed.CompareAndSwap(true, false) {
						return errInjected
					}
					return nil
				}}
				l, err := Open(ctx, tempDir(t), opt)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				tree := new(storetest.Tree)
				for range 3 {
					if tree, err = appendOne(l, tree); err != nil {
						t.Fatal(err)
					}
					armed.Store(true)
					next, err := appendOne(l, tree)
					if !errors.Is(err, store.ErrUnknownOutcome) || !errors.Is(err, errInjected) || store.Unwritten(err) {
						t.Fatalf("append: %v", err)
					}
					want := tree
					if call == "commit" && persisted {
						want = next
					}
					h, err := l.Head(ctx)
					if err != nil || h != want.Head() {
						t.Fatalf("head %d, %v; want %d", h.Size, err, want.Head().Size)
					}
					tree = want
				}
				if _, err := storetest.Entries(l); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestFaultOfRollback: a conflict stays a conflict when even the rollback fails.
func TestFaultOfRollback(t *testing.T) {
	var armed atomic.Bool
	l, err := Open(ctx, tempDir(t), &Options{fault: func(c string, after bool) error {
		if c == "rollback" && armed.Load() {
			return errInjected
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tree, err := appendOne(l, new(storetest.Tree))
	if err != nil {
		t.Fatal(err)
	}
	armed.Store(true)
	if _, err := appendOne(l, new(storetest.Tree)); !errors.Is(err, store.ErrConflict) || !store.Unwritten(err) {
		t.Fatalf("append: %v", err)
	}
	if _, err = appendOne(l, tree); err != nil {
		t.Fatal(err)
	}
}

// TestFaultAnywhere runs one story and lets its nth engine call fail, for
// every n; afterwards a new start must find everything that was acknowledged.
func TestFaultAnywhere(t *testing.T) {
	for _, persisted := range []bool{false, true} {
		for n := 1; ; n++ {
			var calls atomic.Int64
			var name atomic.Value
			dir, d := tempDir(t), newDisk(1, nil)
			opt := plug(t, dir, d) // in memory: it opens some 500 logs
			opt.frames, opt.fault = 5, func(c string, after bool) error {
				if after == persisted && calls.Add(1) == int64(n) {
					name.Store(c)
					return errInjected
				}
				return nil
			}
			acked := story(dir, opt)
			f := &fate{acked: acked}
			if f.verify(t, dir, d.files()); len(f.lost) > 0 {
				t.Fatalf("call %d (%v): %v", n, name.Load(), f.lost)
			}
			if name.Load() == nil {
				t.Logf("persisted=%v: %d calls", persisted, n-1)
				break
			}
		}
	}
}

// story opens, writes, closes, twice, and returns what was acknowledged.
func story(dir string, opt *Options) map[uint64]string {
	acked := map[uint64]string{}
	for range 2 {
		l, err := Open(ctx, dir, opt)
		if err != nil {
			continue
		}
		tree := new(storetest.Tree)
		for range 4 {
			h, err := l.Head(ctx)
			if err != nil || storetest.Fold(l, tree, h) != nil {
				tree = new(storetest.Tree)
				continue
			}
			next, err := appendOne(l, tree)
			if err == nil {
				acked[h.Size] = fmt.Sprintf("entry %d", h.Size)
				tree = next
			}
		}
		l.Close()
	}
	return acked
}

// TestFaultOfReads: reads return the error and the next one works.
func TestFaultOfReads(t *testing.T) {
	var call atomic.Value
	call.Store("")
	l, err := Open(ctx, tempDir(t), &Options{fault: func(c string, after bool) error {
		if c == call.Load() {
			return errInjected
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := appendOne(l, new(storetest.Tree)); err != nil {
		t.Fatal(err)
	}
	for c, read := range map[string]func() error{
		"head":    func() error { _, err := l.Head(ctx); return err },
		"read":    func() error { _, err := l.Read(ctx, 0, 1); return err },
		"content": func() error { _, err := l.Content(ctx, [32]byte{}); return err },
		"notes":   func() error { _, err := l.LatestNote(ctx); return err },
		"repairs": func() error { _, err := l.Repairs(ctx); return err },
		"check":   func() error { return l.Check(ctx) },
	} {
		call.Store(c)
		if err := read(); !errors.Is(err, errInjected) {
			t.Errorf("%s: %v", c, err)
		}
		call.Store("")
		if err := read(); errors.Is(err, errInjected) {
			t.Errorf("%s again: %v", c, err)
		}
	}
}

// TestAppendWithoutTurn: a member that never gives the turn back delays the
// first append of another, and stops none.
func TestAppendWithoutTurn(t *testing.T) {
	dir := tempDir(t)
	a, err := Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	release, err := a.Turn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(ctx, dir, &Options{patience: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	tree := new(storetest.Tree)
	for range 5 {
		if tree, err = appendOne(b, tree); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil { // with its wait still pending
		t.Fatal(err)
	}
	release()
	if _, err = appendOne(a, tree); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSynchronousFull: every connection that writes says FULL.
func TestSynchronousFull(t *testing.T) {
	l, err := Open(ctx, tempDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := appendOne(l, new(storetest.Tree)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*conn{l.w.c, l.ckpt.c} {
		if n, err := c.integer("test", `PRAGMA synchronous`); err != nil || n != 2 {
			t.Errorf("synchronous %d, %v", n, err)
		}
		if n, err := c.integer("test", `PRAGMA wal_autocheckpoint`); err != nil || n != 0 {
			t.Errorf("wal_autocheckpoint %d, %v", n, err)
		}
	}
}

func TestVersionOfSQLite(t *testing.T) {
	for v, want := range map[string]bool{
		"3.51.3": true, "3.54.1": true, "4.0.0": true, "3.51.3.1": true, "3.100.0": true,
		"3.51.2": false, "3.50.9": false, "2.99.99": false, "": false, "x": false, "3.51": false, "3.51.x": false,
	} {
		if got := atLeast(v, minVersion); got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}
