package ref_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// judged holds command lines that must be refused, and others that must not be.
func judged(t *testing.T, refused, passed []string) {
	t.Helper()
	r := protect(t, "main", "release/*")
	for _, line := range refused {
		if r.CheckCommand(line, false) == "" {
			t.Errorf("%q passes", line)
		}
	}
	for _, line := range passed {
		if why := r.CheckCommand(line, false); why != "" {
			t.Errorf("%q: %s", line, why)
		}
	}
}

// TestHiddenGit: a shell makes the word git, or those behind it, of variables, braces,
// patterns and escapes.
func TestHiddenGit(t *testing.T) {
	judged(t, []string{
		"git${IFS}push${IFS}origin${IFS}HEAD:main", "git$IFS'push'${IFS}origin${IFS%??}main", "git$IFS$9push$IFS$9origin$IFS$9main", "${X}git push origin feat:main", "g${X}it push origin feat:main", "git${X} push origin feat:main", "g$1it$2 push origin main", "$(true)git push origin main", "gi$()t push origin main",
		"$G push origin feat:main", "${G:-git} push origin feat:main", "/usr/bin/${G} push origin main", "g${X} push origin main", "${X}t push origin main", "foo$X push origin main; git status",
		"X=git; $X push origin main", "X=g; Y=it; $X$Y push origin main", "X=push; git $X origin main", "a='git push origin main'; $a", "a=git; b=push; $a $b origin main; a=x", "X=gi; X+=t; A=pu; $X ${A}sh origin main", "IFS=,; a=git,push,origin,main; $a", "X='git push'; ${X} origin main", "A=ma; B=in; git push origin feat:$A$B", "$A $B origin main; git status",
		"${X:-git push origin main}", "${X:-$(git push origin main)}", "\"${X:=$(git push origin main)}\"", "echo ${X:+`git push origin main`}",
		"$'git' push origin main", "$'\\x67\\x69\\x74' push origin main", "$'\\147it' push origin $'\\u006dain'", "$\"git\" push origin main",
		"{git,push,origin,main}", "git {push,origin,main}", "{git,push,{origin,feat:main}}", "gi{t,t} push origin main", "/usr/bin/gi? push origin main", "/usr/bin/g[i]t push origin main", "g*t push origin main",
		"$(echo git) push origin main", "git $(echo branch -f main feat)", "git checkout $(echo -B main)", "git fetch . `printf feat:main`", "$(printf git) push origin main", "git fetch . $X", "git pull . $(cat x)",
		"bash <<< 'git push origin main'", "cat <<< 'cd x; git push origin main' | sh", "echo 'cd x; git push origin main' | sh", "echo 'cd x; git push origin main' | ssh h", "printf 'cd x\\ngit push origin main' | bash -s", "git log --format='git push origin main' | sh", "sh -c \"$(echo 'cd x; git push origin main')\"",
		"eval git commit -m 'x; git push origin main'", "trap 'cd x; git push origin main' EXIT", "python3 -c 'import os; os.system(\"git push origin main\")'", "python3 -c \"subprocess.run(['git', 'push', 'origin', 'main'])\"", "awk 'BEGIN{system(\"git push origin main\")}'", "cmd /c g^it push origin main", "!git push origin main",
		"git 'push origin main'", "sh -c 'git${IFS}push${IFS}origin${IFS}main'", "git rebase -x 'sh -c git${IFS}push${IFS}origin${IFS}main' x", "sh -c '{git,push,origin,main}'", "alias g=git\ng push origin main", "alias g='git -C .'; g push origin main", "sh -c '$0 push origin main' git", "sh -c 'git \"$@\"' x push origin main", "${Z:-git} -c alias.zz='push origin main' zz", "for g in git; do $g fetch-pack --upload-pack='cd .; git push origin main #' . x; done", "for g in git; do $g grep -O'cd .; git push origin main' x; done", "git grep -O'cd .; git push -e origin main' x", "git -C x 'push origin' main",
	}, []string{
		"echo $X push", "$DOCKER push registry/app", "$PIP fetch x", "cd $DIR && git status", "git log $X main", "git checkout $BRANCH", "git commit -m \"$MSG\"", "for f in *.go; do gofmt -l $f; done; git diff main", "ls {a,b} main", "git add {a,b}.go && git commit -m x", "ls g*t", "curl -d '{\"a\":1,\"b\":{\"c\":2,\"d\":3}}' https://gitlab.example/x", "echo ${HOME:-/root} main", "git diff ${X}main", "X=main; git log $X", "$PYTHON manage.py migrate main", "make $TARGET main", "sh build.sh main; git commit -m 'see git push origin main'", "git show $(git rev-parse main)", "grep -r '{main,x}' . | head", `{"git":{"branch":"main"}}`, "'{git:{x:main}}'",
		"curl -d '" + strings.Repeat("[{\"a\":1,\"b\":2},{\"c\":3,\"d\":4}],", 50) + "' https://git.example/main",
	})
}

