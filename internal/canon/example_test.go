package canon_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/internal/canon"
)

// One tool, written by two encoders, has one digest; another limit has another,
// even where a float64 could not tell the two.
func ExampleMetadata() {
	_, a, _ := canon.Metadata([]byte(`{"name":"pay","maximum":9007199254740992}`))
	_, b, _ := canon.Metadata([]byte(`{ "maximum": 9007199254740992.0, "name": "p\u0061y" }`))
	_, c, _ := canon.Metadata([]byte(`{"name":"pay","maximum":9007199254740993}`))
	fmt.Println(a == b, a == c)

	_, _, err := canon.Metadata([]byte(`{"name":"pay","name":"steal"}`))
	fmt.Println(err)
	// Output:
	// true false
	// an object has two members of one name
}
