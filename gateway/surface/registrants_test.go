package surface_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/state"
)

// A history is a registry's log, folded as a writer does.
type history struct {
	t     *testing.T
	db    *state.DB
	size  uint64
	stale error
	n     byte
}

const second = 1_800_000_000

func (h *history) bytes(n int) []byte {
	h.n++
	return bytes.Repeat([]byte{h.n}, n)
}

func (h *history) key() credentials.KeyID {
	return credentials.KeyID(base64.RawURLEncoding.EncodeToString(h.bytes(32)))
}

func (h *history) add(typ registry.EventType, by credentials.KeyID, data any) {
	h.t.Helper()
	cmd := registry.CommandID(base64.RawURLEncoding.EncodeToString(h.bytes(16)))
	e, err := registry.NewEvent(typ, second*1000, cmd, by, data)
	if err != nil {
		h.t.Fatal(err)
	}
	e.Req = credentials.Digest(h.bytes(32))
	tx := h.db.Write()
	if err := tx.Apply(h.size, &e); err != nil {
		h.t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		h.t.Fatal(err)
	}
	h.size++
}

func (h *history) snapshot() (*state.View, uint64, error) { return h.db.Read(), h.size, h.stale }

// RULES.md 17 and 19: a row counts where its origin is attested; beside a topology
// nothing else is shown.
func TestRule17View(t *testing.T) {
	h := &history{t: t, db: state.New()}
	at := origin.Must("https://notes.example/mcp")
	r := surface.View(at, h.snapshot)
	now := time.Unix(second, 0)
	check := func(what, name string, row, covered bool) {
		t.Helper()
		got, cov, err := r.Of(name, now)
		if err != nil || (got != nil) != row || cov != covered {
			t.Errorf("%s: row %v, covered %v, %v", what, got != nil, cov, err)
		}
	}
	head := func() uint64 {
		t.Helper()
		n, err := r.Head()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	owner, other := h.key(), h.key()
	check("nobody registered", "pay", false, true)
	for _, k := range []credentials.KeyID{owner, other} {
		h.add(registry.PrincipalCreated, k, registry.PrincipalData{ID: k.Principal(), JWK: []byte(`{"kty":"OKP"}`)})
	}
	before := head()
	var u ulid.ULID
	copy(u[:], h.bytes(16))
	id := credentials.ToolID("tool_" + u.String())
	h.add(registry.ToolRegistered, owner, registry.ToolData{ID: id, Origin: at.String(), Name: "pay", Gen: 1, Ver: 1, Mdg: credentials.Digest(h.bytes(32)), N: 1})
	if head() == before {
		t.Error("a registration does not move the head")
	}
	check("registered, origin not attested", "pay", false, true)
	before = head()
	third := h.key()
	h.add(registry.PrincipalCreated, third, registry.PrincipalData{ID: third.Principal(), JWK: []byte(`{"kty":"OKP"}`)})
	if head() != before {
		t.Error("what is about another origin moves the head")
	}
	rows := `[{"name":"pay","publishers":["` + string(owner) + `"],"level":"pop","actions":["overwrite"]}]`
	h.add(registry.TopologyRead, "", registry.TopologyData{
		Origin: "https://notes.example", Ver: 1, Site: h.key(), Token: credentials.Digest(h.bytes(32)), Exp: second + 3600, Rows: []byte(rows),
	})
	if head() == before {
		t.Error("a topology does not move the head")
	}
	check("attested", "pay", true, true)
	check("not in the topology", "free", false, false)
	now = now.Add(2 * time.Hour)
	check("the topology expired: it attests nothing and goes on restricting", "pay", false, false)
	h.stale = registry.ErrStaleView
	if _, err := r.Head(); !errors.Is(err, registry.ErrStaleView) {
		t.Errorf("head of a stale view: %v", err)
	}
	if _, covered, err := r.Of("pay", now); err == nil || covered {
		t.Error("a stale view answers")
	}
}
