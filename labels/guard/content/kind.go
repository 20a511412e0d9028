package content

import (
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A kind is what reads a file.
type kind uint8

const (
	plain kind = iota
	npmManifest
	npmLock
	yarnLock
	pnpmLock
	pnpmWorkspace
	requirements
	pyproject
	pipfile
	pipfileLock
	setupCfg
	setupPy
	tomlLock // poetry.lock, uv.lock, pdm.lock, Cargo.lock
	goMod
	goWork
	goSum
	cargoManifest
	gemfile
	gemfileLock
	composerManifest
	composerLock
	pom
	gradle
	wrapper
	foreign
	builds // code that a package manager runs
	dockerfile
	compose
	gitlabCI
	workflow
	action
	otherCI
	jenkins
	makefile
	shell
	npmrc
	yarnrc
	pipConf
	gitmodules
	gitattributes
	settings
	instructions
	dotenv
)

// fold is a path as the least careful of its readers takes it: decoded up to three
// times, compatible forms of letters, no letters that file systems overlook, small
// letters, slashes, no blanks or dots at the end of a name, no stream, no dot segments.
func fold(p string) string {
	if folded(p) {
		return p
	}
	for range 3 {
		d := unpercent(p)
		if d == p {
			break
		}
		p = d
	}
	p = strings.Trim(p, "\"'`")
	p = strings.TrimPrefix(p, "file://")
	if i := strings.Index(p, "://"); i >= 0 {
		if p = p[i+3:]; strings.ContainsAny(p, "?#") {
			p = p[:strings.IndexAny(p, "?#")]
		}
	}
	if !isASCII(p) {
		p = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == 0x034f {
				return -1
			}
			return r
		}, norm.NFKC.String(p))
	}
	p = strings.ReplaceAll(strings.ToLower(p), "\\", "/")
	if i := strings.IndexByte(p, 0); i >= 0 {
		p = p[:i]
	}
	if strings.ContainsAny(p, ": ") || strings.Contains(p, "./") || strings.HasSuffix(p, ".") {
		segs := strings.Split(p, "/")
		for i, s := range segs {
			if j := strings.IndexByte(s, ':'); j > 1 {
				s = s[:j]
			}
			if t := strings.TrimRight(s, ". "); t != "" {
				s = t
			}
			segs[i] = strings.TrimLeft(s, " ")
		}
		p = strings.Join(segs, "/")
	}
	if p == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+p), "/")
}

