package writer_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// A stage is a registry with an owner, a delegate, a stranger and an operator,
// to hold commands against.
type stage struct {
	*desk
	w                               *writer.Writer
	owner, delegate, other, op, rec party
	x                               *registry.Tool
	par                             credentials.HandleClaims // the owner's handle that was delegated from
	child                           credentials.HandleClaims // the delegate's
}

func newStage(t testing.TB, change ...func(*writer.Options)) *stage {
	t.Helper()
	s := &stage{desk: newDesk(t), w: openWriter(t, openLog(t, newFolder(t)), change...), owner: newParty(t), delegate: newParty(t), other: newParty(t), op: newParty(t), rec: newParty(t)}
	do(t, s.w, &registry.EnrolOperator{CommandMeta: by(""), JWK: s.op.key.JWK()})
	do(t, s.w, &registry.CreatePrincipal{CommandMeta: s.owner.meta(), JWK: s.owner.key.JWK(), Recovery: s.rec.key.ID})
	if s.enrolledOnly() {
		do(t, s.w, &registry.EnrolPrincipal{CommandMeta: s.op.meta(), Principal: s.owner.id(), Origin: site})
	}
	s.x = registered(t, s.w, s.owner, "pay")
	s.par = claims(s.x)
	c := &registry.CreateDelegation{CommandMeta: s.owner.meta(), Holder: s.hold(s.owner, s.par), Jti: credentials.TokenID(random()),
		To: s.delegate.key.ID, JWK: s.delegate.key.JWK(), Act: []credentials.Action{credentials.Overwrite}, Exp: time.Now().Add(30 * time.Minute)}
	do(t, s.w, c)
	s.child = claims(s.x)
	s.child.Jti, s.child.Cnf.Jkt, s.child.Act, s.child.Par, s.child.Dpt = c.Jti, s.delegate.key.ID, c.Act, s.par.Jti, 1
	return s
}

func (s *stage) enrolledOnly() bool {
	_, err := s.w.Do(ctx, s.other.register("https://probe.example", item(s.t, "probe", "p")))
	return errors.Is(err, registry.ErrNotEnrolled)
}

func (s *stage) mine() registry.Holder   { return s.hold(s.owner, claims(s.x)) }
func (s *stage) childs() registry.Holder { return s.hold(s.delegate, s.child) }

// refused sends commands that must be refused by name and change nothing.
func (s *stage) refused(t *testing.T, cases map[string]refusal) {
	t.Helper()
	before := must(s.w.Barrier(ctx)).Head
	for name, c := range cases {
		if _, err := s.w.Do(ctx, c.cmd); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
	}
	if after := must(s.w.Barrier(ctx)).Head; after != before {
		t.Errorf("the log grew from %d to %d", before.Size, after.Size)
	}
}