// TestCommandsThatGitRuns: whatever option, setting or variable holds a command line
// that git runs, it is read.
func TestCommandsThatGitRuns(t *testing.T) {
	judged(t, []string{
		`git rebase -x "cd . && git push origin feat:main" HEAD~1`, `git rebase --exec="cd . && git push origin feat:main" HEAD~1`, `git rebase --exec 'true; git branch -f main' HEAD~1`, `git rebase -ix'git push origin feat:main' HEAD~1`, `git rebase -x"sh -c 'cd .; git push origin main'" HEAD~1`, `git rebase -x 'git${IFS}push${IFS}origin${IFS}main' HEAD~1`, `git rebase -x 'true
git push origin feat:main' HEAD~1`,
		"git ls-remote --upload-pack='git push origin feat:main #' .", "git ls-remote --upload-pack 'cd x; git push origin feat:main #' .", "git fetch --upload-pack='true; git push origin main #' .", "git push --receive-pack='git push origin main #' . feat/x", "git push --exec='true; git push origin main #' . feat/x", "git clone -u 'cd .; git push origin feat:main #' . x", "git archive --remote=. --exec='cd .; git push origin main #' HEAD",
		"git -c core.editor='git push origin feat:main #' commit", "git -c core.fsmonitor='git push origin feat:main #' status", "git -c core.sshCommand='git push origin feat:main #' fetch", "git -c diff.external='git push origin feat:main #' diff", "git -c core.pager='true; git push origin main #' log", "git -c credential.helper='!git push origin main #' fetch", "git -c sequence.editor='git push origin main #' rebase -i x", "git -c gpg.program='git push origin main' commit -S", "git -c core.askPass='x; git push origin main' fetch", "git -c filter.x.clean='git push origin main' add .", "git -c submodule.x.update='!git push origin main' submodule update", "git -c difftool.x.cmd='cd .; git push origin main' difftool", "git -c core.hooksPath='git push origin main' commit",
		"git -c core.editor='echo main | xargs ./publish' commit", "git -c sequence.editor=\"sed -i '1i update-ref refs/heads/main'\" rebase -i HEAD~2", "git -c sequence.editor=\"sed -i '1iexec git push origin feat:main'\" rebase -i HEAD~2",
		"git config core.editor 'git push origin feat:main #' && git commit", "git config --global diff.external 'cd x; git push origin main #'", "git config core.sshCommand './publish main'",
		"git submodule foreach 'cd .; git push origin main'", "git submodule foreach git push origin main", "git bisect run sh -c 'true; git push origin main'", "git bisect run git push origin main", "git filter-branch --tree-filter 'cd .; git push origin main' HEAD", "git filter-branch --index-filter='true; git push origin main' x", "git difftool -x 'cd .; git push origin main' -y", "git difftool --extcmd='true; git push origin main' -y", "git grep -O'cd .; git push origin main' x", "git grep --open-files-in-pager='true; git push origin main' x", "git send-email --smtp-server='cd .; git push origin main' x", "git fetch 'ext::sh -c git% push% origin% main'", "git ls-remote 'ext::git push origin main'",
		"GIT_SSH_COMMAND='git push origin feat:main #' git fetch", "GIT_EDITOR='cd .; git push origin main #' git commit", "export GIT_PAGER='true; git push origin main'; git log", "env GIT_EXTERNAL_DIFF='cd x; git push origin main' git diff", "GIT_SEQUENCE_EDITOR=\"sed -i '1i update-ref refs/heads/main'\" git rebase -i x", "EDITOR='git push origin main #' git commit", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.zz GIT_CONFIG_VALUE_0='push origin main' git zz", "GIT_CONFIG_PARAMETERS=\"'alias.zz=push origin main'\" git zz",
		"git clone -c alias.zz='push origin main' . x && git -C x zz", "git clone --config=remote.origin.push=x:main . x", "git for-each-repo --config=a.b push origin feat:main", "git for-each-repo --config a.b push",
	}, []string{
		"git commit -m \"push to main later\"", "git commit -m 'cd x; git push origin main'", "git commit -am 'Say that git push origin main is refused'", "git commit --message='see git push origin main'", "git tag -a v1 -m 'git push origin main'", "git log --grep='git push origin main'", "git notes add -m 'x git push origin main' HEAD", "git log --format='%h git push' main", "git merge -m 'Merge main, then git push origin main' feat/x",
		"git rebase -x 'go test ./...' main", "git rebase --exec 'git status && git log main' HEAD~1", "git -c core.editor=true commit --amend", "git -c core.pager=cat log main", "git -c user.name=main commit -m x", "git -c init.defaultBranch=main init x", "git -c core.editor='vim -u NONE' commit", "GIT_EDITOR=true git rebase --continue", "GIT_SSH_COMMAND='ssh -i key -o StrictHostKeyChecking=no' git fetch origin main", "git config core.editor 'code --wait'", "git config core.sshCommand 'ssh -i key'", "git submodule foreach 'git status'", "git submodule foreach 'git checkout main'", "git bisect run go test ./...", "git difftool -x 'diff -u' main", "git clone -b main https://h.example/r.git", "git interpret-trailers --trailer 'Reviewed-by: Main <m@x>' msg", "git rebase -x 'sh -c \"go vet ./... && go test ./...\"' main", "git clone -c core.autocrlf=false https://h.example/main x", "git fetch --upload-pack=/usr/bin/git-upload-pack origin main", "GIT_COMMITTER_DATE='2026-01-01 00:00' git commit -m main", "git push -o 'merge_request.title=Say git push to main' origin feat/x",
	})
}

