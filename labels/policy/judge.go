package policy

import (
	"slices"
	"sync"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard"
)

// A judging is one decision on its way. It is used again for others, so that a
// decision costs no memory but what it gives.
type judging struct {
	f     Facts
	bit   uint8 // of the method
	tree  *args.Tree
	ours  bool // the tree is
	call  guard.Call
	side  guard.Call // of what stands beside the arguments; no Args: nothing does
	scope scope
}

var judgings = sync.Pool{New: func() any { return new(judging) }}

// noArgs is what absent arguments are judged as.
var noArgs = []byte("{}")

// judgingOf takes the facts. Arguments that cannot be read leave no tree, and whoever
// looks at them refuses.
func judgingOf(f *Facts) *judging {
	j := judgings.Get().(*judging)
	j.f, j.bit, j.tree = *f, methodBit(f.Method), f.Tree
	if j.tree == nil {
		raw := f.Args
		if len(raw) == 0 || string(raw) == "null" {
			raw = noArgs
		}
		j.tree, _ = args.Parse(raw)
		j.ours = true
	}
	j.call = guard.Call{Tool: f.Tool, Method: f.Method, Effect: f.Effect, Args: j.tree, Files: f.Files}
	j.side = j.call
	j.side.Args = f.Beside
	j.scope.open(&j.f, j.tree)
	return j
}

// guarded is the call as guards take it, with its arguments read once for all of them.
func (j *judging) guarded() guard.Call {
	if j.call.Index == nil && j.tree != nil {
		j.call.Index = guard.Read(j.tree)
	}
	return j.call
}

// refuses is what guards refuse of the call, with what stands beside its arguments.
func (j *judging) refuses(s *guard.Set) []guard.Violation {
	what := s.Check(j.guarded())
	if j.f.Beside == nil {
		return what
	}
	return append(what, s.Beside(j.beside())...)
}

// may tells whether what guards are told of arguments may hold.
func (j *judging) may(s *guard.Set) bool {
	if j.f.Beside == nil {
		return s.May(j.guarded())
	}
	return s.MayBeside(j.guarded(), j.beside())
}

func (j *judging) beside() guard.Call {
	if j.side.Index == nil {
		j.side.Index = guard.Read(j.side.Args)
	}
	return j.side
}

// done gives the memory back.
func (j *judging) done() {
	if j.call.Index != nil {
		j.call.Index.Release()
	}
	if j.side.Index != nil {
		j.side.Index.Release()
	}
	if j.ours && j.tree != nil {
		j.tree.Release()
	}
	j.scope.close()
	*j = judging{}
	judgings.Put(j)
}

// methodBit is the method's place in the set of those that rules name; 0 of others.
func methodBit(method string) uint8 {
	for i, m := range callMethods {
		if m == method {
			return 1 << i
		}
	}
	return 0
}

// speaks tells whether the rule is about such calls at all, by what is known without
// their arguments. What is not known speaks for an ask or never and against an allow;
// surely says that it is not to speak for an ask either.
func (r *rule) speaks(j *judging, surely bool) bool {
	if r.methods == nil {
		if r.verb == Allow && j.f.Method != "tools/call" {
			return false
		}
	} else if r.mask&j.bit == 0 {
		return false
	}
	surely = surely || r.verb == Allow
	if r.origins != nil && (surely || j.f.Origin != "") && !slices.Contains(r.origins, j.f.Origin) {
		return false
	}
	if r.agents != nil && (surely || j.f.Agent != "" && j.f.AgentName != "") &&
		!slices.Contains(r.agents, string(j.f.Agent)) && !slices.Contains(r.agents, j.f.AgentName) {
		return false
	}
	switch {
	case r.effects == labels.Unclassified:
		return true
	case surely:
		return j.f.Effect.Counts()&^r.effects == 0
	}
	return j.f.Effect.Has(r.effects)
}

// over tells whether the call is beyond the rule's thresholds.
func (r *rule) over(c *Counts) bool {
	switch {
	case r.per == nil && r.fresh == nil, !c.Known:
		return true
	case r.per != nil && r.per(c) < r.rate:
		return false
	}
	return r.fresh == nil || slices.ContainsFunc(r.fresh, func(name string) bool { return slices.Contains(c.New, name) })
}

// matches tells whether the rule fires. alone is what alone stands between an allow and
// the call.
func (r *rule) matches(j *judging) (fires bool, alone []guard.Violation) {
	if !r.speaks(j, false) || !r.over(&j.f.Counts) {
		return false, nil
	}
	if r.when != nil {
		if t := r.when.holds(&j.scope); t == untrue || t == broken && r.verb == Allow {
			return false, nil
		}
	}
	if r.set == nil {
		return true, nil
	}
	if r.verb != Allow {
		return j.tree == nil || j.may(r.set), nil
	}
	alone = j.refuses(r.set)
	return len(alone) == 0, alone
}

