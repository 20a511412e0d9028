package surface_test

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// An operator signs acts for a bench whose baselines lie in a folder.
type operator struct {
	b    *bench
	dir  string
	sign *envelope.Signer
	opt  baseline.Options
}

func newOperator(b *bench) *operator {
	b.t.Helper()
	key, err := keyring.NewPrivate(envelope.EdDSA, rand.Reader)
	if err != nil {
		b.t.Fatal(err)
	}
	o := &operator{b: b, dir: filepath.Join(b.t.TempDir(), "surface"), opt: baseline.Options{Now: b.now, Audience: "x"}}
	o.opt.Acts = envelope.NewVerifier(envelope.KeysFunc(func(_ envelope.Type, id credentials.KeyID) (envelope.Key, error) {
		if id != key.Key().ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return key.Key(), nil
	}))
	if o.sign, err = envelope.NewSigner(envelope.OperatorAct, key); err != nil {
		b.t.Fatal(err)
	}
	b.store = o.open()
	return o
}

// open is the folder as another process sees it.
func (o *operator) open() *baseline.Store {
	o.b.t.Helper()
	s, err := baseline.Open(o.dir, o.opt)
	if err != nil {
		o.b.t.Fatal(err)
	}
	return s
}

// act releases or condemns what waits or is accepted under a name, in a process of
// its own.
func (o *operator) act(condemn bool, name string) {
	o.b.t.Helper()
	s := o.open()
	k := baseline.Key{Kind: baseline.Tool, Name: name}
	_, err := s.Update(context.Background(), place, func(d *baseline.Draft) error {
		var digest credentials.Digest
		if w := d.Pending(k); w != nil {
			digest = w.Digest
		} else if a := d.Accepted(k); a != nil {
			digest = a.Digest
		}
		base := d.Baseline
		if condemn {
			token, err := s.SignCondemn(o.sign, &base, k, digest, false)
			if err == nil {
				_, err = d.Condemn(token)
			}
			return err
		}
		token, err := s.SignRelease(o.sign, &base, k, digest, false)
		if err == nil {
			_, err = d.Release(token)
		}
		return err
	})
	if err != nil {
		o.b.t.Fatal(err)
	}
}

