package upstream

import (
	"io"
	"sync/atomic"
)

// free is what one stream may hold without asking.
const free = 1 << 20

// A meter counts what a reader was given since the last frame, and takes it out of
// a budget that all streams of an upstream share. Beyond it, reading fails:
// many large answers at once do not add up without bound.
type meter struct {
	r      io.Reader
	budget *atomic.Int64 // bytes left
	seen   int64         // since the last frame
	held   int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.seen += int64(n)
	for m.seen-free > m.held {
		if m.budget.Add(-free) < 0 {
			m.budget.Add(free)
			return 0, ErrTooLarge
		}
		m.held += free
	}
	return n, err
}

// next gives back what was held: the frame was read, or there will be none.
func (m *meter) next() {
	m.seen = 0
	if m.held > 0 {
		m.budget.Add(m.held)
		m.held = 0
	}
}
