package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A trip is one kind of result that calls bring back, directly and through the
// gateway. No two results are the same, so that no verdict comes out of a cache.
type trip struct {
	name   string
	tool   string
	text   func(n int) string // of the result; nil: a few words
	rows   func(n int) string // its structuredContent; nil: none
	direct []time.Duration
	via    []time.Duration
	cpu    time.Duration // of the gateway and its children, all calls through it
}

const most = 5 * time.Millisecond // that 100 kB may take longer through the gateway

func trips() []*trip {
	number := func(text string) func(int) string {
		return func(n int) string { return strconv.Itoa(n) + " " + text }
	}
	copied := structured(50_000)
	return []*trip{
		{name: "120 bytes of text", tool: "few", text: number(prose(120))},
		{name: "4 KiB of text", tool: "page", text: number(prose(4096))},
		{name: "100 kB of text", tool: "book", text: number(prose(100_000))},
		{name: "100 kB structured", tool: "rows", rows: structured(100_000)},
		{name: "50 kB structured, and as text", tool: "both", rows: copied, text: copied},
	}
}

// structured makes a list of rows of so many bytes.
func structured(size int) func(n int) string {
	return func(n int) string {
		b := []byte(`{"rows":[`)
		for i := 0; len(b) < size; i++ {
			if i > 0 {
				b = append(b, ',')
			}
			b = fmt.Appendf(b, `{"id":%d,"title":"Issue number %d of this project","state":"opened","author":"somebody","score":0.25,"labels":["backend","later"]}`, n*1000+i, i)
		}
		return string(append(b, `]}`...))
	}
}

const outputSchema = `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{
	"id":{"type":"integer"},"title":{"type":"string"},"state":{"type":"string","enum":["opened","closed"]},"author":{"type":"string"},
	"score":{"type":"number","minimum":0,"maximum":1},"labels":{"type":"array","items":{"type":"string"}}},
	"required":["id","title"],"additionalProperties":false}}},"required":["rows"]}`

// upstream is a server of the Go SDK with a tool for each trip.
func upstream(list []*trip) http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1"}, &mcp.ServerOptions{
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.TTLMs = 60_000 },
	})
	for _, t := range list {
		tool := &mcp.Tool{Name: t.tool, Description: "Lists what there is.",
			InputSchema: map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}}}
		if t.rows != nil {
			tool.OutputSchema = rawJSON(outputSchema)
		}
		s.AddTool(tool, func(_ context.Context, q *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct {
				N int `json:"n"`
			}
			if err := json.Unmarshal(q.Params.Arguments, &in); err != nil {
				return nil, err
			}
			r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Done."}}}
			if t.text != nil {
				r.Content[0] = &mcp.TextContent{Text: t.text(in.N)}
			}
			if t.rows != nil {
				r.StructuredContent = rawJSON(t.rows(in.N))
			}
			return r, nil
		})
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// rawJSON is JSON that is sent as it is.
type rawJSON string

// MarshalJSON implements the interface of encoding/json, which the SDK uses.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// post makes one stateless request and returns the answer's body.
func post(url, method, name, params string) ([]byte, error) {
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
	r, err := http.DefaultClient.Do(q)
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

func (t *trip) call(url string, n int) (time.Duration, error) {
	params := fmt.Sprintf(`"name":"%s","arguments":{"n":%d},`, t.tool, n)
	from := time.Now()
	b, err := post(url, "tools/call", t.tool, params)
	took := time.Since(from)
	if err == nil && (bytes.Contains(b, []byte(`"isError":true`)) || t.text == nil && t.rows == nil) {
		err = fmt.Errorf("an honest result did not arrive: %.300s", b)
	}
	return took, err
}

// gateway starts the built program before an upstream, and returns its address.
func gateway(dir, url, mode string) (cmd *exec.Cmd, address string, err error) {
	bin, conf := filepath.Join(dir, "pratique"), filepath.Join(dir, "pratique.yaml")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/pratique-dev/pratique/cmd/pratique").CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("building: %w\n%s", err, out)
	}
	body := fmt.Sprintf("data: %s\nlisten: 127.0.0.1:0\nprofile: personal\ninspector: {sandbox: %s}\nupstreams:\n  - name: bench\n    url: %s\n", filepath.Join(dir, "data"), mode, url)
	if err := os.WriteFile(conf, []byte(body), 0o600); err != nil {
		return nil, "", err
	}
	var errs bytes.Buffer
	cmd = exec.Command(bin, "up", "--config", conf, "--json")
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	var first struct {
		Gateway string `json:"gateway"`
	}
	line := make([]byte, 1<<16)
	n, err := out.Read(line)
	if err == nil {
		err = json.Unmarshal(bytes.TrimSpace(line[:n]), &first)
	}
	if err != nil {
		stop(cmd)
		return nil, "", fmt.Errorf("the gateway ended: %w: %s", err, errs.String())
	}
	return cmd, first.Gateway, nil
}

func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
}

// through measures what results cost more through the gateway than directly.
func through(w io.Writer, calls int, mode string) (bad []string, err error) {
	dir, err := os.MkdirTemp("", "pratique-benchinspect-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	list := trips()
	up := httptest.NewServer(upstream(list))
	defer up.Close()
	cmd, address, err := gateway(dir, up.URL, mode)
	if err != nil {
		return nil, err
	}
	defer stop(cmd)
	if _, err := post(address, "tools/list", "", ""); err != nil {
		return nil, err
	}
	const warm = 5
	for n := range calls + warm {
		pids := family(cmd.Process.Pid)
		for _, t := range list {
			a, errA := t.call(up.URL, n)
			before := cpu(pids)
			b, errB := t.call(address, n)
			if err := errors.Join(errA, errB); err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
			if n >= warm {
				t.direct, t.via, t.cpu = append(t.direct, a), append(t.via, b), t.cpu+cpu(pids)-before
			}
		}
	}
	return compare(w, list), nil
}

// compare prints the trips, and names those over the bound.
func compare(w io.Writer, list []*trip) (bad []string) {
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "result through the gateway\tdirect p50 ms\tp50 ms\tp99 ms\tadded p50 ms\tmore than a few words\tCPU ms a call\tbound")
	var few time.Duration
	for i, x := range list {
		slices.Sort(x.direct)
		slices.Sort(x.via)
		n := len(x.via)
		added := x.via[n/2] - x.direct[n/2]
		if i == 0 {
			few = added
		}
		bound := most.String()
		if added > most {
			bad, bound = append(bad, x.name), bound+", over"
		}
		fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%s\n", x.name, ms(x.direct[n/2]), ms(x.via[n/2]), ms(x.via[n*99/100]),
			ms(added), ms(added-few), ms(x.cpu)/float64(n), bound)
	}
	_ = t.Flush()
	return bad
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// family are a process and its children, by /proc.
func family(pid int) []int {
	all := []int{pid}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, _ := os.ReadFile(name)
		after := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if id, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && len(after) > 1 && after[1] == strconv.Itoa(pid) {
			all = append(all, id)
		}
	}
	return all
}

// cpu is the time that processes spent on processors; zero where /proc does not say.
func cpu(pids []int) (all time.Duration) {
	for _, pid := range pids {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, name := range threads {
			b, _ := os.ReadFile(name)
			ns, _, _ := strings.Cut(string(b), " ")
			n, _ := strconv.ParseInt(ns, 10, 64)
			all += time.Duration(n)
		}
	}
	return all
}
