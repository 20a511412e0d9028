package gateway

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels/policy"
)

// maxInner is the longest state of an upstream that is sealed, in bytes.
const maxInner = 256 << 10

// maxSpent is how many spent states are remembered; while all of them are alive,
// no further one is executed.
const maxSpent = 1 << 16

// Digest contexts of what a state is bound to.
const (
	argumentsContext = "pratique/call-arguments/v1"
	questionsContext = "pratique/call-questions/v1"
)

// sealed are the claims of a request-state+jwt: the upstream's state of a call of
// several rounds, bound to all that the next round must have in common with this
// one (RULES.md 5). It travels through the agent, who can neither change it nor
// use it for another call.
type sealed struct {
	credentials.Registered
	Start    string              `json:"start"` // of the process: a restart voids it
	Agent    credentials.AgentID `json:"agent"`
	Run      string              `json:"run"`
	Upstream string              `json:"upstream"`
	Method   string              `json:"method"`
	Kind     string              `json:"kind"`
	Name     string              `json:"name"`
	Item     credentials.Digest  `json:"item"`
	Args     credentials.Digest  `json:"args"`
	Asked    credentials.Digest  `json:"questions"`
	Round    int                 `json:"round"`
	Inner    *string             `json:"inner,omitzero"` // the upstream's own; absent: it sent none
}

// binding is what a retry must have in common with the round before.
func (s *Session) bind(c *call, ok *permitted) sealed {
	return sealed{
		Agent: s.who.ID, Run: s.who.Run, Upstream: s.g.o.Upstream.Name(), Method: c.f.Method,
		Kind: string(ok.item.Kind), Name: ok.item.Name, Item: ok.item.Digest, Args: argumentsDigest(ok.p.arguments()),
	}
}

// argumentsDigest is the same for arguments that are equal as JSON: a client may
// write them anew for the retry.
func argumentsDigest(args []byte) credentials.Digest {
	c, err := canon.JSON(args, canon.Limits{Bytes: len(args) + 1, Depth: maxNesting, AllowNUL: true})
	if err != nil {
		return canon.Digest(argumentsContext+"/raw", args) // numbers beyond a float: byte for byte then
	}
	return canon.Digest(argumentsContext, c)
}

// states seals and opens, and knows what was spent.
type states struct {
	keys   Keys
	v      envelope.Verifier
	issuer string
	life   time.Duration
	start  string

	mu    sync.Mutex
	spent map[credentials.TokenID]int64 // → exp
}

func newStates(keys Keys, issuer string, life time.Duration, start string) *states {
	return &states{keys: keys, v: envelope.NewVerifier(keys), issuer: issuer, life: life, start: start, spent: map[credentials.TokenID]int64{}}
}

// seal makes the token of a round.
func (x *states) seal(b sealed, now time.Time) (string, error) {
	var jti [16]byte
	if _, err := rand.Read(jti[:]); err != nil {
		return "", err
	}
	b.Registered = credentials.NewRegistered(x.issuer, credentials.TokenID(base64.RawURLEncoding.EncodeToString(jti[:])), now, x.life)
	b.Start = x.start
	return x.keys.SignToken(envelope.RequestState, &b)
}

// open opens a token and holds it against the call that shows it. Why is empty,
// or the name of what is wrong: forged, expired, restarted, other_agent,
// other_call, other_arguments, replayed.
func (x *states) open(token string, b sealed, now time.Time) (st *sealed, why string) {
	o, err := x.v.Verify(envelope.RequestState, token)
	if err != nil {
		return nil, "forged"
	}
	st = new(sealed)
	if envelope.Claims(o, st) != nil || st.Iss != x.issuer {
		return nil, "forged"
	}
	switch err := st.CheckTime(now, x.life); {
	case errors.Is(err, credentials.ErrExpired):
		return nil, "expired"
	case err != nil:
		return nil, "forged"
	}
	switch {
	case st.Start != x.start:
		return nil, "restarted"
	case st.Agent != b.Agent || st.Run != b.Run:
		return nil, "other_agent"
	case st.Upstream != b.Upstream || st.Method != b.Method || st.Kind != b.Kind || st.Name != b.Name || st.Item != b.Item:
		return nil, "other_call"
	case st.Args != b.Args:
		return nil, "other_arguments"
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, gone := x.spent[st.Jti]; gone {
		return nil, "replayed"
	}
	return st, ""
}

// spend uses a state up; false if it was, or if no more can be remembered.
func (x *states) spend(st *sealed) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, gone := x.spent[st.Jti]; gone {
		return false
	}
	if len(x.spent) >= maxSpent {
		for id, exp := range x.spent {
			if exp+int64(credentials.Leeway/time.Second) < st.Iat {
				delete(x.spent, id) // expired before this one was issued
			}
		}
		if len(x.spent) >= maxSpent {
			return false
		}
	}
	x.spent[st.Jti] = st.Exp
	return true
}

// unspend gives a state back that was not executed after all.
func (x *states) unspend(st *sealed) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.spent, st.Jti)
}

// errRounds, errAsked and errState hold a result that asks for another round.
var (
	errRounds = errors.New("gateway: too many rounds")
	errAsked  = errors.New("gateway: a question that may not be asked")
	errState  = errors.New("gateway: the upstream's state is no text, or too long")
)

func reasonOf(err error) policy.Reason {
	switch {
	case errors.Is(err, errAsked):
		return policy.Question
	case errors.Is(err, errRounds):
		return policy.Quota
	}
	return policy.UpstreamInvalid
}

// rounds judges the questions in an input_required result, and seals its state.
// Every other result stays as it is.
func (s *Session) rounds(ctx context.Context, c *call, w *recorded, a mcp.Frame) (mcp.Frame, error) {
	if t, _ := mcp.GetString(a.Result, "resultType"); !s.rev.Modern() || t != mcp.ResultInputRequired {
		return a, nil
	}
	round := 1
	if w.state != nil {
		round = w.state.Round + 1
	}
	if round > s.g.o.Limits.Rounds {
		return a, errRounds
	}
	b := s.bind(c, &w.permitted)
	b.Round = round
	if v, ok := mcp.Get(a.Result, "requestState"); ok && v.Kind() != 'n' {
		inner, ok := mcp.String(v)
		if !ok || len(inner) > maxInner {
			return a, errState
		}
		b.Inner = &inner
	}
	set := []mcp.Member{}
	switch asked, there := mcp.Get(a.Result, "inputRequests"); {
	case !there || asked.Kind() == 'n':
	case asked.Kind() != '{': // what cannot be judged is not passed on
		return a, errAsked
	default:
		judged, err := s.inputs(ctx, c, asked)
		if err != nil {
			return a, err
		}
		b.Asked = canon.Digest(questionsContext, judged)
		set = append(set, mcp.Member{Name: "inputRequests", Value: judged})
	}
	token, err := s.g.states.seal(b, s.g.o.Now())
	if err != nil {
		return a, err
	}
	set = append(set, mcp.Member{Name: "requestState", Value: mcp.Quote(token)})
	a.Result, err = mcp.Edit(a.Result, set, nil)
	return a, err
}