// TestReleasedItem: a release shows exactly what waited, to every agent at once and
// after a restart; what comes later under the name waits again.
func TestReleasedItem(t *testing.T) {
	b := newBench(t)
	o := newOperator(b)
	u := newServer(tool("good", "x"), tool("odd", "ODD"), tool("evil", "EVIL"), tool("late", "ODD too"))
	k := b.keeper(u)
	sameNames(t, "at first", mustList(t, k, gate.Tool), "good")
	o.act(false, "odd")
	o.act(false, "evil")
	sameNames(t, "released", mustList(t, k, gate.Tool), "evil", "good", "odd")
	for name, want := range map[string]labels.Content{"good": labels.Inspected, "odd": labels.Inspected, "evil": labels.Suspect, "late": labels.Suspect} {
		for _, e := range k.Surface().Entries(gate.Tool) {
			if e.Name == name && e.Content != want {
				t.Errorf("%s: content %v, want %v", name, e.Content, want)
			}
		}
	}
	for _, name := range []string{"good", "odd", "evil"} {
		if _, err := call(k, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := call(k, "late")
	wantErr(t, "late", err, gate.ErrNotShown)
	if d := strings.Join(b.details(), "\n"); !strings.Contains(d, "tool odd released: version 1 operator") {
		t.Errorf("not recorded: %s", d)
	}

	b.store = o.open()
	b.newRun()
	sameNames(t, "after a restart", mustList(t, b.keeper(u), gate.Tool), "evil", "good", "odd")

	u.set("tools/list", tool("good", "x"), tool("odd", "ODD and more"), tool("evil", "fine now"))
	k.Notice("notifications/tools/list_changed")
	sameNames(t, "later versions", mustList(t, k, gate.Tool), "good")
	u.set("tools/list", tool("good", "x"), tool("odd", "ODD"), tool("other", "ODD"))
	k.Notice("notifications/tools/list_changed")
	sameNames(t, "the same words under another name", mustList(t, k, gate.Tool), "good", "odd")
}

// TestCondemnedItem: what is condemned is gone for every agent and process at once,
// and after a restart; the others stay.
func TestCondemnedItem(t *testing.T) {
	b := newBench(t)
	o := newOperator(b)
	u := newServer(tool("a", "x"), tool("b", "x"))
	k := b.keeper(u)
	sameNames(t, "at first", mustList(t, k, gate.Tool), "a", "b")
	b.store = o.open()
	b.newRun()
	other := b.keeper(u)
	sameNames(t, "another process", mustList(t, other, gate.Tool), "a", "b")
	o.act(true, "a")
	for _, x := range []*surface.Keeper{k, other} {
		_, err := call(x, "a")
		wantErr(t, "condemned", err, gate.ErrWithheld)
		if _, err := call(x, "b"); err != nil {
			t.Errorf("its neighbour: %v", err)
		}
		sameNames(t, "list", mustList(t, x, gate.Tool), "b")
	}
	if d := strings.Join(b.details(), "\n"); !strings.Contains(d, "tool a condemned operator") {
		t.Errorf("not recorded: %s", d)
	}
	b.store = o.open()
	b.newRun()
	sameNames(t, "after a restart", mustList(t, b.keeper(u), gate.Tool), "b")
	o.act(false, "a")
	sameNames(t, "released again", mustList(t, k, gate.Tool), "a", "b")
}

// changing is an inspector whose rules get stricter.
type changing struct {
	words
	strict atomic.Bool
}

func (c *changing) Engine() string {
	if c.strict.Load() {
		return "changing/2"
	}
	return "changing/1"
}

func (c *changing) Inspect(ctx context.Context, in quarantine.Batch) quarantine.Report {
	r := c.words.Inspect(ctx, in)
	for i, s := range in.Specimens {
		if c.strict.Load() && strings.Contains(s.Text, "NEWLY") {
			r.Findings = append(r.Findings, quarantine.Finding{Category: quarantine.Override, Verdict: quarantine.Suspect, Path: s.Path, At: i, Span: quarantine.Span{From: 0, To: 5}})
			r.Verdict = quarantine.Worse(r.Verdict, quarantine.Suspect)
		}
	}
	r.Engine = c.Engine()
	return r
}

// TestSuspectLater: what was accepted and is found suspect by a later engine is
// withheld and waits for an operator, with what was found.
func TestSuspectLater(t *testing.T) {
	b := newBench(t)
	o := newOperator(b)
	inspector := &changing{}
	b.inspect = inspector
	u := newServer(tool("a", "NEWLY found"), tool("b", "x"))
	sameNames(t, "at first", mustList(t, b.keeper(u), gate.Tool), "a", "b")
	inspector.strict.Store(true)
	k := b.keeper(u)
	sameNames(t, "with another engine", mustList(t, k, gate.Tool), "b")
	base, err := b.store.Get(place)
	if err != nil {
		t.Fatal(err)
	}
	w := base.Pending(baseline.Key{Kind: baseline.Tool, Name: "a"})
	if w == nil || w.Verdict != "suspect" || len(w.Found) == 0 || w.Found[0].Path != "description" || w.Found[0].Span.To != 5 {
		t.Fatalf("waits: %+v", w)
	}
	o.act(false, "a")
	sameNames(t, "released", mustList(t, k, gate.Tool), "a", "b")
}

// TestReleasedJoined: a released item is inspected together with the others before
// it is shown beside them.
func TestReleasedJoined(t *testing.T) {
	b := newBench(t)
	o := newOperator(b)
	u := newServer(tool("a", "ODD PART1"), tool("b", "PART2"), tool("c", "x"))
	k := b.keeper(u)
	sameNames(t, "at first", mustList(t, k, gate.Tool), "b", "c") // the half is harmless alone
	if _, err := call(k, "b"); err != nil {
		t.Fatal(err)
	}
	o.act(false, "a")
	_, err := call(k, "b")
	wantErr(t, "the other half", err, gate.ErrWithheld)
	sameNames(t, "released", mustList(t, k, gate.Tool), "a", "c")
	for _, e := range k.Surface().Entries(gate.Tool) {
		if e.Name == "a" && e.Content != labels.Suspect {
			t.Errorf("what is hostile together with others is %v", e.Content)
		}
	}
}

// partial answers without one of its stages until it is told otherwise.
type partial struct {
	words
	whole atomic.Bool
}

func (p *partial) Inspect(ctx context.Context, in quarantine.Batch) quarantine.Report {
	r := p.words.Inspect(ctx, in)
	if !p.whole.Load() && slices.ContainsFunc(in.Specimens, func(s quarantine.Specimen) bool { return strings.Contains(s.Text, "SLOW") }) {
		r.Partial, r.Verdict = true, quarantine.Worse(r.Verdict, quarantine.Suspect)
		r.Findings = append(r.Findings, quarantine.Finding{Category: quarantine.Late, Verdict: quarantine.Suspect})
	}
	return r
}

// TestPartialVerdict: a verdict that a stage is missing of withholds and is asked
// for again, not kept, and nothing becomes new by it.
func TestPartialVerdict(t *testing.T) {
	b := newBench(t)
	p := &partial{}
	b.inspect = p
	b.limits.Freshness = time.Second
	u := newServer(tool("a", "x"), tool("b", "SLOW"))
	k := b.keeper(u)
	if _, err := k.List(t.Context(), gate.Tool, nil); err == nil {
		t.Fatal("first sight is over while the inspector is late")
	}
	p.whole.Store(true)
	b.pass(10 * time.Second)
	sameNames(t, "whole", mustList(t, k, gate.Tool), "a", "b")
	p.whole.Store(false)
	b.pass(10 * time.Second)
	u.set("tools/list", tool("a", "x"), tool("b", "SLOW"), tool("c", "SLOW too"))
	sameNames(t, "new and late", mustList(t, k, gate.Tool), "a", "b")
	p.whole.Store(true)
	n := p.words.asked()
	b.pass(2 * time.Second)
	sameNames(t, "soon after", mustList(t, k, gate.Tool), "a", "b")
	if p.words.asked() != n {
		t.Error("what was late is asked for with every list")
	}
	b.pass(10 * time.Second)
	mustList(t, k, gate.Tool)
	for _, e := range k.Surface().Entries(gate.Tool) {
		if e.Name == "c" && e.Verdict != quarantine.Clear {
			t.Errorf("not asked again: %v", e.Verdict)
		}
	}
}

func (w *words) asked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// conduct is what was observed of tools by name.
type conduct struct {
	head atomic.Uint64
	of   atomic.Pointer[map[string]labels.Content]
}

func (c *conduct) Head() (uint64, error) { return c.head.Load(), nil }

func (c *conduct) Of(e *gate.Entry, _ time.Time) (labels.Content, bool) {
	m := c.of.Load()
	if m == nil {
		return 0, false
	}
	v, ok := (*m)[e.Name]
	return v, ok
}

// TestObservedItem: what is observed moves the surface at once.
func TestObservedItem(t *testing.T) {
	b := newBench(t)
	c := &conduct{}
	b.observed = c
	u := newServer(tool("a", "x"), tool("b", "x"))
	k := b.keeper(u)
	sameNames(t, "at first", mustList(t, k, gate.Tool), "a", "b")
	c.of.Store(&map[string]labels.Content{"a": labels.Violated, "b": labels.Consistent})
	c.head.Add(1)
	_, err := call(k, "a")
	wantErr(t, "violated", err, gate.ErrWithheld)
	e, err := k.Look(t.Context(), gate.Tool, "b")
	if err != nil || e.Tier(b.now()) != labels.Green {
		t.Errorf("consistent: %v, %v", e.Tier(b.now()), err)
	}
}