// TestLocalRefs: whatever moves a protected branch of the repository at hand by its
// name, other than by checking it out.
func TestLocalRefs(t *testing.T) {
	judged(t, []string{
		"git worktree add -B main ../wt HEAD", "git worktree add -fBmain ../wt", "git worktree add ../wt -B release/1", "git rebase feat main", "git rebase --onto x feat main", "git rebase --root main", "git rebase --onto x --root main", "git rebase -s ort feat main", "git rebase --exec true feat main", "git rebase --update-refs HEAD~3", "git rebase feat refs/heads/main", "git rebase feat $X",
		"git fetch --refmap=+refs/heads/feat:refs/heads/main . feat", "git fetch --refmap +refs/heads/feat:refs/heads/main . feat", "git fetch --refm=feat:main . feat", "git fetch --refmap='refs/heads/*:refs/heads/*' .", "echo feat:main | git fetch --stdin .", "git fetch --std .", "git pull . feat:main", "git fetch origin tag main",
		"git symbolic-ref refs/heads/main refs/heads/feat", "git symbolic-ref -m x refs/heads/main refs/heads/feat", "git symbolic-ref -d refs/heads/main", "git symbolic-ref --delete refs/heads/main", "git update-ref -d refs/heads/main", "git update-ref -m x refs/heads/main feat", "echo 'update refs/heads/main feat' | git update-ref --stdin", "git update-ref --std", "git update-ref --no-deref refs/heads/main x",
		"git branch -f main feat", "git branch -m feat main", "git branch -M feat main", "git branch -C feat main", "git branch -c feat main", "git branch --force main x", "git checkout -B main", "git checkout -qB main feat", "git checkout feat -B main", "git switch -C main", "git switch --force-c main", "git switch --force-create=main x", "git checkout -B @{-1}", "git checkout -B $X feat",
		"git fast-import < x", "git fast-export feat | sed s/feat/main/ | git fast-import", "git receive-pack .", "git filter-repo --path x", "git filter-branch -- --all", "git filter-branch --msg-filter cat main", "git filter-branch --msg-filter cat feat..main", "git remote add --mirror=fetch x .", "git remote add -f --mirror x .", "git reflog delete --updateref main@{0}", "git reflog expire --updateref --all --expire=all", "git tag -f main x", "git tag -d main", "git subtree split --prefix=x --branch=main", "git subtree split -P x -b main", "git foo --to=main", "git config --rename-section foo alias",
	}, []string{
		"git worktree add ../wt feat", "git worktree add ../wt main", "git worktree add -b feat/y ../wt main", "git worktree add -B feat/y ../wt main", "git worktree list", "git rebase main", "git rebase -i main", "git rebase --onto main feat/x", "git rebase --onto main feat/x feat/y", "git rebase -s ort main", "git rebase --exec true main", "git rebase main feat/x", "git rebase --continue", "git rebase --autosquash -X ours main", "git rebase --root feat/x",
		"git fetch origin main", "git fetch --depth 1 origin main", "git fetch --shallow-since=12:00 origin main", "git fetch --filter=blob:none origin", "git fetch --refmap= origin main", "git fetch $REMOTE main", "git fetch --all --prune", "git fetch origin tag v1", "git pull --rebase origin main",
		"git symbolic-ref HEAD", "git symbolic-ref --short HEAD", "git symbolic-ref refs/remotes/origin/HEAD", "git symbolic-ref --short refs/remotes/origin/HEAD", "git update-ref refs/heads/feat/x main", "git branch -u origin/main feat/x", "git branch --contains main", "git branch -vv", "git checkout -b FIX_B main", "git checkout -B feat/x main", "git switch -C feat/x main", "git switch -c x main", "git switch --force main", "git checkout main -- a.go", "git remote add fork https://h.example/main", "git remote set-url origin https://h.example/main", "git remote -v", "git reflog show main", "git tag -f v1 main", "git tag -a v1 -m main", "git tag -l main", "git tag main", "git notes --ref main add -m x", "git merge-base HEAD main", "git rev-list main", "git replace -l", "git archive main", "git stash branch feat/y", "git show-branch main",
	})
}

