package node

import (
	"context"
	"fmt"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
)

// foldAll folds every event of a log into fresh tables: a log may be intact as
// a tree and still hold what no registry would have written.
func foldAll(ctx context.Context, l store.Store) (*state.View, error) {
	db := state.New()
	h, err := l.Head(ctx)
	if err != nil {
		return nil, err
	}
	for at := uint64(0); at < h.Size; {
		entries, err := l.Read(ctx, at, int(min(4096, h.Size-at)))
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			return nil, fmt.Errorf("entry %d is missing", at)
		}
		tx := db.Write()
		for i, b := range entries {
			e, err := registry.ParseEvent(b)
			if err == nil {
				err = tx.Apply(at+uint64(i), &e)
			}
			if err != nil {
				tx.Abort()
				return nil, fmt.Errorf("entry %d: %w", at+uint64(i), err)
			}
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
		at += uint64(len(entries))
	}
	return db.Read(), nil
}
