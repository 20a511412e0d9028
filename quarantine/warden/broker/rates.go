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
	all   *rate.Limiter
	one   int // per minute, of one origin
	slots int // at once, of one origin

	mu sync.Mutex
	by map[string]*account // guarded by mu
}

// An account is what an origin has used, and how it went.
type account struct {
	*rate.Limiter
	slots chan struct{} // one per request that runs, or waits to

	row   int       // requests in a row that failed; guarded by health.mu like until
	until time.Time // none before
}

// newRates bounds requests in a minute and at once. One origin does not have all.
func newRates(perMinute, parallel int) *rates {
	return &rates{all: perMinuteLimiter(perMinute), one: max(1, perMinute*2/3), slots: max(1, parallel-1), by: map[string]*account{}}
}

func perMinuteLimiter(n int) *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(n)), n)
}

// wait waits for its turn, as long as ctx has time for it.
func (r *rates) wait(ctx context.Context, a *account) error {
	if a == nil || a.Wait(ctx) != nil || r.all.Wait(ctx) != nil {
		return ErrRated
	}
	return nil
}

// of is an origin's account, nil where the table is full of busy ones.
func (r *rates) of(from string) *account {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l, ok := r.by[from]; ok {
		return l
	}
	if len(r.by) >= maxRated {
		for k, l := range r.by {
			if l.Tokens() >= float64(r.one) && len(l.slots) == 0 {
				delete(r.by, k)
			}
		}
	}
	if len(r.by) >= maxRated {
		return nil
	}
	l := &account{Limiter: perMinuteLimiter(r.one), slots: make(chan struct{}, r.slots)}
	r.by[from] = l
	return l
}
