package policy_test

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels/policy"
)

// refuser is a layer that refuses everything.
type refuser struct{}

func (refuser) Decide(policy.Facts) policy.Decision {
	return policy.Refuse(policy.RuleNever, "refuser")
}
func (refuser) Listed(policy.Facts) bool        { return false }
func (refuser) Needs(policy.Facts) policy.Needs { return policy.Needs{} }
func (refuser) Digest() credentials.Digest      { return credentials.Digest{1} }
