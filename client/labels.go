package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// Bounds of a source of labels.
const (
	DefaultLabels = 1 << 14 // labels remembered by tool
	askEvery      = 5 * time.Second
)

// ErrNoLabel means that the registry gives no label that fits what is to be
// shown.
var ErrNoLabel = errors.New("registry has no label of what is to be shown")

// LabelOptions are the settings of Labels. Nil and the zero value are strict.
type LabelOptions struct {
	KeysOptions

	Size int // labels remembered by tool; 0: DefaultLabels
}

// Labels is a source of trust labels for whoever shows tools to an agent. A
// label comes out of it only as labels.Verified: signed by a key that the
// pinned root vouches for now, of exactly what is about to be shown, not lower
// in seq than one seen before, not lowered since, and, if above Red, under a
// key set that is fresh. It is safe for concurrent use.
type Labels struct {
	keys   *Keys
	cache  *envelope.Cache[labels.Signed] // of signatures, not of decisions
	belief atomic.Pointer[belief]

	mu   sync.Mutex // guards what follows
	held *bounded[credentials.ToolID, heldLabel]
	fell *bounded[credentials.ToolID, uint64] // least seq that the stream leaves
	last uint64                               // id of the newest event of the stream
}

// belief is a statement of freshness together with the list that it names.
// While the list of a newer statement cannot be had, the older pair stays in
// use, and ages.
type belief struct {
	at     time.Time
	digest credentials.Digest
	list   labels.Lowered
}

// heldLabel is what the registry answered for a tool.
type heldLabel struct {
	token string    // "" after the stream dropped it
	asked time.Time // when the registry was asked last
	half  time.Time // when half of the label's life is over: ask for the next
}

// NewLabels makes a source of labels of one registry. It fetches nothing yet.
func NewLabels(registryURL string, trust Trust, opt *LabelOptions) (*Labels, error) {
	var o LabelOptions
	if opt != nil {
		o = *opt
	}
	if o.Size <= 0 {
		o.Size = DefaultLabels
	}
	keys, err := NewKeys(registryURL, trust, &o.KeysOptions)
	if err != nil {
		return nil, err
	}
	l := &Labels{
		keys: keys,
		held: newBounded[credentials.ToolID, heldLabel](o.Size),
		fell: newBounded[credentials.ToolID, uint64](maxSeqs),
	}
	l.cache = envelope.NewCache(l.openSigned, l.epoch, 2*o.Size)
	keys.onView = l.complete
	return l, nil
}

// Keys is the source of keys beneath.
func (l *Labels) Keys() *Keys { return l.keys }

// Close ends what is going on and saves what was seen.
func (l *Labels) Close() error { return l.keys.Close() }

func (l *Labels) epoch() uint64 {
	if s := l.keys.view.Load(); s != nil {
		return s.epoch
	}
	return ^uint64(0)
}

// openSigned is the cold path of the cache. What it returns is remembered until
// the label or its key ends, or the list of keys changes.
func (l *Labels) openSigned(token string) (*labels.Signed, time.Time, error) {
	s, now := l.keys.view.Load(), l.keys.now()
	if s == nil {
		return nil, time.Time{}, ErrNoKeys
	}
	v, err := s.Verifier(now)
	if err != nil {
		return nil, time.Time{}, err
	}
	g, err := labels.Open(v, token)
	if err != nil {
		return nil, time.Time{}, err
	}
	until := time.Unix(g.UnshownClaims().Exp, 0)
	if u, err := envelope.Precheck(token, envelope.Label); err == nil {
		for _, e := range s.Entries() {
			if end := time.Unix(e.Ends, 0); e.Kid == u.KeyID && e.Ends != 0 && end.Before(until) {
				until = end
			}
		}
	}
	return g, until.Add(credentials.Leeway), nil
}

// asIs lets the cache's question about the present pass: Show asks it, of more
// than the cache knows.
type asIs struct{}

func (asIs) Live(*labels.Signed) error { return nil }

// Verify holds a label against what is about to be shown, now. Of shown, Issuer
// may be left out and Fresh is not looked at, since the source knows them;
// MinSeq counts where it is above what the source has seen.
func (l *Labels) Verify(ctx context.Context, token string, shown labels.Shown) (v labels.Verified, err error) {
	err = l.keys.with(ctx, envelope.Label, token, func(s *snapshot, now time.Time) error {
		g, err := l.cache.Open(token, now, asIs{})
		if err != nil {
			return err
		}
		c := g.UnshownClaims()
		w := shown
		iss := s.Pins().Iss
		if w.Issuer != "" && w.Issuer != iss || c.Iss != iss {
			return credentials.ErrIssuer
		}
		l.keys.mem.see(c.Sub, c.Seq)
		w.Issuer, w.Fresh = iss, l.freshness()
		w.MinSeq = max(w.MinSeq, l.keys.mem.seq(c.Sub), l.floor(c.Sub))
		v, err = g.Show(w, now)
		return err
	})
	if err != nil {
		return labels.Verified{}, err
	}
	return v, nil
}

