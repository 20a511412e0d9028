package gateway

import (
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
)

// Errors of a gateway. None repeats a credential or an agent's words.
var (
	ErrOptions     = errors.New("gateway: an option that is required is missing")
	ErrCredential  = errors.New("gateway: no agent has this credential, or it was revoked") // 401; one answer for both
	ErrNotNow      = errors.New("gateway: the record of agents cannot be read now")         // 503, retry later
	ErrBusy        = errors.New("gateway: too many sessions of this agent are open")        // 429
	ErrEra         = errors.New("gateway: agent and upstream do not speak the same era")    // -32022 or a failed initialize
	ErrUnreachable = errors.New("gateway: the upstream does not answer")                    // 502
	ErrNoQuestions = errors.New("gateway: this agent cannot be asked")
	ErrClosed      = errors.New("gateway: closed")
)

// Options are what a gateway is made of. All but Observer, Log, Now and Random
// are required; the zero Limits are the defaults.
type Options struct {
	Upstream  Upstream
	Agents    Agents
	Runs      Runs
	Inspector quarantine.Inspector
	Keys      Keys
	Issuer    string // iss of the labels and sealed states: the registry's external URL
	Own       Own
	Profile   policy.Profile // of launches; agents have their own
	Observer  Observer       // nil: nobody watches
	Limits    Limits
	Log       *slog.Logger     // nil: nothing
	Now       func() time.Time // nil: time.Now
	Random    io.Reader        // nil: crypto/rand
}

// Keys signs and verifies with the node's own keys. *keyring.Ring is one.
type Keys interface {
	envelope.Keys
	SignToken(typ envelope.Type, claims any) (string, error)
}

// Limits bound what one agent can cost. A zero member is the default.
type Limits struct {
	Sessions  int           // open sessions of one agent; 64
	Calls     int           // open requests of one session; 256
	Rate      int           // requests of one agent a second, in the mean; 500
	Burst     int           // and at once; 2000
	Unknown   int           // entries a minute of one agent for names it was not shown, before they are counted; 20
	Rounds    int           // of questions in one call; 10
	Questions int           // of an upstream open at once in one session; 16
	Arguments int           // bytes of params; 16 MiB
	Early     time.Duration // how long a call waits for a surface that is being read; 10 s
	Freshness time.Duration // RULES.md 7; 2 s. Negative: list before each call
	State     time.Duration // life of a sealed request state; 10 min
	TTL       time.Duration // ttlMs of our own lists; 2 s
}

// Own is what no agent may name (RULES.md 13).
type Own struct {
	Data      string   // data folder
	Listeners []string // host:port of each of our listeners
	Home      string   // the home folder that ~ stands for; empty: os.UserHomeDir
}

// Via is how a session came.
type Via struct {
	Way string // stdio, http
}

// A Reload is what can change in a running gateway.
type Reload struct {
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
	if *v == 0 {
		*v = d
	}
}

func (l *Limits) defaults() {
	orInt(&l.Sessions, 64)
	orInt(&l.Calls, 256)
	orInt(&l.Rate, 500)
	orInt(&l.Burst, 2000)
	orInt(&l.Unknown, 20)
	orInt(&l.Rounds, 10)
	orInt(&l.Questions, 16)
	orInt(&l.Arguments, 16<<20)
	orTime(&l.Early, 10*time.Second)
	orTime(&l.Freshness, 2*time.Second)
	orTime(&l.State, 10*time.Minute)
	orTime(&l.TTL, 2*time.Second)
}

var _ = credentials.AgentID("")
