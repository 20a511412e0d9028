package model

// Window is how many words are looked at together.
const Window = 50

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
	r := NewReader(text, p)
	n, sum, to := 0, m.bias[p], 0
	for r.Next() {
		at := &ring[n%Window]
		if n >= Window {
			sum -= at.weight
		}
		at.weight, at.from = 0, r.From
		for _, s := range r.Slots() {
			at.weight += int32(m.table[s])
		}
		sum, to = sum+at.weight, r.To
		if n++; n >= Window {
			window(Hit{sum, ring[n%Window].from, to})
		}
	}
	if n > 0 && n < Window {
		window(Hit{sum, ring[0].from, to})
	}
}
