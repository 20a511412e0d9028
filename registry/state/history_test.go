package state

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

const site = "https://tools.example"

var origins = []string{site, site + "/mcp", "https://tools.example:8443", "https://other.example"}

// history makes events that follow from those before, and now and then one
// that does not. What it expects is kept apart from the tables.
type history struct {
	t      *testing.T
	r      *rand.Rand
	db     *DB
	tx     *Txn
	index  uint64
	at     int64
	log    [][]byte
	keys   []credentials.KeyID
	known  map[credentials.KeyID]bool
	moved  map[credentials.KeyID]bool
	tools  []credentials.ToolID
	expect map[credentials.ToolID]*expected
	names  map[[2]string]credentials.ToolID // who holds it live
	vers   map[string]uint64                // of topologies
	kids   []credentials.KeyID
	gone   map[credentials.KeyID]bool // revoked kids
	spools map[string]uint64          // anchored size
	refuse int
	cmd    registry.CommandID // of the event before, and who sent it
	cmdBy  credentials.KeyID
}

// expected is what a reader of RULES.md would say of a tool.
type expected struct {
	origin, name string
	owner        credentials.KeyID
	gen, ver     uint64
	events, last uint64
	live         bool
	mdg          credentials.Digest
}

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{t: t, r: rand.New(rand.NewPCG(seed, 7)), db: New(), at: 1_800_000_000_000, known: map[credentials.KeyID]bool{},
		moved: map[credentials.KeyID]bool{}, expect: map[credentials.ToolID]*expected{}, names: map[[2]string]credentials.ToolID{},
		vers: map[string]uint64{}, spools: map[string]uint64{}, gone: map[credentials.KeyID]bool{}}
	for range 6 {
		h.keys = append(h.keys, h.key())
	}
	for range 4 {
		h.kids = append(h.kids, h.key())
	}
	return h
}

func (h *history) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(h.r.Uint32())
	}
	return b
}

func (h *history) key() credentials.KeyID {
	return credentials.KeyID(base64.RawURLEncoding.EncodeToString(h.bytes(32)))
}

func (h *history) token() credentials.TokenID {
	return credentials.TokenID(base64.RawURLEncoding.EncodeToString(h.bytes(16)))
}

func (h *history) digest() credentials.Digest { return credentials.Digest(h.bytes(32)) }

func (h *history) toolID() credentials.ToolID {
	var u ulid.ULID
	copy(u[:], h.bytes(16))
	return credentials.ToolID("tool_" + u.String())
}

func pick[T any](h *history, from []T) T { return from[h.r.IntN(len(from))] }

func (h *history) begin() {
	if h.tx == nil {
		h.tx = h.db.Write()
	}
}

func (h *history) commit() {
	if h.tx != nil {
		if err := h.tx.Commit(); err != nil {
			h.t.Fatal(err)
		}
		h.tx = nil
	}
}

// add applies an event as a writer does, by way of its bytes.
func (h *history) add(typ registry.EventType, by credentials.KeyID, data any) {
	h.t.Helper()
	h.begin()
	cmd := registry.CommandID(h.token())
	if by == h.cmdBy && h.cmd != "" && h.r.IntN(2) == 0 {
		cmd = h.cmd // one command, several events
	}
	raw := h.encode(typ, cmd, by, data)
	h.cmd, h.cmdBy = cmd, by
	e, err := registry.ParseEvent(raw)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.tx.Apply(h.index, &e); err != nil {
		h.t.Fatalf("%s %+v: %v", typ, data, err)
	}
	h.log = append(h.log, raw)
	h.index++
}

func (h *history) encode(typ registry.EventType, cmd registry.CommandID, by credentials.KeyID, data any) []byte {
	h.t.Helper()
	h.at += int64(h.r.IntN(1000))
	e, err := registry.NewEvent(typ, h.at, cmd, by, data)
	if err != nil {
		h.t.Fatal(err)
	}
	if cmd != h.cmd {
		e.Req = h.digest()
	}
	raw, err := e.Encode()
	if err != nil {
		h.t.Fatal(err)
	}
	return raw
}

// contradiction applies what must be refused, in a transaction of its own.
func (h *history) contradiction(typ registry.EventType, by credentials.KeyID, data any) {
	h.t.Helper()
	h.commit()
	e, err := registry.ParseEvent(h.encode(typ, registry.CommandID(h.token()), by, data))
	if err != nil {
		h.t.Fatal(err)
	}
	tx := h.db.Write()
	defer tx.Abort()
	if err := tx.Apply(h.index, &e); !errors.Is(err, ErrApply) {
		h.t.Fatalf("%s %+v was applied: %v", typ, data, err)
	}
	h.refuse++
}

