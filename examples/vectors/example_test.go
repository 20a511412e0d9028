package vectors_test

import (
	"fmt"
	"slices"

	"github.com/pratique-dev/pratique/labels/policy/vectors"
)

// A vector says what has to come out of a call, however it arrives.
func Example() {
	all, err := vectors.All()
	if err != nil {
		fmt.Println(err)
		return
	}
	v := all[slices.IndexFunc(all, func(v vectors.Vector) bool { return v.Kind == "prompt" && v.Rules == "" && v.Intent == nil })]
	fmt.Println(v.Method, v.Surface, "->", v.Want.Verb, v.Want.Reason)
	// Output: prompts/get settled -> allow cleared
}
