package sqlite_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/store/storetest"
)

// The test binary runs itself as other processes on one folder.
const (
	childMode = "PRATIQUE_STORE_CHILD" // mode
	childDir  = "PRATIQUE_STORE_DIR"
	childName = "PRATIQUE_STORE_NAME"
	childArg  = "PRATIQUE_STORE_ARG" // writes per writer; 0 is for ever
)

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		if err := child(mode); err != nil {
			fmt.Println("ERR", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child writes "ack INDEX ENTRY" for each durable entry, and in mode "pace"
// also how long it took.
func child(mode string) error {
	var n int
	fmt.Sscan(os.Getenv(childArg), &n)
	l, err := sqlite.Open(ctx, os.Getenv(childDir), nil)
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := storetest.NewCommitter(l, true)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Println("ready")
	if mode == "ready" {
		select {}
	}
	if mode == "pace" || mode == "flood" {
		bufio.NewReader(os.Stdin).ReadString('\n') // all start together
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	writers := map[string]int{"kill": 8, "some": 4, "pace": 1, "flood": 4}[mode]
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() {
			for i := 0; n == 0 || i < n; i++ {
				x := fmt.Sprintf("%s/%d/%d", os.Getenv(childName), w, i)
				t := time.Now()
				at, err := c.Do([]byte(x))
				if err != nil {
					errs <- err
					return
				}
				took := time.Since(t)
				mu.Lock()
				fmt.Println("ack", at, x, took.Microseconds())
				mu.Unlock()
				if mode == "pace" {
					time.Sleep(20*time.Millisecond - took)
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}

// process is a running child and what it has acknowledged.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	errb bytes.Buffer
	took []time.Duration
}

func start(t testing.TB, mode, dir, name string, writes int) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], "-test.run=^$")}
	p.cmd.Env = append(os.Environ(), childMode+"="+mode, childDir+"="+dir, childName+"="+name, fmt.Sprintf("%s=%d", childArg, writes))
	p.cmd.Stderr = &p.errb
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	p.out = bufio.NewScanner(out)
	if !p.out.Scan() || p.out.Text() != "ready" {
		t.Fatalf("child says %q %s", p.out.Text(), p.errb.String())
	}
	return p
}

func (p *process) kill() { p.cmd.Process.Kill() }

// acks reads acknowledgements into m until the child ends or each says stop.
func (p *process) acks(m *sync.Map, each func() bool) {
	for p.out.Scan() {
		var at uint64
		var x string
		var us int64
		if strings.HasPrefix(p.out.Text(), "ERR") {
			p.t.Errorf("child: %s", p.out.Text())
			continue
		}
		if k, _ := fmt.Sscanf(p.out.Text(), "ack %d %s %d", &at, &x, &us); k != 3 {
			continue // cut short by the kill
		}
		p.took = append(p.took, time.Duration(us)*time.Microsecond)
		if old, twice := m.LoadOrStore(at, x); twice {
			p.t.Errorf("index %d acknowledged for %v and %s", at, old, x)
		}
		if each != nil && !each() {
			return
		}
	}
}

// sound opens the folder, folds the log and compares it with what was acknowledged.
func sound(t testing.TB, dir string, acked *sync.Map) (entries, missing int, mended bool) {
	t.Helper()
	l, err := sqlite.Open(ctx, dir, &sqlite.Options{Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	es, err := storetest.Entries(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Check(ctx); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range es {
		if seen[string(e)] {
			t.Errorf("%s is there twice", e)
		}
		seen[string(e)] = true
	}
	acked.Range(func(at, x any) bool {
		if n := at.(uint64); n >= uint64(len(es)) || string(es[n]) != x.(string) {
			missing++
		}
		return true
	})
	_, mended = l.Recovered()
	return len(es), missing, mended
}
