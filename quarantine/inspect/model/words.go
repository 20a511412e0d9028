package model

// A Reader takes a folded text apart into words, and gives for each the slots of
// the n-grams that end with it. It allocates nothing.
type Reader struct {
	text     string
	at       int
	split    bool      // names: humps and underscores end a word
	last     [3]uint32 // hashes of the words before
	n        int       // words so far, at most len(last)
	slots    [4]uint32
	From, To int // bytes of the word
}

// NewReader reads a text that stands in a place.
func NewReader(text string, p Place) Reader { return Reader{text: text, split: p == Name} }

// Next goes to the next word.
func (r *Reader) Next() bool {
	for r.at < len(r.text) && class[r.text[r.at]] == 0 {
		r.at++
	}
	if r.at == len(r.text) {
		return false
	}
	r.From = r.at
	h := uint32(offset)
	for r.at < len(r.text) && class[r.text[r.at]] != 0 {
		c := r.text[r.at]
		if r.split && r.at > r.From && c >= 'A' && c <= 'Z' && r.text[r.at-1] >= 'a' && r.text[r.at-1] <= 'z' {
			break
		}
		h = (h ^ uint32(class[c])) * prime
		r.at++
	}
	r.To = r.at
	r.last[2], r.last[1], r.last[0] = r.last[1], r.last[0], h
	r.n = min(r.n+1, len(r.last))
	return true
}

// Slots are the n-grams that end with the word: it alone, with the one before,
// and with the ones two and three before. They hold until Next.
func (r *Reader) Slots() []uint32 {
	r.slots[0] = slot(r.last[0], 1)
	for i := 1; i < r.n; i++ {
		r.slots[i] = slot((r.last[i]^uint32(i))*prime^r.last[0], 2)
	}
	return r.slots[:r.n]
}

const offset, prime = 2166136261, 16777619 // FNV-1a

func slot(h, salt uint32) uint32 {
	h = (h ^ salt) * 0x9e3779b1
	h ^= h >> 15
	h *= 0x85ebca77
	return h >> (32 - Bits)
}

// class is what a byte is hashed as: letters as small ones, other scripts as
// they are; 0 ends a word.
var class = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = byte(c) | 0x20
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '\'', c >= 0x80:
			t[c] = byte(c)
		}
	}
	return t
}()
