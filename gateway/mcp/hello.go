package mcp

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Keys in _meta that belong to the protocol.
const (
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaServerInfo   = "io.modelcontextprotocol/serverInfo"
	MetaLogLevel     = "io.modelcontextprotocol/logLevel"
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
	MetaProgress     = "progressToken"
	MetaTraceparent  = "traceparent"
	MetaTracestate   = "tracestate"
	MetaBaggage      = "baggage"
	MetaLabel        = "dev.pratique/label"
	MetaOurs         = "dev.pratique/" // the prefix of all keys of ours
)

// Values of resultType in the modern era.
const (
	ResultComplete      = "complete"
	ResultInputRequired = "input_required"
)

// ErrHello says that an initialize request or a stateless request's _meta, or
// the answer to it, lacks what the revision demands.
var ErrHello = errors.New("mcp: what one side says of itself is not what the revision demands")

// Negotiate is the revision that a handshake's answer names: the one proposed if
// it is a legacy one that we speak, else Latest.
func Negotiate(proposed Revision) Revision {
	if proposed.Legacy() {
		return proposed
	}
	return Latest
}

// Revisions are those spoken, oldest first.
func Revisions() []Revision {
	return []Revision{Rev20241105, Rev20250326, Rev20250618, Rev20251125, Rev20260728}
}

// UnsupportedVersion is the modern era's answer to a revision that we do not
// speak, with those that the asker may choose from.
func UnsupportedVersion(id ID, requested string, supported []Revision) Frame {
	return Fail(id, CodeUnsupportedVersion, "unsupported protocol version", Object(
		Member{"supported", quoteAll(supported)}, Member{"requested", Quote(requested)}))
}

func quoteAll(revisions []Revision) jsontext.Value {
	list := make([]jsontext.Value, len(revisions))
	for i, r := range revisions {
		list[i] = Quote(string(r))
	}
	return Array(list...)
}

// take moves the members of an object that are wanted to their places, and gives
// the others in their order.
func take(object jsontext.Value, places map[string]*jsontext.Value) (rest []Member) {
	for name, v := range Members(object) {
		if p := places[name]; p != nil {
			*p = v
		} else {
			rest = append(rest, Member{name, v})
		}
	}
	return rest
}

// isObject tells whether a member that may be absent is an object, if it is there.
func isObject(v jsontext.Value) bool { return v == nil || v.Kind() == '{' }

// ParseHello reads the params of initialize. Absent capabilities claim nothing.
// ErrHello.
func ParseHello(params jsontext.Value) (Hello, error) {
	var h Hello
	var version jsontext.Value
	h.Rest = take(params, map[string]*jsontext.Value{
		"protocolVersion": &version, "capabilities": &h.Capabilities, "clientInfo": &h.ClientInfo,
	})
	v, ok := String(version)
	if !ok || !isObject(h.Capabilities) || !isObject(h.ClientInfo) {
		return Hello{}, ErrHello
	}
	h.Revision = Revision(v)
	return h, nil
}

// HelloFromMeta reads the _meta of a stateless request; ok is whether it names a
// revision at all. ErrHello if it does and lacks the rest.
func HelloFromMeta(params jsontext.Value) (h Hello, ok bool, err error) {
	meta, _ := Get(params, "_meta")
	var version jsontext.Value
	take(meta, map[string]*jsontext.Value{
		MetaVersion: &version, MetaCapabilities: &h.Capabilities, MetaClientInfo: &h.ClientInfo,
	})
	if version == nil {
		return Hello{}, false, nil
	}
	v, isText := String(version)
	if !isText || h.Capabilities == nil || !isObject(h.Capabilities) || !isObject(h.ClientInfo) {
		return Hello{}, true, ErrHello
	}
	h.Revision = Revision(v)
	return h, true, nil
}

// Params are the params of initialize that say h.
func (h Hello) Params() jsontext.Value {
	return Object(append([]Member{
		{"protocolVersion", Quote(string(h.Revision))},
		{"capabilities", orEmpty(h.Capabilities)},
		{"clientInfo", h.ClientInfo},
	}, h.Rest...)...)
}

// Meta are the members of _meta that say h in a stateless request.
func (h Hello) Meta() []Member {
	m := []Member{
		{MetaVersion, Quote(string(h.Revision))},
		{MetaCapabilities, orEmpty(h.Capabilities)},
	}
	if h.ClientInfo != nil {
		m = append(m, Member{MetaClientInfo, h.ClientInfo})
	}
	return m
}

func orEmpty(v jsontext.Value) jsontext.Value {
	if v == nil {
		return jsontext.Value("{}")
	}
	return v
}

// IsProtocolMeta tells whether a key of a request's _meta is set by us, and only
// by us: the protocol's own, trace context, baggage, ours. progressToken and
// logLevel are the agent's.
func IsProtocolMeta(key string) bool {
	switch key {
	case MetaVersion, MetaClientInfo, MetaCapabilities, MetaServerInfo, MetaSubscription, MetaTraceparent, MetaTracestate, MetaBaggage:
		return true
	}
	return IsOurMeta(key)
}

// IsOurMeta tells whether a key of _meta is one that only the gateway writes:
// whoever else sends one, in whatever case, has it dropped.
func IsOurMeta(key string) bool {
	return len(key) >= len(MetaOurs) && strings.EqualFold(key[:len(MetaOurs)], MetaOurs)
}

