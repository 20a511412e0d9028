package baseline

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// words are the members whose texts are wording.
var words = []string{"title", "description"}

// wordingItem compares two items member by member.
func wordingItem(kind Kind, old, new jsontext.Value) bool {
	return eachMember(old, new, func(name string, a, b jsontext.Value) bool {
		switch {
		case slices.Contains(words, name):
			return texts(a, b)
		case kind == Tool && (name == "inputSchema" || name == "outputSchema"):
			return wordingSchema(a, b, 0)
		case kind == Tool && name == "annotations":
			return eachMember(a, b, func(n string, x, y jsontext.Value) bool {
				return n == "title" && texts(x, y) || same(x, y)
			})
		case kind == Prompt && name == "arguments":
			return eachElement(a, b, func(x, y jsontext.Value) bool {
				return eachMember(x, y, func(n string, p, q jsontext.Value) bool {
					return slices.Contains(words, n) && texts(p, q) || same(p, q)
				})
			})
		}
		return same(a, b)
	})
}

// Where schemas stand in a JSON Schema 2020-12 or draft-07: as a value, in a
// list, or under names of their own.
var (
	schemaIn = []string{"additionalProperties", "additionalItems", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties"}
	schemasIn = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	namedIn   = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

const maxSchemaDepth = 64

// wordingSchema compares two schemas. In a schema, title and description are
// wording; below properties they are names like any other.
func wordingSchema(old, new jsontext.Value, depth int) bool {
	if depth > maxSchemaDepth {
		return false
	}
	if old.Kind() != '{' || new.Kind() != '{' {
		return same(old, new)
	}
	schema := func(a, b jsontext.Value) bool { return wordingSchema(a, b, depth+1) }
	return eachMember(old, new, func(name string, a, b jsontext.Value) bool {
		switch {
		case same(a, b):
			return true
		case slices.Contains(words, name):
			return texts(a, b)
		case slices.Contains(namedIn, name):
			return eachMember(a, b, func(_ string, x, y jsontext.Value) bool { return schema(x, y) })
		case slices.Contains(schemasIn, name) && a.Kind() == '[':
			return eachElement(a, b, schema)
		case slices.Contains(schemaIn, name):
			return schema(a, b)
		}
		return false
	})
}

// texts tells whether both are texts.
func texts(a, b jsontext.Value) bool { return a.Kind() == '"' && b.Kind() == '"' }

// eachMember holds two objects with the same names against each other.
func eachMember(old, new jsontext.Value, ok func(name string, a, b jsontext.Value) bool) bool {
	a, isA := members(old)
	b, isB := members(new)
	if !isA || !isB || len(a) != len(b) {
		return false
	}
	for _, n := range slices.Sorted(maps.Keys(a)) {
		v, there := b[n]
		if !there || !ok(n, a[n], v) {
			return false
		}
	}
	return true
}

// eachElement holds two lists of one length against each other.
func eachElement(old, new jsontext.Value, ok func(a, b jsontext.Value) bool) bool {
	a, isA := elements(old)
	b, isB := elements(new)
	if !isA || !isB || len(a) != len(b) {
		return false
	}
	for i := range a {
		if !ok(a[i], b[i]) {
			return false
		}
	}
	return true
}
