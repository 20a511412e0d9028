package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// An item is what a batch says of one tool, as far as its parts are held against
// each other.
type item struct {
	path    string // before its specimens' paths, where a batch has several
	does    deed   // by its name, or by how its description begins
	purpose family // what its name, title and description are about
	hints   []hinted
	asks    []asked
}

// A deed is what a tool does to what it works on.
type deed uint8

const (
	unsaid deed = iota
	reads
	writes
	destroys
)

// A hinted is an annotation and its specimen.
type hinted struct {
	name string
	at   int
}

// A family is a set of things that tools are about, and that parameters ask for.
type family uint16

const (
	ofKeys family = 1 << iota // passwords, keys, tokens: for tools that log in, connect, pay, encrypt
	ofPeople
	ofMoney
	ofTalk // the conversation itself, the prompt
	ofSelf // the machine: environment, key files
)

// An asked is a parameter that asks for what a tool must have a reason for.
type asked struct {
	family family
	at     int
}

// turn begins a new item where the specimen belongs to another one.
func (j *judge) turn(s *quarantine.Specimen) {
	if j.returned {
		return
	}
	if p := itemOf(s.Path); p != j.item.path {
		j.endItem()
		j.item = item{path: p, hints: j.item.hints[:0], asks: j.item.asks[:0]}
	}
}

// name looks at an identifier.
func (j *judge) name(v *unfold.View) {
	switch j.place {
	case itemName:
		j.item.does = deedOf(v.Text)
		j.twin()
	case property:
		low := plainName(v.Text)
		if sideNames[low] {
			j.find(quarantine.SideParameter, quarantine.Suspect, 0, len(j.s.Text))
		} else if f := sensitive[low]; f != 0 {
			j.item.asks = append(j.item.asks, asked{f, j.at})
		}
	}
}

// purpose collects what an item is about.
func (j *judge) purpose(v *unfold.View) {
	switch above, last := cutLast(j.s.Path); {
	case j.place == hint && j.s.Text == "true", j.place == hint && j.s.Text == "false":
		j.item.hints = append(j.item.hints, hinted{last + "=" + j.s.Text, j.at})
	case (last == "name" || last == "title" || last == "description") && strings.TrimSuffix(above, ".") == j.item.path:
		if last == "description" && j.item.does == unsaid {
			first, _, _ := strings.Cut(v.Text, " ")
			j.item.does = deeds[strings.TrimSuffix(strings.ToLower(first), "s")]
		}
		eachWord(v.Text, func(w string) { j.item.purpose |= topics[w] })
	}
}

// endItem holds an item's parts against each other.
func (j *judge) endItem() {
	for _, h := range j.item.hints {
		switch {
		case h.name == "readOnlyHint=true" && j.item.does >= writes, h.name == "destructiveHint=false" && j.item.does == destroys:
			j.findAt(h.at, quarantine.Contradiction, quarantine.Suspect, 0, len(j.set[h.at].Text))
		}
	}
	for _, a := range j.item.asks {
		if j.item.purpose&a.family == 0 {
			j.findAt(a.at, quarantine.Overreach, quarantine.Suspect, 0, len(j.set[a.at].Text))
		}
	}
}

// deedOf reads a tool's name: the first word of it that is a deed.
func deedOf(name string) (d deed) {
	eachWord(name, func(w string) {
		if d == unsaid {
			d = deeds[w]
		}
	})
	return d
}

// eachWord gives the words of a text, letters only, parted at humps as well, in
// lower case.
func eachWord(text string, do func(w string)) {
	var buf [longest]byte
	for i := 0; i < len(text); {
		if kinds[text[i]] != aByte {
			i++
			continue
		}
		from, n := i, 0
		for i < len(text) && kinds[text[i]] == aByte && (i == from || text[i] >= 'a' || text[i-1] < 'a') {
			if n < longest {
				buf[n] = text[i] | 0x20
				n++
			}
			i++
		}
		do(string(buf[:n]))
	}
}

// plainName is a name in small letters, its parts joined by underscores.
func plainName(name string) string {
	var b strings.Builder
	eachWord(name, func(w string) {
		if b.Len() > 0 {
			b.WriteByte('_')
		}
		b.WriteString(w)
	})
	return b.String()
}
