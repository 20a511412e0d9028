package gateway

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/cut"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/holds"
)

// The second checkpoint: whatever an upstream sends is judged before an agent reads
// it. What is clear passes untouched; what is hostile, or was not looked at to its
// end, is held; suspect words are cut out, or held, or marked as data, as the policy
// said of the call.

// A sent is something of the upstream's on its way to the agent.
type sent struct {
	form   holds.Form
	method string
	raw    jsontext.Value // a result; an error as one object; params
	stream *stream        // what it continues; nil: it is read alone
}

// specimens takes it apart.
func (x *sent) specimens() ([]quarantine.Specimen, error) {
	switch x.form {
	case holds.FormResult:
		return quarantine.ResultSpecimens(x.method, x.raw)
	case holds.FormError:
		return quarantine.ErrorSpecimens(x.raw)
	}
	return quarantine.MessageSpecimens(x.method, x.raw)
}

// A way is what becomes of something sent.
type way uint8

// The ways. Only what is not held reaches the agent.
const (
	held     way = iota
	passed       // clear
	loose        // not clear, and let through: the profile watch
	released     // not clear, and an operator let exactly this through
	without      // the suspect places were cut out of it
	marked       // it is marked as data
)

var wayWords = [...]string{loose: "not enforced", released: "released", without: "cut", marked: "marked"}

// A ruling is the way of something sent, and why.
type ruling struct {
	way     way
	would   way                   // of what is loose: what would have become of it
	value   jsontext.Value        // what the agent may have; what was sent itself, unless that was changed
	set     []quarantine.Specimen // of that value
	verdict quarantine.Verdict    // of what was sent
	report  quarantine.Report
	marker  string // of what is marked
	unread  bool   // it could not be taken apart
	barred  bool   // whatever it says
	depth   quarantine.Depth
}

// said tells whether what the agent gets is what it heard from the upstream: what is
// let through although it is not clear is not judged again with all that follows.
func (r *ruling) said() bool { return r.way == passed || r.way == without }

// word says in an entry what was done, empty for what is clear.
func (r *ruling) word() string { return wayWords[r.way] }

// judged is what an inspector says of something sent.
type judged struct {
	set     []quarantine.Specimen
	report  quarantine.Report
	verdict quarantine.Verdict
	joint   bool // only together with what was said before is it not clear
	err     error
}

// whole tells whether no part of it can be told apart as clear: it is hostile, or
// not all of it was looked at with every stage.
func (j *judged) whole() bool {
	return j.verdict != quarantine.Suspect || j.report.Partial || j.joint ||
		slices.ContainsFunc(j.report.Findings, func(f quarantine.Finding) bool { return f.Category == quarantine.Late })
}

// rule says what becomes of something that the upstream sent, in a call or, with
// nil, outside of any that is known.
func (s *Session) rule(ctx context.Context, c *call, x sent) ruling {
	ctx, cancel := context.WithTimeout(ctx, s.g.o.Limits.Inspect)
	defer cancel()
	depth := c.depth(&x)
	j := s.inspect(ctx, depth, c, &x)
	r := ruling{value: x.raw, set: j.set, verdict: j.verdict, report: j.report, unread: j.err != nil, barred: s.barred(c), depth: depth}
	switch {
	case j.verdict == quarantine.Clear && !r.barred:
		r.way = passed
	case s.watches():
		r.way = loose
		if !r.barred && !j.whole() && s.results(c) != policy.Hold {
			r.would = without
		}
	case s.g.o.Holds != nil && s.g.o.Holds.Released(s.subject(c, &x)):
		r.way = released
	case r.barred || j.whole():
	case s.results(c) == policy.Mark && c.labels(x.form) && !asks(x.raw):
		s.mark(&r, &x, &j)
	case s.results(c) != policy.Hold:
		s.cutOut(ctx, c, &r, x, j)
	}
	if (r.way == without || r.way == marked) && !s.fits(c, &x, r.value) {
		r.way, r.value = held, x.raw
	}
	return r
}

