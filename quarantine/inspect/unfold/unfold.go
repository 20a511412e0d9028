// Package unfold reads a text as a model would: it takes off what disguises
// words and shows what is hidden between them. It decides nothing: it gives the
// views of a text and the signs that it met, each with its place in the original
// bytes.
package unfold

import (
	"math"
	"sync"
)

// Version names the tables and bounds of this stage: part of every cache key.
const Version = "unfold/1"

// A Layer is how a view came out of the text above it.
type Layer uint8

// The layers.
const (
	Plain     Layer = iota // the text itself, byte for byte
	Folded                 // the whole text: compatible forms and look-alikes folded, escapes and references read, what is invisible left out
	Tags                   // tag characters, U+E0000
	Variation              // bytes in variation selectors
	Reversed               // read from right to left
	Spaced                 // letters that stand alone, put together
	Markup                 // what a renderer hides: comments, hidden elements
	Entities               // character references of HTML (signs only: the folded view has them read)
	Escapes                // backslash escapes of JSON and of programs (signs only)
	Percent                // percent encoding
	Base64
	Hex
	Binary // ones and zeros
	Rot13
	Leet // digits for letters
)

var layerNames = [...]string{
	"plain", "folded", "tags", "variation", "reversed", "spaced", "markup", "entities", "escapes", "percent", "base64", "hex", "binary", "rot13", "leet",
}

// String is the layer's name, for people.
func (l Layer) String() string {
	if int(l) < len(layerNames) {
		return layerNames[l]
	}
	return "unknown"
}

// Bounds of what comes out of one text.
const (
	MaxDepth = 4       // views inside of views
	Slack    = 1 << 14 // bytes of views that any text may have
	Growth   = 4       // and how many times its own length beside
)

// Options say how a text is read.
type Options struct {
	// Returned reads what a call returned: coloured logs, pasted characters and
	// encoded attachments are honest there.
	Returned bool
	// Name reads an identifier: letters of two scripts in it are a disguise.
	Name bool
}

// Unfold reads text and gives each view to emit, the whole text first: text
// itself, at no cost, where it is plain ASCII without disguises. The views are
// bounded in depth and bytes, and so is the time: linear in the text. The signs
// are in no order. It is safe for concurrent use.
func Unfold(text string, opt Options, emit func(*View)) []Sign {
	u := pool.Get().(*unfolder)
	u.opt, u.emit, u.left, u.size = opt, emit, Slack+Growth*len(text), len(text)
	u.root = View{Text: text}
	if len(text) > math.MaxInt32/Growth { // places are counted in 32 bits
		u.exhausted()
		emit(&u.root)
	} else {
		u.read(&u.root, &u.facts)
	}
	signs := u.signs
	*u = unfolder{facts: u.facts, room: u.room}
	u.facts.forget()
	if cap(u.room.buf) <= keep && cap(u.room.steps) <= keep && cap(u.facts.runs) <= keep {
		pool.Put(u)
	}
	return signs
}

// keep is how much memory is worth keeping for the next text.
const keep = 1 << 18

var pool = sync.Pool{New: func() any { return new(unfolder) }}

// An unfolder reads one text. It is reused.
type unfolder struct {
	opt   Options
	emit  func(*View)
	size  int // of the text
	left  int // bytes that views may still have
	signs []Sign
	root  View
	facts facts // of the whole text
	room  builder
}

// read emits a view, folded, and then what stands in it. f is room for the
// view's facts.
func (u *unfolder) read(v *View, f *facts) {
	f.scan(v.Text)
	if f.flags&foldable == 0 {
		u.emit(v)
		u.inside(v, f)
		return
	}
	raw := *v
	found, changed := u.fold(v, &raw)
	if changed {
		f.scan(v.Text)
	}
	u.emit(v)
	for _, h := range found {
		u.show(&raw, h)
	}
	u.inside(v, f)
}

// show reads what was hidden in a view.
func (u *unfolder) show(above *View, h hidden) {
	if h.text == "" || u.left < 0 {
		return
	}
	if u.left -= len(h.text); u.left < 0 || above.Depth == MaxDepth {
		u.left = -1
		u.exhausted()
		return
	}
	v := &View{Text: h.text, Layer: h.layer, Depth: above.Depth + 1, parent: above, steps: h.steps, seen: above.seen | 1<<h.layer}
	u.read(v, new(facts))
}

// together is how many bytes apart signs of one kind are one: a text full of them
// has as many as it has words.
const together = 16

// sign adds a sign that stands in bytes [from, to) of a view.
func (u *unfolder) sign(v *View, what What, layer Layer, from, to, size int) {
	from, to = v.Origin(from, to)
	if n := len(u.signs) - 1; n >= 0 && what != Selectors { // of those, each says how long its own text is
		if last := &u.signs[n]; last.What == what && last.Layer == layer && last.To <= from && from-last.To <= together {
			last.To, last.Size = to, last.Size+size
			return
		}
	}
	u.signs = append(u.signs, Sign{What: what, Layer: layer, From: from, To: to, Size: size})
}

func (u *unfolder) exhausted() {
	u.signs = append(u.signs, Sign{What: Exhausted, To: u.size})
}
