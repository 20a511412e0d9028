// Package baseline keeps what was accepted of each upstream, in files that all
// processes on a data folder share: how it is launched, and every item that it
// shows, by digest and content. It belongs to the gateway and is kept apart from
// registrations: a server without a key of its own has no registrant, and only
// first sight or an operator changes its baseline (RULES.md 17).
package baseline

import "github.com/pratique-dev/pratique/credentials"

// A Launch is what a stdio upstream is pinned by (RULES.md 36).
type Launch struct {
	Path       string                        `json:"path"`            // of the executable, resolved
	Executable credentials.Digest            `json:"executable"`      // SHA-256 of its bytes
	Script     string                        `json:"script,omitzero"` // path of the script, where an interpreter runs one
	ScriptSum  credentials.Digest            `json:"scriptSum,omitzero"`
	Args       []string                      `json:"args"`
	Folder     string                        `json:"folder"`
	Env        []string                      `json:"env"`               // names, sorted
	Values     map[string]credentials.Digest `json:"values,omitzero"`   // keyed digests of the values that choose code or endpoint
	Unpinned   bool                          `json:"unpinned,omitzero"` // fetches code without exact version and integrity
}
