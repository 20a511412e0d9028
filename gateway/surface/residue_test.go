package surface_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/observed"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/state"
)

// TestWithdrawnByRegistry: what a tool returned counts no longer once it was revoked
// or condemned, or its registrant or origin was.
func TestWithdrawnByRegistry(t *testing.T) {
	const at = "https://notes.example/mcp"
	for want, events := range map[string][]func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest){
		"": {
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.HandlesRevoked, owner, registry.ToolData{ID: id, Gen: 2, N: 2, Last: h.size - 1})
			},
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.ToolObserved, "", registry.ConductData{Tool: id, Gen: 1, Ver: 1, Mdg: mdg, Content: labels.Suspect, Spool: "spool_x", N: 2, Last: h.size - 1})
			},
		},
		runs.WhyRevoked: {
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.ToolRevoked, owner, registry.ToolData{ID: id, Gen: 2, N: 2, Last: h.size - 1})
			},
		},
		runs.WhyViolated: {
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.ToolObserved, "", registry.ConductData{Tool: id, Gen: 1, Ver: 1, Mdg: mdg, Content: labels.Violated, Spool: "spool_x", N: 2, Last: h.size - 1})
			},
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.ToolInspected, "", registry.ConductData{Tool: id, Gen: 1, Ver: 1, Mdg: mdg, Content: labels.Violated, N: 2, Last: h.size - 1})
			},
		},
		runs.WhyCondemned: {
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.ToolCondemned, op, registry.ReasonData{Tool: id, Mdg: mdg, N: 2, Last: h.size - 1, Reason: "read"})
			},
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.PrincipalCondemned, op, registry.ReasonData{ID: owner.Principal()})
			},
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.OriginCondemned, op, registry.ReasonData{Origin: "https://notes.example"})
			},
			func(h *history, op, owner credentials.KeyID, id credentials.ToolID, mdg credentials.Digest) {
				h.add(registry.OriginCondemned, op, registry.ReasonData{Origin: at})
			},
		},
	} {
		for i, event := range events {
			h := &history{t: t, db: state.New()}
			w := surface.NewWithdrawn(h.snapshot, baseline.NewMemory(baseline.Options{}), nil)
			op, owner := h.key(), h.key()
			h.add(registry.OperatorEnrolled, "", registry.PrincipalData{ID: op.Principal(), JWK: []byte(`{"kty":"OKP"}`)})
			h.add(registry.PrincipalCreated, owner, registry.PrincipalData{ID: owner.Principal(), JWK: []byte(`{"kty":"OKP"}`)})
			var u ulid.ULID
			copy(u[:], h.bytes(16))
			u[0] &= 0x7f
			id, mdg := credentials.ToolID("tool_"+u.String()), credentials.Digest(h.bytes(32))
			h.add(registry.ToolRegistered, owner, registry.ToolData{ID: id, Origin: at, Name: "pay", Gen: 1, Ver: 1, Mdg: mdg, N: 1})
			src := runs.Held{Source: runs.Source{Origin: at, Kind: runs.KindTool, Name: "pay", Tool: id, Gen: 1, Ver: 1}, Since: 1}
			other := src
			other.Origin, other.Tool = "https://other.example/mcp", ""
			before, err := w.Head([]string{at})
			if err != nil {
				t.Fatal(err)
			}
			if why, err := w.Of(src); why != "" || err != nil {
				t.Errorf("before: %q %v", why, err)
			}
			event(h, op, owner, id, mdg)
			if why, err := w.Of(src); why != want || err != nil {
				t.Errorf("%q, %d: %q %v", want, i, why, err)
			}
			if why, err := w.Of(other); why != "" || err != nil {
				t.Errorf("%q, %d, of another origin: %q %v", want, i, why, err)
			}
			if after, err := w.Head([]string{at}); err != nil || after == before {
				t.Errorf("%q, %d: the head stood still, %v", want, i, err)
			}
			h.stale = registry.ErrStaleView
			if _, err := w.Head(nil); !errors.Is(err, registry.ErrStaleView) {
				t.Errorf("head of a stale view: %v", err)
			}
			if _, err := w.Of(src); !errors.Is(err, registry.ErrStaleView) {
				t.Errorf("a stale view answers: %v", err)
			}
		}
	}
}

