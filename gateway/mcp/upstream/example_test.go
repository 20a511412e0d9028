package upstream_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
)

func Example() {
	e, err := upstream.NewEndpoint("shop", "https://Shop.Example:443/mcp", nil)
	fmt.Println(e.Name(), e.Place().Origin, err)
	_, err = upstream.NewEndpoint("shop", "https://shop.example/mcp?key=secret", nil)
	fmt.Println(err)
	// Output:
	// shop https://shop.example/mcp <nil>
	// upstream: name, command, environment, URL or header is not usable (origin holds a query or fragment)
}
