package declared

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrTool says that a tool does not read: no strict JSON, nested too deep, or of
// more leaves than are looked at. Nothing of it may be believed.
var ErrTool = errors.New("effects: not a tool that can be read")

// Bounds of a tool that is read.
const (
	MaxDepth  = 128
	MaxLeaves = 1 << 16
	MaxValues = 64 // of one leaf
)

// Read reads a tool as tools/list has it.
func Read(raw jsontext.Value) (*Tool, error) {
	var t struct {
		Name        string                    `json:"name"`
		Title       string                    `json:"title"`
		Description string                    `json:"description"`
		Annotations map[string]jsontext.Value `json:"annotations"`
		Input       jsontext.Value            `json:"inputSchema"`
	}
	if err := json.Unmarshal(raw, &t); err != nil {
		return nil, ErrTool
	}
	out := &Tool{Name: t.Name, Title: t.Title, Description: t.Description}
	for _, h := range [...]string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if k := t.Annotations[h].Kind(); k == 't' || k == 'f' {
			out.Hints = append(out.Hints, Hint{Name: h, Value: k == 't'})
		}
	}
	if out.Title == "" {
		if v := t.Annotations["title"]; v.Kind() == '"' && json.Unmarshal(v, &out.Title) != nil {
			return nil, ErrTool
		}
	}
	if len(t.Input) == 0 {
		return out, nil
	}
	r := schemaReader{d: jsontext.NewDecoder(bytes.NewBuffer(t.Input))}
	if err := r.schema("inputSchema", "", -1, 0); err != nil {
		return nil, ErrTool
	}
	if _, err := r.d.ReadToken(); err != io.EOF {
		return nil, ErrTool
	}
	out.Leaves = r.leaves
	for i := range out.Leaves {
		out.Leaves[i].At = i
	}
	return out, nil
}

// A schemaReader collects the leaves of a schema in the order of the document.
type schemaReader struct {
	d      *jsontext.Decoder
	leaves []Leaf
}

var errLeaves = errors.New("too deep, or too many leaves")

// leaf begins a leaf and returns its place.
func (r *schemaReader) leaf(l Leaf) (int, error) {
	if len(r.leaves) == MaxLeaves {
		return 0, errLeaves
	}
	r.leaves = append(r.leaves, l)
	return len(r.leaves) - 1, nil
}

// maxPath bounds the paths of leaves: those of what is deeper are those of what it
// is in.
const maxPath = 512

func below(path, name string) string {
	if len(path)+len(name) >= maxPath {
		return path
	}
	return path + "." + name
}

