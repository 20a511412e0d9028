//go:build long

package writer_test

import (
	"fmt"
	"testing"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/writer"
)

// TestCommandLargerThanABatch: a command of more events than one append takes
// is refused by name, and does not take others with it.
func TestCommandLargerThanABatch(t *testing.T) {
	q := registry.DefaultQuotas()
	q.ToolsPerOwner = 2 * store.MaxEntries
	s := newStage(t, func(o *writer.Options) { o.Quotas = &q })
	for i := range store.MaxEntries/registry.MaxBatch + 1 {
		var items []registry.Item
		for n := range registry.MaxBatch {
			items = append(items, registry.Item{Name: fmt.Sprint("tool-", n), Digest: s.x.Digest, Canonical: []byte("{}")})
		}
		c := s.owner.register(fmt.Sprintf("https://o%d.example", i), items...)
		for n := range c.Items {
			c.Items[n].Digest[0], c.Items[n].Digest[1], c.Items[n].Digest[2] = byte(i), byte(n), byte(n>>8)
		}
		do(t, s.w, c)
	}
	all := s.accept(s.other, func(c *registry.AcceptClaims) { c.From = s.owner.id() })
	s.refused(t, map[string]refusal{"recovery of too many": {&registry.RecoverPrincipal{CommandMeta: withProof(s.rec), From: s.owner.id(), To: s.other.key.ID, JWK: s.other.key.JWK(), Accept: all}, registry.ErrTooMany}})
	if err := s.w.Fresh(); err != nil {
		t.Error(err)
	}
}
