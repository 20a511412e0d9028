package sqlite

import (
	"errors"
	"testing"

	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

// TestDiskFaults: a full disk and failing writes and syncs are named, leave the
// outcome unknown but the log sound, and pass.
func TestDiskFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		op   op
		rc   int32
		want error
	}{
		{"disk full", opWrite, rcFull, store.ErrFull},
		{"write error", opWrite, rcIO | 3<<8, store.ErrIO},
		{"sync error", opSync, rcFsync, store.ErrIO},
	} {
		t.Run(c.name, func(t *testing.T) { diskFault(t, c.op, c.rc, c.want) })
	}
}

func diskFault(t *testing.T, where op, rc int32, want error) {
	dir := tempDir(t)
	d := newDisk(1, nil)
	l, err := Open(ctx, dir, plug(t, dir, d))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tree := new(storetest.Tree)
	for range 3 {
		if tree, err = appendOne(l, tree); err != nil {
			t.Fatal(err)
		}
		syncs := 0
		d.inject(func(o op, _ string) int32 {
			if o == opSync {
				syncs++
			}
			if o == where {
				return rc
			}
			return 0
		})
		_, err := appendOne(l, tree)
		if !errors.Is(err, want) || !errors.Is(err, store.ErrUnknownOutcome) || store.Unwritten(err) {
			t.Fatalf("append: %v", err)
		}
		if syncs > 1 {
			t.Errorf("%d syncs for one commit: a failed sync was tried again", syncs)
		}
		if h, err := l.Head(ctx); err != nil || h != tree.Head() {
			t.Fatalf("head %v, %v; want %v", h, err, tree.Head())
		}
		d.inject(nil)
	}
	if _, err := appendOne(l, tree); err != nil {
		t.Fatalf("after the fault has passed: %v", err)
	}
	if es, err := storetest.Entries(l); err != nil || len(es) != 4 {
		t.Fatalf("%d entries, %v", len(es), err)
	}
}
