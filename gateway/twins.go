package gateway

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// maxNesting is how deep arguments may nest.
const maxNesting = 128

// twins refuses arguments with two names in one object that differ in case
// only: the server could read the one where we judged the other. The tool's own
// cleared schema may name both.
func (g *Gateway) twins(p *params, item *gate.Entry) error {
	if p.args == nil {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(p.args))
	return g.twinsIn(d, item, 0)
}

func (g *Gateway) twinsIn(d *jsontext.Decoder, item *gate.Entry, depth int) error {
	if depth > maxNesting {
		return ErrDeep
	}
	switch d.PeekKind() {
	case '{':
		return g.twinsInObject(d, item, depth)
	case '[':
		if _, err := d.ReadToken(); err != nil {
			return ErrParams
		}
		for d.PeekKind() != ']' {
			if err := g.twinsIn(d, item, depth+1); err != nil {
				return err
			}
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return ErrParams
	}
	return nil
}

func (g *Gateway) twinsInObject(d *jsontext.Decoder, item *gate.Entry, depth int) error {
	if _, err := d.ReadToken(); err != nil {
		return ErrParams
	}
	var few [16]string
	names := few[:0]
	var many map[string]string // folded → name, once there are many
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return ErrParams
		}
		name := t.String()
		if twin, ok := twinOf(name, names, many); ok && !g.shapes.of(item).names(twin, name) {
			return ErrTwins
		}
		if names = append(names, name); len(names) == cap(few) {
			many = make(map[string]string, 64)
			for _, n := range names {
				many[foldKey(n)] = n
			}
		} else if many != nil {
			many[foldKey(name)] = name
		}
		if err := g.twinsIn(d, item, depth+1); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return ErrParams
	}
	return nil
}

func twinOf(name string, names []string, many map[string]string) (string, bool) {
	if many != nil {
		twin, ok := many[foldKey(name)]
		return twin, ok
	}
	for _, n := range names {
		if equalFold(n, name) {
			return n, true
		}
	}
	return "", false
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
