package runs

import (
	"context"
	"slices"
)

// MaxSeals is maxSeals.
const MaxSeals = maxSeals

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

// Bound tells whether the run was bound by an intent when it began.
func (r *Run) Bound() bool { return !r.sealed.IsZero() }

// SealedFile is the file of a binding with this body, and a sum that is right.
func SealedFile(body []byte) []byte {
	return append([]byte(bindingFormat+bindingSum(body)+"\n"), body...)
}
