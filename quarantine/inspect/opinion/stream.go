package opinion

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/quarantine"
)

// A Piece is a part of a specimen: bytes [From, To) of the text of the specimen
// at place At of the batch.
type Piece struct {
	At, From, To int
}

// A stream is what is read together: the open specimens of one item, or of one
// result, in their order.
type stream struct {
	set    []quarantine.Specimen
	pieces []Piece
}

// fewest is how many letters a stream has that is worth a request: with less no
// instruction can be given.
const fewest = 12

// streamOf is the stream of the open specimens. Texts without a letter say nothing.
func streamOf(set []quarantine.Specimen, open func(at int) bool) stream {
	st := stream{set: set}
	letters := 0
	for i := range set {
		if n := countLetters(set[i].Text, fewest); n > 0 && open(i) {
			letters += n
			st.pieces = append(st.pieces, Piece{i, 0, len(set[i].Text)})
		}
	}
	if letters < fewest {
		st.pieces = nil
	}
	return st
}

func countLetters(s string, enough int) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			if n++; n == enough {
				break
			}
		}
	}
	return n
}

// joined tells whether a batch is a whole surface: metadata, all of it under
// KIND[NAME]., of more than one item. A single item always has a member that
// stands at its root (its name, its URI), so nobody can make one look like this.
func joined(set []quarantine.Specimen) bool {
	first, several := "", false
	for i := range set {
		item := itemOf(set[i].Path)
		if item == "" || set[i].Kind.Returned() {
			return false
		}
		if first == "" {
			first = item
		}
		several = several || item != first
	}
	return several
}

func itemOf(path string) string {
	kind, _, ok := strings.Cut(path, "[")
	if !ok {
		return ""
	}
	switch kind {
	case "tool", "prompt", "resource", "template", "instructions", "server":
		if end := strings.Index(path, "]."); end > 0 {
			return path[:end]
		}
	}
	return ""
}

// windows cuts a stream into windows of at most cfg.Window bytes and MaxPieces
// pieces, each of which begins before the end of the last one: what a cut parts
// is whole in one of the two, if it is no longer than the overlap. Marked, a window
// is at most twice as long.
func (st stream) windows(cfg Config) iter.Seq[[]Piece] {
	return func(yield func([]Piece) bool) {
		for i, from := 0, 0; i < len(st.pieces); {
			w := st.take(i, from, cfg.Window)
			last := i + len(w) - 1
			if !yield(w) || last == len(st.pieces)-1 && w[len(w)-1].To == st.pieces[last].To {
				return
			}
			i, from = st.back(last, w, cfg.Overlap)
		}
	}
}

// headCost is about what number and kind of a line cost.
const headCost = 16

// take is the window that begins at byte from of piece i.
func (st stream) take(i, from, room int) (w []Piece) {
	for marked := 2 * room; i < len(st.pieces) && len(w) < MaxPieces; i++ {
		p := st.pieces[i]
		if len(w) == 0 {
			p.From = from
		}
		whole, text := p.To, st.set[p.At].Text
		p.To = snap(text, min(p.To, p.From+room))
		size, cost := fit(text[p.From:max(p.To, p.From)], marked-headCost)
		p.To = p.From + size
		if size == 0 {
			break // no room for a character
		}
		w = append(w, p)
		room -= size
		marked -= cost + headCost
		if p.To < whole {
			break
		}
	}
	return w
}

// back is where the window after w begins, whose last piece is the one at last:
// overlap bytes before its end, but not more than half of MaxPieces before, so that
// each window has room to reach further than the one before.
func (st stream) back(last int, w []Piece, overlap int) (i, from int) {
	k := len(w) - 1
	for ; k > 0 && len(w)-k < MaxPieces/2 && w[k].To-w[k].From < overlap; k-- {
		overlap -= w[k].To - w[k].From
	}
	p := w[k]
	return last - (len(w) - 1 - k), max(snap(st.set[p.At].Text, p.To-overlap), p.From)
}

// snap moves a place in s back to where a character begins.
func snap(s string, at int) int {
	for k := range utf8.UTFMax {
		if at-k <= 0 || at-k >= len(s) || utf8.RuneStart(s[at-k]) {
			return at - k
		}
	}
	return at // not UTF-8
}

// A Line is a numbered line of a request; lines are numbered from 1.
type Line struct {
	Piece
	Kind quarantine.Kind
	Text string // as it stands in the specimen
}

// lineBytes is about how long a line is: as exact as a hint can be.
const lineBytes = 160

// Lines cuts pieces into the lines in which they stand in a request. Judge and
// broker come to the same lines, so that a number means the same place.
func Lines(set []quarantine.Specimen, pieces []Piece) []Line {
	var out []Line
	for _, p := range pieces {
		s := &set[p.At]
		for from := p.From; from < p.To; {
			to := from + lineEnd(s.Text[from:p.To])
			out = append(out, Line{Piece{p.At, from, to}, s.Kind, s.Text[from:to]})
			from = to
		}
	}
	return out
}

// lineEnd is where the first line of s ends: behind a space where there is one.
func lineEnd(s string) int {
	if len(s) <= lineBytes {
		return len(s)
	}
	if i := strings.LastIndexAny(s[:lineBytes], " \t\n"); i > lineBytes/2 {
		return i + 1
	}
	return max(snap(s, lineBytes), 1)
}
