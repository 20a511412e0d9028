package quarantine

import "maps"

// Results and messages are of one kind everywhere, so that the same words get the
// same verdict wherever they stand. The tables here say only what of them cannot be
// cut: what the protocol, a client or a server goes by.

// carried is a place where anything may stand. The names in its table are the
// protocol's own, which say nothing.
func carried(k Kind) *place {
	p := &place{text: k, names: k, members: map[string]*place{}}
	p.rest = p
	for _, n := range []string{
		"content", "structuredContent", "isError", "_meta", "type", "text", "resource", "uri", "mimeType", "name", "title",
		"description", "data", "blob", "annotations", "audience", "priority", "contents", "messages", "role", "message",
		"level", "logger", "completion", "values", "total", "hasMore", "progress", "progressToken", "resultType", "icons", "src", "size",
	} {
		p.members[n] = p
	}
	return p
}

// A returning makes the places of one kind.
type returning struct {
	kind  Kind
	free  *place
	fixed *place
}

// object is a free place but for some members, and for those that must stay what
// they are.
func (r *returning) object(members map[string]*place, fixed ...string) *place {
	p := &place{text: r.kind, names: r.kind, members: maps.Clone(r.free.members), rest: r.free}
	maps.Copy(p.members, members)
	for _, n := range fixed {
		p.members[n] = r.fixed
	}
	return p
}

// named is an object whose member names are somebody's own choice.
func (r *returning) named(each *place) *place {
	return &place{text: r.kind, names: r.kind, rest: each}
}

// block is a part of content, and what stands in one.
func (r *returning) block() *place {
	inner := map[string]*place{
		"annotations": r.object(nil, "audience", "lastModified"),
		"icons":       r.object(nil, "src", "mimeType", "sizes", "theme"),
		"resource":    r.object(nil, "uri", "mimeType"),
	}
	b := r.object(inner, "type", "mimeType", "uri", "id", "toolUseId")
	b.members["content"] = b // of a tool's result in a sampling message
	return b
}

// asked are the params of a question. What a person or model chooses from goes
// back to the server as it is.
func (r *returning) asked() map[string]*place {
	schema := r.object(nil, "type", "format", "pattern", "enum", "const", "default", "required", "$ref", "$id", "$schema")
	for _, n := range []string{"items", "anyOf", "oneOf", "allOf", "additionalProperties"} {
		schema.members[n] = schema
	}
	for _, n := range []string{"properties", "$defs", "definitions"} {
		schema.members[n] = r.named(schema)
	}
	message := r.object(map[string]*place{"content": r.block()}, "role")
	tool := r.object(map[string]*place{"inputSchema": schema, "outputSchema": schema}, "name")
	m := map[string]*place{"messages": message, "requestedSchema": schema, "tools": tool}
	for _, n := range []string{"mode", "url", "elicitationId", "includeContext", "stopSequences", "toolChoice", "task"} {
		m[n] = r.fixed
	}
	return m
}

func newReturning(k Kind) *returning {
	r := &returning{kind: k, free: carried(k), fixed: &place{text: k, names: k, form: FormFixed}}
	r.fixed.rest = r.fixed
	return r
}

// result is the place of a result, whatever the method.
func (r *returning) result() *place {
	question := r.object(map[string]*place{"params": r.object(r.asked())}, "method")
	return r.object(map[string]*place{
		"content":       r.block(),
		"contents":      r.object(nil, "uri", "mimeType"),
		"messages":      r.object(map[string]*place{"content": r.block()}, "role"),
		"inputRequests": r.named(question),
	}, "resultType", "requestState", "nextCursor", "cacheScope")
}

// message is the place of what an upstream sends on its own.
func (r *returning) message() *place {
	return r.object(r.asked(), "progressToken", "requestId", "level", "uri")
}

var (
	resultPlace  = newReturning(KindResult).result()
	errorPlace   = newReturning(KindResult).free
	messagePlace = newReturning(KindMessage).message()
)