type refusal struct {
	cmd registry.Command
	err error
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestZeroHolderHoldsNothing: a command whose handle was never opened is
// refused, and the committer goes on.
func TestZeroHolderHoldsNothing(t *testing.T) {
	s := newStage(t)
	it := item(t, "pay", "New.")
	s.refused(t, map[string]refusal{
		"replace":           {&registry.Replace{CommandMeta: s.owner.meta(), Base: s.x.Digest, Item: it}, registry.ErrNotOwner},
		"revoke tool":       {&registry.RevokeTool{CommandMeta: s.owner.meta(), Base: s.x.Digest}, registry.ErrNotOwner},
		"transfer":          {&registry.Transfer{CommandMeta: s.owner.meta(), Base: s.x.Digest, To: s.other.key.ID, JWK: s.other.key.JWK()}, registry.ErrNotOwner},
		"revoke handles":    {&registry.RevokeHandles{CommandMeta: s.owner.meta()}, registry.ErrNotOwner},
		"revoke handle":     {&registry.RevokeHandle{CommandMeta: s.owner.meta(), Jti: s.par.Jti}, registry.ErrNotOwner},
		"create delegation": {&registry.CreateDelegation{CommandMeta: s.owner.meta(), Jti: "x", To: s.other.key.ID}, registry.ErrNotOwner},
		"revoke delegation": {&registry.RevokeDelegation{CommandMeta: s.owner.meta(), Jti: s.child.Jti}, registry.ErrNotOwner},
		// With a right handle, a zero acceptance accepts nothing.
		"transfer, nobody accepts": {&registry.Transfer{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: s.x.Digest, To: s.other.key.ID, JWK: s.other.key.JWK()}, registry.ErrNotHeld},
		"recovery, nobody accepts": {&registry.RecoverPrincipal{CommandMeta: s.rec.meta(), From: s.owner.id(), To: s.other.key.ID, JWK: s.other.key.JWK()}, registry.ErrNotHeld},
		"nobody":                   {&registry.RevokeTool{CommandMeta: registry.CommandMeta{ID: "0123456789abcdef"}, Holder: s.mine(), Base: s.x.Digest}, registry.ErrNotOwner},
		"no id":                    {&registry.RevokeTool{CommandMeta: registry.CommandMeta{Caller: registry.UnsafeLocal(s.owner.key.ID)}, Holder: s.mine(), Base: s.x.Digest}, registry.ErrNotOwner},
		"unknown command":          {&unknownCommand{s.owner.meta()}, registry.ErrNotFound},
	})
}

type unknownCommand struct{ registry.CommandMeta }

// TestHandlesAreRefusedByName: what a handle does not carry, or is not good
// for any more.
func TestHandlesAreRefusedByName(t *testing.T) {
	s := newStage(t)
	it := item(t, "pay", "New.")
	stale, narrow := claims(s.x), claims(s.x)
	stale.Gen++
	narrow.Act = []credentials.Action{credentials.Revoke}
	wider, deeper := s.child, s.child
	wider.Act = []credentials.Action{credentials.Overwrite, credentials.Revoke}
	deeper.Act = []credentials.Action{credentials.Delegate}
	foreign := claims(s.x)
	foreign.Sub, foreign.Cnf.Jkt = s.other.id(), s.other.key.ID
	old := sha256.Sum256([]byte("another version"))
	delegation := func(h registry.Holder, act []credentials.Action, exp time.Duration, to party) registry.Command {
		return &registry.CreateDelegation{CommandMeta: s.owner.meta(), Holder: h, Jti: credentials.TokenID(random()), To: to.key.ID, JWK: to.key.JWK(), Act: act, Exp: time.Now().Add(exp)}
	}
	write := []credentials.Action{credentials.Overwrite}
	s.refused(t, map[string]refusal{
		"generation":           {&registry.Replace{CommandMeta: s.owner.meta(), Holder: s.hold(s.owner, stale), Base: s.x.Digest, Item: it}, registry.ErrStaleGeneration},
		"action":               {&registry.Replace{CommandMeta: s.owner.meta(), Holder: s.hold(s.owner, narrow), Base: s.x.Digest, Item: it}, registry.ErrAction},
		"base":                 {&registry.Replace{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: old, Item: it}, registry.ErrStaleBase},
		"unchanged":            {&registry.Replace{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: s.x.Digest, Item: item(t, "pay", "Does pay.")}, registry.ErrUnchanged},
		"other name":           {&registry.Replace{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: s.x.Digest, Item: item(t, "refund", "x")}, registry.ErrNotFound},
		"not the owner":        {&registry.Replace{CommandMeta: s.other.meta(), Holder: s.hold(s.other, foreign), Base: s.x.Digest, Item: it}, registry.ErrNotOwner},
		"revoke, base":         {&registry.RevokeTool{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: old}, registry.ErrStaleBase},
		"delegate: wider":      {&registry.RevokeTool{CommandMeta: s.delegate.meta(), Holder: s.hold(s.delegate, wider), Base: s.x.Digest}, registry.ErrNotOwner},
		"delegate: deep":       {delegation(s.hold(s.delegate, deeper), write, time.Minute, s.other), registry.ErrNotOwner},
		"delegate ends":        {&registry.RevokeHandles{CommandMeta: s.delegate.meta(), Holder: s.childs()}, registry.ErrNotOwner},
		"delegate ends parent": {&registry.RevokeHandle{CommandMeta: s.delegate.meta(), Holder: s.childs(), Jti: s.par.Jti}, registry.ErrNotOwner},
		"delegates delegation": {&registry.RevokeDelegation{CommandMeta: s.delegate.meta(), Holder: s.childs(), Jti: s.child.Jti}, registry.ErrNotOwner},
		"re-delegable":         {delegation(s.mine(), []credentials.Action{credentials.Delegate}, time.Minute, s.other), registry.ErrDepth},
		"too long":             {delegation(s.mine(), write, 2*time.Hour, s.other), registry.ErrWider},
		"in the past":          {delegation(s.mine(), write, -time.Minute, s.other), registry.ErrTooLate},
		"to the owner":         {delegation(s.mine(), write, time.Minute, s.owner), registry.ErrExists},
		"no actions":           {delegation(s.mine(), nil, time.Minute, s.other), credentials.ErrAction},
		"delegation unknown":   {&registry.RevokeDelegation{CommandMeta: s.owner.meta(), Holder: s.mine(), Jti: "0123456789abcdef"}, registry.ErrNotFound},
	})
	do(t, s.w, &registry.RevokeHandle{CommandMeta: s.owner.meta(), Holder: s.mine(), Jti: s.par.Jti})
	s.refused(t, map[string]refusal{
		"revoked":            {&registry.Replace{CommandMeta: s.owner.meta(), Holder: s.hold(s.owner, s.par), Base: s.x.Digest, Item: it}, registry.ErrHandleRevoked},
		"child of a revoked": {&registry.Replace{CommandMeta: s.delegate.meta(), Holder: s.childs(), Base: s.x.Digest, Item: it}, registry.ErrHandleRevoked},
		"twice":              {&registry.RevokeHandle{CommandMeta: s.owner.meta(), Holder: s.mine(), Jti: s.par.Jti}, registry.ErrExists},
	})
	do(t, s.w, &registry.RevokeTool{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: s.x.Digest})
	s.refused(t, map[string]refusal{
		"tool revoked": {&registry.Replace{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: s.x.Digest, Item: it}, registry.ErrToolRevoked},
		"name kept":    {s.other.register(site, it), registry.ErrNameKept},
	})
}

// TestForeignHandleIsNotRevoked: the log shows everybody the jtis of parents
// and children; naming one with a handle of another tool ends nothing.
func TestForeignHandleIsNotRevoked(t *testing.T) {
	s := newStage(t)
	y := registered(t, s.w, s.other, "refund")
	for _, jti := range []credentials.TokenID{s.par.Jti, s.child.Jti} {
		if _, err := s.w.Do(ctx, &registry.RevokeHandle{CommandMeta: s.other.meta(), Holder: s.hold(s.other, claims(y)), Jti: jti}); err != nil {
			t.Logf("refused: %v", err)
		}
	}
	c := &registry.RevokeDelegation{CommandMeta: s.other.meta(), Holder: s.hold(s.other, claims(y)), Jti: s.child.Jti}
	if _, err := s.w.Do(ctx, c); !errors.Is(err, registry.ErrNotOwner) {
		t.Errorf("foreign delegation revoked: %v", err)
	}
	do(t, s.w, &registry.Replace{CommandMeta: s.delegate.meta(), Holder: s.childs(), Base: s.x.Digest, Item: item(t, "pay", "By the delegate.")})
	if got := tool(t, s.w, s.x.Row.Tool); got.Ver != 2 || got.Publisher != s.delegate.key.ID {
		t.Errorf("the delegate's handle was ended: %+v", got)
	}
}

// TestRegistrationsAreRefusedByName covers names, origins, policy and quotas
// (RULES.md 16, 18, 40).
func TestRegistrationsAreRefusedByName(t *testing.T) {
	q := registry.DefaultQuotas()
	q.NamesPerOrigin, q.ToolsPerOwner = 3, 4
	s := newStage(t, func(o *writer.Options) { o.Quotas = &q })
	it := func(n string) registry.Item { return item(t, n, "x") }
	short := s.other.register(site, it("a"), it("b"))
	short.IDs = short.IDs[:1]
	var many []registry.Item
	for i := range registry.MaxBatch + 1 {
		many = append(many, registry.Item{Name: fmt.Sprint("t", i), Digest: s.x.Digest, Canonical: []byte("{}")})
	}
	anonymous := s.rec.register(site, it("a"))
	anonymous.JWK = nil
	proved := s.other.register("stdio:files", it("a"))
	s.refused(t, map[string]refusal{
		"held by another, no second record": {s.contested("pay"), registry.ErrNameTaken},
		"own name":                          {s.owner.register(site, it("pay")), registry.ErrNameTaken},
		"twice in one request":              {s.other.register(site, it("a"), it("a")), registry.ErrNameTaken},
		"none":                              {s.other.register(site), registry.ErrTooMany},
		"too many":                          {s.other.register(site, many...), registry.ErrTooMany},
		"ids do not fit":                    {short, registry.ErrTooMany},
		"names at one origin":               {s.other.register(site, it("a"), it("b"), it("c"), it("d")), registry.ErrTooMany},
		"tools in all":                      {s.owner.register("https://b.example", it("a"), it("b"), it("c"), it("d")), registry.ErrTooMany},
		"name":                              {s.other.register(site, it("a b")), credentials.ErrToolName},
		"origin":                            {s.other.register("ftp://x", it("a")), origin.ErrScheme},
		"origin's form":                     {s.other.register("https://TOOLS.example", it("a")), origin.ErrForm},
		"no principal":                      {anonymous, registry.ErrNotFound},
	})
	if _, err := s.w.Do(ctx, proved); err != nil { // these callers are local; a proved one is not
		t.Errorf("the gateway's own origin: %v", err)
	}
	do(t, s.w, &registry.Condemn{CommandMeta: s.op.meta(), Origin: "https://bad.example", Reason: "phish"})
	do(t, s.w, &registry.Condemn{CommandMeta: s.op.meta(), Principal: s.other.id(), Reason: "phish"})
	s.refused(t, map[string]refusal{
		"condemned origin":    {s.owner.register("https://bad.example", it("a")), registry.ErrCondemned},
		"endpoint of it":      {s.owner.register("https://bad.example/mcp", it("a")), registry.ErrCondemned},
		"condemned principal": {s.other.register(site, it("z")), registry.ErrCondemned},
	})
}

// contested is a command for a name that its sender claimed in vain before.
func (s *stage) contested(name string) registry.Command {
	c := s.other.register(site, item(s.t, name, "Steals."))
	if _, err := s.w.Do(ctx, c); !errors.Is(err, registry.ErrNameTaken) {
		s.t.Errorf("contest: %v", err)
	}
	return s.other.register(site, item(s.t, name, "Steals again."))
}

func TestOnlyEnrolledRegister(t *testing.T) {
	s := newStage(t, func(o *writer.Options) { o.Policy = "" }) // the zero policy is the strict one
	s.refused(t, map[string]refusal{
		"stranger":     {s.other.register(site, item(t, "a", "x")), registry.ErrNotEnrolled},
		"other origin": {s.owner.register("https://b.example", item(t, "a", "x")), registry.ErrNotEnrolled},
		"not operator": {&registry.EnrolPrincipal{CommandMeta: withProof(s.owner), Principal: s.owner.id(), Origin: "https://b.example"}, registry.ErrNotOperator},
	})
}

// withProof is a caller that is not the service itself.
func withProof(p party) registry.CommandMeta {
	m := p.meta()
	m.Caller = proved(p)
	return m
}

// TestOperatorsActs: what only an operator or the service itself may do
// (RULES.md 26), and what even they may not.
func TestOperatorsActs(t *testing.T) {
	s := newStage(t)
	o := withProof(s.other)
	agent := credentials.AgentID("agt_" + strings.TrimPrefix(string(newTool()), "tool_"))
	for name, c := range map[string]registry.Command{
		"enrol": &registry.EnrolPrincipal{CommandMeta: o, Principal: s.owner.id(), Origin: site}, "condemn tool": &registry.Condemn{CommandMeta: o, Tool: s.x.Row.Tool},
		"condemn principal": &registry.Condemn{CommandMeta: o, Principal: s.owner.id()}, "condemn origin": &registry.Condemn{CommandMeta: o, Origin: site},
		"release": &registry.ReleaseTool{CommandMeta: o, Tool: s.x.Row.Tool, Base: s.x.Digest}, "agent": &registry.CreateAgent{CommandMeta: o, Agent: agent},
		"end agent": &registry.RevokeAgent{CommandMeta: o, Agent: agent}, "operator": &registry.EnrolOperator{CommandMeta: o, JWK: s.other.key.JWK()},
		"keys": &registry.RecordKeys{CommandMeta: o}, "topology": &registry.RecordTopology{CommandMeta: o}, "restore": &registry.RecordRestore{CommandMeta: o}, "anchor": &registry.RecordAnchor{CommandMeta: o},
	} {
		s.refused(t, map[string]refusal{name: {c, registry.ErrNotOperator}})
	}
	op := withProof(s.op)
	next := func() registry.CommandMeta { op.ID = registry.CommandID(random()); return op }
	s.refused(t, map[string]refusal{
		"operators key is no handle": {&registry.Replace{CommandMeta: next(), Base: s.x.Digest, Item: item(t, "pay", "x")}, registry.ErrNotOwner},
		"release, other version":     {&registry.ReleaseTool{CommandMeta: next(), Tool: s.x.Row.Tool}, registry.ErrStaleBase},
		"condemns itself":            {&registry.Condemn{CommandMeta: next(), Principal: s.op.id()}, registry.ErrNotOperator},
		"unknown principal":          {&registry.Condemn{CommandMeta: next(), Principal: s.rec.id()}, registry.ErrNotFound},
		"unknown tool":               {&registry.Condemn{CommandMeta: next(), Tool: newTool()}, registry.ErrNotFound},
		"keys are the service's":     {&registry.RecordKeys{CommandMeta: next()}, registry.ErrNotOperator},
		"operators are the host's":   {&registry.EnrolOperator{CommandMeta: next(), JWK: s.other.key.JWK()}, registry.ErrNotOperator},
		"enrol, form":                {&registry.EnrolPrincipal{CommandMeta: next(), Principal: s.owner.id(), Origin: "https://X.example"}, origin.ErrForm},
		"enrol, unknown":             {&registry.EnrolPrincipal{CommandMeta: next(), Principal: s.rec.id(), Origin: site}, registry.ErrNotFound},
		"agent unknown":              {&registry.RevokeAgent{CommandMeta: next(), Agent: agent}, registry.ErrNotFound},
		"principal again":            {&registry.CreatePrincipal{CommandMeta: s.owner.meta(), JWK: s.owner.key.JWK()}, registry.ErrExists},
		"own recovery key":           {&registry.CreatePrincipal{CommandMeta: s.other.meta(), JWK: s.other.key.JWK(), Recovery: s.other.key.ID}, registry.ErrExists},
		"anchors are the service's":  {&registry.RecordAnchor{CommandMeta: next(), Anchor: registry.AnchorData{Spool: "spool_1", Size: 1}}, registry.ErrNotOperator},
		"anchor of nothing":          {&registry.RecordAnchor{CommandMeta: by("")}, registry.ErrNotFound},
		"no changes":                 {&registry.RecordKeys{CommandMeta: by("")}, registry.ErrUnchanged},
	})
	do(t, s.w, &registry.Condemn{CommandMeta: next(), Tool: s.x.Row.Tool})
	s.refused(t, map[string]refusal{"again": {&registry.Condemn{CommandMeta: next(), Tool: s.x.Row.Tool}, registry.ErrExists}})
	y := registered(t, s.w, s.op, "own") // nobody releases their own tool
	s.refused(t, map[string]refusal{"own tool": {&registry.ReleaseTool{CommandMeta: next(), Tool: y.Row.Tool, Base: y.Digest}, registry.ErrNotOperator}})
}

// TestTransferUndoRecovery is RULES.md 26: both sides' proofs, spent once, an
// undo for 72 hours by recovery key or operator, recovery of everything.
func TestTransferUndoRecovery(t *testing.T) {
	clock := newClock()
	s := newStage(t, func(o *writer.Options) { o.Now = clock.now })
	for_ := func(x *registry.Tool, to party) registry.Acceptance {
		return s.accept(to, func(c *registry.AcceptClaims) { c.ToolID, c.Gen, c.Mdg = x.Row.Tool, x.Gen, x.Digest })
	}
	give := func(x *registry.Tool, a registry.Acceptance, to party) *registry.Transfer {
		return &registry.Transfer{CommandMeta: s.owner.meta(), Holder: s.hold(s.owner, claims(x)), Base: x.Digest, To: to.key.ID, JWK: to.key.JWK(), Accept: a}
	}
	good := for_(s.x, s.other)
	stale := *s.x
	stale.Gen++
	s.refused(t, map[string]refusal{
		"accepted by another":   {give(s.x, for_(s.x, s.delegate), s.other), registry.ErrNotHeld},
		"of another generation": {give(s.x, for_(&stale, s.other), s.other), registry.ErrNotHeld},
		"to itself":             {give(s.x, for_(s.x, s.owner), s.owner), registry.ErrExists},
		"by the recipient":      {&registry.Transfer{CommandMeta: s.other.meta(), Holder: s.childs(), Base: s.x.Digest, To: s.other.key.ID, JWK: s.other.key.JWK(), Accept: good}, registry.ErrAction},
		"nothing to undo":       {&registry.UndoTransfer{CommandMeta: s.rec.meta(), Tool: s.x.Row.Tool}, registry.ErrNotFound},
	})
	do(t, s.w, give(s.x, good, s.other))
	moved := tool(t, s.w, s.x.Row.Tool)
	if moved.Owner != s.other.key.ID || moved.Gen != s.x.Gen+1 {
		t.Fatalf("moved: %+v", moved)
	}
	s.refused(t, map[string]refusal{
		"old handle":       {give(s.x, good, s.other), registry.ErrStaleGeneration},
		"undo by a third":  {&registry.UndoTransfer{CommandMeta: withProof(s.delegate), Tool: s.x.Row.Tool}, registry.ErrNotOwner},
		"undo by old key":  {&registry.UndoTransfer{CommandMeta: withProof(s.owner), Tool: s.x.Row.Tool}, registry.ErrNotOwner},
		"recover by third": {&registry.RecoverPrincipal{CommandMeta: withProof(s.delegate), From: s.owner.id(), To: s.delegate.key.ID, Accept: good}, registry.ErrNotOwner},
	})
	do(t, s.w, &registry.UndoTransfer{CommandMeta: withProof(s.rec), Tool: s.x.Row.Tool})
	back := tool(t, s.w, s.x.Row.Tool)
	if back.Owner != s.owner.key.ID {
		t.Fatalf("undone: %+v", back)
	}
	s.refused(t, map[string]refusal{"spent": {give(back, s.accept(s.other, func(c *registry.AcceptClaims) {
		c.Jti, c.ToolID, c.Gen, c.Mdg = good.Jti(), back.Row.Tool, back.Gen, back.Digest
	}), s.other), registry.ErrSpent}})

	do(t, s.w, give(back, for_(back, s.other), s.other))
	clock.advance(registry.EmergencyHold + time.Minute)
	s.refused(t, map[string]refusal{"undo too late": {&registry.UndoTransfer{CommandMeta: withProof(s.op), Tool: s.x.Row.Tool}, registry.ErrTooLate}})

	y := registered(t, s.w, s.owner, "refund")
	all := s.accept(s.delegate, func(c *registry.AcceptClaims) { c.From = s.owner.id() })
	out := do(t, s.w, &registry.RecoverPrincipal{CommandMeta: withProof(s.rec), From: s.owner.id(), To: s.delegate.key.ID, JWK: s.delegate.key.JWK(), Accept: all})
	if got := tool(t, s.w, y.Row.Tool); got.Owner != s.delegate.key.ID || got.Gen != 2 {
		t.Errorf("recovered: %+v (%d events)", got, len(out.Events))
	}
	s.refused(t, map[string]refusal{
		"the lost key registers": {s.owner.register(site, item(t, "z", "x")), registry.ErrCondemned},
		"again":                  {&registry.RecoverPrincipal{CommandMeta: withProof(s.rec), From: s.owner.id(), To: s.other.key.ID, Accept: all}, registry.ErrExists},
	})
}
