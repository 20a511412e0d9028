package keyring

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// A model drives apply with random wishes and watches the invariants from
// outside: what was signed when, and where every key has been.
type model struct {
	t       *testing.T
	rng     *rand.Rand
	timing  Timing
	now     int64
	slots   []Slot
	made    int
	signed  map[credentials.KeyID]int64 // last instant at which any process may have signed with it
	seen    map[credentials.KeyID]int64 // in the key set since
	dead    map[credentials.KeyID]bool
	changes int
}

func newModel(t *testing.T, seed uint64) *model {
	timing, err := Timing{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	m := &model{t: t, rng: rand.New(rand.NewPCG(seed, 7)), timing: timing, now: 1_800_000_000,
		signed: map[credentials.KeyID]int64{}, seen: map[credentials.KeyID]int64{}, dead: map[credentials.KeyID]bool{}}
	early := timing
	early.Publish = 0
	for _, r := range Roles() {
		kid := m.kid()
		m.must(step{op: opGenerate, role: r, kid: kid, alg: envelope.EdDSA}, early)
		m.must(step{op: opPublish, kid: kid}, early)
		m.must(step{op: opActivate, kid: kid}, early)
	}
	m.due(false)
	return m
}

func (m *model) kid() credentials.KeyID {
	m.made++
	return credentials.KeyID(fmt.Sprintf("%043d", m.made))
}

func (m *model) must(st step, t Timing) {
	m.t.Helper()
	if err := m.try(st, t); err != nil {
		m.t.Fatalf("%+v: %v", st, err)
	}
}

// try makes a step and checks its changes against what the model knows.
func (m *model) try(st step, t Timing) error {
	before := slices.Clone(m.slots)
	next, changes, err := apply(m.slots, st, m.now, t)
	if !slices.Equal(before, m.slots) {
		m.t.Fatal("apply changed its input")
	}
	if err != nil {
		return err
	}
	m.slots = next
	for _, c := range changes {
		m.changes++
		m.watch(c, st.op == opRevoke)
	}
	return nil
}

func (m *model) watch(c Change, emergency bool) {
	m.t.Helper()
	if m.dead[c.Kid] {
		m.t.Fatalf("revoked key %s went to %s", c.Kid, c.To)
	}
	switch c.To {
	case published:
		m.seen[c.Kid] = m.now
	case active:
		if at := m.seen[c.Kid]; !emergency && m.now-at < secs(m.timing.MinPublish()) && m.now != 1_800_000_000 {
			m.t.Fatalf("key signs %d s after it was published", m.now-at)
		}
	case retiring:
		// A process that has not heard yet signs for up to D more.
		m.signed[c.Kid] = m.now + secs(m.timing.Propagation)
	case retired:
		if last, ok := m.signed[c.Kid]; ok && m.now < last+secs(m.timing.TTL[c.Role]+m.timing.Skew) {
			m.t.Fatalf("key of role %s left the set while what it signed can live", c.Role)
		}
		if c.From == active {
			m.t.Fatal("an active key was retired")
		}
	case revoked:
		m.dead[c.Kid] = true
	}
}

// due is what every change ends with (work.due).
func (m *model) due(all bool) {
	m.t.Helper()
	for i := 0; ; i++ {
		st, ok := next(m.slots, m.now, m.timing)
		if again, _ := next(m.slots, m.now, m.timing); again != st {
			m.t.Fatal("next is not a function")
		}
		if !ok || !all && st.op != opGenerate && st.op != opPublish {
			return
		}
		if i > 1000 {
			m.t.Fatal("next never ends")
		}
		if st.op == opGenerate {
			st.kid, st.alg = m.kid(), envelope.EdDSA
		}
		m.must(st, m.timing) // what next asks for is always allowed
	}
}

func (m *model) wish() step {
	s := m.slots[m.rng.IntN(len(m.slots))]
	ops := []op{opPublish, opActivate, opActivate, opRetire, opRevoke, opGenerate}
	st := step{op: ops[m.rng.IntN(len(ops))], kid: s.Kid, role: s.Role, alg: envelope.EdDSA, reason: "wish"}
	if st.op == opActivate { // or it nearly never hits
		st.kid = of(m.slots, s.Role, published)[0].Kid
	}
	if st.op == opGenerate && m.rng.IntN(2) == 0 {
		st.kid = m.kid() // else an import of a key that is or was there
	}
	return st
}

// TestInvariants: random wishes at random times, with schedule ticks between.
func TestInvariants(t *testing.T) {
	pauses := []time.Duration{time.Second, 5 * time.Minute, 20 * time.Minute, 6 * time.Hour, 26 * time.Hour, 20 * 24 * time.Hour}
	for seed := range uint64(40) {
		m := newModel(t, seed)
		refused := 0
		for range 400 {
			m.now += secs(time.Duration(m.rng.Int64N(int64(pauses[m.rng.IntN(len(pauses))]))))
			if m.rng.IntN(3) == 0 {
				m.due(true)
			} else if err := m.try(m.wish(), m.timing); err != nil {
				refused++
			}
			m.due(false)
			if err := check(m.slots); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if refused == 0 || m.changes < 100 {
			t.Errorf("seed %d: %d refused, %d changes: the model does too little", seed, refused, m.changes)
		}
	}
}

// TestSchedule: left alone, the ring rotates by itself within its times, and
// hands and root stay put.
func TestSchedule(t *testing.T) {
	m := newModel(t, 1)
	count := map[Role]int{}
	actives := func(r Role) credentials.KeyID { return of(m.slots, r, active)[0].Kid }
	last := map[Role]credentials.KeyID{}
	for _, r := range Roles() {
		last[r] = actives(r)
	}
	for range 365 * 24 {
		m.now += 3600
		m.due(true)
		for _, r := range Roles() {
			if a := actives(r); a != last[r] {
				last[r] = a
				count[r]++
			}
			if n := len(of(m.slots, r, retiring)); n > 2 {
				t.Fatalf("%s: %d retiring", r, n)
			}
		}
	}
	for _, r := range Roles() {
		want := r != credentials.RoleRoot && r != credentials.RoleCheckpoint
		if got := count[r]; want != (got >= 12 && got <= 14) || !want && got != 0 {
			t.Errorf("%s rotated %d times in a year", r, got)
		}
	}
}

// TestApplyRefuses: the transitions that do not exist.
func TestApplyRefuses(t *testing.T) {
	m := newModel(t, 2)
	const r = credentials.RoleHandle
	a, p := of(m.slots, r, active)[0].Kid, of(m.slots, r, published)[0].Kid
	var early *EarlyError
	if err := m.try(step{op: opActivate, kid: p}, m.timing); !errors.As(err, &early) || !errors.Is(err, ErrTooEarly) ||
		early.At.Unix() != m.now+secs(m.timing.Publish) {
		t.Errorf("activate before its time: %v", err)
	}
	m.now += secs(m.timing.Publish)
	for _, tt := range []struct {
		st   step
		want error
	}{
		{step{op: opPublish, kid: a}, ErrState},
		{step{op: opActivate, kid: a}, ErrState},
		{step{op: opRetire, kid: a}, ErrState},
		{step{op: opPublish, kid: m.kid()}, ErrNotFound},
		{step{op: opGenerate, role: "other", kid: m.kid(), alg: envelope.EdDSA}, ErrRole},
		{step{op: opGenerate, role: r, kid: m.kid(), alg: "RS256"}, ErrAlg},
		{step{op: opGenerate, role: credentials.RoleCheckpoint, kid: m.kid(), alg: envelope.ES256}, ErrAlg},
		{step{op: opGenerate, role: r, kid: a, alg: envelope.EdDSA}, ErrKnownKey},
	} {
		if err := m.try(tt.st, m.timing); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.st, err, tt.want)
		}
	}
	m.must(step{op: opActivate, kid: p}, m.timing)
	if err := m.try(step{op: opRetire, kid: a}, m.timing); !errors.Is(err, ErrTooEarly) {
		t.Errorf("retire before its time: %v", err)
	}
	m.due(false)
	m.must(step{op: opRevoke, kid: a}, m.timing)
	for _, o := range []op{opPublish, opActivate, opRetire, opRevoke} {
		if err := m.try(step{op: o, kid: a}, m.timing); !errors.Is(err, ErrState) {
			t.Errorf("%s of a revoked key: %v", o, err)
		}
	}
	if err := m.try(step{op: opGenerate, role: r, kid: a, alg: envelope.EdDSA}, m.timing); !errors.Is(err, envelope.ErrRevokedKey) {
		t.Errorf("import of a revoked key: %v", err)
	}
}

