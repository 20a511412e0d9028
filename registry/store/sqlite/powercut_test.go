package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

var ctx = context.Background()

// plug puts a disk under a folder and returns options that use it.
func plug(t testing.TB, dir string, d *disk) *Options {
	t.Helper()
	registerVFS()
	disks.Store(dir, d)
	t.Cleanup(func() { disks.Delete(dir) })
	return &Options{vfs: vfsName, frames: 40, walOf: func() []byte {
		d.mu.Lock()
		defer d.mu.Unlock()
		if f := d.names[dbName+"-wal"]; f != nil {
			return append([]byte(nil), f.live...)
		}
		return nil
	}}
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "log")
}

// fate is what happened on one disk until the power went off.
type fate struct {
	acked map[uint64]string
	lost  []string
	mends int
}

// live runs writers on a disk until its power goes off, and returns what the
// next start will find on it.
func (f *fate) live(t *testing.T, dir string, d *disk, round int) map[string][]byte {
	t.Helper()
	l, err := Open(ctx, dir, plug(t, dir, d))
	if err != nil {
		if !d.dead {
			t.Fatalf("round %d: %v", round, err)
		}
		return d.after // the power went off while opening
	}
	if _, ok := l.Recovered(); ok {
		f.mends++
	}
	c, err := storetest.NewCommitter(l, false)
	if err == nil {
		c.Extra = func(next store.Head, b *store.Batch) {
			b.Content = []store.Blob{{Digest: sha256.Sum256(b.Entries[0]), Data: b.Entries[0]}}
			b.Notes = []store.Note{{Size: next.Size, Text: fmt.Appendf(nil, "%d %x", next.Size, next.Root)}}
		}
		f.write(c, round)
		c.Close()
	}
	l.Close()
	if !d.dead {
		t.Fatalf("round %d: the power never went off", round)
	}
	return d.after
}

func (f *fate) write(c *storetest.Committer, round int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				x := fmt.Sprintf("%d/%d/%d %0200d", round, w, i, i)
				n, err := c.Do([]byte(x))
				if err != nil {
					return
				}
				mu.Lock()
				f.acked[n] = x
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// verify starts once more, folds the log and looks for everything acknowledged.
func (f *fate) verify(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	l, err := Open(ctx, dir, plug(t, dir, newDisk(1, files)))
	if err != nil {
		f.lost = append(f.lost, err.Error())
		return
	}
	defer l.Close()
	es, err := storetest.Entries(l)
	if err == nil {
		err = l.Check(ctx)
	}
	if err != nil {
		f.lost = append(f.lost, err.Error())
		return
	}
	for n, x := range f.acked {
		if n >= uint64(len(es)) || string(es[n]) != x {
			f.lost = append(f.lost, fmt.Sprintf("entry %d", n))
		}
	}
	f.beside(t, l, es)
}

// beside checks what was committed with the entries: content for the first
// entry of each batch, a note for its end.
func (f *fate) beside(t *testing.T, l *Log, es [][]byte) {
	t.Helper()
	notes, err := l.Notes(ctx, 0, len(es)+1)
	if err != nil {
		t.Fatal(err)
	}
	var tree storetest.Tree
	first := 0
	for _, n := range notes {
		for i := tree.Head().Size; i < n.Size; i++ {
			tree.Add(es[i])
		}
		if want := fmt.Sprintf("%d %x", n.Size, tree.Head().Root); string(n.Text) != want {
			t.Errorf("note %q, want %q", n.Text, want)
		}
		if got, err := l.Content(ctx, sha256.Sum256(es[first])); err != nil || string(got) != string(es[first]) {
			t.Errorf("content of entry %d: %q, %v", first, got, err)
		}
		first = int(n.Size)
	}
	if uint64(len(es)) != tree.Head().Size {
		t.Errorf("%d entries, notes up to %d", len(es), tree.Head().Size)
	}
}

// TestPowerCut cuts the power 40 times at random operations: nothing
// acknowledged may be missing afterwards, and the log must be sound.
func TestPowerCut(t *testing.T) {
	for _, torn := range []bool{false, true} {
		t.Run(fmt.Sprintf("torn=%v", torn), func(t *testing.T) {
			dir := tempDir(t)
			f := &fate{acked: map[uint64]string{}}
			var files map[string][]byte
			seed := rand.Uint64()
			rng := rand.New(rand.NewPCG(seed, 7))
			for round := range 20 {
				d := newDisk(seed+uint64(round), files)
				d.torn, d.cutAt = torn, 1+rng.IntN(1500)
				if round%5 == 4 { // while opening
					d.cutAt = 1 + rng.IntN(12)
				}
				files = f.live(t, dir, d, round)
				f.verify(t, dir, files)
				if len(f.lost) > 0 {
					t.Fatalf("seed %d, after cut %d: %v", seed, round, f.lost[0])
				}
			}
			t.Logf("seed %d: 20 cuts, %d acknowledged, 0 lost, %d tears mended", seed, len(f.acked), f.mends)
			if len(f.acked) < 500 {
				t.Error("too few acknowledged to mean anything")
			}
		})
	}
}

// TestPowerCutControl: on a disk that lies about syncs the same test must
// lose acknowledged entries, or it proves nothing.
func TestPowerCutControl(t *testing.T) {
	lost := 0
	for round := range 10 {
		dir := tempDir(t)
		honest := newDisk(1, nil)
		if l, err := Open(ctx, dir, plug(t, dir, honest)); err != nil {
			t.Fatal(err)
		} else if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		d := newDisk(uint64(round), honest.files())
		d.lie, d.torn, d.cutAt = true, round%2 == 1, 400+100*round
		f := &fate{acked: map[uint64]string{}}
		f.verify(t, dir, f.live(t, dir, d, round))
		lost += len(f.lost)
	}
	t.Logf("lying disk: %d acknowledged entries or whole logs lost", lost)
	if lost == 0 {
		t.Error("a disk that never syncs lost nothing: this test cannot fail")
	}
}

// TestFailedSyncThenKill: after a sync that failed, the system takes the
// blocks for clean although they are not on the disk. A process that starts
// after a kill finds them in the cache; what it acknowledges on top of them
// must survive a power cut all the same.
func TestFailedSyncThenKill(t *testing.T) {
	dir := tempDir(t)
	d := newDisk(1, nil)
	l, err := Open(ctx, dir, plug(t, dir, d))
	must(t, err)
	tree := new(storetest.Tree)
	for range 3 {
		tree, err = appendOne(l, tree)
		must(t, err)
	}
	d.inject(func(o op, _ string) int32 {
		if o == opSync {
			return rcFsync
		}
		return 0
	})
	doubt, err := appendOne(l, tree)
	if !errors.Is(err, store.ErrUnknownOutcome) {
		t.Fatal(err)
	}
	second := d.killed() // before the first one can close anything
	d.off()
	l.Close()

	l, err = Open(ctx, dir, plug(t, dir, second))
	if err != nil {
		t.Fatal(err)
	}
	if h, err := l.Head(ctx); err != nil || h != doubt.Head() {
		t.Fatalf("head %v, %v: the unsynced commit is not in the cache, this test shows nothing", h, err)
	}
	tree = doubt
	for range 3 {
		if tree, err = appendOne(l, tree); err != nil {
			t.Fatal(err)
		}
	}
	second.off()
	l.Close()

	l, err = Open(ctx, dir, plug(t, dir, newDisk(1, second.after)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if es, err := storetest.Entries(l); err != nil || len(es) != 7 {
		t.Errorf("%d entries, %v; 7 were acknowledged", len(es), err)
	}
}