func (h *history) principal(k credentials.KeyID) {
	if !h.known[k] {
		h.add(registry.PrincipalCreated, k, registry.PrincipalData{ID: k.Principal(), JWK: []byte(`{"kty":"OKP"}`)})
		h.known[k] = true
	}
}

// owner is a key that may act: known and not moved away.
func (h *history) owner() credentials.KeyID {
	k := pick(h, h.keys)
	for h.moved[k] {
		k = h.key()
		h.keys = append(h.keys, k)
	}
	h.principal(k)
	return k
}

func (h *history) live() (credentials.ToolID, *expected) {
	for range 20 {
		if len(h.tools) == 0 {
			break
		}
		id := pick(h, h.tools)
		if x := h.expect[id]; x.live {
			return id, x
		}
	}
	h.register()
	for _, id := range slices.Backward(h.tools) {
		if x := h.expect[id]; x.live {
			return id, x
		}
	}
	h.t.Fatal("no live tool")
	return "", nil
}

func (x *expected) data(id credentials.ToolID) registry.ToolData {
	return registry.ToolData{ID: id, Gen: x.gen, Ver: x.ver, N: x.events + 1, Last: x.last}
}

// did counts an event that was just added.
func (h *history) did(x *expected) { x.events++; x.last = h.index - 1 }

func (h *history) register() {
	k := h.owner()
	o, n := pick(h, origins), fmt.Sprintf("tool-%d", h.r.IntN(12))
	d := registry.ToolData{ID: h.toolID(), Origin: o, Name: n, Gen: 1, Ver: 1, Mdg: h.digest(), N: 1}
	if _, taken := h.names[[2]string{o, n}]; taken {
		h.contradiction(registry.ToolRegistered, k, d)
		return
	}
	h.add(registry.ToolRegistered, k, d)
	x := &expected{origin: o, name: n, owner: k, gen: 1, ver: 1, live: true, mdg: d.Mdg}
	h.did(x)
	h.tools = append(h.tools, d.ID)
	h.expect[d.ID] = x
	h.names[[2]string{o, n}] = d.ID
}

func (h *history) overwrite() {
	id, x := h.live()
	by := x.owner
	if h.r.IntN(3) == 0 {
		by = h.owner() // a delegate, as far as the tables can tell
	}
	d := x.data(id)
	d.Ver, d.Base, d.Mdg = x.ver+1, x.mdg, h.digest()
	if h.r.IntN(8) == 0 {
		d.Base = h.digest()
		h.contradiction(registry.ToolOverwritten, by, d)
		return
	}
	h.add(registry.ToolOverwritten, by, d)
	x.ver, x.mdg = d.Ver, d.Mdg
	h.did(x)
}

func (h *history) revoke() {
	id, x := h.live()
	d := x.data(id)
	d.Gen = x.gen + 1
	if h.r.IntN(3) == 0 {
		d.Reason = ReasonTopology
	}
	h.add(registry.ToolRevoked, x.owner, d)
	x.gen, x.live = d.Gen, false
	delete(h.names, [2]string{x.origin, x.name})
	h.did(x)
	d.N, d.Last, d.Gen = x.events+1, x.last, x.gen+1
	h.contradiction(registry.ToolRevoked, x.owner, d) // what is gone stays gone
}

func (h *history) move() {
	id, x := h.live()
	to := h.owner()
	d := x.data(id)
	d.Gen, d.From, d.To, d.Accept = x.gen+1, x.owner, to, h.token()
	if h.r.IntN(6) == 0 {
		d.From = h.key()
		h.contradiction(registry.ToolTransferred, x.owner, d)
		return
	}
	typ := registry.ToolTransferred
	if h.r.IntN(3) == 0 {
		typ = registry.ToolReturned
	}
	h.add(typ, x.owner, d)
	x.gen, x.owner = d.Gen, to
	h.did(x)
}

