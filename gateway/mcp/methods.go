package mcp

import (
	"slices"
	"strings"

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

	names nameSet // Params, to hold others against
}

// A Ref names an item by kind and name (a tool's or prompt's name, a resource's
// URI, a template's text).
type Ref struct {
	Kind Kind
	Name string
}

// Lookup finds a method. The row is shared: do not change it.
func Lookup(name string) (*Method, bool) {
	m, ok := table[name]
	return m, ok
}

// Methods is the whole table in the order of names. Rows are shared.
func Methods() []*Method {
	out := make([]*Method, 0, len(table))
	for _, m := range table {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *Method) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// In tells whether the revision has the method.
func (m *Method) In(r Revision) bool {
	return r.Known() && (m.Since == "" || r >= m.Since) && (m.Until == "" || r <= m.Until)
}

// ListOf is the method that lists items of the kind; empty: none does.
func ListOf(k Kind) string {
	switch k {
	case KindTool:
		return "tools/list"
	case KindPrompt:
		return "prompts/list"
	case KindResource:
		return "resources/list"
	case KindTemplate:
		return "resources/templates/list"
	}
	return ""
}

// Refs are the items that the params name: one for most, none for methods
// without items, several for subscriptions/listen. ErrParams if a name that must
// be there is not, or is no string; ErrFold.
func (m *Method) Refs(params jsontext.Value) ([]Ref, error) {
	switch {
	case m.Items == NoItem || m.List == m.Name:
		return nil, nil
	case m.Name == "completion/complete":
		return completionRefs(params)
	case m.Name == "subscriptions/listen":
		return listenRefs(params)
	}
	at := "name"
	if m.Items == KindResource {
		at = "uri"
	}
	name, ok := GetString(params, at)
	if !ok || name == "" {
		return nil, ErrParams
	}
	return []Ref{{m.Items, name}}, nil
}

// completionRefs reads the ref of completion/complete. What is not there to be
// completed is not asked about, so the argument's form is checked as well.
func completionRefs(params jsontext.Value) ([]Ref, error) {
	ref, _ := Get(params, "ref")
	argument, _ := Get(params, "argument")
	if err := FoldClash(ref, []string{"type", "name", "uri"}); err != nil {
		return nil, err
	}
	if err := FoldClash(argument, []string{"name", "value"}); err != nil {
		return nil, err
	}
	_, named := GetString(argument, "name")
	_, valued := GetString(argument, "value")
	if !named || !valued {
		return nil, ErrParams
	}
	kind, _ := GetString(ref, "type")
	switch kind {
	case "ref/prompt":
		if name, ok := GetString(ref, "name"); ok && name != "" {
			return []Ref{{KindPrompt, name}}, nil
		}
	case "ref/resource":
		if uri, ok := GetString(ref, "uri"); ok && uri != "" {
			return []Ref{{KindTemplate, uri}}, nil
		}
	}
	return nil, ErrParams
}

// listenRefs reads the URIs that a stream of changes is asked for.
func listenRefs(params jsontext.Value) ([]Ref, error) {
	wanted, ok := Get(params, "notifications")
	if !ok || wanted.Kind() != '{' {
		return nil, ErrParams
	}
	if err := FoldClash(wanted, []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"}); err != nil {
		return nil, err
	}
	uris, ok := Get(wanted, "resourceSubscriptions")
	if !ok {
		return nil, nil
	}
	if uris.Kind() != '[' {
		return nil, ErrParams
	}
	var refs []Ref
	for v := range Elements(uris) {
		uri, ok := String(v)
		if !ok || uri == "" {
			return nil, ErrParams
		}
		refs = append(refs, Ref{KindResource, uri})
	}
	return refs, nil
}