// TestEmergency: one step takes the active key out and the newest published in.
func TestEmergency(t *testing.T) {
	m := newModel(t, 3)
	const r = credentials.RoleLabel
	m.now += 60
	newest := m.kid()
	m.must(step{op: opGenerate, role: r, kid: newest, alg: envelope.ES256}, m.timing)
	m.must(step{op: opPublish, kid: newest}, m.timing)
	a := of(m.slots, r, active)[0].Kid
	m.must(step{op: opRevoke, kid: a, reason: "leaked"}, m.timing)
	if got := of(m.slots, r, active)[0].Kid; got != newest {
		t.Errorf("active is %s, want the newest published %s", got, newest)
	}
	if s := m.slots[find(m.slots, a)]; s.State != revoked || s.Reason != "leaked" {
		t.Errorf("leaked key: %+v", s)
	}
	m.due(false)
	if err := check(m.slots); err != nil {
		t.Error(err)
	}
	// Without any successor the step does not happen at all.
	alone := []Slot{{Kid: m.kid(), Role: r, Alg: envelope.EdDSA, State: active}}
	if _, _, err := apply(alone, step{op: opRevoke, kid: alone[0].Kid}, m.now, m.timing); !errors.Is(err, ErrNoSuccessor) {
		t.Errorf("revoke without successor: %v", err)
	}
}

