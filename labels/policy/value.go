package policy

import (
	"errors"
	"reflect"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/pratique-dev/pratique/labels/args"
)

// manyParts is from how many members or elements on they are found by a table.
const manyParts = 16

var errNative = errors.New("policy: arguments have no other form")

// value is a value of the arguments in CEL.
func (s *scope) value(v args.Value) ref.Val {
	switch v.Kind() {
	case '"':
		t := v.Text()
		s.spend(1 + len(t)/textStep)
		return types.String(t)
	case '0':
		return exact(v)
	case 't':
		return types.True
	case 'f':
		return types.False
	case 'n':
		return types.NullValue
	case '{':
		return &object{s, v}
	case '[':
		return &array{s, v}
	}
	return errUnknown
}

// An object is a JSON object of the arguments, read where it is asked.
type object struct {
	s *scope
	v args.Value
}

func (o *object) member(name string) (args.Value, bool) {
	n := o.v.Len()
	if n <= manyParts {
		o.s.spend(1)
		return o.v.Get(name)
	}
	table, ok := o.s.names[o.v]
	if !ok {
		o.s.spend(n)
		table = make(map[string]args.Value, n)
		for k, v := range o.v.All() {
			table[k] = v
		}
		if o.s.names == nil {
			o.s.names = map[args.Value]map[string]args.Value{}
		}
		o.s.names[o.v] = table
	}
	o.s.spend(1)
	v, ok := table[name]
	return v, ok
}

// FindStringKey is the way without a boxed key that CEL looks for first.
func (o *object) FindStringKey(name string) (any, bool) {
	v, ok := o.member(name)
	if !ok {
		return nil, false
	}
	return o.s.value(v), true
}

// Find implements traits.Mapper.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	v, ok := o.member(string(name))
	if !ok {
		return nil, false
	}
	return o.s.value(v), true
}

// Get implements traits.Indexer.
func (o *object) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return types.NewErr("no such member")
}

// Contains implements traits.Container.
func (o *object) Contains(key ref.Val) ref.Val { return among(key, o, false).val() }

// Size implements traits.Sizer.
func (o *object) Size() ref.Val { return types.Int(o.v.Len()) }

var errNoList = types.NewErrWithNodeID(shared, "it is an object, not a list")

// Fold implements traits.Foldable. all, exists and their like would look at the names
// of an object where a rule means the elements of a list: {} would pass for none, and
// {"a@corp.example": "b@other.example"} for the other. So there is one element, which is an error;
// of an empty one there is none, as of an empty list.
func (o *object) Fold(f traits.Folder) {
	o.s.spend(1)
	f.FoldEntry(errNoList, errNoList)
}

// Iterator implements traits.Iterable, over the names.
func (o *object) Iterator() traits.Iterator {
	names := make([]ref.Val, 0, o.v.Len())
	for name := range o.v.All() {
		o.s.spend(1)
		names = append(names, types.String(name))
	}
	return types.NewRefValList(types.DefaultTypeAdapter, names).Iterator()
}

// Equal implements ref.Val.
func (o *object) Equal(other ref.Val) ref.Val { return same(o, other).val() }

// ConvertToNative implements ref.Val.
func (o *object) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(ref.Type) ref.Val { return types.NewErr("an object is no other type") }

// Type implements ref.Val.
func (o *object) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (o *object) Value() any { return o.v }

// An array is a JSON array of the arguments, read where it is asked.
type array struct {
	s *scope
	v args.Value
}

func (a *array) at(i int) args.Value {
	a.s.spend(1)
	n := a.v.Len()
	if n <= manyParts {
		return a.v.At(i)
	}
	list, ok := a.s.parts[a.v]
	if !ok {
		a.s.spend(n)
		list = make([]args.Value, 0, n)
		for v := a.v.First(); v.Kind() != 0; v = v.Next() {
			list = append(list, v)
		}
		if a.s.parts == nil {
			a.s.parts = map[args.Value][]args.Value{}
		}
		a.s.parts[a.v] = list
	}
	if i < 0 || i >= len(list) {
		return args.Value{}
	}
	return list[i]
}

// Get implements traits.Indexer.
func (a *array) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok || i < 0 || i >= types.Int(a.v.Len()) {
		return types.NewErr("no such element")
	}
	return a.s.value(a.at(int(i)))
}

// Contains implements traits.Container.
func (a *array) Contains(x ref.Val) ref.Val { return among(x, a, false).val() }

// Size implements traits.Sizer.
func (a *array) Size() ref.Val { return types.Int(a.v.Len()) }

// Add implements traits.Adder. Conditions build no lists.
func (a *array) Add(ref.Val) ref.Val { return types.NewErr("lists are not joined") }

// Fold implements traits.Foldable.
func (a *array) Fold(f traits.Folder) {
	i := types.Int(0)
	for v := a.v.First(); v.Kind() != 0; v = v.Next() {
		a.s.spend(1)
		if !f.FoldEntry(i, a.s.value(v)) {
			return
		}
		i++
	}
}

// Iterator implements traits.Iterable.
func (a *array) Iterator() traits.Iterator {
	list := make([]ref.Val, 0, a.v.Len())
	for v := a.v.First(); v.Kind() != 0; v = v.Next() {
		a.s.spend(1)
		list = append(list, a.s.value(v))
	}
	return types.NewRefValList(types.DefaultTypeAdapter, list).Iterator()
}

// Equal implements ref.Val.
func (a *array) Equal(other ref.Val) ref.Val { return same(a, other).val() }

// ConvertToNative implements ref.Val.
func (a *array) ConvertToNative(reflect.Type) (any, error) { return nil, errNative }

// ConvertToType implements ref.Val.
func (a *array) ConvertToType(ref.Type) ref.Val { return types.NewErr("an array is no other type") }

// Type implements ref.Val.
func (a *array) Type() ref.Type { return types.ListType }

// Value implements ref.Val.
func (a *array) Value() any { return a.v }
