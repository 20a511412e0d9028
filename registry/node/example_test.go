package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pratique-dev/pratique/registry/node"
)

func Example() {
	dir, err := os.MkdirTemp("", "node")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	n, err := node.Open(context.Background(), node.Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0"}, node.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- n.Serve(ctx) }()
	<-n.Ready()
	view, err := n.Record().Barrier(ctx)
	fmt.Println(err, view.HasOperator())
	stop()
	fmt.Println(<-served)
	// Output:
	// <nil> true
	// <nil>
}
