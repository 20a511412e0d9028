package unattended

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

// process is a running pratique up.
type process struct{ cmd *exec.Cmd }

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
}

// Behind connects over HTTP to pratique up before the server. More is further text of
// the configuration; agent gives the URL that the agent uses, from what up printed.
func Behind(t testing.TB, s launch.Server, w World, name, more string, agent func(data, url string) string) *Desk {
	t.Helper()
	dir := t.TempDir()
	d := &Desk{t: t, world: w, heard: filepath.Join(dir, "heard"), data: filepath.Join(dir, "data")}
	s, err := s.Teed(d.heard)
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "pratique.yaml")
	text := fmt.Sprintf("data: %q\nlisten: 127.0.0.1:0\n%supstreams:\n%s", d.data, more, s.Upstream(name))
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(Bin(t), "up", "--config", conf, "--json", "--log-level", "warn")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.where = &process{cmd}
	t.Cleanup(d.Leave)
	line, err := bufio.NewReader(stdout).ReadBytes('\n') // ends with the process at the latest
	var said struct {
		Gateway string `json:"gateway"`
	}
	if err != nil || json.Unmarshal(line, &said) != nil || said.Gateway == "" {
		t.Fatalf("up printed no gateway: %v: %s", err, line)
	}
	if d.Session, err = crew.Dial(t.Context(), agent(d.data, said.Gateway)); err != nil {
		t.Fatal(err)
	}
	d.list()
	return d
}
