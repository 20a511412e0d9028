package gateway

import (
	"testing"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
)

// TestOneAgentCannotFillTheRecord: RULES.md 40: an agent that has written its part
// of a day is refused before anything is inspected or forwarded; another goes on,
// and so does the first on the day after.
func TestOneAgentCannotFillTheRecord(t *testing.T) {
	for name, own := range map[string]int64{"its share": 0, "the operator's limit": 20_000} {
		t.Run(name, func(t *testing.T) {
			u, at := newServer(tool("it")), time.Unix(1_800_000_000, 0)
			log, err := decisions.Open(t.TempDir(), decisions.Options{
				Segment: 1 << 17, Roll: 1 << 17, Total: 1 << 19, Now: func() time.Time { return at }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { log.Close() })
			h := newHouse(t, u, policy.Watch, func(o *Options) {
				o.Record, o.Limits.Record = log, own
			})
			first := h.shown(newPerson())
			var a mcp.Frame
			calls := 0
			for ; calls < 2000; calls++ {
				if a = run(first); reason(a) != "" {
					break
				}
			}
			if reason(a) != "quota" || calls < 10 || own > 0 && calls > 60 {
				t.Fatalf("after %d calls: %s", calls, a.Bytes())
			}
			done := u.executed(methodCall, "*")
			for range 3000 {
				if a := run(first); reason(a) != "quota" {
					t.Fatalf("%s", a.Bytes())
				}
			}
			if u.executed(methodCall, "*") != done {
				t.Error("it was executed nevertheless")
			}
			if n, share := log.Spent(first.who.ID); n > share+share/4 {
				t.Errorf("%d bytes of %d", n, share)
			}
			if a := first.Handle(ctx, ask("tools/list", `{}`), newPerson()); a.Shape == mcp.Failure {
				t.Errorf("no list: %s", a.Bytes())
			}
			other := h.open("second", newPerson())
			other.Handle(ctx, ask("tools/list", `{}`), newPerson())
			for range 10 {
				if a := run(other); reason(a) != "" {
					t.Fatalf("another agent: %s", a.Bytes())
				}
			}
			at = at.Add(24 * time.Hour)
			if a := run(first); reason(a) != "" {
				t.Errorf("the day after: %s", a.Bytes())
			}
			if err := log.Note(&registry.Entry{Type: registry.EntryDropped}); err != nil {
				t.Error(err)
			}
		})
	}
}
