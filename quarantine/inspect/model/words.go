package model

// A Reader takes a folded text apart into words, and gives for each word the
// slots of the table that it adds to a window. It allocates nothing.
type Reader struct {
	text  string
	at    int
	place Place
	half  uint32 // of the table: returned text has one of its own

	last [2]uint32 // Returned: hashes of the words before

	words   int // so far
	seen    [4]sighting
	opening bool // the next word begins a sentence

	n        int
	slots    [maxSlots]uint32
	From, To int // bytes of the word
}

// maxSlots bounds the slots of one word: those of at most two marks before it,
// an opening, an underscore and its own notion, nine each. None is ever dropped.
const maxSlots = 48

// A sighting is a notion and where it was met.
type sighting struct {
	notion notion
	word   int    // its number in the text
	hash   uint32 // of the stem
}

// NewReader reads a text that stands in a place.
func NewReader(text string, p Place) Reader {
	r := Reader{text: text, place: p, opening: true}
	if p == Returned {
		r.half = 1 << (Bits - 1)
	}
	return r
}

// Next goes to the next word.
func (r *Reader) Next() bool {
	r.n = 0
	marks := 0
	for r.at < len(r.text) {
		c := r.text[r.at]
		if k := class[c]; k != 0 && (c != '_' || r.place != Name) {
			break
		}
		if r.place != Returned && marks < 2 && r.mark(c) {
			marks++
		}
		r.at++
	}
	if r.at == len(r.text) {
		return false
	}
	r.From = r.at
	under := false
	for r.at++; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		if class[c] == 0 {
			break
		}
		if c == '_' {
			if r.place == Name {
				break
			}
			under = true
		}
		if r.place == Name && c >= 'A' && c <= 'Z' && r.text[r.at-1] >= 'a' && r.text[r.at-1] <= 'z' {
			break
		}
	}
	r.To = r.at
	w := r.text[r.From:r.To]
	if r.place == Returned {
		r.word(hash(w))
	} else {
		r.idea(w, under)
	}
	r.words++
	return true
}

// Slots are what the word adds to a window. They hold until Next.
func (r *Reader) Slots() []uint32 { return r.slots[:r.n] }

func (r *Reader) add(h uint32) {
	if r.n < len(r.slots) {
		r.slots[r.n] = slot(h) | r.half
		r.n++
	}
}

// word adds a word of returned text: alone, with the one before it, and with the
// one before that.
func (r *Reader) word(h uint32) {
	r.add(h ^ 0x5bd1e995)
	if r.words > 0 {
		r.add((r.last[0]^1)*prime ^ h)
	}
	if r.words > 1 {
		r.add((r.last[1]^2)*prime ^ h)
	}
	r.last[1], r.last[0] = r.last[0], h
}

// mark adds what a byte between words says, if it does.
func (r *Reader) mark(c byte) bool {
	before, after := byte(' '), byte(' ')
	if r.at > 0 {
		before = r.text[r.at-1]
	}
	if r.at+1 < len(r.text) {
		after = r.text[r.at+1]
	}
	var m notion
	switch c {
	case '.', '!', '?', ':', ';', '\n', '-', '*', '>', ')', '"':
		r.opening = true
		if c == '.' && (before == '/' || before == ' ') && class[after] != 0 {
			m = markDot
		}
	case '<', '[':
		if after >= 'A' && after <= 'Z' || after == '/' {
			m = markTag
		}
	case '@':
		if class[before] != 0 {
			m = markAt
		}
	case '~':
		if after == '/' {
			m = markHome
		}
	case '$':
		if after == '(' {
			m = markShell
		}
	case '/':
		if before == ' ' || before == '\'' {
			m = markRoot
		}
	}
	if m == 0 {
		return false
	}
	r.sight(m, uint32(m))
	return true
}

// idea adds a word of metadata, if it is a notion.
func (r *Reader) idea(w string, under bool) {
	h := hash(w[:stem(w)])
	n := notionOf(h)
	if n != 0 && r.opening && r.place != Name {
		r.sight(markOpening, uint32(markOpening))
	}
	r.opening = false
	if under && len(w) > 3 {
		r.sight(markIdent, uint32(markIdent))
	}
	if n != 0 {
		r.sight(n, h)
	}
}

// near and far are how many words apart two notions are counted together: as
// neighbours, and at all.
const near, far = 3, 12

// sight adds a notion: alone, as its word, and with each of the three before it.
func (r *Reader) sight(n notion, h uint32) {
	me := uint32(n)
	r.add(me*golden + 1)
	r.add(h ^ 0x7f4a7c15)
	for k, s := range r.seen[:3] {
		d := r.words - s.word
		if s.notion == 0 || d > far {
			break
		}
		pair := uint32(s.notion)<<8 | me
		r.add(pair*golden + 2)
		if d <= near {
			r.add(pair*golden + 3)
			if k == 0 {
				r.add((s.hash^3)*prime ^ h)
			}
		}
	}
	r.seen[3], r.seen[2], r.seen[1], r.seen[0] = r.seen[2], r.seen[1], r.seen[0], sighting{n, r.words, h}
}

const (
	offset, prime = 2166136261, 16777619 // FNV-1a
	golden        = 0x9e3779b1
)

// hash is FNV-1a over the bytes, ASCII letters as small ones.
func hash(w string) uint32 {
	h := uint32(offset)
	for i := 0; i < len(w); i++ {
		h = (h ^ uint32(class[w[i]])) * prime
	}
	return h
}

// slot is the place of a hash in one half of the table.
func slot(h uint32) uint32 {
	h *= golden
	h ^= h >> 15
	h *= 0x85ebca77
	h ^= h >> 13
	return h >> (33 - Bits)
}

// class is what a byte is hashed as: letters as small ones, other scripts as
// they are; 0 ends a word.
var class = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case c >= 'A' && c <= 'Z':
			t[c] = byte(c) | 0x20
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '\'', c == '_', c >= 0x80:
			t[c] = byte(c)
		}
	}
	return t
}()
