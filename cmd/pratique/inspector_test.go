package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine/warden"
)

// confined skips where this machine has not what inspector.sandbox: required wants.
func confined(t *testing.T) string {
	t.Helper()
	w, err := warden.New(warden.Options{})
	if err != nil {
		t.Skip(err)
	}
	defer w.Close()
	if !w.Confined() {
		t.Skip(w.Level())
	}
	return w.Level()
}

// inspectors are the processes of a parent that inspect.
func inspectors(t *testing.T, parent int) (pids []string) {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range stats {
		raw, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(raw), ") ")
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) && strings.HasPrefix(string(line), "pratique-inspector\x00") {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// TestSandboxIsShown: how the inspector is confined stands in /readyz?verbose, in
// the log and in what doctor finds; and no child outlives a registry that is
// killed.
func TestSandboxIsShown(t *testing.T) {
	level := confined(t)
	dir := t.TempDir()
	p := startHere(t, dir, "--data", "d", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	resp, err := http.Get(p.answer.Admin + "/readyz?verbose")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `{"name":"inspector","note":"`+level+`","ok":true}`) {
		t.Errorf("%v %s", err, body)
	}
	var pids []string
	for end := time.Now().Add(time.Minute); len(pids) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		pids = inspectors(t, p.answer.PID) // it starts behind the registry's back
	}
	if len(pids) != 1 {
		t.Errorf("processes %v", pids)
	}
	for _, pid := range pids {
		if env, err := os.ReadFile("/proc/" + pid + "/environ"); err == nil && len(env) > 0 {
			t.Errorf("its environment: %q", env)
		}
	}
	p.kill()
	for _, pid := range pids {
		waitGone(t, pid)
	}
	if !strings.Contains(p.err.String(), level) {
		t.Errorf("not in the log: %s", p.err.String())
	}
	found := ""
	for _, f := range good(t, doctorOutput{}, "doctor", "--data", filepath.Join(dir, "d")).Findings {
		if f.Check == "inspector" {
			found = f.Level + " " + f.Detail
		}
	}
	if found != "ok "+level {
		t.Errorf("doctor: %q", found)
	}
}

// TestSandboxModes are the setting's values as a command meets them.
func TestSandboxModes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, []byte(`{"tools":[{"name":"list_items","description":"Lists items.","inputSchema":{"type":"object"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]int{"off": 0, "best-effort": 0, "some": 2} {
		t.Setenv("PRATIQUE_INSPECTOR_SANDBOX", mode)
		code, out, errs := runHere(t, "scan", file)
		if code != want || want == 0 && !strings.Contains(out, "worst clear") || want != 0 && !strings.Contains(errs, "inspector.sandbox") {
			t.Errorf("%s: code %d\n%s%s", mode, code, out, errs)
		}
	}
}
