package ledger

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
)

// TestProofsRandomSizes proves random entries and prefixes in trees of random
// sizes and verifies each proof with both other implementations.
func TestProofsRandomSizes(t *testing.T) {
	rng := newRand(t)
	m, _ := filled(t, 70_000, nil)
	roots := rootsOf(m, 70_000)
	for _, src := range []Reader{m, plainLog{m}} {
		tiles := NewTiles(src, &TilesOptions{LeafTiles: 40, UpperTiles: 4})
		for range 400 {
			size := 1 + rng.Uint64N(70_000)
			if rng.IntN(2) == 0 {
				size = 1 + rng.Uint64N(600)
			}
			i := rng.Uint64N(size)
			p, err := tiles.InclusionProof(t.Context(), i, size)
			if err != nil {
				t.Fatal(err)
			}
			leaf := LeafHash(m.rows[i].data)
			h := Head{size, roots[size]}
			if err := VerifyInclusion(h, i, leaf, p); err != nil {
				t.Fatal(err)
			}
			if err := tlog.CheckRecord(asTlog(p), int64(size), tlog.Hash(h.Root), int64(i), tlog.Hash(leaf)); err != nil {
				t.Fatal(err)
			}
			old := rng.Uint64N(size + 1)
			c, err := tiles.ConsistencyProof(t.Context(), old, size)
			if err != nil {
				t.Fatal(err)
			}
			if err := proof.VerifyConsistency(rfc6962.DefaultHasher, old, size, slicesOf(c), bytesOf(roots[old]), bytesOf(h.Root)); err != nil {
				t.Fatal(err)
			}
			if old > 0 && tlog.CheckTree(asTlog(c), int64(size), tlog.Hash(h.Root), int64(old), tlog.Hash(roots[old])) != nil {
				t.Fatal("tlog refuses the consistency proof")
			}
			if got, err := tiles.Root(t.Context(), size); err != nil || got != h.Root {
				t.Fatalf("root of %d: %v", size, err)
			}
			if len(p) > 0 { // a changed proof proves nothing
				p[rng.IntN(len(p))][0] ^= 1
				if err := VerifyInclusion(h, i, leaf, p); !errors.Is(err, ErrProof) {
					t.Fatalf("changed proof: %v", err)
				}
			}
			if len(c) > 0 {
				c[rng.IntN(len(c))][31] ^= 1
				if err := VerifyConsistency(Head{old, roots[old]}, h, c); !errors.Is(err, ErrProof) {
					t.Fatalf("changed consistency proof: %v", err)
				}
			}
		}
	}
}

// TestProofsAllSmall goes through every index and prefix of every small size.
func TestProofsAllSmall(t *testing.T) {
	const max = 40
	m, _ := filled(t, max, nil)
	roots := rootsOf(m, max)
	tiles := NewTiles(m, nil)
	for size := uint64(0); size <= max; size++ {
		h := Head{size, roots[size]}
		for i := range size {
			p, err := tiles.InclusionProof(t.Context(), i, size)
			if err != nil || VerifyInclusion(h, i, LeafHash(m.rows[i].data), p) != nil {
				t.Fatalf("inclusion %d in %d: %v", i, size, err)
			}
			c, err := tiles.ConsistencyProof(t.Context(), i, size)
			if err != nil || VerifyConsistency(Head{i, roots[i]}, h, c) != nil {
				t.Fatalf("consistency %d to %d: %v", i, size, err)
			}
		}
		if _, err := tiles.InclusionProof(t.Context(), size, size); !errors.Is(err, ErrRange) {
			t.Errorf("entry %d of %d: %v", size, size, err)
		}
		if _, err := tiles.ConsistencyProof(t.Context(), size+1, size); !errors.Is(err, ErrRange) {
			t.Errorf("from %d to %d: %v", size+1, size, err)
		}
	}
	if _, err := tiles.InclusionProof(t.Context(), 0, max+1); !errors.Is(err, ErrShort) {
		t.Errorf("beyond the log: %v", err)
	}
	if VerifyConsistency(Head{}, Head{1, roots[1]}, nil) == nil {
		t.Error("the zero head, which is no head, was consistent")
	}
}

// TestTilesReadOnce counts reads: after Warm, proofs from anywhere read at most
// the leaf tile that they need, and tiles kept are not read again.
func TestTilesReadOnce(t *testing.T) {
	m, _ := filled(t, 70_000, nil)
	tiles := NewTiles(m, &TilesOptions{LeafTiles: 8})
	if err := tiles.Warm(t.Context(), 70_000); err != nil {
		t.Fatal(err)
	}
	if n := m.reads.Swap(0); n > 70_000+TileWidth {
		t.Errorf("warming read %d hashes", n)
	}
	for i := range uint64(50) {
		if _, err := tiles.InclusionProof(t.Context(), i*1300, 70_000); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.reads.Load(); n > 50*TileWidth {
		t.Errorf("50 proofs read %d hashes", n)
	}
	if len(tiles.index) > 8+1024 {
		t.Errorf("%d tiles kept", len(tiles.index))
	}
}

func TestTilesConcurrent(t *testing.T) {
	m, _ := filled(t, 5_000, nil)
	roots := rootsOf(m, 5_000)
	tiles := NewTiles(m, &TilesOptions{LeafTiles: 2, UpperTiles: 1})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 60 {
				size := uint64(1 + (g*977+i*83)%5_000)
				idx := uint64(i*31+g) % size
				p, err := tiles.InclusionProof(t.Context(), idx, size)
				if err != nil || VerifyInclusion(Head{size, roots[size]}, idx, LeafHash(m.rows[idx].data), p) != nil {
					t.Errorf("proof %d in %d: %v", idx, size, err)
				}
			}
		})
	}
	wg.Wait()
}

