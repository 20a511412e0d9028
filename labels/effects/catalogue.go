package effects

import (
	"crypto"
	"errors"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
)

// Errors of catalogues.
var (
	ErrCatalogue = errors.New("effects catalogue")
	ErrKey       = errors.New("its key is not one that is enrolled")
)

// MaxLife is the longest life of a catalogue.
const MaxLife = 400 * 24 * time.Hour

// MaxEntries bounds the entries of one catalogue; the token's own size, 512 KiB,
// comes first where names are long.
const MaxEntries = 5_000

// about is the sub of a catalogue's claims.
const about = "effects"

// Claims are the claims of a catalogue (typ effect-catalogue+jwt). The issuer is the
// thumbprint of the key that signs.
type Claims struct {
	credentials.Registered
	Sub     string  `json:"sub"`
	Entries []Entry `json:"entries"`
}

// An Entry is the effect of one version of a tool, of an origin or of a package.
type Entry struct {
	Origin  string             `json:"origin,omitzero"`
	Package string             `json:"package,omitzero"`
	Tool    string             `json:"tool"`
	Mdg     credentials.Digest `json:"mdg"`
	Effect  labels.Effect      `json:"effect"`
}

// Check refuses claims that are incomplete or contradict themselves; time and key
// are others' business.
func (c *Claims) Check() error {
	if c.Sub != about {
		return fmt.Errorf("%w: sub", credentials.ErrClaims)
	}
	if len(c.Entries) == 0 || len(c.Entries) > MaxEntries {
		return fmt.Errorf("%w: from 1 to %d entries", credentials.ErrClaims, MaxEntries)
	}
	type place struct {
		origin, packaged string
		tool             catalogued
	}
	seen := make(map[place]bool, len(c.Entries))
	for i, e := range c.Entries {
		bad := func(what string) error { return fmt.Errorf("%w: entry %d: %s", credentials.ErrClaims, i+1, what) }
		o, err := origin.Parse(e.Origin)
		p := place{e.Origin, e.Package, catalogued{e.Tool, e.Mdg}}
		switch {
		case (e.Origin == "") == (e.Package == ""):
			return bad("want either origin or package")
		case e.Origin != "" && (err != nil || o.String() != e.Origin):
			return bad("origin is not in its text form")
		case e.Package != "" && !packageForm.MatchString(e.Package):
			return bad("package is not an ecosystem and a name")
		case e.Tool == "" || len(e.Tool) > maxName:
			return bad("tool")
		case e.Mdg.IsZero():
			return bad("mdg is required")
		case e.Effect&^labels.AllEffects != 0:
			return bad("effect")
		case seen[p]:
			return bad("is there twice")
		}
		seen[p] = true
	}
	return nil
}

// catalogued is what entries are looked up by.
type catalogued struct {
	name   string
	digest credentials.Digest
}

// A Catalogue is a list of entries whose signature, claims and time were checked.
type Catalogue struct {
	Key  credentials.KeyID // that signed it
	ID   credentials.TokenID
	From time.Time
	To   time.Time // it says nothing from here on

	entries []Entry
	by      map[catalogued][]Entry
}

// Open opens a catalogue that one of the keys signed and that is valid now.
// ErrCatalogue is every error.
func Open(tok string, keys []envelope.Key, now time.Time) (*Catalogue, error) {
	known := envelope.KeysFunc(func(_ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		for _, k := range keys {
			if k.ID == kid {
				return k, nil
			}
		}
		return envelope.Key{}, ErrKey
	})
	o, err := envelope.NewVerifier(known).Verify(envelope.EffectCatalogue, tok)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	var c Claims
	if err := envelope.Claims(o, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	if c.Iss != string(o.Key.ID) {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, credentials.ErrIssuer)
	}
	if err := c.CheckTime(now, MaxLife); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	out := &Catalogue{Key: o.Key.ID, ID: c.Jti, From: time.Unix(c.Nbf, 0).UTC(), To: time.Unix(c.Exp, 0).UTC(), entries: c.Entries,
		by: make(map[catalogued][]Entry, len(c.Entries))}
	for _, e := range c.Entries {
		k := catalogued{e.Tool, e.Mdg}
		out.by[k] = append(out.by[k], e)
	}
	return out, nil
}

func (c *Catalogue) lives(now time.Time) bool { return now.Before(c.To) }

// Lines are all that the catalogue says, in its order.
func (c *Catalogue) Lines() (out []Line) {
	for _, e := range c.entries {
		out = append(out, Line{Origin: e.Origin, Package: e.Package, Tool: e.Tool, Digest: e.Mdg, Effect: e.Effect})
	}
	return out
}

// Sign makes a catalogue of a text in the form of an effects file, in which each
// block names an origin or a package and each tool its digest.
func Sign(text []byte, key crypto.Signer, id credentials.TokenID, now time.Time, life time.Duration) (string, error) {
	blocks, err := parseBlocks(text)
	if err != nil {
		return "", err
	}
	s, err := envelope.NewSigner(envelope.EffectCatalogue, key)
	if err != nil {
		return "", err
	}
	c := Claims{Registered: credentials.NewRegistered(string(s.Key().ID), id, now, life), Sub: about}
	for i := range blocks {
		b := &blocks[i]
		if b.upstream != "" {
			return "", fmt.Errorf("%w: block %d: an upstream's name means nothing elsewhere: want origin or package", ErrFile, i+1)
		}
		for _, l := range (&File{blocks[i : i+1]}).Lines() {
			if l.Digest.IsZero() {
				return "", fmt.Errorf("%w: block %d: each tool needs its digest", ErrFile, i+1)
			}
			c.Entries = append(c.Entries, Entry{Origin: b.origin, Package: b.packaged, Tool: l.Tool, Mdg: l.Digest, Effect: l.Effect})
		}
	}
	if err := c.CheckTime(now, MaxLife); err != nil {
		return "", fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	if err := c.Check(); err != nil {
		return "", fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	return s.Sign(&c)
}
