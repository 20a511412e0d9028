package opinion_test

import (
	"fmt"

	"github.com/pratique-dev/pratique/quarantine/warden/broker"
)

// A model off this machine is configured together with the origins whose texts may
// go there.
func Example() {
	c := broker.Config{URL: "https://models.example/v1", Name: "judge", KeyFile: "/etc/pratique/model.key"}
	fmt.Println(c.Check())
	c.Origins = []string{"https://tools.example/mcp", "stdio:github"}
	fmt.Println(c.Check())
	// Output:
	// broker: language model: origins: name the origins whose texts may go to a model off this machine
	// <nil>
}
