package mcp

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/mcptest/frames"
)

func TestNegotiate(t *testing.T) {
	for in, want := range map[Revision]Revision{
		Rev20241105: Rev20241105, Rev20250326: Rev20250326, Rev20250618: Rev20250618, Rev20251125: Rev20251125,
		Rev20260728: Latest, "2031-01-01": Latest, "": Latest, "latest": Latest,
	} {
		if got := Negotiate(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	f := UnsupportedVersion("1", "2031-01-01", []Revision{Rev20260728})
	if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2031-01-01"}}}`; string(f.Bytes()) != want {
		t.Errorf("%s", f.Bytes())
	}
}

func TestHello(t *testing.T) {
	in := `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","n":1.0},"x":[null]}`
	h, err := ParseHello(jsontext.Value(in))
	if err != nil || h.Revision != Rev20251125 || string(h.Params()) != in {
		t.Errorf("%+v %v %s", h, err, h.Params())
	}
	for _, bad := range []string{``, `{}`, `{"protocolVersion":7}`, `{"protocolVersion":"x","capabilities":[]}`, `{"protocolVersion":"x","clientInfo":"y"}`, `{"protocolVersion":"x","capabilities":null}`} {
		if _, err := ParseHello(jsontext.Value(bad)); !errors.Is(err, ErrHello) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	meta := Object(h.Meta()...)
	again, ok, err := HelloFromMeta(Object(Member{"_meta", meta}))
	if !ok || err != nil || again.Revision != h.Revision || string(again.Capabilities) != `{"roots":{}}` || string(again.ClientInfo) != `{"name":"t","n":1.0}` {
		t.Errorf("%+v %v %v", again, ok, err)
	}
	for in, want := range map[string]bool{
		`{}`: false, `{"_meta":{}}`: false, `{"_meta":{"progressToken":1}}`: false,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`:                                                                                              true,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}}}`:                                                         true,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":"x"}}`:     true,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":"roots","io.modelcontextprotocol/clientInfo":{}}}`: true,
	} {
		if _, ok, err := HelloFromMeta(jsontext.Value(in)); ok != want || (err != nil) != want {
			t.Errorf("%s: %v %v", in, ok, err)
		}
	}
}

func TestWelcome(t *testing.T) {
	in := `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"u","version":"1.0"},"instructions":"Use \"well\".","_meta":{"a":1.0}}`
	w, err := ParseWelcome(jsontext.Value(in))
	if err != nil || *w.Instructions != `Use "well".` || string(w.Result()) != in {
		t.Errorf("%+v %v %s", w, err, w.Result())
	}
	in = `{"resultType":"complete","supportedVersions":["2025-11-25","2026-07-28","2031-01-01"],"capabilities":{},"instructions":"x","ttlMs":9,"cacheScope":"public","extra":{"a":null},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"u"},"b":2}}`
	w, err = ParseDiscover(jsontext.Value(in))
	if err != nil || w.Revision != Rev20260728 || string(w.ServerInfo) != `{"name":"u"}` {
		t.Errorf("%+v %v", w, err)
	}
	want := `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"instructions":"x","ttlMs":1000,"cacheScope":"private","extra":{"a":null},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"u"},"b":2}}`
	if got := string(w.Discover(1000, []Revision{Rev20260728})); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	w.ServerInfo, w.Instructions, w.Rest = nil, nil, nil
	if got := string(w.Discover(0, nil)); got != `{"resultType":"complete","supportedVersions":[],"capabilities":{},"ttlMs":0,"cacheScope":"private"}` {
		t.Errorf("got  %s", got)
	}
	for _, bad := range []string{`{}`, `{"protocolVersion":1}`, `{"protocolVersion":"x","instructions":[]}`, `{"protocolVersion":"x","serverInfo":null}`, `{"protocolVersion":"x","capabilities":[]}`} {
		if _, err := ParseWelcome(jsontext.Value(bad)); !errors.Is(err, ErrHello) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{`{}`, `{"supportedVersions":"2026-07-28"}`, `{"supportedVersions":[],"instructions":1}`} {
		if _, err := ParseDiscover(jsontext.Value(bad)); !errors.Is(err, ErrHello) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestCapabilitiesAreAClosedSet(t *testing.T) {
	got := ClientCapabilities(jsontext.Value(`{"experimental":{"x":{}},"roots":{"listChanged":true,"y":1},"sampling":{"context":{},"tools":{"a":1}},"elicitation":{"url":{}},"tasks":{},"extensions":{},"Roots":{}}`))
	if string(got) != `{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"url":{}}}` {
		t.Errorf("%s", got)
	}
	got = ServerCapabilities(jsontext.Value(`{"tools":{"listChanged":true},"resources":{"subscribe":true,"x":1},"logging":{"y":1},"completions":{},"tasks":{},"prompts":null}`))
	if string(got) != `{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{},"completions":{}}` {
		t.Errorf("%s", got)
	}
	if string(ClientCapabilities(nil)) != "{}" {
		t.Error("nothing is not nothing")
	}
}

func TestHeaders(t *testing.T) {
	for plain, want := range map[string]string{
		"": "", "echo": "echo", "a b": "a b", " a": "=?base64?IGE=?=", "é": "=?base64?w6k=?=", "a\tb": "=?base64?YQli?=", "=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
	} {
		got := EncodeHeader(plain)
		back, ok := DecodeHeader(got)
		if got != want || !ok || back != plain {
			t.Errorf("%q: %q, back %q %v", plain, got, back, ok)
		}
	}
	if _, ok := DecodeHeader("=?base64?*?="); ok {
		t.Error("broken Base64 was taken")
	}
	hs, err := ParamHeaders(jsontext.Value(`{"type":"object","properties":{"z":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},"plain":{"type":"string"}}}`))
	if err != nil || len(hs) != 2 || hs[0].Header != "Mcp-Param-N" || !slices.Equal(hs[0].Path, []string{"deep", "n"}) || hs[1].Header != "Mcp-Param-Region" {
		t.Fatalf("%+v %v", hs, err)
	}
	for _, bad := range []string{`{"type":"number","x-mcp-header":"A"}`, `{"type":"string","x-mcp-header":""}`, `{"type":"string","x-mcp-header":7}`, `{"type":"string","x-mcp-header":"a b"}`, `{"type":["string"],"x-mcp-header":"A"}`, `{"x-mcp-header":"A"}`} {
		if _, err := ParamHeaders(jsontext.Value(`{"properties":{"p":` + bad + `}}`)); !errors.Is(err, ErrHeader) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := ParamHeaders(jsontext.Value(`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`)); !errors.Is(err, ErrHeader) {
		t.Errorf("twice: %v", err)
	}
	p := ParamHeader{"Mcp-Param-A", []string{"a"}}
	for _, c := range []struct {
		args, value string
		present     bool
		match       bool
	}{
		{`{"a":"x"}`, "x", true, true}, {`{"a":"x"}`, "y", true, false}, {`{"a":"x"}`, "", false, false},
		{`{"a":"\u00e9"}`, "=?base64?w6k=?=", true, true}, {`{"a":5}`, "5", true, true}, {`{"a":5.0}`, "5", true, true}, {`{"a":5}`, "5.0", true, true},
		{`{"a":5}`, "6", true, false}, {`{"a":5}`, "x", true, false}, {`{"a":true}`, "true", true, true}, {`{"a":true}`, "True", true, false},
		{`{"a":null}`, "", false, true}, {`{}`, "", false, true}, {`{}`, "x", true, false}, {`{"a":null}`, "null", true, false},
		{`{"a":1.5}`, "1.5", true, false}, {`{"a":9007199254740993}`, "9007199254740993", true, false}, {`{"a":{}}`, "{}", true, false},
	} {
		if got := p.Matches(c.value, c.present, jsontext.Value(c.args)); got != c.match {
			t.Errorf("%s %q %v: %v", c.args, c.value, c.present, got)
		}
	}
	if v, ok, err := p.HeaderValue(jsontext.Value(`{"a":1e2}`)); v != "100" || !ok || err != nil {
		t.Errorf("%q %v %v", v, ok, err)
	}
	if _, _, err := p.HeaderValue(jsontext.Value(`{"a":[]}`)); !errors.Is(err, ErrHeader) {
		t.Error(err)
	}
}

func FuzzHello(f *testing.F) {
	for _, c := range frames.All() {
		if one, err := ParseOne(c.Bytes, Limits{}); err == nil {
			f.Add([]byte(one.Params))
			f.Add([]byte(one.Result))
		}
	}
	f.Add([]byte(`{"properties":{"a":{"type":"string","x-mcp-header":"A"}},"a":{"b":"=?base64?eA==?="}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v := jsontext.Value(data)
		for _, m := range Methods() {
			_, _ = m.Refs(v)
		}
		h, err := ParseHello(v)
		w, errW := ParseWelcome(v)
		d, errD := ParseDiscover(v)
		m, ok, errM := HelloFromMeta(v)
		headers, _ := ParamHeaders(v)
		for _, p := range headers {
			value, there, _ := p.HeaderValue(v)
			_ = p.Matches(value, there, v)
		}
		if !v.IsValid() {
			return
		}
		ClientCapabilities(v)
		if err == nil {
			if again, err := ParseHello(h.Params()); err != nil || string(again.Params()) != string(h.Params()) {
				t.Errorf("%q: %q, %v", data, h.Params(), err)
			}
		}
		if ok && errM == nil {
			if again, ok, err := HelloFromMeta(Object(Member{"_meta", Object(m.Meta()...)})); !ok || err != nil || string(again.Params()) != string(m.Params()) {
				t.Errorf("%q: %v", data, err)
			}
		}
		if errW == nil {
			if again, err := ParseWelcome(w.Result()); err != nil || string(again.Result()) != string(w.Result()) {
				t.Errorf("%q: %q, %v", data, w.Result(), err)
			}
		}
		if errD == nil {
			if _, err := ParseDiscover(d.Discover(1, Revisions())); err != nil || !d.Discover(1, nil).IsValid() {
				t.Errorf("%q: %q, %v", data, d.Discover(1, nil), err)
			}
		}
	})
}

func FuzzHeader(f *testing.F) {
	for _, s := range []string{"", "echo", " a", "é", "=?base64?eA==?=", "=?base64?*?=", "=?base64??="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = DecodeHeader(s)
		e := EncodeHeader(s)
		if back, ok := DecodeHeader(e); !ok || back != s {
			t.Errorf("%q: %q, back %q %v", s, e, back, ok)
		}
		for i := range len(e) {
			if e[i] < 0x20 || e[i] > 0x7e {
				t.Errorf("%q: %q", s, e)
			}
		}
	})
}
