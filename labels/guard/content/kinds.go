package content

import (
	"slices"
	"strings"
)

// baseKinds are files by their names, in small letters.
var baseKinds = byName(map[kind]string{
	npmManifest:   "package.json",
	npmLock:       "package-lock.json npm-shrinkwrap.json .package-lock.json",
	yarnLock:      "yarn.lock",
	pnpmLock:      "pnpm-lock.yaml",
	pnpmWorkspace: "pnpm-workspace.yaml",

	pyproject:   "pyproject.toml",
	pipfile:     "pipfile",
	pipfileLock: "pipfile.lock",
	setupCfg:    "setup.cfg",
	setupPy:     "setup.py",
	tomlLock:    "poetry.lock uv.lock pdm.lock cargo.lock pylock.toml",

	goMod:  "go.mod",
	goWork: "go.work",
	goSum:  "go.sum go.work.sum",

	cargoManifest:    "cargo.toml",
	gemfile:          "gemfile gems.rb",
	gemfileLock:      "gemfile.lock gems.locked",
	composerManifest: "composer.json",
	composerLock:     "composer.lock",
	pom:              "pom.xml",
	gradle:           "build.gradle build.gradle.kts settings.gradle settings.gradle.kts init.gradle",
	wrapper:          "gradle-wrapper.properties maven-wrapper.properties",

	builds: "build.rs binding.gyp extconf.rb hatch_build.py sitecustomize.py usercustomize.py makefile.pl build.pl",

	foreign: foreignNames,
	partly:  "chart.yaml kustomization.yaml kustomization.yml pulumi.yaml global.json foundry.toml",

	dockerfile: "dockerfile containerfile",
	compose:    "compose.yml compose.yaml",

	gitlabCI: ".gitlab-ci.yml .gitlab-ci.yaml",
	jenkins:  "jenkinsfile",
	otherCI:  ciNames,
	makefile: "makefile gnumakefile justfile bsdmakefile",

	npmrc:         ".npmrc",
	yarnrc:        ".yarnrc .yarnrc.yml",
	pipConf:       "pip.conf pip.ini",
	gitmodules:    ".gitmodules",
	gitattributes: ".gitattributes",
	settings:      settingsNames,
	instructions:  instructionNames,
	dotenv:        ".env",
})

func byName(m map[kind]string) map[string]kind {
	t := map[string]kind{}
	for k, names := range m {
		for n := range strings.FieldsSeq(names) {
			t[n] = k
		}
	}
	return t
}

// ciNames are the files of the services that build, test and deploy.
const ciNames = `
	azure-pipelines.yml azure-pipelines.yaml .travis.yml .travis.yaml bitbucket-pipelines.yml bitbucket-pipelines.yaml
	.drone.yml .drone.yaml .drone.star .drone.jsonnet .woodpecker.yml .woodpecker.yaml .vela.yml .vela.yaml .vela.star
	appveyor.yml .appveyor.yml appveyor.yaml .appveyor.yaml cloudbuild.yaml cloudbuild.yml cloudbuild.json clouddeploy.yaml
	buildspec.yml buildspec.yaml appspec.yml appspec.yaml .cirrus.yml .cirrus.yaml .cirrus.star semaphore.yml wercker.yml
	codemagic.yaml bitrise.yml .bitrise.yml bitrise.yaml screwdriver.yaml screwdriver.yml shippable.yml .scrutinizer.yml
	codeship-services.yml codeship-steps.yml .build.yml .build.yaml zuul.yaml .zuul.yaml .space.kts
	.onedev-buildspec.yml .onedev-buildspec.yaml earthfile .earthfile .prow.yaml .taskcluster.yml .evergreen.yml evergreen.yml
	buddy.yml codefresh.yml bors.toml .mergify.yml .kodiak.toml atlantis.yaml digger.yml .terrateam.yml
	.readthedocs.yaml .readthedocs.yml readthedocs.yml readthedocs.yaml
	netlify.toml vercel.json now.json render.yaml fly.toml amplify.yml amplify.yaml railway.json railway.toml nixpacks.toml
	heroku.yml procfile wrangler.toml wrangler.json wrangler.jsonc firebase.json serverless.yml serverless.yaml skaffold.yaml
	tiltfile okteto.yml okteto.yaml garden.yml dagger.json eas.json fastfile appfile werf.yaml captain-definition`

