package unfold

import "strings"

// Words of a disguise, different ones, that make it one.
const (
	leastShifted = 3
	leastLeet    = 2
)

// disguises shows what whole texts say that are shifted, turned round or
// written in digits.
func (u *unfolder) disguises(v *View, f *facts) {
	if f.rot >= leastShifted && v.seen&(1<<Rot13) == 0 {
		if from, to, n := among(v.Text, shifted); n >= leastShifted {
			u.coded(v, Rot13, from, to, n)
			u.show(v, hidden{layer: Rot13, text: rot13(v.Text)})
		}
	}
	if f.back >= leastShifted && v.seen&(1<<Reversed) == 0 {
		if from, to, n := among(v.Text, turned); n >= leastShifted {
			u.coded(v, Reversed, from, to, n)
			u.show(v, backwards(v.Text, true))
			u.show(v, backwards(v.Text, false))
		}
	}
	if f.leet >= leastLeet && v.seen&(1<<Leet) == 0 {
		u.leet(v)
	}
}

// coded adds a sign for words in a disguise that only metadata has no use for.
func (u *unfolder) coded(v *View, l Layer, from, to, n int) {
	if !u.opt.Returned {
		u.sign(v, Coded, l, from, to, n)
	}
}

// near is how many words apart two words of one disguise are at most.
const near = 12

// among finds the words of a text that are in a set: the first and the last of
// the longest row, and how many different ones are in it.
func among(text string, set map[string]bool) (from, to, n int) {
	row := map[string]bool{}
	start, end, pos, last := 0, 0, 0, 0
	each(text, func(w []byte, i, j int) {
		pos++
		if !set[string(w)] {
			return
		}
		if pos-last > near {
			clear(row)
			start = i
		}
		row[string(w)], last, end = true, pos, j
		if len(row) > n {
			from, to, n = start, end, len(row)
		}
	})
	return from, to, n
}

// backwards reads a text from its end, or each of its words.
func backwards(text string, whole bool) hidden {
	var b builder
	b.buf = make([]byte, 0, len(text))
	word := func(i, j int) { b.put(turn(text[i:j]), i, j) }
	if whole {
		for j := len(text); j > 0; {
			i := strings.LastIndexAny(text[:j], " \n") + 1
			if i == j {
				b.put(text[j-1:j], j-1, j)
				j--
				continue
			}
			word(i, j)
			j = i
		}
		return b.hidden(Reversed)
	}
	for i := 0; i < len(text); {
		j := strings.IndexAny(text[i:], " \n")
		if j < 0 {
			j = len(text) - i
		}
		if j == 0 {
			b.copy(text[i:i+1], i)
			i++
			continue
		}
		word(i, i+j)
		i += j
	}
	return b.hidden(Reversed)
}

// unleet is the letter that a digit stands for.
var unleet = [256]byte{'0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '9': 'g'}

// leet shows a text with letters for digits, where words come out of it.
func (u *unfolder) leet(v *View) {
	var text []byte
	seen := map[string]bool{}
	from, to := 0, 0
	each(v.Text, func(w []byte, i, j int) {
		if digits := letters4(w); digits == 0 || digits == len(w) || len(w) < 3 || !words[string(w)] {
			return
		}
		if text == nil {
			text = []byte(v.Text)
			from = i
		}
		seen[string(w)] = true
		to = j
	})
	if len(seen) < leastLeet {
		return
	}
	each(v.Text, func(w []byte, i, j int) {
		if digits := letters4(w); digits > 0 && (digits < len(w) || words[string(w)]) {
			copy(text[i:j], w)
		}
	})
	u.coded(v, Leet, from, to, len(seen))
	u.show(v, hidden{layer: Leet, text: string(text)})
}

// letters4 reads the digits of a word as letters, in place, and counts them.
func letters4(w []byte) (n int) {
	for i, c := range w {
		if x := unleet[c]; x != 0 {
			w[i] = x
			n++
		}
	}
	return n
}

// spaced puts letters together that stand alone: words where the gaps differ, or
// else where common words come out.
func (u *unfolder) spaced(v *View, r run) {
	text := v.Text[r.from:r.to]
	var b builder
	gap := 0
	wide := gaps(text)
	start := 0
	for i := range len(text) {
		if classes[text[i]]&wordByte == 0 {
			gap++
			continue
		}
		if len(b.buf) > 0 && gap >= wide {
			b.put(" ", r.from+start, r.from+i)
		}
		b.copy(text[i:i+1], r.from+i)
		gap, start = 0, i+1
	}
	if wide > len(text) {
		b = segment(b)
	}
	n := vocabulary(string(b.buf))
	if n < leastLeet {
		return
	}
	u.coded(v, Spaced, r.from, r.to, n)
	u.show(v, b.hidden(Spaced))
}

// gaps is how many bytes between two letters are a blank between words, or more
// than there are where all gaps are alike.
func gaps(text string) int {
	least, most, gap := len(text), 0, 0
	for i := range len(text) {
		if classes[text[i]]&wordByte == 0 {
			gap++
			continue
		}
		if gap > 0 {
			least, most = min(least, gap), max(most, gap)
		}
		gap = 0
	}
	if most > least {
		return least + 1
	}
	return len(text) + 1
}

// segment puts blanks between the common words of letters that have none: the
// way that leaves the fewest letters over.
func segment(b builder) builder {
	s := strings.ToLower(string(b.buf))
	cost := make([]int32, len(s)+1) // letters over, up to here
	back := make([]uint8, len(s)+1) // length of the last word; 1 is a letter over
	for i := 1; i <= len(s); i++ {
		cost[i], back[i] = cost[i-1]+2, 1
		for n := 2; n <= min(i, longestWord); n++ {
			if c := cost[i-n]; c < cost[i] && (words[s[i-n:i]] || short[s[i-n:i]]) {
				cost[i], back[i] = c, uint8(n)
			}
		}
	}
	cut := make([]bool, len(s)+1)
	for i := len(s); i > 0; i -= int(back[i]) {
		cut[i-int(back[i])] = back[i] > 1
		cut[i] = cut[i] || back[i] > 1
	}
	v := View{Text: s, steps: b.steps}
	var out builder
	for i := range len(s) {
		from, to := v.Origin(i, i+1)
		if i > 0 && cut[i] {
			out.put(" ", from, to)
		}
		out.put(s[i:i+1], from, to)
	}
	return out
}

// short are words of two letters.
var short = map[string]bool{"to": true, "of": true, "in": true, "is": true, "it": true, "do": true, "my": true, "me": true, "or": true, "if": true, "as": true, "at": true, "be": true, "by": true, "on": true, "up": true, "us": true, "we": true, "no": true, "go": true}
