// Package baseline keeps what was accepted of each upstream, in files that all
// processes on a data folder share: how it is launched, and every item that it
// shows, by digest and content. It belongs to the gateway and is kept apart from
// registrations: a server without a key of its own has no registrant, and only
// first sight or an operator changes its baseline (RULES.md 17).
package baseline

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
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
func (l *Launch) Digest() credentials.Digest {
	raw := l.JSON()
	if raw == nil { // of texts and digests: only invalid UTF-8 in an argument
		return credentials.Digest{}
	}
	return canon.Digest("pratique/launch/v1", raw)
}

// JSON is the launch as a value, for Diff.
func (l *Launch) JSON() jsontext.Value {
	raw, err := json.Marshal(l, json.Deterministic(true))
	if err != nil {
		return nil
	}
	return raw
}

// A Command is a launch as it was configured.
type Command struct {
	Argv []string // the command and its arguments
	Dir  string   // "": the working folder of this process
	Env  []string // NAME=value: all that the process gets
}

// ErrCommand says that a command cannot be pinned, hence not be started.
var ErrCommand = errors.New("baseline: the command of the upstream cannot be started")

// folder is the absolute folder that the command runs in.
func (c *Command) folder() (string, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrCommand, err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, nil
}

// Place is the origin of a stdio upstream. With a name of the operator's it is
// that name's, so that whatever else changes is a changed launch; without one it
// follows from command line and folder, so that the same line is the same place
// at every start, and another line is another place. The line itself, which may
// hold secrets, cannot be found from it.
func (s *Store) Place(name string, c Command) (origin.Origin, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return origin.Origin{}, fmt.Errorf("%w: none was given", ErrCommand)
	}
	if name != "" {
		return origin.Parse("stdio:" + name)
	}
	dir, err := c.folder()
	if err != nil {
		return origin.Origin{}, err
	}
	sum := s.keyed("pratique/place/v1", append([]string{dir}, c.Argv...)...)
	return origin.Parse("stdio:" + ShortName(c.Argv) + "@" + lowerBase32.EncodeToString(sum[:10]))
}

var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// keyed is a digest of texts under the folder's secret.
func (s *Store) keyed(context string, texts ...string) (d credentials.Digest) {
	h := hmac.New(sha256.New, s.secret)
	for _, t := range append([]string{context}, texts...) {
		fmt.Fprintf(h, "%d:", len(t))
		io.WriteString(h, t)
	}
	h.Sum(d[:0])
	return d
}

// ShortName is a word for a command line, for people: the package that a launcher
// is told to run, or the script, or the program. Of a script whose name says
// nothing it is the folder's that says something. 1 to 64 of [A-Za-z0-9._-].
func ShortName(argv []string) string {
	if len(argv) == 0 {
		return "server"
	}
	best := argv[0]
	if launchers[program(argv[0])] || interpreters[program(argv[0])] {
		for _, a := range argv[1:] {
			if !strings.HasPrefix(a, "-") && !subcommands[a] {
				best = a
				break
			}
		}
	}
	best = telling(filepath.ToSlash(best))
	best, _, _ = strings.Cut(best, "@")
	clean := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r)) {
			return r
		}
		return '-'
	}, best)
	if clean = strings.Trim(clean[:min(len(clean), 64)], "-."); clean == "" {
		return "server"
	}
	return clean
}

// silent are names of files and folders that say nothing of what is in them.
var silent = set("index", "main", "server", "cli", "app", "run", "start", "stdio", "__main__", "dist", "build", "src", "lib", "bin", "out")

// telling is the last element of a path that says something.
func telling(p string) string {
	for at := p; ; at = path.Dir(at) {
		base := path.Base(at)
		if base == "." || base == "/" || base == ".." {
			return path.Base(p)
		}
		word := strings.TrimSuffix(base, path.Ext(base))
		if !silent[word] {
			return base
		}
	}
}
