// Command registry is a runnable story: it starts a registry on loopback,
// registers a list of tools that is given as an argument, and then has a thief
// try everything that a thief without the registrant's key can try, over real
// HTTP:
//
//	go run ./examples/registry tools.json
//
// It prints a table, attack | tried | succeeded, and ends with exit code 1 if
// any attack succeeded or the owner was refused.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(errs, "usage: registry TOOLS.json    (an MCP tools/list result, or an array of tools)")
		return 2
	}
	tools, err := readTools(args[0])
	if err != nil {
		fmt.Fprintln(errs, "registry:", err)
		return 2
	}
	dir, err := os.MkdirTemp("", "pratique-example-")
	if err != nil {
		fmt.Fprintln(errs, "registry:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	r, err := Tell(ctx, dir, tools)
	if err != nil {
		fmt.Fprintln(errs, "registry:", err)
		return 1
	}
	r.print(out)
	if !r.Good() {
		return 1
	}
	return 0
}

// A Row is one line of the table.
type Row struct {
	Name      string
	Owner     bool // what the owner does by right: all of it must succeed
	Tried     int
	Succeeded int
	Answers   map[string]int // refusals by "status code"
	Details   []string       // what the refusals said
}

// Good reports whether the row is as it should be.
func (r Row) Good() bool {
	if r.Owner {
		return r.Tried > 0 && r.Succeeded == r.Tried
	}
	return r.Tried > 0 && r.Succeeded == 0
}

// A Report is what came of the story.
type Report struct {
	Registered int
	Requests   int // that it took to register
	Rows       []Row
	Untouched  bool // the attacked tools are, to the digest, what their owner registered
	LogGood    bool // a walk over the whole log found nothing
}

// Good reports whether no attack succeeded and the owner was never refused.
func (r Report) Good() bool {
	return r.Untouched && r.LogGood && !slices.ContainsFunc(r.Rows, func(w Row) bool { return !w.Good() })
}

func (r Report) print(w io.Writer) {
	fmt.Fprintf(w, "registered %d tools in %d request\n\n", r.Registered, r.Requests)
	width := len("attack")
	for _, row := range r.Rows {
		width = max(width, len(row.Name))
	}
	fmt.Fprintf(w, "%-*s | tried | succeeded\n%s-|-------|----------\n", width, "attack", strings.Repeat("-", width))
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%-*s | %5d | %9d\n", width, row.Name, row.Tried, row.Succeeded)
	}
	fmt.Fprintln(w, "\nrefused with")
	for _, row := range r.Rows {
		for _, a := range slices.Sorted(mapKeys(row.Answers)) {
			fmt.Fprintf(w, "%-*s   %s (%d times)\n", width, row.Name, a, row.Answers[a])
		}
	}
	fmt.Fprintf(w, "\nattacked tools unchanged: %t; log verified: %t\n", r.Untouched, r.LogGood)
}
