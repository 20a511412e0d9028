package policy

// Text is all layers of a policy in one canonical spelling that Read takes: what replay
// keeps (RULES.md 29). Of a policy that neither Layers nor Of made it is nil.
func Text(p Policy) []byte {
	return nil
}

// Read makes the policy of a Text; its digest is the same. A rule file is the policy
// that Of makes of it. The error is ErrRules.
func Read(text []byte) (Policy, error) {
	r, err := Load(text)
	if err != nil {
		return nil, err
	}
	return Of(r), nil
}
