package baseline

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/canon"
)

// What a Change says.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// A Change is one difference between two values, for people: what no screen
// should obey (control, invisible and bidirectional characters) is written out.
type Change struct {
	Path string `json:"path"` // inputSchema.properties.q.description; "" is the whole
	What string `json:"what"` // added, removed, changed
	Old  string `json:"old,omitzero"`
	New  string `json:"new,omitzero"`
}

// maxChanges bounds a diff; what is over it is one last change that says so.
const maxChanges = 1000

// Diff lists what differs between two JSON values; the order of members and the
// spelling of escapes and numbers do not matter. nil for one of them is a value
// that is not there. Texts are shown as Visible writes them, whole.
func Diff(old, new jsontext.Value) []Change {
	d := &differ{}
	d.compare("", old, new)
	if len(d.out) > maxChanges {
		more := strconv.Itoa(len(d.out) - maxChanges)
		d.out = append(d.out[:maxChanges:maxChanges], Change{What: Changed, New: more + " more changes"})
	}
	return d.out
}

type differ struct{ out []Change }

func (d *differ) compare(path string, old, new jsontext.Value) {
	switch {
	case old == nil && new == nil:
		return
	case old == nil:
		d.out = append(d.out, Change{Path: path, What: Added, New: shown(new)})
		return
	case new == nil:
		d.out = append(d.out, Change{Path: path, What: Removed, Old: shown(old)})
		return
	}
	if same(old, new) {
		return
	}
	a, okA := members(old)
	b, okB := members(new)
	if okA && okB {
		for _, n := range union(a, b) {
			d.compare(join(path, n), a[n], b[n])
		}
		return
	}
	x, okX := elements(old)
	y, okY := elements(new)
	if okX && okY && len(x) == len(y) { // of lists of other lengths the whole is shown: nothing is paired by guess
		for i := range x {
			d.compare(path+"["+strconv.Itoa(i)+"]", x[i], y[i])
		}
		return
	}
	d.out = append(d.out, Change{Path: path, What: Changed, Old: shown(old), New: shown(new)})
}

// same compares canonically. What has no canonical form is compared by bytes.
func same(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := canon.JSON(a, lenient(a))
	y, errY := canon.JSON(b, lenient(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func lenient(v []byte) canon.Limits {
	return canon.Limits{Bytes: len(v) + 1, Depth: 1000, AllowNUL: true}
}

// members are an object's members by name; the last of two of one name, which
// no checked value has.
func members(v jsontext.Value) (map[string]jsontext.Value, bool) {
	if v.Kind() != '{' {
		return nil, false
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	out := map[string]jsontext.Value{}
	for dec.PeekKind() != '}' {
		t, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		name := t.String() // before the next read, which takes the token's memory
		val, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		out[name] = val.Clone()
	}
	return out, true
}

func elements(v jsontext.Value) ([]jsontext.Value, bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	var out []jsontext.Value
	for dec.PeekKind() != ']' {
		val, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		out = append(out, val.Clone())
	}
	return out, true
}

func union(a, b map[string]jsontext.Value) []string {
	var names []string
	for n := range a {
		names = append(names, n)
	}
	for n := range b {
		if _, ok := a[n]; !ok {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// join adds a member's name to a path; a name that could be taken for path is
// quoted.
func join(path, name string) string {
	shown := Visible(name)
	if name == "" || strings.ContainsAny(shown, ".[]\"\\ ") {
		shown = `["` + strings.ReplaceAll(shown, `"`, `\"`) + `"]`
		return path + shown
	}
	if path == "" {
		return shown
	}
	return path + "." + shown
}

// shown is a value for people: a text as itself, anything else as JSON.
func shown(v jsontext.Value) string {
	if v.Kind() == '"' {
		if t, err := jsontext.AppendUnquote(nil, v); err == nil {
			return `"` + Visible(string(t)) + `"`
		}
	}
	if c, err := canon.JSON(v, lenient(v)); err == nil {
		v = c
	}
	return Visible(string(v))
}
