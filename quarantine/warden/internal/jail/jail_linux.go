package jail

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// newest is the newest version of Landlock that we know how to make use of.
const newest = 11

// Probe says which fences the kernel offers. It changes nothing.
func Probe() Level { return Level{Landlock: landlockVersion(), Seccomp: hasSeccomp(), Limits: true} }

func landlockVersion() int {
	v, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return min(int(v), newest)
}

// Lock puts up every fence that there is, for all threads and for good, and says
// which stand. ErrMissing where one does not.
func Lock(b Bounds) (Level, error) { return lock(b, kill) }

func lock(b Bounds, refuse action) (l Level, err error) {
	closeInherited()
	wake()
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // no sibling attaches to us or reads our memory
	if restrict() == nil {
		l.Landlock = landlockVersion()
	}
	l.Limits = limit(b) == nil
	runtime.LockOSThread() // no_new_privs is of this thread until the filter is of all
	defer runtime.UnlockOSThread()
	l.Seccomp = load(refuse) == nil
	if !l.Whole() {
		return l, fmt.Errorf("%w: %s", ErrMissing, l)
	}
	return l, nil
}

// restrict gives the process a Landlock domain without a single rule: no path, no
// port, no socket and no process outside of it.
func restrict() error {
	if landlockVersion() == 0 {
		return ErrMissing
	}
	return landlock.V11.BestEffort().Restrict()
}

// closeInherited closes descriptors that whoever started our parent left open: of
// what is open, only they lack the flag that closes on exec, which everything
// that Go opens has.
func closeInherited() {
	fds := []int{}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, e := range list {
			if n, err := strconv.Atoi(e.Name()); err == nil {
				fds = append(fds, n)
			}
		}
	} else {
		for n := range 1024 {
			fds = append(fds, n)
		}
	}
	for _, fd := range fds {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); fd > 2 && err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// wake has the runtime open the descriptors of its poller, which timers want and
// which cannot be opened later.
func wake() { time.AfterFunc(time.Hour, func() {}).Stop() }

// reserved is how much address space may be taken besides memory: the runtime
// reserves much and uses little of it.
const reserved = 4 << 30

func limit(b Bounds) error {
	for what, v := range map[int]uint64{
		unix.RLIMIT_DATA: b.Memory, unix.RLIMIT_AS: b.Memory + reserved, unix.RLIMIT_CPU: b.CPU,
		unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 0, unix.RLIMIT_MEMLOCK: 0, unix.RLIMIT_MSGQUEUE: 0,
	} {
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: v, Max: v}); err != nil {
			return err
		}
	}
	return nil
}
