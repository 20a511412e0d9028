package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/ledger"
)

// torn is a data folder as SIGKILL left it after five registrations: what was
// acknowledged is in the write-ahead log, with whatever the node wrote for
// itself behind it.
type torn struct {
	dir, data, key string
	known          bool   // whether the registry knows the principal
	size           uint64 // entries that were acknowledged
}

func newTorn(t *testing.T, graceful bool) *torn {
	t.Helper()
	dir := t.TempDir()
	x := &torn{dir: dir, data: filepath.Join(dir, "data"), key: filepath.Join(dir, "me.jwk")}
	good(t, keyOutput{}, "principals", "new", "--out", x.key)
	p := startHere(t, dir, "--data", x.data, "--listen", "127.0.0.1:0", "--admin", "off")
	for i := range 5 {
		x.call(t, p, fmt.Sprintf("first_%d", i))
	}
	x.size = good(t, eventsOutput{}, "ledger", "show", "--registry", p.answer.Registry, "--limit", "1").Size
	if graceful {
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		return x
	}
	// What comes last in the write-ahead log must not be an acknowledged entry, as
	// after a real crash: wait for what the node writes behind it, the checkpoint.
	for end := time.Now().Add(time.Minute); published(t, p) < x.size; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no checkpoint of %d entries", x.size)
		}
	}
	p.kill()
	return x
}

// published is how many entries the served checkpoint is of, which lies in the log's
// store before it is served.
func published(t *testing.T, p *process) uint64 {
	t.Helper()
	resp, err := http.Get(p.answer.Registry + "/ledger/checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, head, err := ledger.ParseUnverified(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return head.Size
}

func (x *torn) wal() string { return filepath.Join(x.data, "log", "log.db-wal") }
func (x *torn) db() string  { return filepath.Join(x.data, "log", "log.db") }

// entries is how many a call leaves: the registration, and what the inspector said.
const entries = 2

// call is one call: a registration, with its review, so that what the log holds
// afterwards does not depend on when the inspector comes to it.
func (x *torn) call(t *testing.T, p *process, name string) {
	t.Helper()
	size := func() uint64 {
		return good(t, eventsOutput{}, "ledger", "show", "--registry", p.answer.Registry, "--limit", "1").Size
	}
	want := size() + entries
	if !x.known { // the first registration brings its principal
		want, x.known = want+1, true
	}
	defer func() {
		for deadline := time.Now().Add(time.Minute); size() < want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s was not reviewed", name)
			}
		}
	}()
	file := write(t, filepath.Join(x.dir, name+".json"), `[{"name":"`+name+`","description":"x"}]`)
	good(t, registerOutput{}, "tools", "register", "--registry", p.answer.Registry, "--key", x.key, "--origin", "https://o18.example",
		"--file", file, "--handles", filepath.Join(x.dir, "h-"+name))
}

// up starts a registry on the folder under its old name.
func (x *torn) up(t *testing.T) (*process, error) {
	t.Helper()
	return startUp(context.Background(), x.dir, os.Environ(), "--data", x.data, "--listen", "127.0.0.1:0", "--admin", "off")
}

func (x *torn) verify(t *testing.T) (int, ledgerOutput, string) {
	t.Helper()
	code, stdout, stderr := runHere(t, "ledger", "verify", "--data", x.data, "--json")
	var o ledgerOutput
	if stdout != "" {
		o = decodeAnswer[ledgerOutput](t, stdout)
	}
	if strings.Contains(stderr, "goroutine ") {
		t.Errorf("a stack trace is no answer:\n%s", stderr)
	}
	return code, o, stderr
}

