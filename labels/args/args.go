// Package args reads the arguments of a call once, into a flat tree that guards and
// conditions look at. Nothing is decoded before somebody asks for it, numbers keep
// their digits, and the JSON that stands inside of a string is a document of its own
// for whoever looks below it.
//
// A Tree belongs to one decision: what is decoded on the way is kept in it, so it is
// not for concurrent use.
package args

import (
	"errors"
	"sync"

	"github.com/pratique-dev/pratique/internal/flat"
)

// ErrArgs says that a text is not the arguments of a call: not an object, not strict
// JSON, or over a bound.
var ErrArgs = errors.New("args: not an object of strict JSON within bounds")

// A Tree is one reading of a call's arguments. It does not change; it is not for
// concurrent use.
type Tree struct {
	doc flat.Doc // Node.Extra says of a string what is known of the document in it

	under  func(string) string // see Under; of the outermost
	loose  bool                // a document inside of a string: read as servers would
	up     Value               // the string around; none of the outermost
	level  int                 // of documents around
	inners []*Tree             // see Inner
	left   int                 // of the outermost: nodes that documents inside of strings may still have
	cut    bool                // of the outermost
}

var trees = sync.Pool{New: func() any { return new(Tree) }}

// Parse reads an object of strict JSON: names that stand twice in one object, broken
// UTF-8 and anything behind the object are refused. So are texts that are nested more
// than 128 deep or have more than 262,144 values. raw must not be changed as long as
// the tree is used. The error is ErrArgs.
func Parse(raw []byte) (*Tree, error) {
	t := trees.Get().(*Tree)
	t.left = flat.MaxNodes
	if !t.doc.Read(raw, string(raw), flat.MaxNodes, false) || t.doc.Nodes[0].Kind != '{' {
		t.Release()
		return nil, ErrArgs
	}
	return t, nil
}

// ParseFirst is Parse of the object that raw begins with, whatever is behind it; n is
// how long it is.
func ParseFirst(raw []byte) (t *Tree, n int, err error) {
	t = trees.Get().(*Tree)
	t.left = flat.MaxNodes
	if n = t.doc.ReadFirst(raw, flat.MaxNodes); n == 0 || t.doc.Nodes[0].Kind != '{' {
		t.Release()
		return nil, 0, ErrArgs
	}
	return t, n, nil
}

// Under has the pointers of values begin with what place makes of the name of the member
// of the root that they stand below, in place of that name.
func (t *Tree) Under(place func(name string) string) { t.under = place }

// keepNodes is the largest tree that goes back to the pool.
const keepNodes = 4 << 10

// Release gives the memory of the tree back. Neither the tree nor a Value of it may
// be used after; strings that came from them may.
func (t *Tree) Release() {
	if t == nil {
		return
	}
	for _, x := range t.inners {
		x.Release()
	}
	clear(t.inners)
	t.doc.Reset(keepNodes)
	kept := Tree{doc: t.doc, inners: t.inners[:0]}
	if cap(kept.inners) > keepNodes {
		kept.inners = nil
	}
	*t = kept
	trees.Put(t)
}

// Root is the object of the arguments; of a nil tree no value.
func (t *Tree) Root() Value {
	if t == nil || len(t.doc.Nodes) == 0 {
		return Value{}
	}
	return Value{t, 0}
}

// Raw are the bytes that were read; nil of a nil tree.
func (t *Tree) Raw() []byte {
	if t == nil {
		return nil
	}
	return t.doc.Raw
}

// Cut tells whether a document inside of a string was left unread so far, because it
// is nested too deeply or they have too many values together. Whoever refuses by what
// stands below has to refuse then.
func (t *Tree) Cut() bool { return t != nil && t.cut }

// Near tells whether two names in one object may differ in case only; if not, none do.
func (t *Tree) Near() bool { return t != nil && t.doc.Near }

// Doc is the reading itself, for those who go through all of it. It is not to be
// changed.
func (t *Tree) Doc() *flat.Doc { return &t.doc }
