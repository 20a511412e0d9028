package ledger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// auditLog is a log of n entries in random batches, each with a checkpoint,
// and a last batch without one, as a crash between commit and signing leaves.
func auditLog(t testing.TB, rng *rand.Rand, n int) (*memLog, *Signer) {
	s := testSigner(t, 1)
	m, tree := newMemLog(), &Tree{}
	for tree.Size() < uint64(n) {
		var batch [][]byte
		for range 1 + rng.IntN(16) {
			batch = append(batch, fmt.Appendf(nil, `{"event":%d,"pad":"%x"}`, rng.Uint64(), randBytes(rng, rng.IntN(30))))
		}
		m.add(t, tree, s, batch...)
	}
	m.add(t, tree, nil, []byte("tail 1"), []byte("tail 2"), []byte("tail 3"))
	return m, s
}

func mustVerify(t testing.TB, a Auditor, opt VerifyOptions) Report {
	t.Helper()
	rep, err := Verify(t.Context(), a, opt)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestVerifyIntact(t *testing.T) {
	m, s := auditLog(t, newRand(t), 900)
	opt := VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)}
	rep := mustVerify(t, m, opt)
	tree := treeOf(m, len(m.rows))
	if !rep.OK() || rep.TornOnly() || rep.Size != tree.Size() || rep.Root != tree.Head().Root ||
		rep.Checkpoints != uint64(len(m.notes)) || rep.Covered != tree.Size()-3 {
		t.Errorf("%+v", rep)
	}
	if rep := mustVerify(t, newMemLog(), opt); !rep.OK() || rep.Root != EmptyHead().Root {
		t.Errorf("empty log: %+v", rep)
	}
	var notes [][]byte
	for _, n := range m.notes {
		notes = append(notes, n.note)
	}
	if rep := mustVerify(t, Plain(m, tree.Head(), notes...), opt); !rep.OK() || rep.Checkpoints != uint64(len(notes)) {
		t.Errorf("plain: %+v", rep)
	}
}

// hurt is one change of stored rows: which entries and checkpoints it touched.
type hurt struct {
	what    string
	entries []uint64
	notes   []uint64
	head    bool
}

// TestVerifyLocatesEveryChange makes 1,000 random single changes, deletions,
// truncations and swaps of stored rows (Show 5). Each must be reported at the
// rows it touched, and nothing at any other row.
func TestVerifyLocatesEveryChange(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	whole, s := auditLog(t, rng, 150)
	opt := VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)}
	count := map[string]int{}
	for i := range 1000 {
		m := whole.clone()
		h := hurts[i%len(hurts)](m, rng)
		count[h.what]++
		rep := mustVerify(t, m, opt)
		if err := located(rep, h); err != nil {
			t.Fatalf("change %d, %s of entries %v checkpoints %v: %v\n%v", i, h.what, h.entries, h.notes, err, rep.Problems)
		}
		tail := whole.notes[len(whole.notes)-1].size
		onlyTail := len(h.entries) > 0 && slices.Min(h.entries) >= tail
		if rep.TornOnly() != onlyTail {
			t.Fatalf("change %d, %s of entries %v: torn only is %v, newest checkpoint %d\n%v", i, h.what, h.entries, rep.TornOnly(), tail, rep.Problems)
		}
	}
	t.Logf("%v", count)
}

// located says why a report does not fit what was done.
func located(rep Report, h hurt) error {
	foundE, foundN, head := map[uint64]bool{}, map[uint64]bool{}, false
	for _, p := range rep.Problems {
		into, allowed := foundE, h.entries
		switch p.Kind {
		case KindHead:
			head = true
			continue
		case KindCheckpoint, KindSignature:
			into, allowed = foundN, h.notes
		case KindTorn, KindMissing, KindChanged:
		default:
			return fmt.Errorf("unexpected %v", p)
		}
		for i := p.Index; i < p.Index+p.Count; i++ {
			if !slices.Contains(allowed, i) {
				return fmt.Errorf("blames an innocent row: %v", p)
			}
			into[i] = true
		}
	}
	switch {
	case head != h.head:
		return fmt.Errorf("head problem is %v", head)
	case len(h.entries) > 0 && len(foundE) == 0, len(h.notes) > 0 && len(foundN) == 0:
		return errors.New("not detected")
	}
	for _, i := range h.entries {
		if !foundE[i] {
			return fmt.Errorf("entry %d not located", i)
		}
	}
	for _, i := range h.notes {
		if !foundN[i] {
			return fmt.Errorf("checkpoint %d not located", i)
		}
	}
	return nil
}