// foreignNames are manifests, lock files and build files of kinds that are not read.
const foreignNames = `
	package.json5 package.yaml bower.json deno.json deno.jsonc deno.lock bun.lock bun.lockb import_map.json importmap.json jsr.json
	jsr.jsonc rush.json typings.json
	tox.ini noxfile.py environment.yml environment.yaml conda.yaml conda.yml conda-lock.yml pixi.toml pixi.lock hatch.toml
	cpanfile dist.ini description.exact renv.lock packrat.lock project.toml manifest.toml juliaproject.toml juliamanifest.toml
	mix.exs mix.lock rebar.config rebar.lock gleam.toml shard.yml shard.lock build.zig.zon build.zig dub.json dub.sdl
	dub.selections.json elm.json spago.yaml spago.dhall packages.dhall cross.toml v.mod lakefile.lean lakefile.toml
	lake-manifest.json move.toml scarb.toml nargo.toml remappings.txt haxelib.json
	package.swift package.resolved podfile podfile.lock cartfile cartfile.resolved mintfile brewfile brewfile.lock.json
	pubspec.yaml pubspec.lock pubspec_overrides.yaml build.sbt ivy.xml ivysettings.xml build.xml build.mill build.sc
	packages.config packages.lock.json paket.dependencies paket.lock directory.packages.props directory.build.props
	directory.build.targets directory.build.rsp
	conanfile.txt conanfile.py vcpkg.json vcpkg-configuration.json xmake.lua flake.nix flake.lock default.nix shell.nix devenv.yaml
	project.clj deps.edn shadow-cljs.edn bb.edn stack.yaml stack.yaml.lock cabal.project cabal.project.freeze
	module.bazel module.bazel.lock workspace.exact workspace.bazel workspace.bzlmod buck.exact
	gradle.lockfile libs.versions.toml gopkg.toml gopkg.lock glide.yaml glide.lock godeps.json
	chart.lock helmfile.yaml helmfile.lock galaxy.yml requirements.yml requirements.yaml .terraform.lock.hcl jsonnetfile.json jsonnetfile.lock.json pkgbuild apkbuild`

// settingsNames are files that make editors, shells, agents and other programs run or
// fetch something.
const settingsNames = `
	.pypirc uv.toml poetry.toml bunfig.toml nuget.config yarn.config.cjs pnpmfile.js rust-toolchain rust-toolchain.toml trunk.toml .condarc
	.gitconfig .hgrc .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml lefthook.yml lefthook.yaml lefthook.toml
	lefthook.json .lefthook.yml .lefthook.yaml lefthook-local.yml .huskyrc .huskyrc.json .huskyrc.js .overcommit.yml captainhook.json
	grumphp.yml grumphp.yaml .simple-git-hooks.json .simple-git-hooks.js simple-git-hooks.json lint-staged.config.js lint-staged.config.mjs
	.envrc mise.toml .mise.toml mise.local.toml .mise.local.toml .rtx.toml devbox.json devenv.nix
	.mcp.json mcp.json mcp.yaml mcp_config.json mcp_settings.json cline_mcp_settings.json claude_desktop_config.json
	opencode.json opencode.jsonc crush.json .crush.json .roomodes .kilocodemodes .aider.conf.yml .aider.conf.yaml .coderabbit.yaml
	.coderabbit.yml .sweep.yaml sweep.yaml .replit replit.nix .gooseignore
	dependabot.yml dependabot.yaml renovate.json renovate.json5 .snyk
	.bazelrc .bazeliskrc .buckconfig .devcontainer.json .gitpod.yml .gitpod.yaml .gitpod.dockerfile devfile.yaml .devfile.yaml vagrantfile
	.curlrc .wgetrc .netrc _netrc .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin
	.kshrc .cshrc .tcshrc .login config.fish profile.ps1 microsoft.powershell_profile.ps1 .inputrc .tmux.conf .screenrc .xinitrc .xprofile
	.gdbinit .lldbinit .exrc .vimrc .gvimrc .nvimrc .nvim.lua .lvimrc .vimrc.local .emacs .spacemacs .dir-locals.el
	.irbrc .pryrc .pdbrc .pdbrc.py .pythonrc .pythonrc.py .pythonstartup .perldb .rprofile .renviron .octaverc .sbclrc .ghci .rdebugrc
	.byebugrc .psqlrc .sqliterc .mailrc .perltidyrc .bpython
	authorized_keys crontab sudoers`

