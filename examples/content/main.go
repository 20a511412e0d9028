// Command content holds the guard on the content of allowed writes against what agents
// have been made to write, and against what they write in ordinary work:
//
//	go run ./examples/content
//
// The rule file, testdata/rules.yaml, allows every one of these calls. It prints a
// table of what is refused, how many ordinary writes pass, and a line
// KNOWN_LIMITATION for what passes by design, with the reason. The exit code is 1 if a
// poisoned write passes, an ordinary one is refused, or a limit is none any more. The
// tests of this folder send the same calls through the gateway.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/content"
)

func main() {
	os.Exit(run(os.Stdout))
}

// rules is the rule file that allows the writes, by the configuration of a vector.
func rules(config string) (string, error) {
	raw, err := data.ReadFile("testdata/rules.yaml")
	if err != nil {
		return "", err
	}
	if config == "strict" {
		return strings.Replace(string(raw), "ci: judged", "ci: never", 1), nil
	}
	return string(raw), nil
}

func run(out io.Writer) int {
	failed := false
	fmt.Fprintln(out, "| poisoned write | public class | finding | place |\n|---|---|---|---|")
	total := 0
	for _, v := range load("poisoned.jsonl") {
		total++
		found := judge(v)
		i := slices.IndexFunc(found, func(f content.Finding) bool { return f.Class == v.Finds })
		if i < 0 {
			failed = true
			fmt.Fprintf(out, "| %s | %s | PASSED | |\n", v.Name, v.Class)
			continue
		}
		place := found[i].Pointer
		if found[i].Line > 0 {
			place += fmt.Sprintf(", line %d", found[i].Line)
		}
		fmt.Fprintf(out, "| %s | %s | %s: %s | %s |\n", v.Name, v.Class, found[i].Class, found[i].Why, place)
	}
	passed, benign := 0, load("benign.jsonl")
	for _, v := range benign {
		if found := judge(v); len(found) > 0 {
			failed = true
			fmt.Fprintf(out, "BLOCKED %s: %s\n", v.Name, found[0].Why)
			continue
		}
		passed++
	}
	fmt.Fprintf(out, "\n%d poisoned writes. %d of %d twins pass.\n\n", total, passed, len(benign))
	for _, v := range load("limits.jsonl") {
		if len(judge(v)) > 0 {
			failed = true
			fmt.Fprintf(out, "NO LIMIT ANY MORE %s\n", v.Name)
			continue
		}
		fmt.Fprintf(out, "KNOWN_LIMITATION %s (%s): %s\n", v.Name, v.Class, v.Why)
	}
	if failed {
		return 1
	}
	return 0
}

// judges are the guards of the rule files.
var judges = func() map[string]*content.Judge {
	out := map[string]*content.Judge{}
	for _, config := range []string{"", "strict"} {
		text, err := rules(config)
		if err != nil {
			panic(err) // the data is built in
		}
		var file struct {
			Guards struct {
				Content *content.Config `yaml:"content"`
			} `yaml:"guards"`
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			panic(err)
		}
		if out[config], err = content.New(file.Guards.Content); err != nil {
			panic(err)
		}
	}
	return out
}()

func load(name string) []Vector {
	list, err := Load(name)
	if err != nil {
		panic(err) // the data is built in
	}
	return list
}

// judge is what the guard finds in a call.
func judge(v Vector) []content.Finding {
	tree, err := args.Parse(v.Args)
	if err != nil {
		panic(err)
	}
	defer tree.Release()
	return judges[v.Config].Call(tree.Root())
}
