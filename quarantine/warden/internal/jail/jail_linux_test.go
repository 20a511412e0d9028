package jail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

func itoa(n int) string { return strconv.Itoa(n) }

// self is the name under which the test binary is a process to lock up.
const self = "jail-probe"

var generous = Bounds{Memory: 1 << 30, CPU: 60}

// small is little memory; the race detector takes more for itself.
const small = (128 + 896*race) << 20

func TestMain(m *testing.M) {
	if os.Args[0] == self {
		os.Exit(inmate(os.Args[1], os.Args[2:]))
	}
	os.Exit(m.Run())
}

// inmate locks itself up in the way that how says and does what the words say.
func inmate(how string, words []string) int {
	var l Level
	var err error
	switch how {
	case "open":
	case "landlock":
		err = restrict()
	case "seccomp":
		err = load(deny)
	case "deny":
		l, err = lock(generous, deny)
	case "lock":
		l, err = Lock(generous)
	case "small":
		l, err = Lock(Bounds{Memory: small, CPU: 1})
	}
	if err != nil {
		fmt.Println("lock:", l, err)
		return 3
	}
	t := target{dir: words[1], tcp: words[2], udp: words[3], abstract: words[4]}
	switch words[0] {
	case "all":
		for _, p := range probes {
			if how == "deny" || p.control {
				fmt.Printf("%s\t%v\n", p.name, p.try(t))
			}
		}
	case "level":
		fmt.Print(l)
	case "wait":
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
	case "compute":
		fmt.Print(compute())
	case "memory":
		fmt.Print(len(grow()))
	case "loop":
		for n := 0; ; n++ {
			spun.Store(int64(n))
		}
	default:
		for _, p := range probes {
			if p.name == words[0] {
				fmt.Print("tried: ", p.try(t))
			}
		}
	}
	return 0
}

var spun atomic.Int64 // a loop that is one

// compute does what the engine does to the runtime: goroutines, much garbage,
// timers, panics, stacks that grow.
func compute() string {
	runtime.GOMAXPROCS(1)
	n := 0
	done := make(chan int)
	for i := range 50 {
		go func() {
			defer func() { done <- recover().(int) }()
			b := [][]byte{}
			for range 200 {
				b = append(b, make([]byte, 10_000+i))
			}
			time.Sleep(time.Millisecond)
			panic(deep(1000) + len(b))
		}()
	}
	for range 50 {
		n += <-done
	}
	runtime.GC()
	debug.FreeOSMemory()
	return fmt.Sprint(n)
}

func deep(n int) int {
	var pad [200]byte
	if n == 0 {
		return int(pad[0])
	}
	return deep(n-1) + int(pad[n%200])
}

func grow() []byte {
	var all []byte
	for range 4096 {
		all = append(all, bytes.Repeat([]byte("x"), 1<<20)...)
	}
	return all
}

