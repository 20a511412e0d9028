package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/marks"
	"github.com/pratique-dev/pratique/labels/args"
)

// Errors of params. They are -32602 for their request; none repeats a value.
var (
	ErrParams    = errors.New("params are not an object, or too large")
	ErrMember    = errors.New("params lack a member, or it has another type")
	ErrFold      = errors.New("params have a member that differs from a known one in case only")
	ErrArguments = errors.New("arguments are not an object")
	ErrTwins     = errors.New("arguments have two names in one object that differ in case only")
	ErrDeep      = errors.New("params are nested too deeply, or have too many values")
)

// params is the one reading of a request's params: what it is about, and where
// its parts lie in the bytes that were received. Nothing is decoded twice, and
// what is forwarded is made of the same bytes.
type params struct {
	raw      jsontext.Value // as received; nil: absent
	tool     bool           // of a method with arguments
	name     string         // tool, prompt or URI; of the ref of a completion
	template bool           // completion: the ref is a resource or template
	level    string
	cursor   bool
	args     jsontext.Value // object; nil: absent or null
	argsAt   int            // where it begins in raw
	tree     *args.Tree     // of args; nil: not read, or it could not be
	nullArg  bool
	meta     jsontext.Value // object; nil: absent
	protocol bool           // meta has members that are not the agent's to set
	token    jsontext.Value // of meta: progressToken
	state    string         // requestState; empty: absent
	hasState bool
	task     bool           // there is one; it does not go on
	beside   bool           // more goes on than arguments, name and what is the protocol's
	filter   jsontext.Value // subscriptions/listen: notifications
}

// A spec says which members a method's params have, beside _meta.
type spec struct {
	needs []string // strings that must be there and not be empty
	known []string // further members that are looked at or reserved
}

// specs are the methods whose params are read here. inputResponses, requestState
// and task are the protocol's own in any of them.
var specs = map[string]spec{
	methodCall:        {needs: []string{"name"}, known: []string{"arguments"}},
	methodPrompt:      {needs: []string{"name"}, known: []string{"arguments"}},
	methodRead:        {needs: []string{"uri"}},
	methodSubscribe:   {needs: []string{"uri"}},
	methodUnsubscribe: {needs: []string{"uri"}},
	methodComplete:    {known: []string{"ref", "argument", "context"}},
	methodLevel:       {needs: []string{"level"}},
	methodListen:      {known: []string{"notifications"}},
	methodTools:       {known: []string{"cursor"}},
	methodPrompts:     {known: []string{"cursor"}},
	methodResources:   {known: []string{"cursor"}},
	methodTemplates:   {known: []string{"cursor"}},
	methodPing:        {},
	methodDiscover:    {},
}

// Methods of requests that agents send.
const (
	methodCall        = "tools/call"
	methodPrompt      = "prompts/get"
	methodRead        = "resources/read"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodComplete    = "completion/complete"
	methodLevel       = "logging/setLevel"
	methodListen      = "subscriptions/listen"
	methodTools       = "tools/list"
	methodPrompts     = "prompts/list"
	methodResources   = "resources/list"
	methodTemplates   = "resources/templates/list"
	methodPing        = "ping"
	methodDiscover    = "server/discover"
)

// levels are those of RFC 5424 that MCP knows.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// reserved are the members that belong to the protocol in every request.
var reserved = []string{"_meta", "inputResponses", "requestState", "task"}

// readParams reads the params of a request whose method is in specs.
func readParams(f *mcp.Frame, limit int) (p params, err error) {
	sp := specs[f.Method]
	p.raw = f.Params
	if len(f.Params) > limit {
		return p, ErrParams
	}
	if f.Params != nil {
		if err := p.members(&sp); err != nil {
			p.tree.Release()
			p.tree = nil
			return p, err
		}
	}
	p.tool = f.Method == methodCall || f.Method == methodPrompt
	for _, n := range sp.needs {
		if p.name == "" && n != "level" || n == "level" && p.level == "" {
			return p, fmt.Errorf("%w: %s", ErrMember, n)
		}
	}
	return p, nil
}

func (p *params) members(sp *spec) error {
	w := walk{raw: p.raw}
	if !w.object() {
		return ErrParams
	}
	seen := make([]string, 0, 8) // known names; who reads the first of two would judge another call than is sent
	for {
		name, ok := w.name()
		if !ok {
			break
		}
		key := sp.exact(name)
		if key == "" {
			if foldsInto(name, reserved) || foldsInto(name, sp.needs) || foldsInto(name, sp.known) {
				return ErrFold
			}
			if p.beside = true; !w.skip() {
				return ErrParams
			}
			continue
		}
		v, ok := p.value(&w, key)
		if !ok || slices.Contains(seen, key) {
			return ErrParams
		}
		seen = append(seen, key)
		if err := p.member(key, v); err != nil {
			return err
		}
	}
	if !w.end() {
		return ErrParams
	}
	return nil
}

