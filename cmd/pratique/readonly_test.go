package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReadersMakeNothing: a verb that only reads says of a data folder that is not there
// that it is not, with the exit code for that, and makes none.
func TestReadersMakeNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"r.yaml": "rules: [{name: a, allow: [x]}]\n", "i.yaml": "task: x\nexpires: 1h\ntools: [x]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"policy check r.yaml", "policy explain 0", "policy explain call_x", "policy suggest --run run_x", "effects list", "effects check", "surface list", "surface diff", "runs list",
		"runs show --id run_x", "intent show", "intent check i.yaml", "intent draft --task x", "ledger show", "ledger verify", "ledger follow", "quarantine list", "quarantine show --id x", "keys list", "replay 0", "backup --to b",
	} {
		for _, data := range []string{"none", "none/below"} {
			argv := strings.Fields(line)
			n := 2
			if argv[0] == "replay" || argv[0] == "backup" {
				n = 1
			}
			argv = append(append(append([]string{}, argv[:n]...), "--data", data), argv[n:]...)
			cmd := exec.Command("pratique", argv...)
			cmd.Dir = dir
			var errs bytes.Buffer
			cmd.Stderr = &errs
			cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != int(exitNotFound) || !strings.Contains(errs.String(), "there is no data folder: "+data+"\n") {
				t.Errorf("%v: %d %s", argv, code, errs.String())
			}
			if exists(filepath.Join(dir, "none")) {
				t.Fatalf("%v makes a folder", argv)
			}
		}
	}
}

// TestReadingEnds: a pipe that nobody writes to does not keep a verb from ending.
func TestReadingEnds(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "p")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("pratique", "policy", "check", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // until it listens to signals and waits
	cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		cmd.Process.Kill()
		t.Fatal("it does not end")
	}
}
