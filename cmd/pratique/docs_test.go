package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry/node"
)

// The references are made from the code: go test ./cmd/pratique -run TestDocs -update.

func TestDocsOfCommands(t *testing.T) { golden(t, "cli.md", commandsPage()) }

func TestDocsOfSettings(t *testing.T) { golden(t, "config.md", settingsPage(t)) }

func golden(t *testing.T, name string, want []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", name)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("docs/%s is not what the code says: go test ./cmd/pratique -run TestDocs -update", name)
	}
}

func commandsPage() []byte {
	var b bytes.Buffer
	b.WriteString(`# Commands

Made from the code; see cmd/pratique/docs_test.go. With --json a command prints exactly one JSON object of the members
listed, on one line, and everything else goes to stderr. Surplus arguments, flags after an argument and flags
given twice are refused by name.

## Exit codes
| code | name | when |
|---|---|---|
`)
	for _, x := range exits {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", x.code, x.name, cell(x.when))
	}
	for _, n := range nouns() {
		fmt.Fprintf(&b, "\n## pratique %s\n%s.\n", n.name, sentence(n.usage))
		for _, v := range n.verbs {
			verbPage(&b, n, v)
		}
	}
	return b.Bytes()
}

func verbPage(b *bytes.Buffer, n noun, v verb) {
	line := strings.Join(strings.Fields("pratique "+n.name+" "+v.name+" "+v.operands()), " ")
	if v.name != "" {
		fmt.Fprintf(b, "\n### %s\n%s.\n", line, sentence(v.usage))
	}
	if v.about != "" {
		fmt.Fprintf(b, "%s\n", strings.TrimSpace(v.about))
	}
	if len(v.flags) > 0 {
		b.WriteString("\n| flag | meaning |\n|---|---|\n")
	}
	for _, o := range v.flags {
		fmt.Fprintf(b, "| `--%s` | %s |\n", strings.TrimSpace(o.name+" "+o.arg), cell(o.usage+o.terms()))
	}
	if v.out == nil {
		return
	}
	b.WriteString("\n| member of --json | type | meaning |\n|---|---|---|\n")
	members(b, "", reflect.TypeOf(v.out), 0)
}

// members are the JSON members of an output struct, by its tags.
func members(b *bytes.Buffer, prefix string, t reflect.Type, depth int) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || depth > 3 {
		return
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			members(b, prefix, f.Type, depth)
			continue
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, name, jsonType(f.Type), cell(f.Tag.Get("doc")))
		if inner := element(f.Type); inner.Kind() == reflect.Struct && jsonType(inner) == "object" {
			members(b, prefix+name+".", inner, depth+1)
		}
	}
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}

func jsonType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "RFC 3339 time"
	case t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()):
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "JSON or base64"
		}
		return "array of " + jsonType(t.Elem())
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	}
	return "number"
}

// settingsPage is the configuration as registry/node documents it: the comment
// of each field, its YAML path and its variable.
func settingsPage(t *testing.T) []byte {
	t.Helper()
	docs := map[string]string{} // "package.Type.Field"
	for _, name := range []string{"config.go", "configgateway.go", "configeffects.go", "configinspector.go"} {
		commentsOf(t, filepath.Join("..", "..", "registry", "node", name), docs)
	}
	commentsOf(t, filepath.Join("..", "..", "quarantine", "warden", "broker", "config.go"), docs)
	var b bytes.Buffer
	b.WriteString(`# Settings

Made from registry/node/config.go; see cmd/pratique/docs_test.go. One YAML file: ` + "`--config FILE`" + `, or pratique.yaml in the data
folder. Unknown keys fail. A variable goes before the file, a flag before both.

| key | variable | meaning |
|---|---|---|
`)
	settings(t, &b, docs, "", reflect.TypeFor[node.Config]())
	return b.Bytes()
}

// commentsOf collects the comments of the fields in a file.
func commentsOf(t *testing.T, path string, docs map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				text := f.Doc.Text() + f.Comment.Text()
				for _, name := range f.Names {
					docs[file.Name.Name+"."+spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(text), " ")
				}
			}
		}
		return true
	})
}

func settings(t *testing.T, b *bytes.Buffer, docs map[string]string, prefix string, typ reflect.Type) {
	t.Helper()
	for f := range typ.Fields() {
		key := prefix + f.Tag.Get("yaml")
		doc := docs[path.Base(typ.PkgPath())+"."+typ.Name()+"."+f.Name]
		inner := element(f.Type)
		if inner.Kind() == reflect.Struct {
			if f.Type.Kind() == reflect.Slice {
				fmt.Fprintf(b, "| `%s` | | %s |\n", key, cell(doc))
				key += "[]"
			}
			settings(t, b, docs, key+".", inner)
			continue
		}
		if doc == "" {
			t.Errorf("%s.%s has no comment", typ.Name(), f.Name)
		}
		variable := ""
		if key != "data" && settable(f.Type) && !strings.Contains(key, "[]") {
			variable = "`PRATIQUE_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", key, variable, cell(doc))
	}
}

func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".")
}