// ParseWelcome reads the result of initialize. ErrHello.
func ParseWelcome(result jsontext.Value) (Welcome, error) {
	var w Welcome
	var version, instructions jsontext.Value
	w.Rest = take(result, map[string]*jsontext.Value{
		"protocolVersion": &version, "capabilities": &w.Capabilities, "serverInfo": &w.ServerInfo, "instructions": &instructions,
	})
	v, ok := String(version)
	if !ok || !w.fill(instructions) {
		return Welcome{}, ErrHello
	}
	w.Revision = Revision(v)
	return w, nil
}

// ParseDiscover reads the result of server/discover: the newest modern revision
// among those supported that we speak (empty: none), serverInfo from _meta.
// ErrHello.
func ParseDiscover(result jsontext.Value) (Welcome, error) {
	var w Welcome
	var versions, instructions jsontext.Value
	w.Rest = take(result, map[string]*jsontext.Value{
		"supportedVersions": &versions, "capabilities": &w.Capabilities, "instructions": &instructions,
	})
	w.ServerInfo, _ = Get(result, "_meta", MetaServerInfo)
	if versions.Kind() != '[' || !w.fill(instructions) {
		return Welcome{}, ErrHello
	}
	for v := range Elements(versions) {
		if s, _ := String(v); Revision(s).Modern() && Revision(s) > w.Revision {
			w.Revision = Revision(s)
		}
	}
	return w, nil
}

// fill checks what both eras' answers have.
func (w *Welcome) fill(instructions jsontext.Value) bool {
	if instructions != nil {
		s, ok := String(instructions)
		if !ok {
			return false
		}
		w.Instructions = &s
	}
	w.Capabilities = orEmpty(w.Capabilities)
	return w.Capabilities.Kind() == '{' && isObject(w.ServerInfo)
}

func (w Welcome) instructions() jsontext.Value {
	if w.Instructions == nil {
		return nil
	}
	return Quote(*w.Instructions)
}

// Result is the result of initialize that says w.
func (w Welcome) Result() jsontext.Value {
	return Object(append([]Member{
		{"protocolVersion", Quote(string(w.Revision))},
		{"capabilities", orEmpty(w.Capabilities)},
		{"serverInfo", w.ServerInfo},
		{"instructions", w.instructions()},
	}, w.Rest...)...)
}

// Discover is the result of server/discover that says w, with the revisions
// supported, good for ttl milliseconds and for this agent alone. serverInfo
// stands in _meta; what Rest says of the members that are ours is left out.
func (w Welcome) Discover(ttl int, supported []Revision) jsontext.Value {
	members := []Member{
		{"resultType", Quote(ResultComplete)},
		{"supportedVersions", quoteAll(supported)},
		{"capabilities", orEmpty(w.Capabilities)},
		{"instructions", w.instructions()},
		{"ttlMs", jsontext.Value(strconv.Itoa(ttl))},
		{"cacheScope", Quote("private")},
	}
	var meta jsontext.Value
	for _, m := range w.Rest {
		taken := slices.ContainsFunc(members, func(o Member) bool { return o.Name == m.Name })
		switch {
		case m.Name == "_meta":
			meta = m.Value
		case !taken:
			members = append(members, m)
		}
	}
	var info []Member
	if w.ServerInfo != nil {
		info = []Member{{MetaServerInfo, w.ServerInfo}}
	}
	drop := func(name string) bool { return name == MetaServerInfo }
	if meta, err := Edit(meta, info, drop); err == nil && !isEmpty(meta) {
		members = append(members, Member{"_meta", meta})
	}
	return Object(members...)
}

// capabilities that the method table carries, with their members.
var (
	clientCapabilities = map[string][]string{
		"roots": {"listChanged"}, "sampling": {"tools"}, "elicitation": {"form", "url"},
	}
	serverCapabilities = map[string][]string{
		"tools": {"listChanged"}, "prompts": {"listChanged"}, "resources": {"listChanged", "subscribe"},
		"completions": nil, "logging": nil,
	}
)

// ClientCapabilities are those of an agent's capabilities that the method table
// carries: roots, sampling (without context), elicitation. Never nil.
func ClientCapabilities(raw jsontext.Value) jsontext.Value {
	return onlyKnown(raw, clientCapabilities)
}

// ServerCapabilities are those of an upstream's capabilities that the method table
// carries: tools, prompts, resources, completions, logging. Never nil.
func ServerCapabilities(raw jsontext.Value) jsontext.Value {
	return onlyKnown(raw, serverCapabilities)
}

func onlyKnown(raw jsontext.Value, known map[string][]string) jsontext.Value {
	var out []Member
	for name, v := range Members(raw) {
		within, ok := known[name]
		if !ok || v.Kind() != '{' {
			continue
		}
		var members []Member
		for sub, value := range Members(v) {
			if !slices.Contains(within, sub) {
				continue
			}
			switch value.Kind() { // none has a text: nobody would have read it
			case 't', 'f':
				members = append(members, Member{sub, value})
			case '{':
				members = append(members, Member{sub, jsontext.Value("{}")})
			}
		}
		out = append(out, Member{name, Object(members...)})
	}
	return Object(out...)
}