// inspect judges something sent, together with what it continues.
func (s *Session) inspect(ctx context.Context, depth quarantine.Depth, c *call, x *sent) judged {
	set, err := x.specimens()
	if err != nil {
		return judged{verdict: quarantine.Missing, err: err}
	}
	j := judged{set: set, report: s.judge(ctx, depth, set)}
	if more := x.stream.joined(set); len(more) > 0 && j.report.Verdict == quarantine.Clear {
		// Rules alone look at what was joined: a model takes honest questions, one behind
		// the other, for orders, as it has seen nothing like it.
		if r := s.judge(ctx, quarantine.Deterministic, more); r.Verdict != quarantine.Clear {
			j.report, j.joint = r, true
		}
	}
	if mine := posing(set, notice(c.reference())); len(mine) > 0 {
		j.report.Findings = append(slices.Clip(j.report.Findings), mine...)
		j.report.Verdict = quarantine.Worse(j.report.Verdict, quarantine.Suspect)
	}
	if x.form == holds.FormMessage && forged(x.raw) { // of answers deliver sees to it
		j.report.Verdict = quarantine.Worse(j.report.Verdict, quarantine.Hostile)
	}
	j.verdict = j.report.Verdict
	return j
}

// judge asks the inspector. What is late has no verdict.
func (s *Session) judge(ctx context.Context, depth quarantine.Depth, set []quarantine.Specimen) quarantine.Report {
	if len(set) == 0 {
		return quarantine.Report{Verdict: quarantine.Clear}
	}
	b := quarantine.Batch{Origin: s.g.place.Origin.String(), Depth: depth, Specimens: set}
	r := s.g.o.Inspector.Inspect(ctx, b)
	if ctx.Err() != nil || r.Partial {
		r.Verdict = quarantine.Worse(r.Verdict, quarantine.Missing)
	}
	return r
}

// maxQuick is how large what a Green tool sends may be to be judged by rules alone, in
// bytes as they came, whatever stands in them: so many small ones are kept until the tool
// goes away. A larger one every stage judges at once: an upstream could else close a
// run with one answer and a list without its tool.
const maxQuick = 128 << 10

// depth is how far something sent in a call is inspected.
func (c *call) depth(x *sent) quarantine.Depth {
	if c.tier() == labels.Green && len(x.raw) <= maxQuick {
		return quarantine.Deterministic
	}
	return quarantine.Full
}

// asks tells whether a result holds questions, which are judged as such: a person
// who reads one knows nothing of marks.
func asks(result jsontext.Value) bool {
	t, _ := mcp.GetString(result, "resultType")
	return t == mcp.ResultInputRequired
}

// tier is that of the verified label that the call was decided on; Yellow where
// there is none.
func (c *call) tier() labels.Tier {
	if c == nil || c.under == nil {
		return labels.Yellow
	}
	return c.under.tier(c)
}

// results is what the policy said of suspect results of the call. What belongs to
// no call was not decided on; it is cut.
func (s *Session) results(c *call) policy.Results {
	if c == nil || c.under == nil {
		return policy.Cut
	}
	return c.under.d.Would().Results()
}

// labels tells whether the agent gets a label with it, which says of marks what
// they are.
func (c *call) labels(form holds.Form) bool {
	if c == nil || form != holds.FormResult {
		return false
	}
	switch c.f.Method {
	case methodCall, methodPrompt, methodRead, methodComplete:
		return true
	}
	return false // an acknowledgement has no content
}

// barred tells whether nothing of the call's tool is to be read, whatever it says:
// its label is Red now, or an operator condemned this version.
func (s *Session) barred(c *call) bool {
	if c == nil || c.under == nil || c.under.item.Kind == "" {
		return false
	}
	it := &c.under.item
	if h := s.g.o.Holds; h != nil && it.Tool != "" && h.Condemned(holds.Subject{Origin: s.g.place.Origin.String(), Tool: it.Tool, Gen: it.Gen, Ver: it.Ver}) {
		return true
	}
	if c.tier() == labels.Red {
		return true
	}
	if it.Link || it.Kind == gate.Template {
		return false
	}
	now, _ := s.keeper.Look(stopped, it.Kind, it.Name)
	return now.Kind == it.Kind && now.Digest == it.Digest && now.Tool == it.Tool && now.Tier(s.g.o.Now()) == labels.Red
}

// stopped is for look-ups that wait for nothing.
var stopped = func() context.Context {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	return ctx
}()

// maxKeep is how long an answer waits until what is withheld of it is kept.
const maxKeep = 5 * time.Second

// maxCuts is how often a result is cut and judged again, since a report names only
// so many places.
const maxCuts = 4

