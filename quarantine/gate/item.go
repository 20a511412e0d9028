package gate

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
)

// A Kind is what an item of a surface is. Its text stands in the decision log.
type Kind string

// The kinds of items, in the order of a surface.
const (
	Tool         Kind = "tool"
	Prompt       Kind = "prompt"
	Resource     Kind = "resource"
	Template     Kind = "template"
	Instructions Kind = "instructions" // of the server; one, without a name
	Server       Kind = "server"       // serverInfo; one, without a name
)

// Kinds are all kinds in the order of a surface.
var Kinds = [...]Kind{Tool, Prompt, Resource, Template, Instructions, Server}

func (k Kind) rank() int {
	for i, x := range Kinds {
		if k == x {
			return i
		}
	}
	return len(Kinds)
}

// A Key names an item of one upstream: nothing else is looked up.
type Key struct {
	Kind Kind
	Name string // of a tool or prompt; a resource's URI; a template's text; else empty
}

// Compare orders keys by kind, then by the bytes of the name.
func (k Key) Compare(o Key) int {
	if d := k.Kind.rank() - o.Kind.rank(); d != 0 {
		return d
	}
	return strings.Compare(k.Name, o.Name)
}

// A Fault is why an item is withheld whatever an inspector says of it.
type Fault string

// The faults.
const (
	NoFault       Fault = ""
	FaultJSON     Fault = "json"     // no canonical form: duplicate members, NUL, too deep, numbers beyond a float64
	FaultShape    Fault = "shape"    // not the members and types that its kind has
	FaultName     Fault = "name"     // a name that clients refuse, or that reads as prose
	FaultTwice    Fault = "twice"    // two different items of one name: which would be called?
	FaultTemplate Fault = "template" // a URI template beyond what is matched
	FaultText     Fault = "text"     // its strings could not be taken out
)

// An Item is one thing that an agent can read of an upstream. It is never
// changed in place.
type Item struct {
	Key
	Raw       []byte             // as sent
	Canonical []byte             // nil with FaultJSON
	Digest    credentials.Digest // over the canonical bytes; with FaultJSON over the raw ones, under another context
	Fault     Fault
}

// Most of an item and of a name.
const (
	MaxItem = canon.DefaultBytes
	MaxName = 128  // of tools and prompts: what clients accept
	MaxURI  = 2048 // of resources and templates
)

// Decode reads an item as it was sent. It never fails: what is broken is an item
// with a fault, withheld alone. One whose name cannot be read has none.
func Decode(kind Kind, raw []byte) Item {
	it := Item{Key: Key{Kind: kind}, Raw: raw}
	lim := canon.Limits{Bytes: MaxItem}
	c, err := canon.JSON(raw, lim)
	if err != nil {
		it.Fault = FaultJSON
		it.Digest = canon.Digest("pratique/item/broken/v1", raw)
		it.Name = looseName(kind, raw)
		return it
	}
	it.Canonical = c
	it.Digest = canon.Digest(digestContext(kind), c)
	it.Name, it.Fault = shapeOf(kind, c)
	return it
}

// A tool's digest is the one that its registrant signs.
func digestContext(kind Kind) string {
	if kind == Tool {
		return canon.MetadataContext
	}
	return "pratique/item/" + string(kind) + "/v1"
}

type toolShape struct {
	Name         *string        `json:"name"`
	Title        *string        `json:"title"`
	Description  *string        `json:"description"`
	InputSchema  jsontext.Value `json:"inputSchema"`
	OutputSchema jsontext.Value `json:"outputSchema"`
	Annotations  jsontext.Value `json:"annotations"`
	Icons        jsontext.Value `json:"icons"`
	Meta         jsontext.Value `json:"_meta"`
}

type promptShape struct {
	Name        *string `json:"name"`
	Title       *string `json:"title"`
	Description *string `json:"description"`
	Arguments   []struct {
		Name        *string `json:"name"`
		Title       *string `json:"title"`
		Description *string `json:"description"`
		Required    *bool   `json:"required"`
	} `json:"arguments"`
	Icons jsontext.Value `json:"icons"`
	Meta  jsontext.Value `json:"_meta"`
}

type resourceShape struct {
	URI         *string        `json:"uri"`
	Template    *string        `json:"uriTemplate"`
	Name        *string        `json:"name"`
	Title       *string        `json:"title"`
	Description *string        `json:"description"`
	MimeType    *string        `json:"mimeType"`
	Annotations jsontext.Value `json:"annotations"`
	Icons       jsontext.Value `json:"icons"`
	Meta        jsontext.Value `json:"_meta"`
}

