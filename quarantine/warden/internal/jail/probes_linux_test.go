package jail

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A target is what a probe may aim at: things of the test's own.
type target struct {
	dir      string // a folder with a file "here" and a socket "sock"
	tcp, udp string // listening on loopback
	abstract string // name of an abstract socket that is listened on
}

// A probe is one attempt to get out. Those of the control are harmless anywhere and
// must succeed outside of the jail; the others are only ever made inside.
type probe struct {
	name    string
	control bool
	try     func(target) error
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err == nil {
		_, err = c.Write([]byte("x"))
		c.Close()
	}
	return err
}

func raw(nr uintptr, a ...uintptr) error {
	var v [6]uintptr
	copy(v[:], a)
	if _, _, err := unix.Syscall6(nr, v[0], v[1], v[2], v[3], v[4], v[5]); err != 0 {
		return err
	}
	return nil
}

func text(s string) uintptr { b, _ := unix.BytePtrFromString(s); return uintptr(unsafe.Pointer(b)) }

var probes = []probe{
	// files
	{"read a file", true, func(t target) error { return open(filepath.Join(t.dir, "here"), unix.O_RDONLY) }},
	{"read /etc/passwd", true, func(target) error { return open("/etc/passwd", unix.O_RDONLY) }},
	{"read /proc/self/environ", true, func(target) error { return open("/proc/self/environ", unix.O_RDONLY) }},
	{"read /proc/PPID/environ", false, func(target) error {
		return open(filepath.Join("/proc", itoa(os.Getppid()), "environ"), unix.O_RDONLY)
	}},
	{"open /proc/PPID/mem", false, func(target) error { return open(filepath.Join("/proc", itoa(os.Getppid()), "mem"), unix.O_RDWR) }},
	{"write a file", true, func(t target) error { return open(filepath.Join(t.dir, "new"), unix.O_CREAT|unix.O_WRONLY) }},
	{"truncate a file", true, func(t target) error { return unix.Truncate(filepath.Join(t.dir, "here"), 0) }},
	{"make a folder", true, func(t target) error {
		p := filepath.Join(t.dir, "folder")
		defer unix.Rmdir(p)
		return unix.Mkdir(p, 0o700)
	}},
	{"read a folder", true, func(t target) error { _, err := os.ReadDir(t.dir); return err }},
	{"rename", false, func(t target) error { return unix.Rename(filepath.Join(t.dir, "here"), filepath.Join(t.dir, "there")) }},
	{"unlink", false, func(t target) error { return unix.Unlink(filepath.Join(t.dir, "here")) }},
	{"link", false, func(t target) error { return unix.Symlink("/", filepath.Join(t.dir, "root")) }},
	{"chmod", false, func(t target) error { return unix.Chmod(filepath.Join(t.dir, "here"), 0o777) }},
	{"stat", true, func(t target) error { var st unix.Stat_t; return unix.Stat(t.dir, &st) }},
	{"chdir", true, func(target) error { return unix.Chdir("/") }},
	{"chroot", false, func(target) error { return unix.Chroot("/") }},
	{"mount", false, func(t target) error { return unix.Mount("none", t.dir, "tmpfs", 0, "") }},
	{"fchdir", false, func(target) error { return unix.Fchdir(0) }},
	{"open by handle", false, func(target) error { return raw(unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, 0) }},
	{"inotify", true, func(target) error { fd, err := unix.InotifyInit1(0); unix.Close(fd); return err }},
	// network
	{"connect TCP", true, func(t target) error { return dial("tcp", t.tcp) }},
	{"listen TCP", true, func(target) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			l.Close()
		}
		return err
	}},
	{"send UDP", true, func(t target) error { return dial("udp", t.udp) }},
	{"connect a socket in a folder", true, func(t target) error { return dial("unix", filepath.Join(t.dir, "sock")) }},
	{"connect an abstract socket", true, func(t target) error { return dial("unix", "@"+t.abstract) }},
	{"socketpair", true, func(target) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
	{"netlink", true, func(target) error {
		fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
		unix.Close(fd)
		return err
	}},
	{"raw socket", false, func(target) error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP); return err }},
	{"vsock", false, func(target) error { _, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0); return err }},
	// processes
	{"exec", true, func(target) error { return exec.Command("/bin/true").Run() }},
	{"exec in place", false, func(target) error { return unix.Exec("/bin/true", []string{"true"}, nil) }},
	{"fork", false, func(target) error { return raw(unix.SYS_CLONE, uintptr(unix.SIGCHLD)) }},
	{"fork with new namespaces", false, func(target) error {
		return raw(unix.SYS_CLONE, uintptr(unix.SIGCHLD|unix.CLONE_NEWUSER|unix.CLONE_NEWNET))
	}},
	{"signal the parent", true, func(target) error { return unix.Kill(os.Getppid(), 0) }},
	{"signal a thread of the parent", true, func(target) error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) }},
	{"signal init", true, func(target) error { return unix.Kill(1, 0) }},
	{"signal oneself", true, func(target) error { return unix.Kill(os.Getpid(), 0) }},
	{"pidfd of the parent", true, func(target) error { fd, err := unix.PidfdOpen(os.Getppid(), 0); unix.Close(fd); return err }},
	{"ptrace the parent", false, func(target) error { return syscall.PtraceAttach(os.Getppid()) }},
	{"read memory of the parent", false, func(target) error {
		_, err := unix.ProcessVMReadv(os.Getppid(), nil, nil, 0)
		return err
	}},
	{"unshare", false, func(target) error { return unix.Unshare(unix.CLONE_NEWNS) }},
	{"unshare a user namespace", false, func(target) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
	{"setns", false, func(target) error { return unix.Setns(0, 0) }},
	{"raise a limit", true, func(target) error {
		return unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, new(unix.Rlimit))
	}},
	{"setpriority", true, func(target) error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 0) }},
	{"setuid", false, func(target) error { return raw(unix.SYS_SETUID, 0) }},
	{"become dumpable", true, func(target) error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }},
	{"undo the wish to die with the parent", true, func(target) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }},
	// the rest of the kernel
	{"memfd", true, func(target) error { fd, err := unix.MemfdCreate("x", 0); unix.Close(fd); return err }},
	{"io_uring", false, func(target) error { return raw(unix.SYS_IO_URING_SETUP, 1, 0) }},
	{"keyctl", false, func(target) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
		return err
	}},
	{"add_key", false, func(target) error {
		return raw(unix.SYS_ADD_KEY, text("user"), text("x"), text("x"), 1, ^uintptr(0))
	}},
	{"bpf", false, func(target) error { return raw(unix.SYS_BPF, 0, 0, 0) }},
	{"perf", false, func(target) error { return raw(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0) }},
	{"userfaultfd", false, func(target) error { return raw(unix.SYS_USERFAULTFD, 0) }},
	{"shared memory", false, func(target) error { return raw(unix.SYS_SHMGET, 0, 4096, 0o600) }},
	{"message queue", false, func(target) error { return raw(unix.SYS_MSGGET, 0, 0o600) }},
	{"executable memory", true, func(target) error {
		_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
		return err
	}},
	{"make memory executable", true, func(target) error {
		b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return errors.New("no memory")
		}
		return unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC)
	}},
	{"another filter", false, func(target) error { return raw(unix.SYS_SECCOMP, 0, 0, 0) }},
	{"another ABI", false, func(target) error { return raw(0x40000000 + unix.SYS_GETPID) }},
	{"pipe", true, func(target) error { var p [2]int; return unix.Pipe2(p[:], 0) }},
	{"dup", true, func(target) error { fd, err := unix.Dup(0); unix.Close(fd); return err }},
	{"terminal", false, func(target) error { return raw(unix.SYS_IOCTL, 0, unix.TIOCSTI, text("x")) }},
	{"set the clock", false, func(target) error { return raw(unix.SYS_CLOCK_SETTIME, 99, 0) }},
}
