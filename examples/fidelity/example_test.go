package fidelity_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/internal/mcptest/frames"
)

// The corpus is messages that agents and servers may send.
func Example() {
	for _, f := range frames.Select("agent", "legacy", "numbers")[:1] {
		fmt.Println(f.Theme, len(f.Bytes) > 0)
	}
	// Output: numbers true
}
