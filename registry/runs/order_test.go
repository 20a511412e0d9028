package runs_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/runs"
)

// A clock is what the stores of a test take for the time.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

func intentFile(dir string, agent credentials.AgentID) string {
	return filepath.Join(dir, string(agent)+".intent")
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func putFile(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOldFileAfterRestart: the file of the intent as it was before it was narrowed is known
// for an older one by processes that come later, and nothing is narrowed from there.
func TestOldFileAfterRestart(t *testing.T) {
	for name, presented := range map[string]bool{"narrowed within the run": true, "narrowed before it": false} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "runs")
			d := deskAt(t, dir, runs.Options{})
			wide, less := wish(t, alice, false, "1h", "a", "b"), wish(t, alice, false, "1h", "a")
			d.seal(wide, nil, nil)
			older := readFile(t, intentFile(dir, alice))
			var living *runs.Run // of a process that never looked since
			if presented {
				living = current(t, deskAt(t, dir, runs.Options{}).Store, alice)
			}
			d.seal(less, wide, nil)
			current(t, deskAt(t, dir, runs.Options{}).Store, alice)
			putFile(t, intentFile(dir, alice), older)
			later := deskAt(t, dir, runs.Options{})
			for _, r := range []*runs.Run{living, current(t, later.Store, alice)} {
				if r == nil {
					continue
				}
				if b, err := r.Intent(); !errors.Is(err, runs.ErrDamaged) {
					t.Errorf("an older file: %+v %v", b, err)
				}
			}
			other := wish(t, alice, false, "1h", "b")
			deskAt(t, dir, runs.Options{}).seal(other, wide, runs.ErrDamaged)
			all, err := deskAt(t, dir, runs.Options{}).Standings()
			if err != nil || len(all) != 1 || !errors.Is(all[0].Err, runs.ErrDamaged) {
				t.Errorf("%+v %v", all, err)
			}
			if err := later.End(alice, "operator"); err != nil {
				t.Fatal(err)
			}
			if b, err := current(t, later.Store, alice).Intent(); err == nil && (b == nil || !b.Over) {
				t.Errorf("the next run: %+v", b)
			}
		})
	}
}

// TestOldFileOfLaunch is the same for the run of a launch that goes on.
func TestOldFileOfLaunch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, runs.Options{})
	var wide *intent.Intent
	if _, err := d.SealLaunch(t.Context(), "personal", func(id credentials.AgentID) (string, []byte, error) {
		wide = wish(t, id, true, "1h", "a", "b")
		return d.sign(wide, nil), wide.Text(), nil
	}, d.note); err != nil {
		t.Fatal(err)
	}
	r, err := d.Launch("personal")
	if err != nil {
		t.Fatal(err)
	}
	older := readFile(t, intentFile(dir, r.Agent()))
	deskAt(t, dir, runs.Options{}).seal(wish(t, r.Agent(), true, "1h", "a"), wide, nil)
	putFile(t, intentFile(dir, r.Agent()), older)
	if b, err := r.Intent(); !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("%+v %v", b, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestClockGoesBack: an intent that has ended once stays over, in this process and in
// those that come later, and cannot be narrowed or sealed after its end.
func TestClockGoesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	var c clock
	o := runs.Options{Now: c.now}
	d := deskAt(t, dir, o)
	wide, less := wish(t, alice, false, "1h", "a", "b"), wish(t, alice, false, "30m", "a")
	d.seal(wide, nil, nil)
	r, other := current(t, d.Store, alice), current(t, deskAt(t, dir, o).Store, alice)
	if b := bound(t, r); b.Over {
		t.Fatal("over before its end")
	}
	c.set(2 * time.Hour)
	d.seal(less, wide, runs.ErrIntent)
	if b := bound(t, r); !b.Over || b != bound(t, r) {
		t.Errorf("ended: %+v", b)
	}
	if all, err := d.Standings(); err != nil || len(all) != 1 || all[0].Bound.Over {
		t.Errorf("it ended by the clock, which says so: %+v %v", all, err)
	}
	c.set(0)
	for name, r := range map[string]*runs.Run{"the same process": r, "another one": other, "a later one": current(t, deskAt(t, dir, o).Store, alice)} {
		if b := bound(t, r); b == nil || !b.Over {
			t.Errorf("%s: %+v", name, b)
		}
	}
	d.seal(less, wide, nil) // narrower than nothing
	if b := bound(t, r); !b.Over || b.Intent.Digest() != less.Digest() {
		t.Errorf("narrowed: %+v", b)
	}
	if all, err := deskAt(t, dir, o).Standings(); err != nil || len(all) != 1 || !all[0].Bound.Over {
		t.Errorf("%+v %v", all, err)
	}
	d.seal(wish(t, alice, false, "1h", "a"), nil, runs.ErrBound)
	c.set(-2 * time.Hour) // before it was sealed
	if b := bound(t, current(t, deskAt(t, dir, o).Store, alice)); !b.Over {
		t.Errorf("%+v", b)
	}
	back := deskAt(t, filepath.Join(t.TempDir(), "runs"), o)
	token := d.sign(wide, nil)
	c.set(0)
	back.take(token, wide, runs.ErrIntent) // signed two hours ago
	late := d.sign(wide, nil)
	c.set(-2 * time.Hour)
	back.take(late, wide, runs.ErrIntent) // or in two hours
}

