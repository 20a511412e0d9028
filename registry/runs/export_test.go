package runs

import (
	"context"
	"slices"
)

// Fill holds n versions of a source, without results of them.
func (r *Run) Fill(src Source, n int) error {
	return r.amend(context.Background(), func(d *document) (*document, error) {
		out := *d
		out.Held = slices.Clone(d.Held)
		for i := range n {
			src.Ver = uint64(i + 1)
			out.Held = append(out.Held, Held{Source: src, Since: 1})
		}
		return &out, nil
	})
}
