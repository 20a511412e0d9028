package broker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
)

// TestTheGuide: every piece of settings in the guide is good, and its answer of a
// command is one.
func TestTheGuide(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "language-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := func(kind string) []string {
		var out []string
		for _, s := range strings.Split(string(doc), "```"+kind+"\n")[1:] {
			b, _, _ := strings.Cut(s, "```")
			out = append(out, b)
		}
		return out
	}
	settings := blocks("yaml")
	if len(settings) < 5 {
		t.Errorf("%d pieces of settings", len(settings))
	}
	for _, s := range settings {
		var c struct {
			Inspector struct {
				Model Config `yaml:"model"`
			} `yaml:"inspector"`
		}
		if err := yaml.UnmarshalWithOptions([]byte(s), &c, yaml.Strict()); err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		if err := c.Inspector.Model.Check(); err != nil || !c.Inspector.Model.On() {
			t.Errorf("%s: %v", s, err)
		}
	}
	examples := blocks("json")
	if len(examples) != 2 {
		t.Fatalf("%d examples", len(examples))
	}
	canary := strings.Repeat("x", 16)
	if a, err := opinion.ParseReply(opinion.Direct(canary, []byte(examples[1])), 1); err != nil || a.Verdict != opinion.Injection {
		t.Errorf("%+v, %v", a, err)
	}
	var in map[string]any
	got, err := opinion.Compose(opinion.Lines(batch(words).Specimens, []opinion.Piece{{To: len(words)}}), opinion.Signs{Mark: "_k7_"}).Input()
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if json.Unmarshal([]byte(examples[0]), &in) != nil || json.Unmarshal(got, &want) != nil || len(in) != len(want) {
		t.Errorf("the example of an input is not one: %s", got)
	}
	for k := range want {
		if _, ok := in[k]; !ok {
			t.Errorf("the example of an input has no %s", k)
		}
	}
	for _, c := range []string{"override", "secrets", "sending", "othertool", "pretence", "hidden"} {
		if !strings.Contains(string(doc), "`"+c+"`") {
			t.Errorf("the guide does not name %s", c)
		}
	}
}
