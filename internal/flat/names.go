package flat

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// keep decodes what stands in quotes, and is where in Texts that is.
func (d *Doc) keep(quoted []byte) uint32 {
	d.buf = unescape(d.buf, quoted[1:len(quoted)-1])
	d.Texts = append(d.Texts, string(d.buf))
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
	var sums [few]uint64
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
func foldSum(name []byte) uint64 {
	sum, ascii := sumOf(name)
	if ascii {
		return sum
	}
	folded := make([]byte, 0, len(name)+8)
	for _, r := range string(name) {
		low := r
		for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
			low = min(low, x)
		}
		folded = utf8.AppendRune(folded, low)
	}
	sum, _ = sumOf(folded)
	return sum
}

// sumOf goes by eight letters at a time, without the bit that tells the case of ASCII.
func sumOf(name []byte) (sum uint64, ascii bool) {
	n := len(name)
	var w, all uint64
	if n < 8 {
		for _, c := range name {
			w = w<<8 | uint64(c)
		}
	} else {
		for i := 0; i+8 < n; i += 8 {
			x := binary.LittleEndian.Uint64(name[i:])
			all |= x
			sum = mixed(sum, x, 8)
		}
		w = binary.LittleEndian.Uint64(name[n-8:])
	}
	return mixed(sum, w, n), (all|w)&highs == 0
}

func mixed(sum, w uint64, n int) uint64 {
	return (sum ^ (w | ones*0x20) ^ uint64(n)<<56) * 0x9e3779b97f4a7c15
}
