package ledger_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/registry/ledger"
)

// log is a log in memory; the registry's is its store.
type log struct{ entries [][]byte }

func (l *log) Read(_ context.Context, from uint64, max int) ([][]byte, error) {
	return l.entries[from:min(uint64(len(l.entries)), from+uint64(max))], nil
}

// The writer folds entries into a clone of the tree, commits entries and head
// together, and only then signs the head.
func ExampleTree() {
	tree := &ledger.Tree{}
	next := tree.Clone()
	for _, e := range []string{"a", "b", "c"} {
		if err := next.Append([]byte(e)); err != nil {
			fmt.Println(err)
			return
		}
	}
	// ... commit entries and head by compare-and-swap from tree.Head() ...
	tree = next
	signer, _ := ledger.NewSigner("registry.example/log", ed25519.NewKeyFromSeed(make([]byte, 32)))
	note, _ := signer.Sign(tree.Head())
	fmt.Print(string(note))
	// Output:
	// registry.example/log
	// 3
	// NmQuc8JUCrEh46a/lUWwokmCzYMOsT080Z3jzmwCHsE=
	//
	// — registry.example/log qzDx7IWkq4XfQOcoNSMF97tHMh12UrQU2uENisM+5FXC1oOQBVC3UOXqS0NVUjPj5bvsLfSXZAuDtOWn5UY836mEIAE=
}

// A follower remembers the last checkpoint and demands that each next one
// extends it.
func ExampleFollower() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "follower")
	defer os.RemoveAll(dir)
	signer, _ := ledger.NewSigner("registry.example/log", ed25519.NewKeyFromSeed(make([]byte, 32)))

	// The registry's side: a table, a board, a handler.
	table, tree, board := &log{}, &ledger.Tree{}, &ledger.Board{}
	grow := func(e string) {
		table.entries = append(table.entries, []byte(e))
		tree.Append([]byte(e))
		note, _ := signer.Sign(tree.Head())
		board.Publish(note)
	}
	srv := httptest.NewServer(ledger.NewHandler(ledger.NewTiles(table, nil), board, signer.VerifierKeys))
	defer srv.Close()

	// The client's side.
	policy, _ := ledger.NewPolicy(signer.VerifierKeys()...)
	client, _ := ledger.NewClient(srv.URL+"/ledger", policy, nil)
	follower := ledger.NewFollower(client, ledger.FileMemory(filepath.Join(dir, "last")))
	for _, e := range []string{"registered", "overwritten", "revoked"} {
		grow(e)
		cp, err := follower.Update(ctx)
		fmt.Println(cp.Size, err)
	}
	cp, _ := follower.Last(ctx)
	fmt.Println(client.Inclusion(ctx, 2, []byte("revoked"), cp))
	// Output:
	// 1 <nil>
	// 2 <nil>
	// 3 <nil>
	// <nil>
}

// Verify walks a store and says what is wrong, where. Here the log is served
// by somebody, and read through a Client.
func ExampleVerify() {
	ctx := context.Background()
	signer, _ := ledger.NewSigner("registry.example/log", ed25519.NewKeyFromSeed(make([]byte, 32)))
	table, tree, board := &log{}, &ledger.Tree{}, &ledger.Board{}
	for i := range 1000 {
		e := fmt.Appendf(nil, "event %d", i)
		table.entries = append(table.entries, e)
		tree.Append(e)
	}
	note, _ := signer.Sign(tree.Head())
	board.Publish(note)
	tiles := ledger.NewTiles(table, nil)
	tiles.Warm(ctx, 1000)
	srv := httptest.NewServer(ledger.NewHandler(tiles, board, signer.VerifierKeys))
	defer srv.Close()
	table.entries[123] = []byte("event 124") // somebody changes the table

	policy, _ := ledger.NewPolicy(signer.VerifierKeys()...)
	client, _ := ledger.NewClient(srv.URL+"/ledger", policy, nil)
	cp, _ := client.Checkpoint(ctx)
	report, err := ledger.Verify(ctx, client.Auditor(cp), ledger.VerifyOptions{Policy: policy})
	fmt.Println(report.Size, err)
	for _, p := range report.Problems {
		fmt.Println(p)
	}
	// Output:
	// 1000 <nil>
	// changed at 123: entry was changed; the leaf hash beside it is the one that was signed
}
