package gateway

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/args"
	guards "github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// What a reading of what stands beside the arguments has for names that are the
// protocol's: names that mean nothing to rules and guards, which judge members by name.
const (
	asideMeta     = "_"      // of _meta
	asideAnswers  = "__"     // of answers, in a row
	asideRest     = "___"    // of the envelope
	asideArgument = "____"   // of what a completion is for
	asideContext  = "_____"  // of the arguments that are known at a completion
	asideRef      = "______" // of the ref of a completion
)

// asidePlace is what pointers begin with, by the name of the member below the root:
// "frame:", and a JSON Pointer into the request.
func asidePlace(name string) string {
	switch name {
	case asideMeta:
		return "frame:/params/_meta"
	case asideAnswers:
		return "frame:/params/inputResponses"
	case asideRest:
		return "frame:"
	case asideArgument:
		return "frame:/params/argument"
	case asideContext:
		return "frame:/params/context/arguments"
	case asideRef:
		return "frame:/params/ref"
	}
	return "frame:/params/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// aside reads what goes upstream beside the arguments of a request: members that the
// method does not have, answers to questions, _meta that is the agent's, and what a
// completion is for under the name of the argument that it completes. nil: nothing does.
// The error is args.ErrArgs.
func (c *call) aside(p *params) (*args.Tree, error) {
	if !p.beside && len(c.f.Rest) == 0 && c.f.Method != methodComplete {
		return nil, nil
	}
	list := asideParams(p, c.f.Method)
	if len(c.f.Rest) > 0 {
		list = append(list, mcp.Member{Name: asideRest, Value: mcp.Object(c.f.Rest...)})
	}
	if len(list) == 0 {
		return nil, nil
	}
	return readAside(list, asidePlace)
}

func readAside(list []mcp.Member, place func(string) string) (*args.Tree, error) {
	tree, err := args.Parse(mcp.Object(list...))
	if err == nil {
		tree.Under(place)
	}
	return tree, err
}

// asideParams are the members of params that nobody else judges.
func asideParams(p *params, method string) (list []mcp.Member) {
	sp := specs[method]
	add := func(name string, members []mcp.Member) {
		if len(members) > 0 {
			list = append(list, mcp.Member{Name: name, Value: mcp.Object(members...)})
		}
	}
	for name, v := range mcp.Members(p.raw) {
		switch {
		case name == "_meta":
			add(asideMeta, membersBut(v, mcp.IsProtocolMeta))
		case name == "inputResponses":
			list = append(list, mcp.Member{Name: asideAnswers, Value: array(allAnswers(v))})
		case sp.exact([]byte(name)) == "":
			list = append(list, mcp.Member{Name: name, Value: v})
		case name == "argument":
			add(asideArgument, completed(v))
		case name == "context":
			if known, ok := mcp.Get(v, "arguments"); ok {
				list = append(list, mcp.Member{Name: asideContext, Value: known})
			}
			add(name, membersBut(v, func(n string) bool { return n == "arguments" }))
		case name == "ref":
			add(asideRef, membersBut(v, func(n string) bool { return n == "type" || n == "name" || n == "uri" }))
		}
	}
	return list
}

// completed are the members of what a completion is for, its value under the name of the
// argument that is completed.
func completed(argument jsontext.Value) (list []mcp.Member) {
	arg, _ := mcp.GetString(argument, "name")
	for name, v := range mcp.Members(argument) {
		switch name {
		case "name":
			continue // the value stands under it
		case "value":
			name = arg
		}
		list = append(list, mcp.Member{Name: name, Value: v})
	}
	return list
}

// membersBut are the members of an object but some.
func membersBut(object jsontext.Value, some func(name string) bool) (list []mcp.Member) {
	for name, v := range mcp.Members(object) {
		if !some(name) {
			list = append(list, mcp.Member{Name: name, Value: v})
		}
	}
	return list
}

func array(list []jsontext.Value) jsontext.Value {
	out := jsontext.Value("[")
	for i, v := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// allAnswers are the parts of all answers of a request. What they answer is the agent's
// word too.
func allAnswers(all jsontext.Value) (list []jsontext.Value) {
	for key, v := range mcp.Members(all) {
		if len(key) > plainToken {
			list = append(list, asText(mcp.Quote(key)))
		}
		list = append(list, answerParts(v)...)
	}
	return list
}

// answerParts takes an answer to a question apart, so that the protocol's own names in it are
// not held for those of arguments: what an elicitation brought, and tools that a model
// wants called, stay as they are, and the rest are texts. What is no object is no answer,
// goes on all the same, and stays as it is; of _meta nothing is the protocol's here.
func answerParts(v jsontext.Value) (list []jsontext.Value) {
	if v.Kind() != '{' {
		return []jsontext.Value{v}
	}
	_, elicited := mcp.Get(v, "action")
	_, spoken := mcp.Get(v, "role")
	own := []string{"action", "role", "model", "stopReason"}
	var rest []mcp.Member
	for name, x := range mcp.Members(v) {
		switch {
		case name == "_meta":
			list = append(list, x)
		case slices.Contains(own, name):
			list = append(list, asText(x))
		case name == "content" && elicited:
			list = append(list, x)
		case name == "content" && spoken, name == "roots" && !elicited:
			list = append(list, blockParts(x)...)
		default:
			rest = append(rest, mcp.Member{Name: name, Value: x})
		}
	}
	return append(list, mcp.Object(rest...))
}

// blockParts are the parts of what a model said, or of roots.
func blockParts(v jsontext.Value) (list []jsontext.Value) {
	if v.Kind() == '[' {
		for x := range mcp.Elements(v) {
			list = append(list, blockParts(x)...)
		}
		return list
	}
	if v.Kind() != '{' {
		return []jsontext.Value{asText(v)}
	}
	own := []string{"type", "text", "data", "mimeType", "name", "id", "toolUseId", "uri", "title"}
	var rest []mcp.Member
	for name, x := range mcp.Members(v) {
		switch {
		case slices.Contains(own, name) && x.Kind() == '"':
			list = append(list, asText(x))
		case name == "input" || name == "structuredContent":
			list = append(list, x)
		default:
			rest = append(rest, mcp.Member{Name: name, Value: x})
		}
	}
	return append(list, mcp.Object(rest...))
}

// asideText is a name of texts for people, which are held against secrets alone. No rule
// has a word on it by chance, as on text.
const asideText = "answered_text"

func asText(v jsontext.Value) jsontext.Value {
	return mcp.Object(mcp.Member{Name: asideText, Value: v})
}

// plainToken is how long a token of the protocol's is that nobody looks into.
const plainToken = 16

// mayAnswer asks the policy whether what the agent answers to a question may go
// upstream: the call that the question belongs to is decided again, with the answer
// beside its arguments. Where it may belong to any call that is open, all have to let it
// pass. Where nobody answered nothing goes.
func (s *Session) mayAnswer(c *call, outside bool, a mcp.Frame, outcome string) (policy.Decision, error) {
	if outcome != registry.OutcomeReturned && outcome != registry.OutcomeError {
		return policy.Decision{}, nil
	}
	list := answerParts(a.Result)
	if a.Shape == mcp.Failure {
		list = []jsontext.Value{asText(mcp.Quote(a.Error.Message))}
		if a.Error.Data != nil {
			list = append(list, a.Error.Data)
		}
	}
	tree, err := readAside([]mcp.Member{{Name: asideAnswers, Value: array(list)}}, func(string) string { return "frame:/result" })
	if err != nil {
		return policy.Refuse(policy.Arguments, "arguments"), err
	}
	defer tree.Release()
	for _, x := range s.askers(c, outside) {
		if d := s.decideAnswer(x, tree); d.Verb() != policy.Allow {
			return d, errDenied
		}
	}
	return policy.Decision{}, nil
}

// askers are the calls that a question may belong to.
func (s *Session) askers(c *call, outside bool) []*call {
	list := []*call{c}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.calls {
		if outside && x.sent && x != c {
			list = append(list, x)
		}
	}
	return list
}

// withNew are counts with the places that an answer has values of, or may have. Whether
// they were known before is not asked: what comes late is new.
func withNew(n policy.Counts, places []string, answer *args.Tree) policy.Counts {
	n.New = slices.Clone(n.New)
	for _, place := range places {
		if list, sure := guards.Places(answer, place); (len(list) > 0 || !sure) && !slices.Contains(n.New, place) {
			n.New = append(n.New, place)
		}
	}
	slices.Sort(n.New)
	return n
}

// decideAnswer decides a call that is under way with an answer beside it.
func (s *Session) decideAnswer(c *call, answer *args.Tree) (d policy.Decision) {
	defer func() {
		if fault := recover(); fault != nil {
			d = s.broken(fault)
		}
	}()
	s.mu.Lock()
	under := c.under
	s.mu.Unlock()
	if under == nil {
		return policy.Refuse(policy.Arguments, "arguments")
	}
	f := s.facts(c, &under.item)
	f.Gate, f.Args, f.Beside, f.At = under.item.State, under.p.arguments(), answer, s.g.o.Now()
	f.Fit = policy.Fits // as it was when the call was let through
	if c.counts != nil {
		f.Counts = withNew(*c.counts, c.policy().Needs(f).New, answer)
	}
	if under.label.Tool() != "" {
		f.Tier = min(f.Tier, under.label.Tier())
	}
	return c.policy().Decide(f)
}
