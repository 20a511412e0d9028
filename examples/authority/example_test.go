package authority_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A method that is not in the table is refused, and the table has none that acts on
// the gateway itself.
func Example() {
	for _, name := range []string{"tools/call", "approvals/approve"} {
		_, ok := mcp.Lookup(name)
		fmt.Println(name, ok)
	}
	// Output:
	// tools/call true
	// approvals/approve false
}
