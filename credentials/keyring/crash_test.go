package keyring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
)

// crashOps are the changes that are cut short at each of their steps.
var crashOps = map[string]func(*Ring) error{
	"rotate": func(r *Ring) error { _, err := r.Rotate(credentials.RoleHandle); return err },
	"root":   func(r *Ring) error { _, err := r.Rotate(credentials.RoleRoot); return err },
	"revoke": func(r *Ring) error {
		_, err := r.Revoke(r.view.Load().active[credentials.RoleLabel].Kid, "compromise")
		return err
	},
	"import": func(r *Ring) error {
		p, err := NewPrivate(envelope.EdDSA, nil)
		if err == nil {
			_, err = r.Import(credentials.RoleHandle, []*Private{p})
		}
		return err
	},
	"offline": func(r *Ring) error { _, err := r.TakeOffline(filepath.Dir(r.dir), secret.Value{}); return err },
	"create":  nil, // Open itself
}

// child opens the ring in another process and is killed (SIGKILL, by itself)
// before the nth step that touches the folder.
func child(dir, name string, n int) error {
	c := newClock()
	c.Add(time.Hour)
	o := c.options()
	crash := func(step durable.Step, path string, do func() error) error {
		if n--; n < 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return do()
	}
	if name == "create" {
		o.files = &durable.Files{Around: crash}
	}
	r, err := Open(dir, o)
	if err != nil || name == "create" {
		return err
	}
	r.vault.files = &durable.Files{Around: crash}
	return crashOps[name](r)
}

func TestMain(m *testing.M) {
	if spec := os.Getenv("KEYRING_TEST_CRASH"); spec != "" {
		f := strings.Split(spec, "|")
		n, _ := strconv.Atoi(f[2])
		if err := child(f[0], f[1], n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestKilledAtEachStep: a second process killed at any step of a change leaves
// a usable ring that is wholly before or wholly after it, for the first
// process, which goes on, and for one that starts.
func TestKilledAtEachStep(t *testing.T) {
	for name := range crashOps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 0; ; n = after(name, n) {
				if n > 300 {
					t.Fatal("the change never ends")
				}
				if done := killedAt(t, name, n); done {
					t.Logf("%d steps", n)
					if n < 9 {
						t.Error("control: too few steps were seen")
					}
					return
				}
			}
		})
	}
}

// after is the step to try after the nth. Making a ring writes twelve key files
// in seven steps each: of those in the middle every sixth step is tried, which
// meets every kind of step.
func after(name string, n int) int {
	if name == "create" && 28 <= n && n < 88 {
		return n + 6
	}
	return n + 1
}

// killedAt runs one child and checks what it leaves; done reports that it was
// not killed.
func killedAt(t *testing.T, name string, n int) (done bool) {
	t.Helper()
	c := newClock()
	dir := newDir(t)
	var first *Ring
	if name != "create" {
		first = open(t, dir, c.options())
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("KEYRING_TEST_CRASH=%s|%s|%d", dir, name, n))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != -1 {
		t.Fatalf("step %d: child failed: %s", n, out)
	}
	c.Add(time.Hour)
	if first != nil {
		survivor(t, first, n)
	}
	second := open(t, dir, c.options())
	if second.Ver() > 2 || second.Ver() == 2 && err != nil && name == "create" {
		t.Fatalf("step %d: version %d", n, second.Ver())
	}
	if name == "offline" && second.view.Load().man.Ver == 2 {
		handIn(t, second, filepath.Dir(dir))
	}
	if name != "offline" || second.Ver() == 1 {
		checkFiles2(t, second, n)
		usable(t, second)
	}
	// And it can go on: the change again, or the next one.
	c.Add(time.Hour)
	if _, err := second.Rotate(credentials.RoleHandle); err != nil {
		t.Fatalf("step %d: rotate after the crash: %v", n, err)
	}
	return err == nil
}

// survivor is the process that was running all along.
func survivor(t *testing.T, r *Ring, n int) {
	t.Helper()
	if err := r.Reload(); err != nil {
		t.Fatalf("step %d: reload: %v", n, err)
	}
	if err := check(r.view.Load().man.slots()); err != nil {
		t.Fatalf("step %d: %v", n, err)
	}
	if _, err := r.SignToken(envelope.Handle, claims(r)); err != nil {
		t.Fatalf("step %d: sign: %v", n, err)
	}
}

