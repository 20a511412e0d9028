package path_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/guard/path"
)

func Example() {
	r, err := path.New(path.Options{Within: []string{"/srv/share"}})
	if err != nil {
		panic(err)
	}
	for _, p := range []string{"/srv/share/./sub//b.md", "/srv/share-secret/loot.md", "/srv/share/%2e%2e/loot.md"} {
		fmt.Printf("%q\n", r.Check(p, nil))
	}
	// Output:
	// ""
	// "The path lies outside of the folders and files that are allowed."
	// "The path is percent-encoded where its parts depend on it, or more than once."
}
