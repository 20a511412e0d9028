package effects_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
)

func tool(name, annotations, schema string) jsontext.Value {
	if annotations == "" {
		annotations = "{}"
	}
	if schema == "" {
		schema = `{"type":"object"}`
	}
	return jsontext.Value(fmt.Sprintf(`{"name":%q,"annotations":%s,"inputSchema":%s}`, name, annotations, schema))
}

const (
	readOnly = `{"readOnlyHint":true}`
	adding   = `{"destructiveHint":false}`
	all      = labels.Unclassified
	writing  = labels.Write | labels.Egress
	losing   = labels.Write | labels.Egress | labels.Destructive
)

// Of an attested origin a read is what claims, name and schema agree on.
func TestEffectRule(t *testing.T) {
	for _, c := range []struct {
		standing                  labels.Standing
		annotations, name, schema string
		want                      labels.Effect
	}{
		{labels.Attested, readOnly, "search_docs", "", labels.Read},
		{labels.Attested, readOnly, "getUser", "", labels.Read},
		{labels.Attested, readOnly, "repo.list_files", "", labels.Read},
		{labels.Attested, `{"readOnlyHint":true,"destructiveHint":false,"title":"x","x":{"y":1}}`, "list", "", labels.Read},
		{labels.Attested, readOnly, "search_docs", `{"properties":{"query":{"type":"string"},"path":{"type":"string"}}}`, labels.Read},
		{labels.Pinned, readOnly, "search_docs", "", all},
		{labels.Unknown, readOnly, "search_docs", "", all},
		{labels.Vetoed, readOnly, "search_docs", "", all},
		{labels.Attested, `{"readOnlyHint":true,"openWorldHint":true}`, "search_docs", "", labels.Read | labels.Egress},
		{labels.Attested, readOnly, "view_file", `{"properties":{"path":{},"content":{}}}`, all},
		{labels.Attested, readOnly, "view_file", `{"properties":{"path":{},"deep":{"items":{"properties":{"overwrite":{}}}}}}`, all},
		{labels.Attested, readOnly, "wipe_docs", "", all},
		{labels.Attested, readOnly, "get_and_delete", "", all},
		{labels.Attested, readOnly, "getAndDelete", "", all},
		{labels.Attested, readOnly, "query", "", all},
		{labels.Attested, readOnly, "frobnicate", "", all},
		{labels.Attested, readOnly, "", "", all},
		{labels.Attested, `{}`, "search_docs", "", all},
		{labels.Attested, `{"readOnlyHint":false}`, "search_docs", "", all},
		{labels.Attested, `{"ReadOnlyHint":true}`, "search_docs", "", all},
		{labels.Attested, `{"readOnlyHint":"true"}`, "search_docs", "", all},
		{labels.Attested, `{"readOnlyHint":null}`, "search_docs", "", all},
		{labels.Attested, `{"readOnlyHint":true,"destructiveHint":true}`, "search_docs", "", all},
		{labels.Attested, `{"readOnlyHint":false,"readOnlyHint":true}`, "search_docs", "", all},
		{labels.Attested, `[true]`, "search_docs", "", all},
		{labels.Attested, adding, "create_issue", "", writing},
		{labels.Attested, `{}`, "create_issue", "", losing},
		{labels.Attested, `{"destructiveHint":true}`, "create_issue", "", losing},
		{labels.Attested, adding, "create_or_update_file", "", losing},
		{labels.Attested, adding, "update_issue", "", losing},
		{labels.Attested, adding, "create_file", `{"properties":{"path":{},"content":{}}}`, losing},
		{labels.Attested, adding, "create_job", "", all},
		{labels.Attested, adding, "run_query", "", all},
		{labels.Pinned, adding, "create_issue", "", all},
	} {
		if got := effects.Rule(c.standing, tool(c.name, c.annotations, c.schema)); got != c.want {
			t.Errorf("%v %s %q %s: %v, want %v", c.standing, c.annotations, c.name, c.schema, got, c.want)
		}
	}
	for _, raw := range []string{``, `{`, `[]`, `{"name":1}`, `{"name":"list_a","annotations":{"readOnlyHint":true}`} {
		if got := effects.Rule(labels.Attested, jsontext.Value(raw)); got != all {
			t.Errorf("%q: %v", raw, got)
		}
	}
}

