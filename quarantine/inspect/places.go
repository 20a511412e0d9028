package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
)

// A place is what the path of a specimen says beyond its kind.
type place uint8

const (
	anywhere     place = iota
	fixedValue         // enum, default, const: short words that a call carries
	exampleValue       // an example, which may be any text
	property           // the name of a property of a schema
	itemName           // the name of the tool itself
	hint               // an annotation
	pointer            // $ref and its like
)

// placeOf reads a path. What an upstream chose, the names of properties, may be
// named like what is looked for: the last member decides, and the stricter place
// where it does not.
func placeOf(s *quarantine.Specimen) place {
	if s.Kind.Returned() {
		return anywhere
	}
	above, last := cutLast(s.Path)
	switch s.Kind {
	case quarantine.KindValue:
		switch {
		case last == "enum", last == "default", last == "const":
			return fixedValue
		case last == "examples", last == "example":
			return exampleValue
		case above == "annotations" || strings.HasSuffix(above, ".annotations"):
			return hint
		case within(above, "default"), within(above, "const"), within(above, "enum"):
			return fixedValue
		case within(above, "examples"), within(above, "example"):
			return exampleValue
		}
	case quarantine.KindName:
		if s.Name && (above == "properties" || strings.HasSuffix(above, ".properties")) {
			return property
		}
		if !s.Name && last == "name" {
			return itemName
		}
	case quarantine.KindURI:
		if last == "$ref" || last == "$dynamicRef" || last == "$recursiveRef" {
			return pointer
		}
	}
	return anywhere
}

// within tells whether a member of a path has a name.
func within(path, name string) bool {
	for i := 0; ; {
		k := strings.Index(path[i:], name)
		if k < 0 {
			return false
		}
		i += k + len(name)
		if (i == len(name) || path[i-len(name)-1] == '.') && (i == len(path) || path[i] == '.' || path[i] == '[') {
			return true
		}
	}
}

// cutLast parts the last member's name from what is above it, places in arrays
// left out.
func cutLast(path string) (above, last string) {
	for strings.HasSuffix(path, "]") {
		open := strings.LastIndexByte(path, '[')
		if strings.HasSuffix(path, `"]`) {
			open = strings.LastIndex(path, `["`)
		}
		if open < 0 {
			break
		}
		if path[open+1] == '"' {
			return path[:open], path[open:]
		}
		path = path[:open]
	}
	dot := strings.LastIndexByte(path, '.')
	return path[:max(dot, 0)], path[dot+1:]
}
