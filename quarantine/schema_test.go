package quarantine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
)

// The schema of MCP, both eras, as the official Go SDK's types have it. Whoever
// takes a new SDK learns here of each message and string that nobody looked at.

// sides say who reads the params and results of the SDK. What upstreams send is
// taken apart by the function; nil is what ends at the gateway or comes from agents.
var sides = map[string]func(raw jsontext.Value) ([]quarantine.Specimen, error){
	"CallToolResult": result, "GetPromptResult": result, "ReadResourceResult": result, "CompleteResult": result,
	"ListToolsResult": listed("tool"), "ListPromptsResult": listed("prompt"), "ListResourcesResult": listed("resource"),
	"ListResourceTemplatesResult": listed("template"), "InitializeResult": welcomed, "DiscoverResult": welcomed,

	"CancelledParams": said, "CreateMessageParams": said, "CreateMessageWithToolsParams": said, "ElicitParams": said, "ElicitationCompleteParams": said,
	"ListRootsParams": said, "LoggingMessageParams": said, "ProgressNotificationParams": said, "ResourceUpdatedNotificationParams": said,

	// answered by the gateway itself, or notes without a text that goes on
	"SubscriptionsListenResult": nil, "SubscriptionsAcknowledgedParams": nil, "ToolListChangedParams": nil, "PromptListChangedParams": nil,
	"ResourceListChangedParams": nil, "PingParams": nil, "emptyResult": nil, "ResultBase": nil, "ParamsBase": nil,

	// from agents
	"CallToolParams": nil, "CallToolParamsRaw": nil, "CompleteParams": nil, "CreateMessageResult": nil, "CreateMessageWithToolsResult": nil,
	"GetPromptParams": nil, "InitializeParams": nil, "InitializedParams": nil, "DiscoverParams": nil, "ListPromptsParams": nil,
	"ListResourceTemplatesParams": nil, "ListResourcesParams": nil, "ListRootsResult": nil, "ListToolsParams": nil, "ReadResourceParams": nil,
	"RootsListChangedParams": nil, "SetLoggingLevelParams": nil, "SubscribeParams": nil, "UnsubscribeParams": nil, "SubscriptionsListenParams": nil,
	"ElicitResult": nil,
}

// ours are members that the gateway writes itself: what upstreams say there goes
// to nobody.
var ours = []string{"nextCursor", "cacheScope", "protocolVersion", "supportedVersions", "capabilities"}

func result(raw jsontext.Value) ([]quarantine.Specimen, error) {
	return quarantine.ResultSpecimens("tools/call", raw)
}

func said(raw jsontext.Value) ([]quarantine.Specimen, error) {
	return quarantine.MessageSpecimens("notifications/message", raw)
}

// member is one member of an object, and the others.
func member(raw jsontext.Value, names ...string) (of map[string]jsontext.Value, rest jsontext.Value) {
	of = map[string]jsontext.Value{}
	rest = jsontext.Value("{")
	d := jsontext.NewDecoder(strings.NewReader(string(raw)))
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		n := name.String()
		v, _ := d.ReadValue()
		if v = v.Clone(); slices.Contains(names, n) {
			of[n] = v
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest, _ = jsontext.AppendQuote(rest, n)
		rest = append(append(rest, ':'), v...)
	}
	return of, append(rest, '}')
}

func listed(kind string) func(raw jsontext.Value) ([]quarantine.Specimen, error) {
	return func(raw jsontext.Value) ([]quarantine.Specimen, error) {
		at := map[string]string{"tool": "tools", "prompt": "prompts", "resource": "resources", "template": "resourceTemplates"}[kind]
		of, _ := member(raw, at)
		list := of[at]
		if list == nil {
			return nil, nil
		}
		return quarantine.Specimens(kind, list[1:len(list)-1]) // of one item
	}
}

func welcomed(raw jsontext.Value) (all []quarantine.Specimen, err error) {
	of, rest := member(raw, "instructions", "serverInfo")
	for name, v := range of {
		set, err := quarantine.Specimens(map[string]string{"instructions": "instructions", "serverInfo": "server"}[name], v)
		if err != nil {
			return nil, err
		}
		all = append(all, set...)
	}
	set, err := quarantine.ResultSpecimens("initialize", rest)
	return append(all, set...), err
}

// An sdk is the types of the SDK's package mcp.
type sdk struct {
	types map[string]ast.Expr
	has   map[string][]string // method → types
}

