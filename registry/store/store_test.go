package store_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/pratique-dev/pratique/registry/store"
)

// A failed append has written nothing, or nobody knows: there is no third case.
func ExampleUnwritten() {
	conflict := fmt.Errorf("append: %w", store.ErrConflict)
	broken := fmt.Errorf("append: %w: %w", store.ErrUnknownOutcome, store.ErrFull)
	fmt.Println(store.Unwritten(conflict), store.Unwritten(broken))
	// Output: true false
}

func TestUnwritten(t *testing.T) {
	for _, err := range []error{nil, io.EOF, store.ErrUnknownOutcome, store.ErrFull, store.ErrIO, store.ErrCorrupt, store.ErrBusy,
		errors.Join(store.ErrConflict, store.ErrUnknownOutcome), fmt.Errorf("%w: %w", store.ErrUnknownOutcome, store.ErrClosed)} {
		if store.Unwritten(err) {
			t.Errorf("%v counts as unwritten", err)
		}
	}
	for _, err := range []error{store.ErrConflict, store.ErrBatch, store.ErrEntrySize, store.ErrNoteExists, store.ErrContentExists, store.ErrClosed} {
		if !store.Unwritten(fmt.Errorf("x: %w", err)) {
			t.Errorf("%v does not count as unwritten", err)
		}
	}
}

// Sizes near the ends of their types are refused, not wrapped around.
func TestCheckBatchBounds(t *testing.T) {
	one := store.Batch{Entries: [][]byte{{1}}}
	for _, h := range [][2]uint64{
		{math.MaxUint64, 0}, {math.MaxInt64, math.MaxInt64 + 1}, {math.MaxUint64 - 1, math.MaxUint64}, {0, 0}, {1, 0}, {0, 2},
	} {
		if err := store.CheckBatch(store.Head{Size: h[0]}, store.Head{Size: h[1]}, one); !errors.Is(err, store.ErrBatch) {
			t.Errorf("%v: %v", h, err)
		}
	}
	if err := store.CheckBatch(store.Head{Size: math.MaxInt64 - 1}, store.Head{Size: math.MaxInt64}, one); err != nil {
		t.Error(err)
	}
}
