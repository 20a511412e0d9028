package ledger

import (
	"context"
	"errors"
	"fmt"
)

// Errors of reading a log.
var (
	// ErrShort says that the log holds fewer entries than were asked for.
	ErrShort = errors.New("ledger: log is shorter than asked for")
	// ErrBadReader says that a reader gave more than was asked for.
	ErrBadReader = errors.New("ledger: reader broke its contract")
)

// Reader is the log as stored: at most max entries from index from on, in
// order and without gaps; none only at or beyond the end.
type Reader interface {
	Read(ctx context.Context, from uint64, max int) ([][]byte, error)
}

// LeafReader is what a Reader may also offer: the leaf hashes of entries
// without their bytes, under the same rules. Tiles and proofs then read 32
// bytes per entry.
type LeafReader interface {
	LeafHashes(ctx context.Context, from uint64, max int) ([]Hash, error)
}

// readLeaves reads exactly n leaf hashes from index from on, or says ErrShort.
func readLeaves(ctx context.Context, r Reader, from uint64, n int) ([]Hash, error) {
	out := make([]Hash, 0, n)
	lr, fast := r.(LeafReader)
	for len(out) < n {
		var got []Hash
		var err error
		if fast {
			got, err = lr.LeafHashes(ctx, from+uint64(len(out)), n-len(out))
		} else {
			var es [][]byte
			es, err = r.Read(ctx, from+uint64(len(out)), n-len(out))
			for _, e := range es {
				got = append(got, LeafHash(e))
			}
		}
		if err := checkRead(err, len(got), n-len(out), from+uint64(len(out))); err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// readEntries reads exactly n entries from index from on, or says ErrShort.
func readEntries(ctx context.Context, r Reader, from uint64, n int) ([][]byte, error) {
	out := make([][]byte, 0, n)
	for len(out) < n {
		got, err := r.Read(ctx, from+uint64(len(out)), n-len(out))
		if err := checkRead(err, len(got), n-len(out), from+uint64(len(out))); err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

func checkRead(err error, got, want int, at uint64) error {
	switch {
	case err != nil:
		return fmt.Errorf("ledger: read at %d: %w", at, err)
	case got == 0:
		return fmt.Errorf("%w: nothing at index %d", ErrShort, at)
	case got > want:
		return ErrBadReader
	}
	return nil
}
