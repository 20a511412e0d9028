package model

import "math"

// Unit is what a score of one in the logistic's argument is, in the table's
// integers.
const Unit = 64

// Window is how many words are looked at together. A shorter text is one window,
// whose sum is stretched with the root of what is missing.
const Window = 20

// stretch[n] is 4096 times the root of Window/n.
var stretch = func() (t [Window]int64) {
	for n := 1; n < Window; n++ {
		t[n] = int64(math.Sqrt(float64(Window<<24) / float64(n)))
	}
	return t
}()

// Least is how many words a text must have to be judged: fewer say too little,
// and an identifier of a few words is no order.
var Least = [Places]int{Metadata: 3, Returned: 1, Name: 6}

// Score is the window of a folded text with the highest score.
func (m *Model) Score(p Place, text string) Hit {
	best := Hit{Score: Nothing}
	m.scan(p, text, func(h Hit) {
		if h.Score > best.Score {
			best = h
		}
	})
	return best
}

// Suspects appends the parts of a text whose windows reach the threshold:
// windows that overlap are one part, with the highest of their scores.
func (m *Model) Suspects(p Place, text string, parts []Hit) []Hit {
	first := len(parts)
	m.scan(p, text, func(h Hit) {
		if h.Score < m.suspect[p] {
			return
		}
		if n := len(parts); n > first && h.From <= parts[n-1].To {
			parts[n-1].To = h.To
			parts[n-1].Score = max(parts[n-1].Score, h.Score)
			return
		}
		parts = append(parts, h)
	})
	return parts
}

// scan gives every window, from the front: those that end at a word, once there
// are as many words as a window has, or at the last one.
func (m *Model) scan(p Place, text string, window func(Hit)) {
	var ring [Window]struct {
		weight int32
		from   int
	}
	bias, r := m.bias[p], NewReader(text, p)
	n, at, sum, to := 0, 0, int32(0), 0
	for r.Next() {
		w := &ring[at]
		sum -= w.weight
		w.weight, w.from = 0, r.From
		for _, s := range r.Slots() {
			w.weight += int32(m.table[s])
		}
		sum, to = sum+w.weight, r.To
		if at++; at == Window {
			at = 0
		}
		if n++; n >= Window {
			window(Hit{sum + bias, ring[at].from, to})
		}
	}
	if n >= Least[p] && n < Window {
		window(Hit{int32(int64(sum)*stretch[n]>>12) + bias, ring[0].from, to})
	}
}
