package state

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// A story is one tool's life, told by events; what a label would say of it is
// asked after each.
type story struct {
	*history
	owner, other, op credentials.KeyID
	tool             credentials.ToolID
}

func newStory(t *testing.T) *story {
	h := newHistory(t, 11)
	s := &story{history: h, owner: h.key(), other: h.key(), op: h.key(), tool: h.toolID()}
	for _, k := range []credentials.KeyID{s.owner, s.other} {
		h.principal(k)
	}
	h.add(registry.OperatorEnrolled, "", registry.PrincipalData{ID: s.op.Principal(), JWK: []byte(`{}`)})
	s.registered(s.tool, s.owner, "pay")
	return s
}

func (s *story) registered(id credentials.ToolID, by credentials.KeyID, name string) {
	s.add(registry.ToolRegistered, by, registry.ToolData{ID: id, Origin: site, Name: name, Gen: 1, Ver: 1, Mdg: s.digest(), N: 1})
}

// now is the tool as of the last event.
func (s *story) now() *registry.Tool {
	s.t.Helper()
	s.commit()
	x, err := s.db.Read().Tool(s.tool)
	if err != nil {
		s.t.Fatal(err)
	}
	return x
}

func (s *story) next() registry.ToolData { return nextOf(s.now()) }

func nextOf(x *registry.Tool) registry.ToolData {
	return registry.ToolData{ID: x.Row.Tool, Gen: x.Gen, Ver: x.Ver, N: x.Events + 1, Last: x.Index}
}

func (s *story) judged(typ registry.EventType) {
	x := s.now()
	s.add(typ, s.op, registry.ReasonData{Tool: s.tool, Mdg: x.Digest, N: x.Events + 1, Last: x.Index})
}

func (s *story) overwritten(by credentials.KeyID) {
	d, x := s.next(), s.now()
	d.Ver, d.Base, d.Mdg = x.Ver+1, x.Digest, s.digest()
	s.add(registry.ToolOverwritten, by, d)
}

func (s *story) movedTo(typ registry.EventType, to credentials.KeyID) {
	d, x := s.next(), s.now()
	d.Gen, d.From, d.To = x.Gen+1, x.Owner, to
	s.add(typ, x.Owner, d)
}

func (s *story) enrolled(k credentials.KeyID) {
	s.add(registry.PrincipalEnrolled, s.op, registry.EnrolledData{ID: k.Principal(), Origin: site})
}

// read is the site's topology giving names to publishers, good for an hour.
func (s *story) read(ver uint64, name string, publishers ...credentials.KeyID) {
	list := ""
	for _, p := range publishers {
		list += fmt.Sprintf(",%q", p)
	}
	if list != "" {
		list = list[1:]
	}
	rows := fmt.Sprintf(`[{"name":%q,"publishers":[%s],"level":"pop","actions":["overwrite"]}]`, name, list)
	s.add(registry.TopologyRead, "", registry.TopologyData{Origin: site, Ver: ver, Site: s.key(), Token: s.digest(), Exp: s.at/1000 + 3600, Rows: []byte(rows)})
}

// says checks what the row says now; worse means that an earlier label must be
// on the list of lowered ones.
func (s *story) says(what string, st labels.Standing, c labels.Content, tier labels.Tier) *registry.Tool {
	s.t.Helper()
	x := s.now()
	if x.Standing != st || x.Content != c || x.Tier(time.UnixMilli(s.at)) != tier {
		s.t.Errorf("%s: %v/%v %v, want %v/%v %v", what, x.Standing, x.Content, x.Tier(time.UnixMilli(s.at)), st, c, tier)
	}
	return x
}

func (s *story) lowered(what string, want bool) {
	s.t.Helper()
	s.commit()
	x := s.now()
	seq, ok := s.db.Read().Lowered(time.UnixMilli(s.at)).Since(s.tool)
	if ok != want || ok && seq != x.Seq {
		s.t.Errorf("%s: lowered at %d (%v), row is of %d", what, seq, ok, x.Seq)
	}
}

// TestStandingAfterReset is RULES.md 19: transfer, recovery and an unlisted
// delegate's overwrite put a label back to unknown and uninspected; an
// enrolment or a new reading of the topology lifts the present owner.
func TestStandingAfterReset(t *testing.T) {
	for name, reset := range map[string]func(*story){
		"transfer": func(s *story) { s.movedTo(registry.ToolTransferred, s.other) },
		"undo":     func(s *story) { s.movedTo(registry.ToolReturned, s.other) },
		"recovery": func(s *story) {
			s.add(registry.PrincipalRecovered, s.op, registry.RecoveredData{From: s.owner.Principal(), To: s.other.Principal()})
			s.movedTo(registry.ToolTransferred, s.other)
		},
		"delegate": func(s *story) { s.overwritten(s.other) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.says("registered", labels.Unknown, labels.Uninspected, labels.Yellow)
			s.enrolled(s.owner)
			s.judged(registry.ToolReleased)
			s.says("enrolled and released", labels.Attested, labels.Inspected, labels.Green)
			s.lowered("so far", false)
			reset(s)
			x := s.says("after", labels.Unknown, labels.Uninspected, labels.Yellow)
			if x.Seq != s.index-1 {
				t.Errorf("label is of %d, the event was %d", x.Seq, s.index-1)
			}
			s.lowered("after", true)
			s.enrolled(s.other)
			s.says("the new one enrolled", labels.Attested, labels.Uninspected, labels.Yellow)
		})
	}
}

