package gateway

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/shape"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/content"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// newInputs keeps the closed shapes of input schemas. Arguments may be as long as
// params; that they nest no deeper than a tree does was seen before.
func newInputs(l *Limits) *shape.Shapes {
	return shape.New(shape.Limits{Value: l.Params, Depth: maxNesting, Kept: 8 << 20})
}

// read is the one reading of what a decision is made on, which is to be released.
func (p *params) read() (tree *args.Tree, err error) {
	if tree, p.tree = p.tree, nil; tree != nil {
		return tree, nil
	}
	return args.Parse(p.arguments())
}

// fit holds the arguments of a call against the schema that was cleared, closed:
// where it lists members there are no others. at is the JSON Pointer of what does not
// fit, without any value; empty where that is not known. A schema that cannot be used
// clears nothing.
func (g *Gateway) fit(method string, item *gate.Entry, tree *args.Tree) (fit policy.Fit, at string) {
	schema := inputSchema
	switch {
	case method == methodCall && item.Kind == gate.Tool:
	case method == methodPrompt && item.Kind == gate.Prompt:
		schema = promptSchema
	case method == methodCall, method == methodPrompt:
		return policy.Unchecked, ""
	default:
		return policy.Fits, ""
	}
	sh, err := g.inputs.ClosedBy(item.Digest, func() []byte { return schema(item.Raw) })
	if err == nil {
		err = sh.CheckRead(tree.Doc())
	}
	if fault, ok := errors.AsType[*shape.Fault](err); ok {
		return policy.Unfit, content.Place(fault.Path)
	} else if err != nil {
		return policy.Unchecked, ""
	}
	return policy.Fits, ""
}

func inputSchema(tool []byte) []byte {
	schema, _ := mcp.Get(tool, "inputSchema")
	return schema
}

// promptSchema is what a prompt's declared arguments come to: texts, and no others.
func promptSchema(prompt []byte) []byte {
	var listed, needed []byte
	all, _ := mcp.Get(prompt, "arguments")
	for a := range mcp.Elements(all) {
		name, ok := mcp.Get(a, "name")
		if !ok || name.Kind() != '"' {
			continue
		}
		listed = append(append(comma(listed), name...), `:{"type":"string"}`...)
		if must, _ := mcp.Get(a, "required"); string(must) == "true" {
			needed = append(comma(needed), name...)
		}
	}
	s := append([]byte(`{"type":"object","properties":{`), listed...)
	s = append(append(s, `},"required":[`...), needed...)
	return jsontext.Value(append(s, `],"additionalProperties":false}`...))
}

func comma(list []byte) []byte {
	if len(list) == 0 {
		return list
	}
	return append(list, ',')
}