// TestNobodyElsesFile: another agent's file in the place of one that there is, or is not,
// binds nothing, seals nothing and begins no run.
func TestNobodyElsesFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, runs.Options{})
	theirs := wish(t, bob, false, "1h", "a", "b")
	d.seal(theirs, nil, nil)
	current(t, d.Store, bob)
	for _, sealed := range []bool{false, true} {
		if sealed {
			if err := os.Remove(intentFile(dir, alice)); err != nil {
				t.Fatal(err)
			}
			d = deskAt(t, dir, runs.Options{})
			d.seal(wish(t, alice, false, "1h", "a"), nil, nil)
		}
		putFile(t, intentFile(dir, alice), readFile(t, intentFile(dir, bob)))
		later := deskAt(t, dir, runs.Options{})
		if r, _, err := later.Current(alice, "personal"); err == nil {
			t.Errorf("a run begins: %+v", r)
		}
		later.seal(wish(t, alice, false, "1h", "a"), nil, runs.ErrDamaged)
		later.seal(wish(t, alice, false, "1h", "a"), theirs, runs.ErrDamaged)
		if b, err := later.Sealed(alice); err == nil {
			t.Errorf("%+v", b)
		}
	}
	body := strings.ReplaceAll(string(readFile(t, intentFile(dir, bob))), string(bob), string(alice))
	_, body, _ = strings.Cut(body[len("pratique-intent/1\n"):], "\n")
	putFile(t, intentFile(dir, alice), runs.SealedFile([]byte(body))) // with his own name in it
	r, _, err := deskAt(t, dir, runs.Options{}).Current(alice, "personal")
	var b *runs.Bound
	if err == nil {
		b, err = r.Intent()
	}
	if !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("%+v %v", b, err)
	}
}

// TestSealedAtOnce: of several processes that seal, or narrow, at once, one does.
func TestSealedAtOnce(t *testing.T) {
	for range 10 {
		dir := filepath.Join(t.TempDir(), "runs")
		wide := wish(t, alice, false, "1h", "a", "b", "c")
		all := []*intent.Intent{wish(t, alice, false, "1h", "a"), wish(t, alice, false, "1h", "a", "b"), wish(t, alice, false, "30m", "a"), wish(t, alice, false, "30m", "a", "b")}
		for _, was := range []*intent.Intent{nil, wide} {
			var last *intent.Intent
			var mu sync.Mutex
			var group sync.WaitGroup
			start := make(chan struct{})
			for n, i := range append([]*intent.Intent{wide}, all...) {
				if (n == 0) != (was == nil) && n != 0 || was != nil && n == 0 {
					continue
				}
				for range 3 {
					d := deskAt(t, dir, runs.Options{})
					token := d.sign(i, was)
					group.Go(func() {
						<-start
						_, err := d.Seal(t.Context(), token, i.Text(), d.note)
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err == nil && last == nil:
							last = i
						case err == nil:
							t.Error("twice")
						case !errors.Is(err, runs.ErrBound) && !errors.Is(err, runs.ErrMoved) || d.last().Type != registry.EntryUnsealed:
							t.Error(err)
						}
					})
				}
			}
			close(start)
			group.Wait()
			b, err := deskAt(t, dir, runs.Options{}).Sealed(alice)
			if err != nil || last == nil || b.Intent.Digest() != last.Digest() {
				t.Fatalf("%+v %v", b, err)
			}
		}
	}
}