// TestOwnersOverwriteKeepsStanding: a new version of the enrolled owner is
// attested and uninspected, and the label before it counts no more.
func TestOwnersOverwriteKeepsStanding(t *testing.T) {
	s := newStory(t)
	s.enrolled(s.owner)
	s.judged(registry.ToolReleased)
	s.overwritten(s.owner)
	s.says("overwritten", labels.Attested, labels.Uninspected, labels.Yellow)
	s.lowered("overwritten", true)
}

// TestCondemnation is RULES.md 20 and 26: what an operator condemned is red,
// through new versions and new owners, until an operator releases it.
func TestCondemnation(t *testing.T) {
	s := newStory(t)
	s.enrolled(s.owner)
	s.judged(registry.ToolCondemned)
	s.says("condemned", labels.Attested, labels.Violated, labels.Red)
	s.lowered("condemned", true)
	s.overwritten(s.owner)
	s.says("overwritten", labels.Attested, labels.Violated, labels.Red)
	s.movedTo(registry.ToolTransferred, s.other)
	s.says("moved", labels.Unknown, labels.Violated, labels.Red)
	s.judged(registry.ToolReleased)
	s.says("released", labels.Unknown, labels.Inspected, labels.Yellow)

	for what, veto := range map[string]func(*story){
		"principal": func(s *story) { s.add(registry.PrincipalCondemned, s.op, registry.ReasonData{ID: s.owner.Principal()}) },
		"origin":    func(s *story) { s.add(registry.OriginCondemned, s.op, registry.ReasonData{Origin: site}) },
		"delegate": func(s *story) {
			s.overwritten(s.other)
			s.add(registry.PrincipalCondemned, s.op, registry.ReasonData{ID: s.other.Principal()})
		},
	} {
		s := newStory(t)
		s.enrolled(s.owner)
		s.judged(registry.ToolReleased)
		veto(s)
		if x := s.now(); x.Standing != labels.Vetoed || x.Tier(time.UnixMilli(s.at)) != labels.Red {
			t.Errorf("%s condemned: %v", what, x.Standing)
		}
		s.lowered(what, true)
	}
}

// TestTopologyDecides is RULES.md 16, 18 and 19: a reading attests what it
// gives, withholds what it does not cover, vetoes what it gives to others, and
// attests nothing any more when it has expired.
func TestTopologyDecides(t *testing.T) {
	s := newStory(t)
	s.judged(registry.ToolReleased)
	s.read(1, "pay", s.owner)
	x := s.says("given", labels.Attested, labels.Inspected, labels.Green)
	if x.Level != credentials.LevelPoP || x.Withheld {
		t.Errorf("given: %+v", x)
	}
	if late := time.UnixMilli(s.at).Add(time.Hour + time.Minute); x.Tier(late) != labels.Yellow || x.StandingAt(late) != labels.Unknown {
		t.Errorf("expired: %v", x.Tier(late))
	}
	s.read(2, "refund", s.owner)
	if x = s.says("not covered", labels.Unknown, labels.Inspected, labels.Red); !x.Withheld {
		t.Error("not covered, and not withheld")
	}
	s.lowered("not covered", true)
	s.read(3, "pay", s.other)
	s.says("given to others", labels.Vetoed, labels.Inspected, labels.Red)
	v := s.db.Read()
	o, err := v.Origin(site)
	if err != nil || !v.Takes(o.rows, x) {
		t.Error("what is given to others is not taken from whoever holds it")
	}
	if c := v.Weigh(site, "pay", s.owner, time.UnixMilli(s.at)); !c.Violated || c.Attested {
		t.Errorf("registering anew: %+v", c)
	}
	if c := v.Weigh(site, "pay", s.other, time.UnixMilli(s.at)); c.Violated || !c.Attested {
		t.Errorf("whom it is given to: %+v", c)
	}
	if c := v.Weigh(site, "pay", s.other, time.UnixMilli(s.at).Add(2*time.Hour)); c.Attested {
		t.Errorf("expired: %+v", c)
	}
	s.enrolled(s.owner)
	s.says("an enrolment against the site's word", labels.Vetoed, labels.Inspected, labels.Red)
	s.add(registry.ToolRevoked, "", func() registry.ToolData { d := s.next(); d.Gen++; d.Reason = ReasonTopology; return d }())
	s.registered(s.toolID(), s.other, "pay") // the name is not kept for who had it
	s.contradiction(registry.TopologyRead, "", s.reading(site, 2))
}

