package inspect

import (
	"slices"
	"unicode/utf8"

	"github.com/pratique-dev/pratique/quarantine"
)

// Bounds of what is read together around a word in pieces.
const (
	aroundSeam = 512 // bytes on either side, whole pieces where they are shorter
	mostPieces = 16  // of one word
	mostChains = 256 // by name; the values of more names are read in their order only
)

// A piece is a part of a specimen: all of it, or a value of one that is JSON.
type piece struct{ at, from, to int32 }

// A chain is what is read one after the other. Values of one name are a chain as
// well, since what stands between two of them may be put there to part them.
type chains struct {
	all    []piece
	byName map[string]int
	named  [][]piece
}

func (c *chains) add(p piece, name string) {
	c.all = append(c.all, p)
	i, known := c.byName[name]
	if !known {
		if len(c.named) == mostChains {
			return
		}
		if c.byName == nil {
			c.byName = map[string]int{}
		}
		i = len(c.named)
		c.byName[name], c.named = i, append(c.named, nil)
	}
	c.named[i] = append(c.named[i], p)
}

// parted looks for words that two or more values share: their texts are judged as
// one too, by the rules. Nobody parts a text there by chance, and the parts alone
// say nothing.
func (j *judge) parted() {
	if j.joint {
		return
	}
	var c chains
	for i := range j.set {
		s := &j.set[i]
		if !s.Kind.Returned() || s.Name || s.Form == quarantine.FormFixed || s.Form == quarantine.FormBase64 && !s.Inner || s.Binary() || s.Text == "" {
			continue
		}
		if t := s.Text[0]; (t == '{' || t == '[') && len(s.Text) > minJSON {
			j.jsonParts(i)
			continue
		}
		if len(j.set) > 1 {
			_, name := cutLast(s.Path)
			c.add(piece{int32(i), 0, int32(len(s.Text))}, name)
		}
	}
	j.joined(&c)
}

// minJSON is the shortest JSON of two values.
const minJSON = 8

// jsonParts does the same for the values of a specimen that is JSON.
func (j *judge) jsonParts(at int) {
	var c chains
	text, name := j.set[at].Text, ""
	for i := 0; i < len(text); {
		if text[i] != '"' {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		from, to := i+1, min(end, len(text))
		if i = to + 1; i < len(text) && text[i] == ':' {
			name = text[from:to]
		} else if from < to {
			c.add(piece{int32(at), int32(from), int32(to)}, name)
		}
	}
	j.joined(&c)
}

func (j *judge) joined(c *chains) {
	j.join(c.all)
	for _, p := range c.named {
		if len(p) < len(c.all) {
			j.join(p)
		}
	}
}

// text is what a piece says.
func (j *judge) text(p piece) string { return j.set[p.at].Text[p.from:p.to] }

// join judges the pieces around each word that is in several of them.
func (j *judge) join(list []piece) {
	var inWord map[int]bool // seams, by the piece behind
	for k := 1; k < len(list); k++ {
		if kinds[j.text(list[k])[0]] != aByte {
			continue
		}
		for i := j.begins(list, k); i > 0 && i <= k; i++ {
			if inWord == nil {
				inWord = map[int]bool{}
			}
			inWord[i] = true
		}
	}
	if inWord == nil {
		return
	}
	for k := 1; k < len(list); {
		if !inWord[k] {
			k++
			continue
		}
		from, to := j.reach(list, k, -1), k
		for next := k; next <= to; next++ { // as far as one reaches to another
			if inWord[next] {
				to = j.reach(list, next-1, 1)
			}
		}
		j.together(list[from:to+1], inWord, from)
		k = to + 1
	}
}

// begins is the first seam of a word that ends in piece k and is in the dictionary;
// 0 if there is none.
func (j *judge) begins(list []piece, k int) int {
	var buf [2 * longestKey]byte
	end := len(buf)
	head := j.text(list[k])
	n := 0
	for n < len(head) && n < longestKey && kinds[head[n]] == aByte {
		n++
	}
	if n == longestKey {
		return 0
	}
	at := end - n
	for i := range n {
		buf[at+i] = head[i] | 0x20
	}
	for i := k - 1; i >= 0 && i > k-mostPieces; i-- {
		t := j.text(list[i])
		m := len(t)
		for m > 0 && kinds[t[m-1]] == aByte {
			if at--; end-at > longestKey {
				return 0
			}
			m--
			buf[at] = t[m] | 0x20
		}
		if m == len(t) {
			return 0
		}
		if !find(keyOf(buf[at:end])).none() {
			return i + 1
		}
		if m > 0 {
			return 0
		}
	}
	return 0
}

// reach is the piece up to which the text around the seam before or behind piece k
// goes.
func (j *judge) reach(list []piece, k, step int) int {
	for n := 0; n < aroundSeam && k+step >= 0 && k+step < len(list); {
		k += step
		n += len(j.text(list[k]))
	}
	return k
}

// together judges pieces as one text. What is found in it is about each piece that it
// is in.
func (j *judge) together(list []piece, inWord map[int]bool, first int) {
	var text []byte
	list = slices.Clone(list)
	begins := make([]int, len(list))
	for i, p := range list {
		if i > 0 && !inWord[first+i] {
			text = append(text, ' ')
		}
		t := j.text(p)
		switch cut := len(t) - aroundSeam; {
		case cut > 0 && i == 0:
			for cut < len(t) && !utf8.RuneStart(t[cut]) {
				cut++
			}
			list[i].from += int32(cut)
			t = t[cut:]
		case cut > 0 && i == len(list)-1:
			cut = aroundSeam
			for cut > 0 && !utf8.RuneStart(t[cut]) {
				cut--
			}
			t = t[:cut]
		}
		begins[i] = len(text)
		text = append(text, t...)
	}
	j.blame(list, begins, string(text))
}

// blame judges the text of pieces, each of which begins at a byte of it.
func (j *judge) blame(list []piece, begins []int, text string) {
	s := j.set[list[0].at]
	s.Text = text
	o := judges.Get().(*judge)
	o.begin([]quarantine.Specimen{s})
	o.joint = true
	o.specimen(0)
	o.finish()
	j.more = j.more || o.more
	for _, f := range o.findings {
		for i, p := range list {
			end := len(text)
			if i+1 < len(list) {
				end = begins[i+1]
			}
			from, to := max(f.Span.From, begins[i]), min(f.Span.To, end)
			if from >= to {
				continue
			}
			from, to = from-begins[i]+int(p.from), min(to-begins[i]+int(p.from), int(p.to))
			if from < to {
				j.findAt(int(p.at), f.Category, f.Verdict, from, to)
			}
		}
	}
	o.joint = false
	o.release()
}
