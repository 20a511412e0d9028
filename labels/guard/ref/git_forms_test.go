package ref_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A place is a clone with files and history, whose branch that is checked out is not a
// protected one, and how it was at first.
type place struct {
	*remote
	dir, first string
	local      map[string]string
}

func newPlace(t testing.TB) *place {
	for _, name := range []string{"sh", "bash", "timeout"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("there is no " + name)
		}
	}
	r := newRemote(t)
	p := &place{remote: r, dir: filepath.Dir(r.clone), first: filepath.Join(t.TempDir(), "first")}
	for i, text := range []string{"one x\n", "two x\n", "three x\n"} {
		r.must(r.clone, "checkout", "-q", "topic")
		if err := os.WriteFile(filepath.Join(r.clone, "a.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		r.must(r.clone, "add", "a.txt")
		r.must(r.clone, "commit", "-q", "-m", fmt.Sprint("topic ", i))
	}
	r.must(r.clone, "branch", "feat/y")
	for _, c := range [][]string{{"core.editor", "true"}, {"sequence.editor", "true"}, {"core.logAllRefUpdates", "true"}, {"gc.auto", "0"}} {
		r.must(r.clone, "config", c[0], c[1])
	}
	if err := os.RemoveAll(filepath.Join(r.clone, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.first, os.DirFS(r.clone)); err != nil {
		t.Fatal(err)
	}
	p.local = p.heads()
	return p
}

// heads are the branches of the clone.
func (p *place) heads() map[string]string {
	m := map[string]string{}
	root := filepath.Join(p.clone, ".git", "refs", "heads")
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, _ := os.ReadFile(path)
			rel, _ := filepath.Rel(root, path)
			m["refs/heads/"+filepath.ToSlash(rel)] = string(bytes.TrimSpace(b))
		}
		return nil
	})
	return m
}

// moved runs a line and tells which protected refs it moved here or there; then all is
// as before.
func (p *place) moved(shell, line string) (list []string) {
	cmd := exec.CommandContext(context.Background(), "timeout", "-s", "KILL", "20", shell, "-c", line) // with all that it began
	cmd.Dir = p.clone
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(p.dir, "config"), "GIT_TERMINAL_PROMPT=0", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"FILTER_BRANCH_SQUELCH_WARNING=1", "GIT_PAGER=cat", "HOME="+p.dir)
	_ = cmd.Run()
	for _, name := range p.wrote() {
		if protectedHere(name) {
			list = append(list, "there "+name)
		}
	}
	now := p.heads()
	for name, id := range p.local {
		if protectedHere(name) && now[name] != id {
			list = append(list, "here "+name)
		}
	}
	entries, _ := os.ReadDir(p.dir)
	if !maps.Equal(now, p.local) || len(entries) > 2 || !p.same() {
		for _, e := range entries {
			if e.Name() != "bare" {
				if err := os.RemoveAll(filepath.Join(p.dir, e.Name())); err != nil {
					p.t.Fatal(err)
				}
			}
		}
		if err := os.CopyFS(p.clone, os.DirFS(p.first)); err != nil {
			p.t.Fatal(err)
		}
	}
	return list
}

// same tells whether what a command may leave behind is as at first.
func (p *place) same() bool {
	for _, name := range []string{".git/HEAD", ".git/config", "a.txt"} {
		a, _ := os.ReadFile(filepath.Join(p.clone, name))
		if b, _ := os.ReadFile(filepath.Join(p.first, name)); !bytes.Equal(a, b) {
			return false
		}
	}
	for _, name := range []string{".git/rebase-merge", ".git/rebase-apply", ".git/worktrees", ".git/BISECT_LOG", ".git/MERGE_HEAD", ".git-rewrite", "x"} {
		if _, err := os.Stat(filepath.Join(p.clone, name)); err == nil {
			return false
		}
	}
	return true
}

// act is a command that moves a ref, protected or not, or none.
func act(pick func(...string) string) string {
	to := pick("main", "main", "release/2.4", "feat/x", "feat/z")
	from := pick("feat/x", "topic", "feat/y", "topic")
	return pick("git push ../bare "+from+":"+to, "git push -f ../bare +"+from+":refs/heads/"+to, "git push . "+from+":"+to, "git branch -f "+to+" "+from, "git update-ref refs/heads/"+to+" "+from, "git fetch . +"+from+":"+to, "git push -q -f ../bare HEAD:"+to, "git rev-parse HEAD", "git cat-file -t "+to) // none that reads the index: it may run as core.fsmonitor
}

