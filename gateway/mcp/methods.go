package mcp

import (
	"github.com/go-json-experiment/json/jsontext"
)

// A Handling is what happens to a frame of a method.
type Handling uint8

// The handlings. What is not in the table is refused.
const (
	Refused  Handling = iota // a request: CodeMethodNotFound; a notification: dropped and recorded
	Here                     // ends at the gateway, which answers or acts on its own
	Surface                  // answered from what was cleared for this agent
	Path                     // the one path: carries agent-chosen values to the upstream
	Question                 // asked by the upstream: the path backwards
	Passed                   // a notification: passed on, its text inspected
)

// A Kind is what sort of thing an upstream offers under a name.
type Kind string

// The kinds of items.
const (
	NoItem           Kind = ""
	KindTool         Kind = "tool"
	KindPrompt       Kind = "prompt"
	KindResource     Kind = "resource" // by URI
	KindTemplate     Kind = "template" // by URI template
	KindServer       Kind = "server"
	KindInstructions Kind = "instructions"
)

// An Effect is what a method does by its nature.
type Effect uint8

// The effects of methods.
const (
	Unclassified Effect = iota // whatever the item does: all effects until it is classified
	NoEffect                   // nothing of the agent's leaves the gateway
	Reads                      // reads, and tells the upstream what was asked for
)

// A Method is one row of the table.
type Method struct {
	Name         string
	Notification bool
	Agent        Handling // of a frame that an agent sends
	Upstream     Handling // of a frame that an upstream sends
	Since, Until Revision // first and last revision that has it as a frame; empty: no bound
	Input        bool     // may stand in the inputRequests of the modern era
	Effect       Effect
	List         string   // the method whose list its items come from
	Items        Kind     // what List or the params name; KindPrompt of completion/complete stands for templates too
	Header       string   // the params' member that Mcp-Name repeats; empty: none
	Params       []string // the names known in params
}

// A Ref names an item by kind and name (a tool's or prompt's name, a resource's
// URI, a template's text).
type Ref struct {
	Kind Kind
	Name string
}

// Lookup finds a method. The row is shared: do not change it.
func Lookup(name string) (*Method, bool) { panic("to be written") }

// Methods is the whole table in the order of names. Rows are shared.
func Methods() []*Method { panic("to be written") }

// In tells whether the revision has the method.
func (m *Method) In(r Revision) bool { panic("to be written") }

// Refs are the items that the params name: one for most, none for methods
// without items, several for subscriptions/listen. ErrParams if a name that must
// be there is not, or is no string.
func (m *Method) Refs(params jsontext.Value) ([]Ref, error) { panic("to be written") }
