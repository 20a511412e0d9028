package intent

import "github.com/pratique-dev/pratique/labels/policy"

// Sealed is the intent as a layer of policy.
func (i *Intent) Sealed() *policy.Sealed {
	s := &policy.Sealed{Rules: i.rules, Expires: i.Expires(), Digest: i.digest, Agent: i.form.Agent}
	for _, it := range i.form.Items {
		s.Items = append(s.Items, policy.SealedItem{Origin: it.Origin, Kind: string(it.Kind), Name: it.Name, ID: it.ID, Digest: it.Digest})
	}
	return s
}
