package intent_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/quarantine/intent"
)

func Example() {
	plan, err := intent.Parse([]byte("task: Raise left-pad in acme/shop\nexpires: 2h\ntools: [read_file]\n"))
	if err != nil {
		panic(err)
	}
	version := intent.Item{Origin: "stdio:forge", Kind: intent.Tool, Name: "read_file", ID: "tool_01J00000000000000000000000", Digest: [32]byte{1}}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	wide, err := plan.Seal("agt_01J00000000000000000000000", false, []intent.Item{version}, now)
	if err != nil {
		panic(err)
	}
	plan.Life = time.Hour
	narrow, err := plan.Seal(wide.Agent(), false, wide.Items(), now)
	if err != nil {
		panic(err)
	}
	fmt.Println(wide.Expires().Format(time.RFC3339))
	fmt.Println(intent.Narrower(wide, narrow))
	fmt.Println(intent.Narrower(narrow, wide))
	// Output:
	// 2026-11-30T14:00:00Z
	// <nil>
	// intent: it is not provably narrower than the one that is sealed: it ends later
}

// TestDocs reads the file that docs/intents.md shows, and the draft of its command.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/intents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	file, _, ok := strings.Cut(rest, "```")
	p, err := intent.Parse([]byte(file))
	if !ok || err != nil || len(p.Names) != 4 {
		t.Errorf("%v\n%s", err, file)
	}
	_, rest, _ = strings.Cut(string(text), "intent draft --task \"")
	task, _, _ := strings.Cut(rest, "\"")
	if d, err := intent.DraftOf(task, "forge", forge); err != nil || len(d.Tools) != 5 {
		t.Errorf("%q: %v %+v", task, err, d)
	}
}
