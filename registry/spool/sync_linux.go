package spool

import (
	"os"
	"syscall"
)

// dataSync is fdatasync: a segment's length never changes, so that its data is
// all there is to write.
func dataSync(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