// local is a command of git that may move a ref here.
func local(pick func(...string) string) string {
	to := pick("main", "main", "release/2.4", "feat/x", "feat/z")
	from := pick("feat/x", "topic", "feat/y", "main", "HEAD")
	b := pick("refs/heads/", "") + to
	return pick(
		"git worktree add "+pick("-B", "-fB", "-b", "-f -B", "-qB")+pick(" ", "", " ")+to+" ../wt "+from, "git worktree add ../wt "+pick("", "-B")+" "+to, "git worktree add ../wt -B "+to+" "+from,
		"git rebase "+pick("", "-q", "-s ort", "--onto topic", "--root", "-i", "--exec true", "-X ours", "--onto feat/x --root", "--update-refs", "--no-ff", "--force-rebase", "--autostash", "--strat ort", "--ont topic")+" "+from+" "+pick(to, to, ""), "git rebase --root "+to, "git rebase "+from+" "+b,
		"git fetch "+pick("", "-f", "-q", "--prune", "--update-head-ok")+" . "+pick("", "+")+from+":"+b, "git fetch --refmap="+pick("+", "")+"refs/heads/topic:refs/heads/"+to+" . topic", "git fetch --refm +refs/heads/topic:refs/heads/"+to+" . topic", "git fetch --refmap '+refs/heads/feat/*:refs/heads/"+pick("release/*", "x/*")+"' . feat/x", "echo +topic:"+to+" | git fetch --"+pick("stdin", "std", "st")+" .", "git pull -q . +topic:"+to, "git fetch . +topic:"+to+" feat/x", "git fetch ../bare 'refs/heads/*:refs/"+pick("heads/*'", "remotes/o/*'"), "git fetch "+pick("origin", "../bare")+" "+to, "git fetch . 'refs/heads/"+pick("topic", "t*")+":refs/heads/"+pick("main", "m*")+"'",
		"git symbolic-ref "+pick("", "-m x")+" refs/heads/"+to+" refs/heads/topic", "git symbolic-ref "+pick("-d", "--delete", "--del")+" refs/heads/"+to, "git symbolic-ref HEAD", "git symbolic-ref HEAD refs/heads/"+to,
		"git update-ref "+pick("", "-m x", "--no-deref", "--create-reflog")+" refs/heads/"+to+" topic", "git update-ref "+pick("-d", "--no-deref -d")+" refs/heads/"+to, "echo update refs/heads/"+to+" $(git rev-parse topic) | git update-ref --"+pick("stdin", "std"), "echo 'delete refs/heads/"+to+"' | git update-ref --stdin",
		"git branch "+pick("-f", "-m", "-M", "-c", "-C", "-D", "-d", "--force", "--move", "--copy", "--delete", "--for", "-qf", "", "-u", "--list", "-vv", "--mov")+" "+pick(from+" "+to, to+" "+from, to), "git branch -f"+to+" topic",
		"git checkout "+pick("-B", "-qB", "-b", "-fB", "--orphan", "", "-f -B", "-tB")+pick(" ", " ", "")+to+" "+pick(from, ""), "git checkout "+from+" -B "+to, "git switch "+pick("-C", "-c", "--force-create", "--force-create=", "--force-c", "-qC", "", "-f")+pick(" ", "")+to+" "+pick(from, ""), "git switch --discard-changes -C "+to,
		"git remote add "+pick("-f", "")+" "+pick("--mirror=fetch", "--mirror", "-t topic", "--mirr=fetch", "--no-tags")+" m ../bare", "git remote update", "git reflog "+pick("delete", "expire --expire=all")+" "+pick("--updateref", "--rewrite", "--upd")+" "+to+pick("@{0}", ""), "git reflog show "+to,
		"git tag "+pick("-f", "-d", "")+" "+to, "git filter-branch -f --msg-filter 'sed s/o/0/' "+pick("topic.."+to, to, "-- --all", "--branches", "HEAD", "feat/x.."+to, "-- "+to), "git fast-export topic | sed s,heads/topic,heads/"+to+", | git fast-import --force --quiet", "git replace "+from+" "+to, "git notes --ref refs/heads/"+to+" add -m x", "git -c remote.o.url=. -c remote.o.fetch=+refs/heads/topic:refs/heads/"+to+" fetch o", "git stash branch "+to,
		"git config alias.zz 'branch -f "+to+" topic' "+pick("", "get", "list", "-l", "--get")+" && git zz", "git config "+pick("-f .git/config", "--file .git/config", "--local", "--fi .git/config")+" alias.zz 'branch -f "+to+" topic'; git zz", "git config --"+pick("get", "list", "get --no-get", "no-get")+" alias.zz 'branch -f "+to+" topic'; git zz", "git config xx.zz 'branch -f "+to+" topic'; git config --rename-section xx alias; git zz", "git clone -q -c alias.zz='push origin +topic:"+to+"' . x && git -C x zz", "git -c alias.zz='branch -f "+to+" topic' zz", "git for-each-repo --config=a.b branch -f "+to+" topic; true", "git config a.b \"$PWD\"; git for-each-repo --config=a.b branch -f "+to+" topic", "git config a.b \"$PWD\"; git for-each-repo --config a.b update-ref refs/heads/"+to+" topic")
}

