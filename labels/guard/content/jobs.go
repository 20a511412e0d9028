package content

import (
	"strings"
)

// scriptKeys are the names of members whose values are commands.
var scriptKeys = map[string]bool{
	"script": true, "before_script": true, "after_script": true, "run": true, "command": true, "commands": true, "cmd": true, "cmds": true, "entrypoint": true, "args": true, "sh": true, "bash": true, "pwsh": true, "powershell": true,
	"inlineScript": true, "install": true, "before_install": true, "after_success": true, "after_failure": true, "before_deploy": true, "test_script": true, "build_script": true, "pre_get_sources_script": true, "after-script": true, "exec": true, "healthcheck": true, "test": true, "shell": true,
}

// gitlabLists are lists in a configuration of GitLab that are no commands. Any other may
// be referred to as one.
var gitlabLists = map[string]bool{
	"stages": true, "needs": true, "dependencies": true, "only": true, "except": true, "refs": true, "tags": true, "services": true, "paths": true, "changes": true, "exists": true, "exclude": true, "include": true, "files": true, "extends": true, "artifacts": true, "cache": true, "rules": true, "when": true, "exit_codes": true, "options": true, "junit": true, "reports": true, "dotenv": true, "alias": true, "pull_policy": true, "projects": true, "environments": true, "sast": true, "codequality": true, "coverage_report": true, "kubernetes": true, "matrix": true,
}

// scalars judges the values of a configuration.
func (c *check) scalars(list []scalar) {
	uses := map[string]string{} // by step
	outside := false            // jobs with secrets are started from outside
	var checkout *scalar
	for i := range list {
		s := &list[i]
		switch key := s.key(); {
		case key == "uses":
			uses[strings.Join(s.path[:len(s.path)-1], "/")] = s.value
		case s.path != nil && (s.path[0] == "on" || s.path[0] == "true"):
			for _, p := range append(s.path[1:len(s.path):len(s.path)], s.value) {
				outside = outside || p == "pull_request_target" || p == "workflow_run" || p == "issue_comment"
			}
		}
		if c.kind == workflow && foreignCode(s) && checkout == nil {
			checkout = s
		}
	}
	if outside && checkout != nil {
		c.add(CI, checkout.from, checkout.to, whyForeignCode)
	}
	for i := range list {
		c.variable(&list[i])
	}
	for i := range list {
		c.scalar(&list[i])
		if c.full() {
			return
		}
	}
	for i := range list {
		c.artifact(&list[i], uses)
	}
}

// foreignCode tells whether a step takes the code of a request.
func foreignCode(s *scalar) bool {
	v := strings.ToLower(strings.ReplaceAll(s.value, " ", ""))
	for _, p := range []string{"github.event.pull_request.head", "github.head_ref", "refs/pull/", "github.event.workflow_run.head", "ghprcheckout", "github.event.issue.number}}/head", "pull_request.merge_commit_sha"} {
		if strings.Contains(v, p) && (s.key() == "ref" || s.key() == "repository" || s.key() == "run" && (strings.Contains(v, "checkout") || strings.Contains(v, "fetch") || strings.Contains(v, "clone") || strings.Contains(v, "pull"))) {
			return true
		}
	}
	return false
}

// scalar judges one value.
func (c *check) scalar(s *scalar) {
	if wholeContext("{" + strings.TrimSpace(between(s.value, "${{", "}}"))) {
		c.add(CI, s.from, s.to, whyPrints)
	}
	key := s.key()
	if c.commandsIn(s, key) {
		c.block(s)
	}
	switch c.kind {
	case gitlabCI:
		c.gitlab(s, key)
	case workflow, action:
		c.workflow(s, key)
	case compose:
		if key == "image" {
			c.image(s.value, s.from, s.to)
		}
	case pnpmWorkspace:
		c.workspace(s)
	case otherCI:
		if key == "image" && !strings.Contains(s.value, " ") {
			c.image(s.value, s.from, s.to)
		}
	}
}

// commandsIn tells whether a value is commands.
func (c *check) commandsIn(s *scalar, key string) bool {
	return scriptKeys[key] || c.kind == gitlabCI && len(s.path) > 1 && key != s.path[len(s.path)-1] && !gitlabLists[key]
}

