package gateway

import (
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// maxNesting is how deep arguments may nest.
const maxNesting = 128

// few is up to how many names are compared each with each.
const few = 16

// twins refuses arguments with two names in one object that differ in case
// only: the server could read the one where we judged the other. The tool's own
// cleared schema may name both.
func (g *Gateway) twins(p *params, tree *args.Tree, item *gate.Entry) error {
	if p.args == nil || !tree.Near() {
		return nil
	}
	bad := false
	tree.Root().Visit(func(v args.Value) bool {
		bad = v.Kind() == '{' && g.twinsIn(v, item)
		return !bad
	})
	if bad {
		return ErrTwins
	}
	return nil
}

func (g *Gateway) twinsIn(object args.Value, item *gate.Entry) bool {
	var many map[string]string // folded → name, once there are many
	if object.Len() > few {
		many = make(map[string]string, object.Len())
	}
	for v := object.First(); v.Kind() != 0; v = v.Next() {
		name := v.Name()
		twin, ok := "", false
		if many != nil {
			k := foldKey(name)
			twin, ok = many[k]
			many[k] = name
		} else {
			for x := object.First(); x != v && !ok; x = x.Next() {
				twin, ok = x.Name(), equalFold(x.Name(), name)
			}
		}
		if ok && !g.shapes.of(item).names(twin, name) {
			return true
		}
	}
	return false
}

// A paramShape is what the path needs of a tool's cleared input schema.
type paramShape struct {
	headers []mcp.ParamHeader
	badHead bool
	twins   map[string][]string // folded → spellings, of names that stand in one place
}

// names tells whether the schema names both spellings in one place.
func (s *paramShape) names(a, b string) bool {
	has := func(n string) bool {
		for _, x := range s.twins[foldKey(n)] {
			if x == n {
				return true
			}
		}
		return false
	}
	return has(a) && has(b)
}

// maxShapes is how many shapes are remembered.
const maxShapes = 1 << 14

// shapes remembers them by digest.
type shapes struct {
	mu   sync.Mutex
	kept map[credentials.Digest]*paramShape
}

var noShape = &paramShape{}

func (x *shapes) of(e *gate.Entry) *paramShape {
	if e == nil || e.Kind != gate.Tool {
		return noShape
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.kept[e.Digest]; s != nil {
		return s
	}
	s := readShape(e.Raw)
	if x.kept == nil || len(x.kept) >= maxShapes {
		x.kept = map[credentials.Digest]*paramShape{}
	}
	x.kept[e.Digest] = s
	return s
}

func readShape(tool []byte) *paramShape {
	s := &paramShape{twins: map[string][]string{}}
	schema, ok := mcp.Get(tool, "inputSchema")
	if !ok {
		return s
	}
	var err error
	if s.headers, err = mcp.ParamHeaders(schema); err != nil {
		s.headers, s.badHead = nil, true
	}
	s.collect(schema, 0)
	return s
}

// collect finds the names that stand twice, in different case, in one
// "properties" anywhere in a schema.
func (s *paramShape) collect(v jsontext.Value, depth int) {
	if depth > maxNesting {
		return
	}
	switch v.Kind() {
	case '{':
		for name, sub := range mcp.Members(v) {
			if name == "properties" && sub.Kind() == '{' {
				s.properties(sub)
			}
			s.collect(sub, depth+1)
		}
	case '[':
		for sub := range mcp.Elements(v) {
			s.collect(sub, depth+1)
		}
	}
}

func (s *paramShape) properties(v jsontext.Value) {
	by := map[string][]string{}
	for name := range mcp.Members(v) {
		k := foldKey(name)
		by[k] = append(by[k], name)
	}
	for k, names := range by {
		if len(names) > 1 {
			s.twins[k] = append(s.twins[k], names...)
		}
	}
}
