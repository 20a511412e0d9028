package gate

import (
	"bytes"
	"testing"
)

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"name":"a","inputSchema":{}}`, `{"name":"a","arguments":[{"name":"x"}]}`, `{"uri":"a:b","name":"x"}`,
		`{"uriTemplate":"a://{x}","name":"x"}`, `"text"`, `{"name":"a","name":"b"}`, `{"name":"\u0000"}`, `[`, "\xff",
	} {
		for i := range Kinds {
			f.Add(uint8(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, raw []byte) {
		k := Kinds[int(kind)%len(Kinds)]
		it := Decode(k, raw)
		if it.Kind != k || it.Digest.IsZero() || !bytes.Equal(it.Raw, raw) {
			t.Fatal("an item without kind, digest or its bytes")
		}
		if it.Fault != NoFault {
			return
		}
		if named := k != Instructions && k != Server; named != (it.Name != "") {
			t.Fatalf("a good %s is called %q", k, it.Name)
		}
		again := Decode(k, it.Canonical)
		if again.Digest != it.Digest || again.Key != it.Key || again.Fault != NoFault {
			t.Fatal("the canonical form is another item")
		}
		Wording(k, it.Canonical, again.Canonical)
	})
}

func FuzzTemplate(f *testing.F) {
	for _, s := range [][2]string{
		{"test://t/{id}/data", "test://t/1/data"}, {"file:///{+p}", "file:///a/../b"}, {"a://h{?q,r}", "a://h?q=1"},
		{"a://{x:3}{/y*}{#z}", "a://abc/1/2#f"}, {"{+x}", "a:b"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, template, uri string) {
		m, err := ParseTemplate(template)
		if err != nil || !m.Match(uri) {
			return
		}
		if len(uri) > MaxURI || !plainURI(uri) {
			t.Fatalf("%q gives %q, which is no URI", template, uri)
		}
		rest := uri[len(m.prefix):]
		for _, bad := range []string{"/../", "%2e", "%2E", "%2f", "%2F", "%00", "\\"} {
			if bytes.Contains([]byte(rest), []byte(bad)) {
				t.Fatalf("%q lets %q through", template, uri)
			}
		}
	})
}
