package peers_test

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/internal/mcptest"
)

var (
	scenarioLine = regexp.MustCompile(`(?m)^\S+ ([a-z0-9-]+): (\d+) passed, (\d+) failed`)
	totalLine    = regexp.MustCompile(`(?m)^Total: (\d+) passed, (\d+) failed`)
)

// A tally is what the official suite said: checks passed and failed by scenario.
type tally struct {
	passed, failed int
	scenarios      map[string][2]int
}

// conform runs the official suite against a URL.
func conform(t *testing.T, url, revision string, more ...string) tally {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	args := append([]string{filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"),
		"server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", t.TempDir()}, more...)
	cmd := exec.CommandContext(ctx, node(t), args...)
	cmd.Dir = npm(t)
	out, _ := cmd.CombinedOutput() // its exit code says whether a check failed; the tally says which
	r := tally{scenarios: map[string][2]int{}}
	for _, m := range scenarioLine.FindAllStringSubmatch(string(out), -1) {
		r.scenarios[m[1]] = [2]int{number(m[2]), number(m[3])}
	}
	m := totalLine.FindStringSubmatch(string(out))
	if m == nil {
		t.Fatalf("the suite printed no total:\n%s", tail(string(out), 3000))
	}
	r.passed, r.failed = number(m[1]), number(m[2])
	return r
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

// fixture is the Go SDK's conformance server on a free port.
func fixture(t *testing.T, bin string, stateless bool) string {
	t.Helper()
	addr := mcptest.Address(t)
	cmd := exec.Command(bin, "-http", addr, fmt.Sprintf("-stateless=%v", stateless))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 1500 {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = c.Close()
			return "http://" + addr + "/mcp"
		}
		time.Sleep(20 * time.Millisecond) // a process of others: its port is all that it shows
	}
	t.Fatal("the fixture does not listen")
	return ""
}

const everything = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"

// TestConformance runs the official suite directly and through the gateway: what
// passes directly must pass through it, check by check.
func TestConformance(t *testing.T) {
	npm(t)
	server, bin := install(t, everything, "v1.8.0"), build(t, pratique)
	for _, c := range []struct {
		revision  string
		stateless bool
		checks    int // what the fixture passes directly, measured once; less means that the fixture is not the one meant
	}{{"2025-06-18", false, 56}, {"2025-11-25", false, 82}, {"2026-07-28", true, 153}} {
		t.Run(c.revision, func(t *testing.T) {
			up := fixture(t, server, c.stateless)
			direct := conform(t, up, c.revision)
			if direct.passed < c.checks || direct.failed != 0 {
				t.Fatalf("directly %d passed, %d failed; want %d and 0", direct.passed, direct.failed, c.checks)
			}
			through := conform(t, gateway(t, bin, "  - name: fixture\n    url: "+up+"\n"), c.revision)
			compare(t, "HTTP to HTTP", c.revision, direct, through, nil)
		})
	}
}

// overHTTPOnly are scenarios about the HTTP transport of the fixture itself,
// which a stdio server has no part in.
var overHTTPOnly = []string{"server-sse-polling", "server-sse-multiple-streams", "dns-rebinding-protection"}

// TestConformanceStdio runs the suite through the gateway onto the same fixture
// as a stdio process.
func TestConformanceStdio(t *testing.T) {
	npm(t)
	server, bin := install(t, everything, "v1.8.0"), build(t, pratique)
	for _, revision := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			direct := conform(t, fixture(t, server, revision == "2026-07-28"), revision)
			through := conform(t, gateway(t, bin, "  - name: fixture\n    command: ["+server+"]\n"), revision)
			compare(t, "HTTP to stdio", revision, direct, through, overHTTPOnly)
		})
	}
}

// compare prints both totals side by side and fails for each scenario in which
// a check passes directly and not through the gateway.
func compare(t *testing.T, way, revision string, direct, through tally, but []string) {
	t.Helper()
	t.Logf("conformance %s, %s: directly %d passed, %d failed; through the gateway %d passed, %d failed",
		revision, way, direct.passed, direct.failed, through.passed, through.failed)
	skip := " " + strings.Join(but, " ") + " "
	for name, d := range direct.scenarios {
		g := through.scenarios[name]
		if strings.Contains(skip, " "+name+" ") {
			continue
		}
		if g[0] < d[0] || g[1] > d[1] {
			t.Errorf("%s: directly %d passed and %d failed, through the gateway %d and %d", name, d[0], d[1], g[0], g[1])
		}
	}
}