func shapeOf(kind Kind, c []byte) (name string, f Fault) {
	switch kind {
	case Tool:
		return toolFault(c)
	case Prompt:
		return promptFault(c)
	case Resource, Template:
		return resourceFault(kind, c)
	case Instructions:
		if jsontext.Value(c).Kind() != '"' {
			return "", FaultShape
		}
		return "", NoFault
	case Server:
		var s struct {
			Name    *string `json:"name"`
			Version *string `json:"version"`
		}
		if jsontext.Value(c).Kind() != '{' || json.Unmarshal(c, &s) != nil || s.Name == nil {
			return "", FaultShape
		}
		return "", NoFault
	}
	return "", FaultShape
}

func toolFault(c []byte) (string, Fault) {
	var t toolShape
	if json.Unmarshal(c, &t) != nil || t.Name == nil {
		return looseName(Tool, c), FaultShape
	}
	switch {
	case !plainName(*t.Name, ""):
		return *t.Name, FaultName
	case t.InputSchema.Kind() != '{',
		!optional(t.OutputSchema, '{'), !optional(t.Annotations, '{'),
		!optional(t.Icons, '['), !optional(t.Meta, '{'):
		return *t.Name, FaultShape
	}
	return *t.Name, NoFault
}

func promptFault(c []byte) (string, Fault) {
	var p promptShape
	if json.Unmarshal(c, &p) != nil || p.Name == nil {
		return looseName(Prompt, c), FaultShape
	}
	if !plainName(*p.Name, ":/") {
		return *p.Name, FaultName
	}
	for _, a := range p.Arguments {
		if a.Name == nil || *a.Name == "" {
			return *p.Name, FaultShape
		}
	}
	if !optional(p.Icons, '[') || !optional(p.Meta, '{') {
		return *p.Name, FaultShape
	}
	return *p.Name, NoFault
}

func resourceFault(kind Kind, c []byte) (string, Fault) {
	var r resourceShape
	if json.Unmarshal(c, &r) != nil || r.Name == nil {
		return looseName(kind, c), FaultShape
	}
	if !optional(r.Annotations, '{') || !optional(r.Icons, '[') || !optional(r.Meta, '{') {
		return looseName(kind, c), FaultShape
	}
	if kind == Template {
		if r.Template == nil {
			return "", FaultShape
		}
		if _, err := ParseTemplate(*r.Template); err != nil {
			return *r.Template, FaultTemplate
		}
		return *r.Template, NoFault
	}
	switch {
	case r.URI == nil:
		return "", FaultShape
	case !plainURI(*r.URI):
		return *r.URI, FaultName
	}
	return *r.URI, NoFault
}

// optional tells whether a member is absent, null, or of the kind. Null passes:
// servers send it for what they leave out, and no reader takes it for a value.
func optional(v jsontext.Value, kind jsontext.Kind) bool {
	k := v.Kind()
	return len(v) == 0 || k == 'n' || k == kind
}

// looseName takes the name out of an item that is withheld anyway, so that it can
// be shown to an operator and found to be there twice.
func looseName(kind Kind, raw []byte) string {
	want := map[Kind]string{Tool: "name", Prompt: "name", Resource: "uri", Template: "uriTemplate"}[kind]
	if want == "" {
		return ""
	}
	d := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ""
	}
	for {
		t, err := d.ReadToken()
		if err != nil || t.Kind() != '"' {
			return ""
		}
		if t.String() != want {
			if d.SkipValue() != nil {
				return ""
			}
			continue
		}
		v, err := d.ReadToken()
		if err != nil || v.Kind() != '"' {
			return ""
		}
		return strings.ToValidUTF8(v.String(), "\uFFFD")
	}
}

// plainName tells whether a name is one that clients accept: at most MaxName of
// A-Z a-z 0-9 _ . - and what more allows.
func plainName(s, more string) bool {
	if s == "" || len(s) > MaxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && !(c >= '0' && c <= '9') && strings.IndexByte("_.-"+more, c) < 0 {
			return false
		}
	}
	return true
}

// plainURI tells whether a text is an absolute URI of printable ASCII without
// spaces, quotes and the like: what a name of a resource may look like.
func plainURI(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || rest == "" || len(s) > MaxURI || !plainScheme(scheme) {
		return false
	}
	for i := range len(rest) {
		if c := rest[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	return true
}

func plainScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9') && strings.IndexByte("+.-", c) < 0) {
			return false
		}
	}
	return true
}
