package gateway

import (
	"bufio"
	"crypto"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/labels"
	guards "github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/observed"
	"github.com/pratique-dev/pratique/registry/runs"
)

// Errors of a gateway. None repeats a credential or an agent's words.
var (
	ErrOptions     = errors.New("gateway: an option that is required is missing")
	ErrCredential  = errors.New("gateway: no agent has this credential, or it was revoked") // 401; one answer for both
	ErrNotNow      = errors.New("gateway: the record of agents or runs cannot be used now") // 503, retry later
	ErrBusy        = errors.New("gateway: too many sessions of this agent are open")        // 429
	ErrEra         = errors.New("gateway: agent and upstream do not speak the same era")    // -32022 or a failed initialize
	ErrUnreachable = errors.New("gateway: the upstream does not answer")                    // 502
	ErrNoQuestions = errors.New("gateway: this agent cannot be asked")
	ErrClosed      = errors.New("gateway: closed")
)

// Options are what a gateway is made of. Upstream, Surfaces.Baseline, Agents,
// Runs, Record, Policy, Inspector, Keys, Issuer and Profile are required.
type Options struct {
	Upstream Upstream
	Surfaces Surfaces
	Agents   Agents
	Runs     *runs.Store
	Record   Recorder
	Policy   policy.Policy
	// Keep has a policy that an intent made kept for replay, before anything is decided
	// by it; nil: it is not kept.
	Keep      func(policy.Policy) error
	Inspector quarantine.Inspector
	Keys      Keys
	Issuer    string // iss of the labels and sealed states: the registry's external URL
	Own       Own
	Profile   policy.Profile  // of launches; agents have their own
	Observer  Observer        // nil: nobody watches
	Holds     Holds           // nil: what is withheld is not kept
	Withdrawn Withdrawals     // nil: nothing is revoked or condemned
	Conduct   *observed.Place // the accounts of what the upstream's tools do; nil: nobody watches
	Tallies   Tallies         // nil: nothing is counted, and rules about rates and known values see the worst
	Files     guards.Files    // what can be seen of the upstream's file system; nil: nothing
	Limits    Limits
	Log       *slog.Logger     // nil: nothing
	Now       func() time.Time // nil: time.Now
	Random    io.Reader        // nil: crypto/rand
}

// Surfaces is what the keepers of all sessions share.
type Surfaces struct {
	Baseline surface.Baseline
	Registry surface.Registrants             // nil: nobody registered anything
	Shelf    *surface.Shelf                  // nil: one for this gateway
	Standing func() labels.Standing          // of the place now; nil: unknown if the place is unpinned, else pinned
	Effect   func(*gate.Entry) labels.Effect // nil: as in surface.Options
	// EffectEnds is when Effect may say something else, as in surface.Options.
	EffectEnds func(now time.Time) int64
	// Elsewhere are the tools of other origins, which no tool here may pass itself off
	// as; nil: there are none. surface.Elsewhere makes it of the baselines.
	Elsewhere func() (map[string][]surface.Stranger, error)
	Limits    surface.Limits
}

// Keys signs and verifies with the node's own keys. *keyring.Ring is one.
type Keys interface {
	envelope.Keys
	SignToken(typ envelope.Type, claims any) (string, error)
	Signer(role credentials.Role) (crypto.Signer, envelope.Key, error)
}

// Limits bound what one agent can cost. A zero member is the default.
type Limits struct {
	Sessions  int           // open sessions of one agent; 64
	Calls     int           // open requests of one session; 256
	Rate      int           // requests of one agent a second, in the mean; 5,000
	Burst     int           // and at once; 20,000
	Single    int           // entries a minute of one agent and one reason for what is refused before it has an item, before they are counted; 20
	Rounds    int           // of questions in one call; 16
	Questions int           // of an upstream open at once in one session; 16
	Asked     int           // of an upstream in one call, one after the other; 256
	Params    int           // bytes of params; 16 MiB
	Listen    int           // resources in one subscription; 64
	Record    int64         // bytes that one agent's entries take in the record on one day, in UTC; 0: the share that the record says
	Inspect   time.Duration // for inspecting one result; 10 s
	Welcome   time.Duration // how long a new session waits for what it may say of the upstream; 5 s
	State     time.Duration // life of a sealed request state; 10 min
	Idle      time.Duration // until a stateless session without calls ends; 5 min
	TTL       time.Duration // ttlMs of our own lists; 2 s
	Grace     time.Duration // how long an upstream may be away until what it returned is withdrawn; 30 s
}

// Own is what no agent may name (RULES.md 13).
type Own struct {
	Data      string   // data folder
	Files     []string // that decide what agents may do, wherever they lie: configuration, rules, effects, intents
	Listeners []string // host:port or URL of each of our listeners
	Home      string   // the home folder that ~ stands for; empty: os.UserHomeDir
}

// Via is how a session came.
type Via struct {
	Way string // stdio, http
}

// A Reload is what can change in a running gateway. What is nil stays.
type Reload struct {
	Policy policy.Policy
}

// Anonymous is the name of an agent without a credential, where the operator
// allows one.
const Anonymous = "anonymous"

func orInt(v *int, d int) {
	if *v <= 0 {
		*v = d
	}
}

func orTime(v *time.Duration, d time.Duration) {
	if *v <= 0 {
		*v = d
	}
}

func (l *Limits) defaults() {
	orInt(&l.Sessions, 64)
	orInt(&l.Calls, 256)
	orInt(&l.Rate, 5000)
	orInt(&l.Burst, 20_000)
	orInt(&l.Single, 20)
	orInt(&l.Rounds, 16)
	orInt(&l.Questions, 16)
	orInt(&l.Asked, 256)
	orInt(&l.Params, 16<<20)
	orInt(&l.Listen, 64)
	orTime(&l.Inspect, 10*time.Second)
	orTime(&l.Welcome, 5*time.Second)
	orTime(&l.State, 10*time.Minute)
	orTime(&l.Idle, 5*time.Minute)
	orTime(&l.TTL, 2*time.Second)
	orTime(&l.Grace, 30*time.Second)
}

// check fills the defaults in.
func (o *Options) check() error {
	if o.Upstream == nil || o.Surfaces.Baseline == nil || o.Agents == nil || o.Runs == nil || o.Record == nil ||
		o.Policy == nil || o.Inspector == nil || o.Keys == nil || o.Issuer == "" || o.Profile == "" {
		return ErrOptions
	}
	o.Limits.defaults()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = &entropy{r: bufio.NewReaderSize(rand.Reader, 512)}
	}
	if o.Surfaces.Shelf == nil {
		o.Surfaces.Shelf = surface.NewShelf(0)
	}
	if o.Surfaces.Standing == nil {
		place := o.Upstream.Place()
		o.Surfaces.Standing = func() labels.Standing {
			if place.Unpinned {
				return labels.Unknown
			}
			return labels.Pinned
		}
	}
	return nil
}
