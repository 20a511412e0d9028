package gitdir_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/guard/gitdir"
)

func Example() {
	for _, path := range []string{".git/config", "GIT~1/config", "x.git/hooks/update", ".gitignore", "https://git.example/x.git"} {
		fmt.Println(path, gitdir.Of(path) != gitdir.Elsewhere)
	}
	// Output:
	// .git/config true
	// GIT~1/config true
	// x.git/hooks/update true
	// .gitignore false
	// https://git.example/x.git false
}
