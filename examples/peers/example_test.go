package peers_test

import "fmt"

// A client's MCP entry changes by one word: pratique guard before the command.
func Example() {
	entry := []string{"npx", "-y", "@modelcontextprotocol/server-memory"}
	fmt.Println(append([]string{"pratique", "guard", "--"}, entry...))
	// Output: [pratique guard -- npx -y @modelcontextprotocol/server-memory]
}