// A claim never makes the answer smaller than it is without the claim and with every
// other one, and no standing but attested makes it smaller than everything.
func TestClaimsOnlyMakeStricter(t *testing.T) {
	hints := []string{"", "true", "false"}
	for _, name := range []string{"list_items", "create_item", "delete_item", "run_item", "item"} {
		for _, ro := range hints {
			for _, de := range hints {
				base := effects.Rule(labels.Attested, tool(name, claims(ro, de, ""), ""))
				if open := effects.Rule(labels.Attested, tool(name, claims(ro, de, "true"), "")); open.Counts()&base.Counts() != base.Counts() {
					t.Errorf("%s %s %s: an open world makes %v of %v", name, ro, de, open, base)
				}
				if bad := effects.Rule(labels.Attested, tool(name, claims(ro, "true", ""), "")); de == "" && bad.Counts()&base.Counts() != base.Counts() {
					t.Errorf("%s %s: a destructive hint makes %v of %v", name, ro, bad, base)
				}
				for s := labels.Vetoed; s < labels.Attested; s++ {
					if got := effects.Rule(s, tool(name, claims(ro, de, ""), "")); got != all {
						t.Errorf("%v: %s is %v", s, name, got)
					}
				}
			}
		}
	}
}

func claims(ro, de, open string) string {
	var out []string
	for name, v := range map[string]string{"readOnlyHint": ro, "destructiveHint": de, "openWorldHint": open} {
		if v != "" {
			out = append(out, fmt.Sprintf("%q:%s", name, v))
		}
	}
	return "{" + strings.Join(out, ",") + "}"
}

var (
	one = credentials.Digest{1}
	two = credentials.Digest{2}
	now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
)

