package client

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// Errors of the registry log, beside those of package ledger.
var (
	// ErrNoCheckpointKey means that the signed key list names no key of role
	// checkpoint.
	ErrNoCheckpointKey = errors.New("key list names no checkpoint key")
	// ErrBehind means that the log shown is shorter than what the key set or a
	// label says exists.
	ErrBehind = errors.New("log is shorter than what the registry has signed for elsewhere")
	// ErrNotLogged means that the log has, at the index that a label names, no
	// event that could be the label's.
	ErrNotLogged = errors.New("log has no such event of this tool at the label's index")
)

// A Ledger follows the registry log: each checkpoint must be signed by a key
// that the root vouches for and must extend the last one seen, across restarts
// if Trust.State is durable (RULES.md 28). It is safe for concurrent use.
type Ledger struct {
	keys *Keys

	mu   sync.Mutex // guards what follows; one update at a time
	vkey []string
	c    *ledger.Client
	f    *ledger.Follower
}

// NewLedger follows the log of the registry whose keys are k.
func NewLedger(k *Keys) *Ledger { return &Ledger{keys: k} }

// Checkpoint is the newest checkpoint. ledger.ErrRollback and ledger.ErrFork
// mean that the registry shows another history than before: stop acting on it
// and take both notes to its operator.
func (l *Ledger) Checkpoint(ctx context.Context) (ledger.Checkpoint, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.update(ctx, 0)
}

// update gets a checkpoint of at least size entries, and of as many as the key
// set's statement of freshness names. A registry posts a checkpoint a moment
// after it has signed it, so one that is behind is asked for again, for a while.
func (l *Ledger) update(ctx context.Context, size uint64) (ledger.Checkpoint, error) {
	s, err := l.keys.current(ctx)
	if err != nil {
		return ledger.Checkpoint{}, err
	}
	if err := l.prepare(ctx, s); err != nil {
		return ledger.Checkpoint{}, err
	}
	size = max(size, s.Freshness().Checkpoint.Size)
	for try := 1; ; try++ {
		cp, err := l.f.Update(ctx)
		if err != nil || cp.Size >= size {
			return cp, err
		}
		if try == behindTries {
			return ledger.Checkpoint{}, fmt.Errorf("%w: %d entries, and there must be %d", ErrBehind, cp.Size, size)
		}
		if err := pause(ctx, l.keys.backoff(try, behindWait, time.Second)); err != nil {
			return ledger.Checkpoint{}, err
		}
	}
}

// How long a log may be behind: some 3 s.
const (
	behindTries = 6
	behindWait  = 100 * time.Millisecond
)

