package writer_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
)

// A change is one thing done to the stored rows, and where it must be found.
type change struct {
	what    string
	entries []uint64 // located as entries
	note    int      // located as a checkpoint row, or -1
	head    bool     // located as the head row
}

// A vandal changes one row of a log behind the engine's back.
type vandal struct {
	t     *testing.T
	r     *rand.Rand
	db    *sql.DB
	size  int64
	notes int64
}

func (v *vandal) exec(q string, args ...any) {
	v.t.Helper()
	r, err := v.db.Exec(q, args...)
	if err != nil {
		v.t.Fatalf("%s: %v", q, err)
	}
	if n, _ := r.RowsAffected(); n == 0 && q[0] != 'D' {
		v.t.Fatalf("%s %v: nothing changed", q, args)
	}
}

func (v *vandal) blob(q string, args ...any) (b []byte) {
	v.t.Helper()
	if err := v.db.QueryRow(q, args...).Scan(&b); err != nil {
		v.t.Fatalf("%s: %v", q, err)
	}
	return b
}

// bent is b with one byte changed, or cut short.
func (v *vandal) bent(b []byte) ([]byte, string) {
	b = append([]byte{}, b...)
	i := v.r.IntN(len(b))
	if v.r.IntN(3) == 0 && i > 0 {
		return b[:i], fmt.Sprintf("cut to %d of %d bytes", i, len(b))
	}
	b[i] ^= 1 << v.r.IntN(8)
	return b, fmt.Sprintf("byte %d of %d", i, len(b))
}

func (v *vandal) entry() change {
	i := v.r.Int64N(v.size)
	col := []string{"data", "leaf"}[v.r.IntN(2)]
	b, how := v.bent(v.blob(`SELECT `+col+` FROM log WHERE seq=?`, i))
	v.exec(`UPDATE log SET `+col+`=? WHERE seq=?`, b, i)
	return change{fmt.Sprintf("%s of entry %d: %s", col, i, how), []uint64{uint64(i)}, -1, false}
}

// forged is an entry changed together with the check in its own row.
func (v *vandal) forged() change {
	i := v.r.Int64N(v.size)
	b, how := v.bent(v.blob(`SELECT data FROM log WHERE seq=?`, i))
	leaf := sha256.Sum256(append([]byte{0}, b...))
	binary.BigEndian.PutUint64(leaf[:8], binary.BigEndian.Uint64(leaf[:8])^uint64(i))
	v.exec(`UPDATE log SET data=?, leaf=? WHERE seq=?`, b, leaf[:], i)
	return change{fmt.Sprintf("entry %d and its check: %s", i, how), []uint64{uint64(i)}, -1, false}
}

func (v *vandal) deletion() change {
	i := v.r.Int64N(v.size)
	v.exec(`DELETE FROM log WHERE seq=?`, i)
	return change{fmt.Sprintf("entry %d deleted", i), []uint64{uint64(i)}, -1, false}
}

func (v *vandal) tail() change {
	i := v.size - 1 - v.r.Int64N(10)
	v.exec(`DELETE FROM log WHERE seq>=?`, i)
	return change{fmt.Sprintf("log cut at entry %d", i), []uint64{uint64(i), uint64(v.size - 1)}, -1, false}
}

func (v *vandal) swap() change {
	i, j := v.r.Int64N(v.size), v.r.Int64N(v.size-1)
	if j >= i {
		j++
	}
	v.exec(`UPDATE log SET seq=-1 WHERE seq=?`, i)
	v.exec(`UPDATE log SET seq=? WHERE seq=?`, i, j)
	v.exec(`UPDATE log SET seq=? WHERE seq=-1`, j)
	return change{fmt.Sprintf("entries %d and %d swapped", i, j), []uint64{uint64(i), uint64(j)}, -1, false}
}

func (v *vandal) head() change {
	switch v.r.IntN(5) {
	case 0:
		b, how := v.bent(v.blob(`SELECT root FROM head`))
		v.exec(`UPDATE head SET root=?`, b)
		return change{"root of the head: " + how, nil, -1, true}
	case 1:
		b, how := v.bent(v.blob(`SELECT sum FROM head`))
		v.exec(`UPDATE head SET sum=?`, b)
		return change{"check of the head: " + how, nil, -1, true}
	case 2:
		n := v.r.Int64N(v.size)
		v.exec(`UPDATE head SET size=?`, n)
		return change{fmt.Sprintf("size in the head: %d", n), nil, -1, true}
	case 3:
		v.exec(`UPDATE head SET notes=notes-1`)
		return change{"checkpoints counted in the head", nil, -1, true}
	}
	v.exec(`DELETE FROM head`)
	return change{"head deleted", nil, -1, true}
}

func (v *vandal) note() change {
	n := v.r.Int64N(v.notes)
	switch v.r.IntN(5) {
	case 0, 1:
		col := []string{"text", "sum"}[v.r.IntN(2)]
		b, how := v.bent(v.blob(`SELECT `+col+` FROM note WHERE n=?`, n))
		v.exec(`UPDATE note SET `+col+`=? WHERE n=?`, b, n)
		return change{fmt.Sprintf("%s of checkpoint %d: %s", col, n, how), nil, int(n), false}
	case 2:
		v.exec(`DELETE FROM note WHERE n=?`, n)
		return change{fmt.Sprintf("checkpoint %d deleted", n), nil, int(n), false}
	case 3:
		v.exec(`UPDATE note SET size=? WHERE n=?`, v.size+1000, n)
		return change{fmt.Sprintf("size of checkpoint %d", n), nil, int(n), false}
	}
	m := (n + 1) % v.notes
	a, b := v.blob(`SELECT text FROM note WHERE n=?`, n), v.blob(`SELECT text FROM note WHERE n=?`, m)
	v.exec(`UPDATE note SET text=? WHERE n=?`, b, n)
	v.exec(`UPDATE note SET text=? WHERE n=?`, a, m)
	return change{fmt.Sprintf("checkpoints %d and %d swapped", n, m), nil, int(n), false}
}

