package state

import (
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

func conductOf(x *registry.Tool, c labels.Content) registry.ConductData {
	return registry.ConductData{Tool: x.Row.Tool, Gen: x.Gen, Ver: x.Ver, Mdg: x.Digest, Content: c, N: x.Events + 1, Last: x.Index}
}

// conduct adds what an inspector, the gateway or an observer says of a live tool,
// or what none of them may.
func (h *history) conduct() {
	id, x := h.live()
	h.begin()
	rec, err := h.tx.Tool(id)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.r.IntN(5) == 0 { // an observer
		k := h.owner()
		if p, _ := h.tx.Principal(k.Principal()); p.Condemned {
			return
		}
		d := conductOf(rec, labels.Suspect)
		d.Token, d.Jti, d.Exp = h.digest(), h.token(), h.at/1000+60
		if !h.tx.IsObserver(k) {
			h.contradiction(registry.ToolObserved, k, d)
			h.add(registry.ObserverEnrolled, h.keys[0], registry.ObserverData{ID: k.Principal()})
		}
		h.add(registry.ToolObserved, k, d)
		h.did(x)
		if h.r.IntN(4) == 0 {
			h.add(registry.ObserverDismissed, h.keys[0], registry.ObserverData{ID: k.Principal()})
		}
		return
	}
	typ := pick(h, []registry.EventType{registry.ToolInspected, registry.ToolObserved})
	d := conductOf(rec, labels.Content(h.r.IntN(5)))
	if d.Content == labels.Consistent {
		d.Until = h.at/1000 + 3600
	}
	was := rec.Content
	allowed := d.Content != labels.Uninspected && d.Content < was ||
		typ == registry.ToolInspected && was == labels.Uninspected && d.Content == labels.Inspected ||
		typ == registry.ToolObserved && was >= labels.Inspected && d.Content == labels.Consistent
	if !allowed {
		h.contradiction(typ, "", d)
		return
	}
	h.add(typ, "", d)
	h.did(x)
}

// conducted is one of the events, as a story tells it.
func (s *story) conducted(typ registry.EventType, c labels.Content) {
	d := conductOf(s.now(), c)
	if c == labels.Consistent {
		d.Until = s.at/1000 + 3600
	}
	s.add(typ, "", d)
}

func (s *story) reported(by credentials.KeyID) {
	d := conductOf(s.now(), labels.Suspect)
	d.Token, d.Jti, d.Exp = s.digest(), s.token(), s.at/1000+60
	s.add(registry.ToolObserved, by, d)
}

// TestInspected: what nobody has looked at becomes what an inspection says; an
// inspection clears nothing else, and only a release lifts what is doubtful
// (RULES.md 20).
func TestInspected(t *testing.T) {
	s := newStory(t)
	s.enrolled(s.owner)
	s.conducted(registry.ToolInspected, labels.Inspected)
	s.says("cleared", labels.Attested, labels.Inspected, labels.Green)
	s.conducted(registry.ToolInspected, labels.Suspect)
	s.says("inspected again, by another engine", labels.Attested, labels.Suspect, labels.Yellow)
	s.lowered("and so lowered", true)
	s.contradiction(registry.ToolInspected, "", conductOf(s.now(), labels.Inspected))
	s.judged(registry.ToolReleased)
	s.says("released", labels.Attested, labels.Inspected, labels.Green)
	s.overwritten(s.owner)
	s.says("another version", labels.Attested, labels.Uninspected, labels.Yellow)
	s.conducted(registry.ToolInspected, labels.Violated)
	s.says("hostile", labels.Attested, labels.Violated, labels.Red)
	for _, c := range []labels.Content{labels.Suspect, labels.Uninspected, labels.Inspected, labels.Consistent} {
		s.contradiction(registry.ToolInspected, "", conductOf(s.now(), c))
	}
	old := conductOf(s.now(), labels.Violated)
	s.judged(registry.ToolReleased)
	s.contradiction(registry.ToolInspected, "", old) // of before the release
	s.contradiction(registry.ToolInspected, s.op, conductOf(s.now(), labels.Suspect))
}

// TestConsistent: only what was inspected becomes consistent, by an event, until a
// time; a contradiction ends it at once, and only a release that.
func TestConsistent(t *testing.T) {
	s := newStory(t)
	d := conductOf(s.now(), labels.Consistent)
	d.Until = s.at/1000 + 3600
	s.contradiction(registry.ToolObserved, "", d)
	s.conducted(registry.ToolInspected, labels.Inspected)
	s.enrolled(s.owner)
	s.conducted(registry.ToolObserved, labels.Consistent)
	x := s.says("consistent", labels.Attested, labels.Consistent, labels.Green)
	if c := x.ContentAt(time.Unix(x.Until, 0)); c != labels.Inspected {
		t.Errorf("when it has expired: %v", c)
	}
	if c := x.ContentAt(time.Unix(x.Until-1, 0)); c != labels.Consistent {
		t.Errorf("before that: %v", c)
	}
	seq := x.Seq
	s.conducted(registry.ToolObserved, labels.Consistent)
	if y := s.now(); y.Until <= x.Until-1 || y.Seq == seq {
		t.Errorf("prolonged: %+v", y)
	}
	s.contradiction(registry.ToolObserved, "", conductOf(s.now(), labels.Consistent)) // for ever
	s.conducted(registry.ToolObserved, labels.Violated)
	if x := s.says("contradicted", labels.Attested, labels.Violated, labels.Red); x.Until != 0 {
		t.Error("and still consistent until", x.Until)
	}
	s.lowered("contradicted", true)
	s.contradiction(registry.ToolObserved, "", d)
	s.judged(registry.ToolReleased)
	s.says("released", labels.Attested, labels.Inspected, labels.Green)
	s.conducted(registry.ToolObserved, labels.Consistent)
	s.movedTo(registry.ToolTransferred, s.other)
	if x := s.says("another owner", labels.Unknown, labels.Uninspected, labels.Yellow); x.Until != 0 {
		t.Error("consistency went along")
	}
}

// TestReported: an observer's word makes a version suspect at most, and stands as
// a review until an operator judges or the version goes.
func TestReported(t *testing.T) {
	for name, end := range map[string]func(*story){
		"release":     func(s *story) { s.judged(registry.ToolReleased) },
		"condemn":     func(s *story) { s.judged(registry.ToolCondemned) },
		"overwritten": func(s *story) { s.overwritten(s.owner) },
		"transferred": func(s *story) { s.movedTo(registry.ToolTransferred, s.op) },
		"revoked": func(s *story) {
			d := s.next()
			d.Gen++
			s.add(registry.ToolRevoked, s.owner, d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			d := conductOf(s.now(), labels.Suspect)
			d.Token, d.Jti, d.Exp = s.digest(), s.token(), s.at/1000+60
			s.contradiction(registry.ToolObserved, s.other, d) // no observer
			s.add(registry.ObserverEnrolled, s.op, registry.ObserverData{ID: s.other.Principal()})
			s.add(registry.ObserverEnrolled, s.op, registry.ObserverData{ID: s.op.Principal()})
			worse, praise := d, d
			worse.Content, praise.Content = labels.Violated, labels.Inspected
			s.contradiction(registry.ToolObserved, s.other, worse)
			s.contradiction(registry.ToolObserved, s.other, praise)
			s.contradiction(registry.ToolInspected, s.other, d)
			s.enrolled(s.owner)
			s.conducted(registry.ToolInspected, labels.Inspected)
			s.conducted(registry.ToolObserved, labels.Consistent)
			s.reported(s.other)
			s.says("reported", labels.Attested, labels.Suspect, labels.Yellow)
			s.lowered("reported", true)
			s.reported(s.op)
			s.reported(s.op) // of an observer the newest stands
			s.commit()
			v := s.db.Read()
			if !v.HasReview(s.tool, s.op) || !v.HasReview(s.tool, s.other) || len(collect(v.Reviews(""), nil)) != 2 {
				t.Error("the reviews are not those two")
			}
			end(s)
			s.commit()
			if n := len(collect(s.db.Read().Reviews(""), nil)); n != 0 {
				t.Errorf("%d reviews are left", n)
			}
			s.add(registry.ObserverDismissed, s.op, registry.ObserverData{ID: s.other.Principal()})
			s.commit()
			if s.db.Read().IsObserver(s.other) {
				t.Error("dismissed, and still an observer")
			}
		})
	}
}

// TestObserversAreNotOthers: neither an enrolment for an origin nor being an
// operator makes an observer, and a condemned or moved one is none.
func TestObserversAreNotOthers(t *testing.T) {
	s := newStory(t)
	s.enrolled(s.other)
	s.commit()
	for _, k := range []credentials.KeyID{s.owner, s.other, s.op, s.key()} {
		if s.db.Read().IsObserver(k) {
			t.Errorf("%s is one", k)
		}
	}
	for _, k := range []credentials.KeyID{s.owner, s.other} {
		s.add(registry.ObserverEnrolled, s.op, registry.ObserverData{ID: k.Principal()})
	}
	s.add(registry.PrincipalCondemned, s.op, registry.ReasonData{ID: s.other.Principal()})
	s.add(registry.PrincipalRecovered, s.op, registry.RecoveredData{From: s.owner.Principal(), To: s.op.Principal()})
	s.commit()
	for _, k := range []credentials.KeyID{s.owner, s.other} {
		if s.db.Read().IsObserver(k) {
			t.Errorf("%s still is one", k)
		}
	}
	s.contradiction(registry.ObserverEnrolled, s.op, registry.ObserverData{ID: s.key().Principal()})
}