func readSDK(t *testing.T) *sdk {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk/mcp").Output()
	if err != nil {
		t.Fatalf("the SDK's source: %v", err)
	}
	s := &sdk{types: map[string]ast.Expr{}, has: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, x := range d.Specs {
					if ts, ok := x.(*ast.TypeSpec); ok {
						s.types[ts.Name.Name] = ts.Type
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				r := d.Recv.List[0].Type
				if star, ok := r.(*ast.StarExpr); ok {
					r = star.X
				}
				if id, ok := r.(*ast.Ident); ok {
					s.has[d.Name.Name] = append(s.has[d.Name.Name], id.Name)
				}
			}
		}
	}
	return s
}

// strings of a type: the path of each one, "0" an element, "*" a name that somebody
// chose.
func (s *sdk) strings(t *testing.T, x ast.Expr, at string, within []string) (paths []string) {
	under := func(name string) string { return strings.TrimPrefix(at+"."+name, ".") }
	anything := []string{at, under("x"), under("x.0.y"), under("*")}
	switch x := x.(type) {
	case *ast.StarExpr:
		return s.strings(t, x.X, at, within)
	case *ast.InterfaceType, *ast.SelectorExpr: // json.RawMessage
		return anything
	case *ast.ArrayType:
		if id, ok := x.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return []string{at} // base64
		}
		return s.strings(t, x.Elt, under("0"), within)
	case *ast.MapType:
		return append(s.strings(t, x.Value, under("k"), within), under("*"))
	case *ast.StructType:
		for _, f := range x.Fields.List {
			if f.Tag == nil {
				if len(f.Names) == 0 { // embedded, without a name of its own
					paths = append(paths, s.strings(t, f.Type, at, within)...)
				}
				continue
			}
			name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			if name != "-" && name != "" && (at != "" || !slices.Contains(ours, name)) {
				paths = append(paths, s.strings(t, f.Type, under(name), within)...)
			}
		}
		return paths
	case *ast.Ident:
		switch x.Name {
		case "string":
			return []string{at}
		case "bool", "int", "int64", "float64":
			return nil
		case "any":
			return anything
		case "Content":
			x = ast.NewIdent("wireContent")
		case "InputRequestMap":
			paths = []string{under("*"), under("k.method")}
			for _, name := range s.has["isInputRequest"] {
				paths = append(paths, s.strings(t, ast.NewIdent(name), under("k.params"), within)...)
			}
			return paths
		}
		if slices.Contains(within, x.Name) { // a content inside of a content: one round
			return nil
		}
		d, ok := s.types[x.Name]
		if !ok {
			t.Fatalf("the type %s of %s is not known", x.Name, at)
		}
		return s.strings(t, d, at, append(slices.Clone(within), x.Name))
	}
	t.Fatalf("%s has a type of no known form: %T", at, x)
	return nil
}

func TestEveryStringOfTheSchema(t *testing.T) {
	s := readSDK(t)
	seen := 0
	for _, name := range append(s.has["isResult"], s.has["isParams"]...) {
		take, known := sides[name]
		if !known {
			t.Errorf("%s is new: say who reads it", name)
			continue
		}
		if take == nil {
			continue
		}
		for _, path := range s.strings(t, ast.NewIdent(name), "", nil) {
			item := strings.Index(path, ".0")
			if strings.HasPrefix(name, "List") && strings.HasSuffix(name, "Result") && (item < 0 || strings.Contains(path[:item], ".")) {
				continue // lists are made anew: only items are taken over
			}
			seen++
			set, err := take(raw(t, build(strings.Replace(path, "*", marker, 1))))
			if kind, _ := found(t, set, err); kind == "" {
				t.Errorf("%s: %s is not looked at", name, path)
			}
		}
	}
	for _, name := range []string{"isResult", "isParams", "isInputRequest"} {
		if len(s.has[name]) < 3 {
			t.Errorf("the SDK tells its messages in another way: %d have %s", len(s.has[name]), name)
		}
	}
	if t.Logf("%d strings and names", seen); seen < 300 {
		t.Errorf("only %d strings: the SDK was not read right", seen)
	}
}

