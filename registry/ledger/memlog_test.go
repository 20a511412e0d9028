package ledger

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
)

// memLog is a log in memory that stores what the store stores: rows bound to
// their place, checkpoint rows, and a head row.
type memLog struct {
	rows  []memRow
	notes []memNote
	head  memHead
	reads atomic.Int64 // leaf hashes and entries given out
}

type memRow struct {
	seq        uint64
	data, leaf []byte // leaf is bound to seq as boundLeaf says
}

type memNote struct {
	n, size   uint64
	note, sum []byte
}

type memHead struct {
	gone        bool
	size, notes uint64
	root, sum   []byte
}

// boundLeaf binds a leaf hash to its index; it is its own inverse.
func boundLeaf(seq uint64, leaf Hash) Hash {
	binary.BigEndian.PutUint64(leaf[:8], binary.BigEndian.Uint64(leaf[:8])^seq)
	return leaf
}

func sumOf(context string, parts ...any) []byte {
	b := append([]byte(context), 0)
	for _, p := range parts {
		switch p := p.(type) {
		case uint64:
			b = binary.BigEndian.AppendUint64(b, p)
		case []byte:
			b = append(b, p...)
		}
	}
	h := LeafHash(b) // any hash does here
	return h[:]
}

func (m memHead) want() []byte { return sumOf("head", m.size, m.root, m.notes) }
func (m memNote) want() []byte { return sumOf("note", m.n, m.size, m.note) }

func newMemLog() *memLog {
	m := &memLog{}
	m.setHead(EmptyHead())
	return m
}

func (m *memLog) setHead(h Head) {
	m.head = memHead{size: h.Size, notes: uint64(len(m.notes)), root: h.Root[:]}
	m.head.sum = m.head.want()
}

// add appends entries and, if s is given, a checkpoint of the new head.
func (m *memLog) add(t testing.TB, tree *Tree, s *Signer, entries ...[]byte) {
	t.Helper()
	for _, e := range entries {
		seq := tree.Size()
		if err := tree.Append(e); err != nil {
			t.Fatal(err)
		}
		leaf := boundLeaf(seq, LeafHash(e))
		m.rows = append(m.rows, memRow{seq, slices.Clone(e), leaf[:]})
	}
	if s != nil {
		raw, err := s.Sign(tree.Head())
		if err != nil {
			t.Fatal(err)
		}
		n := memNote{n: uint64(len(m.notes)), size: tree.Size(), note: raw}
		n.sum = n.want()
		m.notes = append(m.notes, n)
	}
	m.setHead(tree.Head())
}

func (m *memLog) Read(_ context.Context, from uint64, max int) ([][]byte, error) {
	var out [][]byte
	for i := from; i < uint64(len(m.rows)) && len(out) < max; i++ {
		out = append(out, m.rows[i].data)
	}
	m.reads.Add(int64(len(out)))
	return out, nil
}

func (m *memLog) LeafHashes(_ context.Context, from uint64, max int) ([]Hash, error) {
	var out []Hash
	for i := from; i < uint64(len(m.rows)) && len(out) < max; i++ {
		out = append(out, boundLeaf(i, Hash(m.rows[i].leaf)))
	}
	m.reads.Add(int64(len(out)))
	return out, nil
}

func (m *memLog) AuditEntries(_ context.Context, from uint64, max int, visit func(uint64, []byte, Hash, bool) error) error {
	rows := slices.Clone(m.rows)
	slices.SortFunc(rows, func(a, b memRow) int { return cmpU(a.seq, b.seq) })
	for _, r := range rows {
		if r.seq < from || max == 0 {
			continue
		}
		max--
		var leaf Hash
		ok := len(r.leaf) == len(leaf)
		if ok {
			leaf = boundLeaf(r.seq, Hash(r.leaf))
			ok = leaf == LeafHash(r.data)
		}
		if err := visit(r.seq, r.data, leaf, ok); err != nil {
			return err
		}
	}
	return nil
}

func (m *memLog) AuditNotes(_ context.Context, from uint64, max int, visit func(n, size uint64, note []byte, ok bool) error) error {
	notes := slices.Clone(m.notes)
	slices.SortFunc(notes, func(a, b memNote) int { return cmpU(a.n, b.n) })
	for _, r := range notes {
		if r.n < from || max == 0 {
			continue
		}
		max--
		if err := visit(r.n, r.size, r.note, slices.Equal(r.sum, r.want())); err != nil {
			return err
		}
	}
	return nil
}

func (m *memLog) AuditHead(context.Context) (size uint64, root Hash, notes uint64, ok bool, err error) {
	if m.head.gone || len(m.head.root) != len(root) {
		return 0, Hash{}, 0, false, nil
	}
	return m.head.size, Hash(m.head.root), m.head.notes, slices.Equal(m.head.sum, m.head.want()), nil
}

func (m *memLog) clone() *memLog {
	c := &memLog{head: m.head}
	for _, r := range m.rows {
		c.rows = append(c.rows, memRow{r.seq, slices.Clone(r.data), slices.Clone(r.leaf)})
	}
	for _, r := range m.notes {
		c.notes = append(c.notes, memNote{r.n, r.size, slices.Clone(r.note), slices.Clone(r.sum)})
	}
	c.head.root, c.head.sum = slices.Clone(m.head.root), slices.Clone(m.head.sum)
	return c
}

func cmpU(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// plainLog hides the leaf hashes.
type plainLog struct{ *memLog }

func (plainLog) LeafHashes() {}

// filled is a log of n small entries with one checkpoint at the end.
func filled(t testing.TB, n int, s *Signer) (*memLog, *Tree) {
	m, tree := newMemLog(), &Tree{}
	es := make([][]byte, n)
	for i := range es {
		es[i] = fmt.Appendf(nil, "entry %d", i)
	}
	m.add(t, tree, s, es...)
	return m, tree
}
