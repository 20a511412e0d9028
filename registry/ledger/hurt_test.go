package ledger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// hurt is one change of stored rows: which entries and checkpoints it touched.
type hurt struct {
	what    string
	entries []uint64
	notes   []uint64
	head    bool
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
