package intent_test

import (
	"fmt"
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
