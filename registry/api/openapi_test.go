package api

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/registry"
)

var update = flag.Bool("update", false, "write openapi.json anew")

// The description is made from the table of routes and the shapes of the wire,
// so that it cannot tell another story than they do.
func TestOpenAPIIsCurrent(t *testing.T) {
	want, err := json.Marshal(describe(t), json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(openAPI, want) {
		t.Error("openapi.json is not what the routes say: go test -run TestOpenAPIIsCurrent -update")
	}
}

func TestEveryRouteIsDescribed(t *testing.T) {
	ids := map[string]bool{}
	used := map[string]bool{"method_not_allowed": true} // of paths, not of operations
	for _, r := range table() {
		if r.id == "" || ids[r.id] || r.summary == "" || r.tag == "" || r.gives == nil || r.status == 0 {
			t.Errorf("%s %s is not described", r.method, r.path)
		}
		ids[r.id] = true
		if (r.op != "") != (r.who != anybody) {
			t.Errorf("%s %s: a proof has an operation", r.method, r.path)
		}
		if (r.takes != nil) != (r.body > 0) {
			t.Errorf("%s %s: a body has a type", r.method, r.path)
		}
		if r.method != get && r.op == "" {
			t.Errorf("%s %s changes something without a proof", r.method, r.path)
		}
		for _, c := range codesOf(r) {
			if _, ok := codes[c]; !ok {
				t.Errorf("%s %s: code %q is not one", r.method, r.path, c)
			}
			used[c] = true
		}
		if rule, ok := proof.RuleOf(proof.Op(r.op)); r.op != "" && (!ok || (rule.Ath == proof.Present) != (r.who == holder) ||
			(rule.ToolID == proof.Present) != (r.about != nothing)) {
			t.Errorf("%s %s: the proof's rule for %q is another", r.method, r.path, r.op)
		}
	}
	for c := range codes {
		if !used[c] {
			t.Errorf("code %q belongs to no operation", c)
		}
	}
	for _, m := range mappings {
		if _, ok := codes[m.code]; !ok {
			t.Errorf("%v maps to %q, which is no code", m.err, m.code)
		}
	}
}

// codesOf are all codes that an operation may answer with.
func codesOf(r *route) []string {
	c := "wrong_host header_too_large foreign_origin too_many overload internal unsupported_media_type " + r.codes
	if r.method != get {
		c += " query_not_allowed"
	}
	if r.body > 0 {
		c += " body_too_large bad_json unknown_member duplicate_member nested_too_deep invalid_text bad_number"
	} else {
		c += " body_not_allowed"
	}
	if r.who != anybody {
		c += " invalid_dpop_proof use_dpop_nonce replay_full stale_view stale_keys"
		if r.method != get {
			c += " unknown_outcome"
		}
	}
	switch r.who {
	case holder:
		c += " invalid_token"
	case operator:
		c += " not_operator authorization_not_allowed"
	case key:
		c += " authorization_not_allowed"
	}
	if r.tag == "labels" || r.id == "keySet" {
		c += " stale_keys stale_view"
	}
	out := strings.Fields(c)
	slices.Sort(out)
	return slices.Compact(out)
}

type object = map[string]any

// A describer collects the schemas that the operations refer to.
type describer struct {
	schemas  object
	refusals object            // by name
	docs     map[string]string // by Type or Type.json_name
}

func describe(t *testing.T) object {
	d := &describer{schemas: object{}, refusals: object{}, docs: comments(t, "../wire.go", "../wire_origins.go", "../wire_observations.go", "../event.go", "discovery.go",
		"../../credentials/keyset.go", "../../labels/lowered.go", "../../internal/problem/problem.go")}
	paths := object{}
	for _, r := range table() {
		p, _ := paths[r.path].(object)
		if p == nil {
			p = object{}
			paths[strings.Replace(r.path, "...}", "}", 1)] = p
		}
		p[strings.ToLower(r.method)] = d.operation(r)
	}
	d.schemaOf(reflect.TypeFor[problem.Problem](), false)
	d.schemas["Problem"].(object)["properties"].(object)["code"] = object{"type": "string", "enum": slices.Sorted(maps.Keys(codes)),
		"description": "What programs branch on; it never changes its meaning."}
	return object{
		"openapi": "3.0.3",
		"info": object{
			"title": "Pratique registry", "version": "1.0.0",
			"description": "Registers tools of agents so that only their registrant can change them afterwards, and tells what is believed of them.\n\n" +
				"What changes something carries a DPoP proof (RFC 9449) in the header `DPoP`, made for exactly this request: beside `htm`, `htu`, `iat`, `jti` and the server's `nonce` it holds `op` and, as `x-pratique-proof` of the operation lists, `ath`, `tool_id`, `base` and `bdg`. " +
				"Errors are problem details (RFC 9457) with a stable `code`:\n\n" + codeTable(),
			"license": object{"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		"servers": []any{object{"url": "/", "description": "The registry that served this document."}},
		"tags":    tags(),
		"paths":   paths,
		"components": object{
			"schemas":   d.schemas,
			"responses": d.refusals,
			"securitySchemes": object{
				"proof":  object{"type": "apiKey", "in": "header", "name": "DPoP", "description": "A dpop+jwt made for this request."},
				"handle": object{"type": "http", "scheme": "dpop", "description": "A tool-handle+jwt; `Authorization: DPoP <handle>`."},
			},
			"headers": object{
				"DPoPNonce":       object{"description": "What the next proof of this key has to carry.", "schema": object{"type": "string"}},
				"WWWAuthenticate": object{"description": "RFC 9449 section 7.1, RFC 9728 section 5.1.", "schema": object{"type": "string"}},
				"RetryAfter":      object{"description": "Seconds to wait.", "schema": object{"type": "integer"}},
				"RequestId":       object{"description": "The id of the request, as in the service's log.", "schema": object{"type": "string"}},
			},
		},
	}
}

func codeTable() string {
	var b strings.Builder
	b.WriteString("| code | status | |\n|---|---|---|\n")
	for _, c := range slices.Sorted(maps.Keys(codes)) {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", c, codes[c].status, codes[c].title)
	}
	return b.String()
}

func tags() (out []any) {
	for _, t := range [][2]string{
		{"principals", "Who registers: an identity named by a key."},
		{"agents", "Credentials of agents; operators only."},
		{"tools", "Named capabilities at an origin."},
		{"handles", "Capabilities to change one tool."},
		{"delegations", "Narrower handles for other keys."},
		{"origins", "Where tools come from, and what origins declare."},
		{"labels", "What is believed of a tool, signed."},
		{"keys", "The service's signing keys."},
		{"log", "The log that everything follows from, and its proofs."},
		{"discovery", "What clients read first."},
	} {
		out = append(out, object{"name": t[0], "description": t[1]})
	}
	return out
}

func (d *describer) operation(r *route) object {
	op := object{"operationId": r.id, "tags": []string{r.tag}, "summary": r.summary, "responses": d.responses(r)}
	if p := parameters(r); len(p) > 0 {
		op["parameters"] = p
	}
	if r.takes != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{
			"schema": d.schemaOf(reflect.TypeOf(r.takes), true)}}}
	}
	op["security"] = map[who][]any{
		anybody: {}, key: {object{"proof": []string{}}}, operator: {object{"proof": []string{}}},
		holder: {object{"proof": []string{}, "handle": []string{}}},
	}[r.who]
	if r.op != "" {
		op["x-pratique-op"] = r.op
		op["x-pratique-proof"] = members(r)
		op["x-pratique-who"] = map[who]string{operator: "operator", key: "any key", holder: "holder of the handle"}[r.who]
	}
	return op
}

