package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestManyGuardsFirstStart: guards that start at once on no data folder make one,
// with one operator, and all work.
func TestManyGuardsFirstStart(t *testing.T) {
	dir := t.TempDir()
	tools := `[{"name":"echo","description":"Echoes.","inputSchema":{"type":"object"}}]`
	os.WriteFile(filepath.Join(dir, "tools.json"), []byte(tools), 0o600)
	os.WriteFile(filepath.Join(dir, "work.txt"), []byte("list\ncall echo {}\n"), 0o600)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "mcpagent", "work.txt", "--", "pratique", "guard", "--data", "d", "--", "mcpserver", "tools.json")
			cmd.Dir = dir
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "tools: echo\n") || !strings.Contains(out.String(), `"text":"{}"`) {
				t.Errorf("%v\n%s\n%s", err, out.String(), errs.String())
			}
		})
	}
	all.Wait()
	calls, _ := os.ReadFile(filepath.Join(dir, "tools.json.calls"))
	if n := bytes.Count(calls, []byte("\n")); n != 6 {
		t.Errorf("%d calls", n)
	}
	out, err := exec.CommandContext(t.Context(), "pratique", "surface", "list", "--data", filepath.Join(dir, "d")).CombinedOutput()
	if err != nil || strings.Count(string(out), " echo ") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = exec.CommandContext(t.Context(), "pratique", "doctor", "--data", filepath.Join(dir, "d")).CombinedOutput()
	if err != nil {
		t.Logf("doctor: %v\n%s", err, out)
	}
}

// TestGuardEnds: when its agent goes or SIGTERM comes, the guard ends in order and
// the server does not outlive it.
func TestGuardEnds(t *testing.T) {
	for _, how := range []string{"closed", "SIGTERM", "SIGKILL"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			// The server says its id and holds a pipe that ends with it.
			script := fmt.Sprintf("echo $$ > %s/pid; exec mcpserver %s/tools.json", dir, dir)
			os.WriteFile(filepath.Join(dir, "tools.json"), []byte(`[]`), 0o600)
			g := startGuard(t, filepath.Join(dir, "d"), "sh", "-c", script)
			g.ask(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
			pid, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			g.end(t, how)
			waitGone(t, strings.TrimSpace(string(pid)))
		})
	}
}
