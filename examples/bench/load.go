package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

// A way is one path that calls take, and what was measured on it.
type way struct {
	name  string
	url   string
	pid   int  // of the gateway; 0: none
	fresh bool // no two texts are the same, so that each is inspected
	calls atomic.Int64
	runs  []measured
}

// A measured is one load: latencies in milliseconds, calls a second, CPU
// milliseconds of the gateway's process and its inspectors for each call.
type measured struct {
	clients  int
	p50, p99 float64
	rate     float64
	cpu      float64
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// post makes one stateless request and returns the answer's body.
func post(c *http.Client, url, method, name, params string) ([]byte, error) {
	body := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + meta + `}}`
	q, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	q.Header.Set("Mcp-Method", method)
	if name != "" {
		q.Header.Set("Mcp-Name", name)
	}
	r, err := c.Do(q)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.300s", r.StatusCode, b)
	}
	return b, err
}

func (w *way) list() error {
	c := &http.Client{}
	defer c.CloseIdleConnections()
	b, err := post(c, w.url, "tools/list", "", "")
	if err == nil && !bytes.Contains(b, []byte(`"echo"`)) {
		err = fmt.Errorf("%s lists no echo: %.300s", w.name, b)
	}
	return err
}

// measure puts calls on the way from so many clients, after a listing and a
// few calls that are not counted.
func (w *way) measure(clients, calls int) error {
	if err := w.list(); err != nil {
		return err
	}
	if _, err := w.load(clients, calls/10+clients); err != nil {
		return err
	}
	before := cpu(w.pid)
	began := time.Now()
	took, err := w.load(clients, calls)
	if err != nil {
		return err
	}
	elapsed := time.Since(began)
	slices.Sort(took)
	w.runs = append(w.runs, measured{
		clients: clients, p50: ms(took[len(took)/2]), p99: ms(took[len(took)*99/100]),
		rate: float64(len(took)) / elapsed.Seconds(), cpu: ms(cpu(w.pid)-before) / float64(len(took)),
	})
	return nil
}

func (w *way) load(clients, calls int) ([]time.Duration, error) {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer c.CloseIdleConnections()
	text := strings.Repeat("hello ", 20)
	params := func() string {
		more := ""
		if w.fresh {
			more = strconv.FormatInt(w.calls.Add(1), 10)
		}
		return `"name":"echo","arguments":{"text":"` + text + more + `"},`
	}
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			took := make([]time.Duration, 0, calls/clients)
			var err error
			for range calls / clients {
				began := time.Now()
				var b []byte
				b, err = post(c, w.url, "tools/call", "echo", params())
				if err == nil && !bytes.Contains(b, []byte("hello hello")) {
					err = fmt.Errorf("%s: no echo in %.300s", w.name, b)
				}
				if err != nil {
					break
				}
				took = append(took, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
			if err != nil {
				failed = err
			}
		})
	}
	wg.Wait()
	return all, failed
}

// cpu is the user and system time of a process and its children, in ticks of 10 ms.
func cpu(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var ticks int64
	for _, name := range stats {
		b, _ := os.ReadFile(name)
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(f) < 13 || filepath.Base(filepath.Dir(name)) != strconv.Itoa(pid) && f[1] != strconv.Itoa(pid) {
			continue
		}
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		ticks += user + system
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// resident is the resident memory of a process in bytes.
func resident(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.Atoi(strings.Fields(string(b))[1])
	return pages * os.Getpagesize()
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median is the middle of a figure over the rounds with so many clients.
func (w *way) median(clients int, figure func(measured) float64) float64 {
	var all []float64
	for _, m := range w.runs {
		if m.clients == clients {
			all = append(all, figure(m))
		}
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

// report prints the medians; what is added and the ratio are against the first
// way of the same run.
func report(out io.Writer, ways []*way) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "way\tclients\tp50 ms\tp99 ms\tadded p50\tadded p99\tcalls/s\tof direct\tCPU ms a call")
	for _, clients := range []int{1, 8} {
		direct := ways[0]
		for _, w := range ways {
			p50, p99, rate := func(m measured) float64 { return m.p50 }, func(m measured) float64 { return m.p99 }, func(m measured) float64 { return m.rate }
			fmt.Fprintf(t, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.2f\t%.3f\n", w.name, clients,
				w.median(clients, p50), w.median(clients, p99),
				w.median(clients, p50)-direct.median(clients, p50), w.median(clients, p99)-direct.median(clients, p99),
				w.median(clients, rate), w.median(clients, rate)/direct.median(clients, rate),
				w.median(clients, func(m measured) float64 { return m.cpu }))
		}
	}
	_ = t.Flush()
}
