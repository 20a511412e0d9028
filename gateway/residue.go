package gateway

import "github.com/pratique-dev/pratique/labels/policy"

// context is what the run has read so far, seen from this upstream. It is asked
// once for each call, so that decision and record have the same. On an error it is
// at its worst.
func (c *call) context() policy.Context {
	if c.read == nil {
		x, err := c.s.who.run.Context(c.s.g.place.Origin.String())
		if err != nil {
			x = policy.Worst
		}
		c.read = &x
	}
	return *c.read
}
