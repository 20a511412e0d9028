package proof

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
)

// Defaults of a replay set: about 130 s of 4,000 proofs a second in all, and of
// 500 a second by one key. An entry takes about 100 bytes.
const (
	DefaultReplayTotal  = 1 << 19
	DefaultReplayPerKey = 1 << 16
)

// A Replay set remembers the proofs that were accepted, for as long as each
// could be accepted again. It is bounded in all and per key, so that one
// key cannot use up the room of others; when full it refuses, it never forgets
// early. It lives in memory: see Nonces for why that is enough.
type Replay struct {
	total, perKey int

	mu    sync.Mutex
	seen  map[replayID]struct{}
	count map[credentials.KeyID]int
	// queue holds the entries in the order of acceptance, which is that of
	// their end, as all live equally long. head is the oldest.
	queue []replayEntry
	head  int
}

// replayID is SHA-256(jkt, SHA-256(jti)): both are bound, and an entry has
// one size whatever the sender chose.
type replayID [sha256.Size]byte

type replayEntry struct {
	id   replayID
	jkt  credentials.KeyID
	ends time.Time
}

// NewReplay makes a set for at most total proofs, perKey of one key; 0 means
// the default.
func NewReplay(total, perKey int) *Replay {
	if total <= 0 {
		total = DefaultReplayTotal
	}
	if perKey <= 0 {
		perKey = min(DefaultReplayPerKey, total)
	}
	return &Replay{total: total, perKey: perKey, seen: map[replayID]struct{}{}, count: map[credentials.KeyID]int{}}
}

// add remembers a proof until ends. ErrReplayed if it is there already,
// ErrReplaySetFull if there is no room.
func (r *Replay) add(jkt credentials.KeyID, jti credentials.TokenID, now, ends time.Time) error {
	id := newReplayID(jkt, jti)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(now)
	if _, ok := r.seen[id]; ok {
		return ErrReplayed
	}
	if len(r.seen) >= r.total || r.count[jkt] >= r.perKey {
		return ErrReplaySetFull
	}
	r.seen[id] = struct{}{}
	r.count[jkt]++
	r.queue = append(r.queue, replayEntry{id, jkt, ends})
	return nil
}

func newReplayID(jkt credentials.KeyID, jti credentials.TokenID) replayID {
	var b [43 + sha256.Size]byte
	copy(b[:], jkt)
	sum := sha256.Sum256([]byte(jti))
	copy(b[43:], sum[:])
	return sha256.Sum256(b[:])
}

// drop takes out what has ended, a bounded number per call: more than one
// call can add, so the set shrinks, and no request pays for all others.
func (r *Replay) drop(now time.Time) {
	for n := 0; n < 64 && r.head < len(r.queue); n++ {
		e := &r.queue[r.head]
		if !now.After(e.ends) {
			break
		}
		delete(r.seen, e.id)
		if r.count[e.jkt]--; r.count[e.jkt] <= 0 {
			delete(r.count, e.jkt)
		}
		*e = replayEntry{}
		r.head++
	}
	if r.head > 1024 && r.head > len(r.queue)/2 {
		n := copy(r.queue, r.queue[r.head:])
		clear(r.queue[n:])
		r.queue, r.head = r.queue[:n], 0
	}
}

// Len is how many proofs are remembered.
func (r *Replay) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}
