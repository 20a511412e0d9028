package content

import (
	"strings"
)

// An envelope goes through what begins with "*** Begin Patch".
type envelope struct {
	seen  bool
	files []*patched
	rest  patched
	at    *patched // nil: outside of the files
	odd   bool
}

func (r *envelope) line(l patchLine) {
	t := l.text
	if r.at == nil {
		t = strings.TrimSpace(t)
	}
	if strings.HasPrefix(t, "*** ") {
		r.rest.put(l.text, l, true)
		r.header(t[4:])
		return
	}
	if r.at == nil {
		r.rest.put(l.text, l, true)
		return
	}
	switch t = l.text; {
	case t == "":
		r.at.put("", l, false)
	case t[0] == '+':
		r.at.put(t[1:], l, true)
	case t[0] == '-' || strings.HasPrefix(t, "@@") || t[0] == '\\':
		r.at.cut = true
	case t[0] == ' ':
		r.at.put(t[1:], l, false)
	default:
		r.odd = true
		r.at.put(t, l, r.at.whole || !r.seen)
	}
}

func (r *envelope) header(l string) {
	for _, h := range []string{"Add File:", "Update File:", "Delete File:", "Move to:", "Rename to:"} {
		p, ok := strings.CutPrefix(l, h)
		switch {
		case !ok:
		case strings.HasSuffix(h, " to:"):
			if r.at != nil {
				r.at.by, r.at.moved = [headers][]string{headerNames(p)}, true
			}
		default:
			r.at = &patched{by: [headers][]string{headerNames(p)}, whole: h == "Add File:", cut: h == "Delete File:"}
			r.files = append(r.files, r.at)
		}
	}
	if strings.HasPrefix(l, "End Patch") {
		r.at = nil
	}
}

// A contextual goes through context diffs.
type contextual struct {
	files []*patched
	rest  patched
	at    *patched
	hunk  bool // one has begun
	old   bool // on its old side
	new   bool // on its new side
}

func (r *contextual) line(l patchLine) {
	t := l.text
	switch {
	case strings.HasPrefix(t, "********"):
		r.hunk, r.old, r.new = r.at != nil, false, false
		return
	case r.hunk && sideRange(t, "*** ", "****"):
		r.old, r.new = true, false
		return
	case r.hunk && sideRange(t, "--- ", "----"):
		r.old, r.new = false, true
		return
	case strings.HasPrefix(t, "*** "):
		r.at, r.hunk, r.old, r.new = &patched{whole: strings.HasPrefix(t, "*** /dev/null")}, false, false, false
		r.files = append(r.files, r.at)
		r.at.by[ofOld] = headerNames(t[4:])
	case strings.HasPrefix(t, "--- ") && r.at != nil && !r.hunk:
		r.at.by[ofNew] = headerNames(t[4:])
	case r.new && len(t) > 0:
		if r.side(l) {
			return
		}
	case r.old && len(t) > 0 && strings.IndexByte(" !-\\", t[0]) >= 0:
		r.at.cut = true
		return
	}
	r.rest.put(t, l, true)
}

// side reads a line of the new side; false where it is none.
func (r *contextual) side(l patchLine) bool {
	text := strings.TrimPrefix(l.text[1:], " ")
	switch l.text[0] {
	case '+', '!':
		r.at.put(text, l, true)
	case ' ':
		r.at.put(text, l, false)
	case '\\':
	default:
		r.new, r.hunk = false, false
		return false
	}
	return true
}

// sideRange tells whether a line begins a side of a hunk: "*** 1,3 ****".
func sideRange(t, before, behind string) bool {
	n, ok := strings.CutPrefix(t, before)
	n, end, _ := strings.Cut(n, " ")
	return ok && n != "" && strings.Trim(n, "0123456789,") == "" && (end == "" || strings.HasPrefix(end, behind))
}

// A bare goes through diffs without headers of their own, which stand behind a line
// "Index: PATH": normal ones, and scripts of ed.
type bare struct {
	seen  bool
	files []*patched
	rest  patched
	at    *patched
	pairs bool // lines with < and > follow
	text  bool // the lines that ed adds follow
}

func (r *bare) line(l patchLine) {
	t := l.text
	switch {
	case r.text:
		if r.text = t != "."; r.text {
			r.at.put(t, l, true)
		}
		return
	case strings.HasPrefix(t, "Index:"):
		r.at, r.pairs = &patched{by: [headers][]string{headerNames(t[len("Index:"):])}}, false
		r.files = append(r.files, r.at)
	case r.pairs && (strings.HasPrefix(t, "> ") || t == ">"):
		r.at.put(strings.TrimPrefix(t[1:], " "), l, true)
		return
	case r.pairs && (strings.HasPrefix(t, "<") || t == "---" || strings.HasPrefix(t, "\\")):
		return
	default:
		if c, more := editCommand(t); c != 0 && (r.at != nil || !r.seen) {
			if r.at == nil {
				r.at = &patched{}
				r.files = append(r.files, r.at)
			}
			r.pairs, r.text, r.at.cut = more, !more && c != 'd', r.at.cut || c == 'd'
		} else {
			r.pairs = false
		}
	}
	r.rest.put(t, l, true)
}

// editCommand is the command of a line as "3,4c5" or, without a number behind, "3,4c";
// 0: it has none.
func editCommand(t string) (c byte, pairs bool) {
	rest := strings.TrimLeft(t, "0123456789,")
	if len(t) > 40 || len(rest) == len(t) || rest == "" || t[0] == ',' || strings.IndexByte("acdi", rest[0]) < 0 {
		return 0, false
	}
	if strings.Trim(rest[1:], "0123456789,") != "" {
		return 0, false
	}
	return rest[0], len(rest) > 1
}
