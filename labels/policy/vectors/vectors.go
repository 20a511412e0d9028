// Package vectors holds decision vectors: calls with all that a decision
// depends on, and what has to come out. The same vectors are driven through the
// policy alone, over the wire in front of an upstream that serves Item, and in
// the page module; decisions, reasons and rules have to be equal.
package vectors

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	Fit      string         `json:"fit,omitzero"`    // of the arguments: unchecked, unfit; empty: fits
	FitAt    string         `json:"fit_at,omitzero"` // with unfit: JSON Pointer of what does not
	Effect   string         `json:"effect,omitzero"` // that the operator's file says; empty: the rule over the item does
	Intent   *Intent        `json:"intent,omitzero"` // that the run is sealed to; nil: it is not
	// Earlier are the arguments of calls of the item that this agent was let through
	// with before; nil: nobody counts.
	Earlier []jsontext.Value `json:"earlier,omitzero"`
	Want    Want             `json:"want"`
}

// An Intent is sealed to items as they are when the agent makes its list.
type Intent struct {
	Items []Named `json:"items"`
	Rules string  `json:"rules"`          // a rule file, which speaks of all items
	Ended bool    `json:"ended,omitzero"` // its end has come
}

// A Named is an item by its kind and the upstream's own name.
type Named struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Want is what has to come out.
type Want struct {
	Verb    string         `json:"verb"`
	Reason  policy.Reason  `json:"reason"`
	Rule    string         `json:"rule"`
	Listed  bool           `json:"listed"`
	Results string         `json:"results,omitzero"` // of a call that is let through or asked for: hold, mark; empty: cut
	Would   *WouldHaveBeen `json:"would,omitzero"`   // under watch
	Guard   string         `json:"guard,omitzero"`   // that refuses
	At      []string       `json:"at,omitzero"`      // JSON Pointers of what it refuses
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