// TestAnyOrder seals, narrows, restarts, ends, moves the clock and puts files in the place
// of others in random orders: what a run may do never grows.
func TestAnyOrder(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	sets := [][]string{{"a"}, {"b"}, {"a", "b"}, {"a", "c"}, {"a", "b", "c"}}
	for round := range rounds {
		r := rand.New(rand.NewPCG(7, uint64(round)))
		dir := filepath.Join(t.TempDir(), "runs")
		var c clock
		o := runs.Options{Now: c.now}
		desks := []*desk{deskAt(t, dir, o), deskAt(t, dir, o)}
		now := wish(t, alice, false, "1h", sets[2+r.IntN(3)]...)
		desks[0].seal(now, nil, nil)
		desks[0].seal(wish(t, bob, false, "1h", "a", "b", "c"), nil, nil)
		current(t, desks[0].Store, alice)
		kept := [][]byte{readFile(t, intentFile(dir, alice)), readFile(t, intentFile(dir, bob))}
		over := false
		var done []string
		for range 25 {
			d := desks[r.IntN(len(desks))]
			switch op := r.IntN(9); op {
			case 0, 1:
				next := wish(t, alice, false, []string{"1h", "50m", "20m"}[r.IntN(3)], sets[r.IntN(len(sets))]...)
				token, err := d.SignIntent(d.key, next, now, false)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Seal(t.Context(), token, next.Text(), d.note); err == nil {
					if intent.Narrower(now, next) != nil {
						t.Fatalf("round %d: wider: %v", round, done)
					}
					now = next
					kept = append(kept, readFile(t, intentFile(dir, alice)))
					done = append(done, "narrow")
				}
			case 2:
				next := wish(t, alice, false, "1h", "a", "b", "c")
				token, err := d.SignIntent(d.key, next, nil, false)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Seal(t.Context(), token, next.Text(), d.note); err == nil {
					t.Fatalf("round %d: sealed anew: %v", round, done)
				}
			case 3:
				desks[r.IntN(len(desks))] = deskAt(t, dir, o)
				done = append(done, "restart")
			case 4:
				c.set([]time.Duration{0, 10 * time.Minute, 40 * time.Minute, 2 * time.Hour, -time.Hour}[r.IntN(5)])
				done = append(done, "clock")
			case 5:
				putFile(t, intentFile(dir, alice), kept[r.IntN(len(kept))])
				done = append(done, "put back")
			case 6:
				putFile(t, intentFile(dir, alice), kept[len(kept)-1])
				if len(kept) == 2 {
					putFile(t, intentFile(dir, alice), kept[0])
				}
				done = append(done, "repaired")
			case 7:
				if r.IntN(4) == 0 && d.End(alice, "operator") == nil {
					over = true
					done = append(done, "end")
				}
			}
			for _, d := range desks {
				x, _, err := d.Current(alice, "personal")
				if err != nil {
					continue
				}
				b, err := x.Intent()
				if err != nil {
					continue
				}
				if b == nil {
					t.Fatalf("round %d: unbound after %v", round, done)
				}
				over = over || !c.now().Before(b.Intent.Expires()) // once seen
				if !b.Over && (over || b.Intent.Digest() != now.Digest()) {
					t.Fatalf("round %d: %s allows (over: %v) after %v", round, b.Intent.Text(), over, done)
				}
			}
		}
	}
}
