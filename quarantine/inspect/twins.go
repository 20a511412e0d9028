package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// Twin tells whether two names are different and look the same: by letters of
// other scripts, digits for letters, or letters that run together. The same
// letters with other capitals or joints are an alias, not a disguise.
func Twin(a, b string) bool {
	return a != b && shape(a) == shape(b) && joinless(a) != joinless(b)
}

// Shape is what people see of a name: twins have one. Empty: nothing to be taken for.
func Shape(name string) string { return shape(name) }

// twin finds a tool that is named like another one of the batch.
func (j *judge) twin() {
	s := shape(j.s.Text)
	if s == "" {
		return
	}
	if j.names == nil {
		j.names = map[string]string{}
	}
	if other, ok := j.names[s]; !ok {
		j.names[s] = j.s.Text
	} else if Twin(other, j.s.Text) {
		j.find(quarantine.TwinName, quarantine.Suspect, 0, len(j.s.Text))
	}
}

// joinless is a name in small letters without what joins its parts.
func joinless(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '_', c == '-', c == '.', c == ' ', c == '/':
			return -1
		case c >= 'A' && c <= 'Z':
			return c | 0x20
		}
		return c
	}, name)
}

var shapes = strings.NewReplacer("0", "o", "1", "l", "i", "l", "|", "l", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "rn", "m", "vv", "w")

// shape is what a name looks like.
func shape(name string) (s string) {
	whole := true
	unfold.Unfold(name, unfold.Options{Name: true}, func(v *unfold.View) {
		if whole {
			s, whole = shapes.Replace(joinless(v.Text)), false
		}
	})
	return s
}
