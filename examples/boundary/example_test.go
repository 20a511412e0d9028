package boundary_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// No method of the protocol seals, shows or ends an intent.
func Example() {
	for _, name := range []string{"intent/seal", "intents/list", "dev.pratique/intent"} {
		_, ok := mcp.Lookup(name)
		fmt.Println(name, ok)
	}
	// Output:
	// intent/seal false
	// intents/list false
	// dev.pratique/intent false
}
