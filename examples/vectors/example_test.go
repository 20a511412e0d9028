package vectors_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/policy/vectors"
)

// A vector says what has to come out of a call, however it arrives.
func Example() {
	all, err := vectors.All()
	if err != nil {
		fmt.Println(err)
		return
	}
	v := all[0]
	fmt.Println(v.Method, v.Surface, "->", v.Want.Verb, v.Want.Reason)
	// Output: prompts/get settled -> allow cleared
}
