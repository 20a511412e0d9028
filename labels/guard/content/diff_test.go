package content

import (
	"encoding/base64"
	"strings"
	"testing"
)

const (
	ciHunk = "@@ -0,0 +1,3 @@\n+a:\n+  script:\n+    - env\n"
	ciFile = "--- /dev/null\n+++ b/.gitlab-ci.yml\n" + ciHunk
	goHunk = "@@ -0,0 +1 @@\n+package a\n"
)

// TestPatchNames: whichever name a program that applies patches takes for the path, it
// is judged.
func TestPatchNames(t *testing.T) {
	for _, cfg := range []*Config{judged(), {}} {
		j := judge(t, cfg)
		for name, patch := range map[string]string{
			"octal":                      "--- /dev/null\n+++ \"b/\\056gitlab-ci.yml\"\n" + ciHunk,
			"octal in the header of Git": "diff --git \"a/\\056gitlab-ci.yml\" \"b/\\056gitlab-ci.yml\"\nnew file mode 100644\n" + ciHunk,
			"octal on one side":          "diff --git a/x \"b/\\056gitlab-ci.yml\"\nnew file mode 100644\n" + ciHunk,
			"octal in a rename":          "diff --git a/x \"b/\\056gitlab-ci.yml\"\nsimilarity index 100%\nrename from x\nrename to \"\\056gitlab-ci.yml\"\n",
			"copy":                       "diff --git a/x b/.gitlab-ci.yml\nsimilarity index 100%\ncopy from x\ncopy to .gitlab-ci.yml\n",
			"escapes":                    "--- /dev/null\n+++ \"b/a\\tb\\\\c/\\056gitlab\\055ci.yml\"\n" + ciHunk,
			"time behind a blank":        "--- /dev/null\n+++ b/.gitlab-ci.yml 2026-01-01 00:00:00\n" + ciHunk,
			"time behind a tab":          "--- /dev/null\n+++ b/.gitlab-ci.yml\t2026-01-01 00:00:00\n" + ciHunk,
			"blank in a folder":          "--- /dev/null\n+++ b/my dir/.gitlab-ci.yml 2026-01-01\n" + ciHunk,
			"no prefix":                  "diff --git .gitlab-ci.yml .gitlab-ci.yml\nnew file mode 100644\n" + ciHunk,
			"old name":                   "--- .gitlab-ci.yml\n+++ nothing.txt\n" + ciHunk,
			"index":                      "Index: .gitlab-ci.yml\n===\n" + ciHunk,
			"index, other names":         "Index: .gitlab-ci.yml\n===\n--- a.txt\n+++ a.txt\n" + ciHunk,
			"no old name":                "+++ b/.gitlab-ci.yml\n" + ciHunk,
			"carriage returns":           strings.ReplaceAll(ciFile, "\n", "\r"),
			"carriage returns behind":    "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n" + strings.ReplaceAll(ciFile, "\n", "\r"),
			"line separators":            strings.ReplaceAll(ciFile, "\n", "\u2028"),
			"both line ends":             strings.ReplaceAll(ciFile, "\n", "\r\n"),
			"indented":                   "    " + strings.ReplaceAll(ciFile, "\n", "\n    "),
			"context, indented":          "   *** a.txt 1\n   --- \"\\056gitlab-ci.yml\" 2\n   ***************\n   *** 0 ****\n   --- 1,2 ----\n   + a:\n   +   script:\n   +     - env\n",
			"prose before":               "Hello.\n\n" + ciFile,
			"envelope before":            "*** Add File: README.md\n+x\n" + ciFile,
			"count too long":             "--- a/x\n+++ b/x\n@@ -0,0 +1,99 @@\n+x\n" + ciFile,
			"count too short":            strings.Replace(ciFile, "+1,3", "+1,1", 1),
			"no counts":                  "--- /dev/null\n+++ b/.gitlab-ci.yml\n@@ ... @@\n+a:\n+  script:\n+    - env\n",
			"context":                    "*** /dev/null\tThu Jan  1 1970\n--- .gitlab-ci.yml\tThu Jan  1 2026\n***************\n*** 0 ****\n--- 1,3 ----\n+ a:\n+   script:\n+     - env\n",
			"context, changed":           "*** .gitlab-ci.yml\t1970\n--- .gitlab-ci.yml\t2026\n***************\n*** 1,3 ****\n  a:\n    script:\n!     - make\n--- 1,3 ----\n  a:\n    script:\n!     - env\n",
			"normal":                     "Index: .gitlab-ci.yml\n0a1,3\n> a:\n>   script:\n>     - env\n",
			"normal, changed":            "Index: .gitlab-ci.yml\n3c3\n<     - make\n---\n>     - env\n",
			"ed":                         "Index: .gitlab-ci.yml\n0a\na:\n  script:\n    - env\n.\n",
			"envelope renames":           "*** Begin Patch\n*** Update File: x\n*** Move to: .gitlab-ci.yml\n@@\n-x\n+y\n*** End Patch\n",
			"envelope, farther in":       "  *** Begin Patch\n  *** Add File: .gitlab-ci.yml\n+a:\n+  script:\n+    - env\n",
			"renamed and changed":        "diff --git a/x b/.gitlab-ci.yml\nrename from x\nrename to .gitlab-ci.yml\n--- a/x\n+++ b/.gitlab-ci.yml\n@@ -1 +1,2 @@\n a: b\n+c: d\n",
			"renamed before another":     "diff --git a/x b/.gitlab-ci.yml\nrename from x\nrename to .gitlab-ci.yml\n--- a.txt\n+++ a.txt\n@@ -0,0 +1 @@\n+x\n",
			"base64":                     base64.StdEncoding.EncodeToString([]byte(ciFile)),
		} {
			if got := said(j.Check(Write{Content: patch, Patch: true})); !strings.Contains(got, "ci") && (name != "base64" || got == "") {
				t.Errorf("%s: got %q", name, got)
			}
			if got := found(t, j, `{"patch":`+jsonText(patch)+`}`); !strings.Contains(got, "ci /patch") {
				t.Errorf("%s: got %q of a call", name, got)
			}
			if got := found(t, j, `{"edits":[`+jsonText(patch)+`]}`); !strings.Contains(got, "ci /edits/0") {
				t.Errorf("%s: got %q under another name", name, got)
			}
			twin := strings.NewReplacer(`\056gitlab-ci.yml`, `\056gitlabci.txt`, ".gitlab-ci.yml", ".gitlabci.txt", `\056gitlab\055ci`, `x`).Replace(patch)
			if name == "base64" {
				twin = base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(ciFile, ".gitlab-ci", "gitlab-ci")))
			}
			if got := said(j.Check(Write{Content: twin, Patch: true, seen: true})); got != "" {
				t.Errorf("%s: the twin has %q", name, got)
			}
		}
	}
}

