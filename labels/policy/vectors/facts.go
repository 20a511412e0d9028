package vectors

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
)

// What the facts of every vector say, since an intent holds it against what is sealed.
const (
	origin = "stdio:vectors"
	agent  = credentials.AgentID("agt_01KBA0000000000000000000AA")
	tool   = credentials.ToolID("tool_01KBA0000000000000000000AA")
)

// at is when the decisions are made.
var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Policy is the policy of the vector.
func (v Vector) Policy() (policy.Policy, error) {
	p := policy.Of(nil)
	if v.Rules != "" {
		rules, err := policy.Load([]byte(v.Rules))
		if err != nil {
			return nil, err
		}
		p = policy.Of(rules)
	}
	if v.Intent == nil {
		return p, nil
	}
	rules, err := policy.Load([]byte(v.Intent.Rules))
	if err != nil {
		return nil, err
	}
	s := &policy.Sealed{Rules: rules, Expires: at.Add(time.Hour), Digest: canon.Digest("vectors/intent", []byte(v.Intent.Rules)), Agent: agent}
	if v.Intent.Ended {
		s.Expires = at
	}
	name, err := v.ItemName()
	for _, n := range v.Intent.Items {
		it := policy.SealedItem{Origin: origin, Kind: n.Kind, Name: n.Name, ID: tool, Digest: digest(v.Item)}
		if v.Surface == Changed && n.Kind == v.Kind && n.Name == name {
			it.Digest = digest(v.Was)
		}
		s.Items = append(s.Items, it)
	}
	return policy.Under(p, s), err
}

// digest stands for that of a version of the item.
func digest(item jsontext.Value) credentials.Digest { return canon.Digest("vectors/item", item) }

// Facts is what a gateway has to find out about the call.
func (v Vector) Facts() (policy.Facts, error) {
	f := policy.Facts{
		Profile: v.Profile, Method: v.Method, Args: v.Args, Channel: v.Channel,
		Origin: origin, ID: tool, Digest: digest(v.Item), Agent: agent, At: at, UnfitAt: v.FitAt,
	}
	var err error
	if f.Context, err = policy.ParseContext(cmp.Or(v.Context, policy.Clean.String())); err != nil {
		return f, err
	}
	if f.Fit, err = policy.ParseFit(cmp.Or(v.Fit, policy.Fits.String())); err != nil {
		return f, err
	}
	if f.Tool, err = v.ItemName(); err != nil {
		return f, err
	}
	switch {
	case v.Call == "":
	case v.Kind == "template":
		f.Target = v.Call
	default:
		f.Tool = v.Call
	}
	if err := v.label(&f); err != nil {
		return f, err
	}
	if f.Gate, err = v.state(); err != nil {
		return f, err
	}
	if f.Effect, err = v.effect(f.Standing); err != nil {
		return f, err
	}
	f.Counts, err = v.counts(f)
	return f, err
}

// label is of the item.
func (v Vector) label(f *policy.Facts) (err error) {
	if f.Standing, err = labels.ParseStanding(v.Standing); err != nil {
		return err
	}
	contents := map[string]labels.Content{"clear": labels.Inspected, "suspect": labels.Suspect, "hostile": labels.Violated}
	if v.Released { // suspect text counts as cleared then, hostile is still in doubt
		contents = map[string]labels.Content{"clear": labels.Inspected, "suspect": labels.Inspected, "hostile": labels.Suspect}
	}
	content, ok := contents[v.Verdict]
	if !ok {
		return fmt.Errorf("%w: verdict", ErrVector)
	}
	f.Content, f.Tier = content, labels.Synthesize(f.Standing, content)
	return nil
}

// effect is what the call may do.
func (v Vector) effect(s labels.Standing) (labels.Effect, error) {
	switch {
	case v.Method != "tools/call":
		return labels.Read, nil
	case v.Effect != "":
		return labels.ParseEffect(v.Effect)
	}
	return effects.Rule(s, v.Item), nil
}

// counts are those of the calls that went before, and the places whose values were not
// in them.
func (v Vector) counts(f policy.Facts) (c policy.Counts, err error) {
	if v.Earlier == nil {
		return c, nil
	}
	p, err := v.Policy()
	if err != nil {
		return c, err
	}
	n := uint64(len(v.Earlier))
	c = policy.Counts{Known: true, Run: n, Minute: n, Hour: n, Day: n}
	for _, place := range p.Needs(f).New {
		known, err := values(place, v.Earlier...)
		if err != nil {
			return c, err
		}
		now, err := values(place, v.Args)
		if err != nil {
			return c, err
		}
		if len(now) == 0 || slices.ContainsFunc(now, func(x string) bool { return !slices.Contains(known, x) }) {
			c.New = append(c.New, place)
		}
	}
	return c, nil
}

// values are the values of a place in arguments.
func values(place string, list ...jsontext.Value) (out []string, err error) {
	for _, raw := range list {
		tree, err := args.Parse(raw)
		if err != nil {
			return nil, err
		}
		all, _ := guard.Places(tree, place)
		for _, x := range all {
			out = append(out, string(x.Raw()))
		}
		tree.Release()
	}
	return out, nil
}

func (v Vector) state() (policy.State, error) {
	switch v.Surface {
	case Settled:
		if v.Verdict == "clear" || v.Released {
			return policy.Cleared, nil
		}
		return policy.Withheld, nil
	case Changed:
		return policy.Changed, nil
	case New:
		return policy.New, nil
	case Unlisted:
		return policy.NotShown, nil
	case Incomplete:
		return policy.Incomplete, nil
	}
	return policy.NotShown, fmt.Errorf("%w: surface", ErrVector)
}
