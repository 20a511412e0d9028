package decisions_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/spool"
)

// TestCaseO18Decisions is case O-18, torn tail, on the decision log: tears (a to
// d) are mended, named as tears and never forgotten; edits (e, f) are tampering,
// at the right record, and nothing goes on on top of them.
func TestCaseO18Decisions(t *testing.T) {
	made := t.TempDir()
	l := open(t, made, options())
	name := l.Spool()
	for range 5 {
		call(t, l, runs(1), true)
	}
	at, err := l.Anchor()
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	os.Remove(filepath.Join(made, "decisions", name, "left")) // it crashed
	seg := segments(t, made, name)[0]
	whole, err := os.ReadFile(seg)
	if err != nil {
		t.Fatal(err)
	}
	end := len(bytes.TrimRight(whole, "\x00"))
	fresh := func() string {
		data := t.TempDir()
		if err := os.CopyFS(data, os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
		filepath.WalkDir(data, func(path string, d os.DirEntry, _ error) error {
			if d.IsDir() {
				return os.Chmod(path, 0o700)
			}
			return os.Chmod(path, 0o600)
		})
		return data
	}
	pad := func(b []byte) []byte { return append(b, make([]byte, len(whole)-len(b))...) }
	for tear, c := range map[string]struct {
		b    []byte
		left uint64 // entries
	}{
		"a: last record torn":                 {bytes.Clone(whole[:end-20]), 9},
		"a: with the zeros behind it":         {pad(bytes.Clone(whole[:end-20])), 9},
		"b: only its end mark missing":        {bytes.Clone(whole[:end-1]), 9},
		"c: fragment of a new record":         {pad(append(bytes.Clone(whole[:end]), whole[128:128+60]...)), 10},
		"c: fragment behind the segment":      {append(bytes.Clone(whole), `{"seq":6,"prev":"ab`...), 10},
		"d: zero bytes behind it":             {append(bytes.Clone(whole), make([]byte, 512)...), 10},
		"the zeros after the last record cut": {bytes.Clone(whole[:end]), 10},
	} {
		t.Run(tear, func(t *testing.T) {
			data := fresh()
			path := segments(t, data, name)[0]
			os.WriteFile(path, c.b, 0o600)
			if r := clean(t, data); !r.Torn() || len(r.Spools[0].Torn) != 1 || r.Entries() != c.left {
				t.Errorf("before the start: %+v", r)
			}
			l := open(t, data, options())
			call(t, l, runs(1), true)
			l.Close()
			for range 3 { // and it keeps saying so
				r := clean(t, data)
				if !r.Torn() || len(r.Spools[0].Torn) != 0 || len(r.Spools[0].Repairs) != 1 || r.Spools[0].Repairs[0].Index != c.left {
					t.Errorf("after the start: %+v", r)
				}
				open(t, data, options()).Close()
			}
			rs := all(t, data, decisions.Query{})
			if n := count(rs, func(e registry.Entry) bool { return e.Type == registry.EntryRecover }); n != 1 {
				t.Errorf("%d entries say it", n)
			}
		})
	}
	second := bytes.Index(whole[128:], []byte(`"call.finished"`)) + 128 // record 2, index 1
	edit := func(at int, to byte) []byte {
		b := bytes.Clone(whole)
		b[at] = to
		return b
	}
	for change, c := range map[string]struct {
		b     []byte
		index uint64
	}{
		"e: record 2 edited":          {bytes.Replace(whole, []byte(`returned`), []byte(`refused!`), 1), 1},
		"f: a byte of record 2":       {edit(second, 0x0b), 1},
		"f: the end mark of record 1": {edit(bytes.Index(whole[128:], []byte{0xa5, 0x5e, 0x9d, 0x5a})+128, 0x0b), 0},
		"f: a byte of the last":       {edit(end-10, 0x0b), 9},
	} {
		t.Run(change, func(t *testing.T) {
			data := fresh()
			path := segments(t, data, name)[0]
			os.WriteFile(path, c.b, 0o600)
			r := verify(t, data)
			if len(r.Problems) == 0 || r.Problems[0].Index != c.index || r.Problems[0].Spool != name || r.Torn() {
				t.Errorf("%+v", r)
			}
			if _, err := decisions.Open(data, options()); !errors.Is(err, spool.ErrDamaged) || !strings.Contains(err.Error(), name) {
				t.Errorf("it starts on top: %v", err)
			}
			if _, err := decisions.Last(data, decisions.Query{}, 10); !errors.Is(err, spool.ErrDamaged) {
				t.Errorf("it is shown as if nothing were wrong: %v", err)
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, c.b) {
				t.Error("the evidence was changed")
			}
		})
	}
	t.Run("torn below its anchor", func(t *testing.T) {
		data := fresh()
		os.WriteFile(segments(t, data, name)[0], whole[:end-20], 0o600)
		o := options()
		o.Anchors = []decisions.Anchor{at}
		if _, err := decisions.Open(data, o); !errors.Is(err, decisions.ErrAnchor) {
			t.Errorf("a lost synced entry passes for a tear: %v", err)
		}
		if r := verify(t, data, at); len(r.Problems) != 1 || r.Problems[0].Kind != decisions.KindAnchor || r.Problems[0].Index != 9 {
			t.Errorf("%+v", r.Problems)
		}
	})
	t.Run("control: untouched", func(t *testing.T) {
		data := fresh()
		for range 3 {
			open(t, data, options()).Close()
		}
		if r := clean(t, data, at); r.Torn() || r.Entries() != 10 {
			t.Errorf("%+v", r)
		}
	})
}

const (
	childFolder = "PRATIQUE_DECISIONS_CHILD"
	childRolls  = "PRATIQUE_DECISIONS_ROLLS"
	childWaits  = "PRATIQUE_DECISIONS_WAITS=1"
)

// rolling are options with which 800 entries take several spools, or one.
func rolling(yes bool) decisions.Options {
	o := decisions.Options{Segment: segment}
	if yes {
		o.Roll = segment
	}
	return o
}

// TestMain becomes a caller in a process of its own where a test asks for it.
func TestMain(m *testing.M) {
	if data := os.Getenv(childFolder); data != "" {
		if err := callFor(data); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// callFor makes 400 calls from 8 goroutines, and prints each as it is let
// through and as it ends.
func callFor(data string) error {
	l, err := decisions.Open(data, rolling(os.Getenv(childRolls) != ""))
	if err != nil {
		return err
	}
	fmt.Println("open", l.Spool())
	_, _ = os.Stdin.Read(make([]byte, 1)) // until nobody has us wait
	errs := make(chan error, 8)
	for g := range 8 {
		go func() {
			for range 50 {
				k, err := l.Decided(ctx, decision(runs(g)), []byte(`{"a":1}`), g%2 == 0)
				if err != nil {
					errs <- err
					return
				}
				fmt.Println("decided", k.Call())
				if err := l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned}, nil); err != nil {
					errs <- err
					return
				}
				fmt.Println("finished", k.Call())
			}
			errs <- nil
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			return err
		}
	}
	return l.Close()
}

type child struct {
	cmd   *exec.Cmd
	in    io.Closer // of one that waits after it is open
	lines *bufio.Scanner
	said  map[string]string // call: the latest word on it
	n     int
}

func startChild(t *testing.T, data string, env ...string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), said: map[string]string{}}
	c.cmd.Env = append(append(os.Environ(), childFolder+"="+data), env...)
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(env, childWaits) {
		if c.in, err = c.cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.cmd.Process.Kill(); c.cmd.Wait() })
	c.lines = bufio.NewScanner(out)
	return c
}

