package proof

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

// A Request is what a proof is held against: what the server itself knows of
// the request, not what the request says of itself.
type Request struct {
	Method string // as received
	URL    string // escaped path below the configured external address, from "/" on; no query
	Op     Op     // by the route
	ToolID credentials.ToolID
	Base   credentials.Digest // of the version that will be replaced, if known yet; else see Confirmed.Base
	Body   []byte             // as received; empty means none
	Handle string             // the handle shown, "" for none
	Key    credentials.KeyID  // whose proof it must be; "" leaves that to the caller
	Now    time.Time
}

// A Checker checks proofs. It is safe for concurrent use.
type Checker struct {
	base   string
	nonces *Nonces
	replay *Replay
	ttl    time.Duration
}

// NewChecker checks proofs for requests to external, the configured address
// that clients use (the origin, and the path if the service lives below one).
func NewChecker(external string, nonces *Nonces, replay *Replay) (*Checker, error) {
	b, err := base(external)
	if err != nil {
		return nil, err
	}
	if nonces == nil || replay == nil {
		return nil, fmt.Errorf("%w: nonces and replay set are needed", ErrRequest)
	}
	return &Checker{b, nonces, replay, replayLife(nonces.Life())}, nil
}

// replayLife is how long an accepted proof is remembered: all the time that any
// proof could be accepted in, and the tolerance at both ends. It follows from
// the limits and not from the proof's iat, which is the sender's to choose.
func replayLife(nonce time.Duration) time.Duration {
	return max(2*Window, nonce) + 2*credentials.Leeway
}

// Nonces are the checker's, for answers that offer the next nonce.
func (c *Checker) Nonces() *Nonces { return c.nonces }

// Check confirms that whoever made the proof holds its key and made it, freshly
// and for the first time, for this request. Cheap checks come first: form,
// claims, what they say, nonce; then the signature; then the digests of what
// may be long; and only a proof that holds in all of it is remembered.
func (c *Checker) Check(token string, r Request) (Confirmed, error) {
	rule, ok := rules[r.Op]
	if !ok {
		return Confirmed{}, fmt.Errorf("%w: operation is not known", ErrRequest)
	}
	if err := rule.fits(&r); err != nil {
		return Confirmed{}, err
	}
	u, err := envelope.Precheck(token, envelope.Proof)
	if err != nil {
		return Confirmed{}, refuse(err)
	}
	p, err := parse(u.Payload)
	if err != nil {
		return Confirmed{}, refuse(err)
	}
	if err := c.compare(p, rule, &r); err != nil {
		return Confirmed{}, refuse(err)
	}
	jkt := u.Holder.ID
	if r.Key != "" && r.Key != jkt {
		return Confirmed{}, refuse(ErrWrongKey)
	}
	if p.Nonce == nil || !c.nonces.Check(jkt, *p.Nonce, r.Now) {
		return Confirmed{}, c.useNonce(jkt, r.Now)
	}
	return c.confirm(token, p, &r)
}

// confirm is the costly half of Check.
func (c *Checker) confirm(token string, p *claims, r *Request) (Confirmed, error) {
	o, err := envelope.OpenProof(token)
	if err != nil {
		return Confirmed{}, refuse(err)
	}
	out := Confirmed{key: o.Key, op: r.Op, jti: credentials.TokenID(p.Jti), iat: p.Iat, tool: r.ToolID, token: token}
	if p.Ath != nil {
		out.ath = sha256.Sum256([]byte(r.Handle))
		if !equal(*p.Ath, base64.RawURLEncoding.EncodeToString(out.ath[:])) {
			return Confirmed{}, refuse(ErrAth)
		}
	}
	if p.Base != nil {
		if out.base, err = credentials.ParseDigest(*p.Base); err != nil {
			return Confirmed{}, refuse(ErrBase)
		}
	}
	if p.Bdg != nil {
		out.bdg = credentials.Digest(sha256.Sum256(r.Body))
		if !equal(*p.Bdg, out.bdg.String()) {
			return Confirmed{}, refuse(ErrBody)
		}
	}
	switch err := c.replay.add(o.Key.ID, out.jti, r.Now, r.Now.Add(c.ttl)); err {
	case nil:
		return out, nil
	case ErrReplaySetFull:
		return Confirmed{}, err
	default:
		return Confirmed{}, refuse(err)
	}
}

// refuse marks a cause as a refusal.
func refuse(cause error) error { return fmt.Errorf("%w: %w", ErrProof, cause) }

func (c *Checker) useNonce(jkt credentials.KeyID, now time.Time) error {
	n, err := c.nonces.New(jkt, now)
	if err != nil {
		return err
	}
	return &NonceError{n}
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// parse decodes the payload of a proof.
func parse(payload []byte) (*claims, error) {
	var p claims
	if err := canon.Unmarshal(payload, &p, canon.Limits{Bytes: envelope.MaxToken, Depth: 1, NoNull: true}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrClaims, err)
	}
	if _, err := credentials.ParseTokenID(p.Jti); err != nil {
		return nil, ErrJTI
	}
	return &p, nil
}

// compare holds the claims against the request, all that costs little.
func (c *Checker) compare(p *claims, rule Rule, r *Request) error {
	switch {
	case p.Htm != r.Method:
		return ErrMethod
	case p.Op != r.Op:
		return ErrOp
	case !sameURL(p.Htu, c.base, r.URL):
		return ErrURL
	}
	if err := p.times(r.Now); err != nil {
		return err
	}
	if err := rule.check(p, len(r.Body) > 0); err != nil {
		return err
	}
	if p.ToolID != nil && *p.ToolID != string(r.ToolID) {
		return ErrTool
	}
	if p.Base != nil && !r.Base.IsZero() && *p.Base != r.Base.String() {
		return ErrBase
	}
	return nil
}

// check refuses members that are missing or surplus, by name.
func (r Rule) check(p *claims, body bool) error {
	for _, m := range []struct {
		name string
		have *string
		want Presence
	}{{"ath", p.Ath, r.Ath}, {"tool_id", p.ToolID, r.ToolID}, {"base", p.Base, r.Base}, {"bdg", p.Bdg, r.Bdg}} {
		want := m.want == Present || m.want == ByBody && body
		switch {
		case want && m.have == nil:
			return fmt.Errorf("%w: %s", ErrMissing, m.name)
		case !want && m.have != nil:
			return fmt.Errorf("%w: %s", ErrSurplus, m.name)
		}
	}
	return nil
}

// fits refuses a request that the server describes otherwise than its rule:
// with a handle that nobody would look at, or without the tool to compare.
func (r Rule) fits(q *Request) error {
	switch {
	case (r.Ath == Present) != (q.Handle != ""):
		return fmt.Errorf("%w: handle", ErrRequest)
	case (r.ToolID == Present) != (q.ToolID != ""):
		return fmt.Errorf("%w: tool", ErrRequest)
	case r.Base == Absent && !q.Base.IsZero():
		return fmt.Errorf("%w: base", ErrRequest)
	case r.Bdg == Absent && len(q.Body) > 0, r.Bdg == Present && len(q.Body) == 0:
		return fmt.Errorf("%w: body", ErrRequest)
	case q.Method == "" || q.URL == "" || q.URL[0] != '/' || q.Now.IsZero():
		return fmt.Errorf("%w: method, path and time are needed", ErrRequest)
	}
	return nil
}