func (h *history) recover() {
	from := h.owner()
	to := h.key()
	h.keys = append(h.keys, to)
	h.principal(to)
	h.add(registry.PrincipalRecovered, from, registry.RecoveredData{From: from.Principal(), To: to.Principal(), Accept: h.token()})
	h.moved[from] = true
	for _, id := range h.tools {
		x := h.expect[id]
		if !x.live || x.owner != from {
			continue
		}
		d := x.data(id)
		d.Gen, d.From, d.To = x.gen+1, from, to
		h.add(registry.ToolTransferred, from, d)
		x.gen, x.owner = d.Gen, to
		h.did(x)
	}
}

func (h *history) judge() {
	id, x := h.live()
	typ := pick(h, []registry.EventType{registry.ToolCondemned, registry.ToolReleased, registry.ToolReleased})
	d := registry.ReasonData{Tool: id, Mdg: x.mdg, N: x.events + 1, Last: x.last, Reason: "read"}
	if h.r.IntN(6) == 0 {
		d.Mdg = h.digest()
		h.contradiction(typ, h.keys[0], d)
		return
	}
	h.add(typ, h.keys[0], d)
	h.did(x)
}

func (h *history) handles() {
	id, x := h.live()
	d := registry.HandleData{Jti: h.token(), Tool: id, Gen: x.gen, Exp: h.at/1000 + int64(h.r.IntN(7200))}
	switch h.r.IntN(4) {
	case 0:
		g := x.data(id)
		g.Gen = x.gen + 1
		h.add(registry.HandlesRevoked, x.owner, g)
		x.gen++
		h.did(x)
	case 1:
		h.add(registry.HandleRevoked, x.owner, d)
	case 2:
		d.Par, d.To, d.Act = h.token(), h.owner(), []credentials.Action{credentials.Overwrite}
		h.add(registry.DelegationCreated, x.owner, d)
		h.contradiction(registry.DelegationCreated, x.owner, d)
	case 3:
		h.begin()
		for del := range h.tx.Delegations(id) {
			h.add(registry.DelegationRevoked, x.owner, registry.HandleData{Jti: del.ID, Par: del.Parent, Tool: id, Gen: del.Gen, To: del.To, Exp: del.Exp})
			break
		}
	}
}

func (h *history) topology() {
	o := pick(h, []string{site, "https://tools.example:8443", "https://other.example"})
	if v := h.vers[o]; v > 1 && h.r.IntN(5) == 0 {
		h.contradiction(registry.TopologyRead, "", h.reading(o, v-1))
		return
	}
	h.vers[o]++
	h.add(registry.TopologyRead, "", h.reading(o, h.vers[o]))
}

func (h *history) reading(o string, ver uint64) registry.TopologyData {
	rows := fmt.Sprintf(`[{"name":"tool-1*","publishers":[%q],"level":"pop","actions":["overwrite"]},{"name":%q,"publishers":[%q,%q],"level":"pop","actions":[]}]`,
		h.owner(), fmt.Sprintf("tool-%d", h.r.IntN(9)), h.owner(), h.key())
	return registry.TopologyData{Origin: o, Ver: ver, Site: h.kids[0], Token: h.digest(), Exp: h.at/1000 + int64(h.r.IntN(3600)), Rows: []byte(rows)}
}

func (h *history) operator() {
	k := h.owner()
	switch h.r.IntN(9) {
	case 0:
		h.add(registry.PrincipalCondemned, h.keys[0], registry.ReasonData{ID: k.Principal()})
	case 1:
		h.add(registry.OriginCondemned, h.keys[0], registry.ReasonData{Origin: pick(h, origins[2:])})
	case 2, 3:
		h.add(registry.PrincipalEnrolled, h.keys[0], registry.EnrolledData{ID: k.Principal(), Origin: pick(h, origins)})
	case 4:
		a := registry.AgentData{ID: credentials.AgentID("agt_" + string(h.toolID())[5:]), Name: "a", Secret: h.digest()}
		h.add(registry.AgentCreated, h.keys[0], a)
		h.contradiction(registry.AgentCreated, h.keys[0], a)
		if h.r.IntN(2) == 0 {
			h.add(registry.AgentRevoked, h.keys[0], registry.AgentData{ID: a.ID})
		}
	case 5:
		kid := pick(h, h.kids)
		c := registry.KeysData{Ver: h.index, Changes: []registry.KeyChange{{Kid: kid, Role: "label", From: "active", To: pick(h, []string{"retiring", "active", "revoked"})}}}
		if h.gone[kid] {
			h.contradiction(registry.KeysChanged, "", c)
			return
		}
		h.add(registry.KeysChanged, "", c)
		h.gone[kid] = c.Changes[0].To == "revoked"
	case 6:
		id, x := h.live()
		h.add(registry.ToolContested, k, registry.ContestData{Origin: x.origin, Name: x.name, Holder: id, Claimant: k})
	case 7:
		h.add(registry.LogRestored, "", registry.RestoredData{Size: h.index})
		clear(h.spools) // and what was demanded of them before is so no longer
		h.anchor()
	case 8:
		h.anchor()
	}
}

