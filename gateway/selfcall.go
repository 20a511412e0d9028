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
	if tree == nil || p.args == nil {
		return g.names(p.raw)
	}
	s := newSweep(g)
	found, sure := s.tree(tree)
	if !found && sure {
		found = s.beside(p)
	}
	switch {
	case found || sure && len(s.above) == 0:
		return found
	case !sure || s.left <= 0 || len(s.above) >= maxAbove:
		return g.names(p.raw) // in the order of the text
	}
	s = s.again()
	found, _ = s.tree(tree)
	return found || s.beside(p)
}

// tree looks at each text in the arguments once. It is not sure where something in
// them may be a port of ours, whose host stands beside.
func (s *sweep) tree(tree *args.Tree) (found, sure bool) {
	d := tree.Doc()
	for i := range d.Nodes {
		n, x := uint32(i), &d.Nodes[i]
		if x.Marks&flat.MarkName != 0 {
			if name := d.NameOf(n); flat.Classes(name)&(slash|colon|percent) != 0 && s.text(name, 0) {
				return true, true
			}
		}
		switch x.Kind {
		case '"':
			if s.idle(x.Marks&flat.MarkText, d.Raw[x.At+1:x.End]) {
				continue
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

// beside looks at what stands beside the arguments.
func (s *sweep) beside(p *params) (found bool) {
	w := lookout{s: s, b: p.raw, from: p.argsAt, to: p.argsAt + len(p.args)}
	_, found = w.inside(marks.Space(p.raw, 0))
	return found
}
