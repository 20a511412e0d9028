package policy

import (
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// environment is what conditions are written in: a typed part of CEL. Left out is what
// loses digits (double, arithmetic on what may be one), what depends on more than the
// facts (zones of time), what builds values in loops (map, filter), and what no rule
// needs (bytes, type, dyn). docs/policy.md is its reference.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	opts := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{DisableMacros: true, IncludeFunctions: included()})),
		cel.Macros(cel.HasMacro, cel.AllMacro, cel.ExistsMacro, cel.ExistsOneMacro),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ExpressionNodeLimit(maxNodes), cel.ParserRecursionLimit(maxDepth),
		cel.ParserErrorRecoveryLimit(2), cel.RegexProgramSizeLimit(maxRegex),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals(),
			cel.ValidateComprehensionNestingLimit(maxLoops)),
		cel.Function("int", cel.Overload("exact_int", []*cel.Type{cel.DynType}, cel.IntType, cel.UnaryBinding(exactInt))),
	}
	opts = append(opts, judgeFunctions()...)
	for _, v := range variables {
		opts = append(opts, cel.Variable(v.name, v.kind))
	}
	e, err := cel.NewCustomEnv(opts...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCondition, err)
	}
	return e, nil
})

// A variable of the environment, the order of its values, and what it says.
type variable struct {
	name  string
	kind  *cel.Type
	order order
}

// variables are all there are.
var variables = []variable{
	{"agent.id", cel.StringType, free},
	{"agent.name", cel.StringType, free},
	{"agent.profile", cel.StringType, free},
	{"tool.name", cel.StringType, free},
	{"tool.method", cel.StringType, free},
	{"tool.target", cel.StringType, free},
	{"tool.ver", cel.IntType, free},
	{"origin", cel.StringType, free},
	{"effect.read", cel.BoolType, flag},
	{"effect.write", cel.BoolType, flag},
	{"effect.egress", cel.BoolType, flag},
	{"effect.execute", cel.BoolType, flag},
	{"effect.destructive", cel.BoolType, flag},
	{"label.tier", cel.StringType, words},
	{"label.standing", cel.StringType, words},
	{"label.content", cel.StringType, words},
	{"args", cel.MapType(cel.StringType, cel.DynType), free},
	{"provenance.context", cel.StringType, words},
	{"channel.way", cel.StringType, free},
	{"time", cel.TimestampType, free},
	{"counts.run", cel.IntType, number},
	{"counts.minute", cel.IntType, number},
	{"counts.hour", cel.IntType, number},
	{"counts.day", cel.IntType, number},
	{"counts.new", cel.ListType(cel.StringType), list},
}

// known are the variables by name.
var known = sync.OnceValue(func() map[string]*variable {
	m := make(map[string]*variable, len(variables))
	for i := range variables {
		m[variables[i].name] = &variables[i]
	}
	return m
})

// included are the functions of the standard library that are taken.
func included() []*env.Function {
	var list []*env.Function
	for _, name := range []string{
		"_?_:_", "_&&_", "_||_", "!_", "@not_strictly_false", "_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_[_]", "@in",
		"_+_", "_-_", "_*_", "_/_", "_%_", "-_", "size", "contains", "startsWith", "endsWith", "matches", "string", "duration", "timestamp",
	} {
		list = append(list, env.NewFunction(name))
	}
	for name, overload := range map[string]string{
		"getFullYear": "timestamp_to_year", "getMonth": "timestamp_to_month", "getDayOfYear": "timestamp_to_day_of_year",
		"getDate": "timestamp_to_day_of_month_1_based", "getDayOfWeek": "timestamp_to_day_of_week", "getHours": "timestamp_to_hours",
		"getMinutes": "timestamp_to_minutes",
	} {
		list = append(list, env.NewFunction(name, env.NewOverload(overload, nil, nil)))
	}
	return list
}

// exactInt is the function int: an integer, or the text of one, with all its digits.
func exactInt(v ref.Val) ref.Val {
	switch v := v.(type) {
	case types.Int:
		return v
	case types.Uint:
		return v.ConvertToType(types.IntType)
	case types.String:
		return v.ConvertToType(types.IntType)
	}
	return types.NewErr("int is for integers")
}

// estimate is the most that the condition can cost where nothing is larger than
// assumedBytes. One that costs too much at its least is refused.
func estimate(e *cel.Env, checked *cel.Ast) (uint64, error) {
	c, err := e.EstimateCost(checked, sizes{})
	if err != nil {
		return 0, fmt.Errorf("%w: its cost cannot be estimated", errCondition)
	}
	if c.Min > maxCost {
		return 0, fmt.Errorf("%w: it costs too much", errCondition)
	}
	return c.Max, nil
}

// sizes is the assumption of estimate. It holds of every text, list and map inside of
// arguments that are no longer than that all together.
type sizes struct{}

// EstimateSize implements cost.Estimator.
func (sizes) EstimateSize(cost.AstNode) *cost.SizeEstimate {
	return &cost.SizeEstimate{Max: assumedBytes}
}

// judgeCost is the most that guards do with one text and one word.
const judgeCost = 1000

// EstimateCallCost implements cost.Estimator.
func (sizes) EstimateCallCost(function, _ string, _ *cost.AstNode, _ []cost.AstNode) *cost.CallEstimate {
	if judges[function] == nil {
		return nil
	}
	return &cost.CallEstimate{CostEstimate: cost.Estimate{Min: 1, Max: judgeCost}}
}
