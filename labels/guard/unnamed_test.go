package guard_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
)

// TestUnnamedDestinations is O-24: a push or commit whose destination stands under a
// name that is not known for one is refused until the file says which it is.
func TestUnnamedDestinations(t *testing.T) {
	s := config(t, "refs: {keys: {push_here: [dest], commit_here: [on], push_none: [], push_out: [-branch]}}")
	refusals(t, s, [][2]string{
		{`push {"dest":"main"}`, "ref "},
		{`push {"onto":"main"}`, "ref "},
		{`push {"to":"main"}`, "ref "},
		{`push {"remote_ref":"main"}`, "ref /remote_ref"},
		{`push {"pushRefs":["feat/x","main"]}`, "ref /pushRefs/1"},
		{`push {"remote":"origin"}`, "ref "},
		{`push {}`, "ref "},
		{`push {"branch":7}`, "ref "},
		{`pushFiles {"files":[{"path":"a","content":"x"}]}`, "ref "},
		{`push_to_remote {"dest":"main"}`, "ref "},
		{`create_commit {"on":"main"}`, "ref "},
		{`create_commit {"target":"main"}`, "ref "},
		{`create_commit {"head":"main"}`, "ref "},
		{`createCommit {"head":"feat/x"}`, "ref "},
		{`commit_changes {"message":"x"}`, "ref "},
		{`revert_commit {"sha":"x"}`, "ref "},
		{`push_and_notify {"dest":"main"}`, "ref "},
		{`commitWithMessage {"on":"main"}`, "ref "},
		{`push_commit_list {"on":"main"}`, "ref "},
		{`push__message_ {"to":"x"}`, ""},
		{`push_here {"dest":"main"}`, "ref /dest"},
		{`push_here {"dest":"feat/x"}`, ""},
		{`commit_here {"on":"feat/x"}`, ""},
		{`push_none {"dest":"main"}`, ""},
		{`push_out {"branch":"feat/x"}`, "ref "},
		{`push {"branch":"feat/x","dest":"x"}`, ""},
		{`push {"branches":{"feat/x":"sha"}}`, ""},
		{`push {"target_ref":"feat/x"}`, ""},
		{`create_commit {"branch":"feat/x","message":"x"}`, ""},
		{`push_files {"branch":"feat/x","files":[]}`, ""},
		{`push_notification {"text":"x"}`, ""},
		{`docker_push {"image":"a/b"}`, ""},
		{`create_commit_status {"sha":"x","state":"failed"}`, ""},
		{`add_commit_comment {"sha":"x"}`, ""},
		{`list_commits {"head":"main"}`, ""},
		{`getCommit {"sha":"x"}`, ""},
		{`git_push {"remote":"origin","dest":"main"}`, "ref "},
		{`git_push {"branch":"feat/x","remote_ref":"main"}`, "ref /remote_ref"},
		{`git_commit {"message":"Mend main"}`, ""},
		{`git_commit {"repo_path":"/srv/x","message":"x","author":"Ann Main"}`, ""},
		{`git_commit {"message":"x","on":"main"}`, "ref /on"},
		{`git_commit {"message":"x","target":"refs/heads/main"}`, "ref /target"},
		{`git_commit {"message":"x","on":"feat/x"}`, ""},
	})
	c := call(t, "summary_of_commit", `{"sha":"x"}`)
	if c.Effect = labels.Read; s.Check(c) != nil {
		t.Error("a read has a destination")
	}
	if c.Effect = labels.Write; s.Check(c) == nil {
		t.Error("a write of a commit has none")
	}
}

// TestEndsInRef: a name that ends in ref is a destination unless it is a source or no
// ref at all.
func TestEndsInRef(t *testing.T) {
	refusals(t, config(t, ""), [][2]string{
		{`move {"remote_ref":"main"}`, "ref /remote_ref"},
		{`move {"PushRef":"refs/heads/main"}`, "ref /PushRef"},
		{`move {"head_refs":["main"]}`, "ref /head_refs/0"},
		{`move {"base_ref":"main","head_ref":"main","origin_ref":"main","src_ref":"main","user_pref":"main","xref":"main","href":"main","hrefs":["main"],"preference":"main"}`, ""},
		{`get_file {"tree_ref":"main"}`, ""},
		{`create_tag {"tag_name":"v1","tagged_ref":"main"}`, ""},
	})
}