// instructionNames are files that agents take for instructions.
const instructionNames = `
	agents.md agents.override.md agent.md claude.md claude.local.md gemini.md qwen.md warp.md crush.md codex.md replit.md airules.md
	skill.md copilot-instructions.md
	.cursorrules .windsurfrules .clinerules .roorules .kilocoderules .goosehints .rules .airules .augment-guidelines .aiprompt`

// exactNames are files that count only in capitals: other things have such names too. fold
// marks them.
var exactNames = map[string]string{"WORKSPACE": "workspace" + exact, "DESCRIPTION": "description" + exact, "BUCK": "buck" + exact}

const exact = ".exact"

// extensionKinds are files by the end of their names.
var extensionKinds = byName(map[kind]string{
	shell:    ".sh .bash .zsh .ksh",
	makefile: ".mk",
	gemfile:  ".gemspec",
	gradle:   ".gradle",
	builds:   ".pth",
	foreign: `.csproj .fsproj .vbproj .vcxproj .esproj .props .targets .nuspec .podspec .cabal .rockspec .nimble .opam .sbt .nix .bzl .wrap
		.ebuild`,
	partly:       ".tf .tofu",
	settings:     ".service .timer .socket .desktop .code-workspace .sublime-project",
	instructions: ".mdc",
})

// partWords make manifests of files that are none without them; they are looked for
// without blanks.
var partWords = []string{`source=`, `"source":`, `provisioner"`, "local-exec", "required_providers", `data"external"`, "dependencies:", "repository:", "://", "github.com", "helmcharts:", "plugins:", "msbuild-sdks", "remappings=", "ffi=true"}

// partManifest tells whether a file of kind partly is a manifest.
func partManifest(text string) bool {
	text = strings.NewReplacer(" ", "", "\t", "").Replace(strings.ToLower(text))
	return slices.ContainsFunc(partWords, func(w string) bool { return strings.Contains(text, w) })
}

// folderKinds are folders in which every file is of a kind, by one or two names.
var folderKinds = byName(map[kind]string{
	workflow:     ".forgejo/workflows .gitea/workflows",
	instructions: `.github/instructions .github/prompts .github/agents .github/chatmodes .github/skills .clinerules .junie .agents .agent`,
	settings: `.git .githooks .husky .lefthook .devcontainer .yarn/releases .yarn/plugins .mvn .cargo .bundle .direnv .ssh .hg .jj
		.cursor .claude .windsurf .gemini .codex .roo .kiro .amazonq .trae .augment .continue .opencode .crush .qwen .goose .factory
		.kilocode .openhands .copilot .aider .idx .zed .idea .run .fleet .nova .vs .jupyter .ipython .mise .devbox
		.config/mise .config/git .config/fish .config/nvim .config/systemd .config/autostart`,
	otherCI: `.circleci .buildkite .woodpecker .teamcity .semaphore .tekton .builds .azure-pipelines .azuredevops .pipelines .harness
		.zuul.d .codefresh .buddy .gitness .agola .spacelift .terrateam .cloudbuild .prow .concourse`,
})

// lastFolders are folders without a dot whose own files are of a kind.
var lastFolders = map[string]kind{"cron.d": settings, "zuul.d": otherCI, "bamboo-specs": otherCI}
