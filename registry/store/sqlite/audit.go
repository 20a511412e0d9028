package sqlite

import (
	"context"
	"fmt"
	"math"

	"github.com/pratique-dev/pratique/registry/store"
)

// LeafHashes gives the leaf hashes of at most max entries from index from on,
// as they were stored with the entries: tiles and proofs need no entry read. A
// row that is missing below the head is store.ErrGap, as in Read.
func (l *Log) LeafHashes(ctx context.Context, from uint64, max int) ([][32]byte, error) {
	h, err := l.Head(ctx)
	if err != nil || max <= 0 || from >= h.Size || from > math.MaxInt64 {
		return nil, err
	}
	want := min(uint64(max), h.Size-from)
	out := make([][32]byte, 0, want)
	err = l.query(ctx, "leaves", func(scan func(...any) error) error {
		var seq int64
		var leaf []byte
		if err := scan(&seq, &leaf); err != nil {
			return err
		}
		if uint64(seq) != from+uint64(len(out)) {
			return fmt.Errorf("%w: %d", store.ErrGap, from+uint64(len(out)))
		}
		if len(leaf) != 32 {
			return fmt.Errorf("%w: leaf hash of entry %d", store.ErrCorrupt, seq)
		}
		out = append(out, masked([32]byte(leaf), uint64(seq)))
		return nil
	}, `SELECT seq, leaf FROM log WHERE seq >= ? ORDER BY seq LIMIT ?`, int64(from), int64(want))
	if err == nil && uint64(len(out)) < want {
		err = fmt.Errorf("%w: %d", store.ErrGap, from+uint64(len(out)))
	}
	return out, err
}

// AuditEntries visits entry rows as they are, ascending, gaps and all; ok says
// whether a row agrees with its own check.
func (l *Log) AuditEntries(ctx context.Context, from uint64, max int, visit func(seq uint64, data []byte, leaf [32]byte, ok bool) error) error {
	if from > math.MaxInt64 {
		return nil
	}
	return l.query(ctx, "audit", func(scan func(...any) error) error {
		var seq int64
		var data, raw []byte
		if err := scan(&seq, &data, &raw); err != nil {
			return err
		}
		var leaf [32]byte
		ok := len(raw) == 32
		if ok {
			leaf = masked([32]byte(raw), uint64(seq))
			ok = leaf == leafHash(data)
		}
		return visit(uint64(seq), data, leaf, ok)
	}, `SELECT seq, data, leaf FROM log WHERE seq >= ? ORDER BY seq LIMIT ?`, int64(from), int64(max))
}

// AuditNotes visits checkpoint rows as they are, by ordinal.
func (l *Log) AuditNotes(ctx context.Context, from uint64, max int, visit func(n, size uint64, note []byte, ok bool) error) error {
	if from > math.MaxInt64 {
		return nil
	}
	return l.query(ctx, "audit", func(scan func(...any) error) error {
		var n, size int64
		var text, sum []byte
		if err := scan(&n, &size, &text, &sum); err != nil {
			return err
		}
		ok := n >= 0 && size >= 0 && len(sum) == 32 && [32]byte(sum) == noteSum(uint64(n), uint64(size), text)
		return visit(uint64(n), uint64(size), text, ok)
	}, `SELECT n, size, text, sum FROM note WHERE n >= ? ORDER BY n LIMIT ?`, int64(from), int64(max))
}

// AuditHead gives the head row as it is; without one, ok is false.
func (l *Log) AuditHead(ctx context.Context) (size uint64, root [32]byte, notes uint64, ok bool, err error) {
	return l.headRow(ctx, "audit")
}

func (l *Log) headRow(ctx context.Context, call string) (size uint64, root [32]byte, notes uint64, ok bool, err error) {
	err = l.query(ctx, call, func(scan func(...any) error) error {
		var s, n int64
		var r, sum []byte
		if err := scan(&s, &r, &n, &sum); err != nil {
			return err
		}
		size, notes = uint64(s), uint64(n)
		if s < 0 || n < 0 || len(r) != 32 || len(sum) != 32 {
			return nil
		}
		root = [32]byte(r)
		ok = [32]byte(sum) == headSum(store.Head{Size: size, Root: root}, notes)
		return nil
	}, `SELECT size, root, notes, sum FROM head WHERE id=1`)
	return size, root, notes, ok, err
}
