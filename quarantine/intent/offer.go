package intent

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
)

// An Offer is one cleared tool, as a draft sees it.
type Offer struct {
	Name   string
	Effect labels.Effect // zero: not classified
	Args   []Arg         // in the order of their names
}

// An Arg is one argument of a tool, or a member of one.
type Arg struct {
	Name string
	Top  bool // it stands at the top of the arguments
	Must bool // the schema requires it there
}

// maxArgDepth is how deep schemas are looked into for names of arguments.
const maxArgDepth = 6

type offerSchema struct {
	Properties map[string]offerSchema `json:"properties"`
	Items      jsontext.Value         `json:"items"`
	Required   jsontext.Value         `json:"required"`
}

// OfferOf reads a tool. What does not read as a schema has no arguments that a draft
// could speak of.
func OfferOf(raw []byte, effect labels.Effect) Offer {
	var t struct {
		Name   string      `json:"name"`
		Schema offerSchema `json:"inputSchema"`
	}
	if err := json.Unmarshal(raw, &t); err != nil && t.Name == "" {
		return Offer{}
	}
	o := Offer{Name: t.Name, Effect: effect}
	seen := map[string]bool{}
	t.Schema.walk(0, func(name string, top bool) { seen[name] = seen[name] || top })
	var must []string
	if json.Unmarshal(t.Schema.Required, &must) != nil {
		must = nil
	}
	for name, top := range seen {
		o.Args = append(o.Args, Arg{name, top, top && slices.Contains(must, name)})
	}
	slices.SortFunc(o.Args, func(a, b Arg) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return o
}

func (s *offerSchema) walk(depth int, found func(name string, top bool)) {
	if depth > maxArgDepth {
		return
	}
	for name, p := range s.Properties {
		items := p.items()
		if len(p.Properties) == 0 && (items == nil || len(items.Properties) == 0) { // else its members count
			found(name, depth == 0)
		}
		p.walk(depth+1, found)
	}
	if items := s.items(); items != nil {
		items.walk(depth+1, found)
	}
}

// items is the schema of the elements; nil: there is none.
func (s *offerSchema) items() *offerSchema {
	var items offerSchema
	if len(s.Items) == 0 || s.Items.Kind() != '{' || json.Unmarshal(s.Items, &items) != nil {
		return nil
	}
	return &items
}

// fits tells why a task wants the tool; the empty want: it does not. Every word of its
// name has to be one that the task has, or that says nothing.
func (o *Offer) fits(r *reading, own string) want {
	does, about, ok := o.says(r, own)
	if !ok {
		return want{}
	}
	switch {
	case len(r.hosts) > 0 && o.has(hostArgs) && slices.Contains(does, look) && !slices.ContainsFunc(about, func(t string) bool { return t != "page" }):
		about = []string{"address"} // "fetch", "read_url"
	case len(about) == 0 && r.wanted(record) && slices.Contains(nameWords(o.Name), "add") && o.has(pathArgs):
		return want{record, "commit"} // "git_add"
	}
	for _, thing := range about {
		if !r.words[thing] {
			return want{}
		}
	}
	switch {
	case o.Effect&labels.Destructive != 0 && o.Effect != labels.AllEffects && !r.wanted(remove) && !slices.Contains(does, place),
		slices.Contains(does, remove) && !r.wanted(remove), slices.Contains(does, run) && !r.wanted(run):
		return want{}
	case len(does) == 0:
		does = []deed{look} // "directory_tree"
	}
	if len(about) == 0 {
		return want{}
	}
	best := want{}
	for _, w := range r.wants { // the last noun is what it is about, those before say of what
		if w.thing == about[len(about)-1] && slices.Contains(does, w.deed) && (best.deed == "" || w.deed != look) {
			best = w
		}
	}
	return best
}

// says is what the name of the tool says that it does, and to what; not ok: it has a
// verb that the task would have to say itself.
func (o *Offer) says(r *reading, own string) (does []deed, about []string, ok bool) {
	for i, w := range nameWords(o.Name) {
		thing := things[w]
		switch {
		case noise[w] || w == own:
		case slices.Contains(formats, w) && o.has(hostArgs): // "fetch_html"
		case w == "open" && i == 0:
			does = append(does, look, create)
		case w == "draft" && i > 0: // a kind of note or request
			about = append(about, w)
		case w == "commit":
			if about = append(about, w); len(does) == 0 || slices.Contains(does, create) {
				does = append(does, record, change)
			}
		case slices.Contains(strong, w) && !r.words[w]:
			return nil, nil, false
		case deeds[w] != nil && (thing == "" || i == 0):
			does = append(does, deeds[w]...)
		case thing != "":
			about = append(about, thing)
		default:
			about = append(about, w)
		}
	}
	return does, about, true
}

// formats are in names of tools that fetch, and say nothing of what.
var formats = []string{"html", "markdown", "json", "txt"}
