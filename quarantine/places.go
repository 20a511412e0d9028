package quarantine

// A place is what stands at one point of an item: the kind of its strings, the
// kind of its member names, and what its members are. Whatever a table does not
// name goes on as rest, so that no string is ever left out; unknown members are
// read by agents like known ones.
type place struct {
	text    Kind
	names   Kind // of the members that the table does not name; the others are our own words
	form    Form // of its strings
	literal bool // what is true, false or a number is of interest too
	members map[string]*place
	rest    *place
}

// leaf is a place where everything below, whatever its shape, is of one kind.
func leaf(k Kind) *place {
	p := &place{text: k, names: k}
	p.rest = p
	return p
}

var (
	nameLeaf  = leaf(KindName)
	titleLeaf = leaf(KindTitle)
	descLeaf  = leaf(KindDescription)
	valueLeaf = leaf(KindValue)
	uriLeaf   = leaf(KindURI)

	// extension is what the specification does not name: prose may stand in it,
	// but its names are names.
	extension = &place{text: KindDescription, names: KindName}

	icons = &place{text: KindURI, names: KindName, rest: extension, members: map[string]*place{
		"src": uriLeaf, "mimeType": valueLeaf, "sizes": valueLeaf, "theme": valueLeaf,
	}}
	// hint is what a tool says of its own effects, which is held against all else
	// that it says.
	hint        = &place{text: KindValue, names: KindName, form: FormFixed, literal: true, rest: extension}
	annotations = &place{text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"title": titleLeaf, "audience": valueLeaf, "lastModified": valueLeaf,
		"readOnlyHint": hint, "destructiveHint": hint, "idempotentHint": hint, "openWorldHint": hint,
	}}
	schema    = &place{text: KindValue, names: KindName, rest: extension}
	schemas   = &place{text: KindValue, names: KindName, rest: schema}
	patterns  = &place{text: KindValue, names: KindValue, rest: schema}
	arguments = &place{text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"name": nameLeaf, "title": titleLeaf, "description": descLeaf,
	}}
)

func init() {
	extension.rest = extension
	schema.members = map[string]*place{
		"title": titleLeaf, "description": descLeaf, "$comment": descLeaf,
		"required": nameLeaf, "dependentRequired": nameLeaf,
	}
	for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef", "$id", "id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary"} {
		schema.members[k] = uriLeaf
	}
	for _, k := range []string{"properties", "$defs", "definitions", "dependentSchemas", "dependencies"} {
		schema.members[k] = schemas
	}
	schema.members["patternProperties"] = patterns
	for _, k := range []string{
		"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties",
		"propertyNames", "not", "if", "then", "else", "allOf", "anyOf", "oneOf", "contentSchema",
	} {
		schema.members[k] = schema
	}
	for _, k := range []string{
		"enum", "const", "default", "examples", "example", "type", "format", "pattern", "contentEncoding", "contentMediaType",
	} {
		schema.members[k] = valueLeaf
	}
}

// items are the kinds of items by the words that entries of the decision log
// use.
var items = map[string]*place{
	"tool": {text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"name": nameLeaf, "title": titleLeaf, "description": descLeaf, "inputSchema": schema, "outputSchema": schema,
		"annotations": annotations, "icons": icons, "execution": valueLeaf, "_meta": extension,
	}},
	"prompt": {text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"name": nameLeaf, "title": titleLeaf, "description": descLeaf, "arguments": arguments, "icons": icons, "_meta": extension,
	}},
	// names of resources are titles in practice ("Text Resource 1", "notes.md")
	"resource": {text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"uri": uriLeaf, "name": titleLeaf, "title": titleLeaf, "description": descLeaf, "mimeType": valueLeaf,
		"annotations": annotations, "icons": icons, "_meta": extension,
	}},
	"template": {text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"uriTemplate": uriLeaf, "name": titleLeaf, "title": titleLeaf, "description": descLeaf, "mimeType": valueLeaf,
		"annotations": annotations, "icons": icons, "_meta": extension,
	}},
	"instructions": leaf(KindInstruction),
	"server": {text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"name": titleLeaf, "title": titleLeaf, "version": valueLeaf, "description": descLeaf, "websiteUrl": uriLeaf, "icons": icons,
	}},
	"page": page,
}

// page is what a browser says of a document whose tools an agent may use: the words
// of the page itself, which may be any prose, and the labels of its forms.
var page = &place{text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
	"url": uriLeaf, "origin": uriLeaf, "referrer": uriLeaf, "title": leaf(KindResult), "description": leaf(KindResult), "lang": valueLeaf,
	"scripts": uriLeaf, "frames": frames, "forms": forms,
}}

var (
	frames = &place{text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"url": uriLeaf, "origin": uriLeaf, "name": nameLeaf, "title": leaf(KindResult),
	}}
	forms = &place{text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"name": nameLeaf, "action": uriLeaf, "title": titleLeaf, "description": descLeaf, "toolname": nameLeaf, "tooldescription": descLeaf,
		"fields": fields,
	}}
	fields = &place{text: KindDescription, names: KindName, rest: extension, members: map[string]*place{
		"name": nameLeaf, "type": valueLeaf, "label": titleLeaf, "title": titleLeaf, "placeholder": titleLeaf,
		"description": descLeaf, "toolparamdescription": descLeaf, "value": valueLeaf, "options": valueLeaf,
	}}
)
