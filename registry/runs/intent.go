package runs

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry"
)

// Errors of sealing. Each leaves everything as it was, and an entry that says so.
var (
	ErrPresented = errors.New("runs: the credential was presented, so its run has begun and is not sealed any more; make another credential")
	ErrBound     = errors.New("runs: the credential has an intent for life; only a provably narrower one takes its place")
	ErrUnbound   = errors.New("runs: there is no intent to narrow")
	ErrMoved     = errors.New("runs: the intent was narrowed meanwhile; look again")
	ErrIntent    = errors.New("runs: the token was not made by an operator for exactly this intent and agent, is too old or was used before")
)

// maxSeals is how many seals one intent has: the first, and those that narrowed it.
const maxSeals = 64

// A Sealing is what became of a token over an intent.
type Sealing struct {
	Agent   credentials.AgentID `json:"agent"`
	Op      string              `json:"op"` // intent.OpSeal, intent.OpNarrow
	Intent  credentials.Digest  `json:"intent"`
	Was     credentials.Digest  `json:"was,omitzero"` // OpNarrow: what was sealed before
	Expires time.Time           `json:"expires,omitzero"`
	By      credentials.KeyID   `json:"by,omitzero"` // the operator's key; empty: it is nobody's word
	Loose   bool                `json:"unprotected,omitzero"`
	Token   string              `json:"-"`
}

// entry is the record of it; why: it was refused.
func (x *Sealing) entry(why error) *registry.Entry {
	e := &registry.Entry{Type: registry.EntrySealed, Agent: x.Agent, Intent: x.Intent, Was: x.Was, By: "operator", Act: x.Token}
	e.Detail = map[string]string{intent.OpSeal: "sealed before the first presentation", intent.OpNarrow: "narrowed"}[x.Op]
	if why != nil {
		e.Type, e.Act, e.Detail = registry.EntryUnsealed, "", reasonOf(why)
		if x.By == "" {
			e.By = ""
		}
	} else {
		e.Detail += ", until " + x.Expires.Format(time.RFC3339)
	}
	if x.Loose {
		e.Detail += "; the key lay unencrypted"
	}
	return e
}

// reasonOf is why something was refused, in words of ours.
func reasonOf(err error) string {
	for _, r := range []struct {
		is   error
		text string
	}{
		{ErrPresented, "after the first presentation"}, {ErrBound, "in the place of another"}, {ErrUnbound, "nothing to narrow"},
		{intent.ErrWider, "wider, or not provably narrower"}, {ErrMoved, "over another intent than is sealed"}, {ErrIntent, "not an operator's word for this, now and once"},
		{ErrLimit, "narrowed too often"}, {ErrDamaged, "the file of the intent is damaged"},
	} {
		if errors.Is(err, r.is) {
			return r.text
		}
	}
	return "it cannot be kept"
}

// SignIntent signs an intent: to seal it or, in the place of was, to narrow that.
// loose says that the key was read unencrypted.
func (s *Store) SignIntent(key *envelope.Signer, i, was *intent.Intent, loose bool) (string, error) {
	var jti [16]byte
	if _, err := io.ReadFull(s.opt.Rand, jti[:]); err != nil {
		return "", fmt.Errorf("runs: %w", err)
	}
	id := credentials.TokenID(base64.RawURLEncoding.EncodeToString(jti[:]))
	c := &intent.Claims{
		Registered: credentials.NewRegistered(string(key.Key().ID.Principal()), id, s.opt.Now(), intent.TokenLife),
		Aud:        s.opt.Audience, Op: intent.OpSeal, Agent: i.Agent(), Intent: i.Digest(), Loose: loose,
	}
	if was != nil {
		c.Op, c.Was = intent.OpNarrow, was.Digest()
	}
	return key.Sign(c)
}

// Seal takes an operator's token over an intent, whose canonical text comes with it:
// before the credential is first presented it binds the credential for life, later it
// can only narrow. note has it on record before it takes effect, and what is refused
// too. ErrPresented, ErrBound, ErrUnbound, ErrMoved, ErrIntent, intent.ErrWider,
// ErrLimit, ErrDamaged.
func (s *Store) Seal(ctx context.Context, token string, text []byte, note func(*registry.Entry) error) (Sealing, error) {
	x, i, err := s.judged(token, text)
	if err == nil {
		err = s.take(ctx, &x, i, note)
	}
	return x, s.refused(&x, err, note)
}

// refused has a refusal on record.
func (s *Store) refused(x *Sealing, err error, note func(*registry.Entry) error) error {
	if err == nil {
		return nil
	}
	if bad := note(x.entry(err)); bad != nil {
		return errors.Join(err, bad)
	}
	return err
}

