package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

func TestMain(m *testing.M) { stage.Main(m) }

// TestVectors: every poisoned write is found, every twin passes, every limit is one.
func TestVectors(t *testing.T) {
	var out bytes.Buffer
	if code := run(&out); code != 0 {
		t.Errorf("exit code %d:\n%s", code, out.String())
	}
	for l := range strings.Lines(out.String()) {
		if strings.HasPrefix(l, "KNOWN_LIMITATION") {
			t.Log(strings.TrimSpace(l))
		}
	}
}

// TestData: each poisoned write has a twin, names a public class and differs from its
// twin; each limit says why.
func TestData(t *testing.T) {
	poisoned, benign, limits := load("poisoned.jsonl"), load("benign.jsonl"), load("limits.jsonl")
	if len(poisoned) < 40 || len(benign) < 40 || len(limits) < 5 {
		t.Errorf("%d poisoned, %d benign, %d limits", len(poisoned), len(benign), len(limits))
	}
	classes := map[string]bool{}
	for _, v := range poisoned {
		classes[v.Finds] = true
		if !public(v.Class) || v.Finds == "" {
			t.Errorf("%s names no public class", v.Name)
		}
		i := slices.IndexFunc(benign, func(b Vector) bool { return b.Name == v.Name })
		if i < 0 || bytes.Equal(benign[i].Args, v.Args) || benign[i].Config != v.Config {
			t.Errorf("%s has no twin", v.Name)
		}
	}
	for _, v := range benign {
		if v.Class != "" || v.Finds != "" {
			t.Errorf("%s is no twin", v.Name)
		}
	}
	for _, v := range limits {
		if !public(v.Class) || v.Why == "" {
			t.Errorf("%s does not say why", v.Name)
		}
	}
	if len(classes) != 9 {
		t.Errorf("classes of findings: %v", classes)
	}
}

func public(class string) bool {
	return strings.HasPrefix(class, "OWASP ") || strings.HasPrefix(class, "MITRE ATT&CK T") || strings.HasPrefix(class, "CWE-")
}

// TestThroughTheGateway: the rule file allows every tool; a poisoned write is refused
// by the guard, names the argument and never reaches the server; a twin does.
func TestThroughTheGateway(t *testing.T) {
	for _, way := range []stage.Way{stage.StdioStdio, stage.HTTPHTTP} {
		for _, config := range []string{"", "strict"} {
			t.Run(string(way)+" "+config, func(t *testing.T) { through(t, way, config) })
		}
	}
}

func through(t *testing.T, way stage.Way, config string) {
	text, err := rules(config)
	if err != nil {
		t.Fatal(err)
	}
	poisoned, benign, limits := of(config, "poisoned.jsonl"), of(config, "benign.jsonl"), of(config, "limits.jsonl")
	h := stage.New(t, way, mcptest.Script{Tools: mcptest.List{Items: tools(poisoned, benign)}}, stage.Options{Rules: text})
	a := h.Agent("2025-11-25")
	a.Start()
	a.Tools()
	for _, v := range poisoned {
		n := h.Up.Executed(v.Tool)
		m := a.Call(v.Tool, string(v.Args))
		r := stage.Refused(t, m, "guard")
		if h.Up.Executed(v.Tool) != n {
			t.Errorf("%s reached the server", v.Name)
		}
		if !strings.HasPrefix(r.Rule, "guards.content.") {
			t.Errorf("%s was refused by %s", v.Name, r.Rule)
		}
		if secret := random(v.Name, "12"); strings.Contains(string(m.Raw), secret) {
			t.Errorf("%s: the refusal repeats the secret", v.Name)
		}
	}
	for _, v := range append(benign, limits...) {
		n := h.Up.Executed(v.Tool)
		if m := a.Call(v.Tool, string(v.Args)); m.IsError() || h.Up.Executed(v.Tool) != n+1 {
			t.Errorf("%s was blocked: %.400s", v.Name, m.Raw)
		}
	}
}

func of(config, file string) []Vector {
	return slices.DeleteFunc(load(file), func(v Vector) bool { return v.Config != config })
}

func tools(lists ...[]Vector) (out []mcptest.JSON) {
	seen := map[string]bool{}
	for _, list := range lists {
		for _, v := range list {
			if !seen[v.Tool] {
				seen[v.Tool] = true
				out = append(out, mcptest.Tool(v.Tool, "Writes."))
			}
		}
	}
	return out
}
