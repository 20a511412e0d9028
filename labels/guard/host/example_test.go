package host_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/labels/guard/host"
)

func Example() {
	r, err := host.New(host.Options{Allow: []string{"*.example.com"}})
	if err != nil {
		panic(err)
	}
	for _, u := range []string{"https://api.example.com/v1", "https://api.example.com@evil.test/", "https://api.example.com.evil.test/"} {
		fmt.Printf("%q\n", r.Check(u))
	}
	// Output:
	// ""
	// "The URL has a user before its host, or what some programs take for one."
	// "The host is none of those that are allowed."
}
