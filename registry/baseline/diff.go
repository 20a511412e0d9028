package baseline

import "github.com/go-json-experiment/json/jsontext"

// A Change is one difference between two values, for people: what no screen
// should obey (control, invisible and bidirectional characters) is written out.
type Change struct {
	Path string `json:"path"` // inputSchema.properties.q.description; "" is the whole
	Old  string `json:"old,omitzero"`
	New  string `json:"new,omitzero"`
	What string `json:"what"` // added, removed, changed
}

// Diff lists what differs between two JSON values; the order of members does not
// matter. nil for one of them is a value that is not there.
func Diff(old, new jsontext.Value) []Change { panic("not yet") }

// Visible writes a text so that everything in it is seen: printable ASCII and
// letters stay, the rest becomes escapes.
func Visible(s string) string { panic("not yet") }

// WordingOnly tells whether two items differ in nothing but wording: texts of
// members named title or description (annotations.title too), both there and both
// strings, outside of names, schemas' shapes, annotations and everything else.
func WordingOnly(kind Kind, old, new jsontext.Value) bool { return false }
