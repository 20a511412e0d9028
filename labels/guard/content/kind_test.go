package content

import "testing"

// TestFold: a path that is taken as it is would be made so.
func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"package.json": "package.json", "a/b/package.json": "a/b/package.json", "/srv/a": "srv/a", "./a": "a", "a//b": "a/b", "a/./b": "a/b", "a/../b": "b", "../../b": "b", "A/B": "a/b", "a\\b": "a/b", "a/": "a", "a.": "a", "a. .": "a", "a/b. /c": "a/b/c", " a": "a",
		"%61": "a", "%2561": "a", "%252561": "a", "%25252561": "%61", "file:///a/b": "a/b", "https://x.example/a/b?c=d#e": "x.example/a/b", "a:$DATA": "a:$data", "ab:stream": "ab", "c:/x": "c:/x", "ｐ": "p", "a\u200bb": "ab", "a\x00.md": "a", "..a": "..a", "...": "...", "": "", "/": "", ".": "", "a..b/c": "a..b/c", ".a/b": ".a/b",
	} {
		if got := fold(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if folded(in) && in != want {
			t.Errorf("%q is taken as it is", in)
		}
	}
}

func TestKinds(t *testing.T) {
	for p, want := range map[string]kind{
		"package.json": npmManifest, "a/package.json": npmManifest, "package.json/x": plain, "xpackage.json": plain, "requirements.txt": requirements, "requirements-dev.txt": requirements, "requirements/x.txt": requirements, "a/requirements/x.in": requirements, "dev-requirements.txt": requirements, "requirements.md": plain,
		".gitlab-ci.yml": gitlabCI, "x.gitlab-ci.yaml": gitlabCI, ".gitlab/ci/x.yml": gitlabCI, ".gitlab/issue_templates/x.yml": plain, ".gitlab/x.md": plain, ".github/workflows/x.yml": workflow, "srv/repo/.github/workflows/x.yaml": workflow, ".github/workflows/readme.md": plain, "github/workflows/x.yml": plain, "action.yml": action, ".github/actions/x/action.yaml": action, ".github/dependabot.yml": plain,
		"dockerfile": dockerfile, "dockerfile.dev": dockerfile, "a.dockerfile": dockerfile, "dockerfile-dev": dockerfile, "docker-compose.prod.yml": compose, "compose.yml": compose, "jenkinsfile.release": jenkins, "makefile": makefile, "makefile.common": makefile, "x.mk": makefile, "x.sh": shell,
		".git/config": settings, "a/.git/hooks/x": settings, ".gitignore": plain, ".github/x": plain, ".husky/x": settings, ".vscode/settings.json": settings, ".vscode/extensions.json": plain, ".circleci/config.yml": otherCI, ".env": dotenv, ".env.local": dotenv, "prod.env": dotenv, "environment": plain, "env.go": plain,
		"x.pth": builds, "x.gemspec": gemfile, "a.gradle": gradle, "x.csproj": foreign, "readme.md": plain, "": plain, "claude.md": instructions,
	} {
		if got := kindOf(p); got != want {
			t.Errorf("%s: got %d, want %d", p, got, want)
		}
	}
}
