package tallies_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/tallies"
)

func Example() {
	s := tallies.NewMemory(func() time.Time { return time.Unix(1_800_000_000, 0) }, rand.Reader)
	sub := tallies.Subject{Agent: "agt_1", Run: "run_1", Item: "mail send"}
	for range 2 {
		_ = s.Decide(context.Background(), sub, tallies.Values{"to": {"bob@example.test"}}, func(c policy.Counts) bool {
			fmt.Println(c.Minute, c.New)
			return true
		})
	}
	// Output:
	// 0 [to]
	// 1 []
}
