package guard

import (
	"slices"
	"strings"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard/path"
)

// A Call is what guards judge.
type Call struct {
	Tool   string // the upstream's own name of tool, prompt or resource
	Method string // MCP method
	Effect labels.Effect
	Args   *args.Tree // nil: nobody read them, and every guard refuses
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
	WhyTooLong   = "The argument is longer than is allowed."
)

// maxViolations is how many are told of one call.
const maxViolations = 16

// Check is what the guards refuse, in the order of the arguments; nil: nothing. It is
// for the guards of a file and for a rule that allows: a constraint holds only where
// it surely does.
func (s *Set) Check(c Call) []Violation {
	if s == nil || !s.made || c.Args == nil {
		return []Violation{{Guard: "value", Why: WhyNotMade, Rule: "default"}}
	}
	w := walker{set: s, call: c}
	root := c.Args.Root()
	if s.paths != nil || s.refs != nil || s.hosts != nil || s.named != nil {
		if s.keys != nil {
			w.keys = s.keys[c.Tool]
		}
		if w.given = c.Method == "tools/call" || c.Method == "prompts/get"; !w.given {
			w.resource(root)
		}
		w.members(root, 0)
		w.pushes()
	}
	for i := range s.args {
		s.args[i].absent(&w, root)
	}
	if s.content != nil {
		for _, f := range s.content.Call(root) {
			w.add(Violation{Guard: "content", Path: f.Pointer, Why: f.Why, Rule: "guards.content." + f.Class})
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
	if s == nil || !s.made || c.Args == nil || c.Args.Cut() {
		return true
	}
	for i := range s.args {
		if !s.args[i].may(c.Args.Root(), c.Files) {
			return c.Args.Cut()
		}
	}
	return true
}

// A walker goes once over the arguments of one call.
type walker struct {
	set   *Set
	call  Call
	keys  *toolKeys
	given bool // whether the names of arguments are a tool's or a prompt's own
	trade trade
	read  bool // whether trade is
	wrote bool // whether a destination was named
	flag  args.Value
	out   []Violation
}

func (w *walker) add(v Violation) {
	if len(w.out) < maxViolations && !slices.Contains(w.out, v) {
		w.out = append(w.out, v)
	}
}

func (w *walker) refuse(guard string, v args.Value, why string) {
	if why != "" {
		w.add(Violation{Guard: guard, Path: v.Pointer(), Why: why, Rule: "guards." + guard + "s"})
	}
}

// tool is what the tool's name says, read when it first matters.
func (w *walker) tool() *trade {
	if !w.read {
		w.trade, w.read = tradeOf(w.call.Tool), true
	}
	return &w.trade
}

// members judges the members of an object, each by its name.
func (w *walker) members(object args.Value, around kind) {
	var commands line
	var words args.Value
	for m := object.First(); m.Kind() != 0; m = m.Next() {
		var buf [64]byte
		name := squash(buf[:0], m.Name())
		k := w.kindOf(name, around)
		if len(w.set.named) > 0 {
			for _, i := range w.set.named[string(name)] {
				w.set.args[i].check(w, m)
			}
		}
		text := m.Kind() == '"'
		switch {
		case k&isCommand != 0 && text:
			commands.add(m)
		case k&(isWords|isCommand) != 0 && (text || m.Kind() == '['):
			words = m
		case k&isFlag != 0 && (m.Kind() == 't' || text && strings.EqualFold(m.Text(), "true")):
			w.flag = m
		}
		w.value(m, k)
	}
	if w.set.refs != nil && (commands.n > 0 || words.Kind() != 0) {
		w.commands(commands, words)
	}
}

// kindOf is what the name of a member says, with the names that the file gives for
// the tool instead of the default ones.
func (w *walker) kindOf(name []byte, around kind) kind {
	k := kindOf(name)
	if !w.given {
		k &= isProse
	}
	if k&isInner != 0 {
		k = around
	}
	if w.keys == nil {
		return k
	}
	const paths, hosts, commands = isPath | likePath, isHost | isURL | isURI, isCommand | isWords
	if names := w.keys.paths; names != nil {
		if k &^= paths; names[string(name)] {
			k |= isPath
		}
	}
	if names := w.keys.hosts; names != nil {
		if k &^= hosts; names[string(name)] {
			k |= isHost
		}
	}
	if names := w.keys.refs; names != nil {
		if k &^= isRef | isEither | isFlag; !names[string(name)] {
			k &^= commands
		} else if k&commands == 0 {
			k |= isRef
		}
	}
	return k
}

// value judges a value of a kind, and what stands below it.
func (w *walker) value(v args.Value, k kind) {
	switch v.Kind() {
	case '{':
		w.members(v, k)
	case '[':
		if k&(isCommand|isWords) != 0 && v.Name() == "" && w.set.refs != nil { // commands in a list
			w.wrote = true
			w.refuse("ref", v, w.set.refs.CheckWords(wordsOf(v), w.tool().git))
		}
		for e := v.First(); e.Kind() != 0; e = e.Next() {
			w.value(e, k)
		}
	case '"':
		if k&^isProse != 0 {
			w.text(v, k)
		}
		if k&isProse != 0 {
			return
		}
		if in, ok := v.Inner(); ok {
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
		}
	}
	if k&isRef != 0 && s.refs != nil && w.writes(k) {
		w.wrote = true
		w.refuse("ref", v, s.refs.Check(v.Text()))
	}
	if k&isCommand != 0 && s.refs != nil && v.Name() == "" { // a line of several
		w.refuse("ref", v, s.refs.CheckCommand(v.Text(), false))
	}
	if k&(isHost|isURL|isURI) != 0 && s.hosts != nil {
		if text := v.Text(); text != "" && (k&isHost != 0 || k&isURL != 0 && looksLikeURL(text) || isWeb(text)) {
			w.refuse("host", v, s.hosts.Check(text))
		}
	}
}

// writes tells whether a name that stands for a destination is one here. Where the
// file says so it is. Else it is none in a tool that is known to read; where nothing is
// known of the tool, in one whose name begins with a word of reading; and as what
// something new is made of.
func (w *walker) writes(k kind) bool {
	switch {
	case w.keys != nil && w.keys.refs != nil:
		return true
	case w.call.Effect == labels.Read, k&isEither != 0 && w.tool().source:
		return false
	}
	return w.call.Effect != labels.Unclassified || !w.tool().looks
}

// A line is the members of one object that hold a command or a part of it, in order.
type line struct {
	parts [3]args.Value
	n     int
}

func (l *line) add(v args.Value) {
	if l.n < len(l.parts) {
		l.parts[l.n] = v
		l.n++
	}
}

// commands judges a command and its words that stand side by side in one object:
// {"command": "git push origin main"}, {"command": "git", "args": ["push"]}, and of a
// tool that is git {"args": ["push"]}.
func (w *walker) commands(command line, words args.Value) {
	git, refs := w.tool().git, w.set.refs
	var all []string
	for _, part := range command.parts[:command.n] {
		text := part.Text()
		all = append(all, strings.Fields(text)...)
		alone := command.n == 1 && words.Kind() == 0
		if alone && git && strings.TrimSpace(text) == "push" {
			w.trade.push = true // what is pushed stands in other members
			return
		}
		if alone || strings.ContainsAny(text, ";|&$`(\n") {
			w.refuse("ref", part, refs.CheckCommand(text, git && alone))
		}
	}
	if command.n > 0 {
		w.wrote = true
		if words.Kind() != 0 || command.n > 1 {
			at := words
			if at.Kind() == 0 {
				at = command.parts[command.n-1]
			}
			w.refuse("ref", at, refs.CheckWords(append(all, wordsOf(words)...), git))
		}
		return
	}
	list := wordsOf(words)
	if len(list) == 0 {
		return
	}
	if w.trade.push && strings.HasPrefix(list[0], "-") {
		w.refuse("ref", words, refs.CheckOptions(list))
		return
	}
	w.wrote = true
	if words.Kind() == '"' {
		w.refuse("ref", words, refs.CheckCommand(words.Text(), git))
		return
	}
	w.refuse("ref", words, refs.CheckWords(list, git))
}

// resource judges the URI of a resource that is not one of a list, where the agent
// chose a part of it: no segment leads up, however it is written. That the upstream
// has such a resource is for its template to say.
func (w *walker) resource(root args.Value) {
	uri, ok := root.Get("uri")
	if !ok || w.set.paths == nil || uri.Text() == w.call.Tool {
		return
	}
	text := uri.Text()
	if _, rest, scheme := strings.Cut(text, ":"); scheme {
		text = strings.TrimLeft(rest, "/")
	}
	switch why := w.set.paths.Check(text, nil); why {
	case path.WhyParent, path.WhyPercent, path.WhyControl, path.WhyBackslash, path.WhyLookalike, path.WhyInvisible:
		w.refuse("path", uri, why)
	}
}

// pushes refuses a git push whose destination no argument names, or that writes all.
func (w *walker) pushes() {
	if w.set.refs == nil || !w.tool().push || w.keys != nil && w.keys.refs != nil {
		return
	}
	switch {
	case w.flag.Kind() != 0 && (w.wrote || w.trade.git):
		w.refuse("ref", w.flag, w.set.refs.Check(":"))
	case w.trade.git && !w.wrote:
		w.refuse("ref", w.call.Args.Root(), w.set.refs.Check(":"))
	}
}

// wordsOf are the texts of an array, or the words of a text.
func wordsOf(v args.Value) []string {
	if v.Kind() == '"' {
		return strings.Fields(v.Text())
	}
	var list []string
	for e := v.First(); e.Kind() != 0; e = e.Next() {
		if e.Kind() == '"' {
			list = append(list, e.Text())
		}
	}
	return list
}

// looksLikePath tells whether a text under a name that may mean something else is a
// path.
func looksLikePath(s string) bool {
	if strings.Contains(s, "://") && !strings.HasPrefix(s, "file:") {
		return false
	}
	if strings.Contains(s, "..") || strings.Contains(s, "%") {
		return strings.ContainsAny(s, `/\%`) || s == ".."
	}
	return strings.ContainsAny(s, `/\`) && !strings.ContainsAny(s, " \n\t")
}

// looksLikeURL tells whether a text is more than a relative path of plain names.
func looksLikeURL(s string) bool {
	return strings.ContainsAny(s, `:.@\%`) || strings.HasPrefix(s, "//") || len(s) >= 9 && strings.EqualFold(s[:9], "localhost") ||
		strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// isWeb tells whether a text is a URL that programs fetch.
func isWeb(s string) bool {
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, `\\`) {
		return true
	}
	scheme, _, ok := strings.Cut(strings.TrimSpace(s), ":")
	if !ok || len(scheme) > 8 {
		return false
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "ws", "wss", "ftp", "file", "gopher", "dict", "ldap", "tftp":
		return true
	}
	return false
}
