package unattended

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Vector is one call: an attack, or a call of the agent's own work.
type Vector struct {
	Name string         `json:"name"`
	From string         `json:"from,omitzero"` // "own", or an id in a public list; of attacks
	Tool string         `json:"tool"`
	Args jsontext.Value `json:"args"`
	// Reason and Guard are what the decision log says of the refusal; of attacks.
	// Several of which any will do stand with "|" between.
	Reason string `json:"reason,omitzero"`
	Guard  string `json:"guard,omitzero"`
	// Proof is a part of what the call changes, or of what it gives back, where
	// nothing stops it.
	Proof string `json:"proof,omitzero"`
}

// Public tells whether the attack is out of a list of others.
func (v Vector) Public() bool { return v.From != "own" && v.From != "" }

// Read reads vectors, one JSON object on a line; lines that begin with # and empty
// ones are for people. {NAME} in a line stands for what is given for NAME.
func Read(file string, with ...string) ([]Vector, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	raw = []byte(strings.NewReplacer(with...).Replace(string(raw)))
	var list []Vector
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		var v Vector
		if err := json.Unmarshal(line, &v, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		if v.Name == "" || v.Tool == "" || slices.ContainsFunc(list, func(o Vector) bool { return o.Name == v.Name }) {
			return nil, fmt.Errorf("%s:%d: a vector has a tool and a name of its own", file, n)
		}
		list = append(list, v)
	}
	return list, nil
}

// A World is what a server acts on.
type World interface {
	// Reset makes it as it was at the start.
	Reset() error
	// State is everything in it that can change, in sorted lines.
	State() ([]string, error)
	// Requests is how often the server turned to it, where that can be seen.
	Requests() int
}
