package warden

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"

	"github.com/pratique-dev/pratique/quarantine"
)

func init() {
	parents["without landlock"] = func() { without("landlock_create_ruleset") }
	parents["without seccomp"] = func() { without("seccomp") }
}

// without is a parent on a kernel that has not a system call, by a filter that its
// children get too. It says what becomes of the modes.
func without(call string) {
	err := seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls:      []seccomp.SyscallGroup{{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{call}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = New(Options{Mode: Required})
	fmt.Println(errors.Is(err, ErrSandbox), err)
	w, err := New(Options{Mode: BestEffort})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	r := w.Inspect(bg, one(hostile))
	fmt.Println(r.Verdict != quarantine.Clear, r.Partial, w.Confined(), w.Level())
}

// TestMissingFence: where the kernel lacks one, required starts nothing, and
// best-effort says what is missing and judges.
func TestMissingFence(t *testing.T) {
	confined(t)
	for how, level := range map[string]string{
		"without landlock": "best-effort: seccomp, rlimits; without landlock",
		"without seccomp":  ", rlimits; without seccomp",
	} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{fakeName, how}
		out, err := cmd.CombinedOutput()
		lines := strings.Split(string(out), "\n")
		if err != nil || len(lines) != 3 || !strings.HasPrefix(lines[0], "true warden: ") || !strings.HasPrefix(lines[1], "true false false best-effort: ") || !strings.HasSuffix(lines[1], level) {
			t.Errorf("%s: %v\n%s", how, err, out)
		}
	}
}
