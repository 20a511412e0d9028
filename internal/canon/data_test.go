package canon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The tools of two real servers: each has a digest, no two the same, and the
// digest does not depend on who wrote the JSON.
func TestRealTools(t *testing.T) {
	dir := os.Getenv("PRATIQUE_TOOLLISTS")
	if dir == "" {
		t.Skip("PRATIQUE_TOOLLISTS is not set")
	}
	for file, n := range map[string]int{"gitlab-mcp-2.1.64-tools.json": 262, "server-everything-2026.8.31-tools.json": 0} {
		raw, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[[32]byte]bool{}
		list := tools(t, raw)
		for _, tool := range list {
			_, d, err := Metadata(tool)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if seen[d] {
				t.Errorf("%s: two tools with one digest", file)
			}
			seen[d] = true
			var v any
			if err := json.Unmarshal(tool, &v); err != nil {
				t.Fatal(err)
			}
			other, err := json.MarshalIndent(v, "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			if _, d2, err := Metadata(other); err != nil || d2 != d {
				t.Errorf("%s: another spelling has another digest, %v", file, err)
			}
		}
		if len(list) == 0 || n != 0 && len(list) != n {
			t.Errorf("%s: %d tools", file, len(list))
		}
	}
}

func tools(t *testing.T, raw []byte) []json.RawMessage {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var result struct {
		Tools  []json.RawMessage
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
	return append(result.Tools, result.Result.Tools...)
}

// metadata4K is a tool object of 4 KiB as servers send them: an indented schema
// with members in no order.
func metadata4K() []byte {
	var b strings.Builder
	b.WriteString(`{"name":"create_issue","description":"Creates an issue — in a project.","inputSchema":{"type":"object","properties":{`)
	for i := 0; b.Len() < 3900; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"field_` + string(rune('z'-i%26)) + strings.Repeat("x", i/26) + `": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "The \"value\" of one field\nof many"}`)
	}
	b.WriteString(`},"required":["title"],"additionalProperties":false},"annotations":{"readOnlyHint":false}}`)
	return []byte(b.String())
}

func BenchmarkMetadata4K(b *testing.B) {
	raw := metadata4K()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Metadata(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON4K(b *testing.B) {
	raw := metadata4K()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := JSON(raw, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshalClaims(b *testing.B) {
	raw := []byte(`{"aud":"a","gen":3,"level":"high","list":[1],"inner":{"x":"y"}}`)
	b.ReportAllocs()
	for b.Loop() {
		var v claimsLike
		if err := Unmarshal(raw, &v, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
