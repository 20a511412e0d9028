// Command hostile puts servers that attack, and agents that do, before and behind
// the gateway, over stdio and HTTP and in both eras of the protocol:
//
//	go run ./examples/hostile
//
// It prints a table, vector | way | revision | tried | executed, where executed is
// how many forbidden calls stand in the server's own log, and ends with exit code 1
// if any was. Of an "order in" a place that agents read, it is whether any of it
// reached the agent. It runs this folder's tests with the go command, from anywhere in
// the module; -long runs every vector alone, every way and every revision.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// tableEnv names the file that the tests write their table to.
const tableEnv = "PRATIQUE_HOSTILE_TABLE"

func main() {
	long := flag.Bool("long", false, "all revisions, and each vector alone")
	flag.Parse()
	os.Exit(run(*long))
}

func run(long bool) int {
	dir, err := os.MkdirTemp("", "pratique-hostile-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	args := []string{"test", "-count=1", "-timeout=20m"}
	if long {
		args = append(args, "-tags=long")
	}
	cmd := exec.Command("go", append(args, "github.com/pratique-dev/pratique/examples/hostile")...)
	table := filepath.Join(dir, "table")
	cmd.Env = append(os.Environ(), tableEnv+"="+table)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	failed := cmd.Run()
	text, err := os.ReadFile(table)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile: the tests made no table:", err)
		return 1
	}
	fmt.Printf("%s", text)
	if failed != nil {
		return 1
	}
	return 0
}
