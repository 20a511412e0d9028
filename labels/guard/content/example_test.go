package content_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/guard/content"
)

func Example() {
	j, err := content.New(&content.Config{Dependencies: map[string][]string{"npm": {"left-pad", "@acme/*"}}})
	fmt.Println(j != nil, err)
	// Output: true <nil>
}