func members(r *route) []string {
	rule, _ := proof.RuleOf(proof.Op(r.op))
	out := []string{}
	for _, m := range []struct {
		name string
		p    proof.Presence
	}{{"ath", rule.Ath}, {"tool_id", rule.ToolID}, {"base", rule.Base}, {"bdg", rule.Bdg}} {
		if m.p == proof.Present || m.p == proof.ByBody && r.body > 0 {
			out = append(out, m.name)
		}
	}
	return out
}

func parameters(r *route) (out []any) {
	for part := range strings.SplitSeq(r.path, "/") {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(strings.TrimSuffix(name, "}"), "...")
		out = append(out, object{"name": name, "in": "path", "required": true, "schema": pathSchema(r, name)})
	}
	for _, q := range r.query {
		s := object{"type": q.kind}
		if q.kind == "integer" {
			s["minimum"] = 0
		}
		out = append(out, object{"name": q.name, "in": "query", "required": q.required, "description": q.text, "schema": s})
	}
	if r.method != get && r.id != "renewHandle" && r.tag != "keys" && r.tag != "results" && r.id != "readTopology" {
		out = append(out, object{"name": "Idempotency-Key", "in": "header", "description": "Command id: a retry with the same id and request gets the first outcome.",
			"schema": object{"type": "string", "pattern": "^[A-Za-z0-9_-]{16,64}$"}})
	}
	if r.stream && r.follow == nil {
		out = append(out, object{"name": "Last-Event-ID", "in": "header", "description": "The id of the last event received; the stream goes on after it.",
			"schema": object{"type": "string"}})
	}
	return out
}

