package upstream

import (
	"os/exec"
	"syscall"
	"unsafe"
)

// attributes puts a process into a group of its own, and has the system kill it
// when we end.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits until the process has ended, kills whom it left behind in its group,
// and only then takes its exit status: until then its number, which is its
// group's, belongs to nobody else.
func reap(cmd *exec.Cmd) {
	const pPid, exited, noWait = 1, 4, 0x01000000 // of waitid(2)
	var info [128]byte                            // siginfo_t
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, pPid, uintptr(cmd.Process.Pid), uintptr(unsafe.Pointer(&info)), exited|noWait, 0, 0)
		if err != syscall.EINTR {
			break
		}
	}
	killGroup(cmd.Process)
	_ = cmd.Wait()
}
