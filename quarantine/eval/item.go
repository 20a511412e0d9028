package eval

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

// Attack tells whether the item is an attack.
func (it *Item) Attack() bool { return it.Label == "attack" }

// Place is what an item is of: "tool", "return" or "name".
func (it *Item) Place() string {
	switch it.Kind {
	case "tool_return":
		return "return"
	case "tool_name":
		return "name"
	}
	return "tool"
}

// A Standing says how near an item is to what an agent meets.
type Standing string

// The standings. Only the first is real; each of the others is reported apart.
const (
	Real        Standing = "real"        // found as it is
	Derived     Standing = "derived"     // a real one, disguised or moved by a program
	Authored    Standing = "authored"    // written for a corpus
	Hard        Standing = "hard"        // honest, and chosen because it looks like an attack
	Prompt      Standing = "prompt"      // a user's turn
	Inseparable Standing = "inseparable" // not to be told by its text: in no figure
)

// Standing is the item's.
func (it *Item) Standing() Standing {
	switch {
	case it.Separable != nil && !*it.Separable:
		return Inseparable
	case it.Direct:
		return Prompt
	case it.Derived:
		return Derived
	case strings.HasPrefix(it.Source, "authored"):
		return Authored
	case strings.HasPrefix(it.Class, "hard-negative"):
		return Hard
	}
	return Real
}

// Quotes tells whether an honest item is a document on attacks, which shows some.
func (it *Item) Quotes() bool { return it.Class == "security-doc" }

// Group is what must not be on both sides of a split: the source, and for a
// derived item the source of what it was derived from.
func (it *Item) Group() string {
	if it.DerivedFrom != "" && it.DerivedFrom != "benign" {
		return it.DerivedFrom
	}
	return it.Source
}

// Specimens are what the inspector is given: the tool, or a tool or a result
// made of the text.
func (it *Item) Specimens() ([]quarantine.Specimen, error) {
	if it.Kind == "tool_return" {
		raw, err := object("content", []any{map[string]string{"type": "text", "text": it.Text}})
		if err != nil {
			return nil, err
		}
		return quarantine.ResultSpecimens("tools/call", raw)
	}
	if len(it.Tool) > 0 {
		return quarantine.Specimens("tool", it.Tool)
	}
	if it.Kind != "tool_name" {
		if set := tools(it.Text); len(set) > 0 {
			return set, nil
		}
	}
	name := "description"
	if it.Kind == "tool_name" {
		name = "name"
	}
	raw, err := object(name, it.Text)
	if err != nil {
		return nil, err
	}
	return quarantine.Specimens("tool", raw)
}

// tools are the specimens of a text that is a list of tools, or a schema, in
// JSON: nil where it is not.
func tools(text string) []quarantine.Specimen {
	var list []jsontext.Value
	if json.Unmarshal([]byte(text), &list) == nil {
		var out []quarantine.Specimen
		for i, raw := range list {
			set, err := quarantine.Specimens("tool", raw)
			if err != nil {
				return nil
			}
			for _, s := range set {
				s.Path = fmt.Sprintf("tool[%d].%s", i, s.Path)
				out = append(out, s)
			}
		}
		return out
	}
	var schema struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	if json.Unmarshal([]byte(text), &schema) != nil || schema.Properties == nil {
		return nil
	}
	raw, err := object("inputSchema", jsontext.Value(text))
	if err != nil {
		return nil
	}
	set, err := quarantine.Specimens("tool", raw)
	if err != nil {
		return nil
	}
	return set
}

func object(name string, value any) (jsontext.Value, error) {
	return json.Marshal(map[string]any{name: value}, json.Deterministic(true))
}
