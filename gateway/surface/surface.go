// Package surface keeps what one agent can read of one upstream: it collects every
// list to its end, has every item inspected, holds all of it against what was
// accepted before, and knows whether that is still so at the moment of a call.
//
// The rules are in quarantine/gate, which builds a surface and makes the passes;
// what was accepted is in registry/baseline and what was shown in registry/runs,
// so that neither ends with a session. A Keeper joins them for one link.
package surface

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

// ErrOptions says that a required option is missing.
var ErrOptions = errors.New("surface: an option that is required is missing")

// An Upstream is the side that items come from. gateway.Link is one.
type Upstream interface {
	Welcome() mcp.Welcome
	List(ctx context.Context, method string, params []byte) (mcp.Frame, error)
}

// A Baseline is what was accepted of the upstream. Store makes one.
type Baseline interface {
	// Load is what is accepted now; the same pointer for as long as nothing changed.
	// On an error nothing is shown.
	Load() (*gate.Baseline, error)
	// Settle calls moves with what is accepted, under a lock that keeps others out,
	// and makes its moves durable. Of several processes only one has first sight.
	Settle(ctx context.Context, moves func(*gate.Baseline) ([]gate.Move, error)) (*gate.Baseline, error)
}

// Shown is what the agent was shown. Run makes one of a run.
type Shown interface {
	gate.Shown
	// Show records what is about to be shown; only then may it be.
	Show(ctx context.Context, set map[gate.Key]credentials.Digest) error
	// Forget records that items went away: coming back, they are new to the agent.
	Forget(ctx context.Context, keys []gate.Key) error
}

// Registrants is the registry's word on the upstream's origin. View makes one.
type Registrants interface {
	// Head changes whenever an answer of Of may have, but for time.
	Head() (uint64, error)
	// Of is the row of the tool that is registered under the name, where the origin
	// is attested and the row therefore counts, else nil (RULES.md 17). Covered is
	// false where the origin has a topology and none of its rows has the name.
	Of(name string, now time.Time) (row *gate.Row, covered bool, err error)
}

// Observations are what the conduct of items comes to. What implements it is shared
// by all keepers of an origin.
type Observations interface {
	// Head changes whenever an answer of Of may have.
	Head() (uint64, error)
	// Of is the content of an item's version by its conduct alone; ok is false where
	// nothing was observed.
	Of(e *gate.Entry, now time.Time) (c labels.Content, ok bool)
}

// A Stranger is a tool of another origin.
type Stranger struct {
	Name string
	At   int64 // when it was accepted there, in milliseconds since the epoch
}

// Options are what a keeper is made of. Upstream, Inspector, Baseline and Shown are
// required.
type Options struct {
	Upstream  Upstream
	Inspector quarantine.Inspector
	// Specimens takes the strings out of an item. An error withholds the item. nil:
	// quarantine.Specimens.
	Specimens func(it gate.Item) ([]quarantine.Specimen, error)
	Shelf     *Shelf // verdicts shared between keepers; nil: its own
	Baseline  Baseline
	Shown     Shown
	Registry  Registrants  // nil: nobody registered anything
	Observed  Observations // nil: nobody watched
	// Elsewhere are the tools that were accepted of other origins, by the shape of
	// their names (inspect.Shape); the same map for as long as nothing changed. nil:
	// there are no others.
	Elsewhere func() (map[string][]Stranger, error)
	Standing  func() labels.Standing            // of the place, asked again at each decision; nil: unknown
	Effect    func(e *gate.Entry) labels.Effect // of tools; nil: effects.Rule
	// EffectEnds is the next second since the epoch, after a time, from which Effect
	// may say something else; 0, or nil: never.
	EffectEnds func(now time.Time) int64
	Wording    bool // a change of nothing but a description is accepted if it is clear
	// UnsafeWatch is the profile watch: states are recorded and bind nothing.
	UnsafeWatch bool
	Base        registry.Entry                // copied into every entry that moves: run, agent, upstream, origin
	Moved       func(e *registry.Entry) error // surface.moved; on an error nothing moves. nil: not recorded
	// OnChanged is told after a new surface was judged, from a goroutine of the
	// keeper that Close waits for. listed is whether the upstream was asked for what it
	// lists; else what it listed before was judged anew. nil: nobody is.
	OnChanged func(kind gate.Kind, listed bool)
	Name      string // the operator's word for the upstream: what it is called while its own name is not cleared
	Limits    Limits
	Log       *slog.Logger     // nil: nothing
	Now       func() time.Time // nil: time.Now
}

// Limits bound what one upstream can cost. A zero member is the default.
type Limits struct {
	Items     int           // of all lists; 10,000
	Bytes     int           // of all lists; 32 MiB
	Pages     int           // of one list; 1,000
	Barren    int           // pages of one list that bring nothing new; 5
	Page      time.Duration // until a page is there; 5 s
	Collect   time.Duration // until a list is complete and judged; 30 s
	Early     time.Duration // how long a request waits for the first surface; 10 s
	Freshness time.Duration // RULES.md 7; 2 s. Negative: list before each call
	Retry     time.Duration // after a list that failed; 1 s
	Pace      time.Duration // between lists that notifications ask for; 200 ms
	Links     int           // URIs kept that the upstream linked; 10,000
}

func orInt(v *int, d int) {
	if *v <= 0 {
		*v = d
	}
}

func orTime(v *time.Duration, d time.Duration) {
	if *v == 0 {
		*v = d
	}
}

func (l *Limits) defaults() {
	orInt(&l.Items, 10_000)
	orInt(&l.Bytes, 32<<20)
	orInt(&l.Pages, 1_000)
	orInt(&l.Barren, 5)
	orInt(&l.Links, 10_000)
	orTime(&l.Page, 5*time.Second)
	orTime(&l.Collect, 30*time.Second)
	orTime(&l.Early, 10*time.Second)
	orTime(&l.Freshness, 2*time.Second)
	orTime(&l.Retry, time.Second)
	orTime(&l.Pace, 200*time.Millisecond)
}

// New makes a keeper. It asks the upstream for nothing before Start.
func New(o Options) (*Keeper, error) {
	if o.Upstream == nil || o.Inspector == nil || o.Baseline == nil || o.Shown == nil {
		return nil, ErrOptions
	}
	o.Limits.defaults()
	if o.Specimens == nil {
		o.Specimens = func(it gate.Item) ([]quarantine.Specimen, error) {
			return quarantine.Specimens(string(it.Kind), it.Raw)
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Shelf == nil {
		o.Shelf = NewShelf(0)
	}
	return newKeeper(o), nil
}
