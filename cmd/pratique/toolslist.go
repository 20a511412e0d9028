package main

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/internal/canon"
)

// A toolsFile is a list of tools as MCP servers answer it.
type toolsFile struct {
	tools  []jsontext.Value
	names  []string // may be empty where a tool has none
	cursor bool     // the server had more pages
}

// parseTools reads TOOLS: the result of tools/list ({"tools": [...]}), with
// whatever stands beside it ({"server", "instructions", "tools"}), the whole
// JSON-RPC answer, or a plain array of tool objects. It is read strictly once
// here, so that a bad file is named by what is wrong in it and nothing is sent.
func parseTools(path string, raw []byte) (toolsFile, error) {
	var f toolsFile
	bad := func(err error) (toolsFile, error) {
		return toolsFile{}, fmt.Errorf("%w: %s: %w", errInput, path, err)
	}
	if _, err := canon.JSON(raw, canon.Limits{Bytes: maxText, Depth: 128}); err != nil {
		return bad(err)
	}
	list := jsontext.Value(raw)
	if list.Kind() == '{' {
		var o struct {
			Result     jsontext.Value `json:"result"`
			Tools      jsontext.Value `json:"tools"`
			NextCursor string         `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return bad(canon.ErrShape)
		}
		if o.Tools == nil && o.Result.Kind() == '{' {
			return parseTools(path, o.Result)
		}
		list, f.cursor = o.Tools, o.NextCursor != ""
	}
	if list.Kind() != '[' {
		return bad(fmt.Errorf("neither an MCP tools/list result nor an array of tools"))
	}
	if err := json.Unmarshal(list, &f.tools); err != nil {
		return bad(canon.ErrShape)
	}
	if len(f.tools) == 0 {
		return bad(fmt.Errorf("it lists no tools"))
	}
	for i, t := range f.tools {
		var n struct {
			Name string `json:"name"`
		}
		if t.Kind() != '{' || json.Unmarshal(t, &n) != nil {
			return bad(fmt.Errorf("tool %d is no object with a name", i+1))
		}
		f.names = append(f.names, n.Name)
	}
	return f, nil
}

// parseTool reads TOOL: one tool object, or a list of exactly one.
func parseTool(path string, raw []byte) (jsontext.Value, error) {
	if _, err := canon.JSON(raw, canon.Limits{Bytes: maxText, Depth: 128}); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errInput, path, err)
	}
	v := jsontext.Value(raw)
	var o struct {
		Name  string         `json:"name"`
		Tools jsontext.Value `json:"tools"`
	}
	if v.Kind() == '{' && json.Unmarshal(raw, &o) == nil && (o.Name != "" || o.Tools == nil) {
		return v, nil
	}
	f, err := parseTools(path, raw)
	if err != nil {
		return nil, err
	}
	if len(f.tools) != 1 {
		return nil, fmt.Errorf("%w: %s lists %d tools; give the one tool", errInput, path, len(f.tools))
	}
	return f.tools[0], nil
}
