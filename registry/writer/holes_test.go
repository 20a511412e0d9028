package writer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// The tests of this file are attacks that once worked.

// pass gives a tool from one party to another, as both agree.
func (s *stage) pass(x *registry.Tool, from, to party) registry.Command {
	a := s.accept(to, func(c *registry.AcceptClaims) { c.ToolID, c.Gen, c.Mdg = x.Row.Tool, x.Gen, x.Digest })
	return &registry.Transfer{CommandMeta: withProof(from), Holder: s.hold(from, claims(x)), Base: x.Digest, To: to.key.ID, JWK: to.key.JWK(), Accept: a}
}

func (s *stage) ends(x *registry.Tool, by party) registry.Command {
	return &registry.RevokeTool{CommandMeta: withProof(by), Holder: s.hold(by, claims(x)), Base: x.Digest}
}

// TestUndoReachesThroughHands: a thief with the registrant's key passes the tool
// on, or ends it and begins anew; the owner's recovery key still gets it back.
func TestUndoReachesThroughHands(t *testing.T) {
	s := newStage(t)
	id := s.x.Row.Tool
	third := newParty(t)
	do(t, s.w, s.pass(s.x, s.owner, s.other))
	do(t, s.w, s.pass(tool(t, s.w, id), s.other, third))
	do(t, s.w, &registry.UndoTransfer{CommandMeta: withProof(s.rec), Tool: id})
	if got := tool(t, s.w, id); got.Owner != s.owner.key.ID || !got.Live {
		t.Fatalf("after two hands: %+v", got)
	}
	s.refused(t, map[string]refusal{"again": {&registry.UndoTransfer{CommandMeta: withProof(s.rec), Tool: id}, registry.ErrNotFound}})

	do(t, s.w, s.pass(tool(t, s.w, id), s.owner, s.other))
	do(t, s.w, s.ends(tool(t, s.w, id), s.other))
	s.refused(t, map[string]refusal{
		"begins anew":     {s.other.register(site, item(t, "pay", "x")), registry.ErrNameKept},
		"by nobody known": {&registry.UndoTransfer{CommandMeta: withProof(third), Tool: id}, registry.ErrNotOwner},
	})
	do(t, s.w, &registry.UndoTransfer{CommandMeta: withProof(s.rec), Tool: id})
	if got := tool(t, s.w, id); got.Owner != s.owner.key.ID || !got.Live {
		t.Fatalf("after its end: %+v", got)
	}
	if n := must(s.w.Barrier(ctx)).Held(s.owner.key.ID, site); n != 1 {
		t.Errorf("%d names held", n)
	}

	// An operator takes one step back at a time.
	do(t, s.w, s.pass(tool(t, s.w, id), s.owner, s.other))
	do(t, s.w, s.pass(tool(t, s.w, id), s.other, third))
	for _, want := range []party{s.other, s.owner} {
		do(t, s.w, &registry.UndoTransfer{CommandMeta: withProof(s.op), Tool: id})
		if got := tool(t, s.w, id); got.Owner != want.key.ID {
			t.Errorf("one step back: %s", got.Owner)
		}
	}
}

// TestTransfersAreCounted: what is remembered for the undo is bounded.
func TestTransfersAreCounted(t *testing.T) {
	s := newStage(t)
	hands := []party{s.owner, s.other}
	for i := range registry.MaxMoves {
		do(t, s.w, s.pass(tool(t, s.w, s.x.Row.Tool), hands[i%2], hands[(i+1)%2]))
	}
	s.refused(t, map[string]refusal{"one more": {s.pass(tool(t, s.w, s.x.Row.Tool), s.owner, s.other), registry.ErrTooMany}})
}

// TestCondemnedPartiesOnlyEnd: whoever is condemned, owner or delegate, changes
// nothing and gives nothing away, and does not begin anew under the same name.
func TestCondemnedPartiesOnlyEnd(t *testing.T) {
	s := newStage(t)
	overwrite := func(text string) registry.Command {
		return &registry.Replace{CommandMeta: withProof(s.delegate), Holder: s.childs(), Base: s.x.Digest, Item: item(t, "pay", text)}
	}
	do(t, s.w, &registry.Condemn{CommandMeta: withProof(s.op), Principal: s.delegate.id(), Reason: "x"})
	s.refused(t, map[string]refusal{"delegate": {overwrite("y"), registry.ErrCondemned}})
	do(t, s.w, &registry.Condemn{CommandMeta: withProof(s.op), Principal: s.owner.id(), Reason: "x"})
	s.refused(t, map[string]refusal{"transfer": {s.pass(s.x, s.owner, s.other), registry.ErrCondemned}})

	y := registered(t, s.w, s.other, "refund")
	do(t, s.w, &registry.Condemn{CommandMeta: withProof(s.op), Tool: y.Row.Tool, Reason: "x"})
	do(t, s.w, s.ends(tool(t, s.w, y.Row.Tool), s.other))
	z := registered(t, s.w, s.other, "refund")
	if z.Content != labels.Violated || z.Tier(time.Now()) != labels.Red {
		t.Errorf("begun anew: %v, %v", z.Content, z.Tier(time.Now()))
	}
	do(t, s.w, &registry.ReleaseTool{CommandMeta: withProof(s.op), Tool: z.Row.Tool, Base: z.Digest, Reason: "read"})
	if z = tool(t, s.w, z.Row.Tool); z.Content != labels.Inspected {
		t.Errorf("released: %v", z.Content)
	}
}

