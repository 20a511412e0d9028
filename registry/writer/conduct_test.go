package writer_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

// word is p's statement on a tool's version, signed and opened.
func word(t testing.TB, p party, x *registry.Tool, saw ...observe.Sign) (registry.Observation, []byte) {
	t.Helper()
	s, err := envelope.NewSigner(envelope.Observation, p.private)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := s.Sign(claimsOf(p, x, saw...))
	if err != nil {
		t.Fatal(err)
	}
	o, err := registry.OpenObservation(tok, p.key, home, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return o, []byte(tok)
}

func claimsOf(p party, x *registry.Tool, saw ...observe.Sign) registry.ObservationClaims {
	if saw == nil {
		saw = []observe.Sign{}
	}
	return registry.ObservationClaims{
		Registered: credentials.NewRegistered(string(p.id()), credentials.TokenID(random()), time.Now(), 10*time.Minute),
		Aud:        home, Op: registry.ObservationOp, Sub: x.Row.Tool, Gen: x.Gen, Ver: x.Ver, Mdg: x.Digest, Saw: saw,
	}
}

func report(t testing.TB, p party, x *registry.Tool, saw ...observe.Sign) *registry.ReportTool {
	o, tok := word(t, p, x, saw...)
	m := p.meta()
	m.Caller = proved(p)
	return &registry.ReportTool{CommandMeta: m, Tool: x.Row.Tool, Observation: o, Token: tok}
}

func inspected(x *registry.Tool, c labels.Content) *registry.RecordInspection {
	return &registry.RecordInspection{CommandMeta: by(""), Tool: x.Row.Tool, Base: x.Digest, Content: c}
}

func conducted(x *registry.Tool, c labels.Content) *registry.RecordConduct {
	r := &registry.RecordConduct{CommandMeta: by(""), Tool: x.Row.Tool, Gen: x.Gen, Ver: x.Ver, Base: x.Digest, Content: c, Spool: "spool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", Entry: 7}
	if c == labels.Consistent {
		r.Until = time.Now().Add(20 * 24 * time.Hour)
	}
	return r
}

// TestObservers is RULES.md 21: whose word counts, and how much.
func TestObservers(t *testing.T) {
	s := newStage(t)
	watcher, bystander := newParty(t), newParty(t)
	do(t, s.w, &registry.CreatePrincipal{CommandMeta: watcher.meta(), JWK: watcher.key.JWK()})
	enrol := func(p party, who registry.Caller) *registry.EnrolObserver {
		m := by("")
		m.Caller = who
		return &registry.EnrolObserver{CommandMeta: m, Principal: p.id()}
	}
	s.refused(t, map[string]refusal{
		"not enrolled":            {report(t, watcher, s.x, observe.OutputUnfit), registry.ErrNotObserver},
		"not even known":          {report(t, bystander, s.x, observe.OutputUnfit), registry.ErrNotObserver},
		"enrolled by itself":      {enrol(watcher, proved(watcher)), registry.ErrNotOperator},
		"enrolled, not known":     {enrol(bystander, proved(s.op)), registry.ErrNotFound},
		"dismissed, never one":    {&registry.DismissObserver{CommandMeta: s.op.meta(), Principal: watcher.id()}, registry.ErrExists},
		"inspection by a key":     {withCaller(inspected(s.x, labels.Suspect), proved(s.op)), registry.ErrNotOperator},
		"conduct by an operator":  {withCaller(conducted(s.x, labels.Violated), proved(s.op)), registry.ErrNotOperator},
		"conduct without a call":  {func() registry.Command { c := conducted(s.x, labels.Violated); c.Spool = ""; return c }(), registry.ErrNotFound},
		"consistent, uninspected": {conducted(s.x, labels.Consistent), registry.ErrUnchanged},
	})
	do(t, s.w, inspected(s.x, labels.Inspected))
	for _, p := range []party{watcher, s.owner, s.delegate} {
		do(t, s.w, enrol(p, proved(s.op)))
	}
	do(t, s.w, &registry.CreatePrincipal{CommandMeta: s.rec.meta(), JWK: s.rec.key.JWK()})
	do(t, s.w, enrol(s.rec, proved(s.op)))
	do(t, s.w, enrol(s.other, proved(s.op)))
	do(t, s.w, &registry.EnrolPrincipal{CommandMeta: s.op.meta(), Principal: s.other.id(), Origin: site})
	wrong := func(change func(x *registry.Tool)) registry.Command {
		y := *s.x
		change(&y)
		r := report(t, watcher, &y, observe.OutputUnfit)
		r.Tool = s.x.Row.Tool
		return r
	}
	zero := report(t, watcher, s.x, observe.OutputUnfit)
	zero.Observation = registry.Observation{}
	s.refused(t, map[string]refusal{
		"its owner":           {report(t, s.owner, s.x, observe.OutputUnfit), registry.ErrOwnTool},
		"a delegate":          {report(t, s.delegate, s.x, observe.OutputUnfit), registry.ErrOwnTool},
		"the recovery key":    {report(t, s.rec, s.x, observe.OutputUnfit), registry.ErrOwnTool},
		"who speaks for it":   {report(t, s.other, s.x, observe.OutputUnfit), registry.ErrOwnTool},
		"praise by the owner": {report(t, s.owner, s.x), registry.ErrOwnTool},
		"another digest":      {wrong(func(x *registry.Tool) { x.Digest[0]++ }), registry.ErrStaleBase},
		"another version":     {wrong(func(x *registry.Tool) { x.Ver++ }), registry.ErrStaleBase},
		"another generation":  {wrong(func(x *registry.Tool) { x.Gen++ }), registry.ErrStaleGeneration},
		"another tool":        {wrong(func(x *registry.Tool) { x.Row.Tool = newTool() }), registry.ErrNotFound},
		"no statement":        {zero, registry.ErrNotFound},
		"enrolled again":      {enrol(watcher, proved(s.op)), registry.ErrExists},
		"a tool that is not":  {&registry.ReportTool{CommandMeta: proven(watcher), Tool: newTool(), Observation: zero.Observation}, registry.ErrNotFound},
	})
	// Praise weighs nothing, and fills no log.
	before := must(s.w.Barrier(ctx)).Head
	if out := do(t, s.w, report(t, watcher, s.x)); len(out.Events) != 0 || must(s.w.Barrier(ctx)).Head != before {
		t.Errorf("praise is recorded: %+v", out)
	}
	do(t, s.w, conducted(s.x, labels.Consistent))
	r := report(t, watcher, tool(t, s.w, s.x.Row.Tool), observe.EgressUnsaid, observe.OutputUnfit)
	do(t, s.w, r)
	x := tool(t, s.w, s.x.Row.Tool)
	if x.Content != labels.Suspect || !must(s.w.View()).HasReview(x.Row.Tool, watcher.key.ID) {
		t.Errorf("reported: %v", x.Content)
	}
	again := *r
	again.ID = registry.CommandID(random())
	s.refused(t, map[string]refusal{
		"the same statement":       {&again, registry.ErrSpent},
		"another while one stands": {report(t, watcher, x, observe.OutputUnfit), registry.ErrExists},
		"and cleared by a look":    {inspected(x, labels.Inspected), registry.ErrUnchanged},
		"and consistent":           {conducted(x, labels.Consistent), registry.ErrUnchanged},
	})
	m := by("")
	m.Caller = proved(s.op)
	do(t, s.w, &registry.ReleaseTool{CommandMeta: m, Tool: x.Row.Tool, Base: x.Digest, Reason: "read"})
	if x = tool(t, s.w, x.Row.Tool); x.Content != labels.Inspected || must(s.w.View()).HasReview(x.Row.Tool, watcher.key.ID) {
		t.Errorf("released: %v", x.Content)
	}
	do(t, s.w, &registry.DismissObserver{CommandMeta: s.op.meta(), Principal: watcher.id()})
	s.refused(t, map[string]refusal{"dismissed": {report(t, watcher, x, observe.OutputUnfit), registry.ErrNotObserver}})
}

func proven(p party) registry.CommandMeta {
	m := p.meta()
	m.Caller = proved(p)
	return m
}

func withCaller(c registry.Command, who registry.Caller) registry.Command {
	c.Meta().Caller = who
	return c
}

// TestConduct: what the deployment itself came to is cited, is of one version, and
// rises only by an event (RULES.md 20, 21).
func TestConduct(t *testing.T) {
	clk := newClock()
	s := newStage(t, func(o *writer.Options) { o.Now = clk.now })
	consistent := func(x *registry.Tool, d time.Duration) *registry.RecordConduct {
		c := conducted(x, labels.Consistent)
		c.Until = clk.now().Add(d)
		return c
	}
	const month = 30 * 24 * time.Hour
	do(t, s.w, inspected(s.x, labels.Inspected))
	x := tool(t, s.w, s.x.Row.Tool)
	stale := *x
	stale.Gen++
	s.refused(t, map[string]refusal{
		"another version":   {conducted(&stale, labels.Violated), registry.ErrStaleBase},
		"another digest":    {func() registry.Command { c := conducted(x, labels.Violated); c.Base[0]++; return c }(), registry.ErrStaleBase},
		"inspected":         {conducted(x, labels.Inspected), registry.ErrNotFound},
		"uninspected":       {conducted(x, labels.Uninspected), registry.ErrNotFound},
		"for too long":      {consistent(x, month+time.Hour), registry.ErrUnchanged},
		"until yesterday":   {consistent(x, -time.Hour), registry.ErrUnchanged},
		"inspected again":   {inspected(x, labels.Inspected), registry.ErrUnchanged},
		"looked consistent": {inspected(x, labels.Consistent), registry.ErrNotFound},
		"not looked at":     {inspected(x, labels.Uninspected), registry.ErrNotFound},
	})
	out := do(t, s.w, consistent(x, month))
	var d registry.ConductData
	if err := out.Events[0].Decode(&d); err != nil || d.Spool == "" || d.Entry != 7 || d.Until == 0 {
		t.Errorf("%+v, %v", d, err)
	}
	x = tool(t, s.w, x.Row.Tool)
	s.refused(t, map[string]refusal{"hardly longer": {consistent(x, month), registry.ErrUnchanged}})
	clk.advance(4 * 24 * time.Hour)
	do(t, s.w, consistent(x, month))
	clk.advance(month)
	if c := tool(t, s.w, x.Row.Tool).ContentAt(clk.now()); c != labels.Inspected {
		t.Errorf("after a month: %v", c)
	}
	do(t, s.w, conducted(x, labels.Suspect))
	do(t, s.w, conducted(x, labels.Violated))
	s.refused(t, map[string]refusal{
		"violated twice":   {conducted(x, labels.Violated), registry.ErrUnchanged},
		"only suspect now": {conducted(x, labels.Suspect), registry.ErrUnchanged},
	})
	if x = tool(t, s.w, x.Row.Tool); x.Content != labels.Violated || x.Tier(clk.now()) != labels.Red {
		t.Errorf("contradicted: %v", x.Content)
	}
	do(t, s.w, &registry.RevokeTool{CommandMeta: s.owner.meta(), Holder: s.mine(), Base: s.x.Digest})
	s.refused(t, map[string]refusal{
		"revoked":            {conducted(x, labels.Violated), registry.ErrToolRevoked},
		"revoked, looked at": {inspected(x, labels.Violated), registry.ErrToolRevoked},
		"a tool that is not": {&registry.RecordInspection{CommandMeta: by(""), Tool: newTool()}, registry.ErrNotFound},
		"conduct of none":    {&registry.RecordConduct{CommandMeta: by(""), Tool: newTool()}, registry.ErrNotFound},
	})
}

// TestQuotasOfObservers is RULES.md 40: they hold before anything is appended.
func TestQuotasOfObservers(t *testing.T) {
	q := registry.DefaultQuotas()
	q.ReviewsTool, q.Observations = 2, 3
	s := newStage(t, func(o *writer.Options) { o.Quotas = &q })
	var ps []party
	for range 3 {
		p := newParty(t)
		do(t, s.w, &registry.CreatePrincipal{CommandMeta: p.meta(), JWK: p.key.JWK()})
		do(t, s.w, &registry.EnrolObserver{CommandMeta: s.op.meta(), Principal: p.id()})
		ps = append(ps, p)
	}
	do(t, s.w, report(t, ps[0], s.x, observe.OutputUnfit))
	do(t, s.w, report(t, ps[1], tool(t, s.w, s.x.Row.Tool), observe.OutputUnfit))
	s.refused(t, map[string]refusal{"a third": {report(t, ps[2], s.x, observe.OutputUnfit), registry.ErrTooMany}})
	for _, n := range []string{"a", "b"} {
		do(t, s.w, report(t, ps[0], registered(t, s.w, s.owner, n), observe.OutputUnfit))
	}
	s.refused(t, map[string]refusal{"more than its share": {report(t, ps[0], registered(t, s.w, s.owner, "c"), observe.OutputUnfit), registry.ErrTooMany}})
}

// TestObservationClaims is RULES.md 25: closed claims, all required, of this
// registry, of its signer, in time.
func TestObservationClaims(t *testing.T) {
	p, q := newParty(t), newParty(t)
	x := &registry.Tool{}
	x.Row.Tool, x.Gen, x.Ver, x.Digest[0] = newTool(), 1, 1, 1
	sign := func(typ envelope.Type, who party, c any) string {
		s, err := envelope.NewSigner(typ, who.private)
		if err != nil {
			t.Fatal(err)
		}
		tok, err := s.Sign(c)
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	if _, err := registry.OpenObservation(sign(envelope.Observation, p, claimsOf(p, x, observe.OutputUnfit)), p.key, home, time.Now()); err != nil {
		t.Fatal("control:", err)
	}
	type more struct {
		registry.ObservationClaims
		Run string `json:"run"`
	}
	for name, c := range map[string]struct {
		typ    envelope.Type
		who    party
		change func(*registry.ObservationClaims)
	}{
		"another type":      {envelope.OperatorAct, p, func(*registry.ObservationClaims) {}},
		"another signer":    {envelope.Observation, q, func(*registry.ObservationClaims) {}},
		"another issuer":    {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Iss = string(q.id()) }},
		"another registry":  {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Aud = "https://other.example" }},
		"no audience":       {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Aud = "" }},
		"another op":        {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Op = "results.deleted" }},
		"no tool":           {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Sub = "pay" }},
		"no generation":     {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Gen = 0 }},
		"no version":        {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Ver = 0 }},
		"no digest":         {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Mdg = credentials.Digest{} }},
		"expired":           {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Exp = time.Now().Unix() - 60 }},
		"for ever":          {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Exp = time.Now().Unix() + 90000 }},
		"no jti":            {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Jti = "" }},
		"what nobody may":   {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Saw = []observe.Sign{observe.UserAsked} }},
		"what nobody knows": {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Saw = []observe.Sign{"bad"} }},
		"the same twice":    {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Saw = []observe.Sign{observe.OutputUnfit, observe.OutputUnfit} }},
		"out of order":      {envelope.Observation, p, func(c *registry.ObservationClaims) { c.Saw = []observe.Sign{observe.ReadWrote, observe.OutputUnfit} }},
	} {
		t.Run(name, func(t *testing.T) {
			cl := claimsOf(p, x, observe.OutputUnfit)
			c.change(&cl)
			if _, err := registry.OpenObservation(sign(c.typ, c.who, cl), p.key, home, time.Now()); err == nil {
				t.Error("accepted")
			}
		})
	}
	_, err := registry.OpenObservation(sign(envelope.Observation, p, more{claimsOf(p, x), "run_x"}), p.key, home, time.Now())
	if err == nil || errors.Is(err, credentials.ErrExpired) {
		t.Errorf("a member more: %v", err)
	}
	all, err := canon.Marshal(claimsOf(p, x, observe.OutputUnfit))
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(all, &members); err != nil || len(members) != 12 {
		t.Fatal(len(members), err)
	}
	for name := range members {
		if name == "nbf" || name == "iat" {
			continue // CheckTime's own tests
		}
		less := maps.Clone(members)
		delete(less, name)
		if _, err := registry.OpenObservation(sign(envelope.Observation, p, less), p.key, home, time.Now()); err == nil {
			t.Errorf("without %s: accepted", name)
		}
	}
}

