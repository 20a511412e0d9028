// Command benchinspect measures what an inspection costs, in one run with a plain
// scan of the same memory: a loop that looks at every byte once. The ratio of the
// two says more than either on a machine that is busy or strange.
//
//	go run ./examples/benchinspect [-rounds 9] [-check]
//
// Rounds take turns between the cases and the best of each counts, since nothing
// makes a program faster than it is. With -check the command fails where a case
// costs more than its bound.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/quarantine/warden"
)

func main() {
	warden.Hook()
	rounds := flag.Int("rounds", 9, "rounds; the best of each case is shown")
	calls := flag.Int("calls", 200, "calls of each kind through a gateway; 0: none")
	check := flag.Bool("check", false, "fail where a bound is not kept")
	mode := flag.String("sandbox", string(warden.BestEffort), "required, best-effort or off")
	flag.Parse()
	if err := run(os.Stdout, *rounds, *calls, *mode, *check); err != nil {
		fmt.Fprintln(os.Stderr, "benchinspect:", err)
		os.Exit(1)
	}
}

// A bench is one case: what is inspected, how, and what it may cost.
type bench struct {
	name  string
	batch quarantine.Batch
	ins   quarantine.Inspector
	most  float64       // times a plain scan; 0: no bound
	limit time.Duration // of one inspection; 0: no bound

	size int
	best time.Duration
	p50  []time.Duration // medians of rounds
}

func run(w io.Writer, rounds, calls int, mode string, check bool) error {
	m, err := warden.ParseMode(mode)
	if err != nil {
		return err
	}
	pool, err := warden.New(warden.Options{Mode: m, Cache: -1})
	if err != nil {
		return err
	}
	defer pool.Close()
	list := cases(inspect.New(), pool)
	scan := bench{name: "plain scan", size: 1 << 16}
	text := prose(scan.size)
	for range rounds {
		scan.measure(func() error { runtime.KeepAlive(touch(text)); return nil })
		for _, b := range list {
			if err := b.measure(b.inspect); err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
		}
	}
	bad := report(w, pool.Level(), &scan, list)
	if calls > 0 {
		over, err := through(w, calls, mode)
		if err != nil {
			return err
		}
		bad = append(bad, over...)
	}
	if check && len(bad) > 0 {
		return fmt.Errorf("over the bound: %s", strings.Join(bad, ", "))
	}
	return nil
}

// touch looks at every byte once.
func touch(s string) (n int) {
	for i := range len(s) {
		if s[i] == '\n' {
			n++
		}
	}
	return n
}

// portion is how much one measurement reads, so that the clock does not matter.
const portion = 4 << 20

// measure runs a case for a round.
func (b *bench) measure(do func() error) error {
	n := max(1, portion/max(b.size, 1))
	if b.limit > 0 {
		n = min(n, 400)
	}
	times := make([]time.Duration, n)
	for i := range times {
		from := time.Now()
		if err := do(); err != nil {
			return err
		}
		times[i] = time.Since(from)
	}
	slices.Sort(times)
	if b.best == 0 || times[0] < b.best {
		b.best = times[0]
	}
	b.p50 = append(b.p50, times[n/2])
	return nil
}

func (b *bench) inspect() error {
	r := b.ins.Inspect(context.Background(), b.batch)
	if r.Verdict != quarantine.Clear || r.Partial {
		return fmt.Errorf("an honest text is %v (%+v)", r.Verdict, r.Findings)
	}
	return nil
}

// rate is how many bytes a second go through at best.
func (b *bench) rate() float64 { return float64(b.size) / b.best.Seconds() }

// report prints the table and names the cases that are over their bound.
func report(w io.Writer, level string, scan *bench, list []*bench) (bad []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "sandbox of the pool: %s\n", level)
	fmt.Fprintln(t, "case\tbytes\tMB/s\ttimes a plain scan\tbest\tp50\tbound")
	for _, b := range append([]*bench{scan}, list...) {
		times := scan.rate() / b.rate()
		median := slices.Min(b.p50)
		bound := "-"
		over := false
		switch {
		case b.most > 0:
			bound = fmt.Sprintf("%.0f times", b.most)
			over = times > b.most
		case b.limit > 0:
			bound = b.limit.String()
			over = median > b.limit
		}
		if over {
			bad = append(bad, b.name)
			bound += ", over"
		}
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%.1f\t%s\t%s\t%s\n", b.name, b.size, b.rate()/1e6, times, b.best.Round(time.Microsecond), median.Round(time.Microsecond), bound)
	}
	_ = t.Flush()
	return bad
}
