//go:build unix && !linux

package upstream

import (
	"os/exec"
	"syscall"
)

// attributes puts a process into a group of its own. The keeper alone sees to it
// that it does not outlive us.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap waits for the process, and kills whom it left behind in its group. A group
// keeps its number for as long as it has a member.
func reap(cmd *exec.Cmd) {
	_ = cmd.Wait()
	killGroup(cmd.Process)
}
