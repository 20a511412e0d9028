//go:build unix

package upstream

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

var errResources = errors.New("no file descriptors left")

// needed are further variables that programs cannot start without: none.
var needed []string

// startError says why without repeating the command.
func startError(err error) error {
	var no syscall.Errno
	if errors.As(err, &no) {
		return no
	}
	return fs.ErrInvalid
}

func group(cmd *exec.Cmd) { cmd.SysProcAttr = attributes() }

func killGroup(p *os.Process)      { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// A keeper is a small process beside an upstream's: it waits for our end, however
// that comes, and then kills the upstream's whole group. What the system does by
// itself reaches the process that we started at best, and not those that it
// started.
type keeper struct {
	cmd *exec.Cmd
	ear *os.File // closed by our end, and by nothing else while the keeper lives
}

// keep puts a keeper beside a process. Without one, only what the system does
// remains; that is no reason not to start.
func keep(p *os.Process) *keeper {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	cmd := exec.Command("/bin/sh", "-c", `read -r _; kill -9 "-$0"`, strconv.Itoa(p.Pid))
	cmd.Stdin, cmd.Env, cmd.Dir, cmd.SysProcAttr = r, []string{}, "/", &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		return nil
	}
	return &keeper{cmd: cmd, ear: w}
}

// release ends the keeper without a kill.
func (k *keeper) release() {
	if k == nil {
		return
	}
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
	_ = k.ear.Close()
}
