package gateway

import (
	"github.com/pratique-dev/pratique/internal/flat"
	"github.com/pratique-dev/pratique/internal/marks"
	"github.com/pratique-dev/pratique/labels/args"
)

// namesCall is names of the params of a request whose arguments were read; tree is nil
// where they could not be.
func (g *guard) namesCall(p *params, tree *args.Tree) bool {
	if g == nil || len(p.raw) == 0 {
		return false
	}
	if tree != nil && p.args != nil {
		s := newSweep(g)
		found, sure := s.tree(tree)
		if !found && sure {
			found, sure = s.beside(p)
		}
		if found || sure && len(s.above) == 0 {
			return found
		}
	}
	return g.names(p.raw)
}

// tree looks at each text in the arguments once. It is not sure where something in
// them may be a port of ours, whose host stands beside.
func (s *sweep) tree(tree *args.Tree) (found, sure bool) {
	d, bare := tree.Doc(), s.bare()
	for i := range d.Nodes {
		n, x := uint32(i), &d.Nodes[i]
		if x.Marks&flat.MarkName != 0 {
			if name := d.NameOf(n); classes(name)&(slash|colon|percent) != 0 && s.text(name, 0) {
				return true, true
			}
		}
		switch x.Kind {
		case '"':
			if !bare && x.Marks&flat.MarkText == 0 && !begins[d.Raw[x.At+1]] {
				continue // a bare word, which nothing could be made of
			}
			v := d.TextOf(n)
			if s.g.mayBePort(v) {
				return false, false
			}
			if s.text(v, 0) {
				return true, true
			}
		case '0':
			if s.g.mayBePort(d.Src[x.At:x.End]) {
				return false, false
			}
		}
	}
	return false, true
}

// begins are the bytes that JSON inside of a string, or a port, may begin with.
var begins = func() (t [256]bool) {
	for _, c := range []byte(" \t\r\n{[\"0123456789") {
		t[c] = true
	}
	return t
}()

// beside looks at what stands beside the arguments.
func (s *sweep) beside(p *params) (found, sure bool) {
	w := lookout{s: s, b: p.raw, from: p.argsAt, to: p.argsAt + len(p.args)}
	_, found = w.inside(marks.Space(p.raw, 0))
	return found, true
}
