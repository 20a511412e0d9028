package soak_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/registry"
)

// A call whose gateway was killed ends in the log all the same: the next gateway on
// the folder says that its outcome is not known.
func Example() {
	fmt.Println(registry.EntryRecover, registry.OutcomeLost)
	// Output: spool.adopted lost
}
