package inspect

import (
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// edge is how many words on either side of a seam are read together: as many as
// a rule may span.
const edge = 24

// A seam is the end of one specimen, to be read together with the beginning of
// the next: what is told in two strings is read as one.
type seam struct {
	at       int // of the specimen
	tokens   []token
	returned bool
	known    bool
}

func (s *seam) forget() { s.known, s.tokens = false, s.tokens[:0] }

// tailed remembers the end of the specimen, to be read with the next.
func (j *judge) tailed(v *unfold.View) {
	t, r := &j.tail, &j.reader
	t.known, t.at, t.returned, t.tokens = true, j.at, j.returned, t.tokens[:0]
	from := len(r.tokens)
	for from > 0 && r.pos-r.tokens[from-1].pos < edge {
		from--
	}
	for _, k := range r.tokens[from:] {
		a, b := v.Origin(int(k.from), int(k.to))
		k.from, k.to, k.pos = int32(a), int32(b), k.pos-r.pos-1
		t.tokens = append(t.tokens, k)
	}
}

// across finds orders that begin in the specimen before and end in this one,
// whose first tokens are read.
func (j *judge) across(v *unfold.View) {
	t := &j.tail
	n := len(t.tokens)
	if !t.known || t.returned != j.returned || n == 0 {
		return
	}
	for _, k := range j.reader.tokens {
		if k.pos > edge {
			break
		}
		t.tokens = append(t.tokens, k)
	}
	if len(t.tokens) == n {
		return
	}
	j.hits = matchFrom(t.tokens, n, j.hits)
	for _, h := range j.hits {
		if h.end < n || rules[h.rule].level != strong {
			continue
		}
		_, to := v.Origin(int(t.tokens[h.end].from), int(t.tokens[h.end].to))
		j.find(rules[h.rule].category, quarantine.Suspect, 0, to)
		j.findAt(t.at, rules[h.rule].category, quarantine.Suspect, int(h.from), len(j.set[t.at].Text))
	}
	j.hits = j.hits[:0]
}
