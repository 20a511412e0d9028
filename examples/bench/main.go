// Command bench measures what a call costs through the gateway, in one run with
// the same call made directly: latencies, calls a second with one and eight
// clients, CPU time of the gateway's process and of its inspectors from /proc, and
// its memory with 5,000 tools. Linux only, since it reads /proc.
//
//	go run ./examples/bench [-calls 6000] [-rounds 3]
//
// The upstream is a Go SDK server with an echo tool, stateless, over loopback. The
// text is always the same, so that its verdict is remembered, but in one row, where
// each text is inspected. The lists say that they are good for a minute, so that the
// gateway's own bound of 2 s holds. Left alone the SDK says ttlMs 0, which makes the
// gateway list before and after every call whatever its own bound: that has a row of
// its own. Rounds take turns between the ways, so that a noisy machine is noisy for
// all.
package main

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	calls := flag.Int("calls", 6000, "calls in each measurement")
	rounds := flag.Int("rounds", 3, "rounds; the median is shown")
	upstream := flag.Int("upstream", 0, "be the upstream, with this many tools")
	ttl := flag.Int("ttl", 60_000, "ttlMs of the upstream's lists")
	flag.Parse()
	if *upstream > 0 {
		serve(*upstream, *ttl)
		return
	}
	if err := run(*calls, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type text struct {
	Text string `json:"text"`
}

// serve is the upstream: an echo tool, and others that only stand in the list.
func serve(tools, ttl int) {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, &mcp.ServerOptions{
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs = ttl },
	})
	echo := func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Gives the text back."}, echo)
	for i := 1; i < tools; i++ {
		mcp.AddTool(s, &mcp.Tool{Name: fmt.Sprintf("tool_%d", i), Description: fmt.Sprintf("Gives the text back, as number %d of many.", i)}, echo)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + l.Addr().String() + "/mcp")
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	panic(http.Serve(l, h))
}

// A process runs until stop.
type process struct {
	cmd   *exec.Cmd
	first string
	errs  bytes.Buffer
}

func start(name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...)}
	p.cmd.Stderr = &p.errs
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.first, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s ended: %s", name, p.errs.String())
	}
	p.first = strings.TrimSpace(p.first)
	return p, nil
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
}

// gateway starts pratique up before an upstream.
func gateway(bin, dir, name, url, more string) (*process, string, error) {
	conf := filepath.Join(dir, name+".yaml")
	body := fmt.Sprintf("data: %s\nlisten: 127.0.0.1:0\nprofile: personal\n%supstreams:\n  - name: bench\n    url: %s\n", filepath.Join(dir, name), more, url)
	if err := os.WriteFile(conf, []byte(body), 0o600); err != nil {
		return nil, "", err
	}
	p, err := start(bin, "up", "--config", conf, "--json")
	if err != nil {
		return nil, "", err
	}
	var answer struct {
		Gateway string `json:"gateway"`
	}
	if err := json.Unmarshal([]byte(p.first), &answer); err != nil {
		p.stop()
		return nil, "", err
	}
	return p, answer.Gateway, nil
}

func run(calls, rounds int) error {
	dir, err := os.MkdirTemp("", "pratique-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "pratique")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/pratique-dev/pratique/cmd/pratique").CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	up, err := start(self, "-upstream", "1")
	if err != nil {
		return err
	}
	defer up.stop()
	stale, err := start(self, "-upstream", "1", "-ttl", "0")
	if err != nil {
		return err
	}
	defer stale.stop()
	ways := []*way{{name: "direct", url: up.first}}
	for _, g := range setups(up.first, stale.first) {
		p, url, err := gateway(bin, dir, strings.Map(letters, g.name), g.url, g.more)
		if err != nil {
			return err
		}
		defer p.stop()
		ways = append(ways, &way{name: g.name, url: url, pid: p.cmd.Process.Pid, fresh: g.fresh})
	}
	for range rounds {
		for _, clients := range []int{1, 8} {
			for _, w := range ways {
				if err := w.measure(clients, calls); err != nil {
					return err
				}
			}
		}
	}
	report(os.Stdout, ways)
	return memory(bin, dir, self)
}

// A setup is a gateway that is measured.
type setup struct {
	name, url, more string
	fresh           bool
}

// setups are gateways before a server whose lists are good for a minute, and before
// one whose lists never are.
func setups(up, stale string) []setup {
	return []setup{
		{"gateway", up, "", false},
		{"gateway, no two texts the same", up, "", true},
		{"gateway, list before each call", up, "gateway: {freshness: 0s}\n", false},
		{"gateway, upstream's ttlMs is 0", stale, "", false},
	}
}

// letters makes a file's name.
func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// memory shows what the gateway holds with 5,000 tools listed.
func memory(bin, dir, self string) error {
	up, err := start(self, "-upstream", "5000")
	if err != nil {
		return err
	}
	defer up.stop()
	p, url, err := gateway(bin, dir, "many", up.first, "")
	if err != nil {
		return err
	}
	defer p.stop()
	before := resident(p.cmd.Process.Pid)
	w := &way{name: "many", url: url, pid: p.cmd.Process.Pid}
	began := time.Now()
	if err := w.list(); err != nil {
		return err
	}
	listed := time.Since(began)
	if err := w.measure(8, 2000); err != nil {
		return err
	}
	m := w.runs[0]
	fmt.Printf("\n5,000 tools: resident %d MiB before the first list, %d MiB after it and 2,000 calls; first list %d ms; %.3f CPU ms a call\n",
		before>>20, resident(p.cmd.Process.Pid)>>20, listed.Milliseconds(), m.cpu)
	return nil
}
