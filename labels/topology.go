package labels

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
)

// TopologyMediaType is what a site serves its topology document as.
const TopologyMediaType = "application/json"

// The bounds of a topology.
const (
	MaxTopology      = 256 << 10 // bytes of the whole document
	MaxTopologyLife  = 7 * 24 * time.Hour
	MaxRows          = 1000
	MaxPublishers    = 64 // in one row
	MaxHandovers     = 8
	maxTopologyDepth = 6
)

// Errors of topologies: what was read counts for nothing, and what was known of
// the origin before stays in force.
var (
	ErrTopology   = errors.New("topology document is not {token, key, before?} as documented")
	ErrSiteClaims = errors.New("topology's claims are not those of its type")
	ErrOtherSite  = errors.New("topology is another site's")
	ErrRows       = errors.New("topology's rows are not well formed")
	ErrRolledBack = errors.New("topology is older than the one known, or another of the same version")
	ErrSiteKey    = errors.New("topology is signed by a key that neither the known site key nor the operator vouches for")
)

// A TopologyDocument is the JSON document at
// https://ORIGIN/.well-known/pratique-topology:
//
//	{
//	  "token":  "<tool-topology+jwt>",
//	  "key":    {public JWK of the site key that signed token},
//	  "before": [{"token": …, "key": …}, …]
//	}
//
// The first site key that is read over verified TLS is pinned. A site that
// changes its key publishes a last topology under the old one whose next claim
// is the new key's thumbprint, and from then on serves that pair {token, key} in
// before: oldest first, at most 8, each signed by the key that the one before
// named. A reader that has pinned any of these keys walks on from there; the
// pairs may have expired. Otherwise an operator enrols the new key.
type TopologyDocument struct {
	SignedTopology
	Before []SignedTopology `json:"before,omitzero"`
}

// A SignedTopology is a topology token with the key that signed it.
type SignedTopology struct {
	Token string         `json:"token"`
	Key   jsontext.Value `json:"key"`
}

// TopologyClaims are the claims of a tool-topology+jwt. iss is the same text
// as org. Ver rises with every change; the same version may only be signed anew
// with a later end.
type TopologyClaims struct {
	credentials.Registered
	Org  origin.Origin     `json:"org"` // the web origin it speaks for
	Ver  uint64            `json:"ver"`
	Rows []Row             `json:"rows"`
	Next credentials.KeyID `json:"next,omitzero"` // thumbprint of the key that signs from now on
}

// A Topology is what an origin is known to have declared. It is not changed
// after it was made; a nil *Topology is that of an origin without one.
type Topology struct {
	Origin  origin.Origin
	Ver     uint64
	Site    credentials.KeyID // thumbprint of the key that signed it: the pin
	Token   string            // as read; empty if restored from the log
	Rows    []Row
	Expires time.Time
}

// Check refuses claims that are incomplete or contradict each other, without
// looking at the clock.
func (c *TopologyClaims) Check() error {
	switch {
	case c.Org.Kind() != origin.Web:
		return fmt.Errorf("%w: org is not a web origin", ErrSiteClaims)
	case c.Iss != c.Org.String():
		return fmt.Errorf("%w: iss is not org", ErrSiteClaims)
	case c.Ver == 0 || c.Ver > credentials.MaxInt:
		return fmt.Errorf("%w: ver is from 1 to 2^53-1", ErrSiteClaims)
	}
	if c.Next != "" {
		if _, err := credentials.ParseKeyID(string(c.Next)); err != nil {
			return fmt.Errorf("%w: next: %w", ErrSiteClaims, err)
		}
	}
	return checkRows(c.Rows)
}

// Known is what a reader knew of an origin before it read.
type Known struct {
	Topology *Topology           // nil: nothing was read before
	Enrolled []credentials.KeyID // site keys that an operator enrolled for the origin
}

