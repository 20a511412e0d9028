package ref_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/ref"
)

func TestCommands(t *testing.T) {
	r := protect(t, "main", "release/*")
	refused := []string{
		"git push origin main", "git push -u origin HEAD:main", "git push origin +x:main", "git push origin :main", "git push --delete origin main", "git push -d origin main", "git push origin --delete main",
		"git push", "git push origin", "git push -f", "git push --force origin", "git push origin HEAD", "git push origin @", "git push origin :",
		"git push --mirror origin x", "git push --mirr origin x", "git push --all origin", "git push --al origin", "git push --branches origin", "git push --prune origin x", "git push --tags", "git push --follow-tags origin x", "git push --nonsense origin x",
		"git push origin x main", "git push origin x y z:main", "git push -o ci.skip origin main", "git push -ofoo origin main", "git push -fo x origin main", "git push --push-option x origin main", "git push --repo=o origin main", "git push --repo origin x",
		"git push -- origin main", "git push origin tag main", "git push origin 'refs/heads/*:refs/heads/*'", "git push https://h.example/r.git x:main",
		"git -C repo push origin main", "git -C $(pwd) push origin main", "git -c a.b=c push origin main", "git --git-dir=x push origin main", "git --git-dir x push origin main", "git --no-pager push origin main",
		"git -c alias.p=push p origin x", "git -c remote.origin.push=x push origin x", "git -c push.default=matching push origin x", "git config alias.p 'push origin main'", "git config --add remote.origin.push x", "git config --global push.default matching",
		"cd repo && git push origin main", "git add . ; git push origin main", "git add .\ngit push origin main", "true||git push origin main", "(git push origin main)", "{ git push origin main; }", "if true; then git push origin main; fi",
		"sudo git push origin main", "env A=b git push origin main", "A=b git push origin main", "/usr/bin/git push origin main", `C:\git\git.exe push origin main`, "GIT push origin main", "echo main | xargs git push origin",
		"sh -c 'git push origin main'", `bash -lc "cd r && git push origin \"main\""`, "eval git push origin main", `eval "git push origin main"`, "echo $(git push origin main)", "echo `git push origin main`", `echo "$(git push origin main)"`,
		"g'i't push origin main", `g\it push origin main`, `git pu"s"h origin ma"i"n`, "git push origin ma\\in", "git push origin ma\\\nin", "git push origin $BRANCH", "git push origin ${B}", "git push origin x:$B", "git push origin $B:x", `git push origin "$B"`, "git push $ARGS", "git $CMD origin main", "git `echo push` x",
		"git push origin {main,x}", "git push origin x:{main,y}", "git push origin ma*", "git push origin $'\\x6dain'", "git push origin >log", "git push origin > feat/x", "git push origin 2>&1", "git push origin >log main", "git push origin main # comment", "$GIT push origin main",
		"git-push origin main", "git send-pack h:r main", "git subtree push --prefix x origin main", "git update-ref refs/heads/main x", "git branch -f main x", "git branch -D main", "git branch -m x main", "git branch --delete main", "git checkout -B main x", "git checkout -Bmain", "git switch -C main", "git switch --force-create main",
		"git fetch origin x:main", "git pull origin +x:refs/heads/main", "git fetch . x:main", "git p origin main", "git push origin m\u0430in",
		"git push --recurse-submodules check origin main", "git push --recurse-submodules=check origin main", "git push --exec x origin main", "bash -c \"bash -c 'git push origin main'\"",
		strings.Repeat("$(", 12) + "git push origin x",
	}
	for _, line := range refused {
		if why := r.CheckCommand(line, false); why == "" {
			t.Errorf("%q passes", line)
		}
	}
	for _, line := range []string{
		"git push origin feat/x", "git push -u origin feat/x", "git push origin HEAD:feat/x", "git push --force-with-lease=main origin feat/x", "git push origin main:feat/x", "git push -o ci.skip origin feat/x", "git push --no-verify origin feat/x", "git push origin :feat/x", "git push origin tag v1.2",
		"git push --repo=main origin feat/x", "git push -o main origin feat/x", "git push origin feat/x >main", "git push origin feat/x 2>&1 | tee main", "git push origin feat/x # main",
		"git status", "git log main", "git diff main...feat/x", "git checkout main", "git checkout -b feat/x main", "git switch main", "git merge main", "git rebase main", "git fetch origin main", "git pull origin main", "git fetch origin +refs/heads/*:refs/remotes/origin/*", "git branch feat/x main", "git branch -D feat/x", "git branch --list main", "git show HEAD", "git fetch https://h.example/r.git main", "git fetch git@h.example:o/main",
		"git commit -m 'Push to main with git push origin main'", "git commit -m \"main\"", "git config --get remote.origin.url", "git config user.name main", "git clone https://h.example/main", "git tag -l 'release/*'",
		"echo main", "npm run main", "digit push origin main", "docker push main", "ls main # git", "cd main && git push origin feat/x", "", "   ", "git", "git --version", "make push && git status",
	} {
		if why := r.CheckCommand(line, false); why != "" {
			t.Errorf("%q: %s", line, why)
		}
	}
}

