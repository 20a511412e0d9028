package content

import (
	"slices"
	"strings"
)

// A line is where a line of a rebuilt text comes from.
type line struct {
	number int // in the patch, from 1
	offset int // in the patch
	start  int // in the rebuilt text
	added  bool
}

// added finds the first line that the patch adds among those from a line of the text
// up to an offset.
func (c *check) added(from, to int) (line, bool) {
	for i := from - 1; i < len(c.live) && (i == from-1 || c.live[i].start < to); i++ {
		if c.live[i].added {
			return c.live[i], true
		}
	}
	return line{}, false
}

// A patched is one file of a patch: what it says on its new side.
type patched struct {
	by    [headers][]string // names, by the last header of each kind
	text  strings.Builder
	lines []line
	git   bool   // it has the header of Git
	whole bool   // it is a new file, and all of it is here
	mode  string // that it gets
	moved bool
	cut   bool // lines of it go away
	odd   bool // it has a part that nobody reads here
}

// Kinds of headers that say the path of a file, likely ones first.
const (
	ofNew = iota
	ofOld
	ofIndex
	ofGit
	headers
)

// names are all that whoever applies the patch may take for the path.
func (p *patched) names() []string { return slices.Concat(p.by[:]...) }

func (p *patched) put(s string, l patchLine, added bool) {
	p.lines = append(p.lines, line{l.number, l.offset, p.text.Len(), added})
	p.text.WriteString(s)
	p.text.WriteByte('\n')
}

// does tells whether the patch does anything to the file.
func (p *patched) does() bool { return p.lines != nil || p.cut || p.moved || p.mode != "" || p.odd }

// A patch is what a text says as one.
type patch struct {
	files []*patched
	rest  patched // what stands around the changes
	odd   bool    // something in it has no place in a patch
}

// A patchLine is one line of a patch, without its end.
type patchLine struct {
	text   string
	number int // from 1
	offset int
}

func patchLines(s string, f func(patchLine)) {
	number := 0
	for offset := 0; offset < len(s); {
		l, _, _ := strings.Cut(s[offset:], "\n")
		number++
		f(patchLine{strings.TrimRight(l, "\r"), number, offset})
		offset += len(l) + 1
	}
}

// otherEnds are ends of lines of some readers, as long as what stands for them here.
var otherEnds = strings.NewReplacer("\r\n", "\r\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1c", "\n", "\x1d", "\n", "\x1e", "\n", "\u0085", "\r\n", "\u2028", "\r\r\n", "\u2029", "\r\r\n")

// patchy tells whether a text may be a patch: every kind of one has one of these. Their
// first letters are rare. A unified one needs no header +++ for some who apply it.
func patchy(t string) bool {
	return strings.Contains(t, "@@") || strings.Contains(t, "*** ") || strings.Contains(t, "--git ") || strings.Contains(t, "x:") && strings.Contains(t, "Index:")
}

// readPatch is what a patch writes; it has no files where the text is none. A text that
// was not given as one (seen) may have prose around it. What has several readings is
// read in each of them.
func readPatch(s string, seen bool) patch {
	var p patch
	p.read(s, seen)
	if t := otherEnds.Replace(s); t != s {
		q := patch{}
		q.read(t, seen)
		if p.odd = p.odd || len(p.files) == 0 && q.odd; len(p.files) == 0 {
			p.rest = q.rest
		}
		p.files = append(p.files, q.files...)
	}
	return p
}

func (p *patch) read(s string, seen bool) {
	indent := p.readings(s, func(f func(patchLine)) { patchLines(s, f) }, seen)
	if indent == 0 {
		return
	}
	q := patch{}
	q.readings(s, func(f func(patchLine)) {
		patchLines(s, func(l patchLine) {
			n := min(indent, len(l.text))
			l.text = strings.TrimLeft(l.text[:n], indents) + l.text[n:]
			f(l)
		})
	}, true)
	p.take(q.files, q.rest, false)
}

