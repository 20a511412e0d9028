package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
)

// Errors of proofs.
var (
	// ErrRange says that an index or size lies outside of the tree.
	ErrRange = errors.New("ledger: index or size outside of the tree")
	// ErrProof says that a proof does not prove what it should.
	ErrProof = errors.New("ledger: proof does not verify")
)

// maxSize bounds tree sizes to what all formats here can count.
const maxSize = 1<<63 - 1

// Root recomputes the root of the first size entries.
func (t *Tiles) Root(ctx context.Context, size uint64) (Hash, error) {
	if size == 0 {
		return EmptyHead().Root, nil
	}
	if size > maxSize {
		return Hash{}, ErrRange
	}
	h, err := tlog.TreeHash(int64(size), t.at(ctx, size))
	return Hash(h), err
}

// InclusionProof proves that the entry at index is in the tree of that size
// (RFC 6962 section 2.1.1): the hashes from leaf to root.
func (t *Tiles) InclusionProof(ctx context.Context, index, size uint64) ([]Hash, error) {
	if size > maxSize || index >= size {
		return nil, fmt.Errorf("%w: entry %d of %d", ErrRange, index, size)
	}
	p, err := tlog.ProveRecord(int64(size), int64(index), t.at(ctx, size))
	return plain(p), err
}

// ConsistencyProof proves that the tree of old entries is a prefix of that of
// size entries (RFC 6962 section 2.1.2). It is empty if old is 0 or size.
func (t *Tiles) ConsistencyProof(ctx context.Context, old, size uint64) ([]Hash, error) {
	if size > maxSize || old > size {
		return nil, fmt.Errorf("%w: from %d to %d", ErrRange, old, size)
	}
	if old == 0 || old == size {
		return nil, nil
	}
	p, err := tlog.ProveTree(int64(size), int64(old), t.at(ctx, size))
	return plain(p), err
}

// VerifyInclusion checks an inclusion proof for the entry with that LeafHash.
func VerifyInclusion(h Head, index uint64, leaf Hash, p []Hash) error {
	if err := proof.VerifyInclusion(rfc6962.DefaultHasher, index, h.Size, leaf[:], slicesOf(p), h.Root[:]); err != nil {
		return fmt.Errorf("%w: entry %d in %d: %v", ErrProof, index, h.Size, err)
	}
	return nil
}

// VerifyConsistency checks a consistency proof between two heads.
func VerifyConsistency(old, h Head, p []Hash) error {
	// The empty log is a prefix of every log, but only with its own root.
	if old.Size == 0 && old != EmptyHead() || h.Size == 0 && h != EmptyHead() {
		return fmt.Errorf("%w: wrong root of the empty log", ErrProof)
	}
	if err := proof.VerifyConsistency(rfc6962.DefaultHasher, old.Size, h.Size, slicesOf(p), old.Root[:], h.Root[:]); err != nil {
		return fmt.Errorf("%w: from %d to %d: %v", ErrProof, old.Size, h.Size, err)
	}
	return nil
}

// nodes reads tree nodes for the proofs of x/mod/sumdb/tlog from tiles.
type nodes struct {
	ctx  context.Context // tlog's interface has no place for it
	t    *Tiles
	size uint64
}

func (t *Tiles) at(ctx context.Context, size uint64) tlog.HashReader { return nodes{ctx, t, size} }

// ReadHashes implements tlog.HashReader.
func (r nodes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		level, n := tlog.SplitStoredHashIndex(x)
		h, err := r.node(level, uint64(n))
		if err != nil {
			return nil, err
		}
		out[i] = tlog.Hash(h)
	}
	return out, nil
}

// node gives the root of the n-th subtree of 2^level leaves.
func (r nodes) node(level int, n uint64) (Hash, error) {
	up := level % tileHeight // levels above the tile's own hashes
	first := n << up
	id := tileID{level / tileHeight, first / TileWidth}
	width := TileRef{Level: id.level, Index: id.n}.available(r.size)
	from, to := int(first%TileWidth), int(first%TileWidth)+1<<up
	if to > width {
		return Hash{}, ErrRange
	}
	hashes, inner, err := r.t.load(r.ctx, id, width)
	switch {
	case err != nil:
		return Hash{}, err
	case up == 0:
		return hashes[from], nil
	}
	return inner[TileWidth>>up+from>>up], nil
}

func plain[T ~[]E, E ~[32]byte](p T) []Hash {
	out := make([]Hash, len(p))
	for i, h := range p {
		out[i] = Hash(h)
	}
	return out
}

func slicesOf(p []Hash) [][]byte {
	out := make([][]byte, len(p))
	for i := range p {
		out[i] = p[i][:]
	}
	return out
}
