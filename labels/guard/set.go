package guard

import (
	"strings"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/content"
)

// A Call is what guards judge.
type Call struct {
	Tool   string // the upstream's own name of tool, prompt or resource
	Method string // MCP method
	Effect labels.Effect
	Args   *args.Tree // nil: nobody read them, and every guard refuses
	Index  *Index     // of Args, shared by all that judge the call; nil: each reads them anew
	Files  Files      // what can be seen of the upstream's file system; nil: nothing
}

// What guards say themselves, besides those that judge a text. None repeats a value.
const (
	WhyNotMade   = "No guards were made, or nobody read the arguments; nothing can be judged."
	WhyCut       = "JSON inside of a text is nested too deeply, or is too large, to be judged."
	WhyAbsent    = "An argument that a rule speaks of is absent, so that the server chooses its value."
	WhyKind      = "The argument is of another kind than a rule about it can judge."
	WhyNotEqual  = "The argument is not the value that is allowed."
	WhyNotListed = "The argument is none of the values that are allowed."
	WhyOption    = "The argument begins with \"-\", so that git takes it for an option."
	WhyTooLong   = "The argument is longer than is allowed."
)

// maxViolations is how many are told of one call.
const maxViolations = 16

// Check is what the guards refuse; nil: nothing. It is for the guards of a file and for
// a rule that allows: a constraint holds only where it surely does.
func (s *Set) Check(c Call) []Violation { return s.judge(c, false) }

// judge is Check, or Beside.
func (s *Set) judge(c Call, beside bool) []Violation {
	if s == nil || !s.made || c.Args == nil {
		return []Violation{{Guard: "value", Why: WhyNotMade, Rule: "default"}}
	}
	w := walker{set: s, call: c, index: c.Index, beside: beside}
	if !c.Index.of(c.Args) {
		w.index = Read(c.Args)
		defer w.index.Release()
	}
	root := c.Args.Root()
	if s.paths != nil || s.refs != nil || s.hosts != nil {
		w.defaults(root)
	}
	for i := range s.args {
		if beside {
			s.args[i].checkNamed(&w)
		} else {
			s.args[i].check(&w, root)
		}
	}
	s.siblings(&w, root)
	if s.content != nil {
		for _, f := range s.content.Call(root) {
			w.add(Violation{Guard: "content", Path: f.Pointer, Why: f.Why, Rule: "guards.content." + f.Class, Line: f.Line})
		}
	}
	if c.Args.Cut() {
		w.add(Violation{Guard: "value", Why: WhyCut, Rule: "default"})
	}
	return w.out
}

// May tells whether every constraint may hold. It is for a rule that asks or forbids,
// which matches unless some constraint surely does not hold: a constraint may hold if
// any member of its name may meet it, or if it is absent and not optional.
func (s *Set) May(c Call) bool {
	if s == nil || !s.made || c.Args == nil {
		return true
	}
	x := c.Index
	if !x.of(c.Args) {
		x = Read(c.Args)
		defer x.Release()
	}
	for i := range s.args {
		if !s.args[i].may(c.Args.Root(), x, c.Files) {
			return c.Args.Cut()
		}
	}
	return true
}

// A walker judges the arguments of one call.
type walker struct {
	set   *Set
	call  Call
	index *Index
	keys  *toolKeys
	trade trade
	read  bool // whether trade is
	wrote bool // whether a destination was named
	flag  args.Value
	told  []told
	out   []Violation

	beside        bool // whether it judges what goes upstream beside the arguments
	tries, failed bool // whether it only wants to know that something is refused
}

func (w *walker) add(v Violation) {
	if len(w.out) == maxViolations {
		return
	}
	for i := range w.out { // of one text the first line is told
		x := v
		if x.Line = w.out[i].Line; x == w.out[i] {
			return
		}
	}
	w.out = append(w.out, v)
}

func (w *walker) refuse(guard string, v args.Value, why string) {
	if why != "" {
		w.tell(guard, guardRules[guard], v, why)
	}
}

// guardRules are the rules of default guards.
var guardRules = map[string]string{"path": "guards.paths", "ref": "guards.refs", "host": "guards.hosts"}

// tell adds what is refused of a value. To find the place of one costs as much as it has
// neighbours, so it is looked for only where it is told.
func (w *walker) tell(guard, rule string, v args.Value, why string) {
	if w.failed = true; w.tries {
		return
	}
	for i := range w.told {
		if x := &w.told[i]; x.value == v && x.guard == guard && x.rule == rule && x.why == why {
			return
		}
	}
	if len(w.told) == maxViolations {
		return
	}
	w.told = append(w.told, told{v, guard, rule, why})
	w.add(Violation{Guard: guard, Path: content.Pointer(v), Why: why, Rule: rule})
}

// A told is what was said of a value already.
type told struct {
	value            args.Value
	guard, rule, why string
}

// tool is what the tool's name says, read when it first matters.
func (w *walker) tool() *trade {
	if !w.read {
		x := w.index
		if !x.said || x.tool != w.call.Tool {
			x.tool, x.trade, x.said = w.call.Tool, tradeOf(w.call.Tool), true
		}
		w.trade, w.read = x.trade, true
	}
	return &w.trade
}

