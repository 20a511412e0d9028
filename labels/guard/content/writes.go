package content

import (
	"strconv"
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// Writes is everything that the arguments of a call would put somewhere: a text beside
// a path in one object, or below one, in arrays and in JSON inside of strings; a text
// under the name of a path in an object of files; texts and paths in two arrays of one
// length. A member of an unknown name beside a path is content too, if it reads like a
// file (Loose). Texts without a path are held against known forms of secrets alone,
// but for patches, which name their paths themselves and are known by their text; so
// are names of members.
func Writes(root args.Value) []Write { return (&Judge{}).writes(root) }

func (j *Judge) writes(root args.Value) []Write {
	g := gather{j: j}
	g.object(root, nil)
	return append(g.out, g.names...)
}

// A gather collects writes.
type gather struct {
	j     *Judge
	out   []Write
	names []Write // names of members that may hold a credential
}

// least is the shortest text that can hold a credential.
const least = 16

func (g *gather) object(v args.Value, up *scope) {
	s := g.scope(v, up)
	g.bits(v, s, up)
	s.paired = g.pairs(v)
	for x := v.First(); x.Kind() != 0; x = x.Next() {
		g.name(x)
		g.member(x, roleOf(x.Name()), s)
	}
}

// bits records modes, links and moves.
func (g *gather) bits(v args.Value, s, up *scope) {
	move := s.from && !s.new && !s.place
	if s.exec.Kind() == 0 && s.mode.Kind() == 0 && !move && !moves[strings.ToLower(s.action)] {
		return
	}
	at := s.exec
	if at.Kind() == 0 {
		at = s.mode
	}
	w := Write{Executable: s.exec.Kind() != 0, Action: s.action, Mode: modeOf(s.mode), value: at}
	if at.Kind() == 0 {
		w.value = v
	}
	if move {
		w.Action = "move"
	}
	if len(s.paths) == 0 {
		if up == nil && !w.Executable && w.Action != "chmod" {
			return // a mode of something else
		}
		g.out = append(g.out, w)
	}
	for _, p := range s.places() {
		w.Path = p.path
		if at.Kind() == 0 {
			w.value = p.value
		}
		g.out = append(g.out, w)
	}
}

// octal are modes that are written as numbers of ten and meant as octal ones.
var octal = map[string]bool{"644": true, "600": true, "640": true, "664": true, "666": true, "755": true, "700": true, "775": true, "777": true, "750": true, "100644": true, "100755": true, "120000": true, "160000": true}

// modeOf is a mode in octal digits or in signs.
func modeOf(v args.Value) string {
	if v.Kind() != '0' {
		return v.Text()
	}
	if n, ok := v.Int64(); ok && !octal[string(v.Number())] && n >= 0 {
		return strconv.FormatInt(n, 8)
	}
	return string(v.Number())
}

// member judges what one member holds.
func (g *gather) member(x args.Value, r role, s *scope) {
	switch x.Kind() {
	case '"':
		g.text(x, r, s)
	case '{':
		if r == textName && len(s.paths) > 0 { // a server writes it as JSON
			g.put(Write{Content: string(x.Raw()), value: x}, s)
		}
		if r == mapName || len(s.paths) == 0 && g.byPath(x) {
			g.files(x, s)
			return
		}
		g.object(x, s)
	case '[':
		g.patchLines(x, r, s)
		if x == s.paired {
			return
		}
		if (r == textName || r == partName) && lines(x) {
			g.put(Write{Content: joined(x), Part: r == partName, value: x}, s)
			return
		}
		if r == textName && len(s.paths) > 0 && x.First().Kind() != '"' {
			g.put(Write{Content: string(x.Raw()), value: x}, s)
			r = other
		}
		if r == mapName {
			r = other // the objects of a list say their paths themselves
		}
		s = g.words(x, s)
		for e := x.First(); e.Kind() != 0; e = e.Next() {
			g.member(e, r, s)
		}
	}
}

// words is the scope of the words of a command, one of which says where to.
func (g *gather) words(x args.Value, s *scope) *scope {
	in := *s
	for e := x.First(); e.Kind() != 0; e = e.Next() {
		if t := e.Text(); x.Len() > 1 && fileName(t) && g.j.kindOf(fold(t)) != plain {
			in.paths, in.words = nil, true
			in.path(e)
		}
	}
	return &in
}

// lines tells whether an array holds the lines of a text.
func lines(x args.Value) bool {
	for e := x.First(); e.Kind() != 0; e = e.Next() {
		if e.Kind() != '"' {
			return false
		}
	}
	return x.Len() > 1
}

func joined(x args.Value) string {
	var b strings.Builder
	for e := x.First(); e.Kind() != 0; e = e.Next() {
		b.WriteString(strings.TrimSuffix(e.Text(), "\n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// put records a text for every path that it may go to.
func (g *gather) put(w Write, s *scope) {
	if w.Encoding == "" && !w.Loose {
		w.Encoding = s.encoding
	}
	if len(s.paths) == 0 {
		w.Loose = !w.Patch
		g.out = append(g.out, w)
		return
	}
	for _, p := range s.places() {
		if p.value == w.value {
			continue // the path itself
		}
		w.Path, w.among = p.path, s.words
		g.out = append(g.out, w)
	}
}

// text records one text as its name and its neighbours say.
func (g *gather) text(x args.Value, r role, s *scope) {
	t := x.Text()
	if len(t) == 0 {
		return
	}
	w := Write{Content: t, value: x}
	switch r {
	case textName:
		if s.place && strings.EqualFold(x.Name(), "body") {
			r = proseName
		}
	case partName:
		w.Part = true
	case patchName:
		w.Patch = true
	case base64Name:
		w.Encoding = "base64"
		if x.Text() == "true" || x.Text() == "false" {
			return
		}
	case oldName:
		if s.new {
			return // it goes away
		}
	}
	g.patch(x, t, r, s)
	in, document := x.Inner()
	switch {
	case (r == textName || r == partName || r == patchName || r == base64Name) && (len(s.paths) > 0 || r == patchName):
		g.put(w, s)
		if r != patchName || in.Kind() == 0 {
			return
		}
	case r == proseName || len(s.paths) == 0 || len(t) < 4:
		if len(t) >= least {
			g.out = append(g.out, Write{Content: t, Loose: true, value: x})
		}
	default:
		w.Loose, w.Part = true, w.Part || r == oldName
		isPath := r == pathName || r == weakName || r == fromName
		if !isPath || strings.Contains(t, "\n") {
			g.put(w, s)
		} else if len(t) >= least {
			g.out = append(g.out, Write{Content: t, Loose: true, value: x})
		}
	}
	if document {
		g.member(in, r, s)
	}
}

// pathSigns are what a name has that may be a path.
const pathSigns = "./%\uff0e\uff0f\u2024"

// byPath tells whether an object has files under their paths: its names read like files.
func (g *gather) byPath(x args.Value) bool {
	n := 0
	for e := x.First(); e.Kind() != 0; e = e.Next() {
		if (e.Kind() == '"' || e.Kind() == '{') && strings.ContainsAny(e.Name(), pathSigns) && g.j.kindOf(fold(e.Name())) != plain {
			n++
		}
	}
	return n > 0
}

// files records the files of an object that has them under their paths.
func (g *gather) files(x args.Value, s *scope) {
	for e := x.First(); e.Kind() != 0; e = e.Next() {
		g.name(e)
		switch name := e.Name(); {
		case e.Kind() == '"' && strings.ContainsAny(name, pathSigns):
			g.out = append(g.out, Write{Path: name, Content: e.Text(), Encoding: s.encoding, value: e})
		case e.Kind() == '{' && strings.ContainsAny(name, pathSigns):
			from := len(g.out)
			g.object(e, &scope{j: g.j, encoding: s.encoding})
			for i := range g.out[from:] {
				if w := &g.out[from+i]; w.Path == "" {
					w.Path = name
					w.Loose = w.Loose && roleOf(w.value.Name()) != textName
				}
			}
		default:
			g.member(e, roleOf(name), s)
		}
	}
}

// pairs records texts whose paths stand in another array of the same length, and is the
// array of the texts.
func (g *gather) pairs(v args.Value) (texts args.Value) {
	var paths, contents args.Value
	for x := v.First(); x.Kind() != 0; x = x.Next() {
		if x.Kind() != '[' || !lines(x) && x.Len() != 1 {
			continue
		}
		switch roleOf(x.Name()) {
		case pathName, mapName:
			paths = x
		case textName:
			contents = x
		}
	}
	if paths.Kind() == 0 || contents.Kind() == 0 || paths.Len() != contents.Len() {
		return args.Value{}
	}
	for p, t := paths.First(), contents.First(); p.Kind() != 0; p, t = p.Next(), t.Next() {
		if p.Kind() == '"' && t.Kind() == '"' {
			g.out = append(g.out, Write{Path: p.Text(), Content: t.Text(), value: t})
		}
	}
	return contents
}
