package policy_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
)

// reading is a resource that is read through a template.
func reading(uri string) policy.Facts {
	f := policy.Facts{Profile: policy.Personal, Method: "resources/read", Tool: "file:///w/{+path}", Target: uri, Gate: policy.Cleared, Args: []byte(`{}`), Channel: true, Fit: policy.Fits, Context: policy.Clean}
	f.Tier, f.Standing, f.Content = labels.Green, labels.Attested, labels.Inspected
	return f
}

const secretFile = "file:///w/secret.txt"

var spelledSame = []string{
	secretFile, "file:///w/%73ecret.txt", "file:///w/%2573ecret.txt", "file:///w/%25252573ecret.txt", "file:///w/%%37%33ecret.txt", "file:///w/SECRET.txt", "FILE:///W/secret.TXT", "file:///w/./secret.txt",
	"file:///w//secret.txt", "file:////w/secret.txt", "file:/w/secret.txt", "file:w/secret.txt", "file://localhost/w/secret.txt", "file://LOCALHOST/w/secret.txt", "file://elsewhere/w/secret.txt",
	"file:///w/x/../secret.txt", "file:///w/x/%2e%2e/secret.txt", "file:///../../w/secret.txt", "file:///w/%2e/secret.txt", "file:///w%2fsecret.txt", "file:///w%5Csecret.txt", "file:///w\\secret.txt",
	"file:///w/secret.txt/", "file:///w/secret.txt?x=1", "file:///w/secret.txt#x", "file:///w/secret.txt%00.png", "file:///w/secret.txt;v=1", "file:///w/secret.txt::$DATA", "file:///w/secret.txt.", "file:///w/secret.txt%20",
	"file:///w/\uff53ecret.txt", "file:///w/%EF%BC%8573ecret.txt", "file:///w/\u017fecret.txt", "file:///w/sec\u200bret.txt", "file:///w/sec\tret.txt", " file:///w/secret.txt", "file:///w/%u0073ecret.txt",
	"file:///w/%c1%b3ecret.txt", "file:///w/%c0%ae/secret.txt", "file:///w/" + strings.Repeat("x/../", 2000) + "secret.txt", "file:///w/%" + strings.Repeat("25", 9000) + "73ecret.txt", "file:///w/" + strings.Repeat("./", 1<<16) + "secret.txt",
}

var spelledOther = []string{"file:///w/other.txt", "file:///w/secret.txt2", "file:///w/secrets/txt", "file:///v/secret.txt", "file:///w/w/secret.txt", "https://w/secret.txt", "file:///w/secret%2Btxt", "file:///w/secret.txt/more"}

// TestSpellings: an ask or a never about a resource fires for whatever a server could take
// for it; an allow for what it says, and an ask opens nothing by another spelling.
func TestSpellings(t *testing.T) {
	const allowed = "rules:\n- {name: a, allow: [\"file:///w/{+path}\"], methods: [resources/read]}\n"
	verb := func(text, uri string) policy.Verb {
		t.Helper()
		r, err := policy.Load([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return policy.Of(r).Decide(reading(uri)).Verb()
	}
	for _, uri := range spelledSame {
		short := uri[:min(len(uri), 60)]
		if got := verb(allowed+"- {name: n, never: [\""+secretFile+"\"]}\n", uri); got != policy.Deny {
			t.Errorf("never: %q passes", short)
		}
		if got := verb(allowed+"- {name: n, ask: [\""+secretFile+"\"], methods: [resources/read]}\n", uri); got != policy.Ask {
			t.Errorf("ask: %q: %v", short, got)
		}
		only := "rules:\n- {name: n, ask: [\"" + secretFile + "\"], methods: [resources/read]}\n"
		if got := verb(only, uri); (got == policy.Ask) != (uri == secretFile) {
			t.Errorf("an ask alone: %q: %v", short, got)
		}
		if got := verb(strings.Replace(only, "ask", "allow", 1), uri); (got == policy.Allow) != (uri == secretFile) {
			t.Errorf("an allow: %q: %v", short, got)
		}
		if got := verb(allowed+"- {name: n, never: [\""+secretFile+"\"], methods: [tools/call]}\n", uri); got != policy.Allow {
			t.Errorf("for tools: %q: %v", short, got)
		}
		if got := verb(allowed+"- {name: n, never: [\""+secretFile+"\"], when: 'counts.hour > 5'}\n", uri); got != policy.Deny { // nobody counted
			t.Errorf("with a condition: %q: %v", short, got)
		}
		if !policy.SameResource(secretFile, uri) {
			t.Errorf("%q is another", short)
		}
	}
	for _, uri := range spelledOther {
		if got := verb(allowed+"- {name: n, never: [\""+secretFile+"\", secret, w]}\n", uri); got != policy.Allow {
			t.Errorf("%q: %v", uri, got)
		}
		if policy.SameResource(secretFile, uri) {
			t.Errorf("%q is the same", uri)
		}
	}
	for name, others := range map[string][]string{
		"https://h.example/a?x=1&y=2": {"https://h.example:443/a?y=2&x=1", "https://u:p@H.example./a?x=1&y=2"}, "notes://a/b": {"notes:a/b", "notes://a/x/../b", "notes://x/../a/b"},
		"file:///w/%73ecret.txt": {secretFile}, "file:///C:/w/a": {"file:///c:/W/a", "file:///C%3A/w/a"},
	} {
		for _, o := range others {
			if !policy.SameResource(name, o) {
				t.Errorf("%s is not %s", o, name)
			}
		}
	}
	f := reading("")
	f.Tool, f.Target = "file:///w/%73ecret.txt", "" // listed by the server itself
	r, err := policy.Load([]byte("rules:\n- {name: a, allow: [\"*\"], methods: [resources/read]}\n- {name: n, never: [\"" + secretFile + "\"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p := policy.Of(r); p.Decide(f).Verb() != policy.Deny || p.Listed(f) {
		t.Error("an item in another spelling")
	}
	x := policy.Explain(policy.Of(r), f)
	if c := x.Layers[0].Candidates; len(c) != 2 || !c[1].Fires {
		t.Errorf("%+v", x.Layers)
	}
}

// TestSpelledShadow: a rule that only records does so of other spellings, and binds nothing.
func TestSpelledShadow(t *testing.T) {
	r, err := policy.Load([]byte("rules:\n- {name: a, allow: [\"*\"], methods: [resources/read]}\n- {name: n, never: [\"" + secretFile + "\"], shadow: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := policy.Of(r).Decide(reading("file:///w/SECRET.txt")); d.Verb() != policy.Allow || len(d.Shadow()) != 1 {
		t.Errorf("%v %+v", d.Verb(), d.Shadow())
	}
}
