package mcp

import (
	"errors"

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
func UnsupportedVersion(id ID, requested string, supported []Revision) Frame { panic("to be written") }

// ParseHello reads the params of initialize. ErrHello, ErrFold.
func ParseHello(params jsontext.Value) (Hello, error) { panic("to be written") }

// HelloFromMeta reads the _meta of a stateless request; ok is whether it names a
// revision at all. ErrHello if it does and lacks the rest.
func HelloFromMeta(params jsontext.Value) (h Hello, ok bool, err error) { panic("to be written") }

// Params are the params of initialize that say h.
func (h Hello) Params() jsontext.Value { panic("to be written") }

// Meta are the members of _meta that say h in a stateless request.
func (h Hello) Meta() []Member { panic("to be written") }

// IsProtocolMeta tells whether a key of a request's _meta is set by us, and only
// by us: the protocol's own, trace context, baggage, ours. progressToken and
// logLevel are the agent's.
func IsProtocolMeta(key string) bool { panic("to be written") }

// ParseWelcome reads the result of initialize. ErrHello, ErrFold.
func ParseWelcome(result jsontext.Value) (Welcome, error) { panic("to be written") }

// ParseDiscover reads the result of server/discover: the newest modern revision
// among those supported, serverInfo from _meta. ErrHello, ErrFold.
func ParseDiscover(result jsontext.Value) (Welcome, error) { panic("to be written") }

// Result is the result of initialize that says w.
func (w Welcome) Result() jsontext.Value { panic("to be written") }

// Discover is the result of server/discover that says w, good for ttl
// milliseconds, for this agent alone.
func (w Welcome) Discover(ttl int) jsontext.Value { panic("to be written") }

// ClientCapabilities are those of an agent's capabilities that the method table
// carries: roots, sampling, elicitation. Never nil.
func ClientCapabilities(raw jsontext.Value) jsontext.Value { panic("to be written") }

// ServerCapabilities are those of an upstream's capabilities that the method table
// carries: tools, prompts, resources, completions, logging. Never nil.
func ServerCapabilities(raw jsontext.Value) jsontext.Value { panic("to be written") }
