package holds

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/shelf"
	"github.com/pratique-dev/pratique/registry"
)

const (
	actsFile  = "acts"
	actsLabel = "pratique/hold-acts/v1"
	maxActs   = 256 << 20 // bytes; far above what MaxActs come to
)

// A taken is an act that was taken, and what became of its subject.
type taken struct {
	Subject Subject           `json:"subject"`
	Op      string            `json:"op"`
	Token   string            `json:"token"`
	At      int64             `json:"at"` // milliseconds since the epoch
	By      credentials.KeyID `json:"by"`
	Loose   bool              `json:"unprotected,omitzero"`
	Hold    string            `json:"hold,omitzero"`

	of Hold // while it is taken: what it is about, where that is held
}

// acts is the document of the acts that stand: one for a subject, the last.
type acts struct {
	Revision uint64                        `json:"revision"`
	Acts     []*taken                      `json:"acts"`
	Spent    map[credentials.TokenID]int64 `json:"spent,omitzero"` // jti -> exp
}

// A version is a tool's, whatever it returned.
type version struct {
	origin   string
	tool     credentials.ToolID
	gen, ver uint64
}

func (sub *Subject) version() version { return version{sub.Origin, sub.Tool, sub.Gen, sub.Ver} }

// standing is what this process knows of the acts.
type standing struct {
	mu        sync.Mutex // owns what follows
	tag       shelf.Tag  // of the file as it was read; nil: never
	doc       *acts
	by        map[Subject]*taken
	condemned map[version][]*taken
	err       error
	high      uint64 // the highest revision seen
}

// look reads the acts where they have changed. standing.mu is held.
func (s *Store) look() error {
	st := &s.standing
	if st.tag != nil && st.tag.Fresh() {
		return st.err
	}
	data, tag, err := s.files.Read(actsFile, maxActs)
	if err != nil {
		st.tag = nil
		return fmt.Errorf("%w: %s: %w", ErrDamaged, actsFile, err)
	}
	st.tag = tag
	st.err = s.take(data)
	return st.err
}

// take makes the content of the file what is known. standing.mu is held.
func (s *Store) take(data []byte) error {
	st := &s.standing
	plain, err := opened(s.box, actsLabel, data)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrDamaged, actsFile)
	}
	var doc acts
	if json.Unmarshal(plain, &doc, json.RejectUnknownMembers(true)) != nil || doc.Revision == 0 {
		return fmt.Errorf("%w: %s", ErrDamaged, actsFile)
	}
	if doc.Revision < st.high {
		return fmt.Errorf("%w: %s: revision %d after %d", ErrDamaged, actsFile, doc.Revision, st.high)
	}
	if st.doc != nil && st.err == nil && doc.Revision == st.doc.Revision {
		return nil
	}
	st.high, st.doc = doc.Revision, &doc
	st.by, st.condemned = map[Subject]*taken{}, map[version][]*taken{}
	for _, a := range doc.Acts {
		st.by[a.Subject] = a
		if a.Op == OpCondemn && a.Subject.Tool != "" {
			v := a.Subject.version()
			st.condemned[v] = append(st.condemned[v], a)
		}
	}
	return nil
}

// writeActs replaces the file. Its lock is held.
func (s *Store) writeActs(doc *acts) error {
	doc.Revision++
	plain, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	box, err := sealed(nil, s.box, s.opt.Random, actsLabel, plain)
	if err != nil {
		return err
	}
	if err := s.files.Write(actsFile, box); err != nil {
		return fmt.Errorf("holds: %w", err)
	}
	return nil
}

// Err is why acts cannot be read, nil where they can. While it is not nil nothing
// is released, and everything is condemned.
func (s *Store) Err() error {
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	return s.look()
}

// Released tells whether exactly this was released, by whoever is an operator
// now.
func (s *Store) Released(sub Subject) bool {
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	if s.look() != nil || s.condemns(sub) {
		return false
	}
	a := s.standing.by[sub]
	return a != nil && a.Op == OpRelease && s.stands(a)
}

// Condemned tells whether this, or another content of that version of the tool,
// was condemned.
func (s *Store) Condemned(sub Subject) bool {
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	return s.look() != nil || s.condemns(sub)
}

func (s *Store) condemns(sub Subject) bool {
	if a := s.standing.by[sub]; a != nil && a.Op == OpCondemn {
		return true
	}
	return sub.Tool != "" && len(s.standing.condemned[sub.version()]) > 0
}

// A State is what became of a subject.
type State struct {
	Op    string            // OpRelease, OpCondemn; empty: it is held
	At    time.Time         // of the act
	By    credentials.KeyID // the operator's key
	Loose bool              // which lay unencrypted
	Ended bool              // the release stands no longer: its signer is no operator any more
}

// State is what an operator has said of a subject, nothing where acts cannot be
// read.
func (s *Store) State(sub Subject) (State, error) {
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	if err := s.look(); err != nil {
		return State{}, err
	}
	a := s.standing.by[sub]
	if a == nil {
		return State{}, nil
	}
	return State{a.Op, time.UnixMilli(a.At).UTC(), a.By, a.Loose, a.Op == OpRelease && !s.stands(a)}, nil
}