// folded tells whether a path is as fold would make it: most are.
func folded(p string) bool {
	if p == "" || p[0] == '/' || p[len(p)-1] == '/' || p[len(p)-1] == '.' {
		return false
	}
	for i := range len(p) {
		switch c := p[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
		case c == '.':
			if p[i+1] == '/' || p[i+1] == '.' {
				return false
			}
		case c == '/':
			if p[i+1] == '/' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// unpercent decodes what is percent-encoded and leaves the rest.
func unpercent(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if h, l := hexDigit(s[i+1]), hexDigit(s[i+2]); h >= 0 && l >= 0 {
				b = append(b, byte(h<<4|l))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// kindOf tells what reads a file by its folded path.
func kindOf(p string) kind {
	dir, base := path.Split(p)
	if k, ok := baseKinds[base]; ok {
		return k
	}
	if strings.HasPrefix(dir, ".") || strings.Contains(dir, "/.") || strings.HasPrefix(base, "action.y") {
		if k := folderKind("/"+dir, base); k != plain {
			return k
		}
	}
	ext := path.Ext(base)
	switch {
	case strings.HasPrefix(base, "makefile."):
		return makefile
	case (ext == ".txt" || ext == ".in") && (dir == "requirements/" || strings.HasSuffix(dir, "/requirements/")):
		return requirements
	case strings.HasPrefix(base, "dockerfile.") || strings.HasPrefix(base, "dockerfile-") || strings.HasPrefix(base, "dockerfile_") || strings.HasPrefix(base, "containerfile.") || ext == ".dockerfile":
		return dockerfile
	case strings.HasPrefix(base, ".env.") || ext == ".env":
		return dotenv
	case strings.HasPrefix(base, "requirements") && (ext == ".txt" || ext == ".in"), strings.HasPrefix(base, "constraints") && ext == ".txt",
		strings.HasSuffix(base, "requirements.txt"), strings.HasSuffix(base, "requirements.in"):
		return requirements
	case strings.HasSuffix(base, ".gitlab-ci.yml"), strings.HasSuffix(base, ".gitlab-ci.yaml"):
		return gitlabCI
	case strings.HasPrefix(base, "docker-compose.") && (ext == ".yml" || ext == ".yaml"):
		return compose
	case strings.HasPrefix(base, "jenkinsfile"):
		return jenkins
	case strings.HasPrefix(base, ".pnp.") || strings.HasPrefix(base, ".pnpmfile.") || strings.HasPrefix(base, ".yarnrc."):
		return settings
	}
	if k, ok := extensionKinds[ext]; ok {
		return k
	}
	return plain
}

var baseKinds = map[string]kind{
	"package.json": npmManifest, "package-lock.json": npmLock, "npm-shrinkwrap.json": npmLock, ".package-lock.json": npmLock,
	"yarn.lock": yarnLock, "pnpm-lock.yaml": pnpmLock, "pnpm-workspace.yaml": pnpmWorkspace,
	"pyproject.toml": pyproject, "pipfile": pipfile, "pipfile.lock": pipfileLock, "setup.cfg": setupCfg, "setup.py": setupPy,
	"poetry.lock": tomlLock, "uv.lock": tomlLock, "pdm.lock": tomlLock, "cargo.lock": tomlLock, "pylock.toml": tomlLock,
	"go.mod": goMod, "go.work": goWork, "go.sum": goSum, "go.work.sum": goSum,
	"cargo.toml": cargoManifest, "build.rs": builds, "binding.gyp": builds, "extconf.rb": builds, "hatch_build.py": builds, "sitecustomize.py": builds, "usercustomize.py": builds,
	"gemfile": gemfile, "gems.rb": gemfile, "gemfile.lock": gemfileLock, "gems.locked": gemfileLock,
	"composer.json": composerManifest, "composer.lock": composerLock,
	"pom.xml": pom, "build.gradle": gradle, "build.gradle.kts": gradle, "settings.gradle": gradle, "settings.gradle.kts": gradle, "init.gradle": gradle,
	"gradle-wrapper.properties": wrapper, "maven-wrapper.properties": wrapper,
	"package.json5": foreign, "package.yaml": foreign, "mix.exs": foreign, "mix.lock": foreign, "package.swift": foreign, "package.resolved": foreign, "podfile": foreign, "podfile.lock": foreign, "cartfile": foreign,
	"pubspec.yaml": foreign, "pubspec.lock": foreign, "build.sbt": foreign, "packages.config": foreign, "packages.lock.json": foreign, "paket.dependencies": foreign,
	"conanfile.txt": foreign, "conanfile.py": foreign, "vcpkg.json": foreign, "flake.nix": foreign, "flake.lock": foreign, "environment.yml": foreign, "environment.yaml": foreign,
	"deno.json": foreign, "deno.jsonc": foreign, "deno.lock": foreign, "bun.lock": foreign, "bun.lockb": foreign, "bower.json": foreign, "project.clj": foreign, "deps.edn": foreign,
	"stack.yaml": foreign, "cabal.project": foreign, "rebar.config": foreign, "module.bazel": foreign, "workspace.bazel": foreign, "directory.packages.props": foreign, "gradle.lockfile": foreign, "libs.versions.toml": foreign, "cpanfile": foreign,
	"dockerfile": dockerfile, "containerfile": dockerfile, "compose.yml": compose, "compose.yaml": compose,
	".gitlab-ci.yml": gitlabCI, ".gitlab-ci.yaml": gitlabCI, "jenkinsfile": jenkins,
	"azure-pipelines.yml": otherCI, "azure-pipelines.yaml": otherCI, ".travis.yml": otherCI, "bitbucket-pipelines.yml": otherCI, ".drone.yml": otherCI, ".drone.yaml": otherCI, ".drone.star": otherCI, ".woodpecker.yml": otherCI, ".woodpecker.yaml": otherCI,
	"appveyor.yml": otherCI, ".appveyor.yml": otherCI, "cloudbuild.yaml": otherCI, "cloudbuild.yml": otherCI, "buildspec.yml": otherCI, "buildspec.yaml": otherCI, ".cirrus.yml": otherCI, "semaphore.yml": otherCI, "wercker.yml": otherCI, "codemagic.yaml": otherCI,
	"makefile": makefile, "gnumakefile": makefile, "justfile": makefile, "bsdmakefile": makefile,
	".npmrc": npmrc, ".yarnrc": yarnrc, ".yarnrc.yml": yarnrc, "pip.conf": pipConf, "pip.ini": pipConf, ".pypirc": settings, "uv.toml": settings, "bunfig.toml": settings, "nuget.config": settings,
	".gitmodules": gitmodules, ".gitattributes": gitattributes, ".gitconfig": settings, ".pre-commit-config.yaml": settings, ".pre-commit-hooks.yaml": settings, "lefthook.yml": settings, "lefthook.yaml": settings, ".lefthook.yml": settings, ".huskyrc": settings, ".huskyrc.json": settings, ".envrc": settings, ".mcp.json": settings, "mcp.json": settings,
	".bazelrc": settings, ".devcontainer.json": settings, ".curlrc": settings, ".wgetrc": settings, ".netrc": settings, ".bashrc": settings, ".bash_profile": settings, ".profile": settings, ".zshrc": settings, ".zshenv": settings, ".zprofile": settings, ".bash_aliases": settings, ".gdbinit": settings, ".lldbinit": settings, ".exrc": settings, ".vimrc": settings, ".dir-locals.el": settings, "authorized_keys": settings, "crontab": settings,
	"agents.md": instructions, "claude.md": instructions, "claude.local.md": instructions, "gemini.md": instructions, ".cursorrules": instructions, ".windsurfrules": instructions, ".clinerules": instructions, "copilot-instructions.md": instructions, "skill.md": instructions,
	".env": dotenv,
}

var extensionKinds = map[string]kind{
	".sh": shell, ".bash": shell, ".zsh": shell, ".ksh": shell, ".mk": makefile, ".gemspec": gemfile, ".gradle": gradle, ".pth": builds,
	".csproj": foreign, ".fsproj": foreign, ".vbproj": foreign, ".podspec": foreign, ".cabal": foreign, ".rockspec": foreign, ".nimble": foreign,
	".service": settings, ".timer": settings, ".desktop": settings, ".code-workspace": settings,
}

// folderKinds are folders in which every file is of a kind.
var folderKinds = []struct {
	dir  string
	kind kind
}{
	{"/.git/", settings}, {"/.githooks/", settings}, {"/.husky/", settings}, {"/.devcontainer/", settings}, {"/.lefthook/", settings},
	{"/.yarn/releases/", settings}, {"/.yarn/plugins/", settings}, {"/.mvn/", settings}, {"/.cargo/", settings}, {"/.bundle/", settings}, {"/.cursor/", settings}, {"/.claude/", settings}, {"/.windsurf/", settings}, {"/.clinerules/", settings}, {"/.gemini/", settings}, {"/.codex/", settings}, {"/.roo/", settings}, {"/.ssh/", settings}, {"/cron.d/", settings}, {"/.direnv/", settings},
	{"/.circleci/", otherCI}, {"/.buildkite/", otherCI}, {"/.woodpecker/", otherCI}, {"/.teamcity/", otherCI}, {"/.semaphore/", otherCI}, {"/.forgejo/workflows/", workflow}, {"/.gitea/workflows/", workflow},
}

func folderKind(dir, base string) kind {
	yaml := strings.HasSuffix(base, ".yml") || strings.HasSuffix(base, ".yaml")
	switch {
	case !strings.Contains(dir, "/."):
		if base == "action.yml" || base == "action.yaml" {
			return action
		}
		return plain
	case strings.HasSuffix(dir, "/.github/workflows/") && yaml:
		return workflow
	case base == "action.yml" || base == "action.yaml":
		return action
	case strings.Contains(dir, "/.gitlab/") && yaml && !strings.HasSuffix(dir, "_templates/"):
		return gitlabCI
	case strings.HasSuffix(dir, "/.vscode/") && (base == "tasks.json" || base == "launch.json" || base == "settings.json" || base == "mcp.json"):
		return settings
	case strings.HasSuffix(dir, "/.github/instructions/") || strings.HasSuffix(dir, "/.github/prompts/") || strings.HasSuffix(dir, "/.github/agents/"):
		return instructions
	}
	for _, f := range folderKinds {
		if strings.Contains(dir, f.dir) {
			return f.kind
		}
	}
	return plain
}