// Each specimen says where it stands: the token's bytes are the text, or hold it.
func TestTokens(t *testing.T) {
	const doc = `{ "content" : [ {"type":"text", "text":"a\u00e9\n" }, {"x y":"z"}],"structuredContent":{"a":"{\"p q\":\"b\\n\",\"c\":[\"d\\\\\"]}",
		"blob":"dGV4dCB0aGF0IGlzIGxvbmcgZW5vdWdo","d":"data:,a%20b"}}`
	set, err := quarantine.ResultSpecimens("tools/call", jsontext.Value(doc))
	if err != nil {
		t.Fatal(err)
	}
	var inner []string
	for _, s := range set {
		b, err := jsontext.AppendUnquote(nil, doc[s.Token.From:s.Token.To])
		switch {
		case err != nil:
			t.Errorf("%s: the token is %s", s.Path, doc[s.Token.From:s.Token.To])
		case !s.Inner && string(b) != s.Text:
			t.Errorf("%s: the token is %s, the text %q", s.Path, doc[s.Token.From:s.Token.To], s.Text)
		case s.Inner:
			inner = append(inner, s.Path)
			if w := s.Within; w != (quarantine.Span{}) {
				v, err := jsontext.AppendUnquote(nil, string(b)[w.From:w.To])
				if err != nil || string(v) != s.Text {
					t.Errorf("%s: in the text stands %s", s.Path, b[w.From:w.To])
				}
			}
		}
		if s.Name != strings.HasSuffix(s.Path, `"]`) && s.Name != strings.HasSuffix(s.Path, `.d`) && len(s.Text) > 1 {
			t.Errorf("%s: a name: %v", s.Path, s.Name)
		}
	}
	want := []string{`structuredContent.a(json)["p q"]`, `structuredContent.a(json)["p q"]`, "structuredContent.a(json).c", "structuredContent.a(json).c[0]",
		"structuredContent.d(data)", "structuredContent.blob(base64)"}
	if !slices.Equal(inner, want) {
		t.Errorf("inside of strings: %q", inner)
	}
}

// What lenient readers read inside of a string is read here too.
func TestInsideLeniently(t *testing.T) {
	for name, text := range map[string]string{
		"a name twice":        `{"a":"x","a":"mark\u0065d text"}`,
		"half a pair":         `{"a":"\ud800","b":"mark\u0065d text"}`,
		"lines":               "{\"a\":1}\n{\"b\":\"mark\\u0065d text\"}\n",
		"a string":            `"mark\u0065d text"`,
		"space before":        " \n[\"mark\\u0065d text\"]",
		"a name":              `{"mark\u0065d text":1}`,
		"a name, no escapes":  `{"marked text":1}`,
		"the same name again": `{"a":{"marked text":1}}`,
	} {
		doc := `{"a":` + quote(t, text) + `,"b":` + quote(t, text) + `}`
		set, err := quarantine.ResultSpecimens("tools/call", jsontext.Value(doc))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range set {
			if s.Text == marker {
				n++
			}
		}
		if n != 2 { // in each of the two strings
			t.Errorf("%s: %d", name, n)
		}
	}
	for name, text := range map[string]string{"prose": `[note] marked`, "broken": `{"a":"mark\u0065d text"`, "more": `{"a":"mark\u0065d text"} and more`} {
		set, err := quarantine.ResultSpecimens("tools/call", jsontext.Value(`{"a":`+quote(t, text)+`}`))
		if kind, _ := found(t, set, err); kind != "" || quarantine.IsDocument(text) {
			t.Errorf("%s: taken for JSON", name)
		}
	}
	deep := strings.Repeat(`[`, 200) + `"\\"` + strings.Repeat(`]`, 200)
	if _, err := quarantine.ResultSpecimens("tools/call", jsontext.Value(`{"a":`+quote(t, deep)+`}`)); err != quarantine.ErrTooDeep {
		t.Errorf("deep inside: %v", err)
	}
}

// pages are the strings that a browser supplies, with what each is judged as.
var pages = map[string]quarantine.Kind{
	"url": "uri", "origin": "uri", "referrer": "uri", "title": "result", "description": "result", "lang": "value", "scripts.0": "uri",
	"frames.0.url": "uri", "frames.0.origin": "uri", "frames.0.name": "name", "frames.0.title": "result",
	"forms.0.name": "name", "forms.0.action": "uri", "forms.0.title": "title", "forms.0.description": "description",
	"forms.0.toolname": "name", "forms.0.tooldescription": "description",
	"forms.0.fields.0.name": "name", "forms.0.fields.0.label": "title", "forms.0.fields.0.placeholder": "title", "forms.0.fields.0.title": "title",
	"forms.0.fields.0.toolparamdescription": "description", "forms.0.fields.0.description": "description", "forms.0.fields.0.options.0": "value",
	"forms.0.fields.0.value": "value", "x.y": "description", "forms.0.x": "description", "*": "name", "forms.0.fields.0.*": "name",
}

func TestEveryStringOfAPage(t *testing.T) {
	for path, want := range pages {
		set, err := quarantine.Specimens("page", raw(t, build(strings.Replace(path, "*", marker, 1))))
		if kind, _ := found(t, set, err); kind != want {
			t.Errorf("%s is judged as %q, want %q", path, kind, want)
		}
	}
	if _, err := quarantine.Specimens("page", jsontext.Value(`[]`)); err != quarantine.ErrUnreadable {
		t.Errorf("an array: %v", err)
	}
}
