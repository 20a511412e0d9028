package gate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
)

// released is a baseline in which an operator released items.
func released(r Release, items ...Item) *Baseline {
	b := accepted(items...)
	for _, a := range b.Items {
		a.Release, a.By = r, ByOperator
	}
	return b
}

// TestRelease: a release shows exactly the version that was released, says of its
// content what the verdict was, and nothing of anything else (RULES.md 20, 35).
func TestRelease(t *testing.T) {
	it, other := toolItem("a", "x"), toolItem("a", "y")
	prompt := Decode(Prompt, []byte(`{"name":"a","description":"x"}`))
	twin := toolItem("b", "x")
	for _, c := range []struct {
		name    string
		live    Item
		verdict quarantine.Verdict
		base    *Baseline
		want    policy.State
		content labels.Content
	}{
		{"suspect, released", it, quarantine.Suspect, released(ReleasedSuspect, it), policy.Cleared, labels.Inspected},
		{"not inspected, released", it, quarantine.Missing, released(ReleasedSuspect, it), policy.Cleared, labels.Inspected},
		{"hostile, released", it, quarantine.Hostile, released(ReleasedHostile, it), policy.Cleared, labels.Suspect},
		{"hostile since it was released as suspect", it, quarantine.Hostile, released(ReleasedSuspect, it), policy.Cleared, labels.Suspect},
		{"suspect since it was released as hostile", it, quarantine.Suspect, released(ReleasedHostile, it), policy.Cleared, labels.Suspect},
		{"clear since it was released as hostile", it, quarantine.Clear, released(ReleasedHostile, it), policy.Cleared, labels.Inspected},
		{"clear, nobody released it", it, quarantine.Clear, accepted(it), policy.Cleared, labels.Inspected}, // the innocent twin
		{"suspect, accepted only", it, quarantine.Suspect, accepted(it), policy.Withheld, labels.Suspect},
		{"hostile, accepted only", it, quarantine.Hostile, accepted(it), policy.Withheld, labels.Violated},
		{"another digest of the name", other, quarantine.Suspect, released(ReleasedSuspect, it), policy.Withheld, labels.Suspect},
		{"a later version, clear", other, quarantine.Clear, released(ReleasedSuspect, it), policy.Changed, labels.Inspected},
		{"a later version was accepted", it, quarantine.Suspect, accepted(other), policy.Withheld, labels.Suspect},
		{"another name", twin, quarantine.Suspect, released(ReleasedSuspect, it), policy.Withheld, labels.Suspect},
		{"another kind", prompt, quarantine.Suspect, released(ReleasedSuspect, it), policy.Withheld, labels.Suspect},
		{"another origin", it, quarantine.Suspect, accepted(), policy.Withheld, labels.Suspect},
	} {
		s := Build(Input{Complete: true, Items: []Judged{{Item: c.live, Verdict: c.verdict}}, Baseline: c.base, Standing: labels.Pinned})
		e := s.Entries("")[0]
		if e.Listed != c.want || e.Content != c.content {
			t.Errorf("%s: %v with content %v, want %v with %v", c.name, e.Listed, e.Content, c.want, c.content)
		}
	}
	for name, f := range map[string]func(*Input){
		"a fault":                  func(in *Input) { in.Items[0].Fault = FaultName },
		"a twin of another digest": func(in *Input) { in.Items = append(in.Items, clear(other)) },
		"a vetoed origin":          func(in *Input) { in.Standing = labels.Vetoed },
		"an uncovered name":        func(in *Input) { in.Uncovered = map[string]bool{"a": true} },
		"an observed violation":    func(in *Input) { in.Observed = seen(labels.Violated) },
		"a condemnation":           func(in *Input) { in.Baseline.Condemned = map[Version]bool{{it.Key, it.Digest}: true} },
		"a revoked registration":   func(in *Input) { in.Registered = map[string]*Row{"a": {Digest: it.Digest}} },
	} {
		in := Input{Complete: true, Items: []Judged{{Item: it, Verdict: quarantine.Suspect}}, Baseline: released(ReleasedSuspect, it), Standing: labels.Pinned}
		f(&in)
		if e := Build(in).Entries("")[0]; e.Listed != policy.Withheld {
			t.Errorf("a release lifts %s: %v", name, e.Listed)
		}
	}
}

