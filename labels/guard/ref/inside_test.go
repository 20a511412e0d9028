package ref_test

import (
	"testing"

	"github.com/pratique-dev/pratique/labels/guard/ref"
)

// TestCommandsInside: a command that may write in a repository's folder is refused where that is
// closed, and one that reads it, leaves it out or is git is not.
func TestCommandsInside(t *testing.T) {
	t.Parallel()
	open, err := ref.Protect([]string{"main"})
	if err != nil {
		t.Fatal(err)
	}
	closed := open.Closed()
	for _, line := range []string{
		"echo x > .git/refs/heads/main", "echo x >> .git/config", "echo x >|.git/HEAD", "echo x 2>.git/HEAD", "cat a &> .git/HEAD", "echo x | tee .git/config", "tee -a .git/config < x",
		"cp x .git/hooks/pre-push", "cp -t .git/hooks x", "cp --target-directory=.git/hooks x", "mv x .git/HEAD", "mv .git y", "rm -rf .git", "rm .git/refs/heads/main", "sudo rm -rf ./.git", "sudo -u root rm -rf .git",
		"ln -s x .git/hooks/pre-push", "install -m 755 x .git/hooks/pre-push", "dd if=x of=.git/HEAD", "sed -i s/a/b/ .git/config", "sed -ni.bak p .git/config", "truncate -s 0 .git/packed-refs",
		"chmod +x .git/hooks/pre-push", "cat > .git/hooks/pre-push <<EOF\nx\nEOF\n", "sh -c 'echo x > .git/HEAD'", "bash -c \"rm -rf .git\"", "cd /w && rm -rf .git", "cd .git && rm HEAD", "cd .git/hooks; echo x > pre-push",
		"D=.git; echo x > $D/HEAD", "find .git -type f -delete", "find . -name .git -exec rm -rf {} +", "curl -o .git/hooks/pre-push https://a.example/x", "git log --output=.git/HEAD", "git show x > .git/HEAD",
		"git archive -o .git/hooks/x HEAD", "if true; then rm -rf .git; fi", "xargs -n 1 rm .git/HEAD", "echo x > .GIT/HEAD", "echo x > '.git'/HEAD", "echo x > .g?t/HEAD", `del .git\HEAD`, "rm -rf .gi[t]", "echo x > srv/x.git/hooks/update",
		"tar cf .git/HEAD x", "tar xf x.tar -C .git", "rsync -a x/ .git/", "python3 tool.py && touch .git/x", "env A=b tee .git/HEAD", "vim .git/config", "echo $(rm -rf .git)",
	} {
		if why := closed.CheckCommand(line, false); why != ref.WhyInside {
			t.Errorf("%s: %q", line, why)
		}
		if why := open.CheckCommand(line, false); why != "" {
			t.Errorf("open: %s: %q", line, why)
		}
	}
	for _, line := range []string{
		"ls .git", "cat .git/HEAD", "rm -rf node_modules/.cache", "ls -la .git/hooks > out.txt", "cat .git/HEAD | cut -d/ -f3", "test -d .git && echo yes", "[ -d .git ] || git init", "du -sh .git", "head -1 < .git/HEAD",
		"git --git-dir=.git log", "GIT_DIR=.git git status", "git -C x/.git status", "git log > log.txt 2>&1", "export GIT_DIR=.git", "cd .git && ls", "cd .git && cat HEAD", "cd .git && cd .. && make", "cd .git; cd /w; touch x",
		"grep -r x --exclude-dir=.git .", "rsync -a --exclude .git src/ dst/", "rsync -a --exclude='.git/' src/ dst/", "tar --exclude=.git -czf x.tgz .", "find . -path ./.git -prune -o -name '*.go' -exec gofmt -l {} +",
		"find . -not -path './.git/*' -type f -exec wc -l {} +", "find .git -type f", "find . -name .git -type d", "cp .git/config /tmp/x", "cp -r .git ../backup", "tar czf x.tgz .git", "zip -r x.zip . -x '.git/*'",
		"rm -f .git/index.lock", "echo .git >> .dockerignore", "echo '*.log' >> .gitignore", "cp x .github/workflows/ci.yml", "rm .gitlab-ci.yml", "git clone https://a.example/b.git", "curl -O https://a.example/b.git/info",
		"sed -n p .git/config", "awk '{print}' .git/HEAD", "npx eslint --ignore-pattern .git .", "prettier --write . '!.git/**'", "git add .gitignore > /dev/null", "echo x > git", "echo x > sh; git status", "cat x > bash",
	} {
		if why := closed.CheckCommand(line, false); why != "" {
			t.Errorf("%s: %q", line, why)
		}
	}
	if why := closed.CheckWords([]string{"rm", "-rf", ".git"}, false); why != ref.WhyInside {
		t.Error(why)
	}
}