// checkFiles2 takes away the one thing a crash may leave for good: a key file
// that no manifest ever named. The ring leaves it, since it cannot tell it from
// a newer manifest's; nothing was ever signed with it.
func checkFiles2(t *testing.T, r *Ring, n int) {
	t.Helper()
	known := map[string]bool{}
	for _, e := range r.view.Load().man.Keys {
		known[e.File] = true
	}
	es, _ := os.ReadDir(r.dir)
	orphans := 0
	for _, e := range es {
		if fileRe.MatchString(e.Name()) && !known[e.Name()] {
			orphans++
			os.Remove(filepath.Join(r.dir, e.Name()))
		}
	}
	if orphans > 1 {
		t.Errorf("step %d: %d orphans", n, orphans)
	}
}

func handIn(t *testing.T, r *Ring, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "root-*.jwk"))
	for _, f := range files {
		p, err := LoadKeyFile(f, secret.Value{})
		if err != nil {
			t.Fatal(err)
		}
		r.handed.Store(p.Key().ID, p)
	}
}

// TestFaults: each step of each change fails once, with or without having had
// its effect. The change is then reported as failed, the ring decides by a
// version that is whole or not at all, and a new start finds a whole one.
func TestFaults(t *testing.T) {
	for name := range crashOps {
		for _, persisted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/persisted=%t", name, persisted), func(t *testing.T) {
				t.Parallel()
				n := 0
				for faultAt(t, name, n, persisted) {
					n = after(name, n)
				}
				if n < 9 {
					t.Errorf("control: only %d steps were seen", n)
				}
			})
		}
	}
}

var errInjected = errors.New("injected")

// faultAt fails the nth step of a change and checks what is left; hit is false
// when there was no such step.
func faultAt(t *testing.T, name string, n int, persisted bool) (hit bool) {
	t.Helper()
	c, dir := newClock(), newDir(t)
	count := 0
	files := &durable.Files{Around: func(s durable.Step, _ string, do func() error) error {
		count++
		if count-1 != n {
			return do()
		}
		hit = true
		if persisted {
			if err := do(); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return errInjected
	}}
	o := c.options()
	var r *Ring
	var err error
	if name == "create" {
		o.files = files
		r, err = Open(dir, o)
	} else {
		r = open(t, dir, o)
		c.Add(time.Hour)
		r.vault.files = files
		err = crashOps[name](r)
	}
	if !hit {
		return false
	}
	afterFault(t, fmt.Sprintf("%s step %d persisted %t", name, n, persisted), r, err, c)
	again := open(t, dir, c.options())
	if name == "offline" {
		handIn(t, again, filepath.Dir(dir))
	}
	if err := check(again.view.Load().man.slots()); err != nil {
		t.Fatalf("%s step %d: %v", name, n, err)
	}
	if _, err := again.Tick(c.Now()); err != nil {
		t.Fatalf("%s step %d: tick: %v", name, n, err)
	}
	return true
}

// afterFault: the process that met the fault.
func afterFault(t *testing.T, at string, r *Ring, err error, c *clock) {
	t.Helper()
	if r == nil {
		if err == nil {
			t.Fatalf("%s: no ring and no error", at)
		}
		return
	}
	_, errKey := r.SignToken(envelope.Label, claims(r))
	switch {
	case errors.Is(err, durable.ErrUnknown) && !errors.Is(errKey, ErrStale) && r.Health() == nil:
		t.Fatalf("%s: the outcome is unknown and the ring goes on (%v)", at, errKey)
	case err != nil && !errors.Is(err, durable.ErrUnknown) && errKey != nil:
		t.Fatalf("%s: nothing happened (%v) and yet: %v", at, err, errKey)
	case err == nil && errKey != nil:
		t.Fatalf("%s: succeeded and yet: %v", at, errKey)
	}
	r.vault.files = nil
	if err := r.Reload(); err != nil {
		t.Fatalf("%s: reload: %v", at, err)
	}
	if _, err := r.SignToken(envelope.Label, claims(r)); err != nil {
		t.Fatalf("%s: sign after reload: %v", at, err)
	}
}
