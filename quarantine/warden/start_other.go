//go:build !linux

package warden

import (
	"os"
	"syscall"
)

func executable() string {
	path, _ := os.Executable() // where it is not known, the start says so
	return path
}

func attributes() *syscall.SysProcAttr { return nil }