// TestTiming: the bounds are computed and enforced.
func TestTiming(t *testing.T) {
	d, err := Timing{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if d.MinPublish() != 450*time.Second || d.Publish != 15*time.Minute {
		t.Errorf("publish %v, bound %v", d.Publish, d.MinPublish())
	}
	if d.MinVerify(credentials.RoleHandle) != 24*time.Hour+90*time.Second || d.Verify[credentials.RoleHandle] != 25*time.Hour {
		t.Errorf("verify %v, bound %v", d.Verify[credentials.RoleHandle], d.MinVerify(credentials.RoleHandle))
	}
	role := func(r Role, d time.Duration) map[Role]time.Duration { return map[Role]time.Duration{r: d} }
	for name, bad := range map[string]Timing{
		"publish":             {Publish: 449 * time.Second},
		"slow caches":         {MaxAge: time.Hour, Publish: 15 * time.Minute},
		"verify":              {Verify: role(credentials.RoleHandle, 24*time.Hour)},
		"longer tokens":       {TTL: role(credentials.RoleLabel, 48*time.Hour), Verify: role(credentials.RoleLabel, 25*time.Hour)},
		"no life":             {TTL: role(credentials.RoleLabel, -1)},
		"negative":            {Skew: -time.Hour, Publish: time.Hour},
		"negative everything": {MaxAge: -time.Hour, Publish: -time.Hour},
	} {
		if _, err := bad.withDefaults(); !errors.Is(err, ErrTiming) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, ok := range map[string]Timing{
		"at the bound": {Publish: 450 * time.Second, Verify: role(credentials.RoleHandle, 24*time.Hour+90*time.Second)},
		"slow caches":  {MaxAge: time.Hour},
		"quick":        {MaxAge: time.Second, Refresh: time.Second, Propagation: time.Second, Skew: time.Second, Publish: 4 * time.Second},
	} {
		if _, err := ok.withDefaults(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTombstones: after very many rotations the list still has a size that
// readers take; what goes is the oldest retired, never a revoked key or one in
// force.
func TestTombstones(t *testing.T) {
	var keys []entry
	for i := range credentials.MaxKeys + 100 {
		st := retired
		switch {
		case i < 40:
			st = revoked
		case i >= credentials.MaxKeys+90:
			st = active
		}
		keys = append(keys, entry{Slot: Slot{Kid: credentials.KeyID(fmt.Sprintf("%043d", i)), State: st, Since: int64(i), Published: 1}})
	}
	keys = append(keys, entry{Slot: Slot{Kid: "pending", State: pending}}, entry{Slot: Slot{Kid: "never published", State: retired}})
	out := listed(keys)
	count := map[State]int{}
	for _, k := range out {
		count[k.State]++
	}
	if len(out) != credentials.MaxKeys || count[revoked] != 40 || count[active] != 10 || out[40].Since != 140 {
		t.Errorf("%d entries, %v, oldest retired of %d", len(out), count, out[40].Since)
	}
}