// value is the next value of the walk. Arguments are read at once for whoever judges
// them.
func (p *params) value(w *walk, key string) (jsontext.Value, bool) {
	if key == "arguments" {
		from := marks.Space(p.raw, min(w.i, len(p.raw)))
		if tree, n, err := args.ParseFirst(p.raw[from:]); err == nil {
			p.tree.Release()
			p.tree, p.argsAt, w.i = tree, from, from+n
			return jsontext.Value(p.raw[from:w.i:w.i]), true
		}
	}
	return w.value()
}

// exact is the known name that a name is, exactly; empty: none.
func (sp *spec) exact(name []byte) string {
	for _, list := range [...][]string{sp.needs, sp.known, reserved} {
		for _, k := range list {
			if string(name) == k {
				return k
			}
		}
	}
	return ""
}

func (p *params) member(key string, v jsontext.Value) (err error) {
	switch key {
	case "name", "uri":
		p.name, err = text(v, key)
	case "level":
		if p.level, err = text(v, key); err == nil && !slices.Contains(levels, p.level) {
			return fmt.Errorf("%w: level", ErrMember)
		}
	case "cursor":
		p.cursor = v.Kind() != 'n'
	case "arguments":
		switch v.Kind() {
		case '{':
			p.args = v
		case 'n':
			p.nullArg = true
		default:
			return ErrArguments
		}
	case "_meta":
		return p.ofMeta(v)
	case "requestState":
		p.hasState = true
		if v.Kind() != 'n' {
			p.state, err = text(v, key)
		}
	case "task":
		p.task = true // tasks are not claimed to anybody: to be processed as if it were not there
	case "ref":
		return p.ref(v)
	case "argument", "notifications", "context", "inputResponses":
		if v.Kind() != '{' && (v.Kind() != 'n' || key == "argument" || key == "notifications") {
			return fmt.Errorf("%w: %s", ErrMember, key)
		}
		if key == "notifications" {
			p.filter = v
		}
		if key == "argument" && !isArgument(v) {
			return fmt.Errorf("%w: argument", ErrMember)
		}
		p.beside = p.beside || key == "inputResponses"
	}
	return err
}

// isArgument tells whether what a completion is for is a name and a value: texts, of
// which the value is judged under the name.
func isArgument(v jsontext.Value) bool {
	for name, x := range mcp.Members(v) {
		if (name == "name" || name == "value") && x.Kind() != '"' {
			return false
		}
	}
	return true
}

func (p *params) ofMeta(v jsontext.Value) error {
	if v.Kind() != '{' {
		return fmt.Errorf("%w: _meta", ErrMember)
	}
	p.meta = v
	for name, value := range mcp.Members(v) {
		switch {
		case mcp.IsProtocolMeta(name):
			p.protocol = true
		case name == mcp.MetaProgress:
			p.token = value
			p.beside = p.beside || len(value) > plainToken
		case name != mcp.MetaLogLevel || len(value) > plainToken:
			p.beside = true
		}
	}
	return nil
}

// ref reads the ref of completion/complete.
func (p *params) ref(v jsontext.Value) error {
	w := walk{raw: v}
	if !w.object() {
		return fmt.Errorf("%w: ref", ErrMember)
	}
	var typ, name, uri string
	known := []string{"type", "name", "uri"}
	for {
		n, ok := w.name()
		if !ok {
			break
		}
		key := string(n)
		if !slices.Contains(known, key) && foldsInto(n, known) {
			return ErrFold
		}
		v, ok := w.value()
		if !ok {
			return ErrParams
		}
		var err error
		switch key {
		case "type":
			typ, err = text(v, "ref.type")
		case "name":
			name, err = text(v, "ref.name")
		case "uri":
			uri, err = text(v, "ref.uri")
		}
		if err != nil {
			return err
		}
	}
	switch {
	case typ == "ref/prompt" && name != "" && uri == "":
		p.name = name
	case typ == "ref/resource" && uri != "":
		p.name, p.template = uri, true
	default:
		return fmt.Errorf("%w: ref", ErrMember)
	}
	return nil
}

func text(v jsontext.Value, name string) (string, error) {
	if v.Kind() != '"' {
		return "", fmt.Errorf("%w: %s", ErrMember, name)
	}
	if len(v) > 1 && bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), nil
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return "", fmt.Errorf("%w: %s", ErrMember, name)
	}
	return string(b), nil
}

// foldsInto tells whether a name differs from one of the known ones in case
// only, by Unicode's simple folding: U+017F is an s, U+212A a k.
func foldsInto(name []byte, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return bytes.EqualFold(name, []byte(k)) })
}
