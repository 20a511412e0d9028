package inspect_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect"
)

func textResult(text string) jsontext.Value {
	b, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
	if err != nil {
		panic(err)
	}
	return b
}

// prose is plain text of about n bytes, with ordinary words of the dictionary
// in it.
func prose(n int) string {
	const part = "The pipeline of merge request 42 finished after 31 minutes; all jobs passed, and the report of the first stage lists 3 warnings that a user should read before the next release. "
	return strings.Repeat(part, n/len(part)+1)[:n]
}

func rows(n int) jsontext.Value {
	var b strings.Builder
	b.WriteString(`{"content":[{"type":"text","text":"ok"}],"structuredContent":{"rows":[`)
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"title":"Issue number %d","state":"opened","author":"somebody"}`, i, i)
	}
	b.WriteString("]}}")
	return jsontext.Value(b.String())
}

func benchResult(b *testing.B, raw jsontext.Value, want bool) {
	for _, depth := range []quarantine.Depth{quarantine.Deterministic, quarantine.Full} {
		b.Run(depth.String(), func(b *testing.B) { benchDepth(b, raw, want, depth) })
	}
}

func benchDepth(b *testing.B, raw jsontext.Value, want bool, depth quarantine.Depth) {
	ins := inspect.New()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		set, err := quarantine.ResultSpecimens("tools/call", raw)
		if err != nil {
			b.Fatal(err)
		}
		if r := ins.Inspect(context.Background(), quarantine.Batch{Depth: depth, Specimens: set}); (r.Verdict == quarantine.Clear) != want {
			b.Fatal(r)
		}
	}
}

func BenchmarkResult1KiB(b *testing.B)     { benchResult(b, textResult(prose(1024)), true) }
func BenchmarkResultRows1KiB(b *testing.B) { benchResult(b, rows(1024), true) }
func BenchmarkResult3MiB(b *testing.B)     { benchResult(b, textResult(prose(3<<20)), true) }
func BenchmarkResult3MiBofA(b *testing.B) {
	benchResult(b, textResult(strings.Repeat("a", 3<<20)), true)
}
func BenchmarkResult1MiBJapanese(b *testing.B) {
	benchResult(b, textResult(strings.Repeat("社内ハンドブックを検索します。", 1<<20/45)), true)
}
func BenchmarkResult1MiBCyrillic(b *testing.B) {
	benchResult(b, textResult(strings.Repeat("Ищет в справочнике компании. ", 1<<20/53)), true)
}

func BenchmarkToolList(b *testing.B) {
	dir := os.Getenv("PRATIQUE_TOOLLISTS")
	if dir == "" {
		b.Skip("PRATIQUE_TOOLLISTS is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "gitlab*-tools.json"))
	if err != nil || len(files) != 1 {
		b.Skip("no list of the GitLab server")
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	var list struct {
		Tools []jsontext.Value `json:"tools"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		b.Fatal(err)
	}
	ins := inspect.New()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for _, raw := range list.Tools {
			set, err := quarantine.Specimens("tool", raw)
			if err != nil {
				b.Fatal(err)
			}
			if r := ins.Inspect(context.Background(), quarantine.Batch{Specimens: set}); r.Verdict != quarantine.Clear {
				b.Fatal(r)
			}
		}
	}
}
