package model

import "math"

// Unit is what a score of one in the logistic's argument is, in the table's
// integers.
const Unit = 64

// Windows are how many words are looked at together, by place. Shorter texts are
// one window, whose sum is stretched with the root of what is missing.
var Windows = [Places]int{Metadata: 30, Returned: 20, Name: 30}

const maxWindow = 32

// Least is how many words a text must have to be judged: fewer say too little,
// and an identifier of a few words is no order.
var Least = [Places]int{Metadata: 3, Returned: 1, Name: 6}

// stretch[p][n] is 4096 times the root of Windows[p]/n.
var stretch = func() (t [Places][maxWindow]int64) {
	for p, w := range Windows {
		for n := 1; n < w; n++ {
			t[p][n] = int64(math.Sqrt(float64(w<<24) / float64(n)))
		}
	}
	return t
}()

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
	var ring [maxWindow]struct {
		weight int32
		from   int
	}
	size, bias := Windows[p], m.bias[p]
	r := NewReader(text, p)
	n, at, sum, to := 0, 0, int32(0), 0
	for r.Next() {
		w := &ring[at]
		sum -= w.weight
		w.weight, w.from = 0, r.From
		for _, s := range r.Slots() {
			w.weight += int32(m.table[s])
		}
		sum, to = sum+w.weight, r.To
		if at++; at == size {
			at = 0
		}
		if n++; n >= size {
			window(Hit{sum + bias, ring[at].from, to})
		}
	}
	if n >= Least[p] && n < size {
		window(Hit{int32(int64(sum)*stretch[p][n]>>12) + bias, ring[0].from, to})
	}
}
