package guard

import "github.com/pratique-dev/pratique/labels/args"

// maxPlaces is how many values of one place are looked at.
const maxPlaces = 4096

// Places are the single values that a place means, as constraints do: of a JSON
// Pointer ("/options/path") what stands there, of a name every member that is called
// so or looks like it, at any depth, in arrays and in JSON inside of strings. ok is
// false where not all of them could be seen, or an object is among them, whose names
// may mean something too. They hold as long as the tree does.
func Places(t *args.Tree, place string) (found []args.Value, ok bool) {
	c, err := newPlace(place)
	if err != nil || t == nil {
		return nil, false
	}
	ok = true
	var single func(v args.Value)
	single = func(v args.Value) {
		if k := v.Kind(); k != '{' && k != '[' {
			ok = ok && len(found) < maxPlaces
			if ok {
				found = append(found, v)
			}
		}
		ok = ok && v.Kind() != '{'
		for e := v.First(); e.Kind() != 0 && ok; e = e.Next() {
			single(e)
		}
	}
	x := Read(t)
	defer x.Release()
	c.each(t.Root(), x, func(v args.Value, _ bool) bool { single(v); return ok })
	return found, ok && !t.Cut()
}
