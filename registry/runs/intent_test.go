package runs_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/runs"
)

// signers of intents: an operator's and a stranger's.
var seals = sync.OnceValues(func() (s [2]*envelope.Signer, err error) {
	for i := range s {
		k, e := keyring.NewPrivate(envelope.EdDSA, rand.Reader)
		if e != nil {
			return s, e
		}
		if s[i], err = envelope.NewSigner(envelope.Intent, k); err != nil {
			return s, err
		}
	}
	return s, nil
})

func sealers(t testing.TB) (operator, stranger *envelope.Signer) {
	t.Helper()
	s, err := seals()
	if err != nil {
		t.Fatal(err)
	}
	return s[0], s[1]
}

// A desk is a store, with the record of what was sealed and refused in it.
type desk struct {
	*runs.Store
	t   *testing.T
	key *envelope.Signer

	mu   sync.Mutex
	told []*registry.Entry
}

func deskAt(t *testing.T, dir string, o runs.Options) *desk {
	t.Helper()
	key, _ := sealers(t)
	if o.Intents == nil {
		o.Intents = only(key, envelope.Intent)
	}
	o.Audience = "log"
	s, err := runs.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{Store: s, t: t, key: key}
}

func (d *desk) note(e *registry.Entry) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, e)
	return nil
}

func (d *desk) last() registry.Entry {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.told) == 0 {
		return registry.Entry{}
	}
	return *d.told[len(d.told)-1]
}

// began is when every intent of these tests was written, so that those of one life end
// at one second, however long a test takes.
var began = time.Now()

func wish(t testing.TB, agent credentials.AgentID, launch bool, life string, tools ...string) *intent.Intent {
	t.Helper()
	p, err := intent.Parse([]byte("task: a\nexpires: " + life + "\ntools: [" + strings.Join(tools, ", ") + "]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var items []intent.Item
	for n, name := range tools {
		items = append(items, intent.Item{Origin: place, Kind: intent.Tool, Name: name, ID: credentials.ToolID(fmt.Sprintf("tool_01J00000000000000000000%03d", n)), Digest: credentials.Digest{1}})
	}
	i, err := p.Seal(agent, launch, items, began)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func (d *desk) sign(i, was *intent.Intent) string {
	d.t.Helper()
	token, err := d.SignIntent(d.key, i, was, false)
	if err != nil {
		d.t.Fatal(err)
	}
	return token
}

// seal signs and takes, and wants this to come of it, on record.
func (d *desk) seal(i, was *intent.Intent, want error) {
	d.t.Helper()
	d.take(d.sign(i, was), i, want)
}

func (d *desk) take(token string, i *intent.Intent, want error) {
	d.t.Helper()
	_, err := d.Seal(d.t.Context(), token, i.Text(), d.note)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		d.t.Errorf("%v, want %v", err, want)
	}
	e := d.last()
	typ := registry.EntrySealed
	if want != nil {
		typ = registry.EntryUnsealed
	}
	if e.Type != typ || e.Agent != i.Agent() || e.Intent != i.Digest() || e.Detail == "" || (e.Act == "") != (want != nil) {
		d.t.Errorf("on record: %+v", e)
	}
}

func bound(t *testing.T, r *runs.Run) *runs.Bound {
	t.Helper()
	b, err := r.Intent()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBoundary: what is sealed before the first presentation binds the run, in every
// process; afterwards nothing is sealed, replaced or widened (RULES.md 32).
func TestBoundary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	d, other := deskAt(t, dir, runs.Options{}), deskAt(t, dir, runs.Options{})
	small, large := wish(t, alice, false, "1h", "a"), wish(t, alice, false, "1h", "a", "b")
	d.seal(small, nil, nil)
	other.seal(large, nil, runs.ErrBound) // not even before: the token of the first is out
	r := current(t, other.Store, alice)
	if b := bound(t, r); b == nil || b.Over || b.Intent.Digest() != small.Digest() || len(b.Seals) != 1 || b.Seals[0].By != d.key.Key().ID {
		t.Fatalf("%+v", b)
	}
	if b := bound(t, r); b != bound(t, r) {
		t.Error("another answer although nothing changed")
	}
	d.seal(large, nil, runs.ErrBound)
	d.seal(large, small, intent.ErrWider)
	deskAt(t, dir, runs.Options{}).seal(large, small, intent.ErrWider) // a process that comes later
	if b := bound(t, current(t, deskAt(t, dir, runs.Options{}).Store, alice)); b.Intent.Digest() != small.Digest() {
		t.Errorf("%s", b.Intent.Text())
	}

	if b := bound(t, current(t, d.Store, bob)); b != nil {
		t.Errorf("another agent: %+v", b)
	}
	d.seal(wish(t, bob, false, "1h", "a"), nil, runs.ErrPresented)
	d.seal(wish(t, bob, false, "1h", "a"), small, runs.ErrUnbound)
	if err := d.End(bob, "operator"); err != nil {
		t.Fatal(err)
	}
	d.seal(wish(t, bob, false, "1h", "a"), nil, runs.ErrPresented) // between two runs of it
	if b := bound(t, current(t, d.Store, bob)); b != nil {
		t.Errorf("sealed after it was presented: %+v", b)
	}
}

// TestForLife: neither the end of the run nor damage sheds an intent: then nothing is
// allowed any more.
func TestForLife(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, runs.Options{})
	i := wish(t, alice, false, "1h", "a")
	d.seal(i, nil, nil)
	if err := d.End(alice, "operator"); err != nil { // nothing was begun: nothing ends
		t.Fatal(err)
	}
	r := current(t, d.Store, alice)
	if b := bound(t, r); b.Over {
		t.Error("over before it began")
	}
	for range 2 {
		if err := d.End(alice, "operator"); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*runs.Store{d.Store, deskAt(t, dir, runs.Options{}).Store} {
			if b := bound(t, current(t, s, alice)); b == nil || !b.Over || b != bound(t, current(t, s, alice)) {
				t.Fatalf("a run after the one that was sealed: %+v", b)
			}
		}
	}
	d.seal(wish(t, alice, false, "1h", "a", "b"), nil, runs.ErrBound)

	for _, file := range []string{string(alice) + ".run", string(alice) + ".intent"} {
		t.Run(file, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "runs")
			d := deskAt(t, dir, runs.Options{})
			d.seal(wish(t, alice, false, "1h", "a"), nil, nil)
			current(t, d.Store, alice)
			hurtFile(t, filepath.Join(dir, file))
			d = deskAt(t, dir, runs.Options{})
			_ = d.End(alice, "operator")
			r, _, err := d.Current(alice, "personal")
			var b *runs.Bound
			if err == nil {
				b, err = r.Intent()
			}
			if err == nil && (b == nil || !b.Over) {
				t.Errorf("damage sheds it: %+v", b)
			}
			if err := os.Remove(filepath.Join(dir, file)); err != nil {
				t.Fatal(err)
			}
			d = deskAt(t, dir, runs.Options{})
			if r, _, err = d.Current(alice, "personal"); err == nil {
				b, err = r.Intent()
			}
			if err == nil && b == nil {
				t.Error("a lost file sheds it")
			}
		})
	}
}