// anchor takes a spool further, and tries to take it back.
func (h *history) anchor() {
	a := registry.AnchorData{Spool: fmt.Sprintf("spool_%d", h.r.IntN(5)), Root: h.digest(), Chain: h.digest()}
	h.spools[a.Spool] += 1 + uint64(h.r.IntN(100))
	a.Size = h.spools[a.Spool]
	h.add(registry.DecisionsAnchored, "", a)
	a.Size = uint64(h.r.IntN(int(a.Size + 1)))
	h.contradiction(registry.DecisionsAnchored, "", a)
}

// run adds about n events, in transactions of some events each, and checks the
// tables after each.
func (h *history) run(n int, check func()) {
	acts := []func(){h.register, h.register, h.register, h.overwrite, h.overwrite, h.revoke, h.move, h.recover, h.judge, h.handles, h.handles, h.topology, h.operator, h.conduct, h.conduct, h.use}
	for int(h.index) < n {
		for range 1 + h.r.IntN(12) {
			pick(h, acts)()
		}
		h.commit()
		check()
	}
}

// check holds the tables against what is expected: each live name is one
// tool's, whoever else tried, and nothing else changed hands.
func (h *history) check() {
	h.t.Helper()
	v := h.db.Read()
	holders, lives := map[[2]string]credentials.ToolID{}, map[[2]string]int{}
	held := map[[2]string]int{}
	n := 0
	for x := range v.Tools("") {
		n++
		want := h.expect[x.Row.Tool]
		if want == nil || want.live != x.Live || want.owner != x.Owner || want.gen != x.Gen || want.ver != x.Ver ||
			want.events != x.Events || want.last != x.Index || want.mdg != x.Digest || want.origin != x.Origin || want.name != x.Name {
			h.t.Fatalf("event %d: tool %s is %+v, want %+v", h.index, x.Row.Tool, x, want)
		}
		at := [2]string{x.Origin, x.Name}
		if x.Named {
			if other, twice := holders[at]; twice {
				h.t.Fatalf("event %d: %v is held by %s and %s", h.index, at, other, x.Row.Tool)
			}
			holders[at] = x.Row.Tool
		}
		if x.Live {
			lives[at]++
			held[[2]string{string(x.Owner), x.Origin}]++
			if !x.Named || h.names[at] != x.Row.Tool || lives[at] > 1 {
				h.t.Fatalf("event %d: %v is %s, want %s", h.index, at, x.Row.Tool, h.names[at])
			}
		}
	}
	if n != len(h.tools) || len(lives) != len(h.names) {
		h.t.Fatalf("event %d: %d tools, %d live names; want %d, %d", h.index, n, len(lives), len(h.tools), len(h.names))
	}
	for at, id := range holders {
		if x, err := v.Named(at[0], at[1]); err != nil || x.Row.Tool != id {
			h.t.Fatalf("event %d: Named(%v) = %+v, %v", h.index, at, x, err)
		}
	}
	h.checkCounts(v, held)
	h.checkWeights(v)
}

func (h *history) checkCounts(v *View, held map[[2]string]int) {
	for _, k := range h.keys {
		all := 0
		for _, o := range origins {
			n := held[[2]string{string(k), o}]
			all += n
			if got := v.Held(k, o); got != n {
				h.t.Fatalf("event %d: %s holds %d at %s, counted %d", h.index, k, n, o, got)
			}
		}
		if got := v.Owned(k); got != all {
			h.t.Fatalf("event %d: %s owns %d, counted %d", h.index, k, all, got)
		}
	}
}

