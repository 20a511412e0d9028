package guard

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// toolKeys is what a file says of the names of one tool, squashed.
type toolKeys struct {
	more map[string]kind // what a name says besides
	less map[string]kind // what it says no longer
	none kind            // what no name says
	refs *nothing        // the tool has no destinations; nil: it may have
}

// nothing is said by an empty list.
type nothing struct{}

// What a file takes out of a name, by the part that it speaks of.
const (
	pathKeys = isPath | likePath
	refKeys  = isRef | isEither | isFlag | isCommand | isWords
	hostKeys = isHost | isURL | isURI | isTurn
)

// of is what a name says of which the tables say k.
func (t *toolKeys) of(name []byte, k kind) kind {
	k &^= t.none | t.less[string(name)]
	more := t.more[string(name)]
	if k&(isCommand|isWords) != 0 {
		more &^= isRef | isGiven // it is read as a command anyway
	}
	return k | more
}

// silent tells whether the file says that a name is nothing of kind k.
func (t *toolKeys) silent(name []byte, k kind) bool {
	return t != nil && (t.none|t.less[string(name)])&k != 0
}

// setKeys reads the names of each tool that a file speaks of. They count besides the
// default ones, so that a misspelt name opens nothing; one behind a "-" no longer
// counts. No name at all is a word too: that tool has no such argument.
func (s *Set) setKeys(what string, keys map[string]Words, part kind) error {
	if len(keys) > maxKeys {
		return fmt.Errorf("%w.%s.keys: more than %d tools", ErrConfig, what, maxKeys)
	}
	for _, tool := range slices.Sorted(maps.Keys(keys)) {
		if s.keys[tool] == nil {
			s.keys[tool] = &toolKeys{more: map[string]kind{}, less: map[string]kind{}}
		}
		if tool == "" || len(keys[tool]) > maxKeys || !s.keys[tool].read(keys[tool], part) {
			return fmt.Errorf("%w.%s.keys: tools with names of arguments, once each", ErrConfig, what)
		}
	}
	return nil
}

// read takes the names of one part; false where they are none.
func (t *toolKeys) read(words []Word, part kind) bool {
	if len(words) == 0 {
		if t.none |= part; part == refKeys {
			t.refs = new(nothing)
		}
	}
	seen := map[string]bool{}
	for _, w := range words {
		text, out := strings.CutPrefix(string(w), "-")
		name := string(squash(nil, text))
		if name == "" || text[0] == '/' || seen[name] {
			return false
		}
		seen[name] = true
		switch {
		case out:
			t.less[name] |= part
		case part == pathKeys:
			t.more[name] |= isPath
		case part == refKeys:
			t.more[name] |= isRef | isGiven
		default:
			t.more[name] |= isHost
		}
	}
	return true
}
