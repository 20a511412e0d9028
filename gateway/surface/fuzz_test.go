package surface

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/quarantine/gate"
)

func FuzzPage(f *testing.F) {
	for _, s := range []string{
		`{"tools":[]}`, `{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"p2","ttlMs":5,"resultType":"complete"}`,
		`{"tools":null}`, `{"tools":[1],"nextCursor":null}`, `{"tools":[],"ttlMs":1e400}`, `{"tools":[],"tools":[]}`, `[]`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := parsePage("tools", jsontext.Value(raw))
		if err != nil {
			return
		}
		if p.ttl < 0 && p.ttl != -1 {
			t.Fatalf("ttl %v", p.ttl)
		}
		for _, it := range p.items {
			if !it.IsValid() {
				t.Fatal("an item is not JSON")
			}
			gate.Decode(gate.Tool, it)
		}
	})
}
