package flat

// What is in a text, as far as somebody looks for it.
const (
	Slash   = 1 << iota // of either kind, or a tilde
	Colon               //
	Percent             //
	Back                // a backslash, which is a Slash too
	High                // something outside of ASCII
)

var classOf = func() (t [256]uint8) {
	for c, class := range map[byte]uint8{'/': Slash, '\\': Slash | Back, '~': Slash, ':': Colon, '%': Percent} {
		t[c] = class
	}
	for c := 0x80; c < len(t); c++ {
		t[c] = High
	}
	return t
}()

// classesOf is Classes of a few bytes.
func classesOf[T string | []byte](v T) (has uint8) {
	for i := range len(v) {
		has |= classOf[v[i]]
	}
	return has
}

// Classes is what is in a text.
func Classes[T string | []byte](v T) (has uint8) {
	if len(v) < 8 {
		return classesOf(v)
	}
	var slash, back, colon, percent, high uint64
	for i := 0; ; i += 8 {
		i = min(i, len(v)-8) // the last ones again
		w := word(v[i : i+8])
		x, y, z := w^(ones*'/'), w^(ones*'~'), w^(ones*'\\')
		slash |= (x-ones)&^x | (y-ones)&^y
		back |= (z - ones) &^ z
		x, y = w^(ones*':'), w^(ones*'%')
		colon |= (x - ones) &^ x
		percent |= (y - ones) &^ y
		high |= w
		if i == len(v)-8 {
			break
		}
	}
	if slash&highs != 0 {
		has = Slash
	}
	if back&highs != 0 {
		has |= Slash | Back
	}
	if colon&highs != 0 {
		has |= Colon
	}
	if percent&highs != 0 {
		has |= Percent
	}
	if high&highs != 0 {
		has |= High
	}
	return has
}

// word is eight bytes as one number.
func word[T string | []byte](v T) uint64 {
	_ = v[7]
	return uint64(v[0]) | uint64(v[1])<<8 | uint64(v[2])<<16 | uint64(v[3])<<24 |
		uint64(v[4])<<32 | uint64(v[5])<<40 | uint64(v[6])<<48 | uint64(v[7])<<56
}