func seen(c labels.Content) func(*Entry) (labels.Content, bool) {
	return func(*Entry) (labels.Content, bool) { return c, true }
}

// TestCondemned: what was condemned is Red whatever is accepted or said of it, and
// its own version alone.
func TestCondemned(t *testing.T) {
	it, other := toolItem("a", "x"), toolItem("a", "y")
	build := func(live Item, base *Baseline, row *Row) Entry {
		base.Condemned = map[Version]bool{{it.Key, it.Digest}: true}
		in := Input{Complete: true, Items: []Judged{clear(live)}, Baseline: base, Standing: labels.Attested}
		if row != nil {
			in.Registered = map[string]*Row{"a": row}
		}
		return Build(in).Entries("")[0]
	}
	good := &Row{Live: true, Digest: it.Digest, Standing: labels.Attested, Content: labels.Consistent}
	for name, e := range map[string]Entry{
		"accepted":   build(it, accepted(it), nil),
		"released":   build(it, released(ReleasedSuspect, it), nil),
		"registered": build(it, accepted(), good),
	} {
		if e.Listed != policy.Withheld || e.Content != labels.Violated || e.Tier(time.Time{}) != labels.Red {
			t.Errorf("%s: %v, %v", name, e.Listed, e.Content)
		}
	}
	if e := build(other, accepted(other), nil); e.Listed != policy.Cleared || e.Content != labels.Inspected {
		t.Errorf("another version: %v, %v", e.Listed, e.Content)
	}
}

// TestObserved: conduct lowers any content, and raises what was inspected alone.
func TestObserved(t *testing.T) {
	it := toolItem("a", "x")
	for _, c := range []struct {
		verdict quarantine.Verdict
		release Release
		row     labels.Content // Violated: not registered
		seen    labels.Content
		want    labels.Content
	}{
		{quarantine.Clear, NotReleased, 0, labels.Consistent, labels.Consistent},
		{quarantine.Clear, NotReleased, 0, labels.Inspected, labels.Inspected},
		{quarantine.Clear, NotReleased, 0, labels.Suspect, labels.Suspect},
		{quarantine.Clear, NotReleased, 0, labels.Violated, labels.Violated},
		{quarantine.Suspect, NotReleased, 0, labels.Consistent, labels.Suspect},
		{quarantine.Missing, NotReleased, 0, labels.Consistent, labels.Uninspected},
		{quarantine.Suspect, ReleasedSuspect, 0, labels.Consistent, labels.Consistent},
		{quarantine.Hostile, ReleasedHostile, 0, labels.Consistent, labels.Suspect},
		{quarantine.Clear, NotReleased, labels.Inspected, labels.Consistent, labels.Inspected},
		{quarantine.Clear, NotReleased, labels.Consistent, labels.Suspect, labels.Suspect},
		{quarantine.Clear, NotReleased, labels.Consistent, labels.Inspected, labels.Inspected},
	} {
		in := Input{Complete: true, Items: []Judged{{Item: it, Verdict: c.verdict}}, Baseline: released(c.release, it), Standing: labels.Pinned, Observed: seen(c.seen)}
		if c.row != labels.Violated {
			in.Registered = map[string]*Row{"a": {Live: true, Digest: it.Digest, Standing: labels.Attested, Content: c.row}}
		}
		if e := Build(in).Entries("")[0]; e.Content != c.want {
			t.Errorf("%+v: %v", c, e.Content)
		}
	}
	in := Input{Complete: true, Items: []Judged{clear(it)}, Baseline: accepted(it), Standing: labels.Pinned,
		Observed: func(*Entry) (labels.Content, bool) { return labels.Violated, false }}
	if e := Build(in).Entries("")[0]; e.Content != labels.Inspected {
		t.Errorf("nothing observed: %v", e.Content)
	}
}

