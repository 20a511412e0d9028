// Package mcp is the vocabulary of the MCP wire: frames, ids, revisions, the
// table of methods, and the codecs that lines and event streams are read with. It
// opens no connection: serve speaks to agents, upstream to servers.
//
// A frame is decoded once and strictly; what was decoded is judged, and exactly
// that is forwarded. Raw members stay raw: numbers, unknown fields and _meta
// arrive as they were sent.
//
// Sources: the MCP specification, revisions 2024-11-05, 2025-03-26, 2025-06-18,
// 2025-11-25 and 2026-07-28; JSON-RPC 2.0.
package mcp

import (
	"github.com/go-json-experiment/json/jsontext"
)

// A Revision is a protocol revision by its date.
type Revision string

// The revisions that are spoken.
const (
	Rev20241105 Revision = "2024-11-05"
	Rev20250326 Revision = "2025-03-26" // the only one with batches
	Rev20250618 Revision = "2025-06-18"
	Rev20251125 Revision = "2025-11-25"
	Rev20260728 Revision = "2026-07-28" // stateless: no handshake, no session
)

// Latest is the newest revision of the legacy era: what is offered to somebody
// who proposes one that we do not know.
const Latest = Rev20251125

// Known tells whether the revision is spoken at all.
func (r Revision) Known() bool { return r.Legacy() || r.Modern() }

// Legacy tells whether the revision has a handshake and sessions.
func (r Revision) Legacy() bool {
	switch r {
	case Rev20241105, Rev20250326, Rev20250618, Rev20251125:
		return true
	}
	return false
}

// Modern tells whether the revision is stateless.
func (r Revision) Modern() bool { return r == Rev20260728 }

// Batches tells whether frames may come in arrays.
func (r Revision) Batches() bool { return r == Rev20250326 }

// A Shape is what a frame is.
type Shape uint8

// The shapes of frames.
const (
	NoFrame      Shape = iota
	Request            // method and id
	Notification       // method, no id
	Result             // id and result
	Failure            // id and error
)

// An ID is a JSON-RPC id by its JSON text, so that 1.5 and 2^53+1 stay what they
// are: "7", `"a"`. Empty is no id; null is none either. It is comparable.
type ID string

// A Member is a member of an object, with its value raw.
type Member struct {
	Name  string
	Value jsontext.Value
}

// A Frame is one JSON-RPC message. Params, Result and the members in Rest are the
// bytes received, checked: valid UTF-8, no duplicate names at any depth, bounded
// depth. They are shared and never changed in place.
type Frame struct {
	Shape  Shape
	ID     ID
	Method string
	Params jsontext.Value // nil: absent. An object where the method's table row says so
	Result jsontext.Value
	Error  *Error
	Rest   []Member // unknown members of the envelope, in their order
}

// An Error is the error member of a frame.
type Error struct {
	Code    int64
	Message string
	Data    jsontext.Value // nil: absent
	Rest    []Member
}

// Hello is what an agent says of itself: by initialize, or in the _meta of each
// stateless request.
type Hello struct {
	Revision     Revision       // as proposed; may be unknown
	Capabilities jsontext.Value // object; nil: {}
	ClientInfo   jsontext.Value // object; nil: absent
	Rest         []Member       // other members of initialize's params
}

// Welcome is what a server says of itself: the result of initialize or of
// server/discover.
type Welcome struct {
	Revision     Revision
	Capabilities jsontext.Value // object
	ServerInfo   jsontext.Value // object; nil: absent
	Instructions *string        // nil: absent
	Rest         []Member       // other members of the result, _meta among them
}
