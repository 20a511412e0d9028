package advise

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
)

// A known is what is known of an item.
type known struct {
	kind string
	schema
}

func knownOf(it Item) known { return known{it.Kind, schemaOf(it.Schema)} }

// usedBy are the methods that an item of a kind is used by; nil: the kind is not known.
func usedBy(kind string) []string {
	switch kind {
	case "tool":
		return []string{"tools/call"}
	case "prompt":
		return []string{"prompts/get", "completion/complete"}
	case "resource", "template":
		return []string{"resources/read", "resources/subscribe", "resources/unsubscribe", "completion/complete"}
	}
	return nil
}

// used holds the methods of a rule against those that an item is used by.
func used(r *rule, item string, list []known) []Finding {
	var kinds, ways []string
	for _, k := range list {
		by := usedBy(k.kind)
		if by == nil || slices.ContainsFunc(by, func(m string) bool { return slices.Contains(methodsOf(r), m) }) {
			return nil
		}
		if !slices.Contains(kinds, k.kind) {
			kinds, ways = append(kinds, k.kind), append(ways, by[0])
		}
	}
	return []Finding{{r.Name, Unreachable, item, item + " is a " + strings.Join(kinds, " and a ") + ", which none of the rule's methods is for; say methods: [" + strings.Join(ways, ", ") + "]."}}
}

// arguments holds what a rule says of arguments against the schemas of an item.
func arguments(r *rule, item string, list []known) []Finding {
	var out []Finding
	told := map[string]bool{}
	note := func(place string, has func(known) bool) {
		if !told[place] && !slices.ContainsFunc(list, has) {
			told[place] = true
			out = append(out, Finding{r.Name, UnknownArgument, item, item + " has no argument " + place + "."})
		}
	}
	absent := func(place string, path []string, but string) {
		if !told[place] && slices.ContainsFunc(list, func(k known) bool { return k.mayLack(path) }) {
			told[place] = true
			out = append(out, Finding{r.Name, AbsentArgument, item, "It fires for " + item + " where " + place + " is absent, which the schema permits; say " + but + " if it should not."})
		}
	}
	for _, name := range slices.Concat(r.Args, r.New) {
		path, place := []string{name}, "/"+name
		if p, ok := pointer(name); ok {
			path, place = p, name
			note(place, func(k known) bool { return k.hasPath(p) })
		} else {
			note(place, func(k known) bool { return k.hasName(name) })
		}
		if _, asked := r.args[name]; asked && r.Verb != policy.Allow && !r.free[name] {
			absent(place, path, "optional: true")
		}
	}
	for _, p := range r.Reads {
		place := "/" + strings.Join(p.Path, "/")
		note(place, func(k known) bool { return k.hasPath(p.Path) })
		if r.Verb != policy.Allow && !p.Tested && !tested(r, p.Path) {
			absent(place, p.Path, "has(args."+strings.Join(p.Path, ".")+")")
		}
	}
	return out
}

// tested tells whether the rule asks whether the place, or what is around it, is there.
func tested(r *rule, path []string) bool {
	return slices.ContainsFunc(r.Reads, func(p policy.Reading) bool {
		return p.Tested && len(p.Path) <= len(path) && slices.Equal(p.Path, path[:len(p.Path)])
	})
}

// keys holds the names that a file gives for single tools against the tools that there
// are. They count besides the default names, and "-name" takes one out: one that is
// misspelt does nothing.
func (f *file) keys(items map[string][]known) (out []Finding) {
	if f.guards == nil {
		return nil
	}
	note := func(of string, keys map[string]guard.Words) {
		for _, tool := range sorted(keys) {
			list := items[tool]
			if !slices.ContainsFunc(list, func(k known) bool { return k.kind == "tool" || usedBy(k.kind) == nil }) {
				out = append(out, Finding{of, UnknownItem, tool, "No upstream has a tool of the name " + tool + "; what is said of it holds for no tool."})
				continue
			}
			for _, w := range keys[tool] {
				name := strings.TrimPrefix(string(w), "-")
				if !slices.ContainsFunc(list, func(k known) bool { return k.hasLike(name) }) {
					out = append(out, Finding{of, UnknownArgument, tool, tool + " has no argument " + name + "; saying " + string(w) + " does nothing, and the default names go on to count."})
				}
			}
		}
	}
	if p := f.guards.Paths; p != nil {
		note("guards.paths.keys", p.Keys)
	}
	if p := f.guards.Refs; p != nil {
		note("guards.refs.keys", p.Keys)
	}
	if p := f.guards.Hosts; p != nil {
		note("guards.hosts.keys", p.Keys)
	}
	return out
}