// flip changes one byte.
func flip(rng *rand.Rand, b []byte) []byte {
	b[rng.IntN(len(b))] ^= byte(1 + rng.IntN(255))
	return b
}

// flipN changes one byte of a stored number (its sign bit stays).
func flipN(rng *rand.Rand, n uint64) uint64 {
	for {
		if m := n ^ uint64(1+rng.IntN(255))<<(8*rng.IntN(8)); m < 1<<63 {
			return m
		}
	}
}

func two(rng *rand.Rand, n int) (int, int) {
	a := rng.IntN(n)
	b := rng.IntN(n - 1)
	if b >= a {
		b++
	}
	return a, b
}

var hurts = []func(m *memLog, rng *rand.Rand) hurt{
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.rows))
		flip(rng, m.rows[i].data)
		return hurt{what: "byte of an entry", entries: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.rows))
		flip(rng, m.rows[i].leaf)
		return hurt{what: "byte of a leaf hash", entries: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		for {
			i := rng.IntN(len(m.rows))
			to := flipN(rng, uint64(i))
			if to >= uint64(len(m.rows)) { // the primary key refuses a taken one
				m.rows[i].seq = to
				return hurt{what: "byte of an index", entries: []uint64{uint64(i), to}}
			}
		}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.rows))
		m.rows = slices.Delete(m.rows, i, i+1)
		return hurt{what: "deleted entry", entries: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.rows))
		m.rows[i].data = m.rows[i].data[:rng.IntN(len(m.rows[i].data))]
		return hurt{what: "truncated entry", entries: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.rows))
		m.rows[i].leaf = m.rows[i].leaf[:rng.IntN(32)]
		return hurt{what: "truncated leaf hash", entries: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i, j := two(rng, len(m.rows))
		m.rows[i].seq, m.rows[j].seq = m.rows[j].seq, m.rows[i].seq
		return hurt{what: "swapped entry rows", entries: []uint64{uint64(i), uint64(j)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i, j := two(rng, len(m.rows))
		m.rows[i].data, m.rows[j].data = m.rows[j].data, m.rows[i].data
		return hurt{what: "swapped entries", entries: []uint64{uint64(i), uint64(j)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		k := 1 + rng.IntN(len(m.rows))
		h := hurt{what: "truncated log"}
		for i := len(m.rows) - k; i < len(m.rows); i++ {
			h.entries = append(h.entries, uint64(i))
		}
		m.rows = m.rows[:len(m.rows)-k]
		return h
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.notes))
		flip(rng, m.notes[i].note)
		return hurt{what: "byte of a checkpoint", notes: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.notes))
		flip(rng, m.notes[i].sum)
		return hurt{what: "byte of a checkpoint's check", notes: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.notes))
		m.notes[i].size = flipN(rng, m.notes[i].size)
		return hurt{what: "byte of a checkpoint's size", notes: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		for {
			i := rng.IntN(len(m.notes))
			to := flipN(rng, uint64(i))
			if to >= uint64(len(m.notes)) {
				m.notes[i].n = to
				return hurt{what: "byte of a checkpoint's ordinal", notes: []uint64{uint64(i), to}}
			}
		}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.notes))
		m.notes = slices.Delete(m.notes, i, i+1)
		return hurt{what: "deleted checkpoint", notes: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i := rng.IntN(len(m.notes))
		m.notes[i].note = m.notes[i].note[:rng.IntN(len(m.notes[i].note))]
		return hurt{what: "truncated checkpoint", notes: []uint64{uint64(i)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i, j := two(rng, len(m.notes))
		a, b := &m.notes[i], &m.notes[j]
		a.note, b.note, a.sum, b.sum = b.note, a.note, b.sum, a.sum
		return hurt{what: "swapped checkpoints", notes: []uint64{uint64(i), uint64(j)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		i, j := two(rng, len(m.notes))
		m.notes[i].n, m.notes[j].n = m.notes[j].n, m.notes[i].n
		return hurt{what: "swapped checkpoint ordinals", notes: []uint64{uint64(i), uint64(j)}}
	},
	func(m *memLog, rng *rand.Rand) hurt {
		k := 1 + rng.IntN(len(m.notes))
		h := hurt{what: "truncated checkpoints"}
		for i := len(m.notes) - k; i < len(m.notes); i++ {
			h.notes = append(h.notes, uint64(i))
		}
		m.notes = m.notes[:len(m.notes)-k]
		return h
	},
	func(m *memLog, rng *rand.Rand) hurt {
		switch rng.IntN(6) {
		case 0:
			m.head.size = flipN(rng, m.head.size)
		case 1:
			m.head.notes = flipN(rng, m.head.notes)
		case 2:
			flip(rng, m.head.root)
		case 3:
			flip(rng, m.head.sum)
		case 4:
			m.head.root = m.head.root[:rng.IntN(32)]
		case 5:
			m.head.gone = true
		}
		return hurt{what: "head row", head: true}
	},
}

// TestVerifySaysWhichOfTwoChanged: with a signed checkpoint after it, a row
// that disagrees with itself is known to be the entry or the hash.
func TestVerifySaysWhichOfTwoChanged(t *testing.T) {
	whole, s := auditLog(t, newRand(t), 50)
	opt := VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)}
	m := whole.clone()
	m.rows[20].data[0] ^= 1
	m.rows[3].data[0] ^= 1
	if rep := mustVerify(t, m, opt); len(rep.Problems) != 2 || !strings.HasPrefix(rep.Problems[0].Detail, "entry was changed") || rep.Root != treeOf(whole, len(whole.rows)).Head().Root {
		t.Errorf("%+v", rep)
	}
	m = whole.clone()
	m.rows[20].leaf[0] ^= 1
	if rep := mustVerify(t, m, opt); len(rep.Problems) != 1 || !strings.HasPrefix(rep.Problems[0].Detail, "leaf hash was changed") {
		t.Errorf("%+v", rep)
	}
}

// TestVerifyConsistentRewrite: somebody who writes rows whose checks agree is
// found by the signed roots, between two checkpoints.
func TestVerifyConsistentRewrite(t *testing.T) {
	whole, s := auditLog(t, newRand(t), 100)
	opt := VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)}
	m := whole.clone()
	m.rows[40].data[0] ^= 1
	leaf := boundLeaf(40, LeafHash(m.rows[40].data))
	m.rows[40].leaf = leaf[:]
	rep := mustVerify(t, m, opt)
	if len(rep.Problems) != 1 || rep.Problems[0].Kind != KindChanged {
		t.Fatalf("%+v", rep)
	}
	p := rep.Problems[0]
	sizes := []uint64{0}
	for _, n := range m.notes {
		sizes = append(sizes, n.size)
	}
	if p.Index > 40 || p.Index+p.Count <= 40 || !slices.Contains(sizes, p.Index) || slices.Index(sizes, p.Index+p.Count) != slices.Index(sizes, p.Index)+1 {
		t.Errorf("not between two neighbouring checkpoints: %v of %v", p, sizes)
	}
	// A head row of another log, with the right check.
	m = whole.clone()
	m.setHead(Head{m.head.size, Hash{7}})
	if rep := mustVerify(t, m, opt); len(rep.Problems) != 1 || rep.Problems[0].Kind != KindHead {
		t.Errorf("%+v", rep)
	}
	// An older head row, as it once was.
	m = whole.clone()
	m.setHead(treeOf(m, int(m.notes[2].size)).Head())
	m.head.notes = 3
	m.head.sum = m.head.want()
	if rep := mustVerify(t, m, opt); len(rep.Problems) == 0 || rep.Problems[0].Kind != KindHead {
		t.Errorf("%+v", rep)
	}
}

