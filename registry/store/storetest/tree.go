// Package storetest is the one suite that every engine of the log passes, and
// the small things that tests and benchmarks of the packages above share: a
// reference Merkle tree, a group committer over any store, and a committer
// over bare SQLite to compare with.
package storetest

import (
	"crypto/sha256"
	"math/bits"

	"github.com/pratique-dev/pratique/registry/store"
)

// Tree computes the RFC 6962 root of a growing log. It is written here, and
// not taken from registry/ledger, so that a mistake there cannot hide in
// tests that use the same code on both sides. The zero value is empty.
type Tree struct {
	size  uint64
	roots [][32]byte // of the perfect subtrees, largest first
}

// Add appends an entry.
func (t *Tree) Add(entry []byte) {
	t.size++
	h := sha256.Sum256(append([]byte{0}, entry...))
	for range bits.TrailingZeros64(t.size) {
		last := len(t.roots) - 1
		h = node(t.roots[last], h)
		t.roots = t.roots[:last]
	}
	t.roots = append(t.roots, h)
}

func node(l, r [32]byte) [32]byte {
	var b [65]byte
	b[0] = 1
	copy(b[1:], l[:])
	copy(b[33:], r[:])
	return sha256.Sum256(b[:])
}

// Head returns size and root.
func (t *Tree) Head() store.Head {
	if t.size == 0 {
		return store.EmptyHead()
	}
	h := t.roots[len(t.roots)-1]
	for i := len(t.roots) - 2; i >= 0; i-- {
		h = node(t.roots[i], h)
	}
	return store.Head{Size: t.size, Root: h}
}

// Clone returns a copy that grows on its own.
func (t *Tree) Clone() *Tree {
	return &Tree{size: t.size, roots: append([][32]byte(nil), t.roots...)}
}
