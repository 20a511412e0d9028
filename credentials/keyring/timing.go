package keyring

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// Timing holds the times that decide when a key may move. The zero value of
// each field stands for its default.
type Timing struct {
	MaxAge      time.Duration // M: how long caches keep the key set (default 5 min)
	Refresh     time.Duration // R: how often a relying party asks for it (1 min)
	Propagation time.Duration // D: until every process of ours follows a change (30 s)
	Skew        time.Duration // S: between clocks (60 s, credentials.Backdate)

	// Publish is how long a key is published before it may sign. Default 15
	// min; less than M+R+D+S is refused.
	Publish time.Duration
	// TTL is the longest life of what a role signs. Defaults: handle and label
	// 24 h, key-set 15 min, root 1 year, checkpoint 24 h, state 1 h.
	TTL map[Role]time.Duration
	// Verify is how long a key stays retiring. Default TTL+S+D rounded up to
	// the hour (25 h for handles); less than TTL+S+D is refused.
	Verify map[Role]time.Duration
	// Life is how long a key is active before its scheduled rotation, less up
	// to a tenth that depends on the key. Default 30 d; root and checkpoint
	// rotate only by hand, since people and witnesses pin them: negative means
	// never.
	Life map[Role]time.Duration
}

const never = time.Duration(-1)

// ListLife is how long a signed key list is good; the ring signs it anew at
// the latest listRenew before its end.
const (
	ListLife  = 365 * 24 * time.Hour
	listRenew = 30 * 24 * time.Hour
)

// FreshLife is how long a statement of freshness is good.
const FreshLife = 15 * time.Minute

// withDefaults fills the gaps and refuses what is below the bounds, naming the
// bound.
func (t Timing) withDefaults() (Timing, error) {
	t.MaxAge = cmp.Or(t.MaxAge, 5*time.Minute)
	t.Refresh = cmp.Or(t.Refresh, time.Minute)
	t.Propagation = cmp.Or(t.Propagation, 30*time.Second)
	t.Skew = cmp.Or(t.Skew, credentials.Backdate)
	t.Publish = cmp.Or(t.Publish, max(15*time.Minute, t.MinPublish()))
	if min(t.MaxAge, t.Refresh, t.Propagation, t.Skew, t.Publish) < 0 {
		return t, fmt.Errorf("%w: negative", ErrTiming)
	}
	if b := t.MinPublish(); t.Publish < b {
		return t, fmt.Errorf("%w: publish %v < %v (max-age + refresh + propagation + skew)", ErrTiming, t.Publish, b)
	}
	ttl := map[Role]time.Duration{
		credentials.RoleRoot: ListLife, credentials.RoleHandle: credentials.MaxHandleLife, credentials.RoleLabel: 24 * time.Hour,
		credentials.RoleKeySet: FreshLife, credentials.RoleCheckpoint: 24 * time.Hour, credentials.RoleState: time.Hour,
	}
	maps.Copy(ttl, t.TTL)
	t.TTL = ttl
	verify := map[Role]time.Duration{}
	life := map[Role]time.Duration{credentials.RoleRoot: never, credentials.RoleCheckpoint: never}
	for _, r := range Roles() {
		bound := t.MinVerify(r)
		verify[r] = (bound + time.Hour - 1).Truncate(time.Hour)
		if v, ok := t.Verify[r]; ok {
			verify[r] = v
		}
		if ttl[r] <= 0 || verify[r] < bound {
			return t, fmt.Errorf("%w: %s: verify %v < %v (ttl + skew + propagation)", ErrTiming, r, verify[r], bound)
		}
		if life[r] == 0 {
			life[r] = 30 * 24 * time.Hour
		}
	}
	maps.Copy(life, t.Life)
	t.Verify, t.Life = verify, life
	return t, nil
}

// MinPublish is the least Publish: M+R+D+S. Whoever asks for the key set every
// R, through caches that keep it M, has the key before it signs.
func (t Timing) MinPublish() time.Duration {
	return t.MaxAge + t.Refresh + t.Propagation + t.Skew
}

// MinVerify is the least Verify of a role: TTL+S+D. The last token signed, by
// the last process to learn of the rotation, has expired everywhere.
func (t Timing) MinVerify(r Role) time.Duration {
	return t.TTL[r] + t.Skew + t.Propagation
}

func secs(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// ripe is when a published key may become active.
func (t Timing) ripe(s Slot) int64 { return s.Published + secs(t.Publish) }

// due is when an active key should be rotated by schedule; ok is false for
// never. The jitter comes from the key id, so that replicas agree and roles
// don't all rotate at once.
func (t Timing) due(s Slot) (at int64, ok bool) {
	life := t.Life[s.Role]
	if life <= 0 {
		return 0, false
	}
	h := fnv.New32a()
	h.Write([]byte(s.Kid))
	cut := time.Duration(float64(life) / 10 * float64(h.Sum32()) / (1 << 32))
	return s.Activated + secs(life-cut), true
}