// run starts an inmate and gives back what it said and how it ended.
func run(t *testing.T, how string, words ...string) (string, *os.ProcessState) {
	t.Helper()
	cmd := start(t, how, words...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	if strings.HasPrefix(out.String(), "lock:") {
		t.Fatal(out.String())
	}
	if testing.Verbose() && errs.Len() > 0 && errs.Len() < 2000 {
		t.Logf("%v: %s", words, errs.String())
	}
	return out.String(), cmd.ProcessState
}

func start(t *testing.T, how string, words ...string) *exec.Cmd {
	t.Helper()
	if l := Probe(); !l.Whole() {
		t.Skipf("this machine has only: %s", l)
	}
	aim := aims(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{self, how}, append(words, aim.dir, aim.tcp, aim.udp, aim.abstract)...)
	cmd.Env = []string{}
	return cmd
}

// aims are a folder and listeners of the test's own.
func aims(t *testing.T) target {
	t.Helper()
	a := target{dir: t.TempDir(), abstract: "pratique-jail-" + itoa(os.Getpid()) + "-" + filepath.Base(t.TempDir())}
	if err := os.WriteFile(filepath.Join(a.dir, "here"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	listen := func(network, address string) string {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	a.tcp = listen("tcp", "127.0.0.1:0")
	listen("unix", filepath.Join(a.dir, "sock"))
	listen("unix", "@"+a.abstract)
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	a.udp = u.LocalAddr().String()
	return a
}

// outcomes are what the probes of a run came to, by name.
func outcomes(t *testing.T, how string) map[string]string {
	t.Helper()
	said, state := run(t, how, "all")
	if !state.Success() {
		t.Fatalf("%s: %v\n%s", how, state, said)
	}
	out := map[string]string{}
	for line := range strings.Lines(said) {
		name, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out[name] = what
	}
	return out
}

// TestJailRefuses tries everything inside of the jail, where refusals are counted
// instead of killed, and the harmless attempts outside, where they must succeed:
// otherwise a refusal would prove nothing.
func TestJailRefuses(t *testing.T) {
	inside, outside := outcomes(t, "deny"), outcomes(t, "open")
	for _, p := range probes {
		if p.control && outside[p.name] != "<nil>" {
			t.Errorf("outside, %s: %s", p.name, outside[p.name])
		}
		got, tried := inside[p.name]
		if !tried || !strings.HasSuffix(got, unix.EPERM.Error()) && !(p.name == "another ABI" && strings.HasSuffix(got, unix.ENOSYS.Error())) {
			t.Errorf("inside, %s: %q (tried %v)", p.name, got, tried)
		}
	}
	t.Logf("%d attempts refused, %d of them succeed outside", len(inside), len(outside))
}

// TestLandlockAlone shows that the second fence stands by itself.
func TestLandlockAlone(t *testing.T) {
	got := outcomes(t, "landlock")
	want := []string{"read a file", "read /etc/passwd", "write a file", "truncate a file", "make a folder", "read a folder", "exec"}
	v := Probe().Landlock
	if v >= 4 { // Go listens by MPTCP, which Landlock does not know as TCP: that is seccomp's
		want = append(want, "connect TCP")
	}
	if v >= 6 {
		want = append(want, "connect an abstract socket", "signal the parent", "signal init")
	}
	for _, name := range want {
		if got[name] == "<nil>" || got[name] == "" {
			t.Errorf("%s: %q", name, got[name])
		}
	}
}

// TestJailKills has each attempt made in the jail as it is: the process is killed
// in the act.
func TestJailKills(t *testing.T) {
	for _, p := range probes {
		t.Run(p.name, func(t *testing.T) {
			said, state := run(t, "lock", p.name)
			s := state.Sys().(syscall.WaitStatus)
			if p.name == "another ABI" { // the only call that is refused and survived: the kernel says there is none
				if !strings.HasSuffix(said, unix.ENOSYS.Error()) {
					t.Errorf("%q, %v", said, state)
				}
				return
			}
			if !s.Signaled() || s.Signal() != unix.SIGSYS || said != "" {
				t.Errorf("%v, said %q", state, said)
			}
		})
	}
}

// TestJailComputes is the other side: what the engine needs is there.
func TestJailComputes(t *testing.T) {
	said, state := run(t, "lock", "compute")
	if !state.Success() || said != "10000" {
		t.Errorf("%v: %s", state, said)
	}
}

func TestJailBoundsMemory(t *testing.T) {
	said, state := run(t, "small", "memory")
	if state.Success() || said != "" {
		t.Errorf("%v: %s", state, said)
	}
	if got := state.SysUsage().(*syscall.Rusage).Maxrss; got > 2*small>>10 {
		t.Errorf("took %d KiB", got)
	}
}

func TestJailBoundsTime(t *testing.T) {
	_, state := run(t, "small", "loop")
	if s := state.Sys().(syscall.WaitStatus); !s.Signaled() || state.UserTime() > 5*time.Second {
		t.Errorf("%v after %v", state, state.UserTime())
	}
}

// TestJailLevel has the kernel say what stands, of every thread.
func TestJailLevel(t *testing.T) {
	l, _ := run(t, "lock", "level")
	if l != Probe().String() {
		t.Errorf("level %q, probed %q", l, Probe())
	}
	cmd := start(t, "lock", "wait")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	inherited, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	cmd.ExtraFiles = []*os.File{inherited}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	if _, err := io.ReadFull(out, make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	status, _ := filepath.Glob("/proc/" + itoa(cmd.Process.Pid) + "/task/*/status")
	if len(status) == 0 {
		t.Skip("no /proc")
	}
	for _, f := range status {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
			if !strings.Contains(string(raw), line) {
				t.Errorf("%s without %q", f, line)
			}
		}
	}
	fds, err := os.ReadDir("/proc/" + itoa(cmd.Process.Pid) + "/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, f := range fds {
		if to, _ := os.Readlink("/proc/" + itoa(cmd.Process.Pid) + "/fd/" + f.Name()); to == os.DevNull && f.Name() != "2" {
			t.Errorf("descriptor %s is still %s", f.Name(), to)
		}
	}
}

func TestLevelNamesWhatIsMissing(t *testing.T) {
	for l, want := range map[Level]string{
		{7, true, true}:   "landlock 7, seccomp, rlimits",
		{0, true, true}:   "seccomp, rlimits; without landlock",
		{0, false, false}: "unsandboxed (linux)",
	} {
		if l.String() != want || l.Whole() != (l.Landlock > 0) {
			t.Errorf("%q, want %q", l, want)
		}
	}
}

// TestCallsExist holds the list against the architectures that are built: one
// name that is unknown would leave the filter out.
func TestCallsExist(t *testing.T) {
	for _, a := range []*arch.Info{arch.X86_64, arch.AARCH64} {
		for _, name := range append([]string{"clone3"}, calls...) {
			if _, ok := a.SyscallNames[name]; !ok {
				t.Errorf("%s has no %s", a.Name, name)
			}
		}
		for _, g := range guarded() {
			if _, ok := a.SyscallNames[g.Name]; !ok {
				t.Errorf("%s has no %s", a.Name, g.Name)
			}
		}
	}
}
