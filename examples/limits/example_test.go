package limits_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/policy"
)

// What an agent reads of a call that a person would have to approve.
func Example() {
	fmt.Println(policy.NoChannel.Meaning().Text)
	// Output:
	// A person would have to approve this call, and there is no approval channel; the operator can allow the tool by a rule.
}
