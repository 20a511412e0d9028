// Package jail takes from the process that it runs in everything that a reader of
// hostile text has no use for: files, network, other processes, more memory, new
// descriptors. What is left is to compute, to read and write the descriptors that
// are open, and to end.
//
// Three fences stand behind each other, so that a hole in one is not a way out:
// Landlock (the kernel forgets the file system, the network and who may be
// signalled), seccomp (all but a few system calls kill the process) and limits of
// resources. None needs a privilege, and none can be undone.
package jail

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// ErrMissing says that a fence is not there; what is there stands.
var ErrMissing = errors.New("jail: not every fence is there")

// A Level says which fences stand.
type Level struct {
	Landlock int  // version of the kernel's interface that is made use of, 0: none
	Seccomp  bool // anything but a few system calls kills the process
	Limits   bool // memory, processor time, descriptors and sizes of files are bounded
}

// Whole tells whether every fence stands.
func (l Level) Whole() bool { return l.Landlock > 0 && l.Seccomp && l.Limits }

// String names the fences, and those that are missing.
func (l Level) String() string {
	if l == (Level{}) {
		return "unsandboxed (" + runtime.GOOS + ")"
	}
	var have, not []string
	fence := func(is bool, name, not1 string) {
		if is {
			have = append(have, name)
		} else {
			not = append(not, not1)
		}
	}
	fence(l.Landlock > 0, fmt.Sprintf("landlock %d", l.Landlock), "landlock")
	fence(l.Seccomp, "seccomp", "seccomp")
	fence(l.Limits, "rlimits", "rlimits")
	text := strings.Join(have, ", ")
	if len(not) > 0 {
		text += "; without " + strings.Join(not, ", ")
	}
	return text
}

// Bounds are the limits of resources.
type Bounds struct {
	Memory uint64 // bytes of data; reserved addresses are more
	CPU    uint64 // seconds of processor time, all in all
}