// TestSettleQuarantine: what is withheld waits for an operator, with the verdict
// that it has now; what was released or condemned is not decided by anybody else.
func TestSettleQuarantine(t *testing.T) {
	it, worded := toolItem("a", "x"), toolItem("a", "y")
	judged := func(it Item, v quarantine.Verdict, partial bool) Judged {
		return Judged{Item: it, Verdict: v, Partial: partial}
	}
	pending := func(b *Baseline, v quarantine.Verdict) *Baseline {
		b.Pending = map[Key]Pending{it.Key: {it.Digest, v}}
		return b
	}
	condemned := func(b *Baseline, d credentials.Digest) *Baseline {
		b.Condemned = map[Version]bool{{it.Key, d}: true}
		return b
	}
	own := map[string]*Row{"a": {Live: true, Digest: worded.Digest}}
	for _, c := range []struct {
		name    string
		live    Judged
		base    *Baseline
		wording bool
		rows    map[string]*Row
		want    string
	}{
		{"accepted, then suspect", judged(it, quarantine.Suspect, false), accepted(it), false, nil, "pend suspect"},
		{"accepted, then late", judged(it, quarantine.Suspect, true), accepted(it), false, nil, ""},
		{"accepted, then missing", judged(it, quarantine.Missing, false), accepted(it), false, nil, ""},
		{"accepted, still clear", judged(it, quarantine.Clear, false), accepted(it), false, nil, ""},
		{"withheld as it was", judged(it, quarantine.Suspect, false), pending(accepted(it), quarantine.Suspect), false, nil, ""},
		{"withheld, worse now", judged(it, quarantine.Hostile, false), pending(accepted(), quarantine.Suspect), false, nil, "pend hostile"},
		{"withheld, late now", judged(it, quarantine.Suspect, true), pending(accepted(), quarantine.Hostile), false, nil, ""},
		{"withheld, clear now", judged(it, quarantine.Clear, false), pending(accepted(), quarantine.Suspect), false, nil, "pend new"},
		{"accepted and withheld, clear now", judged(it, quarantine.Clear, false), pending(accepted(it), quarantine.Suspect), false, nil, "unpend back"},
		{"released", judged(it, quarantine.Suspect, false), released(ReleasedSuspect, it), false, nil, ""},
		{"released, and waiting from before", judged(it, quarantine.Suspect, false), pending(released(ReleasedSuspect, it), quarantine.Suspect), false, nil, "unpend back"},
		{"released, another version", judged(worded, quarantine.Suspect, false), released(ReleasedSuspect, it), true, nil, "pend suspect"},
		{"wording", judged(worded, quarantine.Clear, false), accepted(it), true, nil, "accept wording"},
		{"wording after what was condemned", judged(worded, quarantine.Clear, false), condemned(accepted(it), it.Digest), true, nil, "pend changed"},
		{"wording that is condemned", judged(worded, quarantine.Clear, false), condemned(accepted(it), worded.Digest), true, nil, "pend changed"},
		{"the registrant's next", judged(worded, quarantine.Clear, false), accepted(it), false, own, "accept registrant"},
		{"the registrant's next after what was condemned", judged(worded, quarantine.Clear, false), condemned(accepted(it), it.Digest), false, own, "pend changed"},
		{"the registrant's, condemned", judged(worded, quarantine.Clear, false), condemned(accepted(it), worded.Digest), false, own, "pend changed"},
	} {
		in := Input{Complete: true, Items: []Judged{c.live}, Baseline: c.base, Registered: c.rows}
		got := ""
		for _, m := range Settle(in, c.wording) {
			got += fmt.Sprint(map[Act]string{Pin: "pin", Accept: "accept", Pend: "pend", Unpend: "unpend"}[m.Act], " ", m.By, m.Why)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	late := Input{Complete: true, Items: []Judged{judged(it, quarantine.Suspect, true)}, Baseline: &Baseline{}}
	if m := Settle(late, false); m != nil {
		t.Errorf("first sight is over while the inspector is late: %v", m)
	}
	late.Items[0].Partial = false
	if m := Settle(late, false); !slices.ContainsFunc(m, func(m Move) bool { return m.Act == Sighted }) {
		t.Error("a suspect item keeps first sight from being over")
	}
	if m := Settle(Input{Complete: true, Items: []Judged{clear(it)}, Baseline: condemned(&Baseline{}, it.Digest)}, false); len(m) != 2 || m[0].Act != Pend {
		t.Errorf("pinned at first sight what is condemned: %v", m)
	}
}
