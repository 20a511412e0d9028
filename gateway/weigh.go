package gateway

import (
	"context"

	guards "github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/tallies"
)

// launches is the agent under which what launches do is counted together: each has an
// id of its own, and a rate that a restart sheds is none.
const launches = "launch"

// weigh has the policy decide, with what it wants to know of earlier calls. A call
// that is let through counts from then on, whether or not it is executed: a rate is
// passed too early rather than too late.
func (s *Session) weigh(ctx context.Context, c *call, f *policy.Facts) policy.Decision {
	p := c.policy()
	need := p.Needs(*f)
	if !need.Counts && len(need.New) == 0 || s.g.o.Tallies == nil {
		return p.Decide(*f)
	}
	sub := tallies.Subject{Agent: string(f.Agent), Run: f.Run, Item: f.Origin + " " + f.Method + " " + f.Tool}
	if s.who.launched {
		sub.Agent = launches
	}
	values := tallies.Values{}
	for _, place := range need.New {
		values[place] = seen(f, place)
	}
	var d policy.Decision
	err := s.g.o.Tallies.Decide(ctx, sub, values, func(n policy.Counts) bool {
		f.Counts = n
		if n.Known {
			c.counts = &n
		}
		d = p.Decide(*f)
		return d.Verb() == policy.Allow
	})
	if err != nil {
		s.g.o.Log.Error("a call cannot be counted", "agent", s.who.ID, "tool", f.Tool, "cause", err)
		if d.Verb() == policy.Allow && c.counts != nil {
			return policy.Refuse(policy.Unrecorded, "tallies")
		}
	}
	return d
}

// seen are the values of a place, in the arguments and beside them; nil, which is new,
// where not all of them can be seen.
func seen(f *policy.Facts, place string) []string {
	all, ok := guards.Places(f.Tree, place)
	if f.Beside != nil {
		more, sure := guards.Places(f.Beside, place)
		all, ok = append(all, more...), ok && sure
	}
	if !ok {
		return nil
	}
	values := make([]string, 0, len(all))
	for _, v := range all {
		values = append(values, string(v.Raw()))
	}
	return values
}
