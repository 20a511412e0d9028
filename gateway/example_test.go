package gateway_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/gateway"
)

// A gateway is not made without all that decides, records and verifies: there is
// no option whose absence would let calls through.
func Example() {
	_, err := gateway.New(gateway.Options{})
	fmt.Println(err)
	// Output: gateway: an option that is required is missing
}
