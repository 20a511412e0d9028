package replay_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/inspect"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/decisions/replay"
)

const organisation = `
rules:
  - name: readers
    allow: [read_file]
    when: args.path.startsWith("docs/") || agent.name == "editor"
  - name: slowly
    ask: [read_file]
    rate: {over: 3, per: minute}
  - name: nights
    never: [read_file]
    when: time.getHours() < 6
`

const ofOrigin = `
rules:
  - name: files
    allow: [read_file]
    args: {path: {within: [docs, src]}}
`

// TestReplayOfLayers: what rules of three layers decide on arguments, time, agent, fit
// and counts comes out again from the entry, the vault and the kept text alone.
func TestReplayOfLayers(t *testing.T) {
	k, l := openKept(t)
	item := gate.Decode(gate.Tool, []byte(tool))
	k.items[item.Digest] = tool
	load := func(text string) *policy.Rules {
		r, err := policy.Load([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	org, own := load(organisation), load(ofOrigin)
	intent := &policy.Sealed{Items: []policy.SealedItem{{Origin: place, Kind: "tool", Name: "read_file", ID: "tool_1", Digest: item.Digest}},
		Expires: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC), Digest: credentials.Digest{7}}
	all := []policy.Layers{{Organisation: org}, {Origin: own}, {Organisation: org, Origin: own}, {Intent: intent}, {Organisation: org, Origin: own, Intent: intent}}
	r := rand.New(rand.NewPCG(5, 1))
	seen := map[string]int{}
	for i := range 400 {
		p := all[i%len(all)].Policy()
		f := policy.Facts{Profile: []policy.Profile{policy.Personal, policy.Strict, policy.Watch}[r.IntN(3)], Method: "tools/call", Tool: "read_file", ID: "tool_1",
			Origin: place, Tier: labels.Yellow, Standing: labels.Pinned, Content: labels.Inspected, Gate: policy.Cleared, Context: policy.Own,
			Args:  fmt.Appendf(nil, `{"path":%q}`, []string{"docs/a", "src/b", "../c", "etc/passwd"}[r.IntN(4)]),
			Agent: "agt_1", AgentName: []string{"editor", "other"}[r.IntN(2)], Run: "run_1", Ver: 1, Digest: item.Digest, Way: "http",
			At: time.Date(2026, 12, 1, r.IntN(24), 0, 0, 0, time.UTC), Fit: policy.Fit(r.IntN(4)), UnfitAt: "/path",
			Counts: policy.Counts{Known: r.IntN(4) > 0, Minute: uint64(r.IntN(6))}}
		f.Fit = min(f.Fit, policy.Fits) // two of four fit
		if !f.Counts.Known {
			f.Counts = policy.Counts{}
		}
		if f.Fit == policy.Fits {
			f.UnfitAt = ""
		}
		d := p.Decide(f)
		for _, digest := range []credentials.Digest{p.Digest(), d.Policy()} {
			if err := l.KeepPolicy(digest, policy.Text(p)); err != nil {
				t.Fatal(err)
			}
		}
		rec := putFacts(t, k, l, &f, d)
		a, err := replay.Of(context.Background(), &rec, k.sources(), inspect.New())
		if err != nil {
			t.Fatalf("%+v: %v", f, err)
		}
		if !a.Same {
			t.Errorf("layers %d, %s at %s, %s, fit %s, counts %+v: %+v", i%len(all), f.Args, f.At, f.AgentName, f.Fit, f.Counts, a)
		}
		seen[string(d.Would().Reason())]++
	}
	for _, reason := range []policy.Reason{policy.RuleAllow, policy.RuleNever, policy.ReasonUnfit, policy.ReasonGuard, policy.IntentExpired, policy.NoChannel} {
		if seen[string(reason)] == 0 {
			t.Errorf("no decision for %s: %v", reason, seen)
		}
	}
}

// putFacts records a decision as a gateway does, and reads it back.
func putFacts(t *testing.T, k *kept, l *decisions.Log, f *policy.Facts, d policy.Decision) decisions.Record {
	t.Helper()
	w := d.Would()
	e := &registry.Entry{At: f.At.UnixMilli(), Run: f.Run, Agent: f.Agent, Named: f.AgentName, Way: f.Way, Method: f.Method, Origin: f.Origin, Kind: "tool", Name: f.Tool,
		Tool: f.ID, Ver: f.Ver, Mdg: f.Digest, Tier: f.Tier.String(), Standing: f.Standing.String(), Content: f.Content.String(), Effect: f.Effect,
		Gate: f.Gate.String(), Context: f.Context.String(), Profile: string(f.Profile), Fit: f.Fit.String(), Guard: w.Guard(), Paths: w.Paths(),
		Policy: d.Policy(), Verb: w.Verb().String(), Reason: string(w.Reason()), Rule: w.Rule(), Outcome: registry.OutcomeRefused}
	if !d.Enforced() {
		e.Enforced = new(bool)
	}
	if n := f.Counts; n.Known {
		e.Counts = &registry.EntryCounts{Run: n.Run, Minute: n.Minute, Hour: n.Hour, Day: n.Day, New: n.New}
	}
	ticket, err := l.Decided(context.Background(), e, f.Args, false)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := decisions.Last(k.data, decisions.Query{Call: ticket.Call()}, 0)
	if err != nil || len(rs) != 1 {
		t.Fatal(len(rs), err)
	}
	return rs[0]
}