// TestPatchPlaces: what is found in any kind of diff is said to be where it is added.
func TestPatchPlaces(t *testing.T) {
	j := judge(t, judged())
	for _, c := range []struct{ name, path, patch, want string }{
		{"context", "", "*** go.mod\n--- go.mod\n***************\n*** 1,2 ****\n  module a\n! require golang.org/x/a v1\n--- 1,2 ----\n  module a\n! require evil.example/a v1\n", "dependency 9"},
		{"context, as it was", "", "*** go.mod\n--- go.mod\n***************\n*** 1,2 ****\n  module a\n! require golang.org/x/a v1\n  require evil.example/a v1\n--- 1,2 ----\n  module a\n! require golang.org/x/a v2\n  require evil.example/a v1\n", ""},
		{"normal", "requirements.txt", "2a3\n> evil\n", "dependency 2"},
		{"normal, taken away", "requirements.txt", "2d1\n< evil\n", ""},
		{"part, taken away", "requirements.txt", "@@ -1,2 +0,0 @@\n-evil\n-b\n", ""},
		{"ed", "requirements.txt", "2a\nevil\n.\n3d\n", "dependency 2"},
		{"path beside other names", "requirements.txt", "--- a/x.txt\n+++ b/x.txt\n@@ -0,0 +1 @@\n+evil\n", "dependency 4"},
		{"path beside many names", "requirements.txt", "--- a/x.txt\n+++ b/x.txt\n@@ -0,0 +1 @@\n+evil\n--- a/y.txt\n+++ b/y.txt\n@@ -0,0 +1 @@\n+evil\n", ""},
		{"secret in the mail around", "", "From: a\nSubject: glpat-" + some(20) + "\n\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n", "secret 2"},
		{"no patch, but dashes", "", "--- a\nglpat-" + some(20) + "\n", "secret 2"},
		{"moved away", "", "diff --git a/.npmrc b/x\nsimilarity index 100%\nrename from .npmrc\nrename to x\n", ""},
		{"deleted", "", "--- a/.gitlab-ci.yml\n+++ /dev/null\n@@ -1 +0,0 @@\n-a: b\n", ""},
		{"form feed", "", "--- a/x.c\n+++ b/x.c\n@@ -1 +1,2 @@\n a\n+\f\n", ""},
		{"one commit", "", "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@b.example>\nSubject: [PATCH] Say more\n\n---\n README.md | 1 +\n 1 file changed, 1 insertion(+)\n\ndiff --git a/README.md b/README.md\nindex 1..2 100644\n--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n a\n+b\n-- \n2.39.5\n\n", ""},
	} {
		if got := said(j.Check(Write{Path: c.path, Content: c.patch, Patch: true})); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestUnquoteC: names are read as Git writes them.
func TestUnquoteC(t *testing.T) {
	for in, want := range map[string]string{`"a"`: "a", `"\056a" b`: ".a", `"a\tb\n\\\""`: "a\tb\n\\\"", `"\303\244"`: "ä", `"a`: "a", `"`: "", `"\`: "\\"} {
		if got, end := unquoteC(in); got != want || end > len(in) {
			t.Errorf("%s: got %q", in, got)
		}
	}
}

// TestPatchMembers: a patch is one whatever the member is called that it stands in.
func TestPatchMembers(t *testing.T) {
	for _, cfg := range []*Config{judged(), {}} {
		j := judge(t, cfg)
		p, twin := jsonText(ciFile), jsonText("--- /dev/null\n+++ b/a.go\n"+goHunk)
		for _, c := range []struct{ arguments, want string }{
			{`{"patches":[P]}`, "ci /patches/0"}, {`{"diffs":[P]}`, "ci /diffs/0"}, {`{"git_diff":P}`, "ci /git_diff"}, {`{"patch_string":P}`, "ci /patch_string"}, {`{"patch_data":P}`, "ci /patch_data"}, {`{"edits":P}`, "ci /edits"}, {`{"edits":[{"new":P}]}`, "ci /edits/0/new"},
			{`{"content":P}`, "ci /content"}, {`{"text":P}`, "ci /text"}, {`{"body":P}`, "ci /body"}, {`{"input":P}`, "ci /input"}, {`{"data":P}`, "ci /data"}, {`{"x":{"y":[[P]]}}`, "ci /x/y/0/0"}, {`{"key":P}`, "ci /key"}, {`{"command":["apply_patch",P]}`, "ci /command/1"}, {`{"command":P}`, "ci /command"},
			{`{"args":["-p1",P]}`, "ci /args/1"}, {`{"options":J}`, "ci /options!/text"}, {`{"patch":L}`, "ci /patch"}, {`{"lines":L}`, "ci /lines"}, {`{"anything":L}`, "ci /anything"}, {`{"patch":B}`, "ci /patch"}, {`{"content":B}`, "ci /content"}, {`{"encoding":"base64","content":B}`, "ci /content"}, {`{"file":D}`, "ci /file"},
			{`{"path":"/srv/repo","content":P}`, "ci /content"}, {`{"cwd":"/srv/repo","content":P}`, "ci /content"}, {`{"path":"x.md","content":P}`, "ci /content"}, {`{"title":"x","body":P}`, "ci /body"}, {`{"subject":"x","body":P}`, "ci /body"},

			{`{"description":P}`, ""}, {`{"comment":P}`, ""}, {`{"message":P,"path":"a"}`, ""}, {`{"prompt":P}`, ""}, {`{"query":P}`, ""},
			{`{"line":3,"path":"x","body":P}`, ""}, {`{"path":"x.md","content":Q}`, ""}, {`{"title":"x","body":Q}`, ""}, {`{"to":["a@b.example"],"subject":"fix","body":Q}`, ""}, {`{"Subject":"fix","content":Q}`, ""}, {`{"path":"patches/x.patch","content":P}`, ""}, {`{"path":"x.diff","content":P}`, ""},
			{`{"old_str":P,"new_str":"x"}`, ""},
		} {
			lines := strings.ReplaceAll(strings.TrimSuffix(p, `\n"`)+`"`, `\n`, `","`)
			b := base64.StdEncoding.EncodeToString([]byte(ciFile))
			fill := func(s, p string) string {
				return strings.NewReplacer(":P", ":"+p, "[P", "["+p, ",P", ","+p, ":Q", ":"+jsonText("How to make it work:\n\n```diff\n"+ciFile+"```\n"), ":L", ":["+lines+"]", ":B", `:"`+b+`"`, ":D", `:"data:text/x-diff;base64,`+b+`"`, ":J", ":"+jsonText(`{"text":`+p+`}`)).Replace(s)
			}
			if got := found(t, j, fill(c.arguments, p)); got != c.want && !strings.HasPrefix(got, c.want+", ") {
				t.Errorf("%s: got %q, want %q", c.arguments, got, c.want)
			}
			if !strings.ContainsAny(c.arguments, "LBD") {
				if got := found(t, j, fill(c.arguments, twin)); got != "" {
					t.Errorf("%s: the twin has %q", c.arguments, got)
				}
			}
		}
	}
}

// TestPatchesOfNothing: texts that only look like patches are none.
func TestPatchesOfNothing(t *testing.T) {
	for _, cfg := range []*Config{judged(), {}} {
		j := judge(t, cfg)
		for _, text := range []string{
			"Move the job to .gitlab-ci.yml.\n\n--- \n\n+++ not a header\n", "*** Important ***\n\nDo not touch .gitlab-ci.yml.\n*** End ***\n", "Index: A, B\n\n1a\n2b\nIndex: .gitlab-ci.yml\n", "Run diff --git and see +++ b/.gitlab-ci.yml in it.\n",
			"| a | b |\n|---|---|\n+++ TOML\ntitle = 1\n+++ \n", "@@ -1 +1 @@ is the header of a hunk.\n", "+++ b/.gitlab-ci.yml\n--- a/.gitlab-ci.yml\n", "*** .gitlab-ci.yml 1\n--- .gitlab-ci.yml 2\n\nAre the two headers of a context diff.\n", "***************\n*** 1,3 ****\n--- 1,3 ----\n+ a\n",
			"diff --git a/.gitlab-ci.yml b/.gitlab-ci.yml\nindex 1..2 100644\n", "The log said:\n\n--- a/README.md\n+++ b/README.md\n@@ -1,9 +1,9 @@\n-a\n+b\n\nand no more.\n",
		} {
			for _, name := range []string{"content", "body", "text", "x"} {
				if got := found(t, j, `{"`+name+`":`+jsonText(text)+`}`); got != "" {
					t.Errorf("%s: %q: %q", name, text, got)
				}
			}
		}
	}
}

// jsonText is a text in JSON.
func jsonText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`).Replace(s) + `"`
}

// TestPatchOfNothingButHeaders: what reading costs does not grow faster than the text.
func TestPatchOfNothingButHeaders(t *testing.T) {
	j := judge(t, nil)
	for _, l := range []string{"--- a\n", "+++ a b c d e f g h\n", "diff --git a/x b/x\n", "Index: a b\n", "*** a\n", "*** Add File: a\n", "@@ -1 +1 @@\n", "@@\n", "********\n", "1a\n", "1c1\n", "rename to a\n"} {
		if got := j.Check(Write{Content: strings.Repeat(l, 50_000), Patch: true}); len(got) > most {
			t.Errorf("%q: %d findings", l, len(got))
		}
	}
}
