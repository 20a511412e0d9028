package content

import (
	"strings"
	"testing"
)

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
		".gitlab-ci.yml": gitlabCI, "x.gitlab-ci.yaml": gitlabCI, ".gitlab/ci/x.yml": gitlabCI, ".gitlab/issue_templates/x.yml": plain, ".gitlab/x.md": plain, ".github/workflows/x.yml": workflow, "srv/repo/.github/workflows/x.yaml": workflow, ".github/workflows/readme.md": plain, "github/workflows/x.yml": plain, "action.yml": action, ".github/actions/x/action.yaml": action, ".github/dependabot.yml": settings,
		"dockerfile": dockerfile, "dockerfile.dev": dockerfile, "a.dockerfile": dockerfile, "dockerfile-dev": dockerfile, "docker-compose.prod.yml": compose, "compose.yml": compose, "jenkinsfile.release": jenkins, "makefile": makefile, "makefile.common": makefile, "x.mk": makefile, "x.sh": shell,
		".git/config": settings, "a/.git/hooks/x": settings, ".gitignore": plain, ".github/x": plain, ".husky/x": settings, ".vscode/settings.json": settings, ".vscode/extensions.json": plain, ".circleci/config.yml": otherCI, ".env": dotenv, ".env.local": dotenv, "prod.env": dotenv, "environment": plain, "env.go": plain,
		"x.pth": builds, "x.gemspec": gemfile, "a.gradle": gradle, "x.csproj": foreign, "readme.md": plain, "": plain, "claude.md": instructions,
	} {
		if got := kindOf(p); got != want {
			t.Errorf("%s: got %d, want %d", p, got, want)
		}
	}
}

