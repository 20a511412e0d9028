// Command benchpolicy measures what a decision costs, in one run with the time that
// encoding/json takes to decode the same frame into an any.
//
// The decision is the gateway's own, from the moment at which a frame of an agent was
// read until its verdict: the params are read, what is ours is looked for in them, the
// item is looked up on the surface that the agent was shown, its label is verified,
// the arguments are read and held against the schema that was cleared, closed, and
// three layers of rules and their guards say what becomes of the call. The clock is
// read by an Observer. Nothing is forwarded by the figure, and no record is written.
package main

import (
	"context"
	"encoding/json" // the yardstick, and nothing else
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// What a decision on the frame may cost.
const (
	most      = 8 * time.Microsecond
	mostTimes = 1.0 // of what decoding takes
	flat      = 1.2 // between the least and the most that a sweep costs
)

func main() {
	ok, err := run(context.Background(), os.Stdout, 20_000)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}

// A row is what was measured of one house.
type row struct {
	name   string
	p50    time.Duration
	p99    time.Duration
	decode time.Duration // of the frame, by encoding/json, between the calls
	allocs float64
}

func (r *row) times() float64 { return float64(r.p50) / float64(r.decode) }

// run measures and reports; ok tells whether the bounds hold.
func run(ctx context.Context, out io.Writer, calls int) (ok bool, err error) {
	type house struct {
		name         string
		tools, rules int
	}
	houses := []house{
		{"100 rules, 262 tools", 262, 100},
		{"10 rules", 262, 10}, {"1,000 rules", 262, 1000}, {"10,000 rules", 262, 10_000},
		{"10 tools", 10, 100}, {"1,000 tools", 1000, 100}, {"100,000 tools at 11 upstreams", 100_000, 100},
	}
	rows := make([]*row, len(houses))
	for i, h := range houses {
		if rows[i], err = measure(ctx, h.name, h.tools, h.rules, calls); err != nil {
			return false, fmt.Errorf("%s: %w", h.name, err)
		}
	}
	return report(out, rows), nil
}

// measure builds a house and has one agent call one tool in it.
func measure(ctx context.Context, name string, tools, rules, calls int) (*row, error) {
	h, err := build(ctx, tools, rules)
	if err != nil {
		return nil, err
	}
	defer h.close(ctx)
	frame := h.frame()
	raw := frame.Bytes()
	r := &row{name: name}
	var decided, decoded []time.Duration
	for i := range calls + calls/10 {
		if err := h.call(ctx, frame); err != nil {
			return nil, err
		}
		begin := time.Now()
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
		if d := time.Since(begin); i >= calls/10 { // the first are to warm up
			decided, decoded = append(decided, h.clock.took), append(decoded, d)
		}
	}
	slices.Sort(decided)
	r.p50, r.p99, r.decode = decided[len(decided)/2], decided[len(decided)*99/100], middle(decoded)
	h.clock.count = true
	var sum uint64
	const counted = 100
	for range counted {
		if err := h.call(ctx, frame); err != nil {
			return nil, err
		}
		sum += h.clock.allocs
	}
	r.allocs = float64(sum) / counted
	runtime.GC()
	return r, nil
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// report prints the rows. The first is the house that the bounds are for; the others
// may differ from each other by so much.
func report(out io.Writer, rows []*row) (ok bool) {
	t := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "decision\tp50\tp99\tallocations\tjson v1\ttimes\t")
	for _, r := range rows {
		_, _ = fmt.Fprintf(t, "%s\t%v\t%v\t%.0f\t%v\t%.2f\t\n", r.name, r.p50, r.p99, r.allocs, r.decode, r.times())
	}
	_ = t.Flush()
	ok = true
	say := func(good bool, format string, a ...any) {
		word := "ok"
		if !good {
			word, ok = "NOT OK", false
		}
		_, _ = fmt.Fprintf(out, "%s: %s\n", word, fmt.Sprintf(format, a...))
	}
	first := rows[0]
	say(first.p50 <= most, "%v at most %v", first.p50, most)
	say(first.times() <= mostTimes, "%.2f at most %.1f times what encoding/json takes to decode the frame", first.times(), mostTimes)
	least, greatest := first.times(), first.times()
	for _, r := range rows[1:] {
		least, greatest = min(least, r.times()), max(greatest, r.times())
	}
	say(greatest <= flat*least, "the most is %.2f times the least, at most %.1f", greatest/least, flat)
	return ok
}
