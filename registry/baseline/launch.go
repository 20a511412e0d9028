// Package baseline keeps what was accepted of each upstream, in files that all
// processes on a data folder share: how it is launched, and every item that it
// shows, by digest and content. It belongs to the gateway and is kept apart from
// registrations: a server without a key of its own has no registrant, and only
// first sight or an operator changes its baseline (RULES.md 17).
package baseline

import (
	"context"
	"maps"
	"slices"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
)

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

// Equal tells whether two launches are one.
func (l *Launch) Equal(o *Launch) bool {
	return l.Path == o.Path && l.Executable == o.Executable && l.Script == o.Script && l.ScriptSum == o.ScriptSum &&
		slices.Equal(l.Args, o.Args) && l.Folder == o.Folder && slices.Equal(l.Env, o.Env) &&
		maps.Equal(l.Values, o.Values) && l.Unpinned == o.Unpinned
}

// Digest is what an operator's act names the launch by.
func (l *Launch) Digest() credentials.Digest { panic("not yet") }

// A Command is a launch as it was configured.
type Command struct {
	Argv []string // the command and its arguments
	Dir  string   // "": the working folder of this process
	Env  []string // NAME=value: all that the process gets
}

// Pin resolves and hashes what the command starts.
func (s *Store) Pin(ctx context.Context, c Command) (*Launch, error) { panic("not yet") }

// Place is the origin of a stdio upstream. With a name of the operator's it is
// that name's, so that whatever else changes is a changed launch; without one it
// follows from command line and folder, so that the same line is the same place
// at every start, and another line is another place.
func (s *Store) Place(name string, c Command) (origin.Origin, error) { panic("not yet") }
