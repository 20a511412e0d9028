// Command gen writes the set of token vectors: see go:generate in vectortest.
package main

import (
	"fmt"
	"os"

	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FILE")
		os.Exit(2)
	}
	b, err := vectortest.Generate()
	if err == nil {
		err = os.WriteFile(os.Args[1], b, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
