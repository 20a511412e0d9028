package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/policy"
)

// benchArgs are arguments of about 1 KiB.
var benchArgs = []byte(`{"project_id":"group/sub/project","branch":"feature/update-notes","file_path":"docs/release/notes.md","commit_message":"docs: notes","size":5,"options":{"encoding":"text","author":{"name":"Ada"}},"labels":["one","two","three"],"content":"` + strings.Repeat("All work and no play. ", 35) + `"}`)

// layer is a rule file of n rules, of which some speak of the tool t.
func layer(tb testing.TB, n, some int) *policy.Rules {
	tb.Helper()
	texts := []string{
		`never: [t], when: 'args.branch == "main" || args.branch.startsWith("release/")'`,
		`ask: [t], when: 'args.size > 1000 && label.tier != "green"'`,
		`allow: [t], when: 'args.file_path.startsWith("docs/") && args.size < 100'`,
		`never: [t], when: 'origin in ["https://a.example", "https://b.example"] && effect.destructive'`,
	}
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range n {
		what := fmt.Sprintf("allow: [other_%d], when: 'args.id == %d'", i, i)
		if i < some {
			what = texts[(i+2)%len(texts)]
		}
		fmt.Fprintf(&b, "  - {name: r%d, %s}\n", i, what)
	}
	r, err := policy.Load([]byte(b.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// BenchmarkLayers is a decision over three layers with ten candidates, of which seven
// look at the arguments.
func BenchmarkLayers(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			org, site, own := layer(b, n, 4), layer(b, n, 3), layer(b, n, 3)
			d := credentials.Digest{1}
			p := policy.Layers{Organisation: org, Origin: site, Intent: &policy.Sealed{
				Rules: own, Expires: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Items: []policy.SealedItem{{Origin: "stdio:x", Kind: "tool", Name: "t", Digest: d}}}}.Policy()
			f := good()
			f.Args, f.Digest = benchArgs, d
			tree, err := args.Parse(benchArgs)
			if err != nil {
				b.Fatal(err)
			}
			f.Tree = tree
			if d := p.Decide(f); d.Verb() != policy.Allow {
				b.Fatal(d.Verb(), d.Reason(), d.Rule())
			}
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(f)
			}
		})
	}
}
