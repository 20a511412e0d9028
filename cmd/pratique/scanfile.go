package main

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
)

// A fileList is a tools file as an upstream.
type fileList struct {
	result       jsontext.Value
	instructions *string
}

// Welcome implements surface.Upstream.
func (l fileList) Welcome() mcp.Welcome {
	return mcp.Welcome{Revision: mcp.Latest, Capabilities: jsontext.Value(`{"tools":{}}`), Instructions: l.instructions}
}

// List implements surface.Upstream.
func (l fileList) List(_ context.Context, method string, _ []byte) (mcp.Frame, error) {
	if method != "tools/list" {
		return mcp.Frame{}, upstream.ErrMethod
	}
	return mcp.Frame{Shape: mcp.Result, ID: "1", Result: l.result}, nil
}

// listOf reads a tools/list result: by itself, in its answer, with a server's
// instructions beside it, or its tools alone. What is wrong inside a tool is for
// the scan to say.
func listOf(raw []byte) (fileList, error) {
	v := jsontext.Value(raw)
	if inner, ok := mcp.Get(v, "result"); ok {
		v = inner
	}
	if v.Kind() == '[' {
		v = append(append(jsontext.Value(`{"tools":`), v...), '}')
	}
	tools, ok := mcp.Get(v, "tools")
	if !ok || tools.Kind() != '[' {
		return fileList{}, errors.New(`no "tools" that are a list`)
	}
	l := fileList{result: append(append(jsontext.Value(`{"tools":`), tools...), '}')}
	if t, ok := mcp.Get(v, "instructions"); ok && t.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, t)
		if err != nil {
			return fileList{}, err
		}
		s := string(text)
		l.instructions = &s
	}
	return l, nil
}
