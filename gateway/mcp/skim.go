package mcp

import "github.com/go-json-experiment/json/jsontext"

// Skimmed is what was read in passing of a text that was too long to keep. The id
// is the one of the outermost object, wherever in it that stands; empty if there
// is none, or more than one.
type Skimmed struct {
	Bytes int64
	Shape Shape
	ID    ID
}

// A skim reads, in pieces and with a few bytes of memory, which id and shape a
// frame has that is too long to keep, or no valid JSON. The id may stand at the
// end: widespread servers write it there.
type skim struct {
	n        int64
	depth    int
	inString bool
	escaped  bool
	naming   bool // at depth 1: what comes next is a name
	keep     bool // of what passes, text keeps a copy
	over     bool // that was too long to keep
	array    bool // the outermost value is no object
	text     []byte
	key      string
	ids      int
	id       ID
	method   bool
	result   bool
	failure  bool
}

func (s *skim) feed(b []byte) {
	s.n += int64(len(b))
	for _, c := range b {
		if s.inString {
			s.inText(c)
			continue
		}
		switch c {
		case '"':
			s.inString = true
			if s.depth == 1 && s.naming {
				s.begin()
			}
			s.store(c)
		case '{', '[':
			s.open(c)
		case '}', ']':
			if s.depth == 1 {
				s.end()
			}
			s.depth--
			s.store(c)
		case ',', ':':
			if s.depth == 1 {
				s.mark(c)
			} else {
				s.store(c)
			}
		case ' ', '\t', '\n', '\r':
		default:
			s.store(c)
		}
	}
}

// inText takes a byte within a string.
func (s *skim) inText(c byte) {
	s.store(c)
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inString = false
	}
}

func (s *skim) open(c byte) {
	if s.depth == 0 {
		s.naming = true
		s.array = s.array || c == '[' || s.key != ""
	} else {
		s.store(c)
	}
	s.depth++
}

// mark takes a comma or colon between members of the outermost object.
func (s *skim) mark(c byte) {
	if c == ',' {
		s.end()
		s.naming = true
		return
	}
	if !s.naming {
		return
	}
	s.naming = false
	s.key = unquote(s.text)
	if s.over {
		s.key = "?"
	}
	s.keep = false
	if s.key == "id" {
		s.begin()
	}
}

// end takes the end of a member's value.
func (s *skim) end() {
	if s.naming {
		return
	}
	switch s.key {
	case "id":
		s.ids++
		if v := jsontext.Value(s.text); !s.over && len(v) > 0 && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9') && v.IsValid() {
			s.id = ID(v)
		}
	case "method":
		s.method = true
	case "result":
		s.result = true
	case "error":
		s.failure = true
	}
	s.keep = false
}

func (s *skim) begin() {
	s.text, s.keep, s.over = s.text[:0], true, false
}

func (s *skim) store(c byte) {
	switch {
	case !s.keep:
	case len(s.text) >= maxID:
		s.over = true
	default:
		s.text = append(s.text, c)
	}
}

// seen is what was read so far.
func (s *skim) seen() *Skimmed {
	out := &Skimmed{Bytes: s.n}
	if s.array {
		return out
	}
	if s.ids == 1 {
		out.ID = s.id
	}
	// A member that the text broke off in counts as well, but for an id.
	open := ""
	if s.depth > 0 && !s.naming {
		open = s.key
	}
	switch {
	case s.method && out.ID != "":
		out.Shape = Request
	case s.method:
		out.Shape = Notification
	case s.result || open == "result":
		out.Shape = Result
	case s.failure || open == "error":
		out.Shape = Failure
	}
	return out
}