func hurtFile(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(b, []byte(`"agent"`), []byte(`"Agent"`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNarrowing: a narrower intent takes the place of a wider one at any time, in
// every process at once; back is no way.
func TestNarrowing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, runs.Options{})
	three, two, one := wish(t, alice, false, "1h", "a", "b", "c"), wish(t, alice, false, "1h", "a", "b"), wish(t, alice, false, "30m", "a")
	d.seal(three, nil, nil)
	r := current(t, deskAt(t, dir, runs.Options{}).Store, alice)
	bound(t, r)
	older, err := os.ReadFile(filepath.Join(dir, string(alice)+".intent"))
	if err != nil {
		t.Fatal(err)
	}
	early := d.sign(one, three)
	narrow := d.sign(two, three)
	d.take(narrow, two, nil)
	if b := bound(t, r); b.Intent.Digest() != two.Digest() || len(b.Seals) != 2 {
		t.Errorf("another process: %s", b.Intent.Text())
	}
	d.take(narrow, two, runs.ErrIntent)                              // replayed
	deskAt(t, dir, runs.Options{}).take(narrow, two, runs.ErrIntent) // after a restart
	d.take(early, one, runs.ErrMoved)                                // over what is there no more
	deskAt(t, dir, runs.Options{}).seal(three, two, intent.ErrWider) // back
	deskAt(t, dir, runs.Options{}).seal(one, two, nil)               //
	d.take(narrow, two, runs.ErrIntent)                              // an older one again
	failed := errors.New("the log is full")                          //
	less := wish(t, alice, false, "20m", "a")                        //
	_, err = d.Seal(t.Context(), d.sign(less, one), less.Text(), func(*registry.Entry) error { return failed })
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	if b := bound(t, r); b.Intent.Digest() != one.Digest() {
		t.Errorf("without a record: %s", b.Intent.Text())
	}
	if err := os.WriteFile(filepath.Join(dir, string(alice)+".intent"), older, 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := r.Intent(); !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("an older file in its place: %+v %v", b, err)
	}
}

// TestTokens: only an operator's word for exactly this intent and agent, now and once,
// seals; and it counts while he is an operator.
func TestTokens(t *testing.T) {
	key, stranger := sealers(t)
	i, j := wish(t, alice, false, "1h", "a"), wish(t, alice, false, "1h", "a", "b")
	for name, make := range map[string]func(d *desk) (string, *intent.Intent){
		"a stranger's": func(d *desk) (string, *intent.Intent) { d.key = stranger; return d.sign(i, nil), i },
		"of another":   func(d *desk) (string, *intent.Intent) { return d.sign(i, nil), j },
		"for another agent": func(d *desk) (string, *intent.Intent) {
			return d.sign(wish(t, bob, false, "1h", "a"), nil), i
		},
		"an old one": func(d *desk) (string, *intent.Intent) {
			return deskAt(t, filepath.Join(t.TempDir(), "r"), runs.Options{Now: func() time.Time { return time.Now().Add(-time.Hour) }}).sign(i, nil), i
		},
		"an act": func(d *desk) (string, *intent.Intent) {
			act, err := d.SignClear(who(t).operator, "run_1", nil, false)
			if err != nil {
				t.Fatal(err)
			}
			return act, i
		},
		"none":     func(d *desk) (string, *intent.Intent) { return "", i },
		"tampered": func(d *desk) (string, *intent.Intent) { s := d.sign(i, nil); return s[:len(s)-4] + "AAAA", i },
	} {
		d := deskAt(t, filepath.Join(t.TempDir(), "runs"), runs.Options{})
		token, of := make(d)
		d.take(token, of, runs.ErrIntent)
		if e := d.last(); name == "a stranger's" && (e.By != "" || e.Act != "") {
			t.Errorf("%s: %+v", name, e)
		}
		if b := bound(t, current(t, d.Store, alice)); b != nil {
			t.Errorf("%s seals", name)
		}
	}
	late := deskAt(t, filepath.Join(t.TempDir(), "runs"), runs.Options{Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	late.seal(i, nil, runs.ErrIntent) // it has ended before it is sealed
	elsewhere, err := runs.Open(filepath.Join(t.TempDir(), "runs"), runs.Options{Audience: "another log"})
	if err != nil {
		t.Fatal(err)
	}
	d := deskAt(t, filepath.Join(t.TempDir(), "runs"), runs.Options{})
	token, err := elsewhere.SignIntent(key, i, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	d.take(token, i, runs.ErrIntent)
	if _, err := d.Seal(t.Context(), d.sign(i, nil), append([]byte(" "), i.Text()...), d.note); !errors.Is(err, runs.ErrIntent) {
		t.Errorf("another spelling: %v", err)
	}
	token, err = d.SignIntent(key, i, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	d.take(token, i, nil)
	if e := d.last(); !strings.Contains(e.Detail, "lay unencrypted") {
		t.Errorf("%+v", e)
	}
}

// TestRevokedOperator: the word of one who is no operator any more binds, and allows
// nothing.
func TestRevokedOperator(t *testing.T) {
	key, _ := sealers(t)
	var revoked atomic.Bool
	now := time.Now()
	o := runs.Options{Now: func() time.Time { return now }, Intents: envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if revoked.Load() || typ != envelope.Intent || kid != key.Key().ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return key.Key(), nil
	}))}
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, o)
	d.seal(wish(t, alice, false, "1h", "a"), nil, nil)
	if err := os.Chtimes(filepath.Join(dir, string(alice)+".intent"), now, now.Add(-time.Hour)); err != nil { // not a file that is read each time
		t.Fatal(err)
	}
	r := current(t, d.Store, alice)
	bound(t, r)
	revoked.Store(true)
	now = now.Add(2 * time.Second)
	if b, err := r.Intent(); !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("%+v %v", b, err)
	}
	revoked.Store(false)
	now = now.Add(2 * time.Second)
	if b := bound(t, r); b == nil {
		t.Error("not back")
	}
}

