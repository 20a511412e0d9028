package observe

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

// What follows finds data in results that a call did not ask for. It is made to
// accuse nobody wrongly, so it looks only where the declaration is plain: members
// beside those that a schema names, resources of another place than anything
// named, credentials where nobody spoke of any. It misses whatever is in plain
// text: a weather report that ends with somebody's mail is no sign, and neither is
// a member that the schema leaves open. Every sign of it strays and no more.

// A Returned is what a call asked for and what came back.
type Returned struct {
	Arguments  []byte                // as they went upstream
	Structured jsontext.Value        // structuredContent, strict JSON; nil: none
	Embedded   []string              // URIs of embedded resources
	Known      func(uri string) bool // whether a list of the upstream, or a link of it, has the URI; nil: none
	Place      string                // the upstream's origin
	Secret     bool                  // the inspector found a credential as such
}

// Unasked are the signs of data that the call did not ask for.
func (d *Declaration) Unasked(r *Returned) []Sign {
	var out []Sign
	if d.names != nil && r.Structured != nil {
		if _, more := d.names.beside(r.Structured, marks.Space(r.Structured, 0)); more {
			out = append(out, MemberUnasked)
		}
	}
	for _, uri := range r.Embedded {
		if !r.asked(uri) {
			out = append(out, ContentUnasked)
			break
		}
	}
	if r.Secret && !d.secrets && !meet(words(apart(string(r.Arguments))), secretWords) {
		out = append(out, SecretUnasked)
	}
	return out
}

// asked tells whether a resource is one that the call or the upstream's lists
// named, or at least of the upstream's own place or scheme.
func (r *Returned) asked(uri string) bool {
	if r.Known != nil && r.Known(uri) {
		return true
	}
	u, err := url.Parse(uri)
	if err != nil {
		return true // of which nothing can be said
	}
	text := string(r.Arguments)
	switch scheme := strings.ToLower(u.Scheme); scheme {
	case "file":
		name := u.Path[strings.LastIndexByte(u.Path, '/')+1:]
		return name == "" || strings.Contains(text, name)
	case "http", "https", "ws", "wss", "ftp":
		host := u.Hostname()
		return host == "" || strings.Contains(text, host) || strings.Contains(r.Place, host)
	}
	return true // a scheme of the upstream's own: its names are its own
}

// plain are the words of a schema object beside which its properties are all that
// it says of members.
var plain = map[string]bool{
	"type": true, "properties": true, "required": true, "title": true, "description": true, "$schema": true, "$id": true,
	"examples": true, "default": true, "deprecated": true, "$defs": true, "definitions": true, "$comment": true, "minProperties": true,
}

// depthBeside is how deep an outline goes.
const depthBeside = 32

// An outline is what a schema, as far as it is plain, says of the names of members.
type outline struct {
	members map[string]*outline // nil: nothing below one matters
	closed  bool                // no others are named
	items   *outline
}

// outlineOf is the outline of a schema, nil where it names nothing that a value could
// have more of.
func outlineOf(schema jsontext.Value, depth int) *outline {
	var s, props map[string]jsontext.Value
	if depth > depthBeside || schema.Kind() != '{' || json.Unmarshal(schema, &s) != nil {
		return nil
	}
	o := &outline{}
	if s["properties"].Kind() == '{' && json.Unmarshal(s["properties"], &props) == nil {
		o.members, o.closed = make(map[string]*outline, len(props)), len(props) > 0
		for word := range s {
			o.closed = o.closed && plain[word]
		}
	}
	matters := o.closed
	for name, p := range props {
		o.members[name] = outlineOf(p, depth+1)
		matters = matters || o.members[name] != nil
	}
	if s["items"].Kind() == '{' {
		o.items = outlineOf(s["items"], depth+1)
		matters = matters || o.items != nil
	}
	if !matters {
		return nil
	}
	return o
}

// beside tells whether the value that begins at a place has members that the outline
// does not name, and where it ends. The text is strict.
func (o *outline) beside(b []byte, at int) (end int, found bool) {
	if o == nil || at >= len(b) || b[at] != '{' && b[at] != '[' {
		return marks.Value(b, at), false
	}
	end = marks.Parts(b, at, func(name []byte, value int) int {
		sub := o.items
		if name != nil {
			var named bool
			if sub, named = o.members[string(marks.Text(name))]; !named && o.closed {
				found = true
				return -1
			}
		}
		var after int
		if after, found = sub.beside(b, value); found {
			return -1
		}
		return after
	})
	return end, found
}
