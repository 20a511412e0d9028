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
	"github.com/pratique-dev/pratique/registry"
)

// What an act or a statement says, as claim "op".
const (
	OpClear   = registry.OpRunClear
	OpDeleted = registry.OpResultsDeleted
)

// ActLife is how long after it was signed an act or statement can be used.
const ActLife = 10 * time.Minute

// ErrAct says that an act or statement was not made by who may for exactly this
// run, or was used before.
var ErrAct = errors.New("runs: the act was not made by an operator or enrolled runtime for this run, or was used before")

// Act are the claims of an act or statement.
type Act = registry.ClearClaims

// A clearing is an act or statement that was taken.
type clearing struct {
	Token string `json:"token"`
	At    int64  `json:"at"`             // milliseconds since the epoch
	Noted bool   `json:"noted,omitzero"` // it is in the record: before that it clears nothing
}

// opened is a token as it was verified.
type opened struct {
	act Act
	by  credentials.KeyID
	ok  bool
}

// SignClear signs the act that takes withdrawn results out of a run's context; no
// results: all of them.
func (s *Store) SignClear(key *envelope.Signer, run string, results []string, loose bool) (string, error) {
	return s.sign(key, &Act{Aud: s.opt.Audience, Op: OpClear, Run: run, Results: results, Loose: loose})
}

func (s *Store) sign(key *envelope.Signer, a *Act) (string, error) {
	var jti [16]byte
	if _, err := io.ReadFull(s.opt.Rand, jti[:]); err != nil {
		return "", fmt.Errorf("runs: %w", err)
	}
	now := s.opt.Now()
	id := credentials.TokenID(base64.RawURLEncoding.EncodeToString(jti[:]))
	a.Registered = credentials.NewRegistered(string(key.Key().ID.Principal()), id, now, ActLife)
	a.Until = now.UnixMilli()
	return key.Sign(a)
}

// openToken checks everything of a token that does not depend on when it is used.
func (s *Store) openToken(token string) opened {
	s.mu.Lock()
	o, ok := s.tokens[token]
	s.mu.Unlock()
	if ok {
		return o
	}
	o = verify(envelope.OperatorAct, s.opt.Acts, token, OpClear, s.opt.Audience)
	if !o.ok {
		o = verify(envelope.Observation, s.opt.Observers, token, OpDeleted, s.opt.Registry)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tokens) >= 4*maxClears {
		clear(s.tokens)
	}
	if o.ok { // who may not now may later
		s.tokens[token] = o
	}
	return o
}

func verify(typ envelope.Type, v envelope.Verifier, token, op, aud string) (o opened) {
	if v == nil {
		return o
	}
	t, err := v.Verify(typ, token)
	if err != nil || envelope.Claims(t, &o.act) != nil {
		return opened{}
	}
	o.by = t.Key.ID
	o.ok = o.act.Op == op && aud != "" && o.act.Aud == aud && o.act.Iss == string(o.by.Principal()) && o.act.Run != "" &&
		(op == OpClear || len(o.act.Results) > 0 && !o.act.Loose)
	return o
}

// A Cleared says what an act or statement took out of a run's context.
type Cleared struct {
	Run     string              `json:"run"`
	Agent   credentials.AgentID `json:"agent"`
	Op      string              `json:"op"` // OpClear, OpDeleted
	By      credentials.KeyID   `json:"by"`
	Results []string            `json:"results,omitzero"` // none: all that were withdrawn
	Loose   bool                `json:"unprotected,omitzero"`
	Token   string              `json:"-"`
}

// Clear takes an act or statement. It clears once a gateway has it on record.
// ErrAct; ErrEnded: there is no such run; ErrNoResult: nothing of what it names is
// withdrawn; ErrLimit.
func (s *Store) Clear(ctx context.Context, token string) (Cleared, error) {
	o := s.openToken(token)
	if !o.ok || o.act.CheckTime(s.opt.Now(), ActLife) != nil {
		return Cleared{}, ErrAct
	}
	r, err := s.Find(o.act.Run)
	if err != nil {
		return Cleared{}, err
	}
	err = r.amend(ctx, func(d *document) (*document, error) {
		switch v := r.h.look(d); {
		case len(d.Clears) >= maxClears:
			return nil, ErrLimit
		case slices.ContainsFunc(d.Clears, func(c clearing) bool { return s.openToken(c.Token).act.Jti == o.act.Jti }):
			return nil, ErrAct
		case !v.names(&o.act):
			return nil, ErrNoResult
		}
		n := *d
		n.Clears = append(slices.Clip(d.Clears), clearing{Token: token, At: s.opt.Now().UnixMilli()})
		return &n, nil
	})
	return s.clearedBy(r, token, o), err
}

func (s *Store) clearedBy(r *Run, token string, o opened) Cleared {
	loose := o.act.Loose || s.opt.Unprotected != nil && o.act.Op == OpClear && s.opt.Unprotected(o.by)
	return Cleared{Run: r.id, Agent: r.h.agent, Op: o.act.Op, By: o.by, Results: o.act.Results, Loose: loose, Token: token}
}

// names tells whether all results that an act names are withdrawn; where it names
// none, whether anything was by then.
func (v *View) names(a *Act) bool {
	for _, id := range a.Results {
		if !slices.ContainsFunc(v.open, func(w Withdrawn) bool { return slices.Contains(w.Results, id) }) {
			return false
		}
	}
	return len(a.Results) > 0 || slices.ContainsFunc(v.open, func(w Withdrawn) bool { return w.Ended <= a.Until })
}

// Record has those acts and statements on record that are not yet, by note: only
// then do they clear.
func (r *Run) Record(ctx context.Context, note func(Cleared) error) error {
	v, err := r.see()
	if err != nil || !slices.ContainsFunc(v.doc.Clears, func(c clearing) bool { return !c.Noted }) {
		return err
	}
	return r.amend(ctx, func(d *document) (*document, error) {
		n := *d
		n.Clears = nil
		for _, c := range d.Clears {
			o := r.h.store.openToken(c.Token)
			switch {
			case c.Noted:
			case !o.ok:
				continue // who signed it may no longer: it clears nothing
			default:
				if err := note(r.h.store.clearedBy(r, c.Token, o)); err != nil {
					return nil, err
				}
				c.Noted = true
			}
			n.Clears = append(n.Clears, c)
		}
		return &n, nil
	})
}

// out is what acts and statements took out of a context.
type out struct {
	until   int64 // everything that was withdrawn by then, in milliseconds since the epoch
	results map[string]bool
}

// cleared joins the clearings of a document that are on record and verify.
func (h *holder) cleared(d *document) out {
	x := out{results: map[string]bool{}}
	for _, c := range d.Clears {
		o := h.store.openToken(c.Token)
		if !c.Noted || !o.ok || o.act.Run != d.Run {
			continue
		}
		if len(o.act.Results) == 0 {
			x.until = max(x.until, o.act.Until)
		}
		for _, id := range o.act.Results {
			x.results[id] = true
		}
	}
	return x
}
