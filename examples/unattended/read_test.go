package unattended_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pratique-dev/pratique/examples/unattended"
)

// TestRead: vectors that are no vectors are refused, and none is left out silently.
func TestRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "v.jsonl")
	for text, n := range map[string]int{
		"": 0, "# nothing\n\n": 0, `{"name":"a","tool":"t","args":{"path":"{ROOT}/x"}}` + "\n": 1,
		`{"name":"a","tool":"t","args":{}}` + "\n" + `{"name":"a","tool":"u","args":{}}`: -1,
		`{"name":"a"}`: -1, `{"name":"a","tool":"t","more":1}`: -1, `not JSON`: -1,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := unattended.Read(file, "{ROOT}", "/r")
		if (err != nil) != (n < 0) || n >= 0 && len(list) != n {
			t.Errorf("%q: %d vectors, %v", text, len(list), err)
		}
		if n == 1 && string(list[0].Args) != `{"path":"/r/x"}` {
			t.Errorf("args: %s", list[0].Args)
		}
	}
}

// TestPublicClasses: each vector out of a list says which class of which list it is.
func TestPublicClasses(t *testing.T) {
	for _, s := range sets(t) {
		for _, v := range s.read(t, "attacks") {
			if v.From == "" || v.Reason == "" || v.Proof == "" {
				t.Errorf("%s/%s says too little: %+v", s.name, v.Name, v)
			}
		}
	}
}

func ExampleChanges() {
	before := []string{"branch main", "file a"}
	after := []string{"branch main", "file b"}
	slices.Sort(after)
	for _, l := range unattended.Changes(before, after) {
		fmt.Println(l)
	}
	// Output:
	// + file b
	// - file a
}