// readings reads the lines of a text as every form of patch that it may be, and says how
// far in a header stands that was passed over; 0: none was.
func (p *patch) readings(s string, each func(func(patchLine)), seen bool) (indent int) {
	u := unified{seen: seen}
	each(u.line)
	p.take(u.files, u.rest, u.odd)
	if u.lies {
		free := unified{seen: seen, free: true}
		each(free.line)
		p.take(free.files, free.rest, false)
	}
	if strings.Contains(s, "*** ") {
		e := envelope{seen: seen}
		each(e.line)
		p.take(e.files, e.rest, e.odd)
	}
	if strings.Contains(s, "********") {
		x := contextual{}
		each(x.line)
		p.take(x.files, x.rest, false)
	}
	if strings.Contains(s, "Index:") || len(p.files) == 0 && !seen {
		b := bare{seen: seen}
		each(b.line)
		p.take(b.files, b.rest, false)
	}
	return u.indent
}

// take adds one reading, if it is one.
func (p *patch) take(files []*patched, rest patched, odd bool) {
	files = slices.DeleteFunc(files, func(f *patched) bool { return !f.does() })
	if len(files) == 0 {
		return
	}
	if len(p.files) == 0 {
		p.rest = rest
	}
	p.files = append(p.files, files...)
	p.odd = p.odd || odd
}

// alone tells whether a patch is about one file.
func (p *patch) alone() bool {
	for _, f := range p.files {
		if !slices.Equal(f.names(), p.files[0].names()) {
			return false
		}
	}
	return true
}

// paths are the names of a file that have different readers; one at least. The path
// that the call names is one where the patch is about one file.
func (c *check) paths(f *patched, alone bool) []string {
	names := f.names()
	if alone && !c.w.seen && c.w.Path != "" {
		names = append(names, c.w.Path)
	}
	var out []string
	var kinds []kind
	for _, n := range names {
		if k := c.j.kindOf(fold(n)); k != plain && !slices.Contains(kinds, k) {
			out, kinds = append(out, n), append(kinds, k)
		}
	}
	if out == nil {
		out = append(names, "")[:1]
	}
	return out
}

// patch judges each file that a patch writes; false where the text is no patch, and so
// a part of a file.
func (c *check) patch() bool {
	p := readPatch(c.text, c.w.seen)
	if len(p.files) == 0 {
		c.w.Part = true
		return c.w.seen
	}
	if p.odd && !c.w.seen {
		c.all(Unread, whyUnread)
	}
	if !c.w.seen {
		rest := &check{j: c.j, w: Write{Content: p.rest.text.String()}, live: p.rest.lines, text: p.rest.text.String()}
		rest.secrets()
		c.take(rest.out)
	}
	alone, done := p.alone(), map[string]bool{}
	for _, f := range p.files {
		text := f.text.String()
		for _, path := range c.paths(f, alone) {
			key := path + "\x00" + f.mode + "\x00" + text
			if !done[key] && !c.full() {
				c.file(f, path, text)
			}
			done[key] = true
		}
	}
	return true
}

// file judges what a patch writes to one path.
func (c *check) file(f *patched, path, text string) {
	w := Write{Path: path, Content: text, Mode: f.mode, Part: !f.whole, seen: c.w.seen}
	sub := &check{j: c.j, w: w, live: f.lines}
	if sub.live == nil {
		sub.live = []line{}
	}
	sub.write()
	c.take(sub.out)
	if f.moved { // the rest of it was not seen
		sub = &check{j: c.j, w: Write{Path: path, Action: "move"}}
		sub.write()
		c.take(sub.out)
	}
}

// take adds what was found elsewhere, once.
func (c *check) take(found []Finding) {
	for _, f := range found {
		if !c.full() && !slices.Contains(c.out, f) {
			c.out = append(c.out, f)
		}
	}
}
