package policy_test

import (
	"strings"
	"testing"
)

// TestListsInConditions: a text that may be a list is what a function says where all of
// the list is, is not where none is, and cannot be told otherwise.
func TestListsInConditions(t *testing.T) {
	const yes, no, errs = "yes", "no", "errs"
	for _, c := range []struct{ text, args, want string }{
		{`within(args.p, "docs")`, `{"p":"docs/a,docs/b"}`, yes},
		{`within(args.p, "docs")`, `{"p":"docs/a,/etc/passwd"}`, errs},
		{`within(args.p, "docs")`, `{"p":"docs/a; secrets/k"}`, errs},
		{`within(args.p, "docs")`, `{"p":"docs/a\nsecrets/k"}`, errs},
		{`within(args.p, "docs")`, `{"p":"docs/a ~root"}`, yes}, // blanks part nothing: no name says that it is a list
		{`within(args.p, "secrets")`, `{"p":"docs/a,secrets/k"}`, errs},
		{`within(args.p, "secrets")`, `{"p":"docs/a,docs/b"}`, no},
		{`within(args.p, ["docs", "notes"])`, `{"p":"docs/a,notes/b"}`, yes},
		{`within(args.p, ["docs", "notes"])`, `{"p":"docs/a,lib/b"}`, errs},
		{`within(args.p, "docs")`, `{"p":"docs/a` + strings.Repeat(",docs/b", 900) + `"}`, errs},
		{`within(args.p, "docs")`, `{"p":"docs/my file.md"}`, yes},
		{`hosted(args.u, "a.example")`, `{"u":"https://a.example/x,https://a.example/y"}`, yes},
		{`hosted(args.u, "a.example")`, `{"u":"https://a.example/x,https://b.example/y"}`, errs},
		{`hosted(args.u, "b.example")`, `{"u":"https://a.example/x https://b.example/y"}`, errs},
		{`hosted(args.u, "c.example")`, `{"u":"https://a.example/x https://b.example/y"}`, no},
		{`refers(args.b, "main")`, `{"b":"feat/x,main"}`, errs},
	} {
		for _, verb := range []string{"allow", "never"} {
			f := good()
			f.Args = []byte(c.args)
			if fires := when(t, verb, c.text).Decide(f).Rule() == "r"; fires != (c.want == yes || c.want == errs && verb == "never") {
				t.Errorf("%s %s of %.60s: %t", verb, c.text, c.args, fires)
			}
		}
	}
}