// cutOut cuts what is suspect out of something sent, until nothing of it is. What
// cannot be cut is held.
func (s *Session) cutOut(ctx context.Context, c *call, r *ruling, x sent, j judged) {
	for range maxCuts {
		v, err := cut.Cut(x.raw, j.set, narrow(j.report.Findings), notice(c.reference()))
		if err != nil {
			return
		}
		x.raw = v
		if j = s.inspect(ctx, r.depth, c, &x); j.verdict == quarantine.Clear {
			r.way, r.value, r.set = without, v, j.set
			return
		}
		if j.whole() {
			return
		}
	}
}

// narrow are the findings of rules, which name words, where there are any: models
// name the window that the words are in. What models find without them is left for
// the next cut.
func narrow(all []quarantine.Finding) []quarantine.Finding {
	models := func(f quarantine.Finding) bool {
		return f.Category == quarantine.Learned || f.Category == quarantine.Opinion
	}
	if rules := slices.DeleteFunc(slices.Clone(all), models); slices.ContainsFunc(rules, func(f quarantine.Finding) bool { return f.Verdict != quarantine.Clear }) {
		return rules
	}
	return all
}

// notice stands where something was cut out. It says whose work it is and names
// the entry, and nothing of what stood there.
func notice(ref string) string {
	if ref == "" {
		return "[removed by pratique]"
	}
	return "[removed by pratique: " + ref + "]"
}

// reference is what an agent and an operator call the call by.
func (c *call) reference() string {
	if c == nil {
		return ""
	}
	return c.ref
}

// mark marks the texts of a result as data.
func (s *Session) mark(r *ruling, x *sent, j *judged) {
	const drawn = 6 // letters of the marker: drawn after the result came, so that nothing in it can know them
	id := s.g.id("")
	marker := "^" + id[len(id)-drawn:] + "^"
	v, err := cut.Mark(x.raw, j.set, j.report.Findings, marker)
	if err != nil {
		return
	}
	r.way, r.value, r.marker = marked, v, marker
}

// fits tells whether a result that was changed is still what the tool's cleared
// schema says. An agent's client checks that too, and would take the result for
// broken.
func (s *Session) fits(c *call, x *sent, value jsontext.Value) bool {
	if c == nil || c.under == nil || x.form != holds.FormResult || c.under.item.Kind != gate.Tool {
		return true
	}
	schema, ok := mcp.Get(c.under.item.Raw, "outputSchema")
	if !ok {
		return true
	}
	before, _ := mcp.Get(x.raw, "structuredContent")
	after, there := mcp.Get(value, "structuredContent")
	if failed, _ := mcp.Get(value, "isError"); !there || failed.Kind() == 't' || string(before) == string(after) {
		return true
	}
	sh, err := s.g.forms.Of(schema)
	return err == nil && sh.Check(after) == nil
}

// subject is what an operator's act on something sent is about (RULES.md 35).
func (s *Session) subject(c *call, x *sent) holds.Subject {
	sub := holds.Subject{Origin: s.g.place.Origin.String(), Kind: holds.KindOf(x.form, x.method), Digest: holds.Digest(x.raw)}
	if c != nil && c.under != nil {
		it := &c.under.item
		sub.Tool, sub.Gen, sub.Ver = it.Tool, it.Gen, it.Ver
	}
	return sub
}

// keep keeps what an agent did not get, or not whole, for an operator. It returns
// the hold's id; empty if there is none.
func (s *Session) keep(c *call, x *sent, r *ruling, reason policy.Reason) string {
	if s.g.o.Holds == nil {
		return ""
	}
	h := holds.Hold{
		Subject: s.subject(c, x), Form: x.form, Method: x.method, Run: s.who.Run, Call: c.reference(), Upstream: s.g.o.Upstream.Name(),
		Reason: string(reason), Cut: r.way == without, Verdict: r.verdict, Findings: r.report.Findings, Engine: r.report.Engine,
	}
	if !s.who.launched { // each launch is an agent of its own: what they hold is counted by origin
		h.Agent = s.who.ID
	}
	if c != nil && c.under != nil {
		it := &c.under.item
		h.Item, h.Name, h.Mdg, h.Owner = string(it.Kind), cutName(it.Name), it.Digest, it.Owner
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxKeep)
	defer cancel()
	h, err := s.g.o.Holds.Put(ctx, h, x.raw)
	if err != nil {
		s.g.o.Log.Error("what was withheld could not be kept", "call", c.reference(), "cause", err)
		return ""
	}
	return h.ID
}