// judged is what a token says, where an operator said it of this text, now.
func (s *Store) judged(token string, text []byte) (x Sealing, i *intent.Intent, err error) {
	if i, err = intent.Read(text); err != nil {
		return x, nil, fmt.Errorf("%w: %w", ErrIntent, err)
	}
	x = Sealing{Agent: i.Agent(), Op: intent.OpSeal, Intent: i.Digest(), Expires: i.Expires(), Token: token}
	c, by, ok := intent.Open(s.opt.Intents, token, s.opt.Audience)
	if !ok {
		return x, nil, ErrIntent
	}
	x.Op, x.Was, x.By = c.Op, c.Was, by
	x.Loose = c.Loose || s.opt.Unprotected != nil && s.opt.Unprotected(by)
	now := s.opt.Now()
	if c.Agent != i.Agent() || c.Intent != i.Digest() || c.CheckTime(now, intent.TokenLife) != nil || !i.Expires().After(now) {
		return x, nil, ErrIntent
	}
	return x, i, nil
}

// take seals or narrows. The lock of the agent's run, in which the first presentation
// begins it, keeps the two from crossing.
func (s *Store) take(ctx context.Context, x *Sealing, i *intent.Intent, note func(*registry.Entry) error) error {
	if x.Op == intent.OpNarrow {
		return s.narrow(ctx, x, i, note)
	}
	if i.Launch() {
		return ErrPresented // a launch is sealed where it begins: SealLaunch
	}
	h := s.holder(i.Agent())
	unlock, err := s.files.Lock(ctx, h.file)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	defer unlock()
	data, _, err := s.files.Read(h.file, maxFile) // whatever is there, the run has begun
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return s.bind(ctx, x, i, note, data != nil)
}

// bind writes a first sealing.
func (s *Store) bind(ctx context.Context, x *Sealing, i *intent.Intent, note func(*registry.Entry) error, begun bool) error {
	return s.amendBinding(ctx, i.Agent(), func(b *binding) (*binding, error) {
		switch {
		case b != nil:
			return nil, ErrBound
		case begun:
			return nil, ErrPresented
		}
		return s.sealed(&binding{Agent: i.Agent()}, x, i, note)
	})
}

func (s *Store) narrow(ctx context.Context, x *Sealing, i *intent.Intent, note func(*registry.Entry) error) error {
	h := s.holder(i.Agent())
	if i.Launch() {
		h = s.holderOf(i.Agent(), launchSuffix)
	}
	d, err := h.read()
	if err != nil {
		d = nil // nothing of that run is allowed as it is
	}
	err = s.amendBinding(ctx, i.Agent(), func(b *binding) (*binding, error) {
		switch {
		case b == nil:
			return nil, ErrUnbound
		case !b.newest(d):
			return nil, fmt.Errorf("%w: the file of the intent is an older one", ErrDamaged)
		case slices.ContainsFunc(b.Seals, func(o seal) bool { return o.Token == x.Token }):
			return nil, ErrIntent // spent
		case b.intent.Digest() != x.Was:
			return nil, ErrMoved
		case len(b.Seals) >= maxSeals:
			return nil, ErrLimit
		}
		if err := intent.Narrower(b.intent, i); err != nil {
			return nil, err
		}
		return s.sealed(b, x, i, note)
	})
	if err == nil {
		s.narrowed(ctx, h)
	}
	return err
}

// sealed is the binding with one more seal, which is on record.
func (s *Store) sealed(b *binding, x *Sealing, i *intent.Intent, note func(*registry.Entry) error) (*binding, error) {
	if err := note(x.entry(nil)); err != nil {
		return nil, err
	}
	n := *b
	n.Intent = i.Text()
	n.Seals = append(slices.Clip(b.Seals), seal{Token: x.Token, At: s.opt.Now().UnixMilli(), By: x.By, Loose: x.Loose})
	return &n, nil
}

// SealLaunch begins the run of the launch that Launch gives next, and seals it before
// anything of it can be presented. make signs the intent for the agent that is drawn
// for it. Launch then gives this run, once, and no other.
func (s *Store) SealLaunch(ctx context.Context, profile string, make func(credentials.AgentID) (token string, text []byte, err error), note func(*registry.Entry) error) (Sealing, error) {
	id, err := s.draw("agt_")
	if err != nil {
		return Sealing{}, err
	}
	token, text, err := make(credentials.AgentID(id))
	if err != nil {
		return Sealing{}, err
	}
	x, i, err := s.judged(token, text)
	if err == nil && (x.Agent != credentials.AgentID(id) || !i.Launch() || x.Op != intent.OpSeal) {
		err = ErrIntent
	}
	s.mu.Lock()
	was := s.sealing
	s.sealing = true // whatever comes of it, nothing unsealed is launched any more
	s.mu.Unlock()
	if err == nil && was {
		err = ErrBound
	}
	if err == nil {
		err = s.bind(ctx, &x, i, note, false)
	}
	if err = s.refused(&x, err, note); err != nil {
		return x, err
	}
	r, err := s.launch(i.Agent(), profile, i.Digest())
	if err != nil {
		return x, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = r
	return x, nil
}

// Sealed is the intent that binds an agent, with everything that was signed for it;
// nil: none does. It is what the next run of a credential that was never presented
// will be bound by.
func (s *Store) Sealed(agent credentials.AgentID) (*Bound, error) {
	if _, err := credentials.ParseAgentID(string(agent)); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	return s.holder(agent).bound()
}
