package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A guarded is a running `pratique guard`.
type guarded struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs bytes.Buffer
}

func startGuard(t *testing.T, data string, argv ...string) *guarded {
	t.Helper()
	g := &guarded{cmd: exec.Command("pratique", append([]string{"guard", "--data", data, "--"}, argv...)...)}
	g.cmd.Stderr = &g.errs
	g.in, _ = g.cmd.StdinPipe()
	out, _ := g.cmd.StdoutPipe()
	g.out = bufio.NewReader(out)
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.cmd.Process.Kill(); g.cmd.Wait() })
	return g
}

// ask sends a line and reads the next.
func (g *guarded) ask(t *testing.T, line string) string {
	t.Helper()
	if _, err := io.WriteString(g.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := g.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, g.errs.String())
	}
	return answer
}

func (g *guarded) end(t *testing.T, how string) {
	t.Helper()
	switch how {
	case "closed":
		g.in.Close()
	case "SIGTERM":
		g.cmd.Process.Signal(syscall.SIGTERM)
	case "SIGKILL":
		g.cmd.Process.Kill()
	}
	ended := make(chan error, 1)
	go func() { io.Copy(io.Discard, g.out); ended <- g.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil && how != "SIGKILL" {
			t.Errorf("ended with %v\n%s", err, g.errs.String())
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("does not end\n%s", g.errs.String())
	}
}

// waitGone waits for a process to be gone; one that its parent has not buried yet is.
func waitGone(t *testing.T, pid string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %s outlives the guard: %s", pid, stat)
		}
		time.Sleep(10 * time.Millisecond) // there is nothing to wait on: it is no child of ours
	}
}