// TestTamperedIntent writes another intent, or another's, into the file.
func TestTamperedIntent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, runs.Options{})
	d.seal(wish(t, alice, false, "1h", "a"), nil, nil)
	r := current(t, d.Store, alice)
	d.seal(wish(t, bob, false, "1h", "a", "b"), nil, nil)
	mine, theirs := filepath.Join(dir, string(alice)+".intent"), filepath.Join(dir, string(bob)+".intent")
	was, err := os.ReadFile(mine)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := bytes.Cut(was[len("pratique-intent/1\n"):], []byte("\n"))
	for name, text := range map[string][]byte{
		"a byte": bytes.Replace(was, []byte(`"a"`), []byte(`"b"`), 1), "nothing": {},
		"a sum of its own": runs.SealedFile(bytes.ReplaceAll(body, []byte(`"name":"a"`), []byte(`"name":"b"`))),
		"a longer life":    runs.SealedFile(bytes.Replace(body, []byte(`"expires":1`), []byte(`"expires":9`), 1)),
		"no seal":          runs.SealedFile(append(body[:bytes.Index(body, []byte(`"seals":`)):bytes.Index(body, []byte(`"seals":`))], `"seals":[]}`...)),
	} {
		if err := os.WriteFile(mine, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*runs.Run{r, current(t, deskAt(t, dir, runs.Options{}).Store, alice)} {
			if b, err := r.Intent(); !errors.Is(err, runs.ErrDamaged) {
				t.Errorf("%s: %+v %v", name, b, err)
			}
		}
	}
	other, err := os.ReadFile(theirs)
	if err == nil {
		err = os.WriteFile(mine, other, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err := r.Intent(); !errors.Is(err, runs.ErrDamaged) {
		t.Errorf("another agent's: %+v %v", b, err)
	}
	if err := os.WriteFile(mine, was, 0o600); err != nil {
		t.Fatal(err)
	}
	if b := bound(t, current(t, deskAt(t, dir, runs.Options{}).Store, alice)); b == nil {
		t.Error("what was sealed is gone")
	}
}

// TestSealedLaunch: a launch is sealed where it begins; nothing else is launched in
// that process, and another one can narrow it while it lives.
func TestSealedLaunch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, runs.Options{})
	var i *intent.Intent
	sealing := func(tools ...string) func(credentials.AgentID) (string, []byte, error) {
		return func(id credentials.AgentID) (string, []byte, error) {
			i = wish(t, id, true, "1h", tools...)
			return d.sign(i, nil), i.Text(), nil
		}
	}
	if _, err := d.SealLaunch(t.Context(), "personal", sealing("a", "b"), d.note); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SealLaunch(t.Context(), "personal", sealing("a", "b", "c"), d.note); !errors.Is(err, runs.ErrBound) {
		t.Error(err)
	}
	sealed := d.told[0].Intent
	r, err := d.Launch("personal")
	if err != nil {
		t.Fatal(err)
	}
	if b := bound(t, r); b == nil || b.Intent.Digest() != sealed || !b.Intent.Launch() {
		t.Fatalf("%+v", b)
	}
	if r, err := d.Launch("personal"); !errors.Is(err, runs.ErrPresented) {
		t.Errorf("a second launch: %+v %v", r, err)
	}
	other := deskAt(t, dir, runs.Options{})
	was, err := other.Sealed(r.Agent())
	if err != nil || was == nil {
		t.Fatal(was, err)
	}
	other.seal(wish(t, r.Agent(), true, "1h", "a", "b", "c"), was.Intent, intent.ErrWider)
	other.seal(wish(t, r.Agent(), true, "1h", "a", "b", "c"), nil, runs.ErrPresented)
	less := wish(t, r.Agent(), true, "30m", "a")
	other.seal(less, was.Intent, nil)
	if b := bound(t, r); b.Intent.Digest() != less.Digest() {
		t.Errorf("%s", b.Intent.Text())
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.intent")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	for name, make := range map[string]func(credentials.AgentID) (string, []byte, error){
		"no word": func(credentials.AgentID) (string, []byte, error) {
			return "", wish(t, alice, true, "1h", "a").Text(), nil
		},
		"another's": func(credentials.AgentID) (string, []byte, error) {
			i := wish(t, alice, true, "1h", "a")
			return d.sign(i, nil), i.Text(), nil
		},
		"of a credential": func(id credentials.AgentID) (string, []byte, error) {
			i := wish(t, id, false, "1h", "a")
			return d.sign(i, nil), i.Text(), nil
		},
	} {
		d := deskAt(t, filepath.Join(t.TempDir(), "runs"), runs.Options{})
		if _, err := d.SealLaunch(t.Context(), "personal", make, d.note); !errors.Is(err, runs.ErrIntent) || d.last().Type != registry.EntryUnsealed {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := d.Launch("personal"); err == nil {
			t.Errorf("%s: launched without an intent: %+v", name, r)
		}
	}
}

// TestRace lets many goroutines present a credential while many seal it. Either it
// was sealed first, and every run of it is bound, or it was presented first, and none is.
func TestRace(t *testing.T) {
	for round := range 20 {
		dir := filepath.Join(t.TempDir(), "runs")
		i, j := wish(t, alice, false, "1h", "a"), wish(t, alice, false, "1h", "a", "b")
		var sealed, presented atomic.Int32
		var all sync.WaitGroup
		start := make(chan struct{})
		found := make(chan *runs.Bound, 64)
		for n := range 8 {
			d := deskAt(t, dir, runs.Options{}) // as a process of its own
			of := []*intent.Intent{i, j}[n%2]
			token := d.sign(of, nil)
			all.Go(func() {
				<-start
				switch _, err := d.Seal(t.Context(), token, of.Text(), d.note); {
				case err == nil:
					sealed.Add(1)
				case errors.Is(err, runs.ErrPresented), errors.Is(err, runs.ErrBound):
				default:
					t.Error(err)
				}
			})
			all.Go(func() {
				<-start
				r, began, err := d.Current(alice, "personal")
				if err != nil {
					t.Error(err)
					return
				}
				if began {
					presented.Add(1)
				}
				b, err := r.Intent()
				if err != nil {
					t.Error(err)
				}
				found <- b
			})
		}
		close(start)
		all.Wait()
		close(found)
		for b := range found {
			if (b != nil) != (sealed.Load() == 1) {
				t.Fatalf("round %d: sealed %d times, and a run is bound by %v", round, sealed.Load(), b)
			}
		}
		if sealed.Load() > 1 || presented.Load() != 1 {
			t.Fatalf("round %d: sealed %d times, begun %d times", round, sealed.Load(), presented.Load())
		}
	}
}

// TestRaceOfProcesses is the same with real processes on one folder.
func TestRaceOfProcesses(t *testing.T) {
	if dir := os.Getenv("PRATIQUE_TEST_PRESENT"); dir != "" {
		for n := range 40 {
			r := current(t, deskAt(t, dir, runs.Options{}).Store, credentials.AgentID(fmt.Sprintf("agt_01J0000000000000000000%04d", n)))
			fmt.Printf("\nrun %d %v\n", n, sealedOf(r))
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "runs")
	d := deskAt(t, dir, runs.Options{})
	cmd := exec.Command(os.Args[0], "-test.run=^TestRaceOfProcesses$")
	cmd.Env = append(os.Environ(), "PRATIQUE_TEST_PRESENT="+dir)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	sealed := map[int]bool{}
	for n := 39; n >= 0; n-- { // from the other end: they meet
		i := wish(t, credentials.AgentID(fmt.Sprintf("agt_01J0000000000000000000%04d", n)), false, "1h", "a")
		_, err := d.Seal(t.Context(), d.sign(i, nil), i.Text(), d.note)
		if sealed[n] = err == nil; err != nil && !errors.Is(err, runs.ErrPresented) {
			t.Error(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for n := range 40 {
		if want := fmt.Sprintf("\nrun %d %v\n", n, sealed[n]); !strings.Contains(out.String(), want) {
			t.Errorf("the other process does not say %q", want)
		}
	}
}

func sealedOf(r *runs.Run) bool { return r.Bound() }

// TestNarrowedTooOften: one intent is narrowed a bounded number of times, since each
// stays in its file.
func TestNarrowedTooOften(t *testing.T) {
	d := deskAt(t, filepath.Join(t.TempDir(), "runs"), runs.Options{})
	was := wish(t, alice, false, "10h", "a")
	d.seal(was, nil, nil)
	narrower := func(n int) *intent.Intent { return wish(t, alice, false, fmt.Sprintf("%dm", 600-n), "a") }
	for n := 1; n < runs.MaxSeals; n++ {
		next := narrower(n)
		d.seal(next, was, nil)
		was = next
	}
	d.seal(narrower(runs.MaxSeals), was, runs.ErrLimit)
	if b := bound(t, current(t, d.Store, alice)); len(b.Seals) != runs.MaxSeals || b.Intent.Digest() != was.Digest() {
		t.Errorf("%d seals", len(b.Seals))
	}
}