// failing is a log whose store fails.
type failing struct{ err error }

func (f failing) Read(context.Context, uint64, int) ([][]byte, error) { return nil, f.err }

func TestTilesStoreFails(t *testing.T) {
	boom := errors.New("boom")
	if _, err := NewTiles(failing{boom}, nil).Root(t.Context(), 10); !errors.Is(err, boom) {
		t.Errorf("failing store: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tiles := NewTiles(newMemLog(), nil)
	c := tiles.get(tileID{0, 0})
	c.lock <- struct{}{} // somebody else is filling the tile
	cancel()
	if _, err := tiles.Tile(ctx, 0, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled wait: %v", err)
	}
}

func TestTilePath(t *testing.T) {
	for _, tc := range []struct {
		path string
		ref  TileRef
	}{
		{"tile/0/000", TileRef{false, 0, 0, 256}},
		{"tile/63/999", TileRef{false, 63, 999, 256}},
		{"tile/1/x001/000", TileRef{false, 1, 1000, 256}},
		{"tile/0/x001/x234/067.p/1", TileRef{false, 0, 1234067, 1}},
		{"tile/entries/x123/456.p/255", TileRef{true, 0, 123456, 255}},
		{"tile/0/x036/x028/x797/x018/x963/967", TileRef{false, 0, 36028797018963967, 256}},
	} {
		ref, err := ParseTilePath(tc.path)
		if err != nil || ref != tc.ref || ref.String() != tc.path {
			t.Errorf("%s: %+v %v, back %s", tc.path, ref, err, ref)
		}
	}
	for _, bad := range []string{"", "tile", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/00", "tile/0/0000", "tile/0/x000/000",
		"tile/0/x001", "tile/0/001/000", "tile/0/x001/x000", "tile/00/000", "tile/64/000", "tile/-1/000", "tile/+0/000", "tile/a/000",
		"tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000.p/1/2", "tile/0/000.p/1.p/1",
		"tile/0/000/", "/tile/0/000", "tile//000", "tile/0/000.P/1", "tile/0/00a", "tile/0/+00", "tile/data/000", "tile/0/x036/x028/x797/x018/x963/968",
		"tile/0/x001/x001/x001/x001/x001/x001/x001/001", "tile/entries", "tile/entries/x01/000", "tile/0/٠٠٠"} {
		if ref, err := ParseTilePath(bad); !errors.Is(err, ErrPath) {
			t.Errorf("%q: %+v %v", bad, ref, err)
		}
	}
}

func FuzzTilePath(f *testing.F) {
	for _, s := range []string{"tile/0/000", "tile/entries/x001/x234/067.p/17", "tile/8/x001/000.p/255"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := ParseTilePath(s)
		if err != nil {
			return
		}
		if ref.String() != s {
			t.Errorf("%q re-encodes as %q", s, ref)
		}
		// What it accepts, x/mod's parser accepts alike (it reads entries elsewhere).
		if tl, err := tlog.ParseTilePath("tile/8/" + strings.TrimPrefix(s, "tile/")); !ref.Entries && (err != nil || tl.L != ref.Level || uint64(tl.N) != ref.Index || tl.W != ref.Width) {
			t.Errorf("%q: x/mod reads %+v %v", s, tl, err)
		}
	})
}

func FuzzNote(f *testing.F) {
	s, _ := NewSigner(testOrigin, testKey(1))
	raw, _ := s.Sign(testHead(3))
	f.Add(raw)
	p, _ := NewPolicy(s.VerifierKeys()...)
	f.Fuzz(func(t *testing.T, b []byte) {
		origin, h, err := ParseUnverified(b)
		c, oerr := p.Open(b)
		if oerr == nil && (err != nil || origin != c.Origin || h != c.Head) {
			t.Errorf("opened %+v, parsed %v %v", c, h, err)
		}
		if oerr == nil && c.Head != testHead(3) {
			t.Errorf("accepted a head that was never signed: %+v", c.Head)
		}
		if err == nil {
			if o, hh, err := parseHead(marshalHead(origin, h)); err != nil || o != origin || hh != h {
				t.Errorf("re-encoding changes %v", h)
			}
		}
	})
}

func BenchmarkInclusionProof100k(b *testing.B) {
	b.ReportAllocs()
	m, _ := filled(b, 100_000, nil)
	tiles := NewTiles(m, nil)
	if err := tiles.Warm(b.Context(), 100_000); err != nil {
		b.Fatal(err)
	}
	for i := uint64(0); b.Loop(); i++ {
		if _, err := tiles.InclusionProof(b.Context(), i*7919%100_000, 100_000); err != nil {
			b.Fatal(err)
		}
	}
}

func rootsOf(m *memLog, n int) []Hash {
	var tree Tree
	out := []Hash{tree.Head().Root}
	for _, r := range m.rows[:n] {
		tree.AppendHash(LeafHash(r.data))
		out = append(out, tree.Head().Root)
	}
	return out
}

func treeOf(m *memLog, n int) *Tree {
	tree := &Tree{}
	for _, r := range m.rows[:n] {
		tree.AppendHash(LeafHash(r.data))
	}
	return tree
}

func asTlog(p []Hash) []tlog.Hash {
	out := make([]tlog.Hash, len(p))
	for i, h := range p {
		out[i] = tlog.Hash(h)
	}
	return out
}

func bytesOf(h Hash) []byte { return h[:] }
