package node_test

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
)

const (
	batches = 25
	each    = 5
	entries = batches*each + 3 // three entries are beyond the newest checkpoint
)

// TestEveryChangeOfTheDatabaseIsLocated makes 1,000 random single-byte changes,
// deletions, truncations and swaps of stored rows (entry, head, checkpoint).
func TestEveryChangeOfTheDatabaseIsLocated(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	whole, policy := whole(t)
	count := map[string]int{}
	dir := filepath.Join(t.TempDir(), "log")
	for i := range 1000 {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "log.db")
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		h := edit(t, path, rng, i)
		count[h.what]++
		problems, err := verify(t, dir, policy)
		if h.head && err != nil {
			continue // the store itself names the head row
		}
		if err != nil {
			t.Fatalf("change %d (%s): %v", i, h.what, err)
		}
		if why := h.located(problems); why != "" {
			t.Fatalf("change %d (%s of entries %v, checkpoints %v): %s\n%v", i, h.what, h.entries, h.notes, why, problems)
		}
	}
	t.Log(count)
}

// whole is the bytes of a database of several batches, each with a checkpoint.
func whole(t *testing.T) ([]byte, ledger.Policy) {
	ctx := t.Context()
	signer, err := ledger.NewSigner("registry.example/log", ed25519.NewKeyFromSeed(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	policy, err := ledger.NewPolicy(signer.VerifierKeys()...)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "whole")
	l, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	tree := &ledger.Tree{}
	add := func(n int, notes []store.Note) {
		next := tree.Clone()
		b := store.Batch{Notes: notes}
		for range n {
			e := fmt.Appendf(nil, `{"event":%d,"text":"something happened"}`, next.Size())
			if err := next.Append(e); err != nil {
				t.Fatal(err)
			}
			b.Entries = append(b.Entries, e)
		}
		if err := l.Append(ctx, store.Head(tree.Head()), store.Head(next.Head()), b); err != nil {
			t.Fatal(err)
		}
		tree = next
	}
	for range batches {
		add(each, nil)
		raw, err := signer.Sign(tree.Head())
		if err != nil {
			t.Fatal(err)
		}
		add(0, []store.Note{{Size: tree.Size(), Text: raw}})
	}
	add(3, nil)
	if rep, err := ledger.Verify(ctx, l, ledger.VerifyOptions{Policy: policy}); err != nil || !rep.OK() || rep.Checkpoints != batches || rep.Size != entries {
		t.Fatalf("%+v %v", rep, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	return b, policy
}

func verify(t *testing.T, dir string, policy ledger.Policy) ([]ledger.Problem, error) {
	l, err := sqlite.Open(t.Context(), dir, &sqlite.Options{Existing: true})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	rep, err := ledger.Verify(t.Context(), l, ledger.VerifyOptions{Policy: policy})
	return rep.Problems, err
}

// hurt is one change: the rows it touched.
type hurt struct {
	what           string
	entries, notes []uint64
	head           bool
}

// located says why the problems do not fit: each row touched must be named,
// and no other.
func (h hurt) located(problems []ledger.Problem) string {
	var seenE, seenN []uint64
	head := false
	for _, p := range problems {
		to, allowed := &seenE, h.entries
		switch p.Kind {
		case ledger.KindHead:
			head = true
			continue
		case ledger.KindCheckpoint, ledger.KindSignature:
			to, allowed = &seenN, h.notes
		case ledger.KindTorn, ledger.KindMissing, ledger.KindChanged:
		default:
			return "unexpected " + p.String()
		}
		for i := p.Index; i < p.Index+p.Count; i++ {
			if !slices.Contains(allowed, i) {
				return "blames an innocent row: " + p.String()
			}
			*to = append(*to, i)
		}
	}
	for _, i := range h.entries {
		if i < 1<<63 && !slices.Contains(seenE, i) {
			return fmt.Sprintf("entry %d is not named", i)
		}
	}
	for _, i := range h.notes {
		if i < 1<<63 && !slices.Contains(seenN, i) {
			return fmt.Sprintf("checkpoint %d is not named", i)
		}
	}
	if head != h.head {
		return fmt.Sprintf("head problem is %v", head)
	}
	return ""
}

// edit changes the database below the store, as somebody with the disk can.
func edit(t *testing.T, path string, rng *rand.Rand, i int) hurt {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(DELETE)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	e := &editor{t, db, rng}
	e.exec(`DROP TRIGGER IF EXISTS log_no_update; DROP TRIGGER IF EXISTS log_no_delete;
		DROP TRIGGER IF EXISTS note_no_update; DROP TRIGGER IF EXISTS note_no_delete`)
	h := edits[i%len(edits)](e)
	e.exec(`PRAGMA journal_mode=WAL`)
	return h
}

type editor struct {
	t   *testing.T
	db  *sql.DB
	rng *rand.Rand
}

func (e *editor) exec(q string, args ...any) {
	e.t.Helper()
	if _, err := e.db.ExecContext(context.Background(), q, args...); err != nil {
		e.t.Fatalf("%s: %v", q, err)
	}
}

// blob changes one byte of a blob column, or cuts it off.
func (e *editor) blob(table, column, key string, k int, cut bool) {
	var b []byte
	if err := e.db.QueryRow(`SELECT `+column+` FROM `+table+` WHERE `+key+`=?`, k).Scan(&b); err != nil {
		e.t.Fatal(err)
	}
	if cut {
		b = b[:e.rng.IntN(len(b))]
	} else {
		b[e.rng.IntN(len(b))] ^= byte(1 + e.rng.IntN(255))
	}
	if b == nil {
		b = []byte{}
	}
	e.exec(`UPDATE `+table+` SET `+column+`=? WHERE `+key+`=?`, b, k)
}

// number changes one byte of a number column to a value that is not taken.
func (e *editor) number(table, column, key string, k, taken int) uint64 {
	var n int64
	if err := e.db.QueryRow(`SELECT `+column+` FROM `+table+` WHERE `+key+`=?`, k).Scan(&n); err != nil {
		e.t.Fatal(err)
	}
	for {
		m := n ^ int64(1+e.rng.IntN(255))<<(8*e.rng.IntN(8))
		var found int
		if e.db.QueryRow(`SELECT count(*) FROM `+table+` WHERE `+column+`=?`, m).Scan(&found); found == 0 {
			e.exec(`UPDATE `+table+` SET `+column+`=? WHERE `+key+`=?`, m, k)
			return uint64(m)
		}
	}
}

func (e *editor) two(n int) (int, int) {
	a, b := e.rng.IntN(n), e.rng.IntN(n-1)
	if b >= a {
		b++
	}
	return a, b
}

// swap exchanges a column of two rows.
func (e *editor) swap(table, column, key string, a, b int) {
	read := func(k int) (v []byte) {
		if err := e.db.QueryRow(`SELECT `+column+` FROM `+table+` WHERE `+key+`=?`, k).Scan(&v); err != nil {
			e.t.Fatal(err)
		}
		return v
	}
	va, vb := read(a), read(b)
	e.exec(`UPDATE `+table+` SET `+column+`=? WHERE `+key+`=?`, vb, a)
	e.exec(`UPDATE `+table+` SET `+column+`=? WHERE `+key+`=?`, va, b)
}

func u(n ...int) (out []uint64) {
	for _, x := range n {
		out = append(out, uint64(x))
	}
	return out
}

func from(a, b int) (out []uint64) {
	for ; a < b; a++ {
		out = append(out, uint64(a))
	}
	return out
}

var edits = []func(e *editor) hurt{
	func(e *editor) hurt {
		k := e.rng.IntN(entries)
		e.blob("log", "data", "seq", k, false)
		return hurt{what: "entry byte", entries: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(entries)
		e.blob("log", "leaf", "seq", k, false)
		return hurt{what: "leaf byte", entries: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(entries)
		e.blob("log", "data", "seq", k, true)
		return hurt{what: "entry cut", entries: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(entries)
		e.blob("log", "leaf", "seq", k, true)
		return hurt{what: "leaf cut", entries: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(entries)
		return hurt{what: "entry index byte", entries: append(u(k), e.number("log", "seq", "seq", k, entries))}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(entries)
		e.exec(`DELETE FROM log WHERE seq=?`, k)
		return hurt{what: "entry deleted", entries: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(entries)
		e.exec(`DELETE FROM log WHERE seq>=?`, k)
		return hurt{what: "log truncated", entries: from(k, entries)}
	},
	func(e *editor) hurt {
		a, b := e.two(entries)
		e.swap("log", "data", "seq", a, b)
		e.swap("log", "leaf", "seq", a, b)
		return hurt{what: "entry rows swapped", entries: u(a, b)}
	},
	func(e *editor) hurt {
		a, b := e.two(entries)
		e.swap("log", "data", "seq", a, b)
		return hurt{what: "entries swapped", entries: u(a, b)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(batches)
		e.blob("note", "text", "n", k, false)
		return hurt{what: "checkpoint byte", notes: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(batches)
		e.blob("note", "text", "n", k, true)
		return hurt{what: "checkpoint cut", notes: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(batches)
		e.blob("note", "sum", "n", k, false)
		return hurt{what: "checkpoint sum byte", notes: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(batches)
		e.number("note", "size", "n", k, 0)
		return hurt{what: "checkpoint size byte", notes: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(batches)
		return hurt{what: "checkpoint ordinal byte", notes: append(u(k), e.number("note", "n", "n", k, batches))}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(batches)
		e.exec(`DELETE FROM note WHERE n=?`, k)
		return hurt{what: "checkpoint deleted", notes: u(k)}
	},
	func(e *editor) hurt {
		k := e.rng.IntN(batches)
		e.exec(`DELETE FROM note WHERE n>=?`, k)
		return hurt{what: "checkpoints truncated", notes: from(k, batches)}
	},
	func(e *editor) hurt {
		a, b := e.two(batches)
		e.swap("note", "text", "n", a, b)
		e.swap("note", "sum", "n", a, b)
		return hurt{what: "checkpoints swapped", notes: u(a, b)}
	},
	func(e *editor) hurt {
		switch e.rng.IntN(5) {
		case 0:
			e.number("head", "size", "id", 1, 0)
		case 1:
			e.number("head", "notes", "id", 1, 0)
		case 2:
			e.blob("head", "root", "id", 1, e.rng.IntN(2) == 0)
		case 3:
			e.blob("head", "sum", "id", 1, e.rng.IntN(2) == 0)
		case 4:
			e.exec(`DELETE FROM head`)
		}
		return hurt{what: "head row", head: true}
	},
}
