package ref_test

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// A remote is a bare repository and a clone of it whose branches are ahead.
type remote struct {
	t           testing.TB
	bare, clone string
	state       map[string]string
}

func newRemote(t testing.TB) *remote {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	r := &remote{t: t, bare: filepath.Join(dir, "bare"), clone: filepath.Join(dir, "clone")}
	r.must(dir, "init", "-q", "--bare", "-b", "main", "bare")
	r.must(dir, "init", "-q", "-b", "main", "clone")
	r.must(r.clone, "commit", "-q", "--allow-empty", "-m", "1")
	for _, b := range []string{"feat/x", "release/2.4", "topic"} {
		r.must(r.clone, "branch", b)
	}
	r.must(r.clone, "tag", "v1")
	r.must(r.clone, "remote", "add", "origin", "../bare")
	r.must(r.clone, "push", "-q", "origin", "refs/heads/*", "v1")
	r.must(r.clone, "fetch", "-q", "origin")
	for _, b := range []string{"feat/x", "release/2.4", "topic"} {
		r.must(r.clone, "checkout", "-q", b)
		r.must(r.clone, "commit", "-q", "--allow-empty", "-m", "2 "+b)
	}
	r.must(r.clone, "checkout", "-q", "main")
	r.must(r.clone, "commit", "-q", "--allow-empty", "-m", "2")
	r.state = r.refs()
	return r
}

func (r *remote) run(dir, name string, words ...string) error {
	cmd := exec.CommandContext(context.Background(), name, words...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "B=main")
	return cmd.Run()
}

func (r *remote) must(dir string, words ...string) {
	r.t.Helper()
	if err := r.run(dir, "git", words...); err != nil {
		r.t.Fatalf("git %q: %v", words, err)
	}
}

// refs reads what the bare repository holds: its refs are never packed here.
func (r *remote) refs() map[string]string {
	m := map[string]string{}
	err := filepath.WalkDir(filepath.Join(r.bare, "refs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(r.bare, p)
		m[filepath.ToSlash(rel)] = string(bytes.TrimSpace(b))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// wrote are the refs that changed since, which it puts back.
func (r *remote) wrote() (list []string) {
	now := r.refs()
	if maps.Equal(now, r.state) {
		return nil
	}
	for name := range now {
		if now[name] != r.state[name] {
			list = append(list, name)
			if err := os.Remove(filepath.Join(r.bare, name)); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	for name, id := range r.state {
		if now[name] == id {
			continue
		}
		if _, there := now[name]; !there {
			list = append(list, name)
		}
		p := filepath.Join(r.bare, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(id+"\n"), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	return list
}

// pushes holds what passes against git itself, and tells how many of the refused ones
// would have written what is protected, so that the oracle is known to see it.
func pushes(t *testing.T, n int, seed uint64) {
	r := newRemote(t)
	p, only := rules(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	passed, written, caught := 0, 0, 0
	for i := range n {
		spec := spell(rng)
		pass, one := p.Check(spec) == "", only.Check(spec) == ""
		if !pass && !one && i%4 != 0 || strings.HasPrefix(spec, "-") || strings.Contains(spec, "\x00") {
			continue
		}
		_ = r.run(r.clone, "git", "push", "-q", "../bare", spec) // what git refuses changes nothing
		wrote := r.wrote()
		if pass {
			passed++
		}
		if len(wrote) > 0 {
			written++
		}
		for _, name := range wrote {
			switch {
			case protectedHere(name) && pass:
				t.Errorf("%q passes and wrote %s", spec, name)
			case protectedHere(name):
				caught++
			}
			if one && !strings.HasPrefix(name, "refs/heads/feat/") && !strings.HasPrefix(name, "refs/tags/feat/") {
				t.Errorf("%q passes as one of feat/* and wrote %s", spec, name)
			}
		}
	}
	t.Logf("%d refspecs, %d passed, %d pushes wrote something, %d of the refused ones a protected ref", n, passed, written, caught)
	if passed == 0 || written == 0 || caught == 0 {
		t.Error("the oracle saw nothing")
	}
}

// lines holds command lines that pass against a shell and git.
func lines(t *testing.T, n int, seed uint64) {
	r := newRemote(t)
	p, _ := rules(t)
	rng := rand.New(rand.NewPCG(seed, 2))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	passed, caught := 0, 0
	for i := range n {
		words := []string{"git", pick("", "-C .", "-c a.b=c", "--no-pager", "-c push.default=matching", "-c alias.push=x"), pick("push", "push", "p\\ush", "pu\"s\"h", "subtree push")}
		for range rng.IntN(3) {
			words = append(words, pick("-f", "-q", "-u", "-d", "--all", "--mirror", "--tags", "--prune", "--delete", "--no-verify", "-o x", "--mir", "--repo=../bare", "--repo ../bare", "--recurse-submodules no", "--recurse-submodules=no", "--exec git-receive-pack", "--receive-pack=git-receive-pack", "--foo", "--foo main", "--atomic", "--force-with-lease=main", "--"))
		}
		words = append(words, pick("../bare", "../bare", "../bare", "origin", "", "$(echo origin)"))
		for range rng.IntN(3) {
			words = append(words, pick("feat/x", "feat/x", "x:feat/x", "topic:feat/y", "main:feat/z", "main", "HEAD", "HEAD:main", ":main", "ma\"\"in", "'main'", "m\\ain", "$B", "\"$B\"", "${B}", "$(echo main)", "`echo main`", "+topic:main", ":", "tag v1", "tag", "v1", "refs/heads/*", "feat/*", "feat/x:ma'i'n", ">x", "> feat/x", "2>&1", "# main", "{main,topic}", "ma?n", "topic\\\n", "; true", "| cat"))
		}
		line := pick("", "", "cd . && ", "true; ", "(", "B=main ", "env ", "sh -c '", "echo main | xargs ") + strings.Join(words, " ")
		if strings.Count(line, "'")%2 == 1 {
			line += "'"
		}
		if strings.Count(line, "(") > strings.Count(line, ")") {
			line += "\n)"
		}
		pass := p.CheckCommand(line, false) == ""
		if !pass && i%4 != 0 {
			continue
		}
		_ = r.run(r.clone, "sh", "-c", line)
		if pass {
			passed++
		}
		for _, name := range r.wrote() {
			if protectedHere(name) && pass {
				t.Errorf("%q passes and wrote %s", line, name)
			} else if protectedHere(name) {
				caught++
			}
		}
	}
	t.Logf("%d lines, %d passed, %d of the refused ones wrote a protected ref", n, passed, caught)
	if passed == 0 || caught == 0 {
		t.Error("the oracle saw nothing")
	}
}

// formats holds Valid against git check-ref-format.
func formats(t *testing.T, n int, seed uint64) {
	r := newRemote(t)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range n {
		name := spell(rng)
		if strings.Contains(name, "\x00") || strings.HasPrefix(name, "-") {
			continue
		}
		git := r.run(r.clone, "git", "check-ref-format", "--allow-onelevel", name) == nil
		if ref.Valid(name) != git || validRef(name, false) != git {
			t.Errorf("%q: git says %t, Valid %t, the model %t", name, git, ref.Valid(name), validRef(name, false))
		}
	}
}

// TestGit is the differential test against the git of this machine; the long one looks
// at thousands.
func TestGit(t *testing.T) {
	if testing.Short() {
		t.Skip("runs git")
	}
	pushes(t, 500, 1)
	lines(t, 100, 1)
	forms(t, 200, 1)
	formats(t, 100, 1)
}
