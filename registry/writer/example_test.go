package writer_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

func Example() {
	dir, err := os.MkdirTemp("", "writer")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	log, err := sqlite.Open(ctx, filepath.Join(dir, "log"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	signer, err := ledger.NewSigner("registry.example/log", logKey)
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := writer.Open(ctx, writer.Options{Store: log, Checkpoints: func() (*ledger.Signer, error) { return signer, nil }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	restored := &registry.RecordRestore{CommandMeta: registry.CommandMeta{ID: "command-00000001", Caller: registry.UnsafeLocal("")}, Reason: "drill"}
	out, err := w.Do(ctx, restored)
	fmt.Println(out.Index, out.Replay, err)
	out, err = w.Do(ctx, restored) // a retry
	fmt.Println(out.Index, out.Replay, err)
	restored.Caller = registry.Caller{}
	_, err = w.Do(ctx, restored)
	fmt.Println(err)
	// Output:
	// 0 false <nil>
	// 0 true <nil>
	// only the tool's registrant may do this: a command needs an id and a caller
}
