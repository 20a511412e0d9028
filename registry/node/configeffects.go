package node

// EffectsConf says what tools do, where the operator or somebody whom the operator
// believes has said it. It is read once, at the start, and anything wrong with it
// stops the start.
type EffectsConf struct {
	// File is the operator's own list of what tools do (docs/effects.md). It goes
	// before everything else. A relative path starts at this file's folder.
	File string `yaml:"file"`
	// Keys are files with the public keys whose catalogues count. Relative paths start
	// at this file's folder.
	Keys []string `yaml:"keys"`
	// Catalogues are files with signed lists of what tools do. Relative paths start at
	// this file's folder.
	Catalogues []string `yaml:"catalogues"`
}

func (c EffectsConf) check(bad func(key, format string, args ...any) error) error {
	if len(c.Catalogues) > 0 && len(c.Keys) == 0 {
		return bad("effects.keys", "a catalogue counts only where the key that signed it is one of these")
	}
	return nil
}
