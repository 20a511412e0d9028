package content_test

import (
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard"
)

// TestTold: no guard repeats a credential that is the name of a member above what it
// refuses.
func TestTold(t *testing.T) {
	set, err := guard.Compile(&guard.Config{})
	if err != nil {
		t.Fatal(err)
	}
	token := "glpat-" + "Zx8kQ2mN5vB7cT4rW9yL"
	tree, err := args.Parse([]byte(`{"headers":{"` + token + `":{"path":"../../etc/passwd"}},"path":"../x"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Release()
	told := map[string]string{}
	for _, v := range set.Check(guard.Call{Tool: "write_file", Method: "tools/call", Args: tree}) {
		if strings.Contains(v.Path, token) {
			t.Errorf("%s repeats it: %s", v.Guard, v.Path)
		}
		told[v.Guard] += v.Path + " "
	}
	if told["content"] != "/headers " || told["path"] != "/headers /path " {
		t.Errorf("told: %v", told)
	}
}