// TestFirstUse is RULES.md 19: that a tool was used is the service's own word, on a
// call that was decided after all that the log says of the tool, and said once.
func TestFirstUse(t *testing.T) {
	s := newStage(t)
	x := registered(t, s.w, s.other, "free")
	use := func(change func(c *registry.RecordUse)) *registry.RecordUse {
		y := tool(t, s.w, x.Row.Tool)
		c := &registry.RecordUse{CommandMeta: by(""), Tool: y.Row.Tool, Gen: y.Gen, Base: y.Digest, View: must(s.w.Barrier(ctx)).Head.Size}
		if change != nil {
			change(c)
		}
		return c
	}
	s.refused(t, map[string]refusal{"not inspected": {use(nil), registry.ErrUnchanged}})
	do(t, s.w, inspected(x, labels.Inspected))
	index := tool(t, s.w, x.Row.Tool).Index
	s.refused(t, map[string]refusal{
		"by an operator":     {withCaller(use(nil), proved(s.op)), registry.ErrNotOperator},
		"by its owner":       {withCaller(use(nil), proved(s.other)), registry.ErrNotOperator},
		"decided before":     {use(func(c *registry.RecordUse) { c.View = index }), registry.ErrUnchanged},
		"another digest":     {use(func(c *registry.RecordUse) { c.Base[0]++ }), registry.ErrStaleBase},
		"another generation": {use(func(c *registry.RecordUse) { c.Gen++ }), registry.ErrStaleBase},
		"another tool":       {use(func(c *registry.RecordUse) { c.Tool = newTool() }), registry.ErrNotFound},
	})
	out := do(t, s.w, use(nil))
	var d map[string]jsontext.Value
	if err := json.Unmarshal(out.Events[0].Data, &d); err != nil || len(out.Events) != 1 || len(d) != 4 || d["tool"] == nil || d["gen"] == nil || d["n"] == nil || d["last"] == nil {
		t.Errorf("%d events; more than the tool is in it: %s", len(out.Events), out.Events[0].Data)
	}
	if x := tool(t, s.w, x.Row.Tool); x.Standing != labels.Pinned {
		t.Errorf("%v", x.Standing)
	}
	s.refused(t, map[string]refusal{"again": {use(nil), registry.ErrUnchanged}})
}
