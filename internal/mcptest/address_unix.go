//go:build unix

package mcptest

import (
	"fmt"
	"os"
	"syscall"
)

// Keep is Address without a test: release gives the port back.
//
// A socket that is bound and does not listen keeps a port from being chosen, and is in
// nobody's way who names it, since both ask for SO_REUSEADDR, as package net does.
func Keep() (address string, release func(), err error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return "", nil, os.NewSyscallError("socket", err)
	}
	port, err := bind(fd)
	if err != nil {
		_ = syscall.Close(fd)
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", port), func() { _ = syscall.Close(fd) }, nil
}

// bind takes a free port.
func bind(fd int) (port int, err error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	in, ok := at.(*syscall.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("bound to a %T", at)
	}
	return in.Port, nil
}