// TestLooksAtASetting: only what git takes for a look is one.
func TestLooksAtASetting(t *testing.T) {
	judged(t, []string{
		"git config alias.zz 'push origin feat:main' get && git zz", "git config alias.zz 'push origin main' list", "git config alias.zz push -l", "git config alias.zz 'push' --get", "git config --global alias.zz push --list", "git config -f --get alias.zz push", "git config --file --get alias.zz push", "git config --get --no-get alias.zz push", "git config --type --get alias.zz push", "git config set alias.zz push", "git config --add alias.zz 'push x' get", "git config -- alias.zz push --get",
	}, []string{
		"git config --get remote.origin.url", "git config --get-all remote.origin.fetch", "git config --get-regexp alias. x", "git config get remote.origin.url", "git config list", "git config --global --get alias.zz x", "git config --file .git/config --get remote.origin.url x", "git config -l", "git config --list --show-origin", "git config --global -l", "git config remote.origin.url", "git config user.name get", "git config --get=x remote.origin.url y",
	})
}

// TestHiddenCommandsAreBounded: what nests, grows or repeats costs no more than a few
// readings.
func TestHiddenCommandsAreBounded(t *testing.T) {
	r := protect(t, "main")
	grows := "a=xxxxxxxxxx"
	for range 60 {
		grows += "; a=$a$a"
	}
	fill := func(before, s, after string) string {
		return before + strings.Repeat(s, (ref.MaxText-len(before)-len(after))/len(s)) + after
	}
	for name, line := range map[string]string{
		"variables that grow": grows + "; git $a", "braces": fill("git ", "{a,b}", ""), "choices": fill("git ", "{a,b,c,d} ", ""), "ranges": fill("git ", "{!..~}", ""), "many ranges": fill("git ", "{!..~} ", ""), "empty braces": fill("git ", "{}", ""), "nested bare braces": "git " + strings.Repeat("{", 8000) + strings.Repeat("}", 8000), "ranges in ranges": fill("git ", "{{a..b},", ""), "nested braces": fill("git ", "{a,", ""), "defaults": fill("git ", "${a:-", ""), "substitutions": fill("git ", "$(", ""), "backquotes": fill("git ", "` ", ""),
		"nested texts": fill("git rebase -x 'git log ", `"$a \n^ b" `, "'"), "texts": fill("git rebase ", "'-x git log $x\\n' ", ""), "perhaps git": fill("git; ", "$a $b ", ""), "perhaps git pushes": fill("git; ", "$a push ", ""), "signs": fill("git ", `\a^`, ""), "settings": fill("git ", "-c core.editor='a b $x' ", ""),
		"sets": fill("git $a; ", "a=$a; b=$b$a; ", ""), "lists": fill("sh -c \"", "['git', 'x'],", `"`), "shells": fill("git; ", "sh -c 'a b' ", ""), "escapes": fill("git; ", "printf 'a\\nb c' ", "| sh"), "gits": fill("", "git ", ""), "dashed": fill("", "git-log ", ""), "xargs": fill("git ", "xargs 'a $b' ", ""),
	} {
		if n := testing.AllocsPerRun(1, func() { r.CheckCommand(line, false) }); n > 1_000_000 {
			t.Errorf("%s: %g allocations", name, n)
		}
		if n := testing.AllocsPerRun(1, func() { r.CheckWords(strings.Fields(line), true) }); n > 1_000_000 {
			t.Errorf("%s: %g allocations of words", name, n)
		}
	}
}

