package observe

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	Structured jsontext.Value        // structuredContent; nil: none
	Embedded   []string              // URIs of embedded resources
	Known      func(uri string) bool // whether a list of the upstream, or a link of it, has the URI; nil: none
	Place      string                // the upstream's origin
	Secret     bool                  // the inspector found a credential as such
}

// Unasked are the signs of data that the call did not ask for.
func (d *Declaration) Unasked(r *Returned) []Sign {
	var out []Sign
	if r.Structured != nil && d.Output != nil && beside(r.Structured, d.Output, 0) {
		out = append(out, MemberUnasked)
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

// depthBeside is how deep beside looks.
const depthBeside = 32

// beside tells whether a value has members that its schema, as far as it is plain,
// does not name.
func beside(v, schema jsontext.Value, depth int) bool {
	var s map[string]jsontext.Value
	if depth > depthBeside || schema.Kind() != '{' || json.Unmarshal(schema, &s) != nil {
		return false
	}
	switch v.Kind() {
	case '{':
		var props, members map[string]jsontext.Value
		if s["properties"].Kind() != '{' || json.Unmarshal(s["properties"], &props) != nil || json.Unmarshal(v, &members) != nil {
			return false
		}
		closed := len(props) > 0
		for word := range s {
			closed = closed && plain[word]
		}
		for name, m := range members {
			p, named := props[name]
			if !named && closed || named && beside(m, p, depth+1) {
				return true
			}
		}
	case '[':
		var items []jsontext.Value
		if s["items"].Kind() != '{' || json.Unmarshal(v, &items) != nil {
			return false
		}
		for _, x := range items {
			if beside(x, s["items"], depth+1) {
				return true
			}
		}
	}
	return false
}
