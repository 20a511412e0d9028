package state

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"github.com/hashicorp/go-memdb"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

const (
	tableTools       = "tools"
	tablePrincipals  = "principals"
	tableOrigins     = "origins"
	tableHoldings    = "holdings"
	tableDelegations = "delegations"
	tableSpent       = "spent"
	tableTransfers   = "transfers"
	tableAgents      = "agents"
	tableContests    = "contests"
	tableKeys        = "keys"
	tableLowered     = "lowered"
	tableAnchors     = "anchors"
	tableReviews     = "reviews"
)

// index is an indexer without reflection. key returns nil where the record has
// no entry in the index.
type index[T any] struct {
	key  func(*T) []byte
	args func(args ...any) ([]byte, error)
}

// FromObject implements memdb.SingleIndexer.
func (x index[T]) FromObject(o any) (bool, []byte, error) {
	v, ok := o.(*T)
	if !ok {
		return false, nil, fmt.Errorf("state: table holds *%T, got %T", *new(T), o)
	}
	k := x.key(v)
	return k != nil, k, nil
}

// FromArgs implements memdb.Indexer.
func (x index[T]) FromArgs(args ...any) ([]byte, error) {
	if x.args != nil {
		return x.args(args...)
	}
	b, ok := args[0].([]byte)
	if !ok || len(args) != 1 {
		return nil, fmt.Errorf("state: index wants one []byte")
	}
	return b, nil
}

// PrefixFromArgs implements memdb.PrefixIndexer.
func (x index[T]) PrefixFromArgs(args ...any) ([]byte, error) { return x.FromArgs(args...) }

func schema() *memdb.DBSchema {
	s := &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{}}
	for _, t := range []*memdb.TableSchema{
		toolsTable(), principalsTable(), originsTable(), holdingsTable(), delegationsTable(),
		spentTable(), transfersTable(), agentsTable(), contestsTable(), keysTable(), loweredTable(), anchorsTable(),
		reviewsTable(),
	} {
		s.Tables[t.Name] = t
	}
	return s
}

func table(name string, indexes ...*memdb.IndexSchema) *memdb.TableSchema {
	t := &memdb.TableSchema{Name: name, Indexes: map[string]*memdb.IndexSchema{}}
	for _, i := range indexes {
		t.Indexes[i.Name] = i
	}
	return t
}

func id[T any](key func(*T) []byte) *memdb.IndexSchema {
	return &memdb.IndexSchema{Name: "id", Unique: true, Indexer: index[T]{key: key}}
}

// Tools: by id for every decision; by (origin, name) for the one check that
// keeps names from being taken over, and for listing an origin; by owner for
// recovery, quotas and listing. Keys are the raw bytes of ULID and thumbprint:
// less than half the memory of their texts.
func toolsTable() *memdb.TableSchema {
	return table(tableTools,
		id(func(t *registry.Tool) []byte { return toolKey(t.Row.Tool) }),
		&memdb.IndexSchema{Name: "name", Unique: true, AllowMissing: true, Indexer: index[registry.Tool]{key: func(t *registry.Tool) []byte {
			if !t.Named {
				return nil
			}
			return nameKey(t.Origin, t.Name)
		}}},
		&memdb.IndexSchema{Name: "owner", Indexer: index[registry.Tool]{key: func(t *registry.Tool) []byte { return rawKey(t.Owner) }}},
	)
}

func principalsTable() *memdb.TableSchema {
	return table(tablePrincipals, id(func(p *registry.Principal) []byte { return []byte(p.ID) }))
}

func originsTable() *memdb.TableSchema {
	return table(tableOrigins, id(func(o *Origin) []byte { return []byte(o.Name) }))
}

// Holdings: live tools per (owner, origin), for quotas; by owner through the
// prefix of the id.
func holdingsTable() *memdb.TableSchema {
	return table(tableHoldings, id(func(h *holding) []byte { return holdingKey(h.Owner, h.Origin) }))
}

// Delegations: by jti for every delegated call; by tool for listing, quotas
// and the end of a tool.
func delegationsTable() *memdb.TableSchema {
	return table(tableDelegations,
		id(func(d *registry.Delegation) []byte { return []byte(d.ID) }),
		&memdb.IndexSchema{Name: "tool", Indexer: index[registry.Delegation]{key: func(d *registry.Delegation) []byte { return toolKey(d.Tool) }}},
	)
}