func TestCommandOfATool(t *testing.T) {
	r := protect(t, "main")
	for _, words := range [][]string{
		{"push", "-u", "origin", "HEAD:main"}, {"-C", "x", "push", "origin", "main"}, {"push"}, {"push", "origin"}, {"git", "push", "origin", "main"}, {"bash", "-c", "git push origin main"}, {"git push origin main"}, {"git add .", "git push origin main"}, {"push", "--mirror", "origin"}, {"push", "origin", "--", "main"},
		{"push", "origin", "x", "main"},
	} {
		if why := r.CheckWords(words, true); why == "" {
			t.Errorf("%q passes", words)
		}
	}
	if r.CheckCommand("push origin main", true) == "" {
		t.Error("a line without git's own name passes")
	}
	for _, words := range [][]string{{"push", "origin", "feat/x"}, {"status"}, {"commit", "-m", "for main"}, {}, {"push", "origin", "main:$x"}} {
		if why := r.CheckWords(words, true); why != "" && words[len(words)-1] != "main:$x" {
			t.Errorf("%q: %s", words, why)
		}
	}
	if why := r.CheckWords([]string{"image", "push", "main"}, false); why != "" {
		t.Errorf("no git, but %s", why)
	}
}

func TestOptionsOfAPush(t *testing.T) {
	r := protect(t, "main")
	for _, w := range []string{"--mirror", "--all", "--prune", "--tags", "--nonsense"} {
		if r.CheckOptions([]string{"-u", w}) == "" {
			t.Errorf("%s passes", w)
		}
	}
	if why := r.CheckOptions([]string{"-u", "--force", "--no-verify", "-o", "ci.skip"}); why != "" {
		t.Error(why)
	}
	var none *ref.Rule
	if none.CheckOptions(nil) != ref.WhyNoRule {
		t.Error("a rule that nobody made passes")
	}
}

func TestCommandBounds(t *testing.T) {
	r := protect(t, "main")
	if r.CheckWords(make([]string, 5000), true) != ref.WhyLong || r.CheckCommand("git "+strings.Repeat("x", ref.MaxText), false) != ref.WhyLong {
		t.Error("no bound")
	}
	var none *ref.Rule
	if none.CheckWords(nil, true) != ref.WhyNoRule || none.CheckCommand("", true) != ref.WhyNoRule {
		t.Error("a rule that nobody made passes")
	}
	tags := protect(t, "refs/tags/v*")
	if tags.CheckCommand("git push", false) != "" || tags.CheckCommand("git push --tags", false) == "" || protect(t, "refs/heads/main").CheckCommand("git push --tags", false) != "" {
		t.Error("tags and branches are mixed up")
	}
	only, _ := ref.Only([]string{"feat/*"})
	if only.CheckCommand("git push origin feat/x", false) != "" || only.CheckCommand("git push origin x", false) == "" || only.CheckCommand("git push", false) == "" {
		t.Error("only feat/*")
	}
}

func FuzzCommand(f *testing.F) {
	f.Add("git push origin $(git push x) 'a b' \"$X\" `y` 2>&1 | sh -c 'git push'")
	r := protect(f, "main")
	f.Fuzz(func(t *testing.T, line string) {
		why := r.CheckCommand(line, false)
		if why == "" && strings.HasPrefix(line, "git push origin main ") {
			t.Errorf("%q passes", line)
		}
		// What is refused stays refused behind another command.
		if why != "" && why != ref.WhyLong && len(line) < 1000 && r.CheckCommand("true\n"+line, false) == "" {
			t.Errorf("%q passes behind another", line)
		}
	})
}

// TestCommandsAreBounded: a command that names git again and again is refused, and is
// not read anew for each.
func TestCommandsAreBounded(t *testing.T) {
	r, err := ref.Protect([]string{"main"})
	if err != nil {
		t.Fatal(err)
	}
	gits := strings.Repeat("git ", ref.MaxText/4-1)
	if why := r.CheckCommand(gits, false); why != ref.WhyLong {
		t.Errorf("many gits: %q", why)
	}
	words := slices.Repeat([]string{"xargs"}, 4000)
	if n := testing.AllocsPerRun(1, func() { r.CheckWords(words, true) }); n > 20_000 {
		t.Errorf("%g allocations for 4,000 words", n)
	}
	if why := r.CheckWords([]string{"git", "status", ";", "git", "log"}, false); why != "" {
		t.Errorf("two gits: %q", why)
	}
}
