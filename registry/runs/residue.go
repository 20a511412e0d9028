package runs

import "github.com/pratique-dev/pratique/labels/policy"

// Context is what the run has read so far, seen from an origin. On an error it is
// at its worst.
func (r *Run) Context(origin string) (policy.Context, error) {
	if _, err := r.read(); err != nil {
		return policy.Worst, err
	}
	return policy.Clean, nil
}