// variable judges a value that a variable is set to. All are before any command is:
// they may stand behind it.
func (c *check) variable(s *scalar) {
	key := s.key()
	if n := len(s.path); n > 2 && key == "value" && s.path[n-3] == "variables" {
		s = &scalar{s.path[:n-1], s.value, s.from, s.to}
		key = s.path[n-2]
	}
	switch {
	case c.commandsIn(s, key):
	case len(s.path) > 1 && (s.path[len(s.path)-2] == "variables" || s.path[len(s.path)-2] == "env" || s.path[len(s.path)-2] == "environment"), c.w.Part:
		c.command(":", s.from, s.to)
		if c.sh != nil {
			if strings.Contains(s.value, "$") {
				for _, cmd := range lex(s.value) {
					for _, w := range append(cmd.words, cmd.assigned...) {
						if c.secretIn(w) {
							c.sh.tainted[key] = true
						}
					}
				}
			}
			c.setVariable(key, s.value, s.from, s.to)
		}
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// block judges a value of commands; one of several lines says on which of them.
func (c *check) block(s *scalar) {
	first := s.from
	if n := lineLength(c.text[first:]); strings.Contains(s.value, "\n") {
		first = min(first+n+1, len(c.text))
	}
	text := c.text[first:max(first, min(s.to, len(c.text)))]
	starts := lineStarts(text)
	c.commands(s.value, func(cmd command) (int, int) {
		n := strings.Count(s.value[:min(cmd.from, len(s.value))], "\n")
		if n == 0 && first == s.from || n >= len(starts) {
			return s.from, s.to
		}
		last := min(n+strings.Count(s.value[min(cmd.from, len(s.value)):min(cmd.to, len(s.value))], "\n"), len(starts)-1)
		end := len(text)
		if last+1 < len(starts) {
			end = starts[last+1] - 1
		}
		return first + starts[n], first + end
	}, 0)
}

// gitlab judges what a job of GitLab is made of.
func (c *check) gitlab(s *scalar, key string) {
	p := s.plain()
	switch {
	case key == "image", strings.HasSuffix(p, "/image/name"), key == "services", strings.HasSuffix(p, "/services/name"):
		c.image(s.value, s.from, s.to)
	case strings.Contains(p, "/release/"), strings.Contains(p, "/environment/"), strings.HasSuffix(p, "/artifacts/name"):
		for _, cmd := range lex("x " + s.value) {
			if c.sh != nil && c.anySecret(cmd.words) {
				c.add(CI, s.from, s.to, whyPrints)
			}
		}
	case strings.HasPrefix(p, "/include") || strings.Contains(p, "/trigger") || c.w.Part && (key == "remote" || key == "project" || key == "component"):
		c.include(s, key)
	}
}

func (c *check) include(s *scalar, key string) {
	v := s.value
	switch key {
	case "remote", "include":
		switch {
		case isURL(v) || key == "remote":
			c.includeURL(s)
		case c.j.kindOf(fold(v)) != gitlabCI:
			c.add(CI, s.from, s.to, whyUnjudged)
		}
	case "project", "trigger":
		c.included(v, s)
	case "local":
		if !strings.ContainsAny(v, "*$") && c.j.kindOf(fold(v)) != gitlabCI {
			c.add(CI, s.from, s.to, whyUnjudged)
		} else if strings.ContainsAny(v, "*$") && c.j.kindOf(strings.NewReplacer("*", "x", "$", "x").Replace(fold(v))) != gitlabCI {
			c.add(CI, s.from, s.to, whyUnjudged)
		}
	case "component":
		_, name, ok := strings.Cut(v, "/")
		name, _ = cutVersion(name)
		if !ok || strings.Contains(name, "$") {
			name = ""
		}
		c.included(name, s)
	}
}

func (c *check) includeURL(s *scalar) {
	if !c.j.lists["include"].allowsURL(s.value) {
		c.add(CI, s.from, s.to, whyInclude)
	}
}

func (c *check) included(name string, s *scalar) {
	if !c.j.lists["include"].allowsAny(name) {
		c.add(CI, s.from, s.to, whyInclude)
	}
}

// workflow judges what a job of GitHub is made of.
func (c *check) workflow(s *scalar, key string) {
	p := s.plain()
	switch {
	case key == "uses":
		c.uses(s)
	case key == "container", strings.HasSuffix(p, "/container/image"), strings.HasSuffix(p, "/image") && strings.Contains(p, "/services/"), key == "image" && c.kind == action:
		if s.value != "Dockerfile" {
			c.image(strings.TrimPrefix(s.value, "docker://"), s.from, s.to)
		}
	}
}

// uses judges an action, a reusable workflow or an image.
func (c *check) uses(s *scalar) {
	if image, ok := strings.CutPrefix(s.value, "docker://"); ok {
		c.image(image, s.from, s.to)
		return
	}
	if strings.HasPrefix(s.value, "./") || s.value == "" {
		return
	}
	name, version := cutVersion(s.value)
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 2 {
		c.add(CI, s.from, s.to, whyInclude)
		return
	}
	l := c.j.lists["action"]
	if name = parts[0] + "/" + parts[1]; !l.allows(name, version) {
		why := whyInclude
		if l.allowsAny(name) {
			why = whyVersion
		}
		c.add(CI, s.from, s.to, why)
	}
}

// artifact judges which files a job gives away.
func (c *check) artifact(s *scalar, uses map[string]string) {
	p := s.plain()
	switch {
	case strings.HasSuffix(p, "/artifacts/paths") || strings.HasSuffix(p, "/artifacts/untracked") && s.value == "true" || strings.HasSuffix(p, "/store_artifacts/path") || strings.HasSuffix(p, "/cache/paths"):
		c.published(s.value, s.from, s.to)
	case strings.HasSuffix(p, "/with/path") && len(s.path) > 2:
		step := uses[strings.Join(s.path[:len(s.path)-2], "/")]
		for f := range strings.Lines(s.value) {
			f = strings.TrimSpace(f)
			c.published(f, s.from, s.to)
			if strings.HasPrefix(step, "actions/upload-artifact@") && (f == "." || f == "./" || f == "**" || f == "/" || f == "~" || f == "${{ github.workspace }}") {
				c.add(CI, s.from, s.to, whyPublishes)
			}
		}
	}
}

// workspace judges a pnpm-workspace.yaml.
func (c *check) workspace(s *scalar) {
	if len(s.path) == 0 {
		return
	}
	switch s.path[0] {
	case "catalog", "overrides":
		c.npmDependency(s.from, s.to, lastName(s.path[len(s.path)-1]), s.value)
	case "catalogs":
		c.npmDependency(s.from, s.to, s.path[len(s.path)-1], s.value)
	case "onlyBuiltDependencies", "dangerouslyAllowAllBuilds", "allowBuilds", "configDependencies":
		if s.value != "false" {
			c.add(Script, s.from, s.to, whyInstall)
		}
	case "registries", "registry":
		c.registry(s.from, s.to, s.value)
	}
}