const (
	thumbprint = "[A-Za-z0-9_-]{43}"
	ulidText   = "[0-7][0-9A-HJKMNP-TV-Z]{25}"
)

func pathSchema(r *route, name string) object {
	pattern := map[string]string{"id": "^tool_" + ulidText + "$", "tool_id": "^tool_" + ulidText + "$", "jti": "^[A-Za-z0-9_-]{16,64}$",
		"kid": "^" + thumbprint + "$", "index": "^(0|[1-9][0-9]*)$"}[name]
	switch {
	case r.tag == "principals":
		pattern = "^prn_" + thumbprint + "$"
	case r.tag == "agents":
		pattern = "^agt_" + ulidText + "$"
	case r.tag == "results":
		pattern = "^run_" + ulidText + "$"
	}
	if pattern == "" {
		return object{"type": "string"}
	}
	return object{"type": "string", "pattern": pattern}
}

func (d *describer) responses(r *route) object {
	id := object{"X-Request-Id": object{"$ref": "#/components/headers/RequestId"}}
	good := object{"description": "Done.", "headers": maps.Clone(id)}
	if r.method == get {
		good["description"] = "As asked."
	}
	switch g := r.gives.(type) {
	case text:
		good["content"] = object{"text/plain": object{"schema": object{"type": "string"}}}
	case []byte:
		good["content"] = object{"application/octet-stream": object{"schema": object{"type": "string", "format": "binary"}}}
	default:
		kind := "application/json"
		if r.stream {
			kind = "text/event-stream"
			good["description"] = "A stream of events of the kind `label`, whose data is a LabelChange in JSON and whose id is a ledger index; `reset` where the log is not the one of Last-Event-ID."
		}
		if r.follow != nil {
			good["description"] = "A stream of events of the kinds `withdrawn` and `cleared`, whose data is a WithdrawalEvent in JSON. It begins with all that is withdrawn."
		}
		good["content"] = object{kind: object{"schema": d.schemaOf(reflect.TypeOf(g), false)}}
	}
	if r.who != anybody {
		good["headers"].(object)["DPoP-Nonce"] = object{"$ref": "#/components/headers/DPoPNonce"}
	}
	out := object{strconv.Itoa(r.status): good}
	if r.tag == "discovery" || r.id == "listLowered" {
		out["304"] = object{"description": "Not changed since the ETag of If-None-Match."}
	}
	by := map[int][]string{}
	for _, c := range codesOf(r) {
		by[codes[c].status] = append(by[codes[c].status], c)
	}
	for status, cs := range by {
		name := "Refused" + strconv.Itoa(status) + "_" + strings.Join(cs, ".")
		if _, ok := d.refusals[name]; !ok {
			d.refusals[name] = refusal(status, cs)
		}
		out[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + name}
	}
	return out
}

func refusal(status int, cs []string) object {
	headers := object{"X-Request-Id": object{"$ref": "#/components/headers/RequestId"}}
	if status == 401 {
		headers["WWW-Authenticate"] = object{"$ref": "#/components/headers/WWWAuthenticate"}
		headers["DPoP-Nonce"] = object{"$ref": "#/components/headers/DPoPNonce"}
	}
	if status == 429 || status == 503 {
		headers["Retry-After"] = object{"$ref": "#/components/headers/RetryAfter"}
	}
	return object{"description": "`" + strings.Join(cs, "`, `") + "`", "headers": headers, "content": object{problem.ContentType: object{"schema": object{
		"allOf": []any{object{"$ref": "#/components/schemas/Problem"}, object{"type": "object", "properties": object{"code": object{"type": "string", "enum": cs}}}},
	}}}}
}

// plain are the schemas of types that are one text or number.
var plain = map[reflect.Type]object{
	reflect.TypeFor[credentials.Digest]():          {"type": "string", "pattern": "^sha-256:" + thumbprint + "$"},
	reflect.TypeFor[credentials.KeyID]():           {"type": "string", "pattern": "^" + thumbprint + "$"},
	reflect.TypeFor[credentials.PrincipalID]():     {"type": "string", "pattern": "^prn_" + thumbprint + "$"},
	reflect.TypeFor[credentials.ToolID]():          {"type": "string", "pattern": "^tool_" + ulidText + "$"},
	reflect.TypeFor[credentials.AgentID]():         {"type": "string", "pattern": "^agt_" + ulidText + "$"},
	reflect.TypeFor[credentials.TokenID]():         {"type": "string", "pattern": "^[A-Za-z0-9_-]{16,64}$"},
	reflect.TypeFor[registry.CommandID]():          {"type": "string", "pattern": "^[A-Za-z0-9_-]{16,64}$"},
	reflect.TypeFor[credentials.Level]():           {"type": "string", "enum": []string{"none", "pop", "sri", "sig", "srv"}},
	reflect.TypeFor[credentials.Action]():          {"type": "string", "enum": []string{"delegate", "overwrite", "revoke"}},
	reflect.TypeFor[time.Time]():                   {"type": "string", "format": "date-time"},
	reflect.TypeFor[[]byte]():                      {"type": "string", "format": "byte"},
	reflect.TypeFor[jsontext.Value]():              {"type": "object", "additionalProperties": true},
	reflect.TypeFor[map[string]any]():              {"type": "object", "additionalProperties": true},
	reflect.TypeFor[credentials.Role]():            {"type": "string", "enum": credentials.Roles()},
	reflect.TypeFor[registry.RegistrationPolicy](): {"type": "string", "enum": []string{"enrolled", "open"}},
}

