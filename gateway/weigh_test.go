package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/tallies"
)

// weighed has a policy decide a call of send, by an agent or a launch.
func weighed(t *testing.T, rules string, by Tallies, agent credentials.AgentID, launched bool, raw string, beside ...string) policy.Decision {
	t.Helper()
	r, err := policy.Load([]byte("rules:\n- {name: a, allow: [send]}\n" + rules))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := args.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	s := &Session{g: &Gateway{o: Options{Tallies: by, Log: slog.New(slog.DiscardHandler)}}, who: Agent{ID: agent, Run: "run_" + string(agent), launched: launched}}
	f := policy.Facts{
		Profile: policy.Personal, Method: methodCall, Tool: "send", Origin: "https://a.example", Tier: labels.Green, Standing: labels.Attested, Content: labels.Inspected,
		Effect: labels.Write, Gate: policy.Cleared, Context: policy.Clean, Channel: true, Fit: policy.Fits, Agent: agent, Run: s.who.Run, Args: []byte(raw), Tree: tree,
	}
	for _, b := range beside {
		if f.Beside, err = args.Parse([]byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	return s.weigh(t.Context(), &call{s: s, rules: policy.Of(r)}, &f)
}

func memory() *tallies.Store {
	at := time.Unix(1_800_000_000, 0)
	return tallies.NewMemory(func() time.Time { return at }, rand.Reader)
}

// TestRateOfLaunches: each launch is an agent of its own, and a restart sheds no rate;
// agents with a credential are counted apart.
func TestRateOfLaunches(t *testing.T) {
	const rate = "- {name: b, never: [send], rate: {over: 2, per: hour}}\n"
	store := memory()
	for i, id := range []credentials.AgentID{"agt_1", "agt_2", "agt_3", "agt_4"} {
		want := policy.Allow
		if i >= 2 {
			want = policy.Deny
		}
		if d := weighed(t, rate, store, id, true, `{}`); d.Verb() != want {
			t.Errorf("launch %d: %s by %s", i, d.Reason(), d.Rule())
		}
	}
	for _, id := range []credentials.AgentID{"agt_5", "agt_6", "agt_7"} {
		if d := weighed(t, rate, store, id, false, `{}`); d.Verb() != policy.Allow {
			t.Errorf("%s: %s by %s", id, d.Reason(), d.Rule())
		}
	}
}

// TestUnseenIsNew: a place of which not all can be seen is one with a new value, each
// time.
func TestUnseenIsNew(t *testing.T) {
	const fresh = "- {name: b, ask: [send], new: [to]}\n"
	for raw, want := range map[string]policy.Verb{`{"to":"a"}`: policy.Allow, `{"to":["a","b"]}`: policy.Allow, `{"to":{"name":"a"}}`: policy.Ask} {
		store := memory()
		// What is asked for does not count; what another rule lets through does.
		for range 2 {
			if d := weighed(t, "- {name: b, ask: [send], rate: {over: 100, per: day}, new: [to]}\n", store, "agt_1", false, raw); d.Verb() != policy.Allow {
				t.Fatalf("%s: %s by %s", raw, d.Reason(), d.Rule())
			}
		}
		if d := weighed(t, fresh, store, "agt_1", false, raw); d.Verb() != want {
			t.Errorf("%s: %s by %s", raw, d.Reason(), d.Rule())
		}
		if d := weighed(t, fresh, memory(), "agt_1", false, raw); d.Verb() != policy.Ask {
			t.Errorf("%s for the first time: %s by %s", raw, d.Reason(), d.Rule())
		}
	}
}

// TestBesideIsNew: a value that stands beside the arguments is one of the place too.
func TestBesideIsNew(t *testing.T) {
	store := memory()
	if d := weighed(t, "- {name: b, ask: [send], rate: {over: 100, per: day}, new: [to]}\n", store, "agt_1", false, `{"to":"a"}`, `{"extra":{"to":"b"}}`); d.Verb() != policy.Allow {
		t.Fatal(d.Reason())
	}
	for beside, want := range map[string]policy.Verb{`{}`: policy.Allow, `{"to":"b"}`: policy.Allow, `{"extra":[{"to":"c"}]}`: policy.Ask, `{"to":{"name":"a"}}`: policy.Ask} {
		if d := weighed(t, "- {name: b, ask: [send], new: [to]}\n", store, "agt_1", false, `{"to":"a"}`, beside); d.Verb() != want {
			t.Errorf("%s: %s by %s", beside, d.Reason(), d.Rule())
		}
	}
}

// A failing store shows its counts, and cannot write them.
type failing struct {
	counts policy.Counts
	asked  []tallies.Values
}

var errFull = errors.New("the disk is full")

func (f *failing) Decide(_ context.Context, _ tallies.Subject, v tallies.Values, decide func(policy.Counts) bool) error {
	f.asked = append(f.asked, v)
	decide(f.counts)
	return errFull
}

// TestUncountedIsRefused: a call that was let through and cannot be counted does not go
// on; what was refused or asked for stays as it is. Unknown counts are the worst.
func TestUncountedIsRefused(t *testing.T) {
	for _, c := range []struct {
		what, rules string
		counts      policy.Counts
		verb        policy.Verb
		rule        string
	}{
		{"let through", "- {name: b, never: [send], rate: {over: 2, per: hour}}\n", policy.Counts{Known: true}, policy.Deny, "tallies"},
		{"beyond the rate", "- {name: b, ask: [send], rate: {over: 2, per: hour}}\n", policy.Counts{Known: true, Hour: 2}, policy.Ask, "b"},
		{"unknown", "- {name: b, never: [send], rate: {over: 2, per: hour}}\n", policy.Counts{}, policy.Deny, "b"},
		{"only recorded, and unknown", "- {name: b, never: [send], shadow: true, rate: {over: 2, per: hour}}\n", policy.Counts{}, policy.Allow, "a"},
		{"new", "- {name: b, ask: [send], new: [to, cc]}\n", policy.Counts{Known: true}, policy.Deny, "tallies"},
	} {
		store := &failing{counts: c.counts}
		d := weighed(t, c.rules, store, "agt_1", false, `{"to":["a"]}`)
		if d.Verb() != c.verb || d.Rule() != c.rule || (d.Reason() == policy.Unrecorded) != (c.rule == "tallies") {
			t.Errorf("%s: %v, %s by %s", c.what, d.Verb(), d.Reason(), d.Rule())
		}
		if c.what == "new" && (len(store.asked) != 1 || !slices.Equal(store.asked[0]["to"], []string{`"a"`}) || store.asked[0]["cc"] == nil) {
			t.Errorf("%s: asked for %v", c.what, store.asked)
		}
	}
}
