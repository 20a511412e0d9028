package state

import (
	"bytes"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

func usedOf(x *registry.Tool) registry.UsedData {
	return registry.UsedData{Tool: x.Row.Tool, Gen: x.Gen, N: x.Events + 1, Last: x.Index}
}

// use adds the first use of a live tool that it pins, and is refused for others.
func (h *history) use() {
	for range 6 { // a few, since most are attested or not inspected
		id, x := h.live()
		h.begin()
		rec, err := h.tx.Tool(id)
		if err != nil {
			h.t.Fatal(err)
		}
		if !h.tx.Pins(rec) {
			if h.r.IntN(10) == 0 {
				h.contradiction(registry.ToolUsed, "", usedOf(rec))
			}
			continue
		}
		h.add(registry.ToolUsed, "", usedOf(rec))
		h.did(x)
		now, err := h.tx.Tool(id)
		if err != nil || now.Standing != labels.Pinned || now.Seq != h.index-1 || now.Content != rec.Content {
			h.t.Fatalf("used: %+v, %v", now, err)
		}
		h.contradiction(registry.ToolUsed, "", usedOf(now)) // once
		return
	}
}

// used says that the tool was used as it is now.
func (s *story) used() { s.add(registry.ToolUsed, "", usedOf(s.now())) }

// notUsed wants that a use would say nothing of the tool as it is now.
func (s *story) notUsed(what string) {
	s.t.Helper()
	x := s.now()
	if s.db.Read().Pins(x) {
		s.t.Errorf("%s: a use would pin it", what)
	}
	s.contradiction(registry.ToolUsed, "", usedOf(x))
}

// TestFirstUse is RULES.md 19: a tool whose key alone speaks for it is pinned from our
// first cleared use on, and unknown before; nobody but the service says so.
func TestFirstUse(t *testing.T) {
	s := newStory(t)
	s.says("registered", labels.Unknown, labels.Uninspected, labels.Yellow)
	s.notUsed("nobody inspected it")
	s.conducted(registry.ToolInspected, labels.Inspected)
	before := s.says("inspected", labels.Unknown, labels.Inspected, labels.Yellow)
	s.contradiction(registry.ToolUsed, s.owner, usedOf(before))
	s.contradiction(registry.ToolUsed, s.op, usedOf(before))
	another := usedOf(before)
	another.Gen++
	s.contradiction(registry.ToolUsed, "", another)
	s.used()
	x := s.says("used", labels.Pinned, labels.Inspected, labels.Yellow)
	if x.Seq != x.Index || x.Used != x.Index || x.Seq == before.Seq {
		t.Errorf("the label is of %d, the event was %d, used at %d", x.Seq, x.Index, x.Used)
	}
	s.lowered("used", false)
	s.notUsed("twice")
	s.overwritten(s.owner)
	s.says("the same key's next version", labels.Pinned, labels.Uninspected, labels.Yellow)
	s.conducted(registry.ToolInspected, labels.Suspect)
	s.says("which is doubtful", labels.Pinned, labels.Suspect, labels.Yellow)
	db, err := ReadSnapshot(bytes.NewReader(snapshot(t, s.db)))
	if err != nil {
		t.Fatal(err)
	}
	if y, err := db.Read().Tool(s.tool); err != nil || *y != *s.now() || y.Used == 0 {
		t.Errorf("from a snapshot: %+v, %v", y, err)
	}
}

// TestFirstUseOfOthers: what was used under one key says nothing of the next one, nor
// of another generation; a use of what it is now does.
func TestFirstUseOfOthers(t *testing.T) {
	for name, reset := range map[string]func(*story){
		"transfer": func(s *story) { s.movedTo(registry.ToolTransferred, s.other) },
		"undo":     func(s *story) { s.movedTo(registry.ToolReturned, s.other) },
		"recovery": func(s *story) {
			s.add(registry.PrincipalRecovered, s.op, registry.RecoveredData{From: s.owner.Principal(), To: s.other.Principal()})
			s.movedTo(registry.ToolTransferred, s.other)
		},
		"all handles revoked": func(s *story) {
			d := s.next()
			d.Gen++
			s.add(registry.HandlesRevoked, s.owner, d)
		},
		"a delegate's version, and then the owner's": func(s *story) {
			s.overwritten(s.other)
			s.conducted(registry.ToolInspected, labels.Inspected)
			s.says("a delegate's", labels.Unknown, labels.Inspected, labels.Yellow)
			s.notUsed("a delegate's")
			s.overwritten(s.owner)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.conducted(registry.ToolInspected, labels.Inspected)
			old := usedOf(s.now())
			s.used()
			reset(s)
			if x := s.now(); x.Standing != labels.Unknown || x.Used != 0 {
				t.Errorf("after: %v, used at %d", x.Standing, x.Used)
			}
			s.contradiction(registry.ToolUsed, "", old)
			if s.now().Content == labels.Uninspected {
				s.notUsed("after")
				s.conducted(registry.ToolInspected, labels.Inspected)
			}
			s.used()
			s.says("and used", labels.Pinned, labels.Inspected, labels.Yellow)
		})
	}
}

// TestFirstUseSaysNothing: where a use changes nothing, or does not say whose tool was
// used, there is no event of it.
func TestFirstUseSaysNothing(t *testing.T) {
	for name, happen := range map[string]func(*story){
		"attested by the operator": func(s *story) { s.enrolled(s.owner) },
		"attested by the site":     func(s *story) { s.read(1, "pay", s.owner) },
		"the site's are others":    func(s *story) { s.read(1, "mail", s.owner) },
		"suspect":                  func(s *story) { s.conducted(registry.ToolInspected, labels.Suspect) },
		"violated":                 func(s *story) { s.conducted(registry.ToolObserved, labels.Violated) },
		"condemned":                func(s *story) { s.judged(registry.ToolCondemned) },
		"a condemned registrant": func(s *story) {
			s.add(registry.PrincipalCondemned, s.op, registry.ReasonData{ID: s.owner.Principal()})
		},
		"claimed by another": func(s *story) {
			s.add(registry.ToolContested, s.other, registry.ContestData{Origin: site, Name: "pay", Holder: s.tool, Claimant: s.other})
		},
		"revoked": func(s *story) {
			d := s.next()
			d.Gen++
			s.add(registry.ToolRevoked, s.owner, d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.conducted(registry.ToolInspected, labels.Inspected)
			happen(s)
			s.notUsed(name)
		})
	}
}
