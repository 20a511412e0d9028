package guard_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard"
)

// refusals checks what sets refuse of the arguments of a tool: "tool arguments" to the
// guards and places.
func refusals(t *testing.T, s *guard.Set, cases [][2]string) {
	t.Helper()
	for _, c := range cases {
		tool, text, _ := strings.Cut(c[0], " ")
		if got := told(s.Check(call(t, tool, text))); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}

// TestNamesAreTexts: the names below a path, ref or host are paths, refs and hosts, and
// no name leads up, whatever stands around it.
func TestNamesAreTexts(t *testing.T) {
	always := [][2]string{
		{`do {"files":{"../../etc/x":"c"}}`, "path /files/..~1..~1etc~1x"},
		{`do {"files":{"%2e%2e/x":"c"}}`, "path /files/%2e%2e~1x"},
		{`do {"files":{"a%252fb":"c"}}`, "path /files/a%252fb"},
		{`do {"files":[{"../x":"c"}]}`, "path /files/0/..~1x"},
		{`do {"files":"{\"../x\":\"c\"}"}`, "path /files, path /files!/..~1x"},
		{`do {"files":{"a\\..\\b":"c"}}`, `path /files/a\..\b`},
		{`do {"files":{"-rf":"c"}}`, "path /files/-rf"},
		{`do {"changes":{"../../x":"c"}}`, "path /changes/..~1..~1x"},
		{`do {"changes":{"src/..%2fx":"c"}}`, "path /changes/src~1..%2fx"},
		{`do {"changes":{"x%5cy":"c"}}`, "path /changes/x%5cy"},
		{"do {\"changes\":{\"\uff0e\uff0e\uff0fx\":\"c\"}}", "path /changes/\uff0e\uff0e\uff0fx"},
		{`do {"a":{"b":[{"..":1}]}}`, "path /a/b/0/.."},
		{`do {"../x":1}`, "path /..~1x"},
		{`do {"changes":{"a..b":"c","v1...v2":"c","...":1,"100%":1,"50 % off / 1.5":1,"x.y":{"z":1}}}`, ""},
		{`do {"file":{"name":"src/a","encoding":"utf8","mime type":"text/plain","size":3}}`, ""},
		{`do {"files":{"src/a.txt":"c","src/b":{"mode":"100644"}}}`, ""},
	}
	refusals(t, guard.Profile(), always)
	refusals(t, config(t, ""), always)
	within := config(t, "{paths: {within: [src]}, hosts: {allow: [ok.example]}}")
	refusals(t, within, always)
	refusals(t, within, [][2]string{
		{`do {"files":{"/etc/x":"c"}}`, "path /files/~1etc~1x"},
		{`do {"files":{"notes.txt":"c"}}`, "path /files/notes.txt"},
		{`do {"files":{"src/x":"c"}}`, ""},
		{`do {"file":{"name":"src/a","encoding":"utf8"}}`, ""},
		{`move {"destination":{"/etc/x":"c","line":1}}`, "path /destination/~1etc~1x"},
		{`do {"hosts":{"evil.example":{"port":1}}}`, "host /hosts/evil.example"},
		{`do {"hosts":{"ok.example":{"port":1}}}`, ""},
		{`do {"urls":{"https://evil.example/x":1,"timeout":2}}`, "host /urls/https:~1~1evil.example~1x"},
	})
	refusals(t, config(t, ""), [][2]string{
		{`do {"branches":{"main":"sha"}}`, "ref /branches/main"},
		{`do {"branches":{"feat/x":"sha"}}`, ""},
		{`do {"refs":[{"refs/heads/main":"sha"}]}`, "ref /refs/0/refs~1heads~1main"},
		{`do {"branch":{"name":"feat/x","protected":true,"sha":"x"}}`, ""},
		{`get_branches {"branches":{"main":"sha"}}`, ""},
		{`do {"hosts":{"10.0.0.1":{}}}`, "host /hosts/10.0.0.1"},
		{`do {"host":{"port":80}}`, ""},
	})
	keys := config(t, "paths: {within: [src], keys: {none: [], some: [changes]}}")
	refusals(t, keys, [][2]string{
		{`none {"files":{"/etc/x":"c"}}`, ""},
		{`some {"changes":{"/etc/x":"c"}}`, "path /changes/~1etc~1x"},
	})
}

// TestURLsByAnyName: a text that is a URL is judged as one, whatever its name.
func TestURLsByAnyName(t *testing.T) {
	listed, defaults := config(t, "hosts: {allow: [ok.example], keys: {none: []}}"), config(t, "")
	for _, name := range []string{"source", "website", "remote", "repo", "query", "image", "proxy", "address", "domain", "x", "body"} {
		for _, text := range []string{
			"https://evil.example/x", "HTTPS:evil.example", "ht\ttps://evil.example", " //evil.example/x", `\\evil.example\x`, `https:\\evil.example`, "git+https://evil.example/x",
			"ws://evil.example", "https:\n//evil.example", "\ufeffhttps://evil.example", "git://evil.example/x",
			"bzr+http://evil.example/x", "pip+https://evil.example/x", "+http://evil.example/x", "NPM+http://evil.example", "a+b+https:evil.example", "subversn+https://evil.example", "k\tb+http://evil.example",
		} {
			args := `{"` + name + `":"` + strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`).Replace(text) + `"}`
			if got := told(listed.Check(call(t, "do", args))); !strings.Contains(got, "host /"+name) {
				t.Errorf("%s: %q", args, got)
			}
			if got := told(listed.Check(call(t, "none", args))); strings.Contains(got, "host") && name != "source" {
				t.Errorf("%s of a tool without hosts: %q", args, got)
			}
		}
		if got := told(defaults.Check(call(t, "do", `{"`+name+`":"http://169.254.169.254/"}`))); got != "host /"+name {
			t.Errorf("%s: %q", name, got)
		}
		if got := listed.Check(call(t, "do", `{"`+name+`":"https://ok.example/x"}`)); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	refusals(t, listed, [][2]string{
		{`do {"x":["a","https://evil.example"]}`, "host /x/1"},
		{`do {"x":"[\"https://evil.example\"]"}`, "host /x!/0"},
		{`do {"x":{"value":"https://evil.example"}}`, "host /x/value"},
		{`do {"args":["https://evil.example"]}`, "host /args/0"},
		{`do {"path":"https://evil.example"}`, "host /path"},
		{`do {"source":"s3://evil/x"}`, "host /source"},
		{`do {"content":"https://evil.example/x","message":["https://evil.example"],"note":{"value":"https://evil.example"}}`, ""},
		{`do {"body":"https://evil.example/x is down","query":"https://evil.example or not"}`, ""},
		{`do {"x":"http: 404","scope":"http:read","y":"//div[@id='x.y']","z":"// a comment.","file":"a","w":"\\\\section{x}","time":"12:30","u":"urn:x","c":"c++: what is new","k":"ctrl+alt: a key","e":"+http","m":"mailboxes+http://evil.example"}`, ""},
	})
	refusals(t, defaults, [][2]string{{`do {"source":"s3://bucket/x","remote":"ssh://git@h.example/x"}`, ""}})
}
