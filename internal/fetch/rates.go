package fetch

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxRated bounds how many hosts and addresses are remembered.
const maxRated = 8192

// rates limits fetches per host name and per address. The second stops a
// registrant who names a thousand hosts that all resolve to one victim.
type rates struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu sync.Mutex
	by map[string]*rate.Limiter // guarded by mu
}

func newRates(limit rate.Limit, burst int, now func() time.Time) *rates {
	return &rates{limit: limit, burst: burst, now: now, by: make(map[string]*rate.Limiter)}
}

// allow takes one token of key. When the table is full of hosts that are not
// idle, it refuses: forgetting one would reset its rate.
func (r *rates) allow(key string) bool {
	t := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	l, ok := r.by[key]
	if !ok {
		if len(r.by) >= maxRated {
			r.dropIdle(t)
		}
		if len(r.by) >= maxRated {
			return false
		}
		l = rate.NewLimiter(r.limit, r.burst)
		r.by[key] = l
	}
	return l.AllowN(t, 1)
}

// dropIdle forgets whoever has all tokens again; mu is held.
func (r *rates) dropIdle(t time.Time) {
	for k, l := range r.by {
		if l.TokensAt(t) >= float64(r.burst) {
			delete(r.by, k)
		}
	}
}
