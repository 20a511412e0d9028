package labels

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
)

// A Row says who may publish the names that match Name. All members are
// required; an empty list of publishers reserves the names for nobody.
type Row struct {
	Name       Pattern              `json:"name"`
	Publishers []Publisher          `json:"publishers"`
	Level      credentials.Level    `json:"level"`   // the least that a registrant must reach
	Actions    []credentials.Action `json:"actions"` // the most that a handle for such a name may carry; may be empty
}

// RowsJSON is the canonical JSON of the rows, for the log.
func (t *Topology) RowsJSON() (jsontext.Value, error) { return canon.Marshal(t.Rows) }

// ParseRows reads rows that were logged, as strictly as when they were signed.
func ParseRows(raw []byte) ([]Row, error) {
	var rows []Row
	if err := canon.Unmarshal(raw, &rows, canon.Limits{Bytes: MaxTopology, Depth: maxTopologyDepth, NoNull: true}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRows, err)
	}
	return rows, checkRows(rows)
}

func checkRows(rows []Row) error {
	if rows == nil || len(rows) > MaxRows {
		return fmt.Errorf("%w: rows are required and at most %d", ErrRows, MaxRows)
	}
	seen := make(map[Pattern]bool, len(rows))
	for i, r := range rows {
		switch {
		case r.Name == "":
			return fmt.Errorf("%w: row %d has no name", ErrRows, i)
		case seen[r.Name]:
			return fmt.Errorf("%w: row %d repeats an earlier row's name", ErrRows, i)
		case r.Publishers == nil || len(r.Publishers) > MaxPublishers:
			return fmt.Errorf("%w: row %d: publishers are required and at most %d", ErrRows, i, MaxPublishers)
		case r.Level == credentials.LevelNone: // also a missing one: no publisher gives less than pop
			return fmt.Errorf("%w: row %d: level is from pop to srv", ErrRows, i)
		case r.Actions == nil:
			return fmt.Errorf("%w: row %d: actions are required", ErrRows, i)
		}
		seen[r.Name] = true
		if len(r.Actions) > 0 {
			if err := credentials.CheckActions(r.Actions); err != nil {
				return fmt.Errorf("%w: row %d: %w", ErrRows, i, err)
			}
		}
		for j := range r.Publishers {
			for k := range j {
				if r.Publishers[j] == r.Publishers[k] {
					return fmt.Errorf("%w: row %d repeats a publisher", ErrRows, i)
				}
			}
		}
	}
	return nil
}

// A Pattern matches tool names: a name, or a name with exactly one "*"
// anywhere, which stands for any number of name characters, none included.
// Matching is exact and case-sensitive: "pay*" matches "pay" and "pay_all",
// "a*z" matches "az" but not "a", and "*" matches every name.
type Pattern string

// ErrPattern refuses a pattern.
var ErrPattern = errors.New(`name pattern is not 1 to 128 characters of [A-Za-z0-9_.-] with at most one "*"`)

// ParsePattern checks the form of a pattern.
func ParsePattern(s string) (Pattern, error) {
	plain := strings.Replace(s, "*", "", 1)
	if len(s) > 128 || plain == "" && s != "*" || plain != "" && credentials.CheckToolName(plain) != nil {
		return "", ErrPattern
	}
	return Pattern(s), nil
}

// Match reports whether the pattern covers a tool name.
func (p Pattern) Match(name string) bool {
	pre, suf, wild := strings.Cut(string(p), "*")
	if !wild {
		return name == pre
	}
	return len(name) >= len(pre)+len(suf) && strings.HasPrefix(name, pre) && strings.HasSuffix(name, suf)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Pattern) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePattern(string(b))
	return err
}

// A Publisher is whom a row lets publish, in one of five spellings:
//
//	<thumbprint>               the holder of this key             level pop
//	sri:sha384-<base64>        the script with this hash          level sri
//	sig:ed25519-<base64>       scripts signed by this key (RFC 9421, tag "sri")
//	                                                              level sig
//	server                     the site's server, by the site key level srv
//	server:<thumbprint>        the site's server, by a key of its own that
//	                           never is in a page                 level srv
type Publisher string

// ErrPublisher refuses a publisher.
var ErrPublisher = errors.New("publisher is not a key thumbprint, sri:sha384-…, sig:ed25519-…, server or server:<thumbprint>")

var stdB64 = base64.StdEncoding.Strict()

// ParsePublisher checks the form of a publisher: each has one spelling only.
func ParsePublisher(s string) (Publisher, error) {
	if s == "server" {
		return Publisher(s), nil
	}
	if h, ok := strings.CutPrefix(s, "sri:"); ok {
		return Publisher(s), CheckScript(h)
	}
	if k, ok := strings.CutPrefix(s, "sig:"); ok {
		return Publisher(s), CheckScriptKey(k)
	}
	if _, err := credentials.ParseKeyID(strings.TrimPrefix(s, "server:")); err != nil {
		return "", ErrPublisher
	}
	return Publisher(s), nil
}

// CheckScript refuses what is not the hash of a script as subresource integrity
// writes it: "sha384-" and 64 characters of base64.
func CheckScript(s string) error {
	b, ok := strings.CutPrefix(s, "sha384-")
	if !ok || len(b) != 64 {
		return ErrPublisher
	}
	if raw, err := stdB64.DecodeString(b); err != nil || len(raw) != 48 {
		return ErrPublisher
	}
	return nil
}

// CheckScriptKey refuses what is not a script-signing key as signature-based
// integrity writes it: "ed25519-" and 44 characters of base64, a key under which
// not everybody can sign.
func CheckScriptKey(s string) error {
	b, ok := strings.CutPrefix(s, "ed25519-")
	if !ok || len(b) != 44 {
		return ErrPublisher
	}
	raw, err := stdB64.DecodeString(b)
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return ErrPublisher
	}
	if _, err := envelope.NewKey(ed25519.PublicKey(raw)); err != nil {
		return ErrPublisher
	}
	return nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Publisher) UnmarshalText(b []byte) error {
	v, err := ParsePublisher(string(b))
	if err != nil {
		return err
	}
	*p = v
	return nil
}