// Spent: by jti, revoked handles and statements that acted; by expiry, so that
// what can no longer be used is forgotten. A handle's jti counts for its tool
// only: jtis stand in the log, where everybody reads them, and the holder of
// one tool must not end the handles of another by naming them.
func spentTable() *memdb.TableSchema {
	return table(tableSpent,
		id(func(s *spent) []byte { return spentKey(s.Tool, s.ID) }),
		&memdb.IndexSchema{Name: "exp", Indexer: index[spent]{key: func(s *spent) []byte {
			return binary.BigEndian.AppendUint64(nil, uint64(s.Exp))
		}}},
	)
}

func transfersTable() *memdb.TableSchema {
	return table(tableTransfers, id(func(m *registry.Moved) []byte { return toolKey(m.Tool) }))
}

// Agents: by id for the operator; by the digest of the credential for a
// request.
func agentsTable() *memdb.TableSchema {
	return table(tableAgents,
		id(func(a *registry.Agent) []byte { return []byte(a.ID) }),
		&memdb.IndexSchema{Name: "secret", Unique: true, Indexer: index[registry.Agent]{key: func(a *registry.Agent) []byte { return a.Secret[:] }}},
	)
}

func contestsTable() *memdb.TableSchema {
	return table(tableContests, id(func(c *registry.Contest) []byte { return contestKey(c.Origin, c.Name, c.Claimant) }))
}

func keysTable() *memdb.TableSchema {
	return table(tableKeys, id(func(k *registry.Key) []byte { return []byte(k.ID) }))
}

// Lowered: tools whose label fell while one with the better tier may live; by
// its end, so that what can no longer live is forgotten.
func loweredTable() *memdb.TableSchema {
	return table(tableLowered,
		id(func(l *labels.Lower) []byte { return toolKey(l.Tool) }),
		&memdb.IndexSchema{Name: "until", Indexer: index[labels.Lower]{key: func(l *labels.Lower) []byte {
			return binary.BigEndian.AppendUint64(nil, uint64(l.Until))
		}}},
	)
}

// Anchors: by spool, the latest of each.
func anchorsTable() *memdb.TableSchema {
	return table(tableAnchors, id(func(a *registry.AnchorData) []byte { return []byte(a.Spool) }))
}

// Reviews: by tool and observer, one of each.
func reviewsTable() *memdb.TableSchema {
	return table(tableReviews, id(func(r *registry.Review) []byte { return reviewKey(r.Tool, r.By) }))
}

// Origin is what the log says of one origin.
type Origin struct {
	Name      string
	Topology  *registry.TopologyData // nil: none was read
	Index     uint64                 // of the reading
	Condemned bool
	rows      topologyRows
}

type holding struct {
	Owner  credentials.KeyID
	Origin string
	Live   int
}

type spent struct {
	ID   credentials.TokenID
	Tool credentials.ToolID // of a handle; empty for a statement
	Exp  int64
}

func spentKey(tool credentials.ToolID, jti credentials.TokenID) []byte {
	b := make([]byte, 0, 64+1+16)
	b = append(append(b, jti...), 0)
	return append(b, toolKey(tool)...)
}

// toolKey is the 16 bytes of the id's ULID.
func toolKey(t credentials.ToolID) []byte {
	k := make([]byte, 0, 16)
	if len(t) != len("tool_")+26 {
		return append(k, t...)
	}
	var hi, lo uint64 // 130 bits of text, the first two of which are zero
	for _, c := range []byte(t[len("tool_"):]) {
		hi = hi<<5 | lo>>59
		lo = lo<<5 | uint64(crockford[c])
	}
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(k, hi), lo)
}

var crockford = func() (t [256]byte) {
	for i, c := range []byte("0123456789ABCDEFGHJKMNPQRSTVWXYZ") {
		t[c] = byte(i)
	}
	return t
}()

// rawKey is the 32 bytes of a thumbprint.
func rawKey(k credentials.KeyID) []byte {
	b := make([]byte, 0, 33)
	b, err := base64.RawURLEncoding.AppendDecode(b, []byte(k))
	if err != nil || len(b) != 32 {
		return append(b[:0], k...)
	}
	return b
}

func nameKey(origin, name string) []byte {
	b := make([]byte, 0, len(origin)+1+len(name)+1)
	b = append(append(b, origin...), 0)
	return append(append(b, name...), 0)
}

func holdingKey(owner credentials.KeyID, origin string) []byte {
	return append(rawKey(owner), origin...)
}

func contestKey(origin, name string, who credentials.KeyID) []byte {
	return append(nameKey(origin, name), who...)
}
