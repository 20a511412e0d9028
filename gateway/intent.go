package gateway

import (
	"sync"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry/runs"
)

// closed is what decides where the intent that binds a run cannot be used: nothing
// is allowed, in no profile that enforces anything.
var closed = policy.Layers{Intent: &policy.Sealed{}}.Policy()

// maxSealed is how many policies with an intent are kept made.
const maxSealed = 256

// sealedPolicies are policies with the intent of a run as a further layer, made once.
// The zero value is ready.
type sealedPolicies struct {
	mu   sync.Mutex // owns what follows
	base policy.Policy
	made map[sealedKey]policy.Policy
}

// A sealedKey names a further layer.
type sealedKey struct {
	intent credentials.Digest
	over   bool
}

// under is base with the intent as a further layer. keep has it kept for replay before
// anything is decided by it.
func (m *sealedPolicies) under(base policy.Policy, b *runs.Bound, keep func(policy.Policy) error) (policy.Policy, error) {
	k := sealedKey{b.Intent.Digest(), b.Over}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base != base || len(m.made) >= maxSealed {
		m.base, m.made = base, map[sealedKey]policy.Policy{}
	}
	if p := m.made[k]; p != nil {
		return p, nil
	}
	s := b.Intent.Sealed()
	if b.Over {
		s = &policy.Sealed{Digest: s.Digest, Agent: s.Agent} // it has ended, whatever the time is
	}
	p := policy.Under(base, s)
	if keep != nil {
		if err := keep(p); err != nil {
			return nil, err
		}
	}
	m.made[k] = p
	return p, nil
}

// policyOf is what decides for an agent now: the policy of all, and its intent where
// its run is sealed. A narrower intent counts from the next call on.
func (g *Gateway) policyOf(who *Agent) (policy.Policy, credentials.Digest) {
	base := g.policy.get()
	b, err := who.run.Intent()
	if err == nil && b == nil {
		return base, credentials.Digest{}
	}
	if err == nil {
		var p policy.Policy
		if p, err = g.sealed.under(base, b, g.o.Keep); err == nil {
			return p, b.Intent.Digest()
		}
	}
	g.o.Log.Error("an intent cannot be used, and nothing is allowed", "agent", who.ID, "run", who.Run, "cause", err)
	return closed, credentials.Digest{}
}

// policy is what decides the call: one policy for all of it, whatever is loaded or
// narrowed meanwhile.
func (c *call) policy() policy.Policy {
	if c.rules == nil {
		c.rules, c.intent = c.s.g.policyOf(&c.s.who)
	}
	return c.rules
}

// watchIntent tells the agent that its lists may differ, where its intent was narrowed
// or has ended since that was last asked. Only one goroutine at a time calls it.
func (s *Session) watchIntent() {
	b, err := s.who.run.Intent()
	if err != nil || b == nil {
		return
	}
	ended := !s.g.o.Now().Before(b.Intent.Expires())
	if s.bound != nil && (s.bound != b || s.ended != ended) {
		s.listsMayDiffer()
	}
	s.bound, s.ended = b, ended
}