// carried puts a command where git runs it itself.
func carried(pick func(...string) string, do string) string {
	do = pick("", "", "cd . && ", "true; ", "true\n") + do
	if pick("", "", "x") == "x" {
		do = strings.ReplaceAll(do, " ", "${IFS}")
	}
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	q, end, bang := quote(do), quote(do+" #"), quote("!"+do+" #")
	const once = "test $D && exit; export D=1; " // what git runs again where it runs itself
	single := quote(once + do + " #")
	return pick(
		"git rebase "+pick("-x ", "--exec ", "--exec=", "-qx", "-ix", "--exe=", "-x")+q+" HEAD~1", "git rebase -x "+quote("sh -c "+quote(do))+" HEAD~1", "git rebase -i -x "+q+" -x true HEAD~1",
		"git ls-remote "+pick("--upload-pack=", "--upload-pack ", "--exec=", "--uplo=")+end+" .", "git fetch --upload-pack="+end+" .", "git push "+pick("--receive-pack=", "--exec=", "--receive-pack ")+end+" . topic:feat/new", "git clone -q "+pick("-u ", "-u", "--upload-pack=", "-qu ")+end+" . x", "git archive --remote=. "+pick("--exec=", "--exec ")+end+" HEAD", "git fetch-pack --upload-pack="+end+" . topic", "git send-pack --receive-pack="+end+" . topic:feat/new",
		"git "+pick("-c core.editor=", "-c 'core.editor'=", "-C . -c CORE.EDITOR=")+end+" commit --allow-empty", "git -c core.fsmonitor="+single+" status", "git -c core.sshCommand="+end+" fetch ssh://h/x", "git -c diff.external="+end+" diff HEAD~1", "echo url=https://h.example/ | git -c credential.helper="+bang+" credential fill", "git -c sequence.editor="+end+" rebase -i HEAD~1", "git -c difftool.q.cmd="+q+" difftool -y -t q HEAD~1", "git -c alias.zz="+bang+" zz", "git -c mergetool.q.cmd="+q+" mergetool -t q", "git -c core.alternateRefsCommand="+single+" fetch .", "git -c diff.q.textconv="+end+" diff HEAD~1", "git -c diff.q.command="+end+" diff HEAD~1", "git -c trailer.q.cmd="+end+" interpret-trailers --trailer q=1 a.txt", "git -c interactive.diffFilter="+end+" add -p", "git -c tar.q.command="+end+" archive --format=q HEAD", "git -c filter.q.clean="+end+" add a.txt", "git -c uploadpack.packObjectsHook="+single+" fetch .", "git -c guitool.q.cmd="+q+" status",
		"git config "+pick("", "--global ", "--add ")+"core.editor "+end+" && git commit --allow-empty", "git config core.fsmonitor "+single+" get; git status", "git config diff.external "+end+"; git diff HEAD~1",
		"git bisect start -q HEAD HEAD~2; git bisect run sh -c "+q, "git bisect start -q HEAD HEAD~2; git bisect run "+pick("", "env ", "eval ")+strings.ReplaceAll(do, "\n", ";"), "git filter-branch -f "+pick("--tree-filter ", "--msg-filter ", "--env-filter ", "--index-filter=")+quote(do+"; cat")+" HEAD~1..HEAD", "git difftool -y "+pick("-x ", "--extcmd=", "--extcmd ", "-x")+end+" HEAD~1", "git grep "+pick("-O", "--open-files-in-pager=", "--open=")+end+" x",
		pick("", "env ", "export ")+"GIT_SSH_COMMAND="+end+pick(" ", "; ")+"git fetch ssh://h/x", pick("", "export ", "env ")+"GIT_EDITOR="+end+pick(" ", "; ")+"git commit --allow-empty", "GIT_EXTERNAL_DIFF="+end+" git diff HEAD~1", "GIT_SEQUENCE_EDITOR="+end+" git rebase -i HEAD~1", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.zz GIT_CONFIG_VALUE_0="+bang+" git zz", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0="+single+" git status", "GIT_CONFIG_PARAMETERS=\"'core.fsmonitor="+strings.ReplaceAll(strings.ReplaceAll(once+do, "$", `\$`), "'", "")+" #'\" git status", "GIT_CONFIG_PARAMETERS=\"'alias.zz="+strings.TrimPrefix(strings.ReplaceAll(strings.ReplaceAll(do, "$", `\$`), "'", ""), "git ")+"'\" git zz",
		"git -c protocol.ext.allow=always ls-remote "+quote("ext::sh -c "+strings.ReplaceAll(do, " ", "% ")), "git -c protocol.ext.allow=always fetch "+quote("ext::"+do), "git rebase -i HEAD~2 -x "+q, "git -c sequence.editor="+quote("sed -i '1iexec "+strings.ReplaceAll(do, "\n", ";")+"'")+" rebase -i HEAD~2", "git commit --allow-empty -m "+q, "git tag -a feat/t -m "+q, "git log --grep="+q, "git log --format="+q)
}

