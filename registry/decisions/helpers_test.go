package decisions_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

var ctx = context.Background()

const segment = 1 << 17

// clock ticks a millisecond at every look.
func clock() func() time.Time {
	var n atomic.Int64
	return func() time.Time { return time.UnixMilli(1_800_000_000_000 + n.Add(1)) }
}

func options() decisions.Options {
	return decisions.Options{Now: clock(), Segment: segment}
}

func open(t testing.TB, data string, o decisions.Options) *decisions.Log {
	t.Helper()
	l, err := decisions.Open(data, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func decision(run string) *registry.Entry {
	return &registry.Entry{Run: run, Agent: "agt_01JDZ0000000000000000000AA", Method: "tools/call", Upstream: "files",
		Origin: "stdio:" + "x", Kind: "tool", Name: "read_file", Verb: "allow", Reason: "cleared", Profile: "personal", Invoked: "unknown"}
}

// call is one whole call.
func call(t testing.TB, l *decisions.Log, run string, durable bool) decisions.Ticket {
	t.Helper()
	k, err := l.Decided(ctx, decision(run), []byte(`{"path":"/tmp/a"}`), durable)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned, Verdict: "clear", Invoked: "yes"}, []byte(`{"content":[]}`)); err != nil {
		t.Fatal(err)
	}
	return k
}

func all(t testing.TB, data string, q decisions.Query) []decisions.Record {
	t.Helper()
	r, err := decisions.Last(data, q, 0)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func verify(t testing.TB, data string, anchors ...decisions.Anchor) decisions.Report {
	t.Helper()
	r, err := decisions.Verify(ctx, data, anchors)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func clean(t testing.TB, data string, anchors ...decisions.Anchor) decisions.Report {
	t.Helper()
	r := verify(t, data, anchors...)
	if len(r.Problems) > 0 {
		t.Fatalf("problems: %+v", r.Problems)
	}
	return r
}

func count(rs []decisions.Record, f func(registry.Entry) bool) int {
	n := 0
	for _, r := range rs {
		if f(r.Entry) {
			n++
		}
	}
	return n
}

func lost(e registry.Entry) bool { return e.Outcome == registry.OutcomeLost }

func segments(t testing.TB, data, spool string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(data, "decisions", spool, "*.spool"))
	if err != nil || len(names) == 0 {
		t.Fatal("no segments", err)
	}
	slices.Sort(names)
	return names
}

func runs(n int) string { return fmt.Sprintf("run_01JDZ00000000000000000000%d", n) }
