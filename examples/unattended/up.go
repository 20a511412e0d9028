package unattended

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

// end asks a process to end, and kills one that does not.
func end(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		<-done
	}
}

// Behind connects over HTTP to pratique up before the server, under a credential that
// `pratique intent run` made and sealed to the intent, in words.
func Behind(t testing.TB, s launch.Server, w World, name, intent string) *Desk {
	t.Helper()
	dir := t.TempDir()
	d := &Desk{t: t, world: w, heard: filepath.Join(dir, "heard"), data: filepath.Join(dir, "data")}
	s, err := s.Teed(d.heard)
	if err != nil {
		t.Fatal(err)
	}
	conf, file := filepath.Join(dir, "pratique.yaml"), filepath.Join(dir, "intent.yaml")
	text := fmt.Sprintf("data: %q\nlisten: 127.0.0.1:0\ngateway: {wait: %s}\nupstreams:\n%s", d.data, launch.Wait, s.Upstream(name))
	if err := errors.Join(os.WriteFile(conf, []byte(text), 0o600), os.WriteFile(file, []byte(intent), 0o600)); err != nil {
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
	d.stop = sync.OnceFunc(func() { end(cmd) })
	t.Cleanup(d.stop)
	line, err := bufio.NewReader(stdout).ReadBytes('\n') // ends with the process at the latest
	var said struct {
		Gateway string `json:"gateway"`
	}
	if err != nil || json.Unmarshal(line, &said) != nil || said.Gateway == "" {
		t.Fatalf("up printed no gateway: %v: %s", err, line)
	}
	at, _, _ := strings.Cut(said.Gateway, "/mcp")
	d.again = func() (*crew.Session, error) { return crew.Dial(t.Context(), sealed(t, conf, file, at)) }
	d.Again()
	return d
}

// sealed is the URL of a new credential that is sealed to the intent.
func sealed(t testing.TB, conf, file, registry string) string {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(Bin(t), "intent", "run", "--config", conf, "--registry", registry, "--look", "--profile", "personal", "--yes", "--json", file)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("intent run: %v: %s", err, errs.String())
	}
	var made struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(out.Bytes(), &made); err != nil || made.URL == "" {
		t.Fatalf("intent run printed no URL: %v: %s", err, out.String())
	}
	return made.URL
}
