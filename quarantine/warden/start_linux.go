package warden

import (
	"os"
	"syscall"
)

// executable is the program that runs now, whatever has been installed over it.
func executable() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	path, _ := os.Executable() // where it is not known, the start says so
	return path
}

// attributes: a signal to our terminal's group is none of theirs, and they do not
// outlive us even while they compute.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
