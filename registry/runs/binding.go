package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/shelf"
	"github.com/pratique-dev/pratique/quarantine/intent"
)

// A binding is what a file says of an agent's intent. It is written before the run
// begins, and afterwards only narrowed: it outlives every run of the credential.
type binding struct {
	Revision uint64              `json:"revision"`
	Agent    credentials.AgentID `json:"agent"`
	Intent   jsontext.Value      `json:"intent"` // canonical text
	Seals    []seal              `json:"seals"`  // the first sealed it, the others narrowed it

	intent *intent.Intent
	chain  []Sealing // where it was verified to be changed
}

// A seal is a token that was taken.
type seal struct {
	Token string            `json:"token"`
	At    int64             `json:"at"` // milliseconds since the epoch
	By    credentials.KeyID `json:"by"`
	Loose bool              `json:"unprotected,omitzero"`
}

const (
	bindingFormat  = "pratique-intent/1\n"
	bindingContext = "pratique/run-intent/v1\x00"
	bindingSuffix  = ".intent"
	maxBinding     = 4 << 20
)

// recheck is how long the word of an operator is taken before it is asked again
// whether he still is one.
const recheck = time.Second

// A Bound is the intent that a run is bound by. It is immutable.
type Bound struct {
	Intent *intent.Intent
	Over   bool // the run that it was sealed for has ended: nothing is allowed any more
	Seals  []Sealing
}

// seen is what a holder knows of the binding. mu of the holder owns it.
type seenBinding struct {
	tag     shelf.Tag
	bound   *Bound
	over    *Bound // the same of a run after the one that it was sealed for
	err     error
	high    uint64
	checked time.Time
	expired map[string]bool // by run: its intent had ended once
}