func sorted(keys map[string]guard.Words) []string {
	var list []string
	for tool := range keys {
		list = append(list, tool)
	}
	slices.Sort(list)
	return list
}

func pointer(name string) ([]string, bool) {
	rest, ok := strings.CutPrefix(name, "/")
	if !ok {
		return nil, false
	}
	path := strings.Split(rest, "/")
	for i, p := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return path, true
}

// A schema is what is known of an item's arguments.
type schema struct {
	doc      map[string]any  // nil: nothing is known
	top      map[string]bool // names of the object
	deep     map[string]bool // and of everything below
	required map[string]bool // names that some part of the schema requires
	open     bool            // it takes others too, or it cannot be told
}

func (s schema) hasName(name string) bool { return s.open || s.deep[name] }

// hasLike is hasName by what guards make of names: letters and digits alone.
func (s schema) hasLike(name string) bool {
	if s.hasName(name) {
		return true
	}
	for have := range s.deep {
		if bare(have) == bare(name) {
			return true
		}
	}
	return false
}

func bare(name string) string {
	return strings.Map(func(c rune) rune {
		if c < 0x80 && !('a' <= c && c <= 'z' || '0' <= c && c <= '9') {
			return -1
		}
		return c
	}, strings.ToLower(name))
}

func (s schema) hasPath(path []string) bool {
	if s.open {
		return true
	}
	for i, p := range path {
		if i == 0 && !s.top[p] || !s.deep[p] {
			return false
		}
	}
	return true
}

// mayLack tells whether arguments that fit may have nothing at a place. What cannot be
// told is false.
func (s schema) mayLack(path []string) bool {
	if s.doc == nil {
		return false
	}
	at := s.doc
	for _, name := range path {
		if joins(at) {
			return !s.required[name] && len(path) == 1
		}
		list, _ := at["required"].([]any)
		if !slices.Contains(list, any(name)) {
			return true
		}
		props, _ := at["properties"].(map[string]any)
		if at, _ = props[name].(map[string]any); at == nil || at["type"] != "object" {
			return false
		}
	}
	return false
}

// schemaOf reads a schema. One that puts others together is known by all names in it.
func schemaOf(raw jsontext.Value) schema {
	s := schema{top: map[string]bool{}, deep: map[string]bool{}, required: map[string]bool{}}
	var doc map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &doc) != nil || doc == nil {
		s.open = true
		return s
	}
	s.doc = doc
	s.gather(doc, 0)
	props, listed := doc["properties"].(map[string]any)
	for name := range props {
		s.top[name] = true
	}
	if joins(doc) {
		s.top, listed = s.deep, true
	}
	more, said := doc["additionalProperties"]
	_, patterns := doc["patternProperties"]
	s.open = !listed || patterns || said && more != false
	return s
}

// joins tells whether a schema puts others together.
func joins(doc map[string]any) bool {
	return slices.ContainsFunc([]string{"allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "not", "dependentSchemas", "dependentRequired", "dependencies"}, func(key string) bool {
		_, ok := doc[key]
		return ok
	})
}

// gather takes the names of properties, and those that are required, at any depth.
func (s *schema) gather(v any, depth int) {
	if depth > 64 {
		s.open = true
		return
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			s.gather(x, depth+1)
		}
	case map[string]any:
		if props, ok := v["properties"].(map[string]any); ok {
			for name := range props {
				s.deep[name] = true
			}
		}
		list, _ := v["required"].([]any)
		for _, x := range list {
			if name, ok := x.(string); ok {
				s.required[name] = true
			}
		}
		for _, x := range v {
			s.gather(x, depth+1)
		}
	}
}
