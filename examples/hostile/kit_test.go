package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

func TestMain(m *testing.M) { stage.Main(m) }

// A row is one line of the table: what was tried on one way in one revision, and how
// many of the tries the server's own log shows as executed.
type row struct {
	vector      string
	way         stage.Way
	rev         string
	tries, done int
	limit       bool   // a stated limit: executed may be more than 0
	note        string // why, or what came of it
}

var table struct {
	sync.Mutex
	rows []row
}

// tally adds a row and fails the test if anything forbidden was executed.
func (s *scene) tally(r row) {
	s.Helper()
	r.way, r.rev = s.way, s.rev
	table.Lock()
	table.rows = append(table.rows, r)
	table.Unlock()
	if r.done != 0 && !r.limit {
		s.Errorf("%s: %d of %d forbidden calls were executed", r.vector, r.done, r.tries)
	}
}

// printTable prints what the other tests did, or writes it where main wants it.
func printTable(t *testing.T) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VECTOR\tWAY\tREVISION\tTRIED\tEXECUTED\t")
	tries, done := 0, 0
	table.Lock()
	defer table.Unlock()
	for _, r := range table.rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", r.vector, r.way, r.rev, r.tries, r.done, r.note)
		tries += r.tries
		if !r.limit {
			done += r.done
		}
	}
	w.Flush()
	fmt.Fprintf(&b, "%d rows, %d forbidden calls tried, %d executed outside of the stated limits\n", len(table.rows), tries, done)
	if file := os.Getenv(tableEnv); file != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Error(err)
		}
		return
	}
	t.Log("\n" + b.String())
}

// A scene is one way in one revision.
type scene struct {
	*testing.T
	way stage.Way
	rev string
}

// modern tells whether the revision is of the stateless era.
func (s *scene) modern() bool { return s.rev == mcptest.Modern }

func ways() []stage.Way {
	if everything {
		return []stage.Way{stage.StdioStdio, stage.StdioHTTP, stage.HTTPHTTP, stage.HTTPStdio}
	}
	return []stage.Way{stage.StdioStdio, stage.HTTPHTTP, stage.HTTPStdio}
}

// scenes runs f on every way in every revision, a few at a time.
func scenes(t *testing.T, name string, f func(s *scene)) {
	for _, w := range ways() {
		for _, rev := range revisions {
			t.Run(name+" "+string(w)+" "+rev, func(t *testing.T) {
				t.Parallel()
				f(&scene{t, w, rev})
			})
		}
	}
}

// started is an agent that shook hands and listed everything there is.
func (s *scene) started(h *stage.House) *mcptest.Agent {
	s.Helper()
	a := h.Agent(s.rev)
	a.Start()
	all(a)
	return a
}

// all lists everything, as agents do first, and gives the names.
func all(a *mcptest.Agent) (names []string) {
	names = a.Tools()
	for _, m := range []string{"prompts/list", "resources/list", "resources/templates/list"} {
		names = append(names, a.Request(m, "").Names()...)
	}
	return names
}

// later waits until what was known of the server is older than the bound.
func later(d string) {
	span, err := time.ParseDuration(d)
	if err != nil {
		panic(err)
	}
	<-time.After(span + 20*time.Millisecond)
}

// forbidden is how many frames with a method reached the server that name a text in
// their params.
func forbidden(up *mcptest.Upstream, method, name string) int {
	return up.Count(func(m mcptest.Message) bool {
		return m.Method == method && strings.Contains(string(m.Params), name)
	})
}

// works wants a call to be executed.
func (s *scene) works(h *stage.House, a *mcptest.Agent, tool string) {
	s.Helper()
	before := h.Up.Executed(tool)
	if m := a.Call(tool, `{}`); m.IsError() || h.Up.Executed(tool) != before+1 {
		s.Errorf("%s does not work: executed %d times: %.400s", tool, h.Up.Executed(tool)-before, m.Raw)
	}
}
