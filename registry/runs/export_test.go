package runs

import (
	"context"
	"slices"
)

// Die leaves what a launch has in the folder as a process does that is killed.
func (r *Run) Die() { r.h.lazy.live() }

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
