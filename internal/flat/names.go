package flat

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// keep decodes what stands in quotes, and is where in Texts that is.
func (d *Doc) keep(quoted []byte) uint32 {
	out, _ := jsontext.AppendUnquote(nil, quoted) // half surrogate pairs come out as U+FFFD
	d.Texts = append(d.Texts, string(out))
	return uint32(len(d.Texts) - 1)
}

// few is up to how many members are compared each with each.
const few = 32

// twice tells whether two members of an object have one name, and notes whether two
// may differ in case only: those have one sum.
func (d *Doc) twice(object uint32) bool {
	x := &d.Nodes[object]
	if x.Count > few {
		d.Near = true
		return d.twiceInMany(object)
	}
	var sums [few]uint32
	i := 0
	for n := object + 1; n < x.Stop; n = d.Nodes[n].Stop {
		sum := foldSum(d.name(n))
		for _, have := range sums[:i] {
			if have == sum {
				d.Near = true
				return d.twiceIn(object)
			}
		}
		sums[i] = sum
		i++
	}
	return false
}

// twiceIn compares each with each.
func (d *Doc) twiceIn(object uint32) bool {
	stop := d.Nodes[object].Stop
	for n := object + 1; n < stop; n = d.Nodes[n].Stop {
		for m := d.Nodes[n].Stop; m < stop; m = d.Nodes[m].Stop {
			if bytes.Equal(d.name(m), d.name(n)) {
				return true
			}
		}
	}
	return false
}

var seed = maphash.MakeSeed()

// twiceInMany looks names up by a hash whose collisions nobody outside can make.
func (d *Doc) twiceInMany(object uint32) bool {
	x := &d.Nodes[object]
	size := 1 << bits.Len32(2*x.Count)
	if cap(d.table) < size {
		d.table = make([]uint32, size)
	}
	table := d.table[:size]
	clear(table)
	for n := object + 1; n < x.Stop; n = d.Nodes[n].Stop {
		name := d.name(n)
		at := maphash.Bytes(seed, name) & uint64(size-1)
		for ; table[at] != 0; at = (at + 1) & uint64(size-1) {
			if bytes.Equal(d.name(table[at]), name) {
				return true
			}
		}
		table[at] = n
	}
	return false
}

// name is NameOf as bytes, which are not to be changed.
func (d *Doc) name(n uint32) []byte {
	x := &d.Nodes[n]
	if x.NameEsc {
		return []byte(d.Texts[x.Name])
	}
	return d.Raw[x.Name:x.NameEnd]
}

// foldSum is one number for all names that strings.EqualFold calls equal, and mostly
// another for others.
func foldSum(name []byte) (sum uint32) {
	for _, c := range name {
		if c >= utf8.RuneSelf {
			return foldSumWide(string(name))
		}
		sum = sum*31 + uint32(c|0x20)
	}
	return sum
}

func foldSumWide(name string) (sum uint32) {
	for _, r := range name {
		low := r
		for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
			low = min(low, x)
		}
		if low < utf8.RuneSelf {
			low |= 0x20
		}
		sum = sum*31 + uint32(low)
	}
	return sum
}
