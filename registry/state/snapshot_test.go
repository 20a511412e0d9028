package state

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// TestToolKeyIsInverse: the 16 bytes that stand for an id in tables and
// snapshots give the id back.
func TestToolKeyIsInverse(t *testing.T) {
	h := newHistory(t, 1)
	ids := []credentials.ToolID{"tool_00000000000000000000000000", "tool_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"}
	for range 10_000 {
		ids = append(ids, h.toolID())
	}
	for i, id := range ids {
		k := toolKey(id)
		if len(k) != 16 || toolID([16]byte(k)) != id {
			t.Fatalf("%s becomes %x becomes %s", id, k, toolID([16]byte(k)))
		}
		if u := ulid.MustParse(string(id[5:])); !bytes.Equal(u[:], k) {
			t.Fatalf("%s: %x is not its ULID %x", id, k, u[:])
		}
		if i > 0 && (bytes.Compare(toolKey(ids[i-1]), k) < 0) != (ids[i-1] < id) {
			t.Fatal("order of keys is not that of ids")
		}
	}
	for _, id := range []credentials.ToolID{"", "tool_", "tool_0", "tool_000000000000000000000000000"} {
		if len(toolKey(id)) == 16 {
			t.Errorf("%q has the key of a tool", id)
		}
	}
}

// TestDamagedSnapshotIsRefused cuts a snapshot everywhere, and changes it.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	h := newHistory(t, 5)
	h.run(150, func() {})
	good := snapshot(t, h.db)
	for n := 0; n < len(good); n += 1 + n/64 {
		if _, err := ReadSnapshot(bytes.NewReader(good[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes were loaded", n, len(good))
		}
	}
	for _, bad := range [][]byte{nil, []byte("pratique/snapshot/v1\n"), append([]byte(snapshotMagic), 0xff, 0xff, 0xff, 0xff, 0x7f)} {
		if _, err := ReadSnapshot(bytes.NewReader(bad)); !errors.Is(err, ErrSnapshot) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzReadSnapshot: no bytes make the reader panic or take memory that they do
// not pay for; what it takes, it writes again.
func FuzzReadSnapshot(f *testing.F) {
	for seed := range uint64(3) {
		h := newHistory(new(testing.T), seed)
		h.run(8, func() {})
		f.Add(snapshot(f, h.db))
	}
	f.Add([]byte(snapshotMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		db, err := ReadSnapshot(bytes.NewReader(b))
		if err != nil {
			return
		}
		once := snapshot(t, db)
		again, err := ReadSnapshot(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		if !bytes.Equal(snapshot(t, again), once) {
			t.Fatal("a snapshot of a snapshot differs")
		}
	})
}

// TestViewsAreShared has many goroutines read one view while transactions
// commit: the decision row of a published view never changes. Under -race it
// also shows that go-memdb's read transactions may be shared, which its
// documentation does not promise.
func TestViewsAreShared(t *testing.T) {
	h := newHistory(t, 9)
	h.run(400, func() {})
	id, x := h.live()
	h.commit()
	v := h.db.Read()
	want := *must(v.Row(id))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if r, err := v.Row(id); err != nil || *r != want {
					t.Errorf("row changed: %+v, %v", r, err)
					return
				}
				n := 0
				for range v.AtOrigin(x.origin, "") {
					n++
				}
				v.Live(&credentials.HandleClaims{ToolID: id, Gen: want.Gen})
				v.Owned(x.owner)
			}
		})
	}
	h.run(int(h.index)+600, func() {})
	close(stop)
	wg.Wait()
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// TestUnknownEventsPoison: what this version does not know is not guessed.
func TestUnknownEventsPoison(t *testing.T) {
	for _, raw := range []string{
		`{"v":2,"type":"tool.revoked","at":1,"cmd":"c","data":{}}`, `{"v":1,"type":"tool.painted","at":1,"cmd":"c","data":{}}`,
		`{"v":1,"type":"tool.revoked","at":1,"cmd":"c","data":{"id":"x","n":1,"last":0,"more":1}}`, `{"v":1,"type":"tool.revoked","at":1,"cmd":"c"}`,
		`{"v":1,"type":"tool.revoked","at":1,"cmd":"c","data":{},"x":1}`, `{"v":1,"v":1,"type":"log.restored","at":1,"cmd":"c","data":{}}`, `[]`, ``,
	} {
		e, err := registry.ParseEvent([]byte(raw))
		if err == nil {
			tx := New().Write()
			err = tx.Apply(0, &e)
			tx.Abort()
		}
		if !errors.Is(err, registry.ErrEvent) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func Example() {
	db := New()
	tx := db.Write()
	owner := credentials.KeyID("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	add := func(index uint64, typ registry.EventType, data any) {
		e, err := registry.NewEvent(typ, 1_800_000_000_000, "command-00000001", owner, data)
		if err == nil {
			err = tx.Apply(index, &e)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	tool := registry.ToolData{ID: "tool_01J00000000000000000000000", Origin: "https://tools.example", Name: "pay", Gen: 1, Ver: 1, Mdg: credentials.Digest{1}, N: 1}
	add(0, registry.PrincipalCreated, registry.PrincipalData{ID: owner.Principal(), JWK: []byte(`{}`)})
	add(1, registry.ToolRegistered, tool)
	tool.ID = "tool_01J00000000000000000000001"
	add(2, registry.ToolRegistered, tool) // the same name
	if err := tx.Commit(); err != nil {
		fmt.Println(err)
	}
	row, err := db.Read().Row("tool_01J00000000000000000000000")
	fmt.Println(row.Live, row.Standing, row.Content == labels.Uninspected, err)
	// Output:
	// entry 2: state: event contradicts the state before it: "pay" at https://tools.example is held by tool_01J00000000000000000000000
	// true unknown true <nil>
}
