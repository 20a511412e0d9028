// Package vectors holds decision vectors: calls with all that a decision
// depends on, and what has to come out. The same vectors are driven through the
// policy alone, over the wire in front of an upstream that serves Item, and in
// the page module; decisions, reasons and rules have to be equal.
package vectors

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/labels/policy"
)

//go:embed data/*.json
var data embed.FS

// Surfaces: what the upstream does, so that the item stands where it does.
const (
	Settled    = "settled"    // serves Item from the beginning
	Changed    = "changed"    // served Was when the agent's list was made, and Item since
	New        = "new"        // serves Item only since then
	Unlisted   = "unlisted"   // serves Item, and the agent calls another name
	Incomplete = "incomplete" // never ends its list
)

// ErrVector says that a vector does not make sense.
var ErrVector = errors.New("vectors: not a vector")

// A Vector is one call.
type Vector struct {
	Name     string         `json:"name"`
	Profile  policy.Profile `json:"profile"`
	Rules    string         `json:"rules,omitzero"` // a rule file; empty: none
	Kind     string         `json:"kind"`           // tool, prompt, resource, template
	Item     jsontext.Value `json:"item"`           // as the upstream serves it
	Was      jsontext.Value `json:"was,omitzero"`   // with Changed
	Surface  string         `json:"surface"`
	Verdict  string         `json:"verdict"`           // of the inspector on Item: clear, suspect, hostile
	Released bool           `json:"released,omitzero"` // an operator released it all the same
	Standing string         `json:"standing"`          // of the origin
	Channel  bool           `json:"channel,omitzero"`  // an approval channel could answer
	Context  string         `json:"context,omitzero"`  // of the run: worst, untrusted, own, clean; empty: clean
	Method   string         `json:"method"`
	Call     string         `json:"call,omitzero"` // the name or URI that is called, where it is not the item's own
	Args     jsontext.Value `json:"args"`
	Fit      string         `json:"fit,omitzero"` // of the arguments: unchecked, unfit; empty: fits
	Want     Want           `json:"want"`
}

// Want is what has to come out.
type Want struct {
	Verb    string         `json:"verb"`
	Reason  policy.Reason  `json:"reason"`
	Rule    string         `json:"rule"`
	Listed  bool           `json:"listed"`
	Results string         `json:"results,omitzero"` // of a call that is let through or asked for: hold, mark; empty: cut
	Would   *WouldHaveBeen `json:"would,omitzero"`   // under watch
}

// WouldHaveBeen is the decision inside one that does not bind.
type WouldHaveBeen struct {
	Verb   string        `json:"verb"`
	Reason policy.Reason `json:"reason"`
	Rule   string        `json:"rule"`
}

// All are the vectors, in a stable order.
func All() ([]Vector, error) {
	names, err := fs.Glob(data, "data/*.json")
	if err != nil {
		return nil, err
	}
	var all []Vector
	for _, n := range names {
		b, err := data.ReadFile(n)
		if err != nil {
			return nil, err
		}
		var list []Vector
		if err := json.Unmarshal(b, &list, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// ItemName is the upstream's own name of the item: of a resource its URI, of a
// template the template.
func (v Vector) ItemName() (string, error) {
	var item struct {
		Name     string `json:"name"`
		URI      string `json:"uri"`
		Template string `json:"uriTemplate"`
	}
	if err := json.Unmarshal(v.Item, &item); err != nil {
		return "", err
	}
	switch v.Kind {
	case "tool", "prompt":
		return item.Name, nil
	case "resource":
		return item.URI, nil
	case "template":
		return item.Template, nil
	}
	return "", fmt.Errorf("%w: kind", ErrVector)
}

// Policy is the policy of the vector.
func (v Vector) Policy() (policy.Policy, error) {
	if v.Rules == "" {
		return policy.Of(nil), nil
	}
	rules, err := policy.Load([]byte(v.Rules))
	if err != nil {
		return nil, err
	}
	return policy.Of(rules), nil
}

// Facts is what a gateway has to find out about the call.
func (v Vector) Facts() (policy.Facts, error) {
	f := policy.Facts{Profile: v.Profile, Method: v.Method, Args: v.Args, Channel: v.Channel}
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
	if f.Standing, err = labels.ParseStanding(v.Standing); err != nil {
		return f, err
	}
	contents := map[string]labels.Content{"clear": labels.Inspected, "suspect": labels.Suspect, "hostile": labels.Violated}
	if v.Released { // suspect text counts as cleared then, hostile is still in doubt
		contents = map[string]labels.Content{"clear": labels.Inspected, "suspect": labels.Inspected, "hostile": labels.Suspect}
	}
	content, ok := contents[v.Verdict]
	if !ok {
		return f, fmt.Errorf("%w: verdict", ErrVector)
	}
	f.Content, f.Tier = content, labels.Synthesize(f.Standing, content)
	f.Gate, err = v.state()
	if err != nil {
		return f, err
	}
	f.Effect = labels.Read
	if v.Method == "tools/call" {
		f.Effect = effects.Rule(f.Standing, jsontext.Value(v.Item))
	}
	return f, nil
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
