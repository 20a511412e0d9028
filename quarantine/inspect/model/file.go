package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// A model file is
//
//	magic | bits | for each place: bias, suspect | count | count × (gap, weight) | SHA-256 of all before
//
// with fixed integers in big-endian order. An entry's slot is the one before it
// and gap and one more: slots rise strictly, so that a table has one file.
const magic = "pratique/model/v1\n"

// Bits is the size of the table: slots have so many bits.
const Bits = 19

// MaxFile bounds a model file, in bytes.
const MaxFile = 1 << 20

// ErrFile says that bytes are not a model file.
var ErrFile = errors.New("model: not a model file")

// Weights are what training makes and a file keeps.
type Weights struct {
	Table   []int8 // 1<<Bits
	Bias    [Places]int32
	Suspect [Places]int32 // thresholds
}

// Format writes a model file. The same weights always give the same bytes.
func (w *Weights) Format() []byte {
	b := append([]byte(magic), Bits)
	for p := range Places {
		b = binary.BigEndian.AppendUint32(b, uint32(w.Bias[p]))
		b = binary.BigEndian.AppendUint32(b, uint32(w.Suspect[p]))
	}
	count := 0
	for _, v := range w.Table {
		if v != 0 {
			count++
		}
	}
	b = binary.BigEndian.AppendUint32(b, uint32(count))
	last := -1
	for slot, v := range w.Table {
		if v != 0 {
			b = binary.AppendUvarint(b, uint64(slot-last-1))
			b = append(b, byte(v))
			last = slot
		}
	}
	return Seal(b)
}

// Seal ends a file with the digest of what is before.
func Seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(slices.Clip(body), sum[:]...)
}

// Parse reads a model file. It refuses with ErrFile whatever Format does not
// write.
func Parse(b []byte) (*Model, error) {
	const head = len(magic) + 1 + int(Places)*8 + 4
	if len(b) < head+sha256.Size || len(b) > MaxFile || string(b[:len(magic)]) != magic || b[len(magic)] != Bits {
		return nil, ErrFile
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if have := sha256.Sum256(body); !bytes.Equal(have[:], sum) {
		return nil, ErrFile
	}
	w := Weights{Table: make([]int8, 1<<Bits)}
	rest := body[len(magic)+1:]
	for p := range Places {
		w.Bias[p] = int32(binary.BigEndian.Uint32(rest))
		w.Suspect[p] = int32(binary.BigEndian.Uint32(rest[4:]))
		rest = rest[8:]
	}
	count := binary.BigEndian.Uint32(rest)
	rest = rest[4:]
	if uint64(count) > 1<<Bits {
		return nil, ErrFile
	}
	last := -1
	for range count {
		gap, n := binary.Uvarint(rest)
		wrong := n <= 0 || len(rest) == n || gap >= 1<<Bits || last+1+int(gap) >= 1<<Bits || rest[n] == 0
		if wrong || n > 1 && rest[n-1] == 0 { // a longer form of the same number is another file
			return nil, ErrFile
		}
		last += 1 + int(gap)
		w.Table[last] = int8(rest[n])
		rest = rest[n+1:]
	}
	if len(rest) != 0 {
		return nil, ErrFile
	}
	m := w.model()
	copy(m.digest[:], sum)
	return m, nil
}

// New makes a model of weights, as Parse does of their file.
func New(w *Weights) *Model {
	b := w.Format()
	m := w.model()
	copy(m.digest[:], b[len(b)-sha256.Size:])
	return m
}

func (w *Weights) model() *Model {
	return &Model{table: slices.Clone(w.Table), bias: w.Bias, suspect: w.Suspect}
}

// Weights are those that the model was made of.
func (m *Model) Weights() *Weights {
	return &Weights{Table: slices.Clone(m.table), Bias: m.bias, Suspect: m.suspect}
}
