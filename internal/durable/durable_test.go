//go:build unix

package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/internal/durable"
)

var errInjected = errors.New("injected")

// steps is every step of one write, in order.
var steps = []durable.Step{
	durable.StepCreate, durable.StepWrite, durable.StepChmod, durable.StepSync,
	durable.StepClose, durable.StepRename, durable.StepSyncDir,
}

func failAt(step durable.Step, persisted bool) *durable.Files {
	return &durable.Files{Around: func(s durable.Step, _ string, do func() error) error {
		if s != step {
			return do()
		}
		if persisted {
			if err := do(); err != nil {
				return err
			}
		}
		return errInjected
	}}
}

// TestWriteFileFaults: whichever step fails, and whether or not it had its
// effect, the path holds the whole old or the whole new content, nothing is
// left beside it, and only a failure from the rename on says "unknown".
func TestWriteFileFaults(t *testing.T) {
	for i, step := range steps {
		for _, persisted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/persisted=%t", step, persisted), func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "f")
				if err := durable.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
				err := failAt(step, persisted).WriteFile(path, []byte("new content"), 0o600)
				if !errors.Is(err, errInjected) {
					t.Fatalf("error is %v, want the injected one", err)
				}
				if got, want := errors.Is(err, durable.ErrUnknown), i >= 5; got != want {
					t.Errorf("unknown = %t, want %t", got, want)
				}
				got, err := durable.ReadPrivate(path, 100)
				if err != nil {
					t.Fatal(err)
				}
				want := "old"
				if step == durable.StepSyncDir || step == durable.StepRename && persisted {
					want = "new content"
				}
				if string(got) != want {
					t.Errorf("content %q, want %q", got, want)
				}
				if names := list(t, dir); len(names) != 1 {
					t.Errorf("left behind: %v", names)
				}
			})
		}
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		names = append(names, e.Name())
	}
	return names
}

// TestWriteFileOrder: nothing is renamed before it is synced, and the folder
// is synced last.
func TestWriteFileOrder(t *testing.T) {
	var got []durable.Step
	f := &durable.Files{Around: func(s durable.Step, _ string, do func() error) error {
		got = append(got, s)
		return do()
	}}
	path := filepath.Join(t.TempDir(), "f")
	if err := f.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(steps) {
		t.Errorf("steps %v, want %v", got, steps)
	}
	st, _ := os.Stat(path)
	if st.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", st.Mode())
	}
}

func TestReadPrivateRefuses(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	if err := durable.WriteFile(good, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	os.Symlink(good, link)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	loose := filepath.Join(dir, "loose")
	durable.WriteFile(loose, nil, 0o640)
	world := filepath.Join(dir, "world")
	durable.WriteFile(world, nil, 0o602)
	sub := filepath.Join(dir, "sub")
	os.Mkdir(sub, 0o700)
	for path, want := range map[string]error{
		link: durable.ErrSymlink, fifo: durable.ErrNotRegular, loose: durable.ErrLoose, world: durable.ErrLoose,
		sub: durable.ErrNotRegular, filepath.Join(dir, "none"): fs.ErrNotExist,
	} {
		if _, err := durable.ReadPrivate(path, 100); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
		}
	}
	if _, err := durable.ReadPrivate(good, 4); !errors.Is(err, durable.ErrTooLarge) {
		t.Errorf("over-size: %v", err)
	}
	if b, err := durable.ReadPrivate(good, 5); err != nil || string(b) != "12345" {
		t.Errorf("good: %q %v", b, err)
	}
}

func TestMkdirPrivate(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "d")
	for range 2 { // the second finds it made
		if err := durable.MkdirPrivate(dir); err != nil {
			t.Fatal(err)
		}
	}
	if st, _ := os.Stat(dir); st.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", st.Mode())
	}
	loose := filepath.Join(base, "loose")
	os.Mkdir(loose, 0o755)
	link := filepath.Join(base, "link")
	os.Symlink(dir, link)
	file := filepath.Join(base, "file")
	os.WriteFile(file, nil, 0o600)
	for path, want := range map[string]error{
		loose: durable.ErrLoose, link: durable.ErrSymlink, link + "/": durable.ErrSymlink, file: durable.ErrNotFolder,
		filepath.Join(base, "no", "parent"): fs.ErrNotExist,
	} {
		if err := durable.MkdirPrivate(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	for _, persisted := range []bool{false, true} {
		if err := failAt(durable.StepSyncDir, persisted).MkdirPrivate(filepath.Join(base, fmt.Sprint(persisted))); !errors.Is(err, durable.ErrUnknown) {
			t.Errorf("failed folder sync: %v", err)
		}
	}
	if err := failAt(durable.StepMkdir, false).MkdirPrivate(filepath.Join(base, "x")); !errors.Is(err, errInjected) {
		t.Errorf("failed mkdir: %v", err)
	}
}

// TestDestroy: a link made to the secret before keeps only zeros.
func TestDestroy(t *testing.T) {
	dir := t.TempDir()
	path, kept := filepath.Join(dir, "f"), filepath.Join(dir, "kept")
	durable.WriteFile(path, []byte("secret"), 0o600)
	if err := os.Link(path, kept); err != nil {
		t.Fatal(err)
	}
	var f durable.Files
	for range 2 { // again after a crash
		if err := f.Destroy(path); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := os.ReadFile(kept); strings.Trim(string(b), "\x00") != "" || len(b) != 6 {
		t.Errorf("kept %q", b)
	}
	for _, step := range []durable.Step{durable.StepWrite, durable.StepRemove, durable.StepSyncDir} {
		durable.WriteFile(path, []byte("secret"), 0o600)
		if err := failAt(step, false).Destroy(path); !errors.Is(err, errInjected) {
			t.Errorf("%s: %v", step, err)
		}
		if err := f.Destroy(path); err != nil {
			t.Errorf("repeat after %s: %v", step, err)
		}
	}
}

func TestIsTemp(t *testing.T) {
	for name, want := range map[string]bool{".f.tmp-00": true, "f.tmp-00": false, ".hidden": false, "keys.json": false} {
		if durable.IsTemp(name) != want {
			t.Errorf("IsTemp(%q) = %t", name, !want)
		}
	}
}

// TestLock: held against this process and another; a dead holder's lock is free.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if os.Getenv("DURABLE_TEST_LOCK") != "" {
		if _, err := durable.Lock(os.Getenv("DURABLE_TEST_LOCK")); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		select {} // until killed
	}
	l, err := durable.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := durable.TryLock(path); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("second lock: %v", err)
	}
	l.Unlock()

	cmd := exec.Command(os.Args[0], "-test.run=^TestLock$")
	cmd.Env = append(os.Environ(), "DURABLE_TEST_LOCK="+path)
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Read(make([]byte, 6))
	if _, err := durable.TryLock(path); !errors.Is(err, durable.ErrLocked) {
		t.Errorf("lock of another process: %v", err)
	}
	time.AfterFunc(0, func() { cmd.Process.Kill() })
	cmd.Wait()
	l, err = durable.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Unlock()

	link := path + "-link"
	os.Symlink(path, link)
	if _, err := durable.Lock(link); !errors.Is(err, durable.ErrSymlink) {
		t.Errorf("symlink: %v", err)
	}
}

func ExampleWriteFile() {
	dir, _ := os.MkdirTemp("", "durable")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "checkpoint")
	if err := durable.WriteFile(path, []byte("size 7\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	data, err := durable.ReadPrivate(path, 1<<10)
	fmt.Printf("%s%v\n", data, err)
	// Output:
	// size 7
	// <nil>
}
