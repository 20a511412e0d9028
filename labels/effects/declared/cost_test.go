package declared

import (
	"fmt"
	"strings"
	"testing"
)

// Every stem of every vocabulary is one that is looked for.
func TestStems(t *testing.T) {
	check := func(where string, v vocabulary) {
		for s := range v.stems {
			if len(s) < shortestStem || len(s) > longestStem {
				t.Errorf("%s: %s* is never found", where, s)
			}
		}
	}
	for _, c := range classes {
		check(string(c.name), c.reasons)
		check(string(c.name), c.weak)
	}
	for _, s := range subjects {
		check(s.about, s.words)
	}
	if len(classes) < 20 {
		t.Errorf("%d classes", len(classes))
	}
}

// hostile are schemas that cost much for their size.
var hostile = map[string]string{
	"leaves":       `{"properties":{` + repeat(20000, func(i int) string { return fmt.Sprintf(`"password_length_%d":{"description":"x"}`, i) }) + `}}`,
	"depth":        strings.Repeat(`{"properties":{"card":`, 60) + `{}` + strings.Repeat(`}}`, 60),
	"one text":     `{"properties":{"a":{"description":"` + strings.Repeat("provide your your your ", 20000) + `"}}}`,
	"sentences":    `{"properties":{"a":{"description":"` + strings.Repeat("Provide it. ", 40000) + `"}}}`,
	"texts":        `{"properties":{"a":{"anyOf":[` + repeat(20000, func(int) string { return `{"description":"provide the"}` }) + `]}}}`,
	"patterns":     `{"properties":{` + repeat(5000, func(i int) string { return fmt.Sprintf(`"p%d":{"pattern":"^(((a{99}){9}){9})*$"}`, i) }) + `}}`,
	"alternatives": `{"properties":{"a":` + strings.Repeat(`{"anyOf":[{"items":`, 30) + `{}` + strings.Repeat(`}]}`, 30) + `}}`,
}

func repeat(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(part(i))
	}
	return b.String()
}

// What is read of a tool is bounded, whatever its author writes.
func TestHostileSchemas(t *testing.T) {
	for name, schema := range hostile {
		tool, err := Read([]byte(`{"name":"get_joke","inputSchema":` + schema + `}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		Judge(tool, &Origin{Known: true})
	}
	for name, raw := range map[string]string{
		"too many leaves":  `{"inputSchema":{"properties":{` + repeat(MaxLeaves+1, func(i int) string { return fmt.Sprintf(`"%d":{}`, i) }) + `}}}`,
		"too deep":         `{"inputSchema":` + strings.Repeat(`{"items":`, MaxDepth+2) + `{}` + strings.Repeat(`}`, MaxDepth+2) + `}`,
		"repeated members": `{"inputSchema":{"properties":{},"properties":{}}}`,
		"cut":              `{"inputSchema":{"properties":{"a":`, "no tool": `[]`, "bytes that are no text": "{\"name\":\"\xff\"}",
	} {
		if _, err := Read([]byte(raw)); err != ErrTool {
			t.Errorf("%s: %v", name, err)
		}
	}
	big := &Tool{Name: "get_joke"}
	for i := range 1000 {
		big.Leaves = append(big.Leaves, Leaf{Name: "cvv", At: i})
	}
	if n := len(Judge(big, &Origin{})); n != maxFound {
		t.Errorf("%d findings", n)
	}
}

// BenchmarkJudge is what a tool costs that was made to cost.
func BenchmarkJudge(b *testing.B) {
	for name, schema := range hostile {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			raw := []byte(`{"name":"get_joke","inputSchema":` + schema + `}`)
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				tool, err := Read(raw)
				if err != nil {
					b.Fatal(err)
				}
				Judge(tool, &Origin{Known: true})
			}
		})
	}
}
