package sqlite_test

import (
	"context"
	"testing"

	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

var ctx = context.Background()

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB) func() (store.Store, error) {
		dir := t.TempDir() + "/log"
		return func() (store.Store, error) { return sqlite.Open(ctx, dir, nil) }
	})
}
