package path

import "strings"

// A place is a folder, or exactly one file, that is allowed.
type place struct {
	absolute bool
	file     bool
	segs     []string // without "" and "."
	text     string   // segs joined plainly: what most texts begin with
}

// newPlace takes a folder or file as an operator writes it.
func (r *Rule) newPlace(text string, file bool) (place, error) {
	p := place{file: file}
	if text == "" && !file {
		text = "."
	}
	hygiene := Rule{made: true, windows: r.windows, fold: r.fold}
	f := scan(text)
	if text == "" || text[0] == '~' || f&(percent|quote|cut) != 0 || strings.ContainsAny(text, "*{}") || compatible(text) != text || hygiene.Check(text, nil) != "" {
		return p, ErrRoot
	}
	if p.absolute = r.isAbsolute(text); !p.absolute && hosted(r.cleaned(text)) {
		return p, ErrRoot
	}
	p.segs = r.split(text)
	if file && (len(p.segs) == 0 || r.endsAsFolder(text)) {
		return p, ErrRoot
	}
	p.text = strings.Join(p.segs, "/")
	if p.absolute && !r.windows {
		p.text = "/" + p.text
	}
	return p, nil
}

// isAbsolute tells whether a text that begins well begins at the root of a machine.
func (r *Rule) isAbsolute(text string) bool {
	if r.windows {
		return len(text) > 2 && text[1] == ':' && r.separates(text[2])
	}
	return text[0] == '/'
}

func (r *Rule) split(text string) (segs []string) {
	for s := ""; text != ""; {
		if s, text = r.next(text); s != "" {
			segs = append(segs, s)
		}
	}
	return segs
}

// next is the first segment of a text that is not empty or ".", and what follows it.
func (r *Rule) next(text string) (seg, rest string) {
	for text != "" {
		i := 0
		for i < len(text) && !r.separates(text[i]) {
			i++
		}
		seg, rest = text[:i], text[min(i+1, len(text)):]
		if seg != "" && seg != "." {
			return seg, rest
		}
		text = rest
	}
	return "", ""
}

// endsAsFolder tells whether a text ends in a slash or in "/.".
func (r *Rule) endsAsFolder(text string) bool {
	n := len(text)
	return r.separates(text[n-1]) || text[n-1] == '.' && (n == 1 || r.separates(text[n-2]))
}

// place judges where a text lies that has one reading.
func (r *Rule) place(text string, files Files) string {
	abs := r.isAbsolute(text)
	if !abs && hosted(r.cleaned(text)) {
		return WhyURL
	}
	folder := false
	for i := range r.places {
		p := &r.places[i]
		if p.absolute != abs || !r.holds(p, text) {
			continue
		}
		if p.file && r.endsAsFolder(text) {
			folder = true
			continue
		}
		return r.follow(text, abs, files)
	}
	switch {
	case folder:
		return WhyFolder
	case abs && !r.absolute:
		return WhyAbsolute
	case !abs && !r.relative:
		return WhyRelative
	}
	return r.elsewhere(text, abs, files)
}

// holds tells whether a text is the place or lies in it.
func (r *Rule) holds(p *place, text string) bool {
	if n := len(p.text); n > 0 && len(text) >= n && text[:n] == p.text && (len(text) == n || text[n] == '/' && !p.file) {
		return true
	}
	return r.below(p.segs, p.file, text, r.fold)
}

// below compares segment by segment: "share-secret" is not in "share".
func (r *Rule) below(segs []string, file bool, text string, fold bool) bool {
	seg := ""
	for _, want := range segs {
		seg, text = r.next(text)
		if seg != want && !(fold && equalFold(seg, want)) {
			return false
		}
	}
	if !file {
		return true
	}
	seg, _ = r.next(text)
	return seg == ""
}

// elsewhere judges a text that lies in no place by its letters: whether it surely lies
// in none.
func (r *Rule) elsewhere(text string, abs bool, files Files) string {
	if r.absolute && r.relative {
		return WhyUntold
	}
	other := loose(text)
	for i := range r.places {
		p := &r.places[i]
		if p.absolute == abs && r.below(r.split(loose(p.text)), p.file, other, true) {
			return WhyOtherForm
		}
	}
	if files == nil {
		return WhyOutside
	}
	switch r.follow(text, abs, files) {
	case "":
		return WhyLink
	case WhyUntold:
		return WhyUntold
	}
	return WhyOutside
}

// follow judges where a text's links lead.
func (r *Rule) follow(text string, abs bool, files Files) string {
	if files == nil {
		return ""
	}
	to, ok := files.Resolve(text)
	if !ok {
		return WhyUntold
	}
	base := ""
	if !abs {
		if base, ok = files.Resolve("."); !ok {
			return WhyUntold
		}
	}
	for i := range r.places {
		p := &r.places[i]
		if p.absolute != abs {
			continue
		}
		root, ok := r.resolve(p, base, files)
		if ok && r.below(r.split(root), p.file, to, r.fold) {
			return ""
		}
	}
	return WhyLink
}

// resolve is where a place really is. A relative one must not lead out of the base by
// a link, or whoever can make links there could move it; and a file is where its
// folder is, since a link in its stead is another file.
func (r *Rule) resolve(p *place, base string, files Files) (string, bool) {
	if !p.absolute {
		plain := strings.TrimSuffix(base, "/") + "/" + p.text
		if p.file {
			return plain, true
		}
		root, ok := files.Resolve(r.local(p.text))
		return root, ok && r.below(r.split(base), false, root, r.fold)
	}
	if !p.file {
		return files.Resolve(p.text)
	}
	last := p.segs[len(p.segs)-1]
	dir := strings.TrimSuffix(p.text, last)
	folder, ok := files.Resolve(dir)
	return strings.TrimSuffix(folder, "/") + "/" + last, ok
}

// local is the text of a relative place as Resolve takes it.
func (r *Rule) local(text string) string {
	if text == "" {
		return "."
	}
	return text
}