// TestNameOfARef: the name that a tool about refs takes is one.
func TestNameOfARef(t *testing.T) {
	refusals(t, config(t, ""), [][2]string{
		{`updateRef {"name":"refs/heads/main"}`, "ref /name"},
		{`git_update_ref {"name":"refs/heads/main"}`, "ref /name"},
		{`deleteRefs {"input":{"name":"refs/heads/main"}}`, "ref /input/name"},
		{`create_ref {"name":"refs/heads/feat/x","sha":"x"}`, ""},
		{`get_ref {"name":"refs/heads/main"}`, ""},
		{`create_branch {"branch":"feat/x","source":{"name":"main"},"author":{"name":"main"}}`, ""},
	})
}

// TestFlagsOfAPush: a flag is set by whatever a server may take for true.
func TestFlagsOfAPush(t *testing.T) {
	s := config(t, "")
	for _, on := range []string{`true`, `1`, `"1"`, `"yes"`, `"true"`, `" TRUE "`, `"on"`, `2`, `[true]`, `{"value":"y"}`} {
		for _, tool := range []string{"push", "git_push"} {
			if got := told(s.Check(call(t, tool, `{"branch":"feat/x","mirror":`+on+`}`))); !strings.HasPrefix(got, "ref /mirror") {
				t.Errorf("%s, mirror %s: %q", tool, on, got)
			}
		}
	}
	for _, off := range []string{`false`, `0`, `"0"`, `"no"`, `""`, `"off"`, `null`, `[]`, `"feat"`} {
		if got := told(s.Check(call(t, "git_push", `{"branch":"feat/x","mirror":`+off+`}`))); got != "" {
			t.Errorf("mirror %s: %q", off, got)
		}
	}
}

// TestBesideAPush: what goes beside the arguments of a push names no destination, but
// sets no flag either.
func TestBesideAPush(t *testing.T) {
	s := config(t, "")
	for args, want := range map[string]string{`{"_meta":{"x":1}}`: "", `{"_meta":{"mirror":1}}`: "ref /_meta/mirror", `{"q":{"remote_ref":"main"}}`: "ref /q/remote_ref"} {
		for _, tool := range []string{"git_push", "push", "create_commit"} {
			if got := told(s.Beside(call(t, tool, args))); got != want && !(tool == "create_commit" && strings.HasSuffix(want, "mirror")) {
				t.Errorf("%s of %s: %q, want %q", args, tool, got, want)
			}
		}
	}
}

// TestRedirectsByName: an argument that says where somebody is sent is held against the
// hosts where it is a bare host.
func TestRedirectsByName(t *testing.T) {
	listed := config(t, "hosts: {allow: [example.com], keys: {out: [-next, -redirect_uri], none: []}}")
	for _, name := range []string{"redirect", "redirect_uri", "redirectUrl", "next", "goto", "return", "returnTo", "continue", "dest", "destination", "callback", "target", "u"} {
		for _, text := range []string{"evil.test", "evil.test/x", "evil.test:8443", "EVIL.test", "evil%2Etest", "//evil.test", "%2f%2fevil.test", "https%3A%2F%2Fevil.test", "https://evil.test", "localhost", "localhost:3000", "10.0.0.5", "/x?next=evil.test"} {
			if got := told(listed.Check(call(t, "do", `{"`+name+`":"`+text+`"}`))); !strings.Contains(got, "host /"+name) {
				t.Errorf("%s: %s: %q", name, text, got)
			}
		}
		for _, text := range []string{"example.com", "example.com/x", "https://example.com/", "/home", "docs.md", "a/docs.md", "index.html", "home", "", "v1.2", "3", "myapp:callback", "a b.c"} {
			if got := told(listed.Check(call(t, "do", `{"`+name+`":"`+text+`"}`))); got != "" && !strings.Contains(name, "rl") {
				t.Errorf("%s: %s: %q", name, text, got)
			}
		}
	}
	refusals(t, listed, [][2]string{
		{`do {"next":["a","evil.test"]}`, "host /next/1"},
		{`do {"next":{"value":"evil.test"}}`, "host /next/value"},
		{`do {"note":"evil.test","x":"evil.test","source":"evil.test"}`, ""},
		{`out {"next":"evil.test","redirect_uri":"evil.test"}`, ""},
		{`none {"next":"evil.test"}`, ""},
		{`move_file {"source":"a.b","destination":"evil.test"}`, ""}, // a path
		{`do {"u":"ann@corp.example","redirect_uri":"myapp://x"}`, ""},
		{`do {"next":"ann@corp.example"}`, "host /next"},
		{`copy {"target":"main.go","dest":"x.tar.gz","destination":"ann@corp.example"}`, ""},
	})
	refusals(t, config(t, ""), [][2]string{
		{`do {"next":"evil.test"}`, ""},
		{`do {"next":"localhost:3000"}`, "host /next"},
		{`do {"redirect_uri":"169.254.169.254/latest"}`, "host /redirect_uri"},
		{`do {"continue":"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.` + strings.Repeat("eyJzdWIi", 12) + `.dBjftJeZ4CVP"}`, ""},
	})
	refusals(t, config(t, "off: [hosts]"), [][2]string{{`do {"next":"localhost:3000"}`, ""}})
	if got := told(config(t, "refs: {protected: [next]}").Check(call(t, "do", `{"branches":{"next":"sha"}}`))); got != "ref /branches/next" {
		t.Error(got)
	}
}

