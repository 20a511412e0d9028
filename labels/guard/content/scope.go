package content

import (
	"strings"

	"github.com/pratique-dev/pratique/labels/args"
)

// A scope is what the members of one object say together.
type scope struct {
	j        *Judge
	paths    []args.Value // of different kinds
	dirs     []string     // that they may be in
	names    []args.Value // that are paths only if a folder makes them one
	from     bool         // it says where from
	new      bool         // a text or a part of one
	place    bool         // it is about a place in a file, or a discussion
	topic    bool         // it has a title
	encoding string
	exec     args.Value
	mode     args.Value
	action   string
	paired   args.Value // an array of texts, each with a path of its own
	words    bool       // paths are among words that may be those of a command
}

// scope reads what an object says of itself; where it names no path, the one around
// holds.
func (g *gather) scope(v args.Value, up *scope) *scope {
	s := &scope{j: g.j}
	for x := v.First(); x.Kind() != 0; x = x.Next() {
		s.member(x, roleOf(x.Name()))
	}
	for _, n := range s.names {
		for _, d := range s.dirs {
			if s.j.kindOf(fold(d+"/"+n.Text())) != plain {
				s.paths = append(s.paths, n)
				break
			}
		}
	}
	if len(s.paths) == 0 && s.new && !s.place {
		s.below(v, 2)
	}
	if up != nil && len(s.dirs) == 0 {
		s.dirs = up.dirs
	}
	if len(s.paths) == 0 && up != nil {
		s.paths = up.paths
		if s.encoding == "" {
			s.encoding = up.encoding
		}
	}
	return s
}

func (s *scope) member(x args.Value, r role) {
	t := x.Text()
	yes := x.Kind() == 't' || t == "true" || t == "1"
	switch r {
	case pathName:
		s.path(x)
		for e := x.First(); x.Kind() == '[' && e.Kind() != 0; e = e.Next() {
			s.path(e)
		}
	case weakName, other:
		s.topic = s.topic || topic(x.Name())
		s.perhapsName(x, t)
	case proseName: // a mail has a title too
		s.topic = s.topic || topic(x.Name())
	case fromName:
		s.from = s.from || t != ""
	case textName, partName, patchName:
		s.new = true
		if len(t) < 128 && fileName(t) && s.j.weakKind(t) != plain {
			s.path(x)
		}
	case placeName:
		s.place = true
	case dirName:
		if fileName(t) && len(s.dirs) < mostDirs {
			s.dirs = append(s.dirs, t)
		}
	case encodingName:
		if !strings.Contains(strings.ToLower(x.Name()), "format") || strings.Contains(t, "64") {
			s.encoding = t
		}
	case base64Name:
		if yes {
			s.encoding = "base64"
		}
		s.new = s.new || len(t) >= least
	case execName:
		if yes {
			s.exec = x
		}
	case modeName:
		s.mode = x
	case actionName:
		s.action = t
	}
}

// perhapsName takes a member that may say where something is written.
func (s *scope) perhapsName(x args.Value, t string) {
	switch {
	case !fileName(t):
	case s.j.weakKind(t) != plain:
		s.path(x)
	case len(s.names) < mostNames:
		s.names = append(s.names, x)
	}
}

// mostDirs is how many folders of one object are put before its paths, and mostNames
// before what may be one.
const (
	mostDirs  = 4
	mostNames = 16
)

// places are all that a path may stand for: itself, and what it is in a folder that is
// named beside it. Those that nothing reads are left out, but for one.
func (s *scope) places() []place {
	var out []place
	for _, p := range s.paths {
		t := p.Text()
		out = append(out, place{t, p})
		for _, d := range s.dirs {
			if in := d + "/" + t; s.j.kindOf(fold(in)) != s.j.kindOf(fold(t)) {
				out = append(out, place{in, p})
			}
		}
	}
	return out
}

type place struct {
	path  string
	value args.Value
}

// fileName tells whether a text could be the name of a file, and nothing else.
func fileName(t string) bool {
	return t != "" && len(t) < 1024 && !strings.ContainsAny(strings.Trim(t, "\""), "\n{}()\"")
}

// below looks for the path of a text in the objects beside it.
func (s *scope) below(v args.Value, depth int) {
	for x := v.First(); x.Kind() != 0; x = x.Next() {
		if x.Kind() != '{' {
			continue
		}
		for y := x.First(); y.Kind() != 0; y = y.Next() {
			if roleOf(y.Name()) == pathName {
				s.path(y)
			}
		}
		if depth > 1 {
			s.below(x, depth-1)
		}
	}
}

// path records a path if no other has the same readers.
func (s *scope) path(x args.Value) {
	t := x.Text()
	if t == "" || len(t) >= 4096 || strings.Contains(t, "\n") {
		return
	}
	k := s.j.kindOf(fold(t))
	for _, p := range s.paths {
		if s.j.kindOf(fold(p.Text())) == k {
			return
		}
	}
	s.paths = append(s.paths, x)
}