func (l *Labels) floor(t credentials.ToolID) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	seq, _ := l.fell.get(t)
	return seq
}

// freshness is what is believed of the key set and the lowered labels.
func (l *Labels) freshness() labels.Freshness {
	b := l.belief.Load()
	if b == nil {
		return labels.Freshness{}
	}
	return labels.Freshness{At: b.at, MaxStale: l.keys.o.MaxStale, Digest: b.digest, Lowered: b.list}
}

// complete follows each good fetch of the key set: it gets the list of lowered
// labels that the new statement of freshness names, if it is another one.
func (l *Labels) complete(ctx context.Context, s *snapshot) error {
	b := belief{at: s.at(), digest: s.Freshness().Lowered}
	old := l.belief.Load()
	switch {
	case b.digest.IsZero() || b.digest == (labels.Lowered{}).Digest():
	case old != nil && old.digest == b.digest:
		b.list = old.list
	default:
		list, err := l.lowered(ctx, b.digest)
		if err != nil {
			return fmt.Errorf("lowered labels: %w", err) // the older pair stays, until it is too old
		}
		b.list = list
	}
	l.belief.Store(&b)
	return nil
}

func (l *Labels) lowered(ctx context.Context, digest credentials.Digest) (labels.Lowered, error) {
	raw, _, err := l.keys.exchange(ctx, call{method: http.MethodGet, path: "/v1/labels/lowered",
		query: url.Values{"digest": {digest.String()}}, limit: labels.MaxLowered})
	if err != nil {
		return labels.Lowered{}, err
	}
	list, err := labels.ParseLowered(raw)
	if err == nil && list.Digest() != digest {
		err = labels.ErrLoweredList
	}
	return list, err
}

// Label is the registry's label of shown.Tool, verified. Labels are remembered
// and asked for again when half of their life is over, when they do not fit
// what is to be shown any more, or when the stream (Follow) says that they
// changed; one tool at most every 5 s.
func (l *Labels) Label(ctx context.Context, shown labels.Shown) (labels.Verified, error) {
	path, err := labelPath(shown.Tool)
	if err != nil {
		return labels.Verified{}, err
	}
	l.mu.Lock()
	h, _ := l.held.get(shown.Tool)
	l.mu.Unlock()
	now := l.keys.now()
	known := labels.Verified{}
	old := ErrNoLabel
	if h.token != "" {
		if known, old = l.Verify(ctx, h.token, shown); old == nil && now.Before(h.half) {
			return known, nil
		}
		if d := now.Sub(h.asked); d >= 0 && d < askEvery {
			return known, old
		}
	}
	var view registry.LabelView
	if err := l.keys.get(ctx, path, nil, &view); err != nil {
		if old == nil { // good for a while yet
			return known, nil
		}
		return labels.Verified{}, err
	}
	return l.take(ctx, shown, view, now)
}

// take verifies what the registry answered, and remembers it if it is good.
func (l *Labels) take(ctx context.Context, shown labels.Shown, view registry.LabelView, now time.Time) (labels.Verified, error) {
	v, err := l.Verify(ctx, view.Label, shown)
	h := heldLabel{token: view.Label, asked: now}
	tool := shown.Tool
	if err == nil {
		s := v.Statement()
		issued := time.Unix(s.Iat, 0).Add(credentials.Backdate)
		h.half, tool = issued.Add(time.Unix(s.Exp, 0).Sub(issued)/2), s.Sub
	}
	if tool != "" && len(view.Label) <= envelope.MaxToken {
		l.mu.Lock()
		l.held.put(tool, h)
		l.mu.Unlock()
	}
	return v, err
}

// Find looks a label up by the digest of what is about to be shown: for those
// who know metadata and origin but no tool id. Of several that fit, the
// registry's first counts.
func (l *Labels) Find(ctx context.Context, shown labels.Shown) (labels.Verified, error) {
	_, digest, err := canon.Metadata(shown.Metadata)
	if err != nil {
		return labels.Verified{}, fmt.Errorf("%w: %w", labels.ErrShownMetadata, err)
	}
	shown.AnyTool = shown.AnyTool || shown.Tool == ""
	var list registry.LabelList
	q := url.Values{"digest": {credentials.Digest(digest).String()}}
	if err := l.keys.get(ctx, "/v1/labels", q, &list); err != nil {
		return labels.Verified{}, err
	}
	why := ErrNoLabel
	for _, view := range list.Labels {
		v, err := l.take(ctx, shown, view, l.keys.now())
		if err == nil {
			return v, nil
		}
		why = fmt.Errorf("%w: %w", ErrNoLabel, err)
	}
	return labels.Verified{}, why
}

func labelPath(tool credentials.ToolID) (string, error) {
	if _, err := credentials.ParseToolID(string(tool)); err != nil {
		return "", err
	}
	return "/v1/labels/" + string(tool), nil
}
