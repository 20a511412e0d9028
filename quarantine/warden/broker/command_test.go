package broker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

// judgeMain is a local command; it is this test program itself.
func judgeMain(how string, args []string) {
	var in struct {
		V        int
		Kind     string
		Lines    []string
		Messages []struct{ Role, Content string }
		Schema   struct{ Type string }
	}
	if how != "deaf" {
		raw, _ := io.ReadAll(os.Stdin)
		if err := json.Unmarshal(raw, &in, json.MatchCaseInsensitiveNames(true)); err != nil || in.V != 1 || len(in.Messages) != 2 || in.Schema.Type != "object" {
			os.Exit(9)
		}
	}
	all := strings.Join(in.Lines, "")
	v := "benign"
	for _, s := range []string{"saved passwords", "id_rsa", "collect.example", "delete all files"} {
		if strings.Contains(all, s) {
			v = "injection"
		}
	}
	probe := all != words
	if how != "good" && probe {
		how = "good"
	}
	switch how {
	case "good":
		fmt.Println(verdict(v))
	case "canary":
		_, after, _ := strings.Cut(in.Messages[0].Content, "\nThe word ")
		fmt.Println(after[:16])
	case "prose":
		fmt.Println("It is fine.")
	case "fails":
		fmt.Println(verdict(v))
		os.Exit(3)
	case "huge":
		for {
			if _, err := os.Stdout.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	case "noisy":
		for range 100 {
			_, _ = os.Stderr.Write(make([]byte, 1<<16))
		}
		fmt.Println(verdict(v))
	case "hangs":
		time.Sleep(time.Minute)
	case "environment":
		if env := os.Environ(); len(env) > 0 && runtime.GOOS != "windows" || in.Kind != "returned" {
			os.Exit(4)
		}
		fmt.Println(verdict(v))
	case "leaves":
		self, _ := os.Executable()
		c := exec.Command(self, "judge", "sleeps")
		c.Stdout = os.Stdout // and so keeps it open
		if c.Start() == nil {
			_ = os.WriteFile(args[0], []byte(strconv.Itoa(c.Process.Pid)), 0o600)
		}
		fmt.Println(verdict(v))
	case "deaf":
		fmt.Println(verdict(v))
	}
}

func init() {
	if len(os.Args) > 2 && os.Args[1] == "judge" && os.Args[2] == "sleeps" {
		time.Sleep(time.Minute)
		os.Exit(0)
	}
}

func commandBroker(t *testing.T, how ...string) *Broker {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newBroker(t, Config{Command: append([]string{self, "judge"}, how...)}, nil)
}

func TestCommands(t *testing.T) {
	for how, want := range map[string]error{
		"good": nil, "noisy": nil, "environment": nil, "deaf": nil,
		"prose": opinion.ErrReply, "canary": opinion.ErrCompromised,
		"fails": ErrCommand, "huge": ErrTooLarge, "hangs": ErrTimeout,
	} {
		t.Run(how, func(t *testing.T) {
			b := commandBroker(t, how)
			if how == "deaf" { // reads nothing, so it cannot tell probes
				b.health.proven = true
			} else if err := b.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if how == "hangs" {
				b.cfg.Timeout = 300 * time.Millisecond
			}
			reply, err := b.Ask(t.Context(), batch(words), whole)
			if err == nil {
				_, err = opinion.ParseReply(reply, 1)
			}
			if !errors.Is(err, want) || err == nil != (want == nil) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
	b := newBroker(t, Config{Command: []string{filepath.Join(t.TempDir(), "none")}}, nil)
	if _, err := b.Ask(t.Context(), batch(words), whole); !errors.Is(err, ErrCommand) || err.Error() != ErrCommand.Error() {
		t.Errorf("no such command: %v", err)
	}
}

// TestWhoACommandStartsEndsWithIt: nobody is left behind, nor waited for.
func TestWhoACommandStartsEndsWithIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process groups")
	}
	file := filepath.Join(t.TempDir(), "pid")
	b := commandBroker(t, "leaves", file)
	_, err := b.Ask(t.Context(), batch(words), whole)
	if !errors.Is(err, ErrCommand) { // its output was never closed
		t.Errorf("%v", err)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if stat, err := os.ReadFile("/proc/" + string(pid) + "/stat"); err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is still there", pid)
}