// special are the schemas of members whose Go type says less than there is.
var special = map[string]object{
	"TopologyView.rows":       {"type": "array", "items": object{"type": "object", "additionalProperties": true}},
	"ToolView.status":         {"type": "string", "enum": []string{"live", "revoked"}},
	"LabelChange.status":      {"type": "string", "enum": []string{"live", "revoked"}},
	"LabelChange.tier":        {"type": "string", "enum": []string{"red", "yellow", "green"}},
	"LabelView.tier":          {"type": "string", "enum": []string{"red", "yellow", "green"}},
	"LabelView.standing":      {"type": "string", "enum": []string{"vetoed", "unknown", "pinned", "attested"}},
	"LabelView.content":       {"type": "string", "enum": []string{"violated", "suspect", "uninspected", "inspected", "consistent"}},
	"ObservationView.content": {"type": "string", "enum": []string{"violated", "suspect", "uninspected", "inspected", "consistent"}},
	"ReviewView.content":      {"type": "string", "enum": []string{"violated", "suspect", "uninspected", "inspected", "consistent"}},
	"HandleView.handle":       {"type": "string"},
	"Problem.earliest":        {"type": "string", "format": "date-time"},
	"RegisterRequest.tools": {"type": "array", "minItems": 1, "maxItems": registry.MaxBatch, "items": object{"type": "object", "additionalProperties": true,
		"required": []string{"name"}, "properties": object{"name": object{"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$"}}}},
}

func (d *describer) schemaOf(t reflect.Type, closed bool) object {
	if s, ok := plain[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Uint64:
		return object{"type": "integer", "format": "int64", "minimum": 0}
	case reflect.Slice:
		return object{"type": "array", "items": d.schemaOf(t.Elem(), closed)}
	case reflect.Struct:
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if _, ok := d.schemas[name]; !ok {
			s := object{"type": "object"}
			d.schemas[name] = s
			if doc := d.docs[t.Name()]; doc != "" {
				s["description"] = doc
			}
			if closed {
				s["additionalProperties"] = false
			}
			props, required := object{}, []string{}
			d.fields(t, t.Name(), closed, props, &required)
			s["properties"] = props
			if len(required) > 0 {
				s["required"] = required
			}
		}
		return object{"$ref": "#/components/schemas/" + name}
	}
	panic("no schema for " + t.String())
}

func (d *describer) fields(t reflect.Type, owner string, closed bool, props object, required *[]string) {
	for f := range t.Fields() {
		if f.Anonymous {
			d.fields(f.Type, f.Type.Name(), closed, props, required)
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		s, ok := special[owner+"."+name]
		if !ok {
			s = d.schemaOf(f.Type, closed)
		}
		if doc := d.docs[owner+"."+name]; doc != "" {
			if _, isRef := s["$ref"]; isRef {
				s = object{"allOf": []any{s}, "description": doc}
			} else {
				s = maps.Clone(s)
				s["description"] = doc
			}
		}
		props[name] = s
		if !strings.Contains(opts, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// comments reads the doc comments of types and fields.
func comments(t *testing.T, files ...string) map[string]string {
	out := map[string]string{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				ts := spec.(*ast.TypeSpec)
				out[ts.Name.Name] = flat(g.Doc)
				if st, ok := ts.Type.(*ast.StructType); ok {
					fieldComments(out, ts.Name.Name, st)
				}
			}
		}
	}
	return out
}

func fieldComments(out map[string]string, owner string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		doc := flat(f.Doc)
		if doc == "" {
			doc = flat(f.Comment)
		}
		out[owner+"."+name] = doc
	}
}

func flat(g *ast.CommentGroup) string {
	if g == nil {
		return ""
	}
	return strings.Join(strings.Fields(g.Text()), " ")
}