// stands tells whether a person may be asked for the call although no rule allows it:
// where an allow of the same words would. What fires because something is bad or cannot
// be told only takes from what others allow, so that it never opens anything.
func (r *rule) stands(j *judging) bool {
	return r.steady() && r.speaks(j, true) &&
		(r.when == nil || r.when.holds(&j.scope) == isTrue) &&
		(r.set == nil || len(j.refuses(r.set)) == 0)
}

// steady tells whether the rule does not fire the more, the worse something is, and fires
// for what it names only.
func (r *rule) steady() bool {
	return !r.takes && r.per == nil && r.fresh == nil && (r.when == nil || r.when.use.trend == still)
}

// A finding is what the rules of a layer come to.
type finding struct {
	best    *rule // the strictest that fires, among equals the first by name; nil: none
	open    bool  // an allow fires, or an ask that stands for itself
	way     Results
	said    bool             // way is what rules say
	least   labels.Assurance // the most that any ask wants
	blocked *rule            // an allow that only its arguments keep from firing
	why     []guard.Violation
}

// find looks at the rules that name the item, or what is read through it, and at those
// for any. What becomes of results is the strictest that any rule says that fires.
func (r *Rules) find(j *judging, list func(*slot, Verb) []*rule) finding {
	var x finding
	x.way = Mark
	slots := r.slots(&j.f)
	for verb := Deny; verb <= Allow; verb++ {
		for _, s := range slots {
			if s == nil {
				continue
			}
			for _, rl := range list(s, verb) {
				x.look(rl, j)
			}
		}
		if x.best != nil && x.best.verb == Deny {
			return x
		}
	}
	if !x.open {
		x.best = nil
	}
	return x
}

func (x *finding) look(rl *rule, j *judging) {
	better := x.best == nil || rl.verb == x.best.verb && rl.name < x.best.name
	if !better && !rl.said && rl.verb != Ask && x.open {
		return // whether it fires or not
	}
	fires, alone := rl.matches(j)
	if len(alone) > 0 && (x.blocked == nil || rl.name < x.blocked.name) {
		x.blocked, x.why = rl, alone
	}
	if !fires {
		return
	}
	if better {
		x.best = rl
	}
	if rl.said {
		x.way, x.said = min(x.way, rl.way), true
	}
	x.least = max(x.least, rl.least)
	x.open = x.open || rl.verb == Allow || rl.verb == Ask && rl.stands(j)
}

// decide is what the layer says of the call.
func (r *Rules) decide(j *judging) Decision {
	x := r.find(j, (*slot).binding)
	d := x.decision()
	if r.watching {
		d.shadow = r.shadowed(j, &x, &d)
	}
	return d
}

func (x *finding) decision() Decision {
	switch {
	case x.best == nil && x.blocked != nil:
		d := refusedBy(x.why)
		d.rule, d.say = x.blocked.name, x.blocked.say
		return d
	case x.best == nil:
		return Decision{reason: NoRule, rule: "default"}
	}
	d := Decision{verb: x.best.verb, reason: ruleReasons[x.best.verb], rule: x.best.name, say: x.best.say, way: Cut}
	if x.said {
		d.way = x.way
	}
	if d.verb == Ask {
		d.least = x.least
	}
	return d
}

// shadowed is what the layer would say if its shadow rules counted; nil: the same.
func (r *Rules) shadowed(j *judging, bound *finding, d *Decision) []Shadowed {
	was := j.scope.record(true)
	x := r.find(j, (*slot).watching)
	j.scope.record(was)
	if x.best == nil || bound.best != nil && bound.best.verb <= x.best.verb {
		return nil
	}
	return []Shadowed{{x.best.verb, ruleReasons[x.best.verb], x.best.name}}
}

// refusedBy is the refusal for what guards found.
func refusedBy(list []guard.Violation) Decision {
	v := list[0]
	d := Decision{reason: ReasonGuard, rule: v.Rule, guard: v.Guard, why: v.Why}
	if v.Path != "" {
		d.line = v.Line
	}
	for _, v := range list {
		if v.Path != "" && !slices.Contains(d.paths, v.Path) {
			d.paths = append(d.paths, v.Path)
		}
	}
	if d.rule == "" {
		d.rule = "guard:" + v.Guard
	}
	return d
}
