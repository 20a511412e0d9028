// Package learn trains the embedded model. The same examples in the same order
// give the same bytes on every machine: all arithmetic is addition,
// multiplication, division and square root in float64, each rounded (no fused
// operations), in a fixed order, with a fixed seed, and no map is ranged over.
package learn

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/model"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// An Example is one labelled item as the model meets it.
type Example struct {
	Group    string // what is held out together
	Attack   bool
	Returned bool // a result; else metadata
	Prompt   bool // a user's turn: speaks to an assistant, and is no attack on one
	Gauge    bool // real and honest: thresholds are set on it

	Views   []View // all of it
	Payload []View // the attack itself, where it is known: trained on in the place of Views
}

// A View is one way to read one specimen.
type View struct {
	Place model.Place
	Text  string
	as    [2]reading // by half of the table
}

// A reading is what the words of a view add to a window.
type reading struct {
	place model.Place
	words []int32 // end of each word's slots
	slots []uint32
}

// Views reads specimens as the engine does.
func Views(set []quarantine.Specimen) []View {
	var out []View
	for i := range set {
		s := &set[i]
		p := model.PlaceOf(s.Kind)
		opt := unfold.Options{Returned: s.Kind.Returned(), Name: p == model.Name}
		unfold.Unfold(s.Text, opt, func(v *unfold.View) {
			out = append(out, newView(p, strings.Clone(v.Text)))
		})
	}
	return out
}

func newView(p model.Place, text string) View {
	v := View{Place: p, Text: text}
	v.as[model.Returned] = read(model.Returned, text)
	if p == model.Returned {
		p = model.Metadata
	}
	v.as[model.Metadata] = read(p, text)
	return v
}

func read(p model.Place, text string) reading {
	v := reading{place: p}
	r := model.NewReader(text, p)
	for r.Next() {
		v.slots = append(v.slots, r.Slots()...)
		v.words = append(v.words, int32(len(v.slots)))
	}
	return v
}

// half tells which half of the table returned text, or metadata, is read with.
func half(returned bool) model.Place {
	if returned {
		return model.Returned
	}
	return model.Metadata
}