func TestVerifySignatureAndFork(t *testing.T) {
	whole, s := auditLog(t, newRand(t), 100)
	opt := VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)}
	replace := func(i int, signer *Signer, h Head) *memLog {
		m := whole.clone()
		raw, err := signer.Sign(h)
		if err != nil {
			t.Fatal(err)
		}
		m.notes[i].note = raw
		m.notes[i].sum = m.notes[i].want()
		return m
	}
	size := whole.notes[4].size
	head := treeOf(whole, int(size)).Head()
	for _, tc := range []struct {
		m     *memLog
		kind  Kind
		index uint64
	}{
		{replace(4, testSigner(t, 9), head), KindSignature, 4},                                       // by a key of nobody
		{replace(4, s, Head{size, Hash{1}}), KindFork, size},                                         // by our key, another root
		{replace(4, s, treeOf(whole, int(size)-1).Head()), KindCheckpoint, 4},                        // another size
		{replace(len(whole.notes)-1, s, Head{whole.notes[len(whole.notes)-1].size, Hash{1}}), "", 0}, // the last: entries or note?
	} {
		rep := mustVerify(t, tc.m, opt)
		if len(rep.Problems) != 1 || tc.kind != "" && (rep.Problems[0].Kind != tc.kind || rep.Problems[0].Index != tc.index) {
			t.Errorf("want %s at %d: %v", tc.kind, tc.index, rep.Problems)
		}
	}
	if rep := mustVerify(t, whole, VerifyOptions{}); rep.OK() {
		t.Error("the zero policy believed a log")
	}
}

