package warden

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// parents are what the test binary does as a parent that is killed: it makes a
// warden, has its children in some state, prints their process ids and waits.
var parents = map[string]func(){
	"parent of idle": func() { parent(nil) },
	"parent of busy": func() { parent([]string{fakeName, ""}) },
}

func parent(argv []string) {
	w, err := New(Options{Mode: BestEffort, Deadline: time.Hour, argv: argv})
	if err != nil {
		fmt.Println(err)
		return
	}
	w.Inspect(bg, one(harmless))
	if argv != nil {
		for range 2 {
			go w.Inspect(bg, told("hang"))
		}
	}
	for w.Stats().Live < min(1+len(argv), 2) {
		time.Sleep(time.Millisecond)
	}
	w.pool.mu.Lock()
	for c := range w.pool.all {
		fmt.Print(c.cmd.Process.Pid, " ")
	}
	w.pool.mu.Unlock()
	fmt.Println()
	select {}
}

// TestNoChildOutlivesItsParent kills a parent without a word, while its children
// wait and while they compute.
func TestNoChildOutlivesItsParent(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc")
	}
	for _, how := range []string{"parent of idle", "parent of busy"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Args = []string{fakeName, how}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			pids := strings.Fields(line)
			if err != nil || len(pids) == 0 {
				t.Errorf("%q %v", line, err)
			}
			cmd.Process.Kill()
			cmd.Wait()
			for _, p := range pids {
				if _, err := strconv.Atoi(p); err != nil {
					t.Fatal(line)
				}
				for end := time.Now().Add(20 * time.Second); alive(p); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("child %s lives", p)
					}
				}
			}
		})
	}
}

// TestAChildEndsWithItsInput: also while it computes, and with nobody to kill it.
func TestAChildEndsWithItsInput(t *testing.T) {
	var stop atomic.Bool
	working := make(chan bool)
	e := newEngines(nil, opinion.Config{}, false)
	e.plain = busy(func() {
		for close(working); !stop.Load(); {
		}
	})
	defer stop.Store(true)
	in, parent := io.Pipe()
	c := &inmate{out: io.Discard, engines: e, orders: make(chan wire.Order, 1), replies: make(chan string, 1)}
	go c.work()
	ended := make(chan int)
	go func() { ended <- c.listen(in) }()
	f, err := wire.AppendOrder(nil, wire.Order{Batch: one(harmless)})
	if err != nil {
		t.Fatal(err)
	}
	parent.Write(f)
	<-working
	parent.Close()
	if code := <-ended; code != exitEnd {
		t.Errorf("exit code %d", code)
	}
}

type busy func()

func (busy) Engine() string { return "busy" }
func (f busy) Inspect(context.Context, quarantine.Batch) quarantine.Report {
	f()
	return quarantine.Report{}
}

// alive tells whether a process computes or waits; a zombie does neither.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// TestNothingIsLeft: after closing there is no goroutine, descriptor or child more
// than before, whatever happened between.
func TestNothingIsLeft(t *testing.T) {
	count := func() (g, fds, kids int) {
		list, err := filepath.Glob("/proc/self/fd/*")
		if err != nil || len(list) == 0 {
			t.Skip("no /proc")
		}
		tasks, _ := filepath.Glob("/proc/self/task/*/children")
		for _, f := range tasks {
			raw, _ := os.ReadFile(f)
			kids += len(strings.Fields(string(raw)))
		}
		return runtime.NumGoroutine(), len(list), kids
	}
	use := func() {
		w := fakes(t, "", Options{Workers: 3, Deadline: 200 * time.Millisecond})
		var all sync.WaitGroup
		for _, word := range []string{"slow", "crash", "hang", "noise", "slow", "exit", "x", "y"} {
			all.Go(func() { w.Inspect(bg, told(word)) })
		}
		all.Wait()
		go w.Inspect(bg, told("slow"))
		w.Close()
		w.Close()
	}
	use() // what the runtime keeps for itself
	g0, f0, k0 := count()
	for range 3 {
		use()
	}
	var g, f, k int
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if g, f, k = count(); g <= g0 && f <= f0 && k <= k0 {
			return
		}
	}
	t.Errorf("%d goroutines, %d descriptors, %d children; before %d, %d, %d", g, f, k, g0, f0, k0)
}

// TestSoak has many inspect at once while children crash, hang and lie: every
// batch gets its own verdict, or is late where it was told to be.
func TestSoak(t *testing.T) {
	w := fakes(t, "", Options{Workers: 4, Deadline: 3 * time.Second})
	soak(t, w, 8, 150)
	works(t, w, "after the soak")
}

func soak(t *testing.T, w *Warden, callers, each int) {
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			for j := range each {
				b, want, bad := one(fmt.Sprintf("%s %d of %d.", harmless, j, i)), quarantine.Clear, false
				switch rnd.IntN(12) {
				case 0, 1, 2:
					b, want = one(fmt.Sprintf("%d. %s %d", j, hostile, i)), quarantine.Hostile
				case 3:
					b, bad = told([]string{"exit", "crash", "noise", "twice", "missing", "half"}[rnd.IntN(6)]), true
				}
				r := w.Inspect(bg, b)
				switch {
				case bad && (!r.Partial || r.Verdict != quarantine.Suspect),
					!bad && r.Partial && r.Verdict != quarantine.Suspect, // it may wait for a new child too long
					!bad && !r.Partial && r.Verdict != want && !(want == quarantine.Hostile && r.Verdict == quarantine.Suspect):
					t.Errorf("%q: %+v", b.Specimens[0].Text, r)
				}
			}
		})
	}
	all.Wait()
	s := w.Stats()
	t.Logf("%+v", s)
	if s.Inspections < uint64(callers*each) || s.Lost == 0 || s.Partial < s.Lost || s.Partial > s.Inspections/2 || s.Live > 4 {
		t.Errorf("%+v", s)
	}
}
