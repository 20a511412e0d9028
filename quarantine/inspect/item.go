package inspect

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels/effects/declared"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// An item is what a batch says of one tool, as far as its parts are held against
// each other.
type item struct {
	path string // before its specimens' paths, where a batch has several
	tool declared.Tool
	open []opened // leaves that the specimen may be of, each inside of the one before
}

// An opened is a leaf whose specimens may still come.
type opened struct {
	leaf int
	path string // what stands before its members' paths
	name string
}

// A reason is a finding's sentence, for operators.
type reason struct {
	at       int
	category quarantine.Category
	why      string
}

// maxWaiting bounds the leaves of all tools that wait for what their server says it
// is for; where there are more, those judged so far are judged by what is known.
const maxWaiting = 1 << 18

// turn begins a new item where the specimen belongs to another one.
func (j *judge) turn(s *quarantine.Specimen) {
	if j.returned {
		return
	}
	if p := itemOf(s.Path); p != j.item.path {
		j.endItem()
		j.item.path = p
		j.origin.Known = j.origin.Known || p != ""
	}
}

// name looks at an identifier.
func (j *judge) name(v *unfold.View) {
	switch j.place {
	case itemName:
		j.twin()
	case property:
		if sideNames[plainName(v.Text)] {
			j.find(quarantine.SideParameter, quarantine.Suspect, 0, len(j.s.Text))
		}
	}
}

// part takes what the specimen says of its item.
func (j *judge) part(v *unfold.View) {
	above, last := cutLast(j.s.Path)
	rest, ok := strings.CutPrefix(above, j.item.path)
	if !ok {
		return
	}
	rest = strings.TrimPrefix(rest, ".")
	t := &j.item.tool
	switch {
	case strings.HasPrefix(j.item.path, "server["):
		j.said(rest, last, v.Text)
	case strings.HasPrefix(j.item.path, "instructions["):
		j.origin.Instructions = join(j.origin.Instructions, v.Text)
	case rest == "inputSchema", strings.HasPrefix(rest, "inputSchema.") || strings.HasPrefix(rest, "inputSchema["):
		j.leaf(v.Text, above, last)
	case j.place == hint && rest == "annotations" && (j.s.Text == "true" || j.s.Text == "false"):
		t.Hints = append(t.Hints, declared.Hint{Name: last, Value: j.s.Text == "true", At: j.at})
	case last == "title" && (rest == "" || rest == "annotations" && t.Title == ""):
		t.Title = v.Text
	case rest != "" || j.s.Name:
	case last == "name":
		t.Name = v.Text
	case last == "description":
		t.Description, t.Described = v.Text, j.at
	}
}

// said takes what a server says of itself.
func (j *judge) said(rest, last, text string) {
	if rest != "" || j.s.Name {
		return
	}
	switch last {
	case "name":
		j.origin.Name = text
	case "title":
		j.origin.Title = text
	case "description":
		j.origin.Instructions = join(text, j.origin.Instructions)
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ". " + b
}

// leaf takes what the specimen says of the input schema. Paths of what is deep are
// cut, and what belongs to no leaf any more is one of its own.
func (j *judge) leaf(text, above, last string) {
	t := &j.item.tool
	_, holder := cutLast(above)
	in := j.inside(j.s.Path)
	if last == "required" && j.s.Kind == quarantine.KindName && !j.s.Name {
		t.Leaves = append(t.Leaves, declared.Leaf{Name: text, Above: in, Path: j.s.Path, Named: true, At: j.at})
		return
	}
	named := j.s.Name && holders[holder]
	switch {
	case named:
		t.Leaves = append(t.Leaves, declared.Leaf{Name: text, Above: in, Path: j.s.Path, At: j.at})
		j.item.open = append(j.item.open, opened{len(t.Leaves) - 1, quarantine.ShortPath(j.s.Path), text})
	case j.s.Name, j.place == exampleValue, last != "enum" && last != "const" && j.place == fixedValue:
	case len(j.item.open) > 0:
		o := j.item.open[len(j.item.open)-1]
		l := &t.Leaves[o.leaf]
		if bound := last == "type" || last == "enum" || last == "const"; !bound || above == o.path || last != "type" && above == o.path+".items" {
			l.Add(last, text, j.at)
		}
	case last == "title", last == "description", last == "$comment", last == "pattern", last == "format":
		t.Leaves = append(t.Leaves, declared.Leaf{Path: j.s.Path, At: j.at})
		t.Leaves[len(t.Leaves)-1].Add(last, text, j.at)
	}
}

// inside closes the leaves that a path is not inside of, and gives the name of the
// one that it is.
func (j *judge) inside(path string) string {
	for n := len(j.item.open); n > 0; n-- {
		o := &j.item.open[n-1]
		if len(path) > len(o.path) && strings.HasPrefix(path, o.path) && (path[len(o.path)] == '.' || path[len(o.path)] == '[') {
			j.item.open = j.item.open[:n]
			return o.name
		}
	}
	j.item.open = j.item.open[:0]
	return ""
}

// holders are the words of a schema whose members are schemas by name.
var holders = set("properties patternProperties $defs definitions dependentSchemas dependencies")

// endItem puts an item by until it is known what its server is for.
func (j *judge) endItem() {
	if t := &j.item.tool; len(t.Hints)+len(t.Leaves) > 0 || t.Description != "" {
		j.tools = append(j.tools, *t)
		if j.waiting += len(t.Leaves) + 1; j.waiting > maxWaiting {
			j.endItems()
		}
	}
	j.item = item{open: j.item.open[:0]}
}

// endItems holds the items' parts against each other.
func (j *judge) endItems() {
	for i := range j.tools {
		for _, f := range declared.Judge(&j.tools[i], &j.origin) {
			c := quarantine.Overreach
			if f.Kind == declared.Contradiction {
				c = quarantine.Contradiction
			}
			j.findAt(f.At, c, quarantine.Suspect, 0, len(j.set[f.At].Text))
			if j.tell {
				j.reasons = append(j.reasons, reason{f.At, c, f.Why})
			}
		}
	}
	clear(j.tools)
	j.tools, j.waiting = j.tools[:0], 0
}

// Reasons are the sentences of findings that hold the parts of an item against each
// other, for operators; "" for all others. They are made anew of what the item is
// taken apart into, and leave out what its server says it is for.
func Reasons(set []quarantine.Specimen, found []quarantine.Finding) []string {
	out := make([]string, len(found))
	var all []reason
	for i, f := range found {
		if f.Category != quarantine.Contradiction && f.Category != quarantine.Overreach {
			continue
		}
		if all == nil {
			all = reasonsOf(set)
		}
		k := slices.IndexFunc(all, func(r reason) bool { return r.category == f.Category && set[r.at].Path == f.Path })
		if k >= 0 {
			out[i] = all[k].why
		}
	}
	return out
}

// reasonsOf judges as if the server had said nothing: what it could excuse is there
// too.
func reasonsOf(set []quarantine.Specimen) []reason {
	j := newJudge()
	j.begin(set)
	j.tell, j.origin.Known = true, true
	for i := range set {
		j.specimen(i)
	}
	j.finish()
	return append([]reason{}, j.reasons...)
}
