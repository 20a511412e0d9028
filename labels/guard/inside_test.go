package guard_test

import (
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/guard/ref"
)

func judge(t *testing.T, c *guard.Config, tool string, effect labels.Effect, args string) []guard.Violation {
	t.Helper()
	set, err := guard.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	x := call(t, tool, args)
	x.Effect = effect
	return set.Check(x)
}

// TestInside: what a repository keeps for itself is written by no tool, in whatever
// spelling and under whatever name that says where to.
func TestInside(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		`{"path":".git/refs/heads/main","content":"abc"}`, `{"path":".git/packed-refs"}`, `{"path":"/work/x/.git/HEAD"}`, `{"file_path":".git/config"}`,
		`{"path":".git/hooks/pre-push"}`, `{"path":"./.git//info/attributes"}`, `{"path":".git/objects/info/alternates"}`, `{"path":".git","content":"gitdir: /tmp/x"}`,
		`{"path":".git/modules/x/config"}`, `{"path":"sub/.git/worktrees/x/gitdir"}`, `{"path":"/srv/x.git/refs/heads/main"}`, `{"path":"/srv/x.git/hooks/post-receive"}`,
		`{"path":".GIT/config"}`, `{"path":"git~1/config"}`, `{"path":".git./config"}`, `{"path":".git /config"}`, `{"path":".git\\config"}`,
		`{"path":".g\u200cit/config"}`, `{"path":"\ufeff.git/config"}`, `{"path":".git::$INDEX_ALLOCATION/config"}`, `{"path":"%2egit/config"}`, `{"path":".%2567it%2fconfig"}`,
		`{"path":"．git／config"}`, `{"path":"file:///w/.git/config"}`, `{"path":".g'i't/config"}`, `{"path":".g?t/config"}`, `{"path":".git*"}`,
		`{"paths":["a.txt",".git/HEAD"]}`, `{"paths":"a.txt,.git/HEAD"}`, `{"paths":"a.txt .git/HEAD"}`, `{"files":[{"path":"a"},{"path":".git/HEAD"}]}`,
		`{"actions":[{"action":"create","file_path":"a.txt","content":"x"},{"action":"update","file_path":".git/config","content":"x"}]}`,
		`{"options":"{\"path\":\".git/config\"}"}`, `{"source":".git/HEAD","destination":"x"}`, `{"destination":".git/HEAD"}`, `{"path":{"value":".git/HEAD"}}`,
		`{"files":{".git/config":"x"}}`, `{"data":{".git/config":"x"}}`, `{".git":"gitdir: x"}`, `{"dir":".git/hooks","name":"pre-push","content":"x"}`,
		`{"patch":"diff --git a/.git/config b/.git/config\n--- a/.git/config\n+++ b/.git/config\n@@ -1 +1 @@\n-a\n+b\n"}`,
		`{"patch":"diff --git a/x b/.git/hooks/pre-push\nsimilarity index 100%\nrename from x\nrename to .git/hooks/pre-push\n"}`,
		`{"input":"*** Begin Patch\n*** Update File: .git/config\n@@\n-a\n+b\n*** End Patch"}`,
		`{"anything":"--- \"a/x\"\n+++ \"b/\\056git/config\"\n@@ -1 +1 @@\n-a\n+b\n"}`,
		`{"patch":["*** Begin Patch","*** Add File: .git/hooks/pre-push","+x","*** End Patch"]}`,
		`{"lines":["*** Begin Patch","*** Add File: .git/hooks/pre-push","+x","*** End Patch"]}`,
		`{"target_file":".git/hooks/pre-push","content":"make\n"}`, `{"uri":"file:///w/.git/hooks/pre-push","content":"make\n"}`,
	} {
		for _, effect := range []labels.Effect{labels.Unclassified, labels.Write, labels.Destructive} {
			got := judge(t, &guard.Config{Off: guard.Words{"paths", "hosts", "secrets"}}, "write_file", effect, args)
			if len(got) == 0 || got[0].Guard != "ref" || got[0].Why != guard.WhyInside || got[0].Rule != "guards.refs" {
				t.Errorf("%s: %v", args, got)
			}
		}
		for _, config := range []*guard.Config{{Off: guard.Words{"paths", "refs", "hosts", "secrets"}}, {Off: guard.Words{"paths", "hosts", "secrets"}, Refs: &guard.RefConfig{Folder: "off"}}} {
			if got := judge(t, config, "write_file", labels.Write, args); len(got) > 0 {
				t.Errorf("off: %s: %v", args, got)
			}
		}
		if got := judge(t, &guard.Config{Off: guard.Words{"paths", "hosts", "secrets"}}, "read_file", labels.Read, args); len(got) > 0 {
			t.Errorf("a read: %s: %v", args, got)
		}
	}
}

