//go:build scratch

package inspect

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pratique-dev/pratique/quarantine"
)

type item struct {
	ID, Source, Kind, Label, Class, Text string
	Tool                                 jsontext.Value
	Sep                                  *bool `json:"text_separable"`
}

func TestCorpus(t *testing.T) {
	files, _ := filepath.Glob("/work/shared/corpora/dev/*.jsonl")
	ins := New()
	type cell struct{ n, sus, hos int }
	by := map[string]*cell{}
	show := os.Getenv("SHOW")
	for _, f := range files {
		fh, _ := os.Open(f)
		sc := bufio.NewScanner(fh)
		sc.Buffer(nil, 16<<20)
		for sc.Scan() {
			var it item
			if err := json.Unmarshal(sc.Bytes(), &it, json.MatchCaseInsensitiveNames(true)); err != nil {
				t.Fatal(err)
			}
			var set []quarantine.Specimen
			var err error
			switch it.Kind {
			case "tool_name":
				set = []quarantine.Specimen{{Path: "name", Kind: quarantine.KindName, Text: it.Text}}
			case "tool_return":
				b, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": it.Text}}})
				set, err = quarantine.ResultSpecimens("tools/call", b)
			default:
				if len(it.Tool) > 0 {
					set, err = quarantine.Specimens("tool", it.Tool)
				} else {
					set = []quarantine.Specimen{{Path: "description", Kind: quarantine.KindDescription, Text: it.Text}}
				}
			}
			v := quarantine.Report{Verdict: quarantine.Suspect}
			if err == nil {
				v = ins.Inspect(context.Background(), set)
			}
			k := "tools"
			if it.Kind == "tool_return" {
				k = "returns"
			} else if it.Kind == "tool_name" {
				k = "names"
			}
			for _, key := range []string{it.Label + " " + k, it.Label + " " + k + " src:" + it.Source, it.Label + " " + k + " class:" + it.Class} {
				c := by[key]
				if c == nil {
					c = &cell{}
					by[key] = c
				}
				c.n++
				if v.Verdict == quarantine.Suspect || err != nil {
					c.sus++
				}
				if v.Verdict == quarantine.Hostile {
					c.hos++
				}
			}
			bad := v.Verdict != quarantine.Clear
			if show == it.Label+" "+k && bad == (it.Label == "benign") && (os.Getenv("SRC") == "" || os.Getenv("SRC") == it.Source || os.Getenv("SRC") == it.Class) {
				fmt.Printf("=== %s %s %v %v err=%v\n", it.ID, it.Class, v.Verdict, len(v.Findings), err)
				if bad {
					for _, fd := range v.Findings {
						for _, s := range set {
							if s.Path == fd.Path && fd.Span.To <= len(s.Text) {
								a, b := max(0, fd.Span.From-30), min(len(s.Text), fd.Span.To+30)
								fmt.Printf("   %s %s %s %q\n", fd.Category, fd.Verdict, fd.Path, s.Text[a:b])
								break
							}
						}
					}
				} else {
					fmt.Printf("   %.400q\n", it.Text)
				}
			}
		}
	}
	var keys []string
	for k := range by {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		c := by[k]
		fmt.Printf("%-60s n=%5d suspect %5d %5.1f%%  hostile %5d %5.1f%%\n", k, c.n, c.sus, 100*float64(c.sus)/float64(c.n), c.hos, 100*float64(c.hos)/float64(c.n))
	}
}