// edit changes the bytes of a file.
func edit(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	if err := os.WriteFile(path, f([]byte(read(t, path))), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCaseO18TornTail: a torn end of the log is repaired at the start, the next
// record is whole and chains to the last good one, and verify names the tear as
// a tear, not as tampering, on every later run.
func TestCaseO18TornTail(t *testing.T) {
	for name, tear := range map[string]func([]byte) []byte{
		"a: last record torn":         func(b []byte) []byte { return b[:len(b)-20] },
		"b: only the last byte":       func(b []byte) []byte { return b[:len(b)-1] },
		"c: fragment of a new record": func(b []byte) []byte { return append(b, `{"seq":6,"prev":"ab`...) },
		"d: zero bytes":               func(b []byte) []byte { return append(b, make([]byte, 512)...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTorn(t, false)
			edit(t, x.wal(), tear)
			p, err := x.up(t)
			if err != nil {
				t.Fatal(err)
			}
			x.call(t, p, "after")
			if err := p.stop(); err != nil {
				t.Fatal(err)
			}
			for run := range 3 {
				code, o, stderr := x.verify(t)
				if code != 0 || !o.OK || !o.Torn || o.Tampered || len(o.Problems) > 0 || len(o.Repairs) == 0 {
					t.Fatalf("run %d: code %d %+v %s", run, code, o, stderr)
				}
				if r := o.Repairs[0]; r.Kind != "torn-tail" || r.Size != x.size || o.Size != x.size+entries {
					t.Errorf("run %d: %+v; %d entries, were %d", run, r, o.Size, x.size)
				}
				p, err := x.up(t)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.stop(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestCaseO18Tampering: an edited record and a flipped byte are reported as
// tampering at the right record, and the registry does not go on on top of it.
func TestCaseO18Tampering(t *testing.T) {
	for name, change := range map[string]func(text []byte) []byte{
		"e: record edited":  func(b []byte) []byte { return bytes.Replace(b, []byte("first_1"), []byte("forst_1"), 1) },
		"f: a byte flipped": func(b []byte) []byte { b[bytes.IndexByte(b, ',')] = 0x0b; return b },
	} {
		for _, graceful := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, graceful %t", name, graceful), func(t *testing.T) {
				t.Parallel()
				x := newTorn(t, graceful)
				if !graceful { // move the write-ahead log in, without a snapshot
					if code, _, errs := x.verify(t); code != 0 {
						t.Fatal(errs)
					}
				}
				at := x.tamper(t, change)
				for run := range 2 {
					code, o, stderr := x.verify(t)
					if code != int(exitRefused) || o.OK || !o.Tampered || len(o.Problems) == 0 {
						t.Fatalf("run %d: code %d %+v %s", run, code, o, stderr)
					}
					if p := o.Problems[0]; p.Index != at || p.Kind != ledger.KindChanged {
						t.Errorf("run %d: %v, want a changed entry at %d", run, p, at)
					}
				}
				if p, err := x.up(t); err == nil {
					t.Error("the registry goes on on top of a log that was tampered with")
					p.stop()
				} else if !strings.Contains(err.Error(), "pratique up:") || strings.Contains(err.Error(), "goroutine ") {
					t.Errorf("the start was refused without a word: %v", err)
				}
			})
		}
	}
}

// tamper changes the record that registered first_1, in the database file, and
// gives its index.
func (x *torn) tamper(t *testing.T, change func([]byte) []byte) uint64 {
	t.Helper()
	done := false
	edit(t, x.db(), func(b []byte) []byte {
		for from := 0; ; { // the page may hold older copies of the row beside it
			n := bytes.Index(b[from:], []byte(`"name":"first_1"`))
			if n < 0 {
				return b
			}
			end := from + n + len(`"name":"first_1"`)
			start := bytes.LastIndex(b[:end], []byte(`{"v":1,"type":"tool.registered"`))
			if from = end; start < 0 || end-start > 3000 {
				continue
			}
			done = true
			copy(b[start:end], change(bytes.Clone(b[start:end])))
		}
	})
	if !done {
		t.Fatal("the record was not found in the database file")
	}
	return 5 // keys, operator, principal, first_0 and its review, first_1: see TestCaseO18Untouched
}

// TestCaseO18Untouched is the control: an untouched log verifies clean, also
// after three restarts.
func TestCaseO18Untouched(t *testing.T) {
	x := newTorn(t, false)
	for run := range 4 {
		code, o, stderr := x.verify(t)
		if code != 0 || !o.OK || o.Torn || o.Tampered || len(o.Problems) > 0 || len(o.Repairs) > 0 || o.Size != x.size {
			t.Fatalf("run %d: code %d %+v %s", run, code, o, stderr)
		}
		p, err := x.up(t)
		if err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			e := good(t, eventsOutput{}, "ledger", "show", "--registry", p.answer.Registry, "--from", "5", "--limit", "1")
			if !strings.Contains(string(e.Events[0].Event.Data), "first_1") {
				t.Errorf("entry 5 is %s", e.Events[0].Event.Data)
			}
		}
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
	}
}