// TestNeverAboutHosts: a rule that forbids a host fires where a parameter may lead to it.
func TestNeverAboutHosts(t *testing.T) {
	for text, may := range map[string]bool{
		"https://evil.example/": true, "https://ok.example/?redirect=evil.example": true, "https://ok.example/?u=https://evil.example/": true, "https://ok.example/#next=%2f%2fevil.example": true,
		"https://ok.example/a?x=https://ok.example/?next=evil.example": true, "ok.example?next=evil.example": true, "https://ok.example/ https://evil.example/": true,
		"https://ok.example/": false, "https://ok.example/?redirect=other.example": false, "https://ok.example/?u=https://other.example/": false, "https://ok.example/?next=/home": false, "https://ok.example/?x=evil.example": false,
	} {
		if got := constrain(t, "u: {hosts: [evil.example]}").May(call(t, "x", `{"u":"`+text+`"}`)); got != may {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestFoldersAround: a rule that asks or forbids may be about what holds its folder; one
// that allows is not.
func TestFoldersAround(t *testing.T) {
	for _, c := range []struct {
		rule string
		may  []string
		not  []string
	}{
		{"path: {within: [secrets/keys]}", []string{"secrets", "secrets/", "./secrets", ".", "./", "SECRETS", "docs,secrets"}, []string{"docs", "secrets/other", "secret", "secrets-old"}},
		{"path: {within: [/srv/a/keys]}", []string{"/srv/a", "/srv", "/srv/", "/", "//"}, []string{"/srv/b", "/srv/a/other", "/home"}},
		{"path: {within: [secrets]}", []string{"."}, []string{"docs"}},
		{`path: {within: ['C:\work\keys']}`, []string{`C:\\work`, `C:/work`, `C:\\`, `c:/`}, []string{`C:\\other`}},
		{"path: {file: [secrets/k]}", nil, []string{"secrets", "."}},
	} {
		s := constrain(t, c.rule)
		for i, list := range [][]string{c.not, c.may} {
			for _, text := range list {
				x := call(t, "delete_directory", `{"path":"`+text+`"}`)
				if got := s.May(x); got != (i == 1) {
					t.Errorf("%s may of %s: %t", c.rule, text, got)
				}
				if s.Check(x) == nil {
					t.Errorf("%s surely of %s", c.rule, text)
				}
			}
		}
	}
}

// TestDefaultProtected: each ref that is protected where a file names none.
func TestDefaultProtected(t *testing.T) {
	s := config(t, "")
	for _, ref := range []string{"main", "master", "trunk", "production", "release/1.0"} {
		if got := told(s.Check(call(t, "do", `{"branch":"`+ref+`"}`))); got != "ref /branch" {
			t.Errorf("%s: %q", ref, got)
		}
	}
}

// TestOffBesideContent: secrets stay off where something else is said of content, and
// the rest of it is judged.
func TestOffBesideContent(t *testing.T) {
	text := `{"path":"a.txt","content":"ghp_` + `x7Kq9ZtR2mVb4LwYc8NdPf3GhJs6Ae1Uo5Wi"}`
	for guards, want := range map[string]string{"content: {ci: judged}": "content /content", "off: [secrets]\ncontent: {ci: judged}": "", "off: [secrets]": ""} {
		if got := told(config(t, guards).Check(call(t, "do", text))); got != want {
			t.Errorf("%s: %q, want %q", guards, got, want)
		}
	}
	if got := told(config(t, "off: [secrets]\ncontent: {}").Check(call(t, "do", `{"path":".gitlab-ci.yml","content":"a: {script: [ls]}"}`))); got == "" {
		t.Error("CI passes where secrets are off")
	}
}

// TestManyConstraints: a rule speaks of 256 arguments and no more.
func TestManyConstraints(t *testing.T) {
	list := map[string]guard.Constraint{}
	for i := range 256 {
		list[fmt.Sprint("a", i)] = guard.Constraint{Within: guard.Words{"src"}}
	}
	if _, err := guard.Constrain(list); err != nil {
		t.Error(err)
	}
	list["more"] = guard.Constraint{Within: guard.Words{"src"}}
	if _, err := guard.Constrain(list); !errors.Is(err, guard.ErrConfig) {
		t.Errorf("257 arguments: %v", err)
	}
}