// TestBracesAndJoinedLines: ranges in braces, and lines that stand joined to an option
// of the program that runs them.
func TestBracesAndJoinedLines(t *testing.T) {
	judged(t, []string{
		"g{i..i}t push origin main", "{g..g}it push origin main", "git {p..p}ush origin feat:main", "gi{t..t..2} push origin main", "g{j..h} git push origin main", "git push origin feat:ma{i..i}n", "git pus{h..z..30} origin feat:main", "{git,push,origin,{m..m}ain}", "{git,push,origin,main,{10..11}}", "{git,push,origin,main,{x}}", "{git,push,{{x}},main}", "sh -c 'g{i..i}t push origin main'",
		"env -S'git push origin main'", "env -vS'git push origin main'", "env -S 'git push origin main'", "env --split-string='git push origin main'", "env --split-string 'git push origin main'", "env '-Scd x; git push origin main'", `env -S'git\_push\_origin\_main'`, "env -i -S'sh -c \"git push origin main\"'", "/usr/bin/env -S\"git push origin main\"",
		"script -qc'git push origin main' /dev/null", "script -qc'cd x; git push origin main' /dev/null", "script --command='git push origin main' x", "script -q -c 'git push origin main' x", "ssh -oProxyCommand='git push origin main' h", "su -c'git push origin main'", "xargs -I{} sh -c'git push origin main'",
	}, []string{
		"g{a..c}t push origin main", "touch {a..c}.go && git add .", "for i in {1..500}; do git log main; done", "git add {a..z}.go", "git log main -- {x}", "git push origin feat/{a..b}", "echo {main..x}", "git diff main..feat", "'g{i..i}t' push origin main",
		"env -S'git status'", "env -S'git log main'", "script -qc'git push origin feat/x' /dev/null", "env -i PATH=x git push origin feat/x", `printf 'a\_b'`,
	})
}

// TestHonestLines: help, what a subtree reads, aliases that write nothing.
func TestHonestLines(t *testing.T) {
	judged(t, []string{
		"git push --help origin main", "git push origin main --help", "git $X --help", "git push -h origin main", "git -c alias.x=push x --help main",
		"git subtree push --prefix x origin main", "git subtree --prefix x push origin main", "git subtree push -P pull origin main", "git subtree -P pull push origin main", "git subtree split -P x -b main", "git subtree pull --prefix x origin feat:main", "git subtree pull --prefix x -b main origin x", "git subtree add --prefix x --branch=main origin x",
		"git config alias.st push", "git config alias.st '!git push origin main'", "git config alias.st '-c alias.x=push x'", "git config alias.st 'status; git push origin main'", "git config alias.st 'bisect run ./x'", "git config alias.st 'submodule foreach ./x'", "git config alias.st status x", "git config --rename-section alias.st status", "git config rename-section alias status", "git config alias.st status && git st push origin main && git config remote.origin.push x:main", "git config alias.st \"$X\"", "git config alias.st 'log main'", "git config set alias.st 'branch -f'", "git config push.default status",
	}, []string{
		"git push --help", "git -C x push --help", "git subtree --help", "git help push", "git subtree pull --prefix x origin main", "git subtree add --prefix=x https://h.example/y main", "git subtree -P x pull https://h.example/y main --squash", "git subtree pull -m 'from main' -P x origin main",
		"git config alias.st status", "git config --global alias.st status", "git config alias.lg 'log --oneline --graph --format=%h'", "git config set alias.st status", "git config --global alias.ci commit",
	})
}
