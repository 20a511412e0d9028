package gateway

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// labelLife is the life of the labels that are made here. They never leave the
// process: what they are for is that a call is decided on a verified statement
// of exactly one version, and on nothing else.
const labelLife = time.Hour

// maxLabels is how many labels are remembered.
const maxLabels = 1 << 14

// A labeller signs a label for each item that is called and verifies it. What
// verified is used until half its life is over, the key that signed it stops
// being good, or anything that it says has changed.
type labeller struct {
	keys   Keys
	v      envelope.Verifier
	issuer string
	place  origin.Origin
	id     func(prefix string) string

	mu   sync.Mutex
	kept map[labelKey]keptLabel
}

// A labelKey is everything that a label says.
type labelKey struct {
	key      gate.Key
	tool     credentials.ToolID
	gen, ver uint64
	digest   credentials.Digest
	owner    credentials.KeyID
	standing labels.Standing
	content  labels.Content
}

type keptLabel struct {
	label labels.Verified
	kid   credentials.KeyID
	until time.Time
}

func newLabeller(keys Keys, issuer string, place origin.Origin, id func(string) string) *labeller {
	return &labeller{keys: keys, v: envelope.NewVerifier(keys), issuer: issuer, place: place, id: id, kept: map[labelKey]keptLabel{}}
}

// of is the verified label of an item at a time.
func (l *labeller) of(e *gate.Entry, now time.Time) (labels.Verified, error) {
	standing := e.Standing
	if standing == labels.Attested && e.Attested != 0 && now.Unix() >= e.Attested {
		standing = labels.Unknown
	}
	k := labelKey{e.Key, e.Tool, e.Gen, e.Ver, e.Digest, e.Owner, standing, e.Content}
	l.mu.Lock()
	have, ok := l.kept[k]
	l.mu.Unlock()
	if ok && now.Before(have.until) {
		if _, err := l.keys.Key(envelope.Label, have.kid); err == nil {
			return have.label, nil
		}
	}
	made, err := l.make(k, e, now)
	if err != nil {
		return labels.Verified{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) >= maxLabels {
		clear(l.kept)
	}
	l.kept[k] = made
	return made.label, nil
}

// make signs a label and opens it again, held against what was shown.
func (l *labeller) make(k labelKey, e *gate.Entry, now time.Time) (keptLabel, error) {
	key, pub, err := l.keys.Signer(credentials.RoleLabel)
	if err != nil {
		return keptLabel{}, err
	}
	signer, err := envelope.NewSigner(envelope.Label, key)
	if err != nil {
		return keptLabel{}, err
	}
	name, metadata := labelled(e)
	var jti [16]byte
	if _, err := rand.Read(jti[:]); err != nil {
		return keptLabel{}, err
	}
	st := labels.Statement{
		Registered: credentials.NewRegistered(l.issuer, credentials.TokenID(base64.RawURLEncoding.EncodeToString(jti[:])), now, labelLife),
		Sub:        labelSubject(e), Gen: max(1, k.gen), Ver: max(1, k.ver), Own: k.owner, Org: l.place, Name: name,
		Standing: k.standing, Content: k.content, Tier: labels.Synthesize(k.standing, k.content),
	}
	if st.Own == "" {
		st.Own = pub.ID // nobody registered it: the statement is the node's alone
	}
	_, digest, err := canon.Metadata(metadata)
	if err != nil {
		return keptLabel{}, err
	}
	st.Mdg = digest
	token, err := st.Sign(signer)
	if err != nil {
		return keptLabel{}, err
	}
	v, err := labels.Verify(l.v, token, labels.Shown{
		Issuer: l.issuer, Metadata: metadata, Tool: st.Sub, Origin: l.place, Name: name,
		Gen: st.Gen, Ver: st.Ver, Owner: st.Own, Fresh: labels.Freshness{At: now, MaxStale: labelLife},
	}, now)
	if err != nil {
		return keptLabel{}, fmt.Errorf("gateway: label: %w", err)
	}
	return keptLabel{v, pub.ID, now.Add(labelLife / 2)}, nil
}

// labelled is the name and object that a label is of: a tool's own; for other
// items, whose names are URIs or prose, a wrapper that is named by the id.
func labelled(e *gate.Entry) (string, []byte) {
	if e.Kind == gate.Tool {
		return e.Name, e.Canonical
	}
	raw := e.Canonical
	if e.Link {
		raw = mcp.Object(mcp.Member{Name: "uri", Value: mcp.Quote(e.Name)})
	}
	id := string(labelSubject(e))
	return id, mcp.Object(
		mcp.Member{Name: "name", Value: mcp.Quote(id)}, mcp.Member{Name: "kind", Value: mcp.Quote(string(e.Kind))}, mcp.Member{Name: "item", Value: raw})
}

// labelSubject is the item's id; of a link in a result, which has none, one that
// is made of its address.
func labelSubject(e *gate.Entry) credentials.ToolID {
	if e.Tool != "" || !e.Link {
		return e.Tool
	}
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	b := []byte("tool_")
	for i, x := range e.Digest[:26] {
		if i == 0 {
			x &= 7
		}
		b = append(b, digits[x&31])
	}
	return credentials.ToolID(b)
}
