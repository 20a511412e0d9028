package content

import (
	"slices"
	"strings"
)

// Characters that end a line for some readers, beside \n and \r\n. Each set has those of
// the ones before it. What none of them ends, no reader ends elsewhere.
const (
	endsCR     = iota + 1 // \r alone: programs that open a file as text, INI files, Groovy, properties
	endsYAML              // and U+0085, U+2028, U+2029: YAML, as libyaml reads it, and JavaScript
	endsPython            // and \v, \f, \x1c to \x1e: lists of requirements and whatever Python splits
)

// byteEnds are the kinds of files whose readers are known to end lines at \n alone, and
// at \r where their program opens the file as text. The other characters stand in texts
// there.
var byteEnds = []kind{npmManifest, npmLock, composerManifest, composerLock, pipfileLock, pyproject, pipfile, cargoManifest, tomlLock, goMod, goWork, goSum, gemfile, gemfileLock}

// mayEnd are the bytes that such a character begins with.
var mayEnd = func() (t [256]bool) {
	for _, c := range []byte("\r\v\f\x1c\x1d\x1e\u0085\u2028") {
		t[c] = c < 0x80 || c >= 0xc0
	}
	return t
}()

// otherEnd is how long the character at i is, if it ends a line in a set; 0: it does not.
func otherEnd(t string, i, set int) int {
	switch c := t[i]; {
	case c == '\r':
		if i+1 == len(t) || t[i+1] != '\n' {
			return 1
		}
	case c == 0xc2:
		if set >= endsYAML && i+1 < len(t) && t[i+1] == 0x85 {
			return 2
		}
	case c == 0xe2:
		if set >= endsYAML && i+2 < len(t) && t[i+1] == 0x80 && t[i+2]&^1 == 0xa8 {
			return 3
		}
	case set >= endsPython:
		return 1
	}
	return 0
}

// ended is a text whose lines end at \n wherever they do for the readers of a set, and
// where it is another one than before what stands in it comes from.
func ended(t string, set int) (string, []mark) {
	var b []byte
	var marks []mark
	last := 0
	for i := 0; i < len(t); i++ {
		if !mayEnd[t[i]] {
			continue
		}
		n := otherEnd(t, i, set)
		if n == 0 {
			continue
		}
		if b == nil {
			b = make([]byte, 0, len(t))
		}
		b = append(append(b, t[last:i]...), '\n')
		if last = i + n; n > 1 {
			marks = append(marks, mark{len(b), last})
		}
		i = last - 1
	}
	if b == nil {
		return t, nil
	}
	return string(append(b, t[last:]...)), marks
}

// ends judges the text once more for the readers that end its lines elsewhere. Most texts
// have no such readers.
func (c *check) ends() {
	most := endsPython
	if slices.Contains(byteEnds, c.kind) {
		most = endsCR
	}
	before := c.text
	for set := endsCR; set <= most && !c.full(); set++ {
		t, marks := ended(c.text, set)
		if t == before {
			continue
		}
		before = t
		again := &check{j: c.j, w: c.w, kind: c.kind, name: c.name, text: t, source: c.text, marks: marks, live: c.live, out: c.out}
		again.judged()
		c.out = again.out
	}
}

// place is where in the text that is written an offset comes from.
func (c *check) place(at int) int {
	if c.marks == nil {
		return at
	}
	return mapped(c.marks, func(i int) int { return i })(at)
}

// lineAt is the line, from 1, of an offset of the text that is written. It counts on from
// where it was asked before.
func (c *check) lineAt(at int) int {
	t := c.text
	if c.source != "" {
		t = c.source
	}
	if at = min(at, len(t)); at < c.counted.at {
		c.counted.at, c.counted.lines = 0, 0
	}
	c.counted.lines += strings.Count(t[c.counted.at:at], "\n")
	c.counted.at = at
	return 1 + c.counted.lines
}