// TestMoreKinds: the files of the services, package managers, editors and agents that
// people use are known, at the top and below a folder.
func TestMoreKinds(t *testing.T) {
	classes := map[string]string{
		CI: `.tekton/pull.yaml .builds/a.yml .build.yml .drone.jsonnet .cirrus.star bitrise.yml .azure-pipelines/x.yml azure-pipelines-release.yml netlify.toml vercel.json render.yaml amplify.yml screwdriver.yaml .zuul.yaml zuul.d/jobs.yaml .vela.yml .space.kts
			.onedev-buildspec.yml .harness/pipeline.yaml Earthfile .readthedocs.yaml bamboo-specs/bamboo.yml cloudbuild-prod.yaml .taskcluster.yml .mergify.yml appspec.yml fastlane/Fastfile .buddy/x.yml x.gocd.yaml .pipelines/a.yml serverless.yml Procfile`,
		Unread: `WORKSPACE WORKSPACE.bzlmod BUCK Brewfile shell.nix nix/x.nix conda.yaml tox.ini noxfile.py requirements.yml shard.yml build.zig.zon import_map.json jsr.json dub.json elm.json Project.toml DESCRIPTION renv.lock project/plugins.sbt pixi.toml subprojects/x.wrap
			Directory.Build.props Directory.Build.targets x.vcxproj gleam.toml .terraform.lock.hcl galaxy.yml rebar.lock spago.yaml lakefile.lean`,
		Settings: `.goosehints QWEN.md WARP.md .rules .roomodes .junie/guidelines.md .kiro/steering/a.md .kiro/hooks/x.json .amazonq/rules/x.md .trae/rules/x.md .idea/workspace.xml .zed/tasks.json mise.toml .mise.toml .config/mise/config.toml devbox.json .irbrc .pryrc
			.jupyter/jupyter_server_config.py opencode.json .github/dependabot.yml renovate.json .renovaterc.json x.mdc .github/chatmodes/x.chatmode.md docs/x.instructions.md AGENT.md .continue/config.yaml .aider.conf.yml .overcommit.yml .gitpod.yml .lintstagedrc.json
			.Rprofile Vagrantfile poetry.toml rust-toolchain.toml .run/x.run.xml .augment/rules/x.md .opencode/agent/x.md .agents/x.md etc/cron.d/x .inputrc`,
	}
	j := judge(t, &Config{})
	for class, names := range classes {
		for p := range strings.FieldsSeq(names) {
			for _, p := range []string{p, "a/" + p, strings.ReplaceAll(p, "/", `\`), p + "."} {
				if got := said(j.Check(Write{Path: p, Content: "a: b\n"})); got != strings.ToLower(class) {
					t.Errorf("%s: %q, want %s", p, got, class)
				}
			}
		}
	}
	for p := range strings.FieldsSeq(`src/build.ts docs/render.md vercel.md netlify/functions/a.ts workspace description /description buck docs/goose.md rules.md idea/x.md src/junie/a.ts dependabot.md .github/CODEOWNERS .github/x.md .gitignore .dockerignore .prettierrc .eslintrc.json
		.nvmrc .editorconfig main.rs zuul/jobs.yaml cron/d project.json .tool-versions tekton/x.yaml chart/values.yaml main.tfvars docs/agents/x.md workspaces requirements.md .browserslistrc prompt.md agents/claude.ts src/mise.ts`) {
		if got := said(j.Check(Write{Path: p, Content: "a: b\n"})); got != "" {
			t.Errorf("%s: %q", p, got)
		}
	}
	check1(t, &Config{}, []one{
		{"module", "main.tf", "module \"a\" {\n  source  = \"evil/a/aws\"\n}\n", "unread"},
		{"providers", "main.tf", "terraform {\n  required_providers {}\n}\n", "unread"},
		{"program", "x/main.tf", "resource \"null_resource\" \"a\" {\n  provisioner \"local-exec\" {}\n}\n", "unread"},
		{"module in JSON", "main.tf.json", `{"module":{"a":{"source": "b"}}}`, "unread"},
		{"resource", "main.tf", "resource \"aws_instance\" \"a\" {\n  ami = \"x\"\n}\n", ""},
		{"chart", "Chart.yaml", "name: a\nversion: 1.2.3\n", ""},
		{"chart with parts", "Chart.yaml", "name: a\ndependencies:\n- name: b\n", "unread"},
		{"kustomization", "k/kustomization.yaml", "resources:\n- a.yaml\nimages:\n- name: a\n  newTag: 1.2.4\n", ""},
		{"kustomization from elsewhere", "k/kustomization.yaml", "resources:\n- https://evil.example/a.yaml\n", "unread"},
	})
	check1(t, &Config{CI: "judged", Dependencies: lists}, []one{
		{"tekton", ".tekton/a.yaml", "spec:\n  steps:\n  - script: make\n", ""},
		{"tekton prints", ".tekton/a.yaml", "spec:\n  steps:\n  - script: env\n", "ci 3"},
		{"no YAML", "netlify.toml", "[build]\ncommand = \"env\"\n", "unread"},
		{"script beside", ".buildkite/hooks/pre-command", "#!/bin/sh\nmake\n", ""},
		{"script beside prints", ".buildkite/x.sh", "make\nenv\n", "ci 2"},
	})
}

// TestWeakNames: words that are names of files in capitals are none elsewhere.
func TestWeakNames(t *testing.T) {
	j := judge(t, &Config{})
	for arguments, want := range map[string]string{
		`{"path":"/workspace","text":"a: b\nc: d"}`:                       "",
		`{"op":"replace","path":"/description","value":"A: b\nc"}`:        "",
		`{"kind":"WORKSPACE","text":"a: b\nc: d"}`:                        "",
		`{"path":"WORKSPACE","content":"http_archive()\n"}`:               "unread /content",
		`{"path":"pkg/DESCRIPTION","content":"Imports: evil\n"}`:          "unread /content",
		`{"directory":"pkg","filename":"DESCRIPTION","content":"I: e\n"}`: "unread /content",
	} {
		if got := found(t, j, arguments); got != want {
			t.Errorf("%s: got %q, want %q", arguments, got, want)
		}
	}
}
