package ledger

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
)

// Hash is a SHA-256 value: a leaf, an inner node or a root of the tree.
type Hash = [sha256.Size]byte

// MaxEntry is the length in bytes of the longest entry: an entry bundle of
// c2sp.org/tlog-tiles writes the length in 16 bits.
const MaxEntry = 1<<16 - 1

// Errors of trees and heads.
var (
	// ErrEntrySize refuses an entry longer than MaxEntry; nothing was added.
	ErrEntrySize = errors.New("ledger: entry is longer than 65535 bytes")
	// ErrFrontier says that stored frontier hashes do not fold to the head
	// they came with: throw the snapshot away and fold from the log.
	ErrFrontier = errors.New("ledger: frontier does not match its head")
)

// Head is a state of the log: how many entries, and the RFC 6962 root over
// them. The zero Head is no state at all; an empty log's is EmptyHead.
type Head struct {
	Size uint64
	Root Hash
}

// EmptyHead is the head of a log without entries: root SHA-256("").
func EmptyHead() Head { return Head{Root: sha256.Sum256(nil)} }

// LeafHash is the RFC 6962 hash of an entry, SHA-256(0x00 || entry).
func LeafHash(entry []byte) Hash {
	var buf [1024]byte // an event is about 350 bytes: no allocation, one pass
	if len(entry) < len(buf) {
		n := copy(buf[1:], entry)
		return sha256.Sum256(buf[:1+n])
	}
	h := sha256.New()
	h.Write(buf[:1])
	h.Write(entry)
	var out Hash
	h.Sum(out[:0])
	return out
}

// nodeHash is the RFC 6962 hash of an inner node, SHA-256(0x01 || l || r).
func nodeHash(l, r *Hash) Hash {
	var buf [1 + 2*sha256.Size]byte
	buf[0] = 1
	copy(buf[1:], l[:])
	copy(buf[1+sha256.Size:], r[:])
	return sha256.Sum256(buf[:])
}

// Tree is the right edge of the log's Merkle tree: enough to append and to
// give the root, nothing more. The zero Tree is the empty log. It holds no
// pointers, so that an assignment copies it. Not safe for concurrent use.
type Tree struct {
	size uint64
	// edge[k] is the root of the perfect subtree of 2^k leaves that ends the
	// log's prefix of that shape; valid only where bit k of size is set.
	edge [64]Hash
}

// Append folds one entry in. An entry longer than MaxEntry is ErrEntrySize.
func (t *Tree) Append(entry []byte) error {
	if len(entry) > MaxEntry {
		return fmt.Errorf("%w: %d bytes", ErrEntrySize, len(entry))
	}
	t.AppendHash(LeafHash(entry))
	return nil
}

// AppendHash folds in an entry whose LeafHash is leaf.
func (t *Tree) AppendHash(leaf Hash) {
	k := 0
	for ; t.size>>k&1 == 1; k++ {
		leaf = nodeHash(&t.edge[k], &leaf)
	}
	t.edge[k] = leaf
	t.size++
}

// Size is the number of entries folded in.
func (t *Tree) Size() uint64 { return t.size }

// Head gives size and root; it costs one hash per set bit of the size.
func (t *Tree) Head() Head {
	if t.size == 0 {
		return EmptyHead()
	}
	k := bits.TrailingZeros64(t.size)
	root := t.edge[k]
	for k++; k < 64; k++ {
		if t.size>>k&1 == 1 {
			root = nodeHash(&t.edge[k], &root)
		}
	}
	return Head{Size: t.size, Root: root}
}

// Clone returns an independent copy (2 KiB, one allocation).
func (t *Tree) Clone() *Tree { c := *t; return &c }

// Frontier returns the roots of the perfect subtrees that make up the log,
// largest (leftmost) first: one per set bit of the size. A snapshot stores it
// with the head.
func (t *Tree) Frontier() []Hash {
	out := make([]Hash, 0, bits.OnesCount64(t.size))
	for k := 63; k >= 0; k-- {
		if t.size>>k&1 == 1 {
			out = append(out, t.edge[k])
		}
	}
	return out
}

// FromFrontier rebuilds the tree of a stored head, or says ErrFrontier.
func FromFrontier(h Head, frontier []Hash) (*Tree, error) {
	if len(frontier) != bits.OnesCount64(h.Size) {
		return nil, fmt.Errorf("%w: %d hashes for size %d", ErrFrontier, len(frontier), h.Size)
	}
	t := &Tree{size: h.Size}
	for k, i := 63, 0; k >= 0; k-- {
		if h.Size>>k&1 == 1 {
			t.edge[k] = frontier[i]
			i++
		}
	}
	if t.Head() != h {
		return nil, ErrFrontier
	}
	return t, nil
}