// TestRevokedNameIsKept is RULES.md 18: a revoked name stays in the tables
// with its last owner, and a new owner means a new tool that carries nothing
// over.
func TestRevokedNameIsKept(t *testing.T) {
	s := newStory(t)
	s.enrolled(s.owner)
	s.judged(registry.ToolReleased)
	d := s.next()
	d.Gen++
	s.add(registry.ToolRevoked, s.owner, d)
	x := s.now()
	if x.Live || !x.Named || x.Owner != s.owner || x.Kept != s.at/1000+int64(registry.NameKept.Seconds()) || x.Tier(time.UnixMilli(s.at)) != labels.Red {
		t.Errorf("revoked: %+v", x)
	}
	id := s.toolID()
	s.registered(id, s.other, "pay") // the writer refuses this before Kept; the tables only keep names apart
	s.commit()
	v := s.db.Read()
	y, err := v.Named(site, "pay")
	if err != nil || y.Row.Tool != id || y.Ver != 1 || y.Standing != labels.Unknown || y.Content != labels.Uninspected {
		t.Errorf("the name's new holder: %+v, %v", y, err)
	}
	if x := s.now(); x.Named || x.Live {
		t.Errorf("the old one: %+v", x)
	}
}

// TestExpiredDelegationsAreForgotten: delegating again and again for a long
// time leaves in the tables what is alive, and little more.
func TestExpiredDelegationsAreForgotten(t *testing.T) {
	s := newStory(t)
	for range 50 {
		s.at += 2 * 60 * 60 * 1000
		s.add(registry.DelegationCreated, s.owner, registry.HandleData{Jti: s.token(), Par: s.token(), Tool: s.tool, Gen: 1, To: s.other, Act: []credentials.Action{credentials.Overwrite}, Exp: s.at/1000 + 600})
	}
	s.commit()
	n := 0
	for range s.db.Read().Delegations(s.tool) {
		n++
	}
	if n > 3 {
		t.Errorf("%d delegations are kept, one is alive", n)
	}
}

// TestHandleLives: a handle lives by generation, owner, jti and delegation,
// asked anew each time (RULES.md 26, 28).
func TestHandleLives(t *testing.T) {
	s := newStory(t)
	own := &credentials.HandleClaims{ToolID: s.tool, Gen: 1, Act: credentials.AllActions(), Cnf: credentials.Confirmation{Jkt: s.owner}}
	own.Jti = s.token()
	del := registry.HandleData{Jti: s.token(), Par: own.Jti, Tool: s.tool, Gen: 1, To: s.other, Act: []credentials.Action{credentials.Overwrite}, Exp: s.at/1000 + 600}
	s.add(registry.DelegationCreated, s.owner, del)
	child := &credentials.HandleClaims{ToolID: s.tool, Gen: 1, Act: del.Act, Cnf: credentials.Confirmation{Jkt: s.other}, Par: own.Jti, Dpt: 1}
	child.Jti = del.Jti
	lives := func(what string, h *credentials.HandleClaims, want error) {
		t.Helper()
		s.commit()
		if err := s.db.Read().Live(h); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	with := func(h credentials.HandleClaims, change func(*credentials.HandleClaims)) *credentials.HandleClaims {
		change(&h)
		return &h
	}
	lives("owner", own, nil)
	lives("delegate", child, nil)
	lives("delegate, wider", with(*child, func(h *credentials.HandleClaims) { h.Act = credentials.AllActions() }), registry.ErrNotOwner)
	lives("delegate, other key", with(*child, func(h *credentials.HandleClaims) { h.Cnf.Jkt = s.op }), registry.ErrNotOwner)
	lives("delegate, other parent", with(*child, func(h *credentials.HandleClaims) { h.Par = s.token() }), registry.ErrNotOwner)
	lives("delegate, invented", with(*child, func(h *credentials.HandleClaims) { h.Jti = s.token() }), registry.ErrHandleRevoked)
	lives("other key", with(*own, func(h *credentials.HandleClaims) { h.Cnf.Jkt = s.other }), registry.ErrNotOwner)
	lives("other generation", with(*own, func(h *credentials.HandleClaims) { h.Gen = 2 }), registry.ErrStaleGeneration)
	lives("no tool", with(*own, func(h *credentials.HandleClaims) { h.ToolID = s.toolID() }), registry.ErrNotFound)
	foreign := s.toolID()
	s.registered(foreign, s.other, "refund")
	s.add(registry.HandleRevoked, s.other, registry.HandleData{Jti: own.Jti, Tool: foreign, Gen: 1, Exp: s.at/1000 + 600})
	lives("revoked by another tool's holder", own, nil)
	s.add(registry.HandleRevoked, s.owner, registry.HandleData{Jti: own.Jti, Tool: s.tool, Gen: 1, Exp: s.at/1000 + 600})
	lives("revoked", own, registry.ErrHandleRevoked)
	lives("child of a revoked", child, registry.ErrHandleRevoked)
	d := s.next()
	d.Gen++
	s.add(registry.HandlesRevoked, s.owner, d)
	s.commit()
	for d := range s.db.Read().Delegations(s.tool) {
		t.Errorf("a delegation outlived its generation: %+v", d)
	}
	s.movedTo(registry.ToolTransferred, s.other)
	lives("after the transfer", own, registry.ErrStaleGeneration)
	lives("delegate after the transfer", child, registry.ErrStaleGeneration)
	s.lowered("a new generation", true)
}