// hide makes the words of a line less plain to whoever is no shell.
func hide(pick func(...string) string, line string) string {
	first, rest, _ := strings.Cut(line, " ")
	if first != "git" {
		return line
	}
	return pick(line, line, "g${X}it "+rest, "${X}git "+rest, "git${X} "+rest, "git${IFS}"+rest, "git$IFS$9"+rest, "X=git; $X "+rest, "X=g; Y=it; $X$Y "+rest, "X=gi; X+=t; $X "+rest, "$(echo git) "+rest, "`printf git` "+rest, "${Z:-git} "+rest, "$'git' "+rest, "$'\\x67\\x69t' "+rest, "gi{t,t} "+rest, "{git,-C,.} "+rest,
		"eval "+line, "eval '"+strings.ReplaceAll(line, "'", `'\''`)+"'", "sh <<< '"+strings.ReplaceAll(line, "'", `'\''`)+"'", "echo '"+strings.ReplaceAll(line, "'", `'\''`)+"' | sh", "printf '%s' '"+strings.ReplaceAll(line, "'", `'\''`)+"' | sh -s", "a='"+strings.ReplaceAll(line, "'", `'\''`)+"'; eval \"$a\"", "a=\"git\" b='"+strings.ReplaceAll(rest, "'", `'\''`)+"'; eval \"$a $b\"", "set -- "+line+"; \"$@\"", "${Z:-"+line+"}", "echo ${Z:-$("+line+")}", "\\git "+rest, "command git "+rest, "/usr/bin/gi? "+rest, "if true; then "+line+"; fi", "f() { "+line+"; }; f", "(cd . && "+line+")", "sh -c '"+strings.ReplaceAll(line, "'", `'\''`)+"'", "trap '"+strings.ReplaceAll(line, "'", `'\''`)+"' EXIT", "for g in git; do $g "+rest+"; done", "git${IFS}"+strings.ReplaceAll(rest, " ", "${IFS}"), "xargs git <<< '"+strings.ReplaceAll(rest, "'", `'\''`)+"'", "cat <<EOF | sh\n"+line+"\nEOF")
}

// forms holds lines that pass against a shell and git: whatever moves a protected ref,
// here or there, by its name, by whatever git runs, however the shell writes it.
func forms(t *testing.T, n int, seed uint64) {
	p := newPlace(t)
	guard, _ := rules(t)
	rng := rand.New(rand.NewPCG(seed, 4))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	ran, passed, caught := 0, 0, 0
	for i := range n {
		line := pick("act", "local", "local", "carried", "carried", "carried")
		switch line {
		case "act":
			line = act(pick)
		case "local":
			line = local(pick)
		default:
			line = carried(pick, act(pick))
		}
		if line = hide(pick, line); rng.IntN(8) == 0 {
			line = hide(pick, line)
		}
		pass := guard.CheckCommand(line, false) == ""
		if !pass && i%6 != 0 {
			continue
		}
		ran++
		if pass {
			passed++
		}
		if moved := p.moved(pick("sh", "bash", "bash"), line); len(moved) > 0 {
			if caught++; pass {
				t.Errorf("%q passes and moved %s", line, moved)
			}
		}
	}
	t.Logf("%d lines, %d run, %d passed, %d moved a protected ref", n, ran, passed, caught)
	if passed == 0 || caught == 0 {
		t.Error("the oracle saw nothing")
	}
}
