package witness

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// roots records what was cosigned and fails on a second root for a size.
type roots struct {
	mu   sync.Mutex
	seen map[uint64]ledger.Hash
}

func (r *roots) add(t *testing.T, h ledger.Head) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.seen[h.Size]; ok && old != h.Root {
		t.Errorf("two roots cosigned for size %d", h.Size)
	}
	r.seen[h.Size] = h.Root
}

// TestNeverTwoRoots throws two forks of a log at a witness from several sides
// while its disk fails at random (nothing written, or written and reported as
// failed) and it is restarted: all that was ever cosigned is one history.
func TestNeverTwoRoots(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	a := newHistory(t, "e", 300)
	b := a.fork(0)
	dir := filepath.Join(t.TempDir(), "w")
	seen := &roots{seen: map[uint64]ledger.Hash{}}
	cosigned := 0
	for restart := range 12 {
		f := openFolder(t, dir)
		var mu sync.Mutex
		f.Files = &durable.Files{Around: func(_ durable.Step, _ string, do func() error) error {
			mu.Lock()
			r := rng.IntN(40)
			mu.Unlock()
			switch r {
			case 0:
				return errors.New("disk failed")
			case 1:
				do()
				return errors.New("disk failed, or did it")
			}
			return do()
		}}
		w, err := New(t.Context(), cosigner(t), f, policy(t, a))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 4 {
			r := rand.New(rand.NewPCG(seed, uint64(g)))
			wg.Go(func() {
				for range 15 {
					h := []*history{a, b}[r.IntN(2)]
					n := 1 + min(299, 25*restart+r.IntN(40))
					lines, err := ask(t.Context(), w, h, n)
					if err != nil {
						continue
					}
					if !strings.HasPrefix(lines, "— witness.example.test ") {
						t.Errorf("lines %q", lines)
					}
					seen.add(t, h.head(n))
					mu.Lock()
					cosigned++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		f.Close()
	}
	if cosigned == 0 {
		t.Error("nothing was cosigned")
	}
	// All cosigned heads lie in one of the two histories.
	in := func(h *history) bool {
		for n, root := range seen.seen {
			if h.head(int(n)).Root != root {
				return false
			}
		}
		return true
	}
	if !in(a) && !in(b) {
		t.Errorf("cosigned heads of both histories: %d", len(seen.seen))
	}
	t.Logf("%d cosigned, %d sizes", cosigned, len(seen.seen))
}
