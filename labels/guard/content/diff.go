package content

import (
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
	path  string // empty: the patch names none
	text  strings.Builder
	lines []line
	whole bool   // it is a new file, and all of it is here
	mode  string // that it gets
	moved bool
}

func (p *patched) put(s string, number, offset int, added bool) {
	p.lines = append(p.lines, line{number, offset, p.text.Len(), added})
	p.text.WriteString(s)
	p.text.WriteByte('\n')
}

// A patchReader goes through a patch line by line: unified diffs, with or without the
// headers of Git, and the envelope that begins with "*** Begin Patch".
type patchReader struct {
	files    []*patched
	at       *patched
	in       bool // a hunk or a file of an envelope
	old, new int  // lines that the hunk still has; envelopes have no counts
	envelope bool
	odd      bool // something in it has no place in a patch
}

// readPatch is what a patch writes; nil where the text is none. odd: lines in it were
// left over.
func readPatch(s string) (files []*patched, odd bool) {
	r := &patchReader{}
	number := 0
	for offset := 0; offset < len(s); {
		l, _, _ := strings.Cut(s[offset:], "\n")
		number++
		r.line(strings.TrimSuffix(l, "\r"), number, offset)
		offset += len(l) + 1
	}
	return r.files, r.odd
}

func (r *patchReader) open(path string) {
	r.at = &patched{path: path}
	r.files = append(r.files, r.at)
}

func (r *patchReader) line(l string, number, offset int) {
	if r.in && !r.envelope {
		if r.old <= 0 && r.new <= 0 {
			r.in = strings.HasPrefix(l, "\\")
		}
		if r.in {
			r.body(l, number, offset)
			return
		}
	}
	switch {
	case strings.HasPrefix(l, "*** "):
		r.enveloped(l[4:])
	case r.in:
		r.body(l, number, offset)
	case strings.HasPrefix(l, "diff --git "):
		r.open(gitPath(l[len("diff --git "):]))
	case strings.HasPrefix(l, "--- "):
		if r.at == nil || r.at.lines != nil || r.at.whole {
			r.open("")
		}
		r.at.whole = strings.HasPrefix(l, "--- /dev/null")
	case strings.HasPrefix(l, "+++ ") && r.at != nil:
		if p := headerPath(l[4:]); p != "" {
			r.at.path = p
		}
	case strings.HasPrefix(l, "@@ "):
		r.hunk(l)
	case r.at != nil:
		r.header(l)
	}
}

func (r *patchReader) header(l string) {
	for _, p := range []string{"new file mode ", "new mode "} {
		if m, ok := strings.CutPrefix(l, p); ok {
			r.at.mode = m
		}
	}
	for _, p := range []string{"rename to ", "copy to "} {
		if m, ok := strings.CutPrefix(l, p); ok {
			r.at.path, r.at.moved = m, true
		}
	}
	// A line of a hunk behind its end is counted otherwise by whoever applies it.
	if strings.HasPrefix(l, "GIT binary patch") || l != "" && strings.IndexByte("+ ", l[0]) >= 0 || l[:min(1, len(l))] == "-" && !strings.HasPrefix(l, "-- ") && l != "--" {
		r.odd = true
	}
}

// hunk reads "@@ -1,2 +3,4 @@"; a number that is left out is 1.
func (r *patchReader) hunk(l string) {
	if r.at == nil {
		r.open("")
	}
	f := strings.Fields(l)
	if len(f) < 4 || f[1][0] != '-' || f[2][0] != '+' {
		r.odd = true
		return
	}
	r.old, r.new, r.in = span(f[1]), span(f[2]), true
}

func span(s string) int {
	_, n, ok := strings.Cut(s, ",")
	if !ok {
		return 1
	}
	v := 0
	for i := 0; i < len(n) && n[i] >= '0' && n[i] <= '9' && v < 1<<24; i++ {
		v = v*10 + int(n[i]-'0')
	}
	return v
}

func (r *patchReader) body(l string, number, offset int) {
	if l == "" {
		l = " "
	}
	switch l[0] {
	case '+':
		r.new--
		r.at.put(l[1:], number, offset, true)
	case '-':
		r.old--
	case ' ':
		r.old--
		r.new--
		r.at.put(l[1:], number, offset, false)
	case '\\', '@':
	default: // not as a patch has it: whoever applies it may take it for context
		r.odd = true
		r.old--
		r.new--
		r.at.put(l, number, offset, true)
	}
}

func (r *patchReader) enveloped(l string) {
	r.envelope = true
	for _, h := range []struct {
		word  string
		whole bool
	}{{"Add File: ", true}, {"Update File: ", false}, {"Delete File: ", false}, {"Move to: ", false}} {
		p, ok := strings.CutPrefix(l, h.word)
		switch {
		case !ok:
		case h.word == "Move to: ":
			if r.at != nil {
				r.at.path, r.at.moved = p, true
			}
		default:
			r.open(p)
			r.at.whole, r.in = h.whole, true
		}
	}
}

// headerPath is the path behind "+++ ", without the letter of Git and a time behind.
func headerPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if s == "/dev/null" {
		return ""
	}
	s = strings.Trim(strings.TrimSpace(s), `"`)
	return strings.TrimPrefix(s, "b/")
}

// gitPath is the new path of "a/x b/x".
func gitPath(s string) string {
	if i := strings.LastIndex(s, " b/"); i >= 0 {
		return strings.Trim(s[i+3:], `"`)
	}
	return ""
}

// patch judges each file that a patch writes; false where the text is no patch, and so
// a part of a file.
func (c *check) patch() bool {
	files, odd := readPatch(c.text)
	if len(files) == 0 {
		c.w.Part = true
		return false
	}
	if odd {
		c.all(Unread, whyUnread)
	}
	for _, f := range files {
		w := Write{Path: c.w.Path, Content: f.text.String(), Mode: f.mode, Part: !f.whole}
		if f.path != "" {
			w.Path = f.path
		}
		if f.moved {
			w.Action = "move"
		}
		sub := &check{j: c.j, w: w, live: f.lines}
		if sub.live == nil {
			sub.live = []line{}
		}
		sub.write()
		if c.out = append(c.out, sub.out...); c.full() {
			break
		}
	}
	return true
}
