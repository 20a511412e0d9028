package inspect

// A key is a word of at most sixteen bytes, in small letters, as two numbers.
type key struct{ lo, hi uint64 }

const longestKey = 16

// hash spreads keys over a table of 1<<tableBits places.
func (k key) hash() uint32 {
	return uint32((k.lo*0x9e3779b97f4a7c15 ^ k.hi*0xc2b2ae3d27d4eb4f) >> (64 - tableBits))
}

const tableBits = 12

// table finds the class of a word in one or two steps, where a map would hash
// its bytes: most words of most texts are looked up.
var table = func() (t [1 << tableBits]struct {
	key   key
	class class
}) {
	for w, c := range words {
		k := keyOf([]byte(w))
		i := k.hash()
		for t[i].key != (key{}) {
			i = (i + 1) % (1 << tableBits)
		}
		t[i].key, t[i].class = k, c
	}
	return t
}()

// find is a word's class; none where it is not in the dictionary.
func find(k key) class {
	for i := k.hash(); ; i = (i + 1) % (1 << tableBits) {
		e := &table[i]
		if e.key == k {
			return e.class
		}
		if e.key == (key{}) {
			return class{}
		}
	}
}

// keyOf makes a key of small letters. Of a longer word there is none.
func keyOf(w []byte) (k key) {
	if len(w) > longestKey {
		return key{}
	}
	for i := len(w) - 1; i >= 0; i-- {
		if i >= 8 {
			k.hi = k.hi<<8 | uint64(w[i])
		} else {
			k.lo = k.lo<<8 | uint64(w[i])
		}
	}
	return k
}

const smallLetters = 0x2020202020202020

// keyAt makes a key of the n letters, no more than sixteen, at byte i.
func keyAt(s string, i, n int) key {
	if i+longestKey > len(s) {
		var buf [longestKey]byte
		for j := range n {
			buf[j] = s[i+j] | 0x20
		}
		return keyOf(buf[:n])
	}
	if n <= 8 {
		return key{lo: (load(s[i:]) | smallLetters) & (1<<(8*n) - 1)}
	}
	return key{load(s[i:]) | smallLetters, (load(s[i+8:]) | smallLetters) & (1<<(8*(n-8)) - 1)}
}

// load reads eight bytes.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