// Release takes an operator's act: exactly this subject is handed on from now on.
// It undoes a condemnation of the subject. ErrMissing and ErrNotKept: there is
// nothing that the operator could have looked at; ErrCondemned: something else of
// this version of the tool is condemned, which stands.
func (s *Store) Release(ctx context.Context, token string) (Subject, error) {
	return s.act(ctx, token, OpRelease, func(doc *acts, a *taken) error {
		h, err := s.of(a.Subject)
		switch {
		case err != nil:
			return err
		case !h.Kept:
			return ErrNotKept
		case h.Owner != "" && h.Owner == a.By:
			return ErrOwn
		}
		a.Hold, a.of = h.ID, h
		for _, o := range doc.Acts {
			if o.Op == OpCondemn && o.Subject.Tool != "" && o.Subject.version() == a.Subject.version() && o.Subject != a.Subject {
				return ErrCondemned
			}
		}
		return nil
	})
}

// Condemn takes an operator's act: this subject is never handed on, and nothing
// else of that version of the tool is. It undoes a release.
func (s *Store) Condemn(ctx context.Context, token string) (Subject, error) {
	return s.act(ctx, token, OpCondemn, func(_ *acts, a *taken) error {
		if h, err := s.of(a.Subject); err == nil {
			a.Hold, a.of = h.ID, h
		}
		return nil
	})
}

// act takes an act in: judged, recorded, written, in this order. An act that was
// recorded and not written, since the process died, has had no effect.
func (s *Store) act(ctx context.Context, token, op string, may func(*acts, *taken) error) (Subject, error) {
	act, kid, err := s.verified(token, op)
	if err != nil {
		return Subject{}, err
	}
	now := s.opt.Now()
	if err := act.CheckTime(now, ActLife); err != nil {
		return Subject{}, fmt.Errorf("%w: %w", ErrAct, err)
	}
	unlock, err := s.files.Lock(ctx, actsFile)
	if err != nil {
		return Subject{}, fmt.Errorf("holds: %w", err)
	}
	defer unlock()
	s.standing.mu.Lock()
	defer s.standing.mu.Unlock()
	s.standing.tag = nil // under the lock the file decides, not its date
	if err := s.look(); err != nil {
		return Subject{}, err
	}
	doc := s.standing.doc.clone(now)
	if doc.Spent[act.Jti] != 0 {
		return Subject{}, ErrSpent
	}
	a := &taken{Subject: act.Subject, Op: op, Token: token, At: now.UnixMilli(), By: kid, Loose: s.loose(&act, kid)}
	if err := may(doc, a); err != nil {
		return Subject{}, err
	}
	doc.Acts = append(slices.DeleteFunc(doc.Acts, func(o *taken) bool { return o.Subject == a.Subject }), a)
	doc.Spent[act.Jti] = act.Exp
	if len(doc.Acts) > MaxActs {
		return Subject{}, ErrLimit
	}
	if err := s.record(a); err != nil {
		return Subject{}, err
	}
	s.standing.tag = nil
	return a.Subject, s.writeActs(doc)
}

// clone copies the acts for change, without the ids of acts that nobody could use
// any more.
func (d *acts) clone(now time.Time) *acts {
	c := &acts{Revision: d.Revision, Acts: slices.Clone(d.Acts), Spent: map[credentials.TokenID]int64{}}
	for jti, exp := range d.Spent {
		if exp+int64(credentials.Leeway/time.Second) >= now.Unix() {
			c.Spent[jti] = exp
		}
	}
	return c
}

// of is a hold of a subject, of any agent.
func (s *Store) of(sub Subject) (Hold, error) {
	cells, err := walk(s.dir)
	if err != nil {
		return Hold{}, err
	}
	e, ok := (&index{cells: cells}).find(s.markOf(sub), "")
	if !ok || e.at() < s.expired() {
		return Hold{}, ErrMissing
	}
	h, _, err := s.load(e, false)
	return h, err
}

// record has the act in the decision log before it takes effect.
func (s *Store) record(a *taken) error {
	if s.opt.Record == nil {
		return nil
	}
	e := &registry.Entry{
		V: 1, Type: registry.EntryReleased, At: a.At, Origin: a.Subject.Origin, Tool: a.Subject.Tool, Gen: a.Subject.Gen, Ver: a.Subject.Ver,
		Kind: string(a.Subject.Kind), Name: a.of.Name, Upstream: a.of.Upstream, Mdg: a.of.Mdg, Owner: a.of.Owner,
		By: "operator", Act: a.Token, Hold: a.Hold, Detail: "a result or message, by digest",
	}
	if a.Op == OpCondemn {
		e.Type = registry.EntryCondemned
	}
	if a.Loose {
		e.Detail += "; the key lay unencrypted"
	}
	if err := s.opt.Record(e); err != nil {
		return fmt.Errorf("holds: not recorded: %w", err)
	}
	return nil
}
