package policy

import (
	"math"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
)

// maxSteps is how many members, elements and pieces of text of textStep bytes one
// evaluation may look at. CEL's own count does not see what is compared below the top of a
// value, and counts a pattern only once it was run.
const (
	maxSteps = 1 << 18
	textStep = 2
)

// A scope is the facts as the variables of conditions. Nothing is made before a
// condition asks for it. It belongs to one decision.
type scope struct {
	f      *Facts
	root   object
	large  bool // something is larger than the estimates assume
	steps  int  // that are left
	match  purse
	aside  purse                       // the other one; see record
	only   bool                        // match is that of rules that only record
	judges map[string]map[string]judge // of the condition that is evaluated
	names  map[args.Value]map[string]args.Value
	parts  map[args.Value][]args.Value
}

// open makes the scope that of a decision. tree is nil where the arguments cannot be
// read.
func (s *scope) open(f *Facts, tree *args.Tree) {
	s.f = f
	s.root = object{s, tree.Root()}
	s.large = len(tree.Raw()) > assumedBytes || len(f.Tool) > assumedBytes || len(f.Target) > assumedBytes || len(f.Counts.New) > assumedBytes
}

// close forgets what the scope holds of the decision.
func (s *scope) close() { *s = scope{} }

// spend counts work; too much of it ends the evaluation with an error.
func (s *scope) spend(n int) {
	if s.steps -= n; s.steps < 0 {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: "more is looked at than a condition may"})
	}
}

// shared is the node of errors that evaluations share. CEL writes its node into one
// that has none, in all evaluations at once; its own shared error is no exception.
const shared = -1

var _ = types.LabelErrNode(shared, types.NoSuchOverloadErr())

var (
	errUnknown = types.NewErrWithNodeID(shared, "it is not known")
	errNumber  = types.NewErrWithNodeID(shared, "a number that is not exact")
)

// scopeName is the name of the scope itself, which no condition can write.
const scopeName = "@scope"

// Parent implements cel.Activation.
func (s *scope) Parent() cel.Activation { return nil }

// ResolveName implements cel.Activation. What nobody found out is an error, and so
// opens nothing and closes what it can (RULES.md 30).
func (s *scope) ResolveName(name string) (any, bool) {
	f := s.f
	if t, known, ok := wordOf(f, name); ok {
		if !known {
			return errUnknown, true
		}
		return types.String(t), true
	}
	if b, ok := flagOf(f, name); ok {
		return types.Bool(b), true
	}
	switch name {
	case "args":
		if s.root.v.Kind() != '{' {
			return errUnknown, true
		}
		return &s.root, true
	case "tool.ver":
		return counted(f.Ver, f.Ver != 0), true
	case "time":
		if f.At.IsZero() {
			return errUnknown, true
		}
		return types.Timestamp{Time: f.At.UTC()}, true
	case "counts.run":
		return counted(f.Counts.Run, f.Counts.Known), true
	case "counts.minute":
		return counted(f.Counts.Minute, f.Counts.Known), true
	case "counts.hour":
		return counted(f.Counts.Hour, f.Counts.Known), true
	case "counts.day":
		return counted(f.Counts.Day, f.Counts.Known), true
	case "counts.new":
		if !f.Counts.Known {
			return errUnknown, true
		}
		return f.Counts.New, true
	case scopeName:
		return s, true
	}
	return nil, false
}

// wordOf is a variable that is a text; known tells whether anybody found it out.
func wordOf(f *Facts, name string) (t string, known, ok bool) {
	switch name {
	case "agent.id":
		t = string(f.Agent)
	case "agent.name":
		t = f.AgentName
	case "agent.profile":
		t = string(f.Profile)
	case "tool.name":
		t = f.Tool
	case "tool.method":
		t = f.Method
	case "tool.target":
		return f.Target, true, true
	case "origin":
		t = f.Origin
	case "channel.way":
		t = f.Way
	case "provenance.context":
		return f.Context.String(), true, true
	case "label.tier":
		return needed(f).String(), true, true
	case "label.standing":
		return standing(f).String(), true, true
	case "label.content":
		return content(f).String(), true, true
	default:
		return "", false, false
	}
	return t, t != "", true
}

// flagOf is a variable that is a truth.
func flagOf(f *Facts, name string) (b, ok bool) {
	switch name {
	case "effect.read":
		return f.Effect.Has(labels.Read), true
	case "effect.write":
		return f.Effect.Has(labels.Write), true
	case "effect.egress":
		return f.Effect.Has(labels.Egress), true
	case "effect.execute":
		return f.Effect.Has(labels.Execute), true
	case "effect.destructive":
		return f.Effect.Has(labels.Destructive), true
	}
	return false, false
}

func counted(n uint64, known bool) ref.Val {
	if !known {
		return errUnknown
	}
	return types.Int(min(n, math.MaxInt64))
}

// standing and content are the label's dimensions, at their worst where they are
// outside of the vocabulary.
func standing(f *Facts) labels.Standing {
	if !f.Standing.Valid() {
		return labels.Vetoed
	}
	return f.Standing
}

func content(f *Facts) labels.Content {
	switch {
	case !f.Content.Valid():
		return labels.Violated
	case f.Content == labels.Consistent && f.Context != Clean: // see needed
		return labels.Inspected
	}
	return f.Content
}
