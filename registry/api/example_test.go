package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/registry/node"
)

// A node assembles the service; here one runs on an empty folder, and a client
// reads who may register and what a refusal looks like.
func Example() {
	dir, err := os.MkdirTemp("", "pratique")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	n, err := node.Open(context.Background(), node.Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", Admin: "off"}, node.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- n.Serve(ctx) }()

	read := func(path string) (m map[string]any) {
		resp, err := http.Get(n.URL() + path)
		if err != nil {
			return map[string]any{"error": err}
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		_ = json.Unmarshal(body, &m)
		return m
	}
	fmt.Println(read("/.well-known/oauth-protected-resource")["pratique_registration"])
	fmt.Println(read("/v1/tools/checkout")["code"])

	stop()
	fmt.Println(<-done)
	// Output:
	// open
	// bad_id
	// <nil>
}
