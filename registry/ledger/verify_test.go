package ledger

import (
	"context"
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

// TestVerifyRowsOutOfOrder: two processes may store their checkpoints in
// another order than they signed them.
func TestVerifyRowsOutOfOrder(t *testing.T) {
	m, s := auditLog(t, newRand(t), 60)
	a, b := &m.notes[2], &m.notes[3]
	a.size, a.note, b.size, b.note = b.size, b.note, a.size, a.note
	a.sum, b.sum = a.want(), b.want()
	if rep := mustVerify(t, m, VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)}); !rep.OK() || rep.Checkpoints != uint64(len(m.notes)) {
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

// growing appends to the log whenever a page was read.
type growing struct {
	*memLog
	t    *testing.T
	tree *Tree
	s    *Signer
	left int
}

func (g *growing) grow() {
	if g.left--; g.left > 0 {
		g.add(g.t, g.tree, g.s, fmt.Appendf(nil, "grown %d", g.left), []byte("and more"))
	}
}

func (g *growing) AuditHead(ctx context.Context) (uint64, Hash, uint64, bool, error) {
	defer g.grow()
	return g.memLog.AuditHead(ctx)
}

func (g *growing) AuditNotes(ctx context.Context, from uint64, max int, visit func(n, size uint64, note []byte, ok bool) error) error {
	defer g.grow()
	return g.memLog.AuditNotes(ctx, from, max, visit)
}

func (g *growing) AuditEntries(ctx context.Context, from uint64, max int, visit func(uint64, []byte, Hash, bool) error) error {
	defer g.grow()
	return g.memLog.AuditEntries(ctx, from, max, visit)
}

// TestVerifyWhileGrowing: appends during the walk are no findings.
func TestVerifyWhileGrowing(t *testing.T) {
	m, s := auditLog(t, newRand(t), 1500)
	g := &growing{m, t, treeOf(m, len(m.rows)), s, 40}
	rep := mustVerify(t, g, VerifyOptions{Policy: mustPolicy(t, s.VerifierKeys()...)})
	if !rep.OK() || g.left > 30 {
		t.Errorf("%v, %d left", rep.Problems, g.left)
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