// TestEnrolmentIsNotGivenAway: under the enrolled policy a transfer admits
// nobody whom a registration would not.
func TestEnrolmentIsNotGivenAway(t *testing.T) {
	s := newStage(t, func(o *writer.Options) { o.Policy = registry.PolicyEnrolled })
	s.refused(t, map[string]refusal{"to anybody": {s.pass(s.x, s.owner, s.other), registry.ErrNotEnrolled}})
	do(t, s.w, &registry.CreatePrincipal{CommandMeta: s.other.meta(), JWK: s.other.key.JWK()})
	do(t, s.w, &registry.EnrolPrincipal{CommandMeta: withProof(s.op), Principal: s.other.id(), Origin: site})
	do(t, s.w, s.pass(s.x, s.owner, s.other))
}

// reads has the service record a topology of the site with these rows.
func (s *stage) reads(t *testing.T, ver, seen uint64, rows string) error {
	t.Helper()
	c := &registry.RecordTopology{CommandMeta: by(""), Seen: seen, Token: fmt.Append(nil, "token", ver), Topology: registry.TopologyData{
		Origin: site, Ver: ver, Site: s.rec.key.ID, Token: credentials.Digest{byte(ver)}, Exp: time.Now().Add(time.Hour).Unix(), Rows: []byte(rows),
	}}
	_, err := s.w.Do(ctx, c)
	return err
}

func (s *stage) row(actions string) string {
	return fmt.Sprintf(`[{"name":"pay","publishers":[%q],"level":"pop","actions":[%s]}]`, s.owner.key.ID, actions)
}

const anything = `"delegate","overwrite","revoke"`

// TestDelegateCostsNoName: a delegate's version is unknown, and the owner whom
// the topology lists keeps the tool.
func TestDelegateCostsNoName(t *testing.T) {
	s := newStage(t)
	if err := s.reads(t, 1, 0, s.row(anything)); err != nil {
		t.Fatal(err)
	}
	if x := tool(t, s.w, s.x.Row.Tool); x.Standing != labels.Attested {
		t.Fatalf("listed owner: %v", x.Standing)
	}
	do(t, s.w, &registry.Replace{CommandMeta: withProof(s.delegate), Holder: s.childs(), Base: s.x.Digest, Item: item(t, "pay", "by a delegate")})
	if x := tool(t, s.w, s.x.Row.Tool); x.Standing != labels.Unknown {
		t.Errorf("delegate's version: %v", x.Standing)
	}
	if err := s.reads(t, 2, topologyIndex(s), s.row(anything)); err != nil {
		t.Fatal(err)
	}
	if x := tool(t, s.w, s.x.Row.Tool); !x.Live || x.Standing != labels.Unknown {
		t.Errorf("after the next reading: live %v, %v", x.Live, x.Standing)
	}
}

func topologyIndex(s *stage) uint64 {
	o, err := must(s.w.Barrier(ctx)).Origin(site)
	if err != nil {
		return 0
	}
	return o.Index
}

// TestReadingsFollowEachOther: a reading that was checked against an older one
// than is on record does not count.
func TestReadingsFollowEachOther(t *testing.T) {
	s := newStage(t)
	if err := s.reads(t, 1, 0, s.row(anything)); err != nil {
		t.Fatal(err)
	}
	if err := s.reads(t, 2, 0, s.row(anything)); err == nil {
		t.Error("a reading checked against nothing replaced the one on record")
	}
}

// TestTopologyNarrowsAtOnce: an action that the site takes away is gone for
// handles from before too.
func TestTopologyNarrowsAtOnce(t *testing.T) {
	s := newStage(t)
	if err := s.reads(t, 1, 0, s.row(`"revoke"`)); err != nil {
		t.Fatal(err)
	}
	s.refused(t, map[string]refusal{
		"overwrite": {&registry.Replace{CommandMeta: withProof(s.owner), Holder: s.mine(), Base: s.x.Digest, Item: item(t, "pay", "y")}, registry.ErrAction},
	})
	do(t, s.w, s.ends(s.x, s.owner))
}

// TestRecoveryKeyCanBeNamedLater: the usual way into the registry, a first
// registration, leaves room for a recovery key, once; recovery takes it along,
// and the kept names.
func TestRecoveryKeyCanBeNamedLater(t *testing.T) {
	s := newStage(t)
	y := registered(t, s.w, s.other, "refund")
	do(t, s.w, &registry.CreatePrincipal{CommandMeta: withProof(s.other), JWK: s.other.key.JWK(), Recovery: s.rec.key.ID})
	s.refused(t, map[string]refusal{
		"another": {&registry.CreatePrincipal{CommandMeta: withProof(s.other), JWK: s.other.key.JWK(), Recovery: s.op.key.ID}, registry.ErrExists},
	})
	do(t, s.w, s.ends(y, s.other))
	third := newParty(t)
	all := s.accept(third, func(c *registry.AcceptClaims) { c.From = s.other.id() })
	do(t, s.w, &registry.RecoverPrincipal{CommandMeta: withProof(s.rec), From: s.other.id(), To: third.key.ID, JWK: third.key.JWK(), Accept: all})
	pr, err := must(s.w.Barrier(ctx)).Principal(third.id())
	if err != nil || pr.Recovery != s.rec.key.ID {
		t.Errorf("recovery key after recovery: %+v, %v", pr, err)
	}
	registered(t, s.w, third, "refund")
}
