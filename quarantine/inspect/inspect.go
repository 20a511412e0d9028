// Package inspect is the inspector: it reads hostile text and judges it, and can
// do nothing else. It has no authority: no network, no process, no key, no record.
//
// It explains and routes. Hidden characters, text in the wrong place and familiar
// wording are found; paraphrase, procedures and other languages mostly are not.
// What is allowed is decided by origin, label and policy.
//
// Its stages run in this order: unfold takes disguises off, structure asks
// whether something belongs where it stands, wording looks for orders, a linear
// model compares with what attacks look like, and a language model may be asked
// about what all of them left open. Severity is the maximum: no stage takes back
// what another found.
package inspect

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/model"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// rulesEngine names the stages that are rules and tables: all of a deterministic
// inspection.
const rulesEngine = unfold.Version + "+structure/3+wording/2"

// MaxFindings bounds the findings of one report; the verdict counts all. A report
// with more is Partial: whoever cuts what it names would leave the rest.
const MaxFindings = 512

// Options say which models are asked beside the rules. The zero value asks the
// embedded one.
type Options struct {
	// Model is the linear model; nil: the embedded one.
	Model *model.Model
	// Rules leaves the linear model out.
	Rules bool
	// Opinion asks a language model about what the other stages left open; nil:
	// none.
	Opinion *opinion.Judge
}

// New is the inspector. At most one Options is used. It is safe for concurrent
// use, keeps nothing, and without a language model takes time linear in the text.
func New(opts ...Options) quarantine.Inspector {
	e := &engine{}
	if len(opts) > 0 {
		e.Options = opts[0]
	}
	switch {
	case e.Rules:
		e.Model = nil
	case e.Model == nil:
		e.Model = model.Embedded()
	}
	e.full = rulesEngine
	if e.Model != nil {
		e.full += "+" + e.Model.Engine()
	}
	if e.Opinion != nil {
		e.full += "+" + e.Opinion.Engine()
	}
	return e
}

type engine struct {
	Options
	full string // names all stages
}

// Engine implements quarantine.Inspector.
func (e *engine) Engine() string { return e.full }

// ran names the stages of an inspection of a depth.
func (e *engine) ran(d quarantine.Depth) string {
	if d == quarantine.Deterministic {
		return rulesEngine
	}
	return e.full
}

var judges = sync.Pool{New: func() any { return newJudge() }}

// Inspect implements quarantine.Inspector. Nothing is cut: every byte of every
// specimen is looked at, or the report says that it is late.
func (e *engine) Inspect(ctx context.Context, b quarantine.Batch) (report quarantine.Report) {
	j := judges.Get().(*judge)
	defer func() {
		if recover() != nil { // a fault of ours is no verdict, and the judge is not used again
			report = late(b, e.ran(b.Depth))
			return
		}
		j.release()
	}()
	j.begin(b.Specimens)
	if b.Depth == quarantine.Full {
		j.model = e.Model
	}
	for i := range b.Specimens {
		if i%64 == 0 && ctx.Err() != nil {
			return late(b, e.ran(b.Depth))
		}
		j.specimen(i)
	}
	j.finish()
	report = quarantine.Report{Verdict: j.verdict, Findings: j.findings, Engine: e.ran(b.Depth), Partial: j.more}
	if b.Depth == quarantine.Full && e.Opinion != nil {
		e.ask(ctx, b, j, &report)
	}
	return report
}

// ask adds a language model's opinion of the specimens that nothing was found
// in.
func (e *engine) ask(ctx context.Context, b quarantine.Batch, j *judge, report *quarantine.Report) {
	more := e.Opinion.Judge(ctx, b, func(at int) bool { return j.worst[at] <= quarantine.Clear && !b.Specimens[at].Binary() })
	report.Verdict = quarantine.Worse(report.Verdict, more.Verdict)
	report.Partial = report.Partial || more.Partial
	room := min(len(more.Findings), MaxFindings-len(report.Findings))
	report.Findings = append(report.Findings, more.Findings[:room]...)
	report.Partial = report.Partial || room < len(more.Findings)
	inOrder(report.Findings)
}

// inOrder sorts findings by their specimens.
func inOrder(list []quarantine.Finding) {
	slices.SortStableFunc(list, func(a, b quarantine.Finding) int { return cmp.Compare(a.At, b.At) })
}

// late is the report of an inspection that did not come to its end. The empty
// path says that it speaks of the whole batch.
func late(b quarantine.Batch, engine string) quarantine.Report {
	f := quarantine.Finding{Category: quarantine.Late, Verdict: quarantine.Suspect}
	if len(b.Specimens) > 0 {
		f.Span.To = len(b.Specimens[0].Text)
	}
	return quarantine.Report{Verdict: quarantine.Suspect, Findings: []quarantine.Finding{f}, Engine: engine, Partial: true}
}
