package launch_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/unattended/launch"
)

func TestMain(m *testing.M) {
	launch.Main()
	os.Exit(m.Run())
}

// TestTeed: a server behind the copy gets what is sent and no more, and it is kept.
func TestTeed(t *testing.T) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip("no cat")
	}
	file := filepath.Join(t.TempDir(), "heard")
	s, err := launch.Server{Argv: []string{cat}}.Teed(file)
	if err != nil {
		t.Fatal(err)
	}
	sent := `{"method":"tools/list"}` + "\n" + `{"method":"tools/call","params":{"name":"one"}}` + "\nnot JSON\n" + `{"method":"tools/call","params":{"name":"two"}}` + "\n"
	var out bytes.Buffer
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Stdin, cmd.Stdout = strings.NewReader(sent), &out
	if err := cmd.Run(); err != nil || out.String() != sent {
		t.Errorf("%v: %q", err, out.String())
	}
	names, err := launch.Heard(file)
	if err != nil || !slices.Equal(names, []string{"one", "two"}) {
		t.Errorf("%v: heard %q", err, names)
	}
	if _, err := launch.Heard(file + ".none"); err == nil {
		t.Error("a file that is not there is no proof that nothing was heard")
	}
}

// TestUpstream: a configuration hands on command and environment word by word.
func TestUpstream(t *testing.T) {
	s := launch.Server{Argv: []string{"/a b", `"`}, Env: []string{"X=1 2"}}
	if got := s.Upstream("u"); got != "- name: u\n  command:\n  - \"/a b\"\n  - \"\\\"\"\n  env:\n  - \"X=1 2\"\n" {
		t.Errorf("%s", got)
	}
}

func Example() {
	s := launch.Server{Argv: []string{"server", "--stdio"}}
	fmt.Println(strings.Join(launch.Guard{Bin: "pratique", Data: "data", Name: "files", Intent: "intent.yaml"}.Before(s).Argv, " "))
	// Output: pratique guard --data data --name files --intent intent.yaml -- server --stdio
}