// checkWeights weighs every live tool anew: what stands in its row must follow
// from the evidence there is now, whichever event brought it.
func (h *history) checkWeights(v *View) {
	tx := h.db.Write()
	defer tx.Abort()
	for x := range v.Tools("") {
		if !x.Live {
			continue
		}
		y := *x
		tx.weigh(&y)
		if y.Standing != x.Standing || y.Withheld != x.Withheld || y.Attested != x.Attested || y.Content != x.Content {
			h.t.Fatalf("event %d: tool %s of %s stands at %v/%v withheld=%v, its evidence says %v/%v withheld=%v",
				h.index, x.Row.Tool, x.Owner, x.Standing, x.Content, x.Withheld, y.Standing, y.Content, y.Withheld)
		}
		if x.Condemned && x.Tier(time.UnixMilli(h.at)) != labels.Red {
			h.t.Fatalf("condemned tool %s is not red", x.Row.Tool)
		}
	}
}

// fold applies a log to tables in transactions of random sizes.
func (h *history) fold(db *DB, from int, chunk func() int) {
	h.t.Helper()
	for at := from; at < len(h.log); {
		tx := db.Write()
		for n := chunk(); n > 0 && at < len(h.log); n-- {
			e, err := registry.ParseEvent(h.log[at])
			if err == nil {
				err = tx.Apply(uint64(at), &e)
			}
			if err != nil {
				h.t.Fatal(err)
			}
			at++
		}
		if err := tx.Commit(); err != nil {
			h.t.Fatal(err)
		}
	}
}

func snapshot(t testing.TB, db *DB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := db.Read().WriteSnapshot(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const histories = 6

// TestNamesStayUnique is RULES.md 18: whatever happens, an (origin, name) is
// one tool's. go-memdb alone would hand it over without a word.
func TestNamesStayUnique(t *testing.T) {
	for seed := range uint64(histories) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHistory(t, seed)
			h.run(1500, h.check)
			if h.refuse < 20 {
				t.Errorf("only %d contradictions were tried", h.refuse)
			}
		})
	}
}

// TestApplyIsDeterministic folds the same entries in other transactions: every
// replica holds the same rows. A snapshot in the middle makes no difference.
func TestApplyIsDeterministic(t *testing.T) {
	for seed := range uint64(histories) {
		h := newHistory(t, 100+seed)
		var early []byte
		at := 0
		h.run(1200, func() {
			if early == nil && h.index > 600 {
				early, at = snapshot(t, h.db), int(h.index)
			}
		})
		want := snapshot(t, h.db)
		for name, chunk := range map[string]func() int{
			"one by one": func() int { return 1 },
			"at once":    func() int { return len(h.log) },
			"some":       func() int { return 1 + h.r.IntN(40) },
		} {
			db := New()
			h.fold(db, 0, chunk)
			if !bytes.Equal(snapshot(t, db), want) {
				t.Errorf("seed %d: folded %s, the tables differ", seed, name)
			}
		}
		db, err := ReadSnapshot(bytes.NewReader(early))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(snapshot(t, db), early) {
			t.Errorf("seed %d: a snapshot does not come back as it was", seed)
		}
		h.fold(db, at, func() int { return 1 + h.r.IntN(40) })
		if !bytes.Equal(snapshot(t, db), want) {
			t.Errorf("seed %d: snapshot and tail differ from the fold", seed)
		}
	}
}

// TestSnapshotIsComplete compares every table of a loaded snapshot with the
// one that was written, record by record, since equal bytes could also mean
// that both leave the same thing out.
func TestSnapshotIsComplete(t *testing.T) {
	h := newHistory(t, 3)
	h.run(1500, func() {})
	db, err := ReadSnapshot(bytes.NewReader(snapshot(t, h.db)))
	if err != nil {
		t.Fatal(err)
	}
	a, b := h.db.Read(), db.Read()
	for name := range schema().Tables {
		x, y := dump(t, a, name), dump(t, b, name)
		if len(x) == 0 {
			t.Errorf("table %s is empty: the history does not reach it", name)
		}
		if !slices.Equal(x, y) {
			t.Errorf("table %s differs after loading", name)
		}
	}
	if !maps.Equal(h.db.commands.byID, db.commands.byID) || !slices.Equal(h.db.commands.order, db.commands.order) {
		t.Error("commands differ after loading")
	}
}

func dump(t *testing.T, v *View, table string) (out []string) {
	it, err := v.txn.Get(table, "id")
	if err != nil {
		t.Fatal(err)
	}
	for o := it.Next(); o != nil; o = it.Next() {
		if x, ok := o.(*Origin); ok {
			out = append(out, fmt.Sprintf("%s %+v %d %v %+v", x.Name, x.Topology, x.Index, x.Condemned, x.rows.t))
			continue
		}
		out = append(out, fmt.Sprintf("%+v", o))
	}
	return out
}
