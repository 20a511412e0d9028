package sleepers_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels"
)

// What a sleeper earns by being good, and what one bad answer leaves of it.
func Example() {
	for _, c := range []labels.Content{labels.Inspected, labels.Consistent, labels.Suspect, labels.Violated} {
		fmt.Println(c, labels.Synthesize(labels.Pinned, c))
	}
	// Output:
	// inspected yellow
	// consistent green
	// suspect yellow
	// violated red
}
