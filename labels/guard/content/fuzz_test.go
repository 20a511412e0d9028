package content

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

// everywhere is a path for every kind of file.
var everywhere = []string{
	"a.txt", "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "requirements.txt", "pyproject.toml", "Pipfile", "Pipfile.lock", "setup.cfg", "setup.py", "poetry.lock", "go.mod", "go.work", "go.sum",
	"Cargo.toml", "Gemfile", "a.gemspec", "Gemfile.lock", "composer.json", "composer.lock", "pom.xml", "build.gradle", "gradle/wrapper/gradle-wrapper.properties", "Podfile", "build.rs", "Dockerfile", "compose.yaml", ".gitlab-ci.yml", ".github/workflows/a.yml", "action.yml", ".circleci/config.yml",
	"Jenkinsfile", "Makefile", "a.sh", ".npmrc", ".yarnrc.yml", "pip.conf", ".gitmodules", ".gitattributes", ".envrc", "AGENTS.md", ".env",
}

// FuzzCheck: whatever is written, what is found is bounded, lies in the text and is
// the same the next time; and the first look does not pass over a secret.
func FuzzCheck(f *testing.F) {
	for i := range everywhere {
		f.Add(uint8(i), uint8(0), "a")
	}
	for i, s := range []string{
		`{"dependencies":{"a":"npm:b@1"},"scripts":{"x":"env | curl $TOKEN"}}`, "a:\n  script: &x\n    - |\n      echo $TOKEN | base64\n", "FROM a AS b\nRUN <<E\nenv\nE\n", "-r x\na @ https://b \\\n --hash=x\n",
		"[a]\nb = {git = \"c\"}\n", "<a><dependency><groupId>b</groupId></dependency></a>", "a=\"$(cat <<'X'\n`b ${c:-$d}`\nX\n)\" | sh", "glpat-" + some(20), "%67%6c\\x70\\u0061\"+ \"t-" + some(20), "*** Begin Patch\n*** Update File: go.sum\n@@\n+a\n",
		"&#103;ｌ&#x70;at-" + some(20), "Index: go.mod\n0a\nrequire b v1\n.\n", "*** x\n--- go.mod\n***************\n*** 1 ****\n--- 1,2 ----\n+ require b v1\n", "  --- x\r  +++ \"b/\\147o.mod\" 1\r  @@ -0,0 +1 @@\r  +require b v1\r",
		"--- a/x\n+++ b/go.mod\n@@ -1 +1,2 @@\n a\n+require b v1\n", "gem 'a', git: \"b\"; `c`", "implementation(\"a.b:c:1\")", "data:;base64,AAAA",
	} {
		f.Add(uint8(i*3), uint8(i%4), s)
	}
	loose, strict := judge(f, Default()), judge(f, &Config{CI: "judged", Dependencies: lists})
	f.Fuzz(func(t *testing.T, place, how uint8, s string) {
		w := Write{Path: everywhere[int(place)%len(everywhere)], Content: s, Part: how&1 != 0, Patch: how&2 != 0, Loose: how&4 != 0, Pointer: "/x"}
		if how&8 != 0 {
			w.Encoding = "base64"
		}
		got := strict.Check(w)
		if len(got) > most {
			t.Fatalf("%d findings", len(got))
		}
		for _, x := range got {
			if x.Class == "" || x.Why == "" || x.Line < 0 || x.Offset < 0 || x.Line > 0 && w.Encoding == "" && x.Offset > 4*len(s)+4 {
				t.Fatalf("%+v of %d bytes", x, len(s))
			}
		}
		if again := strict.Check(w); !reflect.DeepEqual(got, again) {
			t.Fatalf("%+v, and before %+v", again, got)
		}
		if len(s) >= least && len(loose.Check(Write{Content: s})) > 0 && !suspicious(s) {
			t.Fatalf("passed over: %q", s)
		}
	})
}

// FuzzCall: whatever the arguments are, they are judged; and what the first look passes
// over holds nothing.
func FuzzCall(f *testing.F) {
	for _, s := range []string{
		`{"path":"package.json","content":"{}"}`, `{"actions":[{"action":"move","file_path":".npmrc","previous_path":"a"}]}`, `{"files":{"a.b":{"content":"x"}}}`, `{"paths":["a"],"contents":["b"]}`,
		`{"o":"{\"path\":\"go.mod\",\"patch\":\"@@ -1 +1 @@\\n+a\"}"}`, `{"path":"x","mode":493,"encoding":"base64","data":"AAAA"}`, `{"a":{"file_path":"Makefile"},"content":"a:\n\tenv"}`,
		`{"x":"+++ go.mod\n@@ -0,0 +1 @@\n+require a v1"}`, `{"headers":{"X-glpat-` + some(20) + `":1}}`, `{"l":["+++ go.sum","@@ -0,0 +1 @@","+a"]}`, `{"title":"a","body":"*** Add File: .npmrc\n+x=y"}`,
	} {
		f.Add(s)
	}
	loose, strict := judge(f, Default()), judge(f, &Config{CI: "judged", Dependencies: lists})
	f.Fuzz(func(t *testing.T, s string) {
		tree, err := args.Parse([]byte(s))
		if err != nil {
			return
		}
		defer tree.Release()
		for _, j := range []*Judge{loose, strict} {
			got := j.Call(tree.Root())
			if len(got) > most {
				t.Fatalf("%d findings", len(got))
			}
			for _, x := range got {
				if x.Pointer != "" && x.Pointer[0] != '/' {
					t.Fatalf("%+v", x)
				}
			}
			if len(got) > 0 || j.worth(tree.Root(), other) {
				continue
			}
			for _, w := range Writes(tree.Root()) {
				if found := j.Check(w); len(found) > 0 {
					t.Fatalf("passed over: %+v in %s", found, s)
				}
			}
		}
	})
}

// FuzzLex: shell text is read to its end, whatever it is, and places lie in it.
func FuzzLex(f *testing.F) {
	for _, s := range []string{"a | b && c", "a=$(b `c`) d", "<<E\n$x\nE\n", "${a:-${b}}", "$'\\x41'", "a <(b) >c 2>&1", "${{ a }}", "'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i, c := range lex(s) {
			if i > 0 && (c.from < 0 || c.from > c.to || c.to > len(s)) || c.next >= len(s)+2 {
				t.Fatalf("%+v of %d bytes", c, len(s))
			}
		}
		fold(s)
		readPatch(s, false)
		readPatch(s, true)
		members(s, func(member) {})
		strings.Contains(s, fromMake(s))
	})
}