func signed(t testing.TB, key ed25519.PrivateKey, text string, at time.Time, life time.Duration) string {
	t.Helper()
	tok, err := effects.Sign([]byte(text), key, "01JDXYZ0000000000000000000", at, life)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func newKey(t testing.TB) (ed25519.PrivateKey, envelope.Key) {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k, err := envelope.NewKey(priv.Public())
	if err != nil {
		t.Fatal(err)
	}
	return priv, k
}

func parsed(t testing.TB, text string) *effects.File {
	t.Helper()
	f, err := effects.ParseFile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The file goes before catalogues, and these before the rule.
func TestFileBeforeCatalogueBeforeRule(t *testing.T) {
	priv, k := newKey(t)
	tok := signed(t, priv, `effects:
  - package: npm:@x/y
    tools: {get_a: {effect: read, digest: `+one.String()+`}, put_a: {effect: write, digest: `+one.String()+`}}
  - origin: https://mcp.example.org
    tools: {get_a: {effect: read+egress, digest: `+one.String()+`}}
`, now, time.Hour)
	c, err := effects.Open(tok, []envelope.Key{k}, now)
	if err != nil {
		t.Fatal(err)
	}
	table := effects.NewTable(parsed(t, `effects:
  - upstream: notes
    package: npm:@x/y
    tools:
      put_a: write+destructive
      get_b: {effect: read, digest: `+two.String()+`}
  - origin: https://other.example.org
    tools: {get_a: unclassified}
`), c)
	for _, x := range []struct {
		tool effects.Tool
		at   time.Time
		want labels.Effect
		by   effects.Source
	}{
		{effects.Tool{Origin: "stdio:notes", Upstream: "notes", Name: "put_a", Digest: one}, now, labels.Write | labels.Destructive, effects.ByFile},
		{effects.Tool{Origin: "stdio:notes", Upstream: "notes", Name: "put_a", Digest: two}, now, labels.Write | labels.Destructive, effects.ByFile},
		{effects.Tool{Origin: "stdio:notes", Upstream: "notes", Name: "get_b", Digest: two}, now, labels.Read, effects.ByFile},
		{effects.Tool{Origin: "stdio:notes", Upstream: "notes", Name: "get_b", Digest: one}, now, all, effects.ByRule},
		{effects.Tool{Origin: "stdio:notes", Upstream: "notes", Name: "get_a", Digest: one}, now, labels.Read, effects.ByCatalogue},
		{effects.Tool{Origin: "stdio:notes", Upstream: "notes", Name: "get_a", Digest: two}, now, all, effects.ByRule},
		{effects.Tool{Origin: "stdio:notes", Upstream: "notes", Name: "get_a", Digest: one}, now.Add(time.Hour), all, effects.ByRule},
		{effects.Tool{Origin: "stdio:notes2", Upstream: "notes2", Name: "get_a", Digest: one}, now, all, effects.ByRule},
		{effects.Tool{Origin: "https://mcp.example.org", Upstream: "m", Name: "get_a", Digest: one}, now, labels.Read | labels.Egress, effects.ByCatalogue},
		{effects.Tool{Origin: "https://other.example.org", Upstream: "o", Name: "get_a", Digest: one}, now, all, effects.ByFile},
		{effects.Tool{Name: "get_a", Digest: one}, now, all, effects.ByRule},
	} {
		e, by := table.Judge(x.tool, labels.Pinned, tool(x.tool.Name, readOnly, ""), x.at)
		if e != x.want || by != x.by {
			t.Errorf("%+v: %v by %q, want %v by %q", x.tool, e, by, x.want, x.by)
		}
	}
	if table.Ends(now) != now.Add(time.Hour).Unix() || table.Ends(now.Add(time.Hour)) != 0 {
		t.Errorf("it ends at %d, %d", table.Ends(now), table.Ends(now.Add(time.Hour)))
	}
	var none *effects.Table
	if e, by := none.Judge(effects.Tool{}, labels.Attested, tool("list_a", readOnly, ""), now); e != labels.Read || by != effects.ByRule || none.Ends(now) != 0 {
		t.Errorf("no table: %v, %v", e, by)
	}
}

// Where two catalogues differ, both are believed to see something.
func TestCataloguesAdd(t *testing.T) {
	priv, k := newKey(t)
	var list []*effects.Catalogue
	for _, e := range []string{"read", "write", "egress"} {
		c, err := effects.Open(signed(t, priv, `effects: [{origin: "https://a.example", tools: {x: {effect: `+e+`, digest: `+one.String()+`}}}]`, now, time.Hour), []envelope.Key{k}, now)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	x := effects.Tool{Origin: "https://a.example", Name: "x", Digest: one}
	if e, _, _ := effects.NewTable(nil, list...).Of(x, now); e != labels.Read|labels.Write|labels.Egress {
		t.Errorf("%v", e)
	}
	c, err := effects.Open(signed(t, priv, `effects: [{origin: "https://a.example", tools: {x: {effect: unclassified, digest: `+one.String()+`}}}]`, now, time.Hour), []envelope.Key{k}, now)
	if err != nil {
		t.Fatal(err)
	}
	if e, _, ok := effects.NewTable(nil, append(list, c)...).Of(x, now); e != all || !ok {
		t.Errorf("with one that knows nothing: %v", e)
	}
	if e, _, ok := effects.NewTable(nil, append([]*effects.Catalogue{c}, list...)...).Of(x, now); e != all || !ok {
		t.Errorf("with one that knows nothing first: %v", e)
	}
}

func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": ``, "no effects": `effects: []`, "null": `effects:`, "unknown key": `effects: [{upstream: a, tools: {b: read}, trust: all}]`,
		"unknown key at the top": "effects: [{upstream: a, tools: {b: read}}]\nmore: 1", "unknown effect": `effects: [{upstream: a, tools: {b: reads}}]`,
		"no place": `effects: [{tools: {b: read}}]`, "both places": `effects: [{upstream: a, origin: "https://a.example", tools: {b: read}}]`,
		"origin in another form": `effects: [{origin: "https://A.example/", tools: {b: read}}]`, "says nothing": `effects: [{upstream: a}]`,
		"tool twice": "effects:\n  - upstream: a\n    tools:\n      b: read\n      b: write\n", "tool in two blocks": `effects: [{upstream: a, tools: {b: read}}, {upstream: a, tools: {b: write}}]`,
		"two packages": `effects: [{upstream: a, package: "npm:a"}, {upstream: a, package: "npm:b"}]`, "bad package": `effects: [{upstream: a, package: a b}]`,
		"digest of nothing": `effects: [{upstream: a, tools: {b: {effect: read, digest: x}}}]`, "an effect that is a number": `effects: [{upstream: a, tools: {b: 7}}]`,
		"no effect": `effects: [{upstream: a, tools: {b: {digest: ` + one.String() + `}}}]`, "an alias": "effects: &x\n  - upstream: a\n    tools: {b: read}\nmore: *x\n",
		"no UTF-8": "effects: [{upstream: a, tools: {\"\xff\": read}}]", "a name too long": `effects: [{upstream: a, tools: {` + strings.Repeat("b", 2000) + `: read}}]`,
		"too large": `effects: [{upstream: a, tools: {b: read}}]` + strings.Repeat(" ", effects.MaxFileBytes), "an upstream too long": `effects: [{upstream: ` + strings.Repeat("a", 65) + `, tools: {b: read}}]`,
	} {
		if _, err := effects.ParseFile([]byte(text)); !errors.Is(err, effects.ErrFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := parsed(t, "\ufeffeffects:\r\n  - upstream: a\r\n    tools:\r\n      b: read+write\r\n")
	if l := f.Lines(); len(l) != 1 || l[0].Effect != labels.Read|labels.Write {
		t.Errorf("with a byte order mark and CRLF: %+v", l)
	}
}

// What is wrong with one of many tools is said with its line, and without its name.
func TestBadToolsHaveALine(t *testing.T) {
	const head = "effects:\r\n  - upstream: a\r\n    tools: {b: read}\r\n  - upstream: secret\r\n    tools:\r\n      x: read\r\n"
	for text, want := range map[string]string{
		head + "      secret: reads\n":                             "block 2: line 7: ",
		head + "      \"secret\": {effect: read, digest: x}\n":     "block 2: line 7: digest is not that of an item",
		head + "      y: read\n      secret: {digest: x}\n":        "block 2: line 8: ",
		head + "  - upstream: secret\n    tools:\n      x: read\n": "block 3: line 9: speaks of a tool that an earlier block speaks of",
		head + "      \"\": read\n":                                "block 2: line 7: a tool's name is empty",
		"effects:\n- upstream: a\n  tools: {b: secret}\n":          "block 1: line 3: ",
	} {
		if _, err := effects.ParseFile([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestBadCatalogues(t *testing.T) {
	priv, k := newKey(t)
	other, otherKey := newKey(t)
	text := `effects: [{origin: "https://a.example", tools: {x: {effect: read, digest: ` + one.String() + `}}}]`
	good := signed(t, priv, text, now, time.Hour)
	keys := []envelope.Key{k}
	if _, err := effects.Open(good, keys, now); err != nil {
		t.Fatal(err)
	}
	entry := effects.Entry{Origin: "https://a.example", Tool: "x", Mdg: one, Effect: labels.Read}
	claimed := func(key ed25519.PrivateKey, typ envelope.Type, change func(*effects.Claims)) string {
		s, err := envelope.NewSigner(typ, key)
		if err != nil {
			t.Fatal(err)
		}
		c := effects.Claims{Registered: credentials.NewRegistered(string(s.Key().ID), "j", now, time.Hour), Sub: "effects", Entries: []effects.Entry{entry}}
		change(&c)
		tok, err := s.Sign(&c)
		if err != nil {
			t.Fatal(err)
		}
		return tok
	}
	for name, tok := range map[string]string{
		"nothing": "", "cut": good[:len(good)-2], "another's key": signed(t, other, text, now, time.Hour),
		"another's words": good[:strings.LastIndexByte(good, '.')] + signed(t, other, text, now, time.Hour)[strings.LastIndexByte(good, '.'):],
		"expired":         signed(t, priv, text, now.Add(-2*time.Hour), time.Hour), "not yet": signed(t, priv, text, now.Add(time.Hour), time.Hour),
		"another type":    claimed(priv, envelope.OperatorAct, func(*effects.Claims) {}),
		"another's name":  claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Iss = string(otherKey.ID) }),
		"another subject": claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Sub = "intent" }),
		"too long":        claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Exp += int64(effects.MaxLife / time.Second) }),
		"no entries":      claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries = nil }),
		"twice":           claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries = append(c.Entries, entry) }),
		"no place":        claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries[0].Origin = "" }),
		"two places":      claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries[0].Package = "npm:a" }),
		"a loose origin":  claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries[0].Origin = "https://A.example" }),
		"a loose package": claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries[0].Origin, c.Entries[0].Package = "", "a" }),
		"no tool":         claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries[0].Tool = "" }),
		"no version":      claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Entries[0].Mdg = credentials.Digest{} }),
		"no id":           claimed(priv, envelope.EffectCatalogue, func(c *effects.Claims) { c.Jti = "" }),
	} {
		if c, err := effects.Open(tok, keys, now); !errors.Is(err, effects.ErrCatalogue) || c != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := effects.Open(good, nil, now); !errors.Is(err, effects.ErrKey) {
		t.Errorf("no key is enrolled: %v", err)
	}
	for name, bad := range map[string]string{
		"an upstream's name": `effects: [{upstream: a, tools: {x: {effect: read, digest: ` + one.String() + `}}}]`,
		"no digest":          `effects: [{origin: "https://a.example", tools: {x: read}}]`,
		"no place":           `effects: [{tools: {x: {effect: read, digest: ` + one.String() + `}}}]`,
		"no file":            `effects`,
	} {
		if _, err := effects.Sign([]byte(bad), priv, "j", now, time.Hour); err == nil {
			t.Errorf("%s was signed", name)
		}
	}
	if _, err := effects.Sign([]byte(text), priv, "j", now, effects.MaxLife+time.Hour); err == nil {
		t.Error("a catalogue for ever was signed")
	}
}

func TestApparent(t *testing.T) {
	for name, want := range map[string]labels.Effect{
		"list_items": labels.Read, "delete_item": labels.Write | labels.Destructive, "send_mail": labels.Write | labels.Egress,
		"exec_command": labels.Write | labels.Execute, "create_item": labels.Write, "frobnicate": labels.Unclassified,
	} {
		if got := effects.Apparent(tool(name, "", "")); got != want {
			t.Errorf("%s looks like %v, want %v", name, got, want)
		}
	}
	if got := effects.Apparent(tool("view_file", `{"openWorldHint":true}`, `{"properties":{"path":{},"content":{}}}`)); got != labels.Write|labels.Destructive|labels.Egress {
		t.Errorf("a view that writes looks like %v", got)
	}
	if got := effects.Apparent(jsontext.Value(`{`)); got != labels.Unclassified {
		t.Errorf("what does not read looks like %v", got)
	}
}
