package guard

import (
	"testing"

	"github.com/pratique-dev/pratique/labels/args"
)

// TestProfileOfSystem: without a rule file paths are those of the machine.
func TestProfileOfSystem(t *testing.T) {
	for _, c := range []struct {
		text             string
		windows, elseway bool
	}{
		{`{"path":"C:\\Users\\u\\a.txt"}`, true, false}, {`{"path":"C:/Users/u/a.txt"}`, true, false}, {`{"path":"src\\a.txt"}`, true, false},
		{`{"files":{"src\\a.txt":"c"}}`, true, false}, {`{"path":"src/a.txt"}`, true, true}, {`{"path":"/srv/a.txt"}`, false, true},
		{`{"path":"C:\\Users\\..\\a.txt"}`, false, false}, {`{"path":"..\\a.txt"}`, false, false}, {`{"path":"a.txt:s"}`, false, true},
	} {
		tree, err := args.Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		for goos, want := range map[string]bool{"windows": c.windows, "linux": c.elseway, "darwin": c.elseway} {
			if got := profile(goos).Check(Call{Tool: "read", Method: "tools/call", Args: tree}); (got == nil) != want {
				t.Errorf("%s on %s: %v", c.text, goos, got)
			}
		}
	}
}