// TestWithdrawnByOperator: what a version returned that an operator condemns counts no
// longer, in other processes too; of resources, all of the upstream's.
func TestWithdrawnByOperator(t *testing.T) {
	b := newBench(t)
	o := newOperator(b)
	u := newServer(tool("a", "x"), tool("b", "x"))
	u.lists["resources/list"] = []string{`{"uri":"file:///a","name":"a"}`}
	k := b.keeper(u)
	mustList(t, k, gate.Resource)
	var held []runs.Held
	for _, kind := range []gate.Kind{gate.Tool, gate.Resource} {
		for _, e := range k.Surface().Entries(kind) {
			src := runs.Source{Origin: place, Kind: string(kind), Name: e.Name, Tool: e.Tool, Gen: e.Gen, Ver: e.Ver}
			if kind == gate.Resource {
				src = runs.Source{Origin: place, Kind: runs.KindResource}
			}
			held = append(held, runs.Held{Source: src, Since: b.now().UnixMilli()})
		}
	}
	h := &history{t: t, db: state.New()}
	elsewhere := surface.NewWithdrawn(h.snapshot, o.open(), nil)
	check := func(what string, want ...string) {
		t.Helper()
		for i, src := range held {
			if why, err := elsewhere.Of(src); err != nil || why != want[i] {
				t.Errorf("%s: %s %s: %q, want %q, %v", what, src.Kind, src.Name, why, want[i], err)
			}
		}
	}
	head := func() uint64 {
		t.Helper()
		n, err := elsewhere.Head([]string{place})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	check("nothing happened", "", "", "")
	before := head()
	if head() != before {
		t.Error("the head moves by itself")
	}
	o.act(true, "a")
	if head() == before {
		t.Error("the head stood still")
	}
	check("a tool", runs.WhyCondemned, "", "")
	later := held[0]
	later.Ver++
	if why, _ := elsewhere.Of(later); why != "" {
		t.Errorf("a later version: %q", why)
	}
	b.pass(time.Second)
	s := o.open()
	_, err := s.Update(context.Background(), place, func(d *baseline.Draft) error {
		key := baseline.Key{Kind: baseline.Resource, Name: "file:///a"}
		base := d.Baseline
		token, err := s.SignCondemn(o.sign, &base, key, d.Accepted(key).Digest, false)
		if err == nil {
			_, err = d.Condemn(token)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	check("a resource", runs.WhyCondemned, "", runs.WhyCondemned)
	held[2].Since = b.now().Add(time.Second).UnixMilli()
	check("resources read since", runs.WhyCondemned, "", "")
}

// TestWithdrawnByConduct: what a version returned that contradicts what it declares
// counts no longer, in another process too, and although an operator has released it
// since; of prompts and other versions nothing follows.
func TestWithdrawnByConduct(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "observed")
	store := func() *observed.Store {
		s, err := observed.Open(dir, observed.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	h, now := &history{t: t, db: state.New()}, time.Now()
	w := surface.NewWithdrawn(h.snapshot, baseline.NewMemory(baseline.Options{}), store())
	of := observed.Subject{Key: gate.Key{Kind: gate.Tool, Name: "pay"}, Tool: "tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", Gen: 1, Ver: 1}
	src := runs.Held{Source: runs.Source{Origin: place, Kind: runs.KindTool, Name: "pay", Tool: of.Tool, Gen: 1, Ver: 1}, Since: now.UnixMilli()}
	check := func(what string, src runs.Held, want string) {
		t.Helper()
		if why, err := w.Of(src); why != want || err != nil {
			t.Errorf("%s: %q, want %q, %v", what, why, want, err)
		}
	}
	check("nothing was seen", src, "")
	before, err := w.Head([]string{place})
	if err != nil {
		t.Fatal(err)
	}
	p := store().Place(place)
	o := observe.Observation{Call: "call_1", Run: "run_1", At: now.UnixMilli(), Seen: []observe.Sighting{{Sign: observe.ReadWrote, Link: observe.Own}}}
	if err := p.Add(of, "", o, observed.Cite{}); err != nil {
		t.Fatal(err)
	}
	if after, err := w.Head([]string{place}); err != nil || after == before {
		t.Errorf("the head stood still, %v", err)
	}
	check("a contradiction", src, runs.WhyViolated)
	other, prompt, elsewhere := src, src, src
	other.Ver, prompt.Kind, elsewhere.Origin = 2, runs.KindPrompt, "https://other.example/mcp"
	check("another version", other, "")
	check("a prompt", prompt, "")
	check("another origin", elsewhere, "")
	if err := p.Release(of, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	check("released", src, runs.WhyViolated)
	src.Since += 2000
	check("read since", src, "")
}

// TestReach: an upstream is there if it answers with its lists, now.
func TestReach(t *testing.T) {
	b := newBench(t)
	u := newServer(tool("a", "x"))
	k := b.keeper(u)
	if err := k.Reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	u.mu.Lock()
	u.hook = func(context.Context, string, []byte) (mcp.Frame, error, bool) { return mcp.Frame{}, down, true }
	u.mu.Unlock()
	k.Lost(down)
	if err := k.Reach(t.Context()); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
	u.mu.Lock()
	u.hook = nil
	u.mu.Unlock()
	b.pass(time.Minute)
	if err := k.Reach(t.Context()); err != nil {
		t.Errorf("back: %v", err)
	}
	if names := b.shownNames(t); len(names) != 0 {
		t.Errorf("it counts as shown: %v", names)
	}
}

// shownNames are the tools that the run was shown.
func (b *bench) shownNames(t *testing.T) (names []string) {
	t.Helper()
	all, err := b.run.All(place)
	if err != nil {
		t.Fatal(err)
	}
	for name := range all[baseline.Tool] {
		names = append(names, name)
	}
	return names
}