// TestVerifyAgainstOutside: a consistent rollback or rewrite of everything
// shows against a checkpoint kept elsewhere, and only there.
func TestVerifyAgainstOutside(t *testing.T) {
	whole, s := auditLog(t, newRand(t), 100)
	policy := mustPolicy(t, s.VerifierKeys()...)
	last := whole.notes[len(whole.notes)-1]
	old := newMemLog()
	otherTree := &Tree{}
	other := newMemLog()
	tree := &Tree{}
	for i, n := range whole.notes {
		from := tree.Size()
		var batch [][]byte
		for _, r := range whole.rows[from:n.size] {
			batch = append(batch, r.data)
		}
		if i < 5 {
			old.add(t, tree, s, batch...)
		} else {
			tree = treeOf(whole, int(n.size))
		}
		batch = slices.Clone(batch)
		if i == 6 {
			batch[0] = []byte("rewritten")
		}
		other.add(t, otherTree, s, batch...)
	}
	for name, tc := range map[string]struct {
		m       *memLog
		outside []byte
		kind    Kind
		index   uint64
	}{
		"rollback":          {old, last.note, KindRollback, old.head.size},
		"rewrite":           {other, last.note, KindFork, last.size},
		"same":              {whole, last.note, "", 0},
		"older copy":        {whole, whole.notes[2].note, "", 0},
		"before the change": {other, whole.notes[5].note, "", 0},
		"not ours":          {whole, []byte("nonsense"), KindSignature, 0},
	} {
		if rep := mustVerify(t, tc.m, VerifyOptions{Policy: policy}); !rep.OK() {
			t.Errorf("%s: looks wrong from inside: %v", name, rep.Problems)
		}
		rep := mustVerify(t, tc.m, VerifyOptions{Policy: policy, Outside: [][]byte{tc.outside}})
		if tc.kind == "" && !rep.OK() || tc.kind != "" && (len(rep.Problems) != 1 || rep.Problems[0].Kind != tc.kind || rep.Problems[0].Index != tc.index) {
			t.Errorf("%s: %v, want %s at %d", name, rep.Problems, tc.kind, tc.index)
		}
	}
}

// TestVerifyTornTail: rows that no checkpoint covers may be torn by a crash.
func TestVerifyTornTail(t *testing.T) {
	whole, s := auditLog(t, newRand(t), 60)
	opt := VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)}
	n := len(whole.rows)
	m := whole.clone()
	m.rows[n-1].data = m.rows[n-1].data[:2]
	if rep := mustVerify(t, m, opt); !rep.TornOnly() || rep.Problems[0].Index != uint64(n-1) || rep.Covered != uint64(n-3) {
		t.Errorf("%+v", rep)
	}
	m = whole.clone() // rows beyond the head, as a lost head update would leave
	m.setHead(treeOf(m, n-3).Head())
	if rep := mustVerify(t, m, opt); !rep.TornOnly() || rep.Problems[0].Index != uint64(n-3) || rep.Problems[0].Count != 3 {
		t.Errorf("%+v", rep)
	}
	m = whole.clone() // reaching into what a checkpoint covers
	m.rows = m.rows[:n-5]
	rep := mustVerify(t, m, opt)
	if rep.TornOnly() || len(rep.Problems) != 2 || rep.Problems[0].Kind != KindMissing || rep.Problems[0].Count != 2 || rep.Problems[1].Kind != KindTorn {
		t.Errorf("%+v", rep)
	}
}

func BenchmarkVerify100k(b *testing.B) {
	s := testSigner(b, 1)
	m, _ := filled(b, 100_000, s)
	p := mustPolicy(b, s.VerifierKeys()...)
	pl := Plain(m, treeOf(m, 100_000).Head(), m.notes[0].note)
	b.ReportAllocs()
	for b.Loop() {
		if rep := mustVerify(b, pl, VerifyOptions{Policy: p}); !rep.OK() {
			b.Fatal(rep)
		}
	}
}