// schema reads a schema: of is the leaf that it is about, -1 where it is the root's
// own; above is the name of the nearest leaf that has one.
func (r *schemaReader) schema(path, above string, of, depth int) error {
	if depth > MaxDepth {
		return errLeaves
	}
	if r.d.PeekKind() != '{' {
		return r.each(path, above, of, depth) // an array of schemas, or a boolean
	}
	if _, err := r.d.ReadToken(); err != nil {
		return err
	}
	for r.d.PeekKind() == '"' {
		tok, err := r.d.ReadToken()
		if err != nil {
			return err
		}
		if err := r.member(tok.String(), path, above, of, depth); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// each reads the elements of an array as schemas; anything else is passed by.
func (r *schemaReader) each(path, above string, of, depth int) error {
	if r.d.PeekKind() != '[' {
		return r.d.SkipValue()
	}
	if _, err := r.d.ReadToken(); err != nil {
		return err
	}
	for i := 0; r.d.PeekKind() != ']'; i++ {
		if r.d.PeekKind() == 0 {
			return errLeaves
		}
		if err := r.schema(path+"["+strconv.Itoa(i)+"]", above, of, depth+1); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// member reads what one word of a schema says.
func (r *schemaReader) member(name, path, above string, of, depth int) error {
	at := below(path, name)
	switch name {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies":
		return r.named(at, above, depth+1)
	case "required":
		return r.required(at, above)
	case "title", "description", "$comment", "format", "pattern", "contentMediaType":
		return r.text(name, at, above, of)
	case "type", "enum", "const":
		return r.values(name, path, of)
	case "default", "examples", "example", "$ref", "$id", "$schema":
		return r.d.SkipValue()
	}
	switch r.d.PeekKind() { // items, allOf, not, if and what nobody has thought of
	case '{', '[':
		return r.schema(at, above, of, depth+1)
	}
	return r.d.SkipValue()
}

// named reads an object of schemas by name.
func (r *schemaReader) named(path, above string, depth int) error {
	if depth > MaxDepth {
		return errLeaves
	}
	if r.d.PeekKind() != '{' {
		return r.d.SkipValue()
	}
	if _, err := r.d.ReadToken(); err != nil {
		return err
	}
	for r.d.PeekKind() == '"' {
		tok, err := r.d.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		n, err := r.leaf(Leaf{Name: name, Above: above, Path: below(path, name)})
		if err != nil {
			return err
		}
		if err := r.schema(below(path, name), name, n, depth+1); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// required reads names that a call must have, whether or not there is a schema of
// them.
func (r *schemaReader) required(path, above string) error {
	v, err := r.d.ReadValue()
	if err != nil {
		return err
	}
	var names []string
	if json.Unmarshal(v, &names) != nil {
		return nil
	}
	for i, n := range names {
		if _, err := r.leaf(Leaf{Name: n, Above: above, Path: path + "[" + strconv.Itoa(i) + "]", Named: true}); err != nil {
			return err
		}
	}
	return nil
}

// text reads a string that says something of a leaf.
func (r *schemaReader) text(name, path, above string, of int) error {
	v, err := r.d.ReadValue()
	if err != nil || v.Kind() != '"' {
		return err
	}
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return err
	}
	if of < 0 { // of the root, or of what stands in it without a name
		if of, err = r.leaf(Leaf{Above: above, Path: path}); err != nil {
			return err
		}
	}
	r.leaves[of].Add(name, string(b), of)
	return nil
}

// values reads what a leaf may be, or of which type. An alternative bounds nothing.
func (r *schemaReader) values(word, path string, of int) error {
	v, err := r.d.ReadValue()
	if err != nil || of < 0 || !r.leaves[of].Bounds(word, path) || len(path)+len(".items") >= maxPath {
		return err
	}
	list := []jsontext.Value{v}
	if v.Kind() == '[' {
		if err := json.Unmarshal(v, &list); err != nil {
			return err
		}
	}
	for _, x := range list {
		if x.Kind() != '"' {
			continue
		}
		b, err := jsontext.AppendUnquote(nil, x)
		if err != nil {
			return err
		}
		r.leaves[of].Add(word, string(b), of)
	}
	return nil
}

// Bounds tells whether a word of the schema at a path says what every value of the
// leaf is: its own type, the values that it, or its items, can have.
func (l *Leaf) Bounds(word, path string) bool {
	return path == l.Path || word != "type" && path == l.Path+".items"
}

// Add takes a string of the schema that the leaf is about, by the word of JSON
// Schema that it belongs to. Of types and values only those that Bounds are for it.
func (l *Leaf) Add(word, text string, at int) {
	if text == "" {
		return
	}
	switch word {
	case "title":
		l.Titles = append(l.Titles, Said{text, at})
	case "description", "$comment":
		l.Descriptions = append(l.Descriptions, Said{text, at})
	case "format", "contentMediaType":
		l.Formats = append(l.Formats, Said{text, at})
	case "pattern":
		l.Patterns = append(l.Patterns, Said{text, at})
	case "type":
		l.Types = append(l.Types, text)
	case "enum", "const":
		if l.Enum = true; len(l.Values) < MaxValues {
			l.Values = append(l.Values, text)
		}
	}
}

// flag tells whether the leaf is true or false, and so carries nothing.
func (l *Leaf) flag() bool {
	for _, t := range l.Types {
		if t != "boolean" && t != "null" {
			return false
		}
	}
	return len(l.Types) > 0
}
