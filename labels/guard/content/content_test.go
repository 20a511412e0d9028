package content

import (
	"fmt"
	"strings"
	"testing"
)

// lists are what the tests allow.
var lists = map[string][]string{
	"npm":  {"lodash", "express@^4.*", "left-pad@1.3.0", "@acme/*", "git+https://git.acme.example/tools/", "file:./vendor/"},
	"pypi": {"requests", "Flask_Login", "setuptools"}, "go": {"golang.org/x/*", "acme.example/tools"}, "cargo": {"serde", "tokio-util"},
	"gem": {"rails", "rake"}, "composer": {"symfony/*"}, "maven": {"com.acme:*", "org.apache.maven.plugins:maven-surefire-plugin"},
	"image": {"node@22-*", "redis", "ghcr.io/acme/*"}, "action": {"actions/*"}, "include": {"acme/*"},
}

func judge(t testing.TB, cfg *Config) *Judge {
	t.Helper()
	j, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// one is a text for a path, and what is found in it: "class line" each, in order.
type one struct {
	name, path, text string
	want             string
}

func check1(t *testing.T, cfg *Config, list []one) {
	t.Helper()
	j := judge(t, cfg)
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			t.Helper()
			if got := said(j.Check(Write{Path: c.path, Content: c.text})); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// said is findings as "class line" or, of a whole text, "class".
func said(list []Finding) string {
	var out []string
	for _, f := range list {
		s := f.Class
		if f.Line > 0 {
			s += fmt.Sprint(" ", f.Line)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func judged() *Config {
	return &Config{CI: "judged", Dependencies: lists, Like: map[string][]string{".gitlab-ci.yml": {"ci/"}, "requirements.txt": {"deps/prod.txt"}}}
}

// TestZeroIsStrict: a configuration that nobody filled in lets nothing of what it
// judges pass.
func TestZeroIsStrict(t *testing.T) {
	for path, c := range map[string]struct{ text, want string }{
		"package.json":    {`{"dependencies":{"lodash":"1"}}`, "dependency 1"},
		".gitlab-ci.yml":  {"a:\n  script: [make]\n", "ci"},
		"Jenkinsfile":     {"pipeline {}", "ci"},
		"setup.py":        {"setup()", "script"},
		".npmrc":          {"script-shell=x\n", "settings 1"},
		"Podfile":         {"pod 'x'", "unread"},
		"AGENTS.md":       {"do", "settings"},
		"notes.txt":       {"glpat-" + "Zx8kQ2mN5vB7cT4rW9yL", "secret 1"},
		"go.mod":          {"module a\nrequire golang.org/x/text v0.1.0\n", "dependency 2"},
		"Dockerfile":      {"FROM alpine\n", "dependency 1"},
		"README.md":       {"Hello.\n", ""},
		"src/index.ts":    {"export const a = 1;\n", ""},
		"docs/ci.yml":     {"a: b\n", ""},
		".editorconfig":   {"root = true\n", ""},
		"Makefile":        {"test:\n\tgo test ./...\n", ""},
		"scripts/run.sh":  {"#!/bin/sh\nset -eu\ngo test ./...\n", ""},
		".gitignore":      {"node_modules\n", ""},
		"tsconfig.json":   {"{}\n", ""},
		"internal/env.go": {"package env\n", ""},
	} {
		for _, cfg := range []*Config{nil, {}} {
			if got := said(judge(t, cfg).Check(Write{Path: path, Content: c.text})); got != c.want {
				t.Errorf("%s: got %q, want %q", path, got, c.want)
			}
		}
		if got := said(judge(t, Default()).Check(Write{Path: path, Content: c.text})); got != "" && !strings.HasPrefix(got, "secret") {
			t.Errorf("%s: without a configuration %q is found", path, got)
		}
	}
}

// TestOff: each class can be switched off by name, and no other goes with it.
func TestOff(t *testing.T) {
	texts := []one{
		{"manifests", "package.json", `{"dependencies":{"x":"1"}}`, "dependency 1"},
		{"scripts", "setup.py", "setup()", "script"},
		{"ci", ".gitlab-ci.yml", "a: {script: [env]}\n", "ci"},
		{"executable", "x", "", "executable"},
		{"settings", ".envrc", "x", "settings"},
		{"unread", "Podfile", "x", "unread"},
		{"secrets", "x", "glpat-" + "Zx8kQ2mN5vB7cT4rW9yL", "secret 1"},
	}
	for _, off := range texts {
		cfg := &Config{}
		switch off.name {
		case "manifests":
			cfg.Manifests = "off"
		case "scripts":
			cfg.Scripts = "off"
		case "ci":
			cfg.CI = "off"
		case "executable":
			cfg.Executable = "off"
		case "settings":
			cfg.Settings = "off"
		case "unread":
			cfg.Unread = "off"
		case "secrets":
			cfg.Secrets = "off"
		}
		for _, c := range texts {
			want := c.want
			if c.name == off.name || off.name == "manifests" && c.name == "unread" {
				want = "" // foreign manifests are manifests
			}
			if got := said(judge(t, cfg).Check(Write{Path: c.path, Content: c.text, Executable: c.name == "executable"})); got != want {
				t.Errorf("%s off: %s: got %q, want %q", off.name, c.name, got, want)
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for want, cfg := range map[string]*Config{
		"content.secrets: ":          {Secrets: "maybe"},
		"content.ci: ":               {CI: "Judged"},
		"content.manifests: ":        {Manifests: "never"},
		"content.dependencies: ":     {Dependencies: map[string][]string{"cpan": nil}},
		"content.dependencies.npm: ": {Dependencies: map[string][]string{"npm": {"a*b"}}},
		"content.dependencies.go: ":  {Dependencies: map[string][]string{"go": {""}}},
		"content.registries: ":       {Registries: []string{"https://registry.npmjs.org"}},
		"content.like: ":             {Like: map[string][]string{"x.txt": {"a"}}},
		"content.hosts: ":            {Hosts: []string{"a b"}},
	} {
		_, err := New(cfg)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "maybe") || strings.Contains(err.Error(), "cpan") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestNothingIsRepeated: no finding has a part of what it is about.
func TestNothingIsRepeated(t *testing.T) {
	j := judge(t, nil)
	for _, f := range j.Check(Write{Path: "package.json", Content: `{"dependencies":{"swordfish":"git+https://swordfish.example/x"},"scripts":{"postinstall":"swordfish"}}`}) {
		if strings.Contains(fmt.Sprintf("%+v", f), "swordfish") || f.Why == "" || !strings.HasSuffix(f.Why, ".") {
			t.Errorf("%+v", f)
		}
	}
}

// TestMostFindings: what is found is bounded, whatever is written.
func TestMostFindings(t *testing.T) {
	j := judge(t, nil)
	if n := len(j.Check(Write{Path: "requirements.txt", Content: strings.Repeat("a\nb\n", 10000)})); n != most {
		t.Errorf("%d findings", n)
	}
}
