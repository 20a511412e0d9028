package witness_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/ledger/witness"
)

type entries [][]byte

func (e entries) Read(_ context.Context, from uint64, max int) ([][]byte, error) {
	return e[from:min(uint64(len(e)), from+uint64(max))], nil
}

// A witness cosigns a checkpoint, and refuses an older one afterwards.
func Example() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "witness")
	defer os.RemoveAll(dir)

	// The log.
	logKey := ed25519.NewKeyFromSeed(make([]byte, 32))
	signer, _ := ledger.NewSigner("registry.example/log", logKey)
	policy, _ := ledger.NewPolicy(signer.VerifierKeys()...)
	var tree ledger.Tree
	tree.Append([]byte("first"))
	older, _ := signer.Sign(tree.Head())
	tree.Append([]byte("second"))
	newest, _ := signer.Sign(tree.Head())
	tiles := ledger.NewTiles(entries{[]byte("first"), []byte("second")}, nil)

	// The witness, on another machine.
	cosigner, _ := ledger.NewCosigner("witness.example", ed25519.NewKeyFromSeed([]byte(strings.Repeat("w", 32))), time.Now)
	state, err := witness.OpenFolder(filepath.Join(dir, "state"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer state.Close()
	w, _ := witness.New(ctx, cosigner, state, policy)
	srv := httptest.NewServer(w)
	defer srv.Close()

	// The log asks; its clients demand the cosignature.
	clients, _ := policy.WithWitnesses(1, cosigner.VerifierKey())
	lines, err := ledger.AskWitness(ctx, nil, srv.URL, newest, 0, tiles)
	if err != nil {
		fmt.Println(err)
		return
	}
	cosigned, _ := clients.AddCosignatures(newest, lines)
	cp, err := clients.Open(cosigned)
	fmt.Println(cp.Size, cp.Witnesses, err)

	_, err = ledger.AskWitness(ctx, nil, srv.URL, older, 0, tiles)
	fmt.Println(err)
	// Output:
	// 2 [witness.example] <nil>
	// ledger: witness has cosigned size 2, which is larger
}
