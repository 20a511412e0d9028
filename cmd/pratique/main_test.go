package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pratique-dev/pratique/quarantine/warden"
)

var update = flag.Bool("update", false, "write golden files and docs anew")

// TestMain has the test binary be pratique where a test runs that command, and
// takes settings of the machine away that would change what it does.
func TestMain(m *testing.M) {
	warden.Hook()
	testscript.Main(m, map[string]func(){"pratique": main, "mcpserver": mcpServer, "mcpagent": mcpAgent})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("DATA", os.Getenv("PRATIQUE_TOOLLISTS"))
			e.Setenv("HOME", e.WorkDir)
			e.Values[runningKey{}] = &running{}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "data" {
				return os.Getenv("PRATIQUE_TOOLLISTS") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"up": scriptUp, "down": scriptDown, "field": scriptField, "code": scriptCode, "perm": scriptPerm, "oneobject": scriptOneObject, "damage": scriptDamage,
		},
	})
}

// A process is a running `pratique up`.
type process struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	answer   upOutput
	ended    chan error
}

// startUp runs pratique up and waits until it has answered.
func startUp(ctx context.Context, dir string, env []string, args ...string) (*process, error) {
	p := &process{ended: make(chan error, 1)}
	p.cmd = exec.CommandContext(ctx, "pratique", append([]string{"up", "--json"}, args...)...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, &p.err
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line := make(chan error, 1)
	go func() {
		buf := make([]byte, 64<<10)
		for told := false; ; {
			n, err := pipe.Read(buf)
			p.out.Write(buf[:n])
			if !told && bytes.IndexByte(p.out.Bytes(), '\n') >= 0 {
				told = true
				line <- json.Unmarshal(p.out.Bytes(), &p.answer)
			}
			if err != nil {
				if !told {
					line <- errors.New("ended before it was ready")
				}
				p.ended <- p.cmd.Wait()
				return
			}
		}
	}()
	if err := <-line; err != nil {
		<-p.ended
		return nil, fmt.Errorf("up: %w\n%s", err, p.err.String())
	}
	return p, nil
}

// stop ends the process in order and wants exit code 0 and one line of output.
func (p *process) stop() error {
	if p.cmd.ProcessState != nil {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.ended:
		if err != nil {
			return fmt.Errorf("up ended with %w\n%s", err, p.err.String())
		}
	case <-time.After(30 * time.Second):
		p.cmd.Process.Kill()
		return errors.New("up does not end on SIGTERM")
	}
	if n := strings.Count(p.out.String(), "\n"); n != 1 {
		return fmt.Errorf("up printed %d lines on stdout", n)
	}
	return nil
}

// kill is SIGKILL.
func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.ended
}

// running holds what a script has up.
type (
	runningKey struct{}
	running    struct{ *process }
)

func live(ts *testscript.TestScript) *running { return ts.Value(runningKey{}).(*running) }

// scriptUp is "up DATA [FLAGS]": it starts a registry and sets REGISTRY,
// OPERATOR, ROOT and ADMIN.
func scriptUp(ts *testscript.TestScript, neg bool, args []string) {
	r := live(ts)
	if neg || len(args) < 1 || r.process != nil {
		ts.Fatalf("usage: up DATA [FLAGS], one at a time")
	}
	more := append([]string{"--data", args[0]}, args[1:]...)
	if !strings.Contains(strings.Join(args, " "), "--listen") {
		more = append(more, "--listen", "127.0.0.1:0")
	}
	env := []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME")}
	p, err := startUp(context.Background(), ts.MkAbs("."), env, more...)
	ts.Check(err)
	r.process = p
	ts.Defer(func() {
		if err := p.stop(); err != nil {
			ts.Logf("%v", err)
		}
	})
	ts.Check(os.WriteFile(ts.MkAbs("up.json"), p.out.Bytes(), 0o600))
	for k, v := range map[string]string{"REGISTRY": p.answer.Registry, "OPERATOR": p.answer.OperatorKey, "ROOT": string(p.answer.RootKey), "ADMIN": p.answer.Admin, "LOGKEY": p.answer.LedgerKey} {
		ts.Setenv(k, v)
	}
}

// scriptDown is "down": SIGTERM, which must end the registry in order.
func scriptDown(ts *testscript.TestScript, _ bool, _ []string) {
	p := live(ts).process
	if p == nil {
		ts.Fatalf("nothing is up")
	}
	ts.Check(p.stop())
	live(ts).process = nil
	ts.Check(os.WriteFile(ts.MkAbs("up.err"), p.err.Bytes(), 0o600))
}

// scriptDamage is "damage DIR": it changes one bit of every file below a folder, or
// in it, locks aside.
func scriptDamage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage DIR")
	}
	n := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "lock") {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) < 16 {
			return err
		}
		b[len(b)/2] ^= 1
		n++
		return os.WriteFile(path, b, 0o600)
	}))
	if n == 0 {
		ts.Fatalf("nothing in %s to damage", args[0])
	}
}

// scriptField is "field VAR FILE PATH [VALUE]": a member of a JSON file, by a
// path such as tools.0.id; with VALUE it must be that.
func scriptField(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: field VAR FILE PATH [VALUE]")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &v))
	for step := range strings.SplitSeq(args[2], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			if step == "len" {
				v = float64(len(x))
				continue
			}
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				ts.Fatalf("no element %q", step)
			}
			v = x[i]
		default:
			v = nil
		}
	}
	got := fmt.Sprint(v)
	ts.Setenv(args[0], got)
	if len(args) > 3 && (got == args[3]) == neg {
		ts.Fatalf("%s is %q, want %q", args[2], got, args[3])
	}
}

// scriptCode is "code N COMMAND...": the command's exit code must be N. Its
// output goes to the files stdout and stderr.
func scriptCode(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		got = e.ExitCode()
	} else {
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("out"), []byte(ts.ReadFile("stdout")), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("err"), []byte(ts.ReadFile("stderr")), 0o600))
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if want != 0 && !strings.HasPrefix(ts.ReadFile("stderr"), "pratique") {
		ts.Fatalf("no named error on stderr")
	}
}

// scriptPerm is "perm MODE FILE...".
func scriptPerm(ts *testscript.TestScript, _ bool, args []string) {
	for _, f := range args[1:] {
		st, err := os.Lstat(ts.MkAbs(f))
		ts.Check(err)
		if got := fmt.Sprintf("%04o", st.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", filepath.Base(f), got, args[0])
		}
	}
}

// scriptOneObject is "oneobject FILE": exactly one JSON object and a line end.
func scriptOneObject(ts *testscript.TestScript, _ bool, args []string) {
	raw := ts.ReadFile(args[0])
	var v map[string]any
	if err := json.Unmarshal([]byte(raw), &v); err != nil || strings.Count(raw, "\n") != 1 || !strings.HasSuffix(raw, "\n") {
		ts.Fatalf("not exactly one JSON object: %v\n%s", err, raw)
	}
}
