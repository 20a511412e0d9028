package mcp

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/marks"
)

// Without is a value without the members, of objects at any depth, for whose names
// drop says so. All other bytes stay; where nothing goes, the value itself comes
// back. It reads each byte once and keeps a few bytes for each level: who nests deep
// or names much costs no more than who writes as much text.
func Without(v jsontext.Value, drop func(name string) bool) jsontext.Value {
	d := dropper{b: v, drop: drop}
	for i := marks.Space(v, 0); i < len(v); {
		switch v[i] {
		case '"':
			i = marks.String(v, i)
		case '{':
			d.levels = append(d.levels, level{object: true})
			i = d.members(i+1, i+1)
		case '[':
			d.levels = append(d.levels, level{})
			i++
		case '}', ']':
			if len(d.levels) > 0 {
				d.levels = d.levels[:len(d.levels)-1]
			}
			i++
		case ',':
			if d.inObject() {
				i = d.members(i, i+1)
			} else {
				i++
			}
		default:
			i++
		}
	}
	if d.out == nil {
		return v
	}
	return append(d.out, v[d.from:]...)
}

// A level is an array or object that is open.
type level struct {
	object bool
	some   bool // a member of it stays
}

type dropper struct {
	b      []byte
	drop   func(name string) bool
	levels []level
	out    []byte // nil: nothing went yet
	from   int    // what comes from here on is not in out yet
}

func (d *dropper) inObject() bool {
	return len(d.levels) > 0 && d.levels[len(d.levels)-1].object
}

// members leaves out members until one stays, and is the index behind its name, or of
// what ends the object. The first one's name is looked for at i; cut is where what
// goes begins: at the comma before it where there is one.
func (d *dropper) members(cut, i int) int {
	top := &d.levels[len(d.levels)-1]
	for {
		name := marks.Space(d.b, i)
		if name >= len(d.b) || d.b[name] != '"' {
			return name
		}
		end := marks.String(d.b, name)
		if !d.drop(unquote(d.b[name:end])) {
			top.some = true
			return end
		}
		if end = marks.Space(d.b, end); end < len(d.b) && d.b[end] == ':' {
			end = marks.Space(d.b, end+1)
		}
		end = marks.Space(d.b, skipValue(d.b, end))
		more := end < len(d.b) && d.b[end] == ','
		i = end
		if more {
			i++
		}
		d.leave(cut, end)
		if !top.some && more { // no comma before it: the one behind it goes
			d.from = i
		}
		if !more {
			return end
		}
		cut = end
		if !top.some {
			cut = i
		}
	}
}

// leave leaves out what stands between two places.
func (d *dropper) leave(from, to int) {
	if d.out == nil {
		d.out = make([]byte, 0, len(d.b))
	}
	if from > d.from {
		d.out = append(d.out, d.b[d.from:from]...)
	}
	d.from = to
}
