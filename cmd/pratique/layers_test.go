package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/node"
)

// renewed has the reloading look as often as a changed file is looked at before it is
// taken over.
func renewed(r *reloading) (taken bool, err error) {
	if _, err := r.look(); err != nil {
		return false, err
	}
	return r.look()
}

// TestReloadTriesAgain: rules that cannot be kept are tried at each look until they are
// in force. Until then nothing is called, neither by the old rules nor by the new.
func TestReloadTriesAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("rules: [{name: open, allow: [a, b]}]")
	src, err := policy.OpenSource(file)
	if err != nil {
		t.Fatal(err)
	}
	var fails error
	var inForce policy.Policy
	uses, kept := 0, map[string]bool{}
	r := &reloading{files: []ruleFile{{}, {file, src}}, made: src.Policy, use: func(p policy.Policy) { inForce = p; uses++ },
		keep: func(p policy.Policy) error {
			if fails == nil {
				kept[p.Digest().String()] = true
			}
			return fails
		}}
	inForce = src.Policy()
	decides := func(tool string) policy.Decision {
		return inForce.Decide(policy.Facts{Profile: policy.Personal, Method: "tools/call", Tool: tool, Gate: policy.Cleared, Fit: policy.Fits, Context: policy.Clean, Tier: 2, Standing: 3, Content: 3})
	}
	if taken, err := renewed(r); taken || err != nil || uses != 0 || decides("b").Verb() != policy.Allow {
		t.Fatalf("nothing has changed: %t %v, %d times, b is %v", taken, err, uses, decides("b").Verb())
	}
	fails = errors.New("no space")
	write("rules: [{name: tight, allow: [a]}]")
	for range 3 {
		if taken, err := renewed(r); taken || !errors.Is(err, errNotKept) {
			r.look() // the first look only sees that there is something
			if _, err := r.look(); !errors.Is(err, errNotKept) {
				t.Fatalf("not kept: %t %v", taken, err)
			}
		}
		for _, tool := range []string{"a", "b"} {
			if d := decides(tool); d.Verb() != policy.Deny || d.Rule() != "rules-not-kept" || d.Sentence() == "" {
				t.Fatalf("%s while rules are not kept: %v by %s", tool, d.Verb(), d.Rule())
			}
		}
	}
	if uses != 1 {
		t.Errorf("the agents were told %d times", uses)
	}
	fails = nil
	if taken, err := r.look(); !taken || err != nil || !kept[src.Rules().Digest().String()] && len(kept) == 0 {
		t.Fatalf("kept again: %t %v", taken, err)
	}
	if decides("a").Verb() != policy.Allow || decides("b").Verb() != policy.Deny || decides("b").Rule() != "default" {
		t.Errorf("the new rules are not in force: a %v, b %v by %s", decides("a").Verb(), decides("b").Verb(), decides("b").Rule())
	}
	if taken, err := renewed(r); taken || err != nil || uses != 2 {
		t.Errorf("taken over again: %t %v, %d times", taken, err, uses)
	}
	write("rules: [")
	r.look()
	if taken, err := r.look(); taken || !errors.Is(err, policy.ErrRules) || !strings.HasPrefix(err.Error(), file+": ") || decides("a").Verb() != policy.Allow {
		t.Errorf("a file that is not right: %t %v, a is %v", taken, err, decides("a").Verb())
	}
}

// becomes waits for a call to have a text in its answer: a gateway looks at its rule
// files again and again.
func becomes(t *testing.T, ask asker, tool, want string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		ask("tools/list", `{}`)
		v, err := ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, tool))
		if err == nil && strings.Contains(string(v), want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s never says %s: %s %v", tool, want, v, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestReloadRunning: a stricter and a looser file take hold in a running gateway, that
// of all and that of the upstream, on both ways in.
func TestReloadRunning(t *testing.T) {
	const (
		both   = "rules: [{name: open, allow: [echo, other]}]\n"
		one    = "rules: [{name: tight, allow: [other]}]\n"
		none   = `"reason":"no_rule"`
		called = `"text":"{}"`
	)
	for _, way := range []string{"guard", "up"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
					t.Fatal(err)
				}
			}
			write("tools.json", `[{"name":"echo","description":"Echoes.","inputSchema":{"type":"object"}},{"name":"other","description":"Echoes.","inputSchema":{"type":"object"}}]`)
			write("all.yaml", both)
			write("site.yaml", both)
			ask := reloadable(t, way, dir)
			files := []string{"all.yaml", "site.yaml"}
			if way == "guard" {
				files = files[:1] // which has no file of the upstream
			}
			becomes(t, ask, "echo", called)
			for _, file := range files {
				write(file, one)
				becomes(t, ask, "echo", none)
				becomes(t, ask, "other", called)
				write(file, both)
				becomes(t, ask, "echo", called)
			}
		})
	}
}

// reloadable is an agent of a gateway with the files in dir.
func reloadable(t *testing.T, way, dir string) asker {
	t.Helper()
	var argv []string
	if way == "guard" {
		argv = []string{"--", "pratique", "guard", "--data", filepath.Join(dir, "d"), "--policy", filepath.Join(dir, "all.yaml"), "--", "mcpserver", filepath.Join(dir, "tools.json")}
	} else {
		config := filepath.Join(dir, "pratique.yaml")
		text := fmt.Sprintf("data: d\nlisten: 127.0.0.1:0\npolicy: all.yaml\nupstreams:\n- name: fixture\n  policy: site.yaml\n  command: [mcpserver, %q]\n", filepath.Join(dir, "tools.json"))
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := startUp(context.Background(), dir, os.Environ(), "--config", config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.stop(); err != nil {
				t.Error(err)
			}
		})
		argv = []string{p.answer.Gateway}
	}
	ask, end, err := mcpDial(argv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	if _, err := ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"agent","version":"1"}}`); err != nil {
		t.Fatal(err)
	}
	return ask
}

// TestOwnFiles: the rule files of both layers are ours, and so is what holds a secret:
// no agent may name them.
func TestOwnFiles(t *testing.T) {
	cfg := node.Config{Policy: "/rules/all.yaml", Passphrase: "/rules/pass"}
	cfg.Effects.File = "/rules/effects.yaml"
	files := (&call{}).ownFiles(cfg, node.UpstreamConf{Policy: "/rules/site.yaml", HeadersFile: "/rules/headers"})
	for _, f := range []string{cfg.Policy, cfg.Passphrase, cfg.Effects.File, "/rules/site.yaml", "/rules/headers"} {
		if !slices.Contains(files, f) {
			t.Errorf("%s may be named", f)
		}
	}
}
