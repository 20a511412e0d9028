package guard

import (
	"sync"

	"github.com/pratique-dev/pratique/labels/args"
)

// An Index is the members of a call's arguments with what their names say, read once
// for all the sets that judge the call. It is for one decision and not for concurrent
// use.
type Index struct {
	tree  *args.Tree
	list  []member
	names []byte // squashed, one behind the other
	all   kind   // what there is at all
	tool  string // whose name was read last, where said
	trade trade
	said  bool
	calm  bool // nothing in it may lie in a repository's folder
}

// A member is one member of an object at any depth, documents inside of strings
// included where the string is not for people or files.
type member struct {
	value  args.Value
	from   uint32 // of its name in names
	to     uint32
	around int32 // the member that it stands below, in list; negative: none
	kind   kind  // by its own name
	top    bool  // of the arguments themselves
	signs  sign
}

var indexes = sync.Pool{New: func() any { return new(Index) }}

// Read makes the index of arguments; nil of nil. It holds as long as the tree does.
func Read(t *args.Tree) *Index {
	if t == nil {
		return nil
	}
	x := indexes.Get().(*Index)
	x.tree = t
	x.object(t.Root(), -1, true)
	return x
}

// maxKept is the room of an index that is kept for another call.
const maxKept = 1 << 10

// Release gives the memory back. The index must not be used after.
func (x *Index) Release() {
	if x == nil || cap(x.list) > maxKept || cap(x.names) > 16*maxKept {
		return
	}
	clear(x.list)
	*x = Index{list: x.list[:0], names: x.names[:0]}
	indexes.Put(x)
}

func (x *Index) object(v args.Value, around int32, top bool) {
	for m := v.First(); m.Kind() != 0; m = m.Next() {
		from := len(x.names)
		var signs sign
		x.names, signs = squashed(x.names, m.Name())
		k := kindOf(x.names[from:])
		i := int32(len(x.list))
		x.list = append(x.list, member{m, uint32(from), uint32(len(x.names)), around, k, top, signs})
		x.all |= k
		x.below(m, k, i)
	}
}

// below reads on below a value that stands under the member i.
func (x *Index) below(v args.Value, k kind, i int32) {
	switch v.Kind() {
	case '{':
		x.object(v, i, false)
	case '[':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			x.below(e, k, i)
		}
	case '"':
		if k&(isProse|isLoose) != isProse {
			if s := signsIn(v, k); s != 0 {
				x.list[i].signs |= s
			}
		}
		if k&isProse != 0 {
			return
		}
		if in, ok := v.Inner(); ok {
			x.below(in, k, i)
		}
	}
}

// of tells whether the index is one of the tree.
func (x *Index) of(t *args.Tree) bool { return x != nil && x.tree == t }

func (x *Index) name(m *member) []byte { return x.names[m.from:m.to] }

// each calls f with the members of a squashed name, until f is false.
func (x *Index) each(name string, f func(m *member) bool) {
	for i := range x.list {
		if m := &x.list[i]; int(m.to-m.from) == len(name) && string(x.name(m)) == name && !f(m) {
			return
		}
	}
}
