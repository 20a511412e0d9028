package upstream

import (
	"errors"
	"sync"

	"github.com/pratique-dev/pratique/gateway"
)

// links are the open links of one upstream.
type links struct {
	mu     sync.Mutex // holds all below
	open   map[gateway.Link]bool
	closed bool
}

func newLinks() *links { return &links{open: map[gateway.Link]bool{}} }

func (s *links) add(l gateway.Link) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open[l] = true
	}
	return !s.closed
}

func (s *links) forget(l gateway.Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, l)
}

// close closes all links at one time, and lets no other one in.
func (s *links) close() {
	s.mu.Lock()
	s.closed = true
	var all []gateway.Link
	for l := range s.open {
		all = append(all, l)
	}
	s.mu.Unlock()
	var wait sync.WaitGroup
	for _, l := range all {
		wait.Go(func() { _ = l.Close() })
	}
	wait.Wait()
}

// unreachable is why no link could be made: another era, or nobody there.
func unreachable(err error) error {
	if errors.Is(err, gateway.ErrEra) || errors.Is(err, gateway.ErrUnreachable) || errors.Is(err, ErrClosed) {
		return err
	}
	return both(err, gateway.ErrUnreachable)
}
