package guard_test

import (
	"testing"

	"github.com/pratique-dev/pratique/labels"
)

// TestLooksLikePath: ".." is a segment or nothing, in URLs too; and options, homes and
// other letters are seen under names that may mean something else.
func TestLooksLikePath(t *testing.T) {
	s := config(t, "{paths: {within: [src]}, off: [hosts]}")
	refusals(t, s, [][2]string{
		{`do {"source":"https://h.example/compare/v1...v2"}`, ""},
		{`do {"source":"https://h.example/a?next=/../x"}`, ""},
		{`do {"from":"v1..v2","to":"feat...main","input":"so ... or ... /","target":"a.. b/c"}`, ""},
		{`do {"source":"http://../../x"}`, "path /source"},
		{`do {"source":"https://h.example/a/../../x"}`, "path /source"},
		{`do {"source":"https://h.example/%2e%2e/%2E./x"}`, "path /source"},
		{`do {"source":"a/%252e%252e%252fx"}`, "path /source"},
		{`do {"source":"-rf"}`, "path /source"},
		{`do {"source":"--output=x"}`, "path /source"},
		{`do {"source":"~root"}`, "path /source"},
		{"do {\"source\":\"\uff0fetc\uff0fpasswd\"}", "path /source"},
		{"do {\"source\":\"\uff0e\uff0e\uff0fx\"}", "path /source"},
		{"do {\"source\":\"\uff5eroot\"}", "path /source"},
		{`do {"from":"-5","to":"-","input":"- a point","output":"5 - x"}`, ""},
		{"do {\"input\":\"\u662f\u6216\u5426\"}", ""},
	})
	refusals(t, config(t, ""), [][2]string{
		{`do {"source":"https://h.example/compare/v1...v2"}`, ""},
		{`do {"source":"-rf"}`, "path /source"},
		{`do {"source":"src/v1..v2/x"}`, ""},
	})
}

// TestListsOfPaths: each path of a list in one text lies in the folders.
func TestListsOfPaths(t *testing.T) {
	s := config(t, "paths: {within: [src], keys: {do: [paths, path], none: []}}")
	refusals(t, s, [][2]string{
		{`add {"paths":"src/a,/etc/passwd"}`, "path /paths"},
		{`add {"paths":"src/a; secrets/b"}`, "path /paths"},
		{`add {"paths":["src/a,b"]}`, "path /paths/0"},
		{`add {"files":{"value":"src/a,b"}}`, "path /files/value"},
		{`add {"test_paths":"src/a,b"}`, "path /test_paths"},
		{`do {"paths":"src/a,b"}`, "path /paths"},
		{`add {"paths":"src/a, src/b,"}`, ""},
		{`add {"file":"src/a,b"}`, ""},
		{`none {"paths":"src/a,b"}`, ""},
	})
	if got := told(s.Check(call(t, "add", `{"paths":"src/a\nb"}`))); got == "" {
		t.Error("a line break hides a path")
	}
	refusals(t, config(t, ""), [][2]string{{`add {"paths":"src/a,b"}`, ""}})
}

// TestOptionsOfGit: no argument of git is taken for an option, and a refspec is one
// whatever the tool seems to do.
func TestOptionsOfGit(t *testing.T) {
	s := config(t, "refs: {keys: {git_own: [branch]}}")
	refusals(t, s, [][2]string{
		{`git_push {"remote":"--mirror","branch":"feat/x"}`, "ref /remote"},
		{`git_push {"remote":"--receive-pack=touch /tmp/x","branch":"feat/x"}`, "ref /remote"},
		{`gitPush {"remote":[" -f"],"branch":"feat/x"}`, "ref /remote/0"},
		{`git_push {"remote":"[\"-f\"]","branch":"feat/x"}`, "ref /remote!/0"},
		{`git_push {"remote":{"name":"-f"},"branch":"feat/x"}`, "ref /remote/name"},
		{`git_own {"remote":"--mirror","branch":"feat/x"}`, "ref /remote"},
		{`git_log {"branch":"--output=x"}`, "ref /branch"},
		{`git_commit {"message":"- mend it","branch":"feat/x"}`, ""},
		{`git_push {"args":["push","-u","origin","feat/x"]}`, ""},
		{`create_issue {"label":"-x"}`, ""},
		{`git_fetch {"refspec":"+x:refs/heads/main"}`, "ref /refspec"},
		{`git_fetch {"refspec":"x:main"}`, "ref /refspec"},
		{`git_fetch {"branch":"x:main"}`, "ref /branch"},
		{`fetch {"fetch_refspecs":["+refs/heads/*:refs/heads/*"]}`, "ref /fetch_refspecs/0"},
		{`git_fetch {"refspec":"+refs/heads/feat/*:refs/heads/feat/*"}`, ""},
		{`git_fetch {"branch":"main"}`, ""},
		{`git_show {"ref":"HEAD:main"}`, ""},
	})
	c := call(t, "git_fetch", `{"refspec":"x:main"}`)
	c.Effect = labels.Read
	if got := told(s.Check(c)); got != "ref /refspec" {
		t.Error(got)
	}
}
