package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

// A form is a payload as it stands somewhere, and how it came to stand like that.
type form struct {
	order *order
	place place
	text  string   // what carries the order
	more  string   // a second part, where the text was split in two
	steps []string // what the rewriter did, in order
	used  uint     // rewrites that were used already, by bit
}

func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "?"))
	}
	return string(b)
}

// slug is a text as a name may be written.
func slug(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	name := strings.Join(words, "_")
	if len(name) > 120 {
		name = name[:120]
	}
	return strings.Trim(name, "_")
}

// tool is the definition of a tool that carries the payload, under a name.
func (f *form) tool(name string) jsontext.Value {
	title, desc, prop, param, enum, def := "Notes", "Searches the notes.", "q", "words to look for", `"all","recent"`, `"all"`
	extra, out := "", ""
	switch f.place {
	case inDescription:
		desc += " " + f.text
	case inTitle:
		title = f.text
	case inParameter:
		param = f.text
	case inDefs:
		extra = `,"$defs":{"N":{"type":"string","description":` + quote(f.text) + `}}`
	case inProperty:
		prop = slug(f.text)
	case inEnum:
		enum = quote(f.text) + "," + enum
	case inDefault:
		def = quote(f.text)
	case inName:
		name = slug(f.text)
	case inOutput:
		out = `,"outputSchema":{"type":"object","properties":{"hits":{"type":"integer","description":` + quote(f.text) + `}}}`
	}
	if f.more != "" {
		param += " " + f.more
	}
	return jsontext.Value(fmt.Sprintf(
		`{"name":%s,"title":%s,"description":%s,"inputSchema":{"type":"object","properties":{%s:{"type":"string","description":%s},"scope":{"type":"string","enum":[%s],"default":%s}}%s}%s}`,
		quote(name), quote(title), quote(desc), quote(prop), quote(param), enum, def, extra, out))
}

// result is what a call returns that carries the payload.
func (f *form) result() jsontext.Value {
	text, more := "3 notes found.", ""
	switch f.place {
	case inText:
		text += " " + f.text
	case inStructured:
		more = `,"structuredContent":{"notes":[{"id":1,"body":` + quote(f.text) + `}]}`
	case inKey:
		more = `,"structuredContent":{` + quote(f.text) + `:1}`
	case inNested:
		text = `{"notes":"{\"body\":` + strings.Trim(quote(quote(f.text)), `"`) + `}"}`
	}
	content := `{"type":"text","text":` + quote(text) + `}`
	if f.place == inEmbedded {
		content += `,{"type":"resource","resource":{"uri":"note:///1","mimeType":"text/plain","text":` + quote(f.text) + `}}`
	}
	if f.more != "" {
		content += `,{"type":"text","text":` + quote(f.more) + `}`
	}
	return jsontext.Value(`{"content":[` + content + `]` + more + `}`)
}

// verdict is what the inspector says of the form, and by how many findings.
func (f *form) verdict(ins quarantine.Inspector) (quarantine.Verdict, int) {
	var set []quarantine.Specimen
	var err error
	if f.place.returned() {
		set, err = quarantine.ResultSpecimens("tools/call", f.result())
	} else {
		set, err = quarantine.Specimens("tool", f.tool("search_notes"))
	}
	if err != nil {
		return quarantine.Hostile, 0
	}
	r := ins.Inspect(context.Background(), quarantine.Batch{Origin: "stdio:adaptive", Specimens: set})
	return r.Verdict, len(r.Findings)
}
