package guard

import "github.com/pratique-dev/pratique/labels/args"

// Beside is what the guards refuse of what goes upstream beside the arguments of a call:
// members that no protocol knows, _meta, answers to questions, what a completion is for.
// c.Args is a reading of that. It is judged by the names in it like arguments are, and
// what a rule says of an argument by its name holds of every member of that name. No
// member has to be there.
func (s *Set) Beside(c Call) []Violation {
	c.Method = "tools/call" // by which members are judged by their names
	return s.judge(c, true)
}

// checkNamed judges the members of the constraint's name, of which none has to be there.
func (c *constraint) checkNamed(w *walker) {
	c.named(w.index, func(v args.Value) bool {
		for i := range c.words {
			c.words[i].check(v, w.call.Files, true, w)
		}
		return true
	})
}

// MayBeside is May of a call that has something beside its arguments.
func (s *Set) MayBeside(c, beside Call) bool {
	if s == nil || !s.made || c.Args == nil || beside.Args == nil {
		return true
	}
	x, y := c.Index, beside.Index
	if !x.of(c.Args) {
		x = Read(c.Args)
		defer x.Release()
	}
	if !y.of(beside.Args) {
		y = Read(beside.Args)
		defer y.Release()
	}
	for i := range s.args {
		con := &s.args[i]
		if con.may(c.Args.Root(), x, c.Files) {
			continue
		}
		may := false
		con.named(y, func(v args.Value) bool {
			may = con.counts(v) && con.mayAll(v, c.Files)
			return !may
		})
		if !may {
			return c.Args.Cut() || beside.Args.Cut()
		}
	}
	return true
}

// named calls f with every value of the constraint's name, until f is false. A place that
// a JSON Pointer names is in the arguments alone.
func (c *constraint) named(x *Index, f func(v args.Value) bool) {
	if c.name != "" {
		x.each(c.name, func(m *member) bool { return f(m.value) })
	}
}
