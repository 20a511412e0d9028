package keyring

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// An op is one kind of step.
type op string

const (
	opGenerate op = "generate" // makes a pending key
	opPublish  op = "publish"
	opActivate op = "activate" // and the active key of the role retires
	opRetire   op = "retire"
	opRevoke   op = "revoke" // and, if it was active, the newest published takes over
)

// A step is one transition to make. Generate carries the new key's id and
// algorithm once it has been made.
type step struct {
	op     op
	role   Role
	kid    credentials.KeyID
	alg    envelope.Alg
	reason string
}

// next decides the one next step that is due by schedule, or reports that
// there is none. It is pure: same slots, same time, same answer, in every
// process. A generate step has no key id yet. Which key goes first:
// successors before rotations, so that a rotation always leaves one.
func next(slots []Slot, now int64, t Timing) (step, bool) {
	for _, r := range Roles() {
		if len(of(slots, r, published)) > 0 {
			continue
		}
		if p := of(slots, r, pending); len(p) > 0 {
			return step{op: opPublish, role: r, kid: p[0].Kid, reason: "successor"}, true
		}
		return step{op: opGenerate, role: r, reason: "successor"}, true
	}
	for _, s := range slots {
		switch s.State {
		case active:
			at, ok := t.due(s)
			if p := of(slots, s.Role, published); ok && now >= at && now >= t.ripe(p[0]) {
				return step{op: opActivate, role: s.Role, kid: p[0].Kid, reason: "scheduled"}, true
			}
		case retiring:
			if now >= s.Ends {
				return step{op: opRetire, role: s.Role, kid: s.Kid, reason: "expired"}, true
			}
		}
	}
	return step{}, false
}

// of lists a role's slots in one state, earliest in that state first.
func of(slots []Slot, r Role, st State) (out []Slot) {
	for _, s := range slots {
		if s.Role == r && s.State == st {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Slot) int { return cmp.Compare(a.Since, b.Since) })
	return out
}

func find(slots []Slot, kid credentials.KeyID) int {
	return slices.IndexFunc(slots, func(s Slot) bool { return s.Kid == kid })
}

// apply makes one step on a copy of the slots, or says why it is not allowed.
// It knows nothing of files: what it allows is all that can ever happen.
func apply(slots []Slot, st step, now int64, t Timing) ([]Slot, []Change, error) {
	slots = slices.Clone(slots)
	if st.op == opGenerate {
		return generate(slots, st, now)
	}
	i := find(slots, st.kid)
	if i < 0 {
		return nil, nil, fmt.Errorf("%w: %s", ErrNotFound, st.kid)
	}
	m := mover{slots: slots, now: now, timing: t, reason: st.reason}
	var err error
	switch st.op {
	case opPublish:
		err = m.move(i, published, pending)
	case opActivate:
		err = m.activate(i)
	case opRetire:
		err = m.retire(i)
	case opRevoke:
		err = m.revoke(i)
	default:
		err = fmt.Errorf("keyring: unknown step %q", st.op)
	}
	if err != nil {
		return nil, nil, err
	}
	return m.slots, m.changes, nil
}

func generate(slots []Slot, st step, now int64) ([]Slot, []Change, error) {
	if err := checkAlg(st.role, st.alg); err != nil {
		return nil, nil, err
	}
	// Retired and revoked keys stay in the slots as tombstones: no import and
	// no accident brings one back.
	if i := find(slots, st.kid); i >= 0 {
		if slots[i].State == revoked {
			return nil, nil, fmt.Errorf("%w: %s", envelope.ErrRevokedKey, st.kid)
		}
		return nil, nil, fmt.Errorf("%w: %s (%s)", ErrKnownKey, st.kid, slots[i].State)
	}
	slots = append(slots, Slot{Kid: st.kid, Role: st.role, Alg: st.alg, State: pending, Since: now, Created: now})
	return slots, []Change{{Kid: st.kid, Role: st.role, To: pending, Reason: st.reason, At: now}}, nil
}

