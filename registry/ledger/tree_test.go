package ledger

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
)

// The inputs and roots of the RFC 6962 test vectors that Certificate
// Transparency implementations share (certificate-transparency/merkletree).
var rfcInputs = []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
var rfcRoots = []string{
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
	"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
	"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
	"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
	"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
	"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
	"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
	"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}

func TestTreeRFC6962Vectors(t *testing.T) {
	var tree Tree
	for i, want := range rfcRoots {
		h := tree.Head()
		if h.Size != uint64(i) || hex.EncodeToString(h.Root[:]) != want {
			t.Errorf("size %d: head %d %x, want root %s", i, h.Size, h.Root, want)
		}
		if i < len(rfcInputs) {
			in, _ := hex.DecodeString(rfcInputs[i])
			if err := tree.Append(in); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTreeAgainstOthers folds random entries of random lengths and compares
// leaf hashes and roots with two other implementations at every size.
func TestTreeAgainstOthers(t *testing.T) {
	rng := newRand(t)
	var tree Tree
	other := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
	var stored tlog.HashReaderFunc
	var hashes []tlog.Hash
	stored = func(idx []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(idx))
		for i, x := range idx {
			out[i] = hashes[x]
		}
		return out, nil
	}
	for i := range 700 {
		e := randBytes(rng, rng.IntN(2500))
		hs, err := tlog.StoredHashes(int64(i), e, stored)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hs...)
		leaf := LeafHash(e)
		if leaf != tlog.RecordHash(e) || string(leaf[:]) != string(rfc6962.DefaultHasher.HashLeaf(e)) {
			t.Fatalf("leaf hash of %d bytes differs", len(e))
		}
		if err := other.Append(leaf[:], nil); err != nil {
			t.Fatal(err)
		}
		if err := tree.Append(e); err != nil {
			t.Fatal(err)
		}
		want, _ := other.GetRootHash(nil)
		want2, err := tlog.TreeHash(int64(i+1), stored)
		h := tree.Head()
		if err != nil || string(h.Root[:]) != string(want) || h.Root != want2 {
			t.Fatalf("root at %d differs", i+1)
		}
	}
}

func TestTreeFrontier(t *testing.T) {
	rng := newRand(t)
	var tree Tree
	for i := range 300 {
		f, h := tree.Frontier(), tree.Head()
		back, err := FromFrontier(h, f)
		if err != nil || *back != treeWithoutGarbage(tree) {
			t.Fatalf("size %d: %v", i, err)
		}
		if len(f) > 0 {
			f[rng.IntN(len(f))][rng.IntN(32)] ^= 1 << rng.IntN(8)
			if _, err := FromFrontier(h, f); !errors.Is(err, ErrFrontier) {
				t.Fatalf("size %d: changed frontier: %v", i, err)
			}
			if _, err := FromFrontier(h, f[1:]); !errors.Is(err, ErrFrontier) {
				t.Fatalf("size %d: short frontier: %v", i, err)
			}
		}
		c := tree.Clone()
		c.AppendHash(Hash{1})
		if tree.Head() != h {
			t.Fatal("a clone's append reached its source")
		}
		tree.AppendHash(LeafHash(randBytes(rng, 10)))
	}
}

// treeWithoutGarbage clears edge slots that the size marks as unused.
func treeWithoutGarbage(t Tree) Tree {
	for k := range t.edge {
		if t.size>>k&1 == 0 {
			t.edge[k] = Hash{}
		}
	}
	return t
}

func TestTreeEntrySize(t *testing.T) {
	var tree Tree
	if err := tree.Append(make([]byte, MaxEntry)); err != nil {
		t.Error(err)
	}
	if err := tree.Append(make([]byte, MaxEntry+1)); !errors.Is(err, ErrEntrySize) || tree.Size() != 1 {
		t.Errorf("err %v, size %d", err, tree.Size())
	}
}

// newRand is a random source whose seed is printed when the test fails.
func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func randBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	e := make([]byte, 350)
	var tree Tree
	for b.Loop() {
		if err := tree.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}