// prepare makes a client of the log by the keys of now. The log's name is that
// of its first checkpoint; a name vouches for nothing, the keys do.
func (l *Ledger) prepare(ctx context.Context, s *snapshot) error {
	raw := l.keys.mem.checkpoint()
	if raw == nil {
		var err error
		raw, _, err = l.keys.exchange(ctx, call{method: http.MethodGet, path: "/ledger/checkpoint",
			limit: ledger.MaxNote, accept: "text/plain, application/octet-stream"})
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	origin, _, err := ledger.ParseUnverified(raw)
	if err != nil {
		return err
	}
	vkeys, err := checkpointKeys(s, origin)
	if err != nil || slices.Equal(vkeys, l.vkey) {
		return err
	}
	policy, err := ledger.NewPolicy(vkeys...)
	if err != nil {
		return err
	}
	hc := &http.Client{Transport: l.keys.rt, Timeout: l.keys.timeout}
	c, err := ledger.NewClient(l.keys.base+"/ledger", policy, &ledger.ClientOptions{HTTP: hc})
	if err != nil {
		return err
	}
	l.vkey, l.c, l.f = vkeys, c, ledger.NewFollower(c, &noteMemory{&l.keys.mem})
	return nil
}

// checkpointKeys are the verifier keys of the signed list's checkpoint keys.
func checkpointKeys(s *snapshot, origin string) ([]string, error) {
	var out []string
	for _, e := range s.Entries() {
		if e.Role != credentials.RoleCheckpoint || !e.State.Verifies() {
			continue
		}
		k, err := envelope.FromMembers(e.Jwk)
		if err != nil {
			return nil, err
		}
		pub, ok := k.Public.(ed25519.PublicKey)
		if !ok {
			continue
		}
		v, err := ledger.VerifierKey(origin, pub)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, ErrNoCheckpointKey
	}
	return out, nil
}

// Event is the event at an index, proved to be in the newest checkpoint.
func (l *Ledger) Event(ctx context.Context, index uint64) (registry.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index >= credentials.MaxInt {
		return registry.Event{}, ErrBehind
	}
	cp, err := l.update(ctx, index+1)
	if err != nil {
		return registry.Event{}, err
	}
	entries, err := l.c.Entries(ctx, index, 1, cp)
	if err != nil {
		return registry.Event{}, err
	}
	if len(entries) != 1 {
		return registry.Event{}, fmt.Errorf("%w: entry %d", ErrAnswer, index)
	}
	return registry.ParseEvent(entries[0])
}

// Included makes sure that the event which a label's seq names is in the log,
// and may be the one that moved this label: an event about this tool, or one
// about a principal or an origin, which moves many.
func (l *Ledger) Included(ctx context.Context, v labels.Verified) (registry.Event, error) {
	s := v.Statement()
	e, err := l.Event(ctx, s.Seq)
	if err != nil {
		return registry.Event{}, err
	}
	var about struct {
		ID   string             `json:"id"`
		Tool string             `json:"tool"`
		Mdg  credentials.Digest `json:"mdg"`
		Gen  uint64             `json:"gen"`
		Ver  uint64             `json:"ver"`
	}
	if err := decode(e.Data, &about); err != nil {
		return registry.Event{}, ErrNotLogged
	}
	switch e.Type {
	case registry.PrincipalEnrolled, registry.PrincipalCondemned, registry.PrincipalRecovered,
		registry.OriginCondemned, registry.TopologyRead, registry.KeysChanged, registry.LogRestored, registry.OperatorEnrolled:
		return e, nil
	}
	if about.ID != string(s.Sub) && about.Tool != string(s.Sub) ||
		!about.Mdg.IsZero() && about.Mdg != s.Mdg || about.Gen > s.Gen || about.Ver > s.Ver {
		return registry.Event{}, ErrNotLogged
	}
	return e, nil
}

// noteMemory keeps the last checkpoint in the state of the keys.
type noteMemory struct{ m *memory }

// Load implements ledger.Memory.
func (n *noteMemory) Load(context.Context) ([]byte, error) { return n.m.checkpoint(), nil }

// Save implements ledger.Memory.
func (n *noteMemory) Save(ctx context.Context, note []byte) error {
	if slices.Equal(n.m.checkpoint(), note) {
		return nil
	}
	return n.m.update(ctx, func(k *Kept) { k.Checkpoint = note })
}

func (m *memory) checkpoint() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.k.Checkpoint) == 0 {
		return nil
	}
	return m.k.Checkpoint
}

// Events reads the log as the API shows it, from an index on. Nothing is proved
// by it: see Ledger.
func (c *Client) Events(ctx context.Context, from uint64, limit int) (registry.EventList, error) {
	var out registry.EventList
	q := url.Values{"from": {strconv.FormatUint(from, 10)}}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return got(ctx, c.conn, "/v1/events", q, out)
}

// EventProof is the registry's proof that an entry is in the log, for tools that
// do not read tiles; size 0 means of the newest checkpoint.
func (c *Client) EventProof(ctx context.Context, index, size uint64) (registry.ProofView, error) {
	var out registry.ProofView
	q := url.Values{}
	if size > 0 {
		q.Set("size", strconv.FormatUint(size, 10))
	}
	return got(ctx, c.conn, "/v1/events/"+strconv.FormatUint(index, 10)+"/proof", q, out)
}
