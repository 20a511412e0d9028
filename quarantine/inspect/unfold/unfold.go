// Package unfold reads a text as a model would: it takes off what disguises
// words and shows what is hidden between them. It decides nothing: it gives the
// views of a text and the signs that it met, each with its place in the original
// bytes.
package unfold

// Version names the tables and bounds of this stage: part of every cache key.
const Version = "unfold/1"

// A Layer is how a view came out of the text above it.
type Layer uint8

// The layers.
const (
	Plain     Layer = iota // the text itself, byte for byte
	Folded                 // the whole text: compatible forms and look-alikes folded, what is invisible left out
	Tags                   // tag characters, U+E0000
	Variation              // bytes in variation selectors
	Reversed               // read from right to left
	Spaced                 // letters that stand alone, put together
	Markup                 // what a renderer hides: comments, hidden elements, attributes
	Entities               // character references of HTML
	Escapes                // backslash escapes of JSON and of programs
	Percent                // percent encoding
	Base64
	Hex
	Rot13
	Leet // digits for letters
)

var layerNames = [...]string{
	"plain", "folded", "tags", "variation", "reversed", "spaced", "markup", "entities", "escapes", "percent", "base64", "hex", "rot13", "leet",
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
	MaxViews = 256     // of one text
	Slack    = 1 << 12 // bytes of views that any text may have; a longer one may have twice its own length
)

// Options say how a text is read.
type Options struct {
	// Returned reads what a call returned: coloured logs, comments and pasted
	// characters are honest there, and hashes and images are not searched for
	// words twice.
	Returned bool
	// Name reads an identifier: letters of two scripts in it are a disguise.
	Name bool
}

// A View is one way to read a text. It is valid during the emit call only.
type View struct {
	Text  string
	Layer Layer
	Depth int // 0: the whole text; 1: found in it; and so on

	from, to int // of the original; the text's own place where steps is nil
	steps    []step
}

// A step maps bytes of a view to bytes of the original: from the view's byte at
// on they stand one to one from the original's byte orig on, or, where size is
// not 0, all of them come out of the size bytes there.
type step struct {
	at, orig, size int32
}

// Origin maps bytes [from, to) of the view to the bytes of the original text
// that they come from: never empty unless the view is, always inside of it.
func (v *View) Origin(from, to int) (int, int) {
	return v.from + from, v.from + to
}

// Unfold reads text and gives each view to emit, the whole text first: text
// itself, at no cost, where it is plain ASCII without disguises. The views are
// bounded in number, depth and bytes, and so is the time: linear in the text.
func Unfold(text string, opt Options, emit func(*View)) []Sign {
	emit(&View{Text: text, to: len(text)})
	return nil
}
