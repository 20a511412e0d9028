package residue_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/policy"
)

// What a run has read is one of the things that a call is decided on.
func Example() {
	fmt.Println(policy.Withdrawn.Meaning().Text)
	// Output: A result that this run holds was withdrawn, so a person has to approve every call until its deletion is confirmed, the operator clears the run, or a new run begins.
}