func checkAlg(r Role, a envelope.Alg) error {
	if _, err := ParseRole(string(r)); err != nil {
		return err
	}
	if a != envelope.EdDSA && (a != envelope.ES256 || r == credentials.RoleCheckpoint) {
		return ErrAlg
	}
	return nil
}

// mover makes the moves of one step and records each.
type mover struct {
	slots   []Slot
	now     int64
	timing  Timing
	reason  string
	changes []Change
}

func (m *mover) move(i int, to State, from ...State) error {
	s := &m.slots[i]
	if !slices.Contains(from, s.State) {
		return fmt.Errorf("%w: %s is %s", ErrState, s.Kid, s.State)
	}
	m.changes = append(m.changes, Change{Kid: s.Kid, Role: s.Role, From: s.State, To: to, Reason: m.reason, At: m.now})
	s.State, s.Since, s.Reason = to, m.now, m.reason
	switch to {
	case published:
		s.Published = m.now
	case active:
		s.Activated, s.Cover = m.now, secs(m.timing.Verify[s.Role])
	case retiring:
		s.Ends = m.now + max(s.Cover, secs(m.timing.Verify[s.Role]))
	}
	return nil
}

func (m *mover) activate(i int) error {
	s := m.slots[i]
	if s.State != published {
		return fmt.Errorf("%w: %s is %s, only a published key becomes active", ErrState, s.Kid, s.State)
	}
	if at := m.timing.ripe(s); m.now < at {
		return &EarlyError{s.Kid, s.Role, "activate", time.Unix(at, 0)}
	}
	for _, a := range of(m.slots, s.Role, active) {
		if err := m.move(find(m.slots, a.Kid), retiring, active); err != nil {
			return err
		}
	}
	return m.move(i, active, published)
}

func (m *mover) retire(i int) error {
	s := m.slots[i]
	if s.State == retiring && m.now < s.Ends {
		return &EarlyError{s.Kid, s.Role, "retire", time.Unix(s.Ends, 0)}
	}
	// What never signed may go at any time; a lone published key is replaced
	// in the same change, since the ring sees to successors.
	return m.move(i, retired, retiring, published, pending)
}

// revoke takes a key out at once. For the active one the newest published key
// takes over, ripe or not: a verifier that does not know it yet refuses for a
// while, which is better than one that goes on believing the leaked key.
func (m *mover) revoke(i int) error {
	s := m.slots[i]
	if err := m.move(i, revoked, pending, published, active, retiring, retired); err != nil {
		return err
	}
	if s.State != active {
		return nil
	}
	p := of(m.slots, s.Role, published)
	if len(p) == 0 {
		return fmt.Errorf("%w: %s", ErrNoSuccessor, s.Role)
	}
	return m.move(find(m.slots, p[len(p)-1].Kid), active, published)
}

// check refuses slots that break an invariant of the ring.
func check(slots []Slot) error {
	seen := map[credentials.KeyID]bool{}
	for _, s := range slots {
		if _, err := credentials.ParseKeyID(string(s.Kid)); err != nil {
			return err
		}
		if err := checkAlg(s.Role, s.Alg); err != nil {
			return err
		}
		switch s.State {
		case pending, published, active, retiring, retired, revoked:
		default:
			return fmt.Errorf("%w: state %q", ErrState, s.State)
		}
		if seen[s.Kid] {
			return fmt.Errorf("%w: %s twice", ErrKnownKey, s.Kid)
		}
		seen[s.Kid] = true
	}
	for _, r := range Roles() {
		if n := len(of(slots, r, active)); n != 1 {
			return fmt.Errorf("role %s has %d active keys", r, n)
		}
		if len(of(slots, r, published)) == 0 {
			return fmt.Errorf("%w: %s", ErrNoSuccessor, r)
		}
	}
	return nil
}
