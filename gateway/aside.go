package gateway

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// asidePlace is what pointers into what stands beside the arguments begin with. The rest
// is a JSON Pointer into the request.
const asidePlace = "frame:"

// aside reads what goes upstream beside the arguments of a request: members that no
// protocol knows, answers to questions, _meta that is the agent's, and what a completion
// is for under the name of the argument that it completes. nil: nothing does. The error
// is args.ErrArgs.
func (c *call) aside(p *params) (*args.Tree, error) {
	completes := c.f.Method == methodComplete
	if !p.beside && !completes && len(c.f.Rest) == 0 {
		return nil, nil
	}
	inside := asideParams(p, completes)
	if len(inside) == 0 && len(c.f.Rest) == 0 {
		return nil, nil
	}
	return readAside(append([]mcp.Member{{Name: "params", Value: mcp.Object(inside...)}}, c.f.Rest...))
}

// asideParams are the members of params that nobody else judges.
func asideParams(p *params, completes bool) (list []mcp.Member) {
	for name, v := range mcp.Members(p.raw) {
		switch name {
		case "name", "uri", "level", "cursor", "arguments", "requestState", "task", "notifications", "ref":
		case "_meta":
			if kept := asideMeta(v); len(kept) > 0 {
				list = append(list, mcp.Member{Name: name, Value: mcp.Object(kept...)})
			}
		case "argument":
			arg, ok := mcp.GetString(v, "name")
			if value, there := mcp.Get(v, "value"); completes && ok && there {
				v = mcp.Object(mcp.Member{Name: arg, Value: value})
			}
			list = append(list, mcp.Member{Name: name, Value: v})
		default:
			list = append(list, mcp.Member{Name: name, Value: v})
		}
	}
	return list
}

// asideMeta are the members of _meta that go on as they came.
func asideMeta(meta jsontext.Value) (list []mcp.Member) {
	for name, v := range mcp.Members(meta) {
		if !mcp.IsProtocolMeta(name) {
			list = append(list, mcp.Member{Name: name, Value: v})
		}
	}
	return list
}

func readAside(list []mcp.Member) (*args.Tree, error) {
	tree, err := args.Parse(mcp.Object(list...))
	if err == nil {
		tree.Under(asidePlace)
	}
	return tree, err
}

// plainToken is how long a token of the protocol's is that nobody looks into.
const plainToken = 16

// mayAnswer asks the policy whether what the agent answers to a question may go
// upstream: the call that the question belongs to is decided again, with the answer
// beside its arguments. Where nobody answered nothing goes.
func (s *Session) mayAnswer(c *call, answer mcp.Frame, outcome string) (policy.Decision, error) {
	if outcome != registry.OutcomeReturned && outcome != registry.OutcomeError {
		return policy.Decision{}, nil
	}
	s.mu.Lock()
	under := c.under
	s.mu.Unlock()
	if under == nil {
		return policy.Refuse(policy.Arguments, "arguments"), errDenied
	}
	list := []mcp.Member{{Name: "result", Value: answer.Result}}
	if answer.Shape == mcp.Failure {
		list = []mcp.Member{{Name: "error", Value: mcp.Quote(answer.Error.Message)}}
		if answer.Error.Data != nil {
			list = append(list, mcp.Member{Name: "data", Value: answer.Error.Data})
		}
	}
	tree, err := readAside(list)
	if err != nil {
		return policy.Refuse(policy.Arguments, "arguments"), err
	}
	defer tree.Release()
	f := s.facts(c, &under.item)
	f.Gate, f.Args, f.Beside, f.At = under.item.State, under.p.arguments(), tree, s.g.o.Now()
	f.Fit = policy.Fits // as it was when the call was let through
	if c.counts != nil {
		f.Counts = *c.counts
	}
	if under.label.Tool() != "" {
		f.Tier = min(f.Tier, under.label.Tier())
	}
	if d := c.policy().Decide(f); d.Verb() != policy.Allow {
		return d, errDenied
	}
	return policy.Decision{}, nil
}
