package content

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

const (
	evil = `{"dependencies":{"evil":"1"}}`
	good = `{"dependencies":{"lodash":"1"}}`
)

// found is what is found in arguments: "class pointer" each, in order.
func found(t testing.TB, j *Judge, arguments string) string {
	t.Helper()
	tree, err := args.Parse([]byte(arguments))
	if err != nil {
		t.Fatalf("%s: %v", arguments, err)
	}
	defer tree.Release()
	var out []string
	for _, f := range j.Call(tree.Root()) {
		if s := f.Class + " " + f.Pointer; len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// TestShapes: however a call says where a text goes to, what it says is judged. E is
// the text with a dependency outside of the list, G the one without.
func TestShapes(t *testing.T) {
	j := judge(t, judged())
	for _, c := range []struct{ name, arguments, want string }{
		{"beside", `{"path":"package.json","content":E}`, "dependency /content"},
		{"folder", `{"file_path":"a/b/package.json","content":E}`, "dependency /content"},
		{"other names", `{"filePath":"package.json","fileContent":E}`, "dependency /fileContent"},
		{"case of names", `{"File_Path":"package.json","CONTENT":E}`, "dependency /CONTENT"},
		{"wide letters in names", `{"ｐａｔｈ":"package.json","content":E}`, "dependency /content"},
		{"unknown name", `{"path":"package.json","stuff":E}`, "dependency /stuff"},
		{"unknown name, deep", `{"path":"package.json","a":[{"b":E}]}`, "dependency /a/0/b"},
		{"uri", `{"uri":"file:///srv/repo/package.json","text":E}`, "dependency /text"},
		{"title of a file", `{"name":"package.json","body":E}`, "dependency /body"},
		{"actions", `{"actions":[{"action":"create","file_path":"a.md","content":"x"},{"action":"update","file_path":"package.json","content":E}]}`, "dependency /actions/1/content"},
		{"files", `{"files":[{"path":"package.json","content":E}]}`, "dependency /files/0/content"},
		{"files by path", `{"files":{"package.json":E,"a.md":"x"}}`, "dependency /files/package.json"},
		{"files by path, objects", `{"files":{"package.json":{"content":E}}}`, "dependency /files/package.json/content"},
		{"objects by path under any name", `{"changed":{"package.json":E}}`, "dependency /changed/package.json"},
		{"two arrays", `{"paths":["a.md","package.json"],"contents":["x",E]}`, "dependency /contents/1"},
		{"paths and one text", `{"paths":["package.json"],"content":E}`, "dependency /content"},
		{"array of lines", `{"path":"requirements.txt","lines":["requests","evil"]}`, "dependency /lines"},
		{"path around", `{"path":"package.json","options":{"content":E}}`, "dependency /options/content"},
		{"path in a neighbour", `{"target":{"file_path":"package.json"},"content":E}`, "dependency /content"},
		{"JSON in a string", `{"options":S}`, "dependency /options!/content"},
		{"JSON in JSON in a string", `{"options":SS}`, "dependency /options!/options!/content"},
		{"base64", `{"path":"package.json","encoding":"base64","content":B}`, "dependency /content"},
		{"base64 by a flag", `{"path":"package.json","is_base64":true,"content":B}`, "dependency /content"},
		{"base64 by its name", `{"path":"package.json","content_base64":B}`, "dependency /content_base64"},
		{"base64 unsaid", `{"path":"package.json","content":B}`, "dependency /content"},
		{"base64 broken", `{"path":"package.json","encoding":"base64","content":"!!"}`, "unread /content"},
		{"other encoding", `{"path":"package.json","encoding":"gzip","content":"abcd"}`, "unread /content"},
		{"data URL", `{"path":"package.json","content":"data:application/json;base64,D"}`, "dependency /content"},
		{"percent in the path", `{"path":"package%2ejson","content":E}`, "dependency /content"},
		{"twice percent", `{"path":"a%252fpackage.json","content":E}`, "dependency /content"},
		{"backslash", `{"path":"a\\package.json","content":E}`, "dependency /content"},
		{"case", `{"path":"PACKAGE.json","content":E}`, "dependency /content"},
		{"dots behind", `{"path":"package.json. .","content":E}`, "dependency /content"},
		{"stream", `{"path":"package.json::$DATA","content":E}`, "dependency /content"},
		{"dot segments", `{"path":"x/../package.json","content":E}`, "dependency /content"},
		{"invisible letter", `{"path":"package\u200b.json","content":E}`, "dependency /content"},
		{"wide letters", `{"path":"ｐackage.json","content":E}`, "dependency /content"},
		{"NUL", `{"path":"package.json\u0000.md","content":E}`, "dependency /content"},
		{"slash behind", `{"path":"package.json/","content":E}`, "dependency /content"},
		{"two paths", `{"path":"a.md","file_path":"package.json","content":E}`, "dependency /content"},
		{"edit", `{"path":"package.json","edits":[{"oldText":"\"a\": \"1\"","newText":"\"evil\": \"1\""}]}`, "dependency /edits/0/newText"},
		{"text that goes", `{"path":"package.json","old_str":"\"evil\": \"1\"","new_str":"\"lodash\": \"1\""}`, ""},
		{"insert", `{"command":"insert","path":"requirements.txt","insert_line":1,"insert_text":"evil\n"}`, "dependency /insert_text"},
		{"moved", `{"source":"a.txt","destination":"package.json"}`, "dependency /destination"},
		{"moved by an action", `{"actions":[{"action":"move","previous_path":"a.txt","file_path":".npmrc"}]}`, "settings /actions/0/file_path"},
		{"moved elsewhere", `{"source":"package.json","destination":"a.txt"}`, ""},
		{"bit", `{"path":"x","execute_filemode":true}`, "executable /execute_filemode"},
		{"bit in an action", `{"actions":[{"action":"chmod","file_path":"x","execute_filemode":true}]}`, "executable /actions/0/execute_filemode"},
		{"bit as a text", `{"path":"x","executable":"true"}`, "executable /executable"},
		{"mode", `{"tree":[{"path":"x","mode":"100755","content":"a"}]}`, "executable /tree/0/mode"},
		{"mode in decimal", `{"path":"x","mode":493}`, "executable /mode"},
		{"mode as it is written", `{"path":"x","mode":755}`, "executable /mode"},
		{"mode of others", `{"path":"x","mode":"0o645"}`, "executable /mode"},
		{"mode in signs", `{"path":"x","permissions":"a+x"}`, "executable /permissions"},
		{"mode in letters", `{"path":"x","permissions":"rwxr-xr-x"}`, "executable /permissions"},
		{"setuid", `{"path":"x","mode":"4644"}`, "executable /mode"},
		{"link", `{"tree":[{"path":"x","mode":"120000","content":"/etc"}]}`, "executable /tree/0/mode"},
		{"submodule", `{"tree":[{"path":"x","mode":"160000","sha":"a"}]}`, "executable /tree/0/mode"},

		{"unknown name of a path", `{"where":"package.json","content":E}`, "dependency /content"},
		{"folder beside", `{"dir":".github/workflows","filename":"a.yml","content":"on: push\njobs:\n  a:\n    steps:\n      - run: env\n"}`, "ci /content"},
		{"folder and name", `{"directory":".github/workflows","name":"a.yml","content":"on: push\njobs:\n  a:\n    steps:\n      - run: env\n"}`, "ci /content"},
		{"pairs", `{"files":[["package.json",E]]}`, "dependency /files/0/1"},
		{"p", `{"p":"package.json","content":E}`, "dependency /content"},
		{"title", `{"title":"package.json","content":E}`, "dependency /content"},
		{"document", `{"document":"package.json","content":E}`, "dependency /content"},
		{"quotes", `{"path":"\"package.json\"","content":E}`, "dependency /content"},
		{"name of a file as its text", `{"path":"list.txt","content":"Makefile"}`, ""},
		{"name of a file in a title", `{"title":"Add a Dockerfile","description":"FROM here on: it is small."}`, ""},
		{"folder of requirements beside", `{"directory":"requirements","file":"base.txt","content":"evil\n"}`, "dependency /content"},
		{"folder around", `{"folder":".git","files":[{"name":"x","path":"hooks/pre-commit","content":"make\n"}]}`, "settings /files/0/content"},
		{"content that is no text", `{"path":"package.json","content":{"dependencies":{"evil":"1"}}}`, "dependency /content"},
		{"content that is a list", `{"path":".gitlab-ci.yml","content":[{"a":{"script":["env"]}}]}`, "ci /content"},
		{"words of a command", `{"args":["write","package.json",E]}`, "dependency /args/2"},

		{"good", `{"path":"package.json","content":G}`, ""},
		{"read", `{"path":"package.json","ref":"main"}`, ""},
		{"read of CI", `{"file_path":".gitlab-ci.yml","project_id":"7"}`, ""},
		{"comment on a line", `{"path":"package.json","line":3,"body":E}`, ""},
		{"thread on a diff", `{"body":"Please pin this: it is loose.\nThanks.","position":{"position_type":"text","new_path":"package.json","old_path":"package.json","base_sha":"a","new_line":3}}`, ""},
		{"message", `{"path":"package.json","content":G,"commit_message":"Add\n\n\"evil\": \"1\""}`, ""},
		{"writing mode", `{"path":"a.txt","content":"x","mode":"append"}`, ""},
		{"plain mode", `{"path":"x","mode":"644"}`, ""},
		{"plain mode in decimal", `{"path":"x","mode":420}`, ""},
		{"no bit", `{"path":"x","execute_filemode":false}`, ""},
		{"search", `{"query":"\"evil\": \"1\" in package.json","path":"src"}`, ""},
		{"issue", `{"title":"Use env in package.json","description":"script:\n  - env\n"}`, ""},
		{"charset", `{"path":"a.md","encoding":"utf-8","content":"x"}`, ""},
	} {
		s := `{"path":"package.json","content":` + quote(evil) + `}`
		b := base64.StdEncoding.EncodeToString([]byte(evil))
		in := strings.NewReplacer(":E", ":"+quote(evil), ",E", ","+quote(evil), ":G", ":"+quote(good), ":SS", ":"+quote(`{"options":`+quote(s)+`}`), ":S", ":"+quote(s), ":B", `:"`+b+`"`, ",D", ","+b).Replace(c.arguments)
		if got := found(t, j, in); got != c.want {
			t.Errorf("%s: got %q, want %q: %s", c.name, got, c.want, in)
		}
	}
}

// TestSecretsAnywhere: a credential is found in every text, with or without a path.
func TestSecretsAnywhere(t *testing.T) {
	for _, cfg := range []*Config{Default(), judged()} {
		j := judge(t, cfg)
		v := "glpat-" + some(20)
		for arguments, want := range map[string]string{
			`{"body":"use ` + v + `"}`:                                      "secret /body",
			`{"a":{"b":["x","` + v + `"]}}`:                                 "secret /a/b/1",
			`{"path":"a","content":"` + v + `"}`:                            "secret /content",
			`{"commit_message":"` + v + `","path":"a","content":"x"}`:       "secret /commit_message",
			`{"path":"` + v + `"}`:                                          "secret /path",
			`{"options":` + quote(`{"note":"`+v+`"}`) + `}`:                 "secret /options",
			`{"path":"a","old_str":"` + v + `","new_str":"x"}`:              "",
			`{"path":".env","content":"HARBOUR=` + some(24) + `"}`:          "secret /content",
			`{"ref":"4b1f0c9e8d7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c","id":"a-b"}`: "",
			`{"cursor":"` + base64.StdEncoding.EncodeToString([]byte(`{"id":12345,"created_at":"2026-01-01"}`)) + `"}`: "",
		} {
			got, _, _ := strings.Cut(found(t, j, arguments), ",")
			if got != want {
				t.Errorf("%s: got %q, want %q", arguments, got, want)
			}
		}
	}
}

func TestPatches(t *testing.T) {
	j := judge(t, judged())
	for _, c := range []struct{ name, patch, want string }{
		{"added", "--- a/package.json\n+++ b/package.json\n@@ -1,3 +1,4 @@\n {\"dependencies\":{\n+\"evil\":\"1\",\n \"lodash\":\"1\"\n }}\n", "dependency 5"},
		{"taken away", "--- a/package.json\n+++ b/package.json\n@@ -1,4 +1,3 @@\n {\"dependencies\":{\n-\"evil\":\"1\",\n \"lodash\":\"1\"\n }}\n", ""},
		{"as it was", "--- a/package.json\n+++ b/package.json\n@@ -1,3 +1,4 @@\n {\"dependencies\":{\n+\"lodash\":\"1\",\n \"evil\":\"1\"\n }}\n", ""},
		{"new file", "diff --git a/setup.py b/setup.py\nnew file mode 100644\n--- /dev/null\n+++ b/setup.py\n@@ -0,0 +1 @@\n+setup()\n", "script"},
		{"new mode", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "executable"},
		{"renamed", "diff --git a/x b/.npmrc\nsimilarity index 100%\nrename from x\nrename to .npmrc\n", "settings"},
		{"link", "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n", "executable"},
		{"two files", "--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-a\n+b\n--- a/go.sum\n+++ b/go.sum\n@@ -0,0 +1 @@\n+a v1 h1:x=\n", "lock 9"},
		{"envelope", "*** Begin Patch\n*** Update File: .gitlab-ci.yml\n@@\n     - make\n+    - env\n*** End Patch\n", "ci 5"},
		{"envelope adds", "*** Begin Patch\n*** Add File: .npmrc\n+script-shell=x\n*** End Patch\n", "settings 3"},
		{"envelope moves", "*** Begin Patch\n*** Update File: a\n*** Move to: .envrc\n*** End Patch\n", "settings"},
		{"secret", "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n a\n+glpat-" + some(20) + "\n", "secret 5"},
		{"secret that goes", "--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n a\n-glpat-" + some(20) + "\n", ""},
		{"count that lies", "--- a/package.json\n+++ b/package.json\n@@ -1 +1 @@\n a\nevil\n+\"evil\":\"1\"\n", "unread, dependency 6"},
		{"no sign", "--- a/requirements.txt\n+++ b/requirements.txt\n@@ -1,2 +1,2 @@\n a\nevil\n", "unread, dependency 5"},
		{"binary", "diff --git a/x b/x\nGIT binary patch\nliteral 1\n", "unread"},
		{"no patch", "hello\n", ""},
	} {
		if got := said(j.Check(Write{Content: c.patch, Patch: true})); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct{ path, patch, want string }{
		{"package.json", "@@ -1,2 +1,3 @@\n \"dependencies\": {\n+  \"evil\": \"1\",\n", "dependency 3"},
		{"package.json", "\"evil\": \"^1\"", "dependency 1"},
		{"requirements.txt", "evil\n", "dependency 1"},
	} {
		if got := said(j.Check(Write{Path: c.path, Content: c.patch, Patch: true})); got != c.want {
			t.Errorf("%s: got %q, want %q", c.patch, got, c.want)
		}
	}
}

// TestParts: of a part of a file is judged what it shows; what may be a dependency is
// held for one.
func TestParts(t *testing.T) {
	j := judge(t, judged())
	for _, c := range []struct{ path, part, want string }{
		{"package.json", `"evil": "^1.0.0",`, "dependency 1"},
		{"package.json", `"lodash": "^1.0.0",`, ""},
		{"package.json", `"evil": "next"`, "dependency 1"},
		{"package.json", `"evil": "some-tag"`, "dependency 1"},
		{"package.json", `"evil": "github:evil/x"`, "dependency 1"},
		{"package.json", `"version": "1.4.1",`, ""},
		{"package.json", `"description": "A harbour.",`, ""},
		{"package.json", `"postinstall": "node x.js"`, "script 1"},
		{"package.json", `"lint": "eslint ."`, ""},
		{"package.json", `"test": "vitest"`, ""},
		{"package.json", `"leak": "echo $NPM_TOKEN"`, "ci 1"},
		{"package.json", `"engines": {"node": ">=22"}`, ""},
		{"package.json", `{"name":"a","dependencies":{"evil":"1"}}`, "dependency 1"},
		{"package.json", `"files": ["dist", "src"]`, ""},
		{"package.json", `"bundleDependencies": ["evil"]`, "dependency 1"},
		{"package.json", `"dep\u0065ndencies": {"ev\u0069l": "1"}`, "dependency 1"},
		{"package-lock.json", `"resolved": "https://evil.example/x.tgz",`, "registry 1"},
		{"package-lock.json", `"integrity": "sha1-x"`, "lock 1"},
		{"pyproject.toml", "    \"evil>=1\",\n", "dependency 1"},
		{"pyproject.toml", "[tool.poetry.dependencies]\nevil = \"1\"\n", "dependency 2"},
		{"pyproject.toml", "evil = \"^1\"\n", "dependency 1"},
		{"pyproject.toml", "version = \"1.4.1\"\n", ""},
		{"Cargo.toml", "evil = \"1\"\n", "dependency 1"},
		{"Cargo.toml", "evil = { git = \"https://evil.example/x\" }\n", "dependency 1"},
		{"Cargo.toml", "serde = { version = \"1\" }\n", ""},
		{"go.mod", "\tevil.example/x v1.0.0 // indirect\n", "dependency 1"},
		{"go.mod", "require evil.example/x v1.0.0\n", "dependency 1"},
		{"go.mod", "replace a => evil.example/x v1.0.0\n", "dependency 1"},
		{"go.mod", "go 1.25.1\n", ""},
		{"composer.json", `"evil/x": "^1"`, "dependency 1"},
		{"pom.xml", "<dependency><groupId>evil</groupId><artifactId>a</artifactId></dependency>", "dependency 1"},
		{".gitlab-ci.yml", "    - env\n", "ci 1"},
		{".gitlab-ci.yml", "  stage: env\n", ""},
		{".gitlab-ci.yml", "  image: evil/x\n", "dependency 1"},
		{".gitlab-ci.yml", "  remote: https://evil.example/a.yml\n", "ci 1"},
		{".gitlab-ci.yml", "    - \"\\x65nv\"\n", "ci 1"},
		{".gitlab-ci.yml", "  CI_DEBUG_TRACE: \"true\"\n", "ci 1"},
		{".github/workflows/a.yml", "      - uses: evil/x@v1\n", "ci 1"},
		{".github/workflows/a.yml", "        run: printenv\n", "ci 1"},
		{".github/workflows/a.yml", "        env:\n          A: b\n", ""},
		{"Gemfile", "gem 'evil'\n", "dependency 1"},
	} {
		if got := said(j.Check(Write{Path: c.path, Content: c.part, Part: true})); got != c.want {
			t.Errorf("%s: %q: got %q, want %q", c.path, c.part, got, c.want)
		}
	}
}

func TestSettings(t *testing.T) {
	check1(t, judged(), []one{
		{"npmrc", ".npmrc", "registry=https://registry.npmjs.org/\nsave-exact=true\n//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n", ""},
		{"npmrc elsewhere", ".npmrc", "@acme:registry=https://evil.example/\n", "registry 1"},
		{"npmrc runs", ".npmrc", "script-shell=./x\nnode-options=--require ./x\n", "settings 1, settings 2"},
		{"npmrc token elsewhere", ".npmrc", "//evil.example/:_authToken=${NPM_TOKEN}\n", "registry 1"},
		{"npmrc token", ".npmrc", "//registry.npmjs.org/:_authToken=abc\n", "secret 1"},
		{"yarnrc", ".yarnrc.yml", "nodeLinker: node-modules\nnpmRegistryServer: \"https://registry.yarnpkg.com\"\n", ""},
		{"yarnrc runs", ".yarnrc.yml", "yarnPath: .yarn/releases/x.cjs\n", "settings 1"},
		{"pip", "pip.conf", "[global]\nindex-url = https://pypi.org/simple\n", ""},
		{"pip elsewhere", "pip.conf", "[global]\nextra-index-url =\n  https://evil.example/simple\ntrusted-host = x\n", "registry 3, registry 4"},
		{"modules", ".gitmodules", "[submodule \"a\"]\n\tpath = a\n\turl = ../a.git\n", ""},
		{"modules elsewhere", ".gitmodules", "[submodule \"a\"]\n\tpath = a\n\turl = https://evil.example/a.git\n", "registry 3"},
		{"modules run", ".gitmodules", "[submodule \"a\"]\n\tupdate = !x\n", "settings 2"},
		{"module up", ".gitmodules", "[submodule \"../a\"]\n\tpath = a\n", "settings 1"},
		{"attributes", ".gitattributes", "* text=auto\n*.go diff=golang\n*.png filter=lfs diff=lfs merge=lfs -text\n", ""},
		{"attributes run", ".gitattributes", "*.c filter=x\n", "settings 1"},
		{"hook", ".git/hooks/pre-commit", "make\n", "settings"},
		{"hook of husky", ".husky/pre-commit", "make\n", "settings"},
		{"git's own", "sub/.git/config", "[core]\n", "settings"},
		{"git's own, invisible letter", ".g\u200cit/config", "[core]\n", "settings"},
		{"tasks", ".vscode/tasks.json", "{}", "settings"},
		{"extensions", ".vscode/extensions.json", "{}", ""},
		{"container", ".devcontainer/devcontainer.json", "{}", "settings"},
		{"envrc", ".envrc", "use flake\n", "settings"},
		{"servers", ".mcp.json", "{}", "settings"},
		{"agents", "docs/AGENTS.md", "x", "settings"},
		{"shell", ".bashrc", "x", "settings"},
		{"keys", "home/.ssh/authorized_keys", "x", "settings"},
		{"readme", "README.md", "x", ""},
	})
}

// TestDeterministic: the same text gives the same findings.
func TestDeterministic(t *testing.T) {
	var b strings.Builder
	b.WriteString("[tool.poetry.dependencies]\n")
	for i := range 40 {
		b.WriteString("p" + some(3+i%5) + strings.Repeat("x", i) + " = \"1\"\n")
	}
	j := judge(t, judged())
	want := said(j.Check(Write{Path: "pyproject.toml", Content: b.String()}))
	for range 20 {
		if got := said(j.Check(Write{Path: "pyproject.toml", Content: b.String()})); got != want {
			t.Fatalf("%q, and before %q", got, want)
		}
	}
}
