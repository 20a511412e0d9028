package broker

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxRated bounds how many origins are remembered.
const maxRated = 4096

// rates bounds requests, all together and by origin, so that one origin's texts do
// not use up what the others need (RULES.md 40).
type rates struct {
	all *rate.Limiter
	one int // per minute, of one origin

	mu sync.Mutex
	by map[string]*rate.Limiter // guarded by mu
}

func newRates(perMinute int) *rates {
	return &rates{all: perMinuteLimiter(perMinute), one: max(1, perMinute*2/3), by: map[string]*rate.Limiter{}}
}

func perMinuteLimiter(n int) *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(n)), n)
}

// wait waits for its turn, as long as ctx has time for it.
func (r *rates) wait(ctx context.Context, from string) error {
	l := r.of(from)
	if l == nil || l.Wait(ctx) != nil || r.all.Wait(ctx) != nil {
		return ErrRated
	}
	return nil
}

// of is an origin's limiter, nil where the table is full of busy ones.
func (r *rates) of(from string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.by[from]; ok {
		return l
	}
	if len(r.by) >= maxRated {
		for k, l := range r.by {
			if l.Tokens() >= float64(r.one) {
				delete(r.by, k)
			}
		}
	}
	if len(r.by) >= maxRated {
		return nil
	}
	l := perMinuteLimiter(r.one)
	r.by[from] = l
	return l
}
