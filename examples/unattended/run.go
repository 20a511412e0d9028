package unattended

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/examples/gitlab/crew"
	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/examples/unattended/launch"
	"github.com/pratique-dev/pratique/registry"
)

// NPM is the folder with the real servers; without it the test is left out by name.
func NPM(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("PRATIQUE_NPM")
	if dir == "" {
		t.Skip("PRATIQUE_NPM names no folder with the real MCP servers; make npm makes one")
	}
	return dir
}

// scratch is a folder that the tests of a package share; Main takes it away.
var scratch struct {
	once sync.Once
	dir  string
	err  error
}

// Scratch is a folder of that name that all tests of a package share.
func Scratch(t testing.TB, name string) string {
	t.Helper()
	scratch.once.Do(func() { scratch.dir, scratch.err = os.MkdirTemp("", "pratique-unattended-") })
	if scratch.err != nil {
		t.Fatal(scratch.err)
	}
	return filepath.Join(scratch.dir, name)
}

// built is the binary of pratique, made once in a test binary that wants it.
var built struct {
	once sync.Once
	bin  string
	err  error
}

// Bin is the path of the binary: the one that PRATIQUE_BIN names, or one that is
// built.
func Bin(t testing.TB) string {
	t.Helper()
	if bin := os.Getenv(stage.BinEnv); bin != "" {
		return bin
	}
	dir := Scratch(t, "")
	built.once.Do(func() { built.bin, built.err = launch.Build(dir) })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.bin
}

// Main is what TestMain calls: the tests, and what they share taken away after them.
func Main(m *testing.M) {
	launch.Main()
	code := m.Run()
	if scratch.dir != "" {
		_ = os.RemoveAll(scratch.dir)
	}
	os.Exit(code)
}

// A Desk is a server that an agent is connected to, through Pratique or without it.
type Desk struct {
	*crew.Session
	Tools []crew.Tool // that it lists

	t     testing.TB
	world World
	heard string // file: what went into the server itself
	were  int    // calls in it before
	data  string // folder of Pratique; empty: it does not stand between
	again func() (*crew.Session, error)
	stop  func() // ends Pratique; nil: it ends with the connection
}

// Sit connects to the server itself.
func Sit(t testing.TB, s launch.Server, w World) *Desk {
	t.Helper()
	d := &Desk{t: t, world: w, heard: filepath.Join(t.TempDir(), "heard")}
	s, err := s.Teed(d.heard)
	if err != nil {
		t.Fatal(err)
	}
	d.again = func() (*crew.Session, error) { return crew.Start(t.Context(), s.Argv, s.Env) }
	d.Again()
	return d
}

// Guarded connects through pratique guard, as it is described, on its data folder or on
// one of its own.
func Guarded(t testing.TB, s launch.Server, w World, g launch.Guard) *Desk {
	t.Helper()
	if g.Bin = Bin(t); g.Data == "" {
		g.Data = filepath.Join(t.TempDir(), "data")
	}
	d := &Desk{t: t, world: w, heard: g.Data + ".heard", data: g.Data}
	s, err := s.Teed(d.heard)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := launch.Heard(d.heard); err == nil {
		d.were = len(list)
	}
	s = g.Before(s)
	d.again = func() (*crew.Session, error) { return crew.Start(t.Context(), s.Argv, s.Env) }
	d.Again()
	return d
}

// Again connects anew: another launch, or another credential, sealed anew.
func (d *Desk) Again() {
	d.t.Helper()
	d.Leave()
	var err error
	if d.Session, err = d.again(); err != nil {
		d.t.Fatalf("connecting: %v", err)
	}
	d.t.Cleanup(d.Leave)
	if d.Tools, err = d.Session.Tools(d.t.Context()); err != nil {
		d.t.Fatalf("tools/list: %v", err)
	}
}

// Leave ends the connection, and a process that belongs to it.
func (d *Desk) Leave() {
	if d.Session != nil {
		_ = d.Close() // what a server says at its end is no matter
		d.Session = nil
	}
}

// An Outcome is what became of one vector.
type Outcome struct {
	crew.Result
	Err      error
	Changes  []string // of the world
	Requests int      // that the server made for it
	Heard    int      // calls that reached the server
}

// Try makes the world anew and makes the call.
func (d *Desk) Try(v Vector) (o Outcome) {
	d.t.Helper()
	if err := d.world.Reset(); err != nil {
		d.t.Fatal(err)
	}
	before, calls := d.state(), len(d.Heard())
	o.Result, o.Err = d.Call(d.t.Context(), v.Tool, v.Args)
	o.Changes, o.Requests, o.Heard = Changes(before, d.state()), d.world.Requests(), len(d.Heard())-calls
	return o
}

func (d *Desk) state() []string {
	d.t.Helper()
	s, err := d.world.State()
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// Heard is the tools that the server was called for since the desk is there.
func (d *Desk) Heard() []string {
	d.t.Helper()
	names, err := launch.Heard(d.heard)
	if err != nil {
		d.t.Fatal(err)
	}
	return names[d.were:]
}

// Worked tells whether a call was done.
func (o Outcome) Worked() bool { return o.Err == nil && !o.Failed && o.Refused == nil }

// Proves tells whether the text is part of what the call changed or gave back.
func (o Outcome) Proves(text string) bool {
	return text != "" && (strings.Contains(o.Text, text) || slices.ContainsFunc(o.Changes, func(l string) bool { return strings.Contains(l, text) }))
}

// Changes are the lines that are in one of two states only: new with "+", gone with
// "-".
func Changes(before, after []string) (out []string) {
	for _, l := range after {
		if _, had := slices.BinarySearch(before, l); !had {
			out = append(out, "+ "+l)
		}
	}
	for _, l := range before {
		if _, has := slices.BinarySearch(after, l); !has {
			out = append(out, "- "+l)
		}
	}
	return out
}

// Entries is the decision log, which the desk's guard must not hold any more.
func (d *Desk) Entries() []registry.Entry {
	d.t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(Bin(d.t), "ledger", "show", "--data", d.data, "--last", "0", "--json")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		d.t.Fatalf("ledger show: %v: %s", err, errs.String())
	}
	var shown struct {
		Entries []struct {
			Entry registry.Entry `json:"entry"`
		} `json:"entries"`
	}
	if err := json.Unmarshal(out.Bytes(), &shown); err != nil {
		d.t.Fatal(err)
	}
	list := make([]registry.Entry, 0, len(shown.Entries))
	for _, e := range shown.Entries {
		list = append(list, e.Entry)
	}
	return list
}

// Works wants every attack to do what it proves, and every call of the agent's work to
// be done: an attack that does nothing would prove nothing by being blocked.
func (d *Desk) Works(attacks, benign []Vector) {
	d.t.Helper()
	for _, v := range attacks {
		if o := d.Try(v); !o.Worked() || !o.Proves(v.Proof) || o.Heard != 1 {
			d.t.Errorf("%s does nothing: %v %v %.300q, changes %q, heard %d", v.Name, o.Result, o.Err, o.Text, o.Changes, o.Heard)
		}
	}
	for _, v := range benign {
		if o := d.Try(v); !o.Worked() {
			d.t.Errorf("%s does not work: %v %v %.300q", v.Name, o.Result, o.Err, o.Text)
		}
	}
}
