package content

import (
	"strings"
)

// A unified goes through unified diffs line by line, with or without the headers of
// Git.
type unified struct {
	seen   bool // the text was not given as a patch
	free   bool // hunks end at the next header, whatever they say of their length
	files  []*patched
	rest   patched
	at     *patched
	in     bool // a hunk
	old    int  // lines that it still has
	new    int
	odd    bool
	lies   bool // some hunk may have another length than it says
	indent int  // of a header that stands farther in; 0: none does

	before patchLine // the line before, for two headers in a free hunk
}

// indents are what patch takes for an indentation.
const indents = " \tX"

func (r *unified) open(git bool) {
	r.at = &patched{git: git}
	r.files = append(r.files, r.at)
}

func (r *unified) line(l patchLine) {
	r.step(l)
	r.before = l
}

func (r *unified) step(l patchLine) {
	if r.in {
		if r.free {
			r.in = !r.header(l)
		} else if r.old <= 0 && r.new <= 0 {
			r.in = strings.HasPrefix(l.text, "\\")
		} else if strings.HasPrefix(l.text, "@@") || strings.HasPrefix(l.text, "diff --git ") {
			r.lies = true
		}
		if r.in {
			r.body(l)
			return
		}
	}
	r.rest.put(l.text, l, true)
	switch t := l.text; {
	case strings.HasPrefix(t, "diff --git "):
		r.open(true)
		r.at.by[ofGit] = gitNames(t[len("diff --git "):])
	case strings.HasPrefix(t, "Index:"):
		r.open(false)
		r.at.by[ofIndex] = headerNames(t[len("Index:"):])
	case strings.HasPrefix(t, "--- "), strings.HasPrefix(t, "---\t"):
		r.from(t[4:])
	case strings.HasPrefix(t, "+++ "), strings.HasPrefix(t, "+++\t"):
		if r.at == nil || r.at.lines != nil {
			r.open(false)
		}
		r.at.by[ofNew] = headerNames(t[4:])
	case strings.HasPrefix(t, "@@"):
		r.hunk(t)
	case r.at != nil:
		r.extended(t)
	}
	r.indented(l.text)
}

// from reads the name of the old side: some take the file that is there for the one
// that is meant.
func (r *unified) from(name string) {
	if r.at == nil || r.at.lines != nil || r.at.whole {
		r.open(false)
	}
	r.at.whole = strings.HasPrefix(name, "/dev/null")
	if !r.at.git {
		r.at.by[ofOld] = headerNames(name)
	}
}

// indented remembers a header that stands farther in.
func (r *unified) indented(l string) {
	if r.indent > 0 || l == "" || strings.IndexByte(indents, l[0]) < 0 {
		return
	}
	if t := strings.TrimLeft(l, indents); strings.HasPrefix(t, "+++ ") || strings.HasPrefix(t, "*** ") || strings.HasPrefix(t, "diff --git ") || strings.HasPrefix(t, "Index:") {
		r.indent = len(l) - len(t)
	}
}

// header tells whether a line ends a hunk whose length is not known.
func (r *unified) header(l patchLine) bool {
	t := l.text
	return strings.HasPrefix(t, "@@") || strings.HasPrefix(t, "diff --git ") || strings.HasPrefix(t, "Index:") || strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") ||
		strings.HasPrefix(t, "+++ ") && strings.HasPrefix(r.before.text, "--- ")
}

// extended reads the headers of Git.
func (r *unified) extended(l string) {
	for _, p := range []string{"new file mode ", "new mode "} {
		if m, ok := strings.CutPrefix(l, p); ok {
			r.at.mode = strings.TrimSpace(m)
		}
	}
	for _, p := range []string{"rename to ", "copy to "} {
		if m, ok := strings.CutPrefix(l, p); ok {
			r.at.by, r.at.moved = [headers][]string{ofNew: headerNames(m), ofIndex: headerNames(m)}, true
		}
	}
	if strings.HasPrefix(l, "GIT binary patch") {
		r.odd, r.at.odd = true, true
	}
	// A line of a hunk behind its end is counted otherwise by whoever applies it.
	if l != "" && strings.IndexByte("+ ", l[0]) >= 0 || l[:min(1, len(l))] == "-" && !strings.HasPrefix(l, "-- ") && l != "--" {
		r.odd, r.lies = true, true
	}
}

// hunk reads "@@ -1,2 +3,4 @@"; a number that is left out is 1. Where there are none,
// the hunk goes on up to the next header.
func (r *unified) hunk(l string) {
	f := strings.Fields(l)
	counted := len(f) >= 4 && f[1][0] == '-' && f[2][0] == '+'
	if r.at == nil {
		if !counted {
			return
		}
		r.open(false)
	}
	if r.in = counted || r.free; counted {
		r.old, r.new = span(f[1]), span(f[2])
	} else {
		r.lies = true
	}
	if r.in && !r.free && r.old <= 0 && r.new <= 0 {
		r.lies = true
	}
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

func (r *unified) body(l patchLine) {
	t := l.text
	if t == "" {
		t = " "
	}
	switch t[0] {
	case '+':
		r.new--
		r.at.put(t[1:], l, true)
	case '-':
		r.at.cut = true
		r.old--
	case ' ':
		r.old--
		r.new--
		r.at.put(t[1:], l, false)
	case '\\', '@':
	default: // not as a patch has it: whoever applies it may take it for context
		r.odd = true
		r.old--
		r.new--
		r.at.put(t, l, !r.free && !r.seen)
	}
}