// located reports whether the report names the place of a change.
func located(r ledger.Report, c change) bool {
	in := func(i uint64, kinds ...ledger.Kind) bool {
		for _, p := range r.Problems {
			for _, k := range kinds {
				if p.Kind == k && p.Index <= i && i < p.Index+p.Count {
					return true
				}
			}
		}
		return false
	}
	for _, i := range c.entries {
		if !in(i, ledger.KindChanged, ledger.KindMissing, ledger.KindTorn) {
			return false
		}
	}
	if c.note >= 0 && !in(uint64(c.note), ledger.KindCheckpoint, ledger.KindSignature) {
		return false
	}
	if !c.head {
		return true
	}
	for _, p := range r.Problems {
		if p.Kind == ledger.KindHead {
			return true
		}
	}
	return false
}

// tampered is a folder with a small log of a registry, closed.
func tamperedLog(t *testing.T) string {
	dir := newFolder(t)
	l := openLog(t, dir)
	w := openWriter(t, l)
	p := newParty(t)
	for i := range 120 {
		do(t, w, p.register(site, item(t, fmt.Sprint("tool-", i), "x")))
	}
	w.Close()
	verifyLog(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEveryChangeIsFound changes, deletes, cuts and swaps stored rows (entries,
// head, checkpoints) straight in the database: each change is detected, and
// the report names the row.
func TestEveryChangeIsFound(t *testing.T) {
	good := must(os.ReadFile(filepath.Join(tamperedLog(t), "log.db")))
	seed := rand.Uint64()
	t.Logf("seed %d, %d changes", seed, changes)
	r := rand.New(rand.NewPCG(seed, 0))
	count := map[string]int{}
	for n := range changes {
		dir := filepath.Join(t.TempDir(), "log")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "log.db")
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		c := vandalise(t, r, path, count)
		l, err := sqlite.Open(ctx, dir, &sqlite.Options{Existing: true})
		if err != nil {
			if !c.head {
				t.Errorf("change %d (%s): open: %v", n, c.what, err)
			}
			continue // no head to open with, and the error says so
		}
		rep, err := ledger.Verify(ctx, l, ledger.VerifyOptions{Policy: policy(t)})
		if err != nil || rep.OK() || rep.TornOnly() {
			t.Errorf("change %d (%s) is not detected: %v %v", n, c.what, err, rep.Problems)
		} else if !located(rep, c) {
			t.Errorf("change %d (%s) is not located: %v", n, c.what, rep.Problems)
		}
		l.Close()
		os.RemoveAll(dir)
	}
	t.Log(count)
}

func vandalise(t *testing.T, r *rand.Rand, path string, count map[string]int) change {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	v := &vandal{t: t, r: r, db: db}
	for _, x := range []string{"log_no_update", "log_no_delete", "note_no_update", "note_no_delete"} {
		v.exec(`DROP TRIGGER ` + x)
	}
	if err := db.QueryRow(`SELECT size, notes FROM head`).Scan(&v.size, &v.notes); err != nil {
		t.Fatal(err)
	}
	acts := []struct {
		name string
		do   func() change
	}{{"entry", v.entry}, {"entry", v.entry}, {"entry and check", v.forged}, {"deletion", v.deletion}, {"truncation", v.tail}, {"swap", v.swap}, {"head", v.head}, {"checkpoint", v.note}, {"checkpoint", v.note}}
	a := acts[r.IntN(len(acts))]
	count[a.name]++
	return a.do()
}

// TestFolderPutBack: a whole folder put back to an earlier state is consistent
// in itself, and only a checkpoint kept elsewhere shows it.
func TestFolderPutBack(t *testing.T) {
	dir := newFolder(t)
	l := openLog(t, dir)
	w := openWriter(t, l)
	p := newParty(t)
	registered(t, w, p, "pay")
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := l.BackupTo(ctx, backup); err != nil {
		t.Fatal(err)
	}
	registered(t, w, p, "refund")
	w.Close()
	kept := must(l.LatestNote(ctx)).Text
	verifyLog(t, l, kept)

	old := newFolder(t)
	if _, err := sqlite.Restore(ctx, old, backup, nil); err != nil {
		t.Fatal(err)
	}
	lo := openLog(t, old)
	verifyLog(t, lo) // nothing inside contradicts anything
	kinds := func() (ks []ledger.Kind) {
		t.Helper()
		r, err := ledger.Verify(ctx, lo, ledger.VerifyOptions{Policy: policy(t), Outside: [][]byte{kept}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Problems {
			ks = append(ks, p.Kind)
		}
		return ks
	}
	if got := kinds(); len(got) != 1 || got[0] != ledger.KindRollback {
		t.Errorf("shorter than the checkpoint kept elsewhere: %v", got)
	}
	wo := openWriter(t, lo) // goes on from there: another history of the same length and more
	registered(t, wo, newParty(t), "another")
	registered(t, wo, newParty(t), "history")
	wo.Close()
	if got := kinds(); len(got) != 1 || got[0] != ledger.KindFork {
		t.Errorf("another history than the checkpoint kept elsewhere: %v", got)
	}
}