// defaults judges each member by its name. Only names of a tool's or prompt's own say
// anything.
func (w *walker) defaults(root args.Value) {
	if w.call.Method != "tools/call" && w.call.Method != "prompts/get" {
		w.resource(root)
		return
	}
	w.keys = w.set.keys[w.call.Tool]
	for i := range w.index.list {
		m := &w.index.list[i]
		if m.signs != 0 || m.around >= 0 {
			w.odd(m)
		}
		if m.kind == 0 && w.keys == nil {
			continue
		}
		if k := w.kindOf(m); k&judged != 0 {
			w.value(m.value, k)
		} else if k&isFlag != 0 && isOn(m.value) {
			w.flag = m.value
		}
	}
	if w.set.refs == nil {
		return
	}
	if !w.set.open {
		w.inside()
	}
	if w.index.all&(isCommand|isWords) != 0 {
		w.lines()
	}
	if !w.beside {
		w.pushes()
	}
	w.unnamed()
}

// judged are the kinds of texts that defaults judge one by one.
const judged = isPath | likePath | isRef | isHost | isURL | isURI | isTurn

// kindOf is what the name of a member says, with what the file says of the tool's names.
func (w *walker) kindOf(m *member) kind {
	k := m.kind
	switch {
	case k&isInner != 0:
		k = w.inner(m)
	case k&isInto != 0:
		k = w.into(k)
	case k&likePath != 0 && w.tool().files:
		k = k&^(likePath|isTurn|isVague) | isPath
	}
	if w.keys == nil {
		return k
	}
	return w.keys.of(w.index.name(m), k)
}

// inner is what a name says that says what the one around it does. The name of a branch
// is one, also of an object that is all the input.
func (w *walker) inner(m *member) kind {
	bare := m.around < 0 || string(w.index.name(&w.index.list[m.around])) == "input"
	switch {
	case bare && string(w.index.name(m)) == "name" && w.tool().branch:
		return isRef
	case m.around >= 0:
		return w.kindOf(&w.index.list[m.around])
	}
	return 0
}

// into is what the name is of that into which something goes: a destination, but in a
// tool about requests to merge, where somebody reviews what comes of it.
func (w *walker) into(k kind) kind {
	switch t := w.tool(); {
	case t.merges:
		return isRef
	case t.asks || k&isBase != 0:
		return 0
	}
	return isRef | k&isEither
}

// value judges the texts of a value; objects below it have names of their own.
func (w *walker) value(v args.Value, k kind) {
	switch v.Kind() {
	case '[':
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			w.value(e, k)
		}
	case '"':
		w.text(v, k)
		if in, ok := v.Inner(); ok && k&isProse == 0 {
			w.value(in, k)
		}
	}
}

// text judges a string by what its name says that it is.
func (w *walker) text(v args.Value, k kind) {
	s := w.set
	if k&(isPath|likePath) != 0 && s.paths != nil {
		if text := v.Text(); k&isPath != 0 || looksLikePath(text) {
			w.refuse("path", v, s.paths.Check(text, w.call.Files))
			if k&isMany != 0 && s.rooted {
				w.parts(v, text)
			}
		}
	}
	if k&likePath != 0 && s.listed && strings.Contains(v.Text(), "://") {
		k |= isHost // of whatever scheme
	}
	if k&isRef != 0 && s.refs != nil {
		if w.writes(k) {
			w.wrote = true
			w.refuse("ref", v, s.refs.Check(v.Text()))
		} else if w.specifies(v.Text(), k) {
			w.refuse("ref", v, s.refs.Check(v.Text()))
		}
	}
	if k&(isHost|isURL|isURI) != 0 && s.hosts != nil {
		w.hosts(v, v.Text(), k)
	}
	if k&isTurn != 0 && s.hosts != nil {
		w.refuse("host", v, s.hosts.Turn(v.Text(), k&isVague != 0))
	}
}

// writes tells whether a name that stands for a destination is one here. Where the
// file says so it is. Else it is none in a tool that is known to read; where nothing is
// known of the tool, in one whose name begins with a word of reading; and as what
// something new is made of.
func (w *walker) writes(k kind) bool {
	switch {
	case k&isGiven != 0:
		return true
	case w.call.Effect == labels.Read, k&isEither != 0 && w.tool().source:
		return false
	}
	return w.call.Effect != labels.Unclassified || !w.tool().looks
}

// specifies tells whether a text that is not held to be a destination says itself where
// it goes: a refspec, or a ref of git fetch, with a colon or forced.
func (w *walker) specifies(s string, k kind) bool {
	return (k&isSpec != 0 || w.tool().git && w.tool().fetches) && (strings.IndexByte(s, ':') >= 0 || strings.HasPrefix(strings.TrimSpace(s), "+"))
}

// resource judges the URI of a resource that is not one of a list, where the agent
// chose a part of it: no segment leads up, however it is written, and what is fetched
// from a host is fetched from a public one. The rest is for the template to say.
func (w *walker) resource(root args.Value) {
	uri, ok := root.Get("uri")
	if !ok || uri.Text() == w.call.Tool {
		return
	}
	text := uri.Text()
	if s := w.set.hosts; s != nil && isHTTP(text) {
		w.refuse("host", uri, s.Check(text))
	}
	if w.set.paths != nil {
		w.refuse("path", uri, w.set.climbing.Check(text, nil))
	}
}