// OpenTopology verifies the document that was read from org's site and returns
// the topology in force from now on. On any error what was known stays. Every
// signature is checked, the site must be org's, ver never falls, the key is the
// pinned one, follows from it, or is enrolled; with nothing known, the first
// key is taken.
func OpenTopology(org origin.Origin, body []byte, known Known, now time.Time) (*Topology, error) {
	var doc TopologyDocument
	if err := canon.Unmarshal(body, &doc, canon.Limits{Bytes: MaxTopology, Depth: maxTopologyDepth, NoNull: true}); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTopology, err)
	}
	if doc.Token == "" || doc.Key == nil || len(doc.Before) > MaxHandovers {
		return nil, ErrTopology
	}
	site, ok := org.WebOrigin()
	if !ok {
		return nil, ErrOtherSite
	}
	c, key, err := openTopology(site, doc.SignedTopology)
	if err != nil {
		return nil, err
	}
	if err := c.CheckTime(now, MaxTopologyLife); err != nil {
		return nil, err
	}
	t := &Topology{Origin: site, Ver: c.Ver, Site: key, Token: doc.Token, Rows: c.Rows, Expires: time.Unix(c.Exp, 0).UTC()}
	if err := t.follows(doc.Before, known, now); err != nil {
		return nil, err
	}
	return t, nil
}

// openTopology checks everything of one token but that it is still good now.
func openTopology(site origin.Origin, s SignedTopology) (*TopologyClaims, credentials.KeyID, error) {
	key, err := envelope.ParseJWK(s.Key)
	if err != nil {
		return nil, "", fmt.Errorf("topology's key: %w", err)
	}
	v := envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.Topology || kid != key.ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return key, nil
	}))
	o, err := v.Verify(envelope.Topology, s.Token)
	if err != nil {
		return nil, "", err
	}
	var c TopologyClaims
	if err := envelope.Claims(o, &c); err != nil {
		return nil, "", fmt.Errorf("%w: %w", ErrSiteClaims, err)
	}
	if err := c.Check(); err != nil {
		return nil, "", err
	}
	if c.Org != site {
		return nil, "", ErrOtherSite
	}
	return &c, key.ID, nil
}

// follows reports whether t may take the place of what was known.
func (t *Topology) follows(before []SignedTopology, known Known, now time.Time) error {
	old := known.Topology
	if old == nil {
		if len(known.Enrolled) > 0 && !slices.Contains(known.Enrolled, t.Site) {
			return ErrSiteKey
		}
		return nil
	}
	if t.Site != old.Site && !slices.Contains(known.Enrolled, t.Site) {
		if err := t.inherits(before, old, now); err != nil {
			return err
		}
	}
	switch {
	case t.Ver < old.Ver, t.Ver == old.Ver && t.Expires.Before(old.Expires):
		return ErrRolledBack
	case t.Ver == old.Ver:
		a, errA := t.RowsJSON()
		b, errB := old.RowsJSON()
		if errA != nil || errB != nil || string(a) != string(b) || t.Site != old.Site {
			return ErrRolledBack
		}
	}
	return nil
}

// inherits walks from the pinned key over the handovers to t's key. A handover
// older than the topology known is none: the site may have withdrawn it since.
func (t *Topology) inherits(before []SignedTopology, old *Topology, now time.Time) error {
	at, ver := old.Site, old.Ver
	for _, s := range before {
		c, key, err := openTopology(t.Origin, s)
		if err != nil {
			return err
		}
		then := now
		if end := time.Unix(c.Exp-1, 0); end.Before(now) {
			then = end
		}
		if err := c.CheckTime(then, MaxTopologyLife); err != nil {
			return err
		}
		if key != at {
			continue // a link before our pin
		}
		if c.Next == "" || c.Next == key || c.Ver < ver {
			return ErrSiteKey
		}
		at, ver = c.Next, c.Ver+1
	}
	if at != t.Site || t.Ver < ver {
		return ErrSiteKey
	}
	return nil
}
