package node_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/observed"
)

// TestFirstUseIsTold is RULES.md 19: the log learns that this deployment used a tool
// as its registrant signed it, of no call that was decided on less than the log says
// of it now, and once.
func TestFirstUseIsTold(t *testing.T) {
	cfg := node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}
	n := openQuiet(t, cfg, node.Options{})
	alice, bob := newRegistrant(t), newRegistrant(t)
	tool := alice.register(n, "pay", "Pays.")
	bob.register(n, "other", "Something else.")
	view := func() uint64 {
		t.Helper()
		v, err := n.Record().Barrier(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return v.Head.Size
	}
	do := func(cmd registry.Command) {
		t.Helper()
		if _, err := n.Record().Do(context.Background(), cmd); err != nil {
			t.Fatal(err)
		}
	}
	inspect := func() {
		t.Helper()
		do(&registry.RecordInspection{CommandMeta: meta(""), Tool: tool.Row.Tool, Base: tool.Digest, Content: labels.Inspected})
	}
	// says has one call carried and wants the label to stand there afterwards.
	says := func(what string, want labels.Standing, view uint64, change func(origin *string, s *observed.Subject)) *registry.Tool {
		t.Helper()
		origin := "https://tools.example/mcp"
		s := observed.Subject{Key: gate.Key{Kind: gate.Tool, Name: "pay"}, Tool: "tool_01JB2Z6T4E9W8K3Q5R7XAAAAAA", Gen: 1, Ver: 1, Digest: tool.Digest} // the baseline's own id
		if change != nil {
			change(&origin, &s)
		}
		st, err := n.Observed()
		if err != nil {
			t.Fatal(err)
		}
		st.Place(origin).Carried(s, view)
		if err := n.Close(); err != nil { // the last is told then
			t.Fatal(err)
		}
		n = openQuiet(t, cfg, node.Options{})
		x := toolOf(t, n, tool.Row.Tool)
		if x.Standing != want {
			t.Errorf("%s: %v, want %v", what, x.Standing, want)
		}
		return x
	}
	says("not inspected", labels.Unknown, view(), nil)
	before := view()
	inspect()
	says("decided before it was inspected", labels.Unknown, before, nil)
	says("other metadata", labels.Unknown, view(), func(_ *string, s *observed.Subject) { s.Digest[0]++ })
	says("another name", labels.Unknown, view(), func(_ *string, s *observed.Subject) { s.Name = "other" })
	says("a prompt", labels.Unknown, view(), func(_ *string, s *observed.Subject) { s.Kind = gate.Prompt })
	says("another origin", labels.Unknown, view(), func(origin *string, _ *observed.Subject) { *origin = "https://elsewhere.example/mcp" })
	used := says("used", labels.Pinned, view(), nil)
	if again := says("used again", labels.Pinned, view(), nil); again.Index != used.Index {
		t.Error("said twice")
	}
}