// TestNotInside: what only resembles the folder, speaks of it or says which repository
// is meant.
func TestNotInside(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		`{"path":".github/workflows/ci.yml"}`, `{"path":".gitignore"}`, `{"path":".gitlab-ci.yml"}`, `{"path":".gitattributes"}`, `{"path":".gitmodules"}`,
		`{"path":"docs/.git-notes.md"}`, `{"path":"my.git.md"}`, `{"path":"git/config"}`, `{"path":"src/git~x"}`, `{"path":".gitkeep"}`, `{"path":"x.git"}`, `{"path":"x.git/README.md"}`,
		`{"path":"app/[id]/.[slug].ts"}`, `{"path":"a.txt","content":"See .git/config\n"}`, `{"url":"https://github.com/a/b.git"}`, `{"path":"https://github.com/a/b.git"}`,
		`{"repository":"git@github.com:a/b.git"}`, `{"title":"Do not serve .git/config","description":"GET /.git/config answers 200"}`, `{"exclude":[".git","node_modules"]}`,
		`{"path":"src","excludePatterns":["node_modules","**/.git/**","*.log"]}`, `{"path":"src","exclude":[".git/**","vendor/**"]}`, `{"path":"a.zip","exclude":[".git/*","node_modules/*"]}`,
		`{"settings":{"files.exclude":{"**/.git":true}}}`, `{"path":"привет/мир.txt"}`, `{"path":"a%20b.txt"}`, `{"patch":"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-.git/config\n+.git/config \n"}`,
	} {
		if got := judge(t, &guard.Config{Off: guard.Words{"hosts"}}, "write_file", labels.Write, args); len(got) > 0 {
			t.Errorf("%s: %v", args, got)
		}
	}
	for _, name := range []string{"read_file", "get_file_contents", "search_files"} {
		if got := judge(t, nil, name, labels.Unclassified, `{"path":".git/config"}`); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := judge(t, nil, "git_commit", labels.Write, `{"repo_path":"/work/x/.git","message":"x"}`); len(got) > 0 {
		t.Error(got)
	}
	for _, args := range []string{`{"command":"echo x > .git/HEAD"}`, `{"command":"rm","args":["-rf",".git"]}`, `{"command":"sh -c 'cp x .git/hooks/pre-push'"}`} {
		if got := judge(t, nil, "run_command", labels.Unclassified, args); len(got) == 0 || got[0].Why != ref.WhyInside {
			t.Errorf("%s: %v", args, got)
		}
		if got := judge(t, &guard.Config{Refs: &guard.RefConfig{Folder: "off"}}, "run_command", labels.Unclassified, args); len(got) > 0 {
			t.Errorf("off: %s: %v", args, got)
		}
	}
	if got := judge(t, nil, "run_command", labels.Unclassified, `{"command":"cat","args":[".git/HEAD"]}`); len(got) > 0 {
		t.Error(got)
	}
	if got := judge(t, nil, "git_add", labels.Write, `{"repo_path":"/work/x/.git/hooks","files":["x"]}`); len(got) == 0 {
		t.Error("a folder below it is no repository")
	}
	if _, err := guard.Compile(&guard.Config{Refs: &guard.RefConfig{Folder: "allowed"}}); err == nil {
		t.Error("a word that is none is taken")
	}
}