// read takes n lines, or all; it reports whether there were so many.
func (c *child) read(t *testing.T, n int) bool {
	t.Helper()
	for ; n != 0; n-- {
		if !c.lines.Scan() {
			return false
		}
		word, call, _ := strings.Cut(c.lines.Text(), " ")
		if word == "error" {
			t.Fatal(call)
		}
		if word != "open" {
			c.said[call] = word
			c.n++
		}
	}
	return true
}

// TestCaseO19Decisions is case O-19, chain fork, on the decision log: two
// processes and the reader in one folder, 400 calls each, one of them killed:
// every call is there, no chain is broken, nobody is called a liar.
func TestCaseO19Decisions(t *testing.T) {
	data := t.TempDir()
	a, b := startChild(t, data, childWaits), startChild(t, data, childWaits)
	for _, c := range []*child{a, b} {
		c.read(t, 1)
		defer c.in.Close()
	}
	a.in.Close() // once both have their spools
	b.in.Close()
	b.read(t, 100)
	if err := b.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	clean(t, data) // while one writes and one has just died
	b.read(t, -1)
	b.cmd.Wait()
	a.read(t, -1)
	if err := a.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	open(t, data, decisions.Options{Segment: segment}).Close()
	if r := clean(t, data); len(r.Spools) != 2 {
		t.Errorf("%d spools", len(r.Spools))
	}
	if a.n != 800 {
		t.Errorf("the living process said %d words", a.n)
	}
	sound(t, data, a, b)
}

// sound looks for every call that a child spoke of: decided before it was let
// through, once; and with one outcome, be it that it is lost.
func sound(t *testing.T, data string, cs ...*child) {
	t.Helper()
	decided, outcome := map[string]int{}, map[string]string{}
	for _, r := range all(t, data, decisions.Query{}) {
		switch r.Entry.Type {
		case registry.EntryDecision:
			decided[r.Entry.Call]++
		case registry.EntryOutcome:
			if outcome[r.Entry.Call] != "" || decided[r.Entry.Call] != 1 {
				t.Errorf("%s: outcome %s after %q", r.Entry.Call, r.Entry.Outcome, outcome[r.Entry.Call])
			}
			outcome[r.Entry.Call] = r.Entry.Outcome
		}
	}
	for _, c := range cs {
		for call, word := range c.said {
			if decided[call] != 1 {
				t.Errorf("%s was let through, and is on record %d times", call, decided[call])
			}
			if word == "finished" && outcome[call] != registry.OutcomeReturned {
				t.Errorf("%s ended, and its outcome is %q", call, outcome[call])
			}
		}
	}
	for call := range decided {
		if outcome[call] == "" {
			t.Errorf("%s has no outcome", call)
		}
	}
}

// TestKill kills a process at many instants under calls: nothing that it let
// through is without its entry, and the next start says what was lost.
func TestKill(t *testing.T) {
	for i := range kills {
		data := t.TempDir()
		c := startChild(t, data)
		c.read(t, 1+i*(790/kills))
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.read(t, -1)
		c.cmd.Wait()
		l := open(t, data, decisions.Options{Segment: segment})
		call(t, l, runs(9), true)
		l.Close()
		if r := clean(t, data); len(r.Spools) != 1 {
			t.Errorf("%+v", r.Spools)
		}
		sound(t, data, c)
	}
}
