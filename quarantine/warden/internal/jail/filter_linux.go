package jail

import (
	"os"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/sys/unix"
)

// An action is what becomes of a system call that is not on the list.
type action = seccomp.Action

const (
	kill = seccomp.ActionKillProcess
	deny = seccomp.ActionErrno // tests count refusals with it
)

// calls are the system calls that the Go runtime computes with; of descriptors
// they can only use what is open. Every other one is refused.
var calls = []string{
	"read", "write", "close",
	"munmap", "madvise", "brk", "mremap",
	"futex", "sched_yield", "nanosleep", "clock_nanosleep", "clock_gettime", "gettimeofday",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
	"getpid", "gettid", "exit", "exit_group",
	"epoll_ctl", "epoll_pwait", "getrandom",
	"set_robust_list", "rseq", // threads of the C library, where a build has it
}

// guarded are the calls that are let through for some arguments only.
func guarded() []seccomp.NameWithConditions {
	const (
		namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	)
	when := func(name string, c ...seccomp.Condition) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: c}
	}
	arg := func(n uint32, op seccomp.Operation, v uint64) seccomp.Condition {
		return seccomp.Condition{Argument: n, Operation: op, Value: v}
	}
	return []seccomp.NameWithConditions{
		// memory of our own that never becomes code
		when("mmap", arg(2, seccomp.BitsNotSet, unix.PROT_EXEC), arg(3, seccomp.BitsSet, unix.MAP_ANONYMOUS)),
		when("mprotect", arg(2, seccomp.BitsNotSet, unix.PROT_EXEC)),
		// threads, never processes
		when("clone", arg(0, seccomp.BitsSet, unix.CLONE_THREAD), arg(0, seccomp.BitsNotSet, namespaces)),
		// signals to our own threads: how the runtime interrupts a loop
		when("tgkill", arg(0, seccomp.Equal, uint64(os.Getpid()))),
		// names of our own mappings
		when("prctl", arg(0, seccomp.Equal, unix.PR_SET_VMA), arg(1, seccomp.Equal, unix.PR_SET_VMA_ANON_NAME)),
	}
}

// load puts the filter over all threads.
func load(refuse action) error {
	return seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true, Flag: seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{DefaultAction: refuse, Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: calls, NamesWithCondtions: guarded()},
			// its flags are behind a pointer that no filter can follow; the C library
			// falls back to clone
			{Action: seccomp.ActionErrno | action(unix.ENOSYS), Names: []string{"clone3"}},
		}},
	})
}

// hasSeccomp tells whether the kernel can kill a process by a filter.
func hasSeccomp() bool {
	act := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&act)))
	return err == 0
}
