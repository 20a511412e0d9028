package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

// A log is made on first opening. Each append names the head it was made
// for, and is refused when the log has moved on.
func ExampleOpen() {
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	ctx := context.Background()
	l, err := sqlite.Open(ctx, filepath.Join(parent, "log"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()

	var tree storetest.Tree // registry/ledger computes roots in earnest
	tree.Add([]byte("first"))
	b := store.Batch{Entries: [][]byte{[]byte("first")}}
	fmt.Println(l.Append(ctx, store.EmptyHead(), tree.Head(), b))

	err = l.Append(ctx, store.EmptyHead(), tree.Head(), b)
	fmt.Println(errors.Is(err, store.ErrConflict), store.Unwritten(err))

	entries, err := l.Read(ctx, 0, 10)
	fmt.Printf("%s %v\n", entries, err)
	// Output:
	// <nil>
	// true true
	// [first] <nil>
}
