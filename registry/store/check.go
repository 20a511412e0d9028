package store

import (
	"fmt"
	"math"
)

// CheckBatch is the part of Append that needs no database: every engine calls
// it first, so that all refuse the same batches by the same names.
func CheckBatch(prev, next Head, b Batch) error {
	n := uint64(len(b.Entries))
	switch {
	case n > MaxEntries:
		return fmt.Errorf("%w: %d entries", ErrBatch, n)
	case next.Size > math.MaxInt64 || prev.Size > math.MaxInt64 || next.Size-n != prev.Size || next.Size < n:
		return fmt.Errorf("%w: %d entries from size %d to %d", ErrBatch, n, prev.Size, next.Size)
	case n == 0 && prev.Root != next.Root:
		return fmt.Errorf("%w: other root without entries", ErrBatch)
	case n == 0 && len(b.Notes) == 0 && len(b.Content) == 0:
		return fmt.Errorf("%w: empty", ErrBatch)
	}
	for i, e := range b.Entries {
		if len(e) == 0 || len(e) > MaxEntry {
			return fmt.Errorf("%w: entry %d has %d bytes", ErrEntrySize, i, len(e))
		}
	}
	for i, c := range b.Content {
		if len(c.Data) == 0 || len(c.Data) > MaxContent {
			return fmt.Errorf("%w: content %d has %d bytes", ErrEntrySize, i, len(c.Data))
		}
	}
	for i, t := range b.Notes {
		if len(t.Text) == 0 || len(t.Text) > MaxNote {
			return fmt.Errorf("%w: note %d has %d bytes", ErrEntrySize, i, len(t.Text))
		}
		if t.Size > next.Size {
			return fmt.Errorf("%w: note for size %d beyond %d", ErrBatch, t.Size, next.Size)
		}
	}
	return nil
}
