package unfold

import "sort"

// A View is one way to read a text. It is valid during the emit call only.
type View struct {
	Text  string
	Layer Layer
	Depth int // 0: the whole text; 1: found in it; and so on

	parent *View  // the view that it stands in; nil: the original
	steps  []step // nil: it is the parent's text, byte for byte
	seen   uint32 // layers on the way here, as bits: what undoes itself is done once
}

// A step maps bytes of a view to bytes of its parent: from the view's byte at on
// they stand one to one from the parent's byte orig on, or, where size is not 0,
// all of them come out of the size bytes there.
type step struct {
	at, orig, size int32
}

// Origin maps bytes [from, to) of the view to the bytes of the original text
// that they come from: in order, inside of it, and not empty unless the view's
// are.
func (v *View) Origin(from, to int) (int, int) {
	n := len(v.Text)
	from = min(max(from, 0), n)
	to = min(max(to, from), n)
	for ; v != nil; v = v.parent {
		if v.steps != nil {
			from, to = above(v.steps, from, to)
		}
	}
	return from, to
}

func above(steps []step, from, to int) (int, int) {
	find := func(at int) (int, int) { // the parent's bytes of the step, from at on
		k := sort.Search(len(steps), func(i int) bool { return int(steps[i].at) > at }) - 1
		s := steps[max(k, 0)]
		if s.size > 0 {
			return int(s.orig), int(s.orig + s.size)
		}
		i := int(s.orig) + at - int(s.at)
		return i, i + 1
	}
	if from == to {
		i, _ := find(from)
		return i, i
	}
	a, b := find(from)
	c, d := find(to - 1)
	return min(a, c), max(b, d)
}

// A hidden is a text that was found in a view.
type hidden struct {
	layer Layer
	text  string
	steps []step
}

// at is the place of a text all of which comes out of bytes [from, to).
func at(from, to int) []step {
	return []step{{0, int32(from), int32(to - from)}}
}

// A builder puts a view's text together.
type builder struct {
	buf   []byte
	steps []step
}

// copy adds what stands in the parent from byte orig on.
func (b *builder) copy(s string, orig int) {
	if s == "" {
		return
	}
	n := int32(len(b.buf))
	if k := len(b.steps); k == 0 || b.steps[k-1].size > 0 || b.steps[k-1].orig-b.steps[k-1].at != int32(orig)-n {
		b.step(step{at: n, orig: int32(orig)}, orig+len(s))
	}
	b.buf = append(b.buf, s...)
}

// put adds what the parent's bytes [from, to) stand for.
func (b *builder) put(s string, from, to int) {
	if s == "" {
		return
	}
	b.step(step{int32(len(b.buf)), int32(from), int32(to - from)}, to)
	b.buf = append(b.buf, s...)
}

// mostSteps is how many steps a view has: of a text that is all disguise, the
// rest comes out of one place.
const mostSteps = 1 << 20

// step adds a step for the parent's bytes up to end.
func (b *builder) step(s step, end int) {
	if len(b.steps) < mostSteps {
		b.steps = append(b.steps, s)
		return
	}
	last := &b.steps[len(b.steps)-1]
	until := last.orig + last.size
	if last.size == 0 {
		until = last.orig + int32(len(b.buf)) - last.at
	}
	last.orig = min(last.orig, s.orig)
	last.size = max(until, int32(end)) - last.orig
}

func (b *builder) hidden(l Layer) hidden {
	return hidden{layer: l, text: string(b.buf), steps: b.steps}
}