func bindingSum(body []byte) string {
	sum := sha256.Sum256(append([]byte(bindingContext), body...))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// readBinding reads a file without asking whose word it is.
func readBinding(agent credentials.AgentID, data []byte) (*binding, error) {
	if data == nil {
		return nil, nil
	}
	bad := fmt.Errorf("%w: the file of the intent", ErrDamaged)
	rest, ok := bytes.CutPrefix(data, []byte(bindingFormat))
	sum, body, cut := bytes.Cut(rest, []byte{'\n'})
	if !ok || !cut || string(sum) != bindingSum(body) {
		return nil, bad
	}
	var b binding
	if err := json.Unmarshal(body, &b, json.RejectUnknownMembers(true)); err != nil {
		return nil, bad
	}
	var err error
	if b.intent, err = intent.Read(b.Intent); err != nil || b.Agent != agent || b.Revision == 0 || len(b.Seals) == 0 || len(b.Seals) > maxSeals {
		return nil, bad
	}
	return &b, nil
}

// verify holds every token of a binding against those who are operators now. The
// chain begins with a sealing and ends with what stands in the file.
func (s *Store) verify(b *binding) ([]Sealing, error) {
	var out []Sealing
	var last credentials.Digest
	for n, t := range b.Seals {
		c, by, ok := intent.Open(s.opt.Intents, t.Token, s.opt.Audience)
		if !ok || c.Agent != b.Agent || by != t.By || c.Was != last || (n == 0) != (c.Op == intent.OpSeal) ||
			c.CheckTime(time.UnixMilli(t.At), intent.TokenLife) != nil {
			return nil, fmt.Errorf("%w: who signed the intent is no operator, or did not sign this", ErrDamaged)
		}
		last = c.Intent
		out = append(out, Sealing{Agent: c.Agent, Op: c.Op, Intent: c.Intent, Was: c.Was, By: by, Loose: t.Loose, Token: t.Token})
	}
	if last != b.intent.Digest() {
		return nil, fmt.Errorf("%w: the intent is not what was signed", ErrDamaged)
	}
	out[len(out)-1].Expires = b.intent.Expires()
	return out, nil
}

// bound is the agent's binding as it is now, nil where it has none. The same pointer
// for as long as nothing changed.
func (h *holder) bound() (*Bound, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, s := &h.binding, h.store
	now := s.opt.Now()
	if k.tag != nil && k.tag.Fresh() && (k.bound == nil && k.err == nil || now.Sub(k.checked).Abs() < recheck) {
		return k.bound, k.err
	}
	data, tag, err := s.intents.Read(string(h.agent)+bindingSuffix, maxBinding)
	if err != nil {
		k.tag = nil
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	k.tag, k.checked = tag, now
	was := k.bound
	k.bound, k.err = nil, nil
	b, err := readBinding(h.agent, data)
	switch {
	case err == nil && (b == nil && k.high > 0 || b != nil && b.Revision < k.high):
		err = fmt.Errorf("%w: the file of the intent vanished, or is an older one", ErrDamaged)
	case err == nil && b != nil:
		k.bound, err = s.boundOf(b, was)
		k.high = b.Revision
	}
	if k.err = err; err != nil {
		k.bound = nil
	}
	if k.bound != was {
		k.over = nil
	}
	return k.bound, k.err
}

// boundOf is a binding that verifies; was, where that is the same.
func (s *Store) boundOf(b *binding, was *Bound) (*Bound, error) {
	seals, err := s.verify(b)
	if err != nil {
		return nil, err
	}
	if was != nil && was.Intent.Digest() == b.intent.Digest() && len(was.Seals) == len(seals) {
		return was, nil
	}
	return &Bound{Intent: b.intent, Seals: seals}, nil
}

// amendBinding changes a binding under its lock. It is read anew and verified first.
func (s *Store) amendBinding(ctx context.Context, agent credentials.AgentID, f func(*binding) (*binding, error)) error {
	file := string(agent) + bindingSuffix
	unlock, err := s.intents.Lock(ctx, file)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	defer unlock()
	data, _, err := s.intents.Read(file, maxBinding)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	b, err := readBinding(agent, data)
	if err == nil && b != nil {
		b.chain, err = s.verify(b)
	}
	if err != nil {
		return err
	}
	next, err := f(b)
	if err != nil {
		return err
	}
	next.Revision++
	body, err := json.Marshal(next, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	if err := s.intents.Write(file, append([]byte(bindingFormat+bindingSum(body)+"\n"), body...)); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	return nil
}

// bindRun has a run that begins say what it is bound by. The lock of the agent's run
// is held; was is the run before it, nil for the first. What was sealed stays sealed:
// an intent is for the first run, and nothing is allowed in those after it.
func (s *Store) bindRun(h *holder, was, next *document) error {
	data, _, err := s.intents.Read(string(h.agent)+bindingSuffix, maxBinding)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	b, err := readBinding(h.agent, data)
	if err != nil {
		return err
	}
	if b != nil {
		next.Sealed = b.intent.Digest()
	} else if was != nil {
		next.Sealed = was.Sealed
	}
	next.Over = was != nil && !next.Sealed.IsZero()
	return nil
}

// Intent is what binds the run, nil where nothing does: it was not sealed when it
// began, and cannot be any more. On every error nothing of the run is allowed. One that
// had ended once stays over, in every process, whatever the clock says later.
func (r *Run) Intent() (*Bound, error) {
	b, err := r.bound()
	if err != nil || b == nil || b.Over || r.h.store.opt.Now().Before(b.Intent.Expires()) {
		return b, err
	}
	r.expire()
	return r.bound()
}

// bound is what binds the run, as far as its files and this process know.
func (r *Run) bound() (*Bound, error) {
	if r.sealed.IsZero() {
		return nil, nil
	}
	d, bad := r.h.read() // before the intent, which is narrowed before that is written here
	b, err := r.h.bound()
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fmt.Errorf("%w: the file of the intent vanished", ErrDamaged)
	}
	sealed, over := r.sealed, r.over
	if bad == nil && d != nil && d.Run == r.id {
		sealed, over = d.Sealed, over || d.Over || d.Expired
	}
	if !slices.ContainsFunc(b.Seals, func(x Sealing) bool { return x.Intent == sealed }) {
		return nil, fmt.Errorf("%w: the file of the intent is an older one, or another's", ErrDamaged)
	}
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	k := &r.h.binding
	if !over && !k.expired[r.id] {
		return b, nil
	}
	if k.over == nil || k.over.Intent != b.Intent {
		k.over = &Bound{Intent: b.Intent, Over: true, Seals: b.Seals}
	}
	return k.over, nil
}

// expire remembers that the intent has ended, here and in the file of the run. Where that
// cannot be written it is over in this process.
func (r *Run) expire() {
	r.h.mu.Lock()
	if r.h.binding.expired == nil {
		r.h.binding.expired = map[string]bool{}
	}
	r.h.binding.expired[r.id] = true
	r.h.mu.Unlock()
	_ = r.amend(context.Background(), func(d *document) (*document, error) {
		if d.Expired {
			return nil, nil
		}
		n := *d
		n.Expired = true
		return &n, nil
	})
}

// narrowed has the run say what it is bound by now, so that an older file of the intent is
// known for one later, in every process. The narrower one binds whether that is written
// or not.
func (s *Store) narrowed(ctx context.Context, h *holder) {
	_, _ = h.change(ctx, func(d *document) (*document, error) {
		if d == nil || d.Sealed.IsZero() {
			return nil, nil
		}
		data, _, err := s.intents.Read(string(h.agent)+bindingSuffix, maxBinding)
		if err != nil {
			return nil, err
		}
		b, err := readBinding(h.agent, data)
		if err != nil || b == nil || b.intent.Digest() == d.Sealed {
			return nil, err
		}
		n := *d
		n.Sealed = b.intent.Digest()
		return &n, nil
	})
}

// newest tells whether the binding has what the run says that binds it.
func (b *binding) newest(d *document) bool {
	return d == nil || d.Sealed.IsZero() || slices.ContainsFunc(b.chain, func(x Sealing) bool { return x.Intent == d.Sealed })
}

// A Standing is what became of an agent's intent.
type Standing struct {
	Agent credentials.AgentID
	Bound *Bound // nil: see Err
	Run   string // that it binds now; empty: the credential was not presented, or its run has ended
	Err   error  // why nothing is allowed
}

// Standings are the intents in the folder, by agent. The error is that of the folder.
func (s *Store) Standings() ([]Standing, error) {
	names, err := s.intents.List()
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	open, _ := s.All() // which takes away what launches left that are gone
	var out []Standing
	for _, name := range names {
		agent, err := credentials.ParseAgentID(strings.TrimSuffix(name, bindingSuffix))
		if err != nil || !strings.HasSuffix(name, bindingSuffix) {
			continue
		}
		x := Standing{Agent: agent}
		if x.Bound, x.Err = s.holder(agent).bound(); x.Bound == nil && x.Err == nil {
			continue // of a launch that has ended
		}
		for _, r := range open {
			if r.Agent() != agent {
				continue
			}
			x.Run = r.id
			if x.Err == nil {
				x.Bound, x.Err = r.bound()
			}
			if b := x.Bound; b != nil && b.Over && !r.over && !s.opt.Now().Before(b.Intent.Expires()) {
				x.Bound = &Bound{Intent: b.Intent, Seals: b.Seals} // it has ended by the clock, which it says itself
			}
		}
		if d, err := s.holder(agent).read(); x.Bound != nil && (err != nil || d != nil && d.Ended != 0) {
			x.Bound = &Bound{Intent: x.Bound.Intent, Over: true, Seals: x.Bound.Seals}
		}
		out = append(out, x)
	}
	return out, nil
}
