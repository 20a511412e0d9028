package inspect

import (
	"strings"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// structure asks whether a text belongs where it stands. v is the view of all of
// it.
func (j *judge) structure(v *unfold.View) {
	if j.returned {
		return
	}
	n := len(j.s.Text)
	switch j.s.Kind {
	case quarantine.KindName:
		if n > 128 || sentenceName(v.Text) {
			j.find(quarantine.Prose, quarantine.Suspect, 0, n)
		}
		j.name(v)
	case quarantine.KindTitle:
		if sentenceTitle(v.Text) {
			j.find(quarantine.Prose, quarantine.Suspect, 0, n)
		}
	case quarantine.KindValue:
		if j.place != exampleValue && sentenceValue(v.Text) {
			j.find(quarantine.Prose, quarantine.Suspect, 0, n)
		}
	case quarantine.KindURI:
		j.pointer()
	}
	j.part(v)
	j.values(v)
}

// layout looks at how the specimen's own bytes are set out.
func (j *judge) layout() {
	if j.returned {
		return
	}
	if from := pushed(j.s.Text); from >= 0 {
		j.find(quarantine.Padding, quarantine.Suspect, from, len(j.s.Text))
	}
}

// Lengths of nothing behind which text is out of sight.
const (
	emptyLines = 15
	blanksRow  = 80
)

// pushed finds text that is pushed out of sight, behind empty lines or blanks,
// or returns -1.
func pushed(text string) int {
	if len(text) < emptyLines {
		return -1
	}
	lines, blanks := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			lines++
			blanks = 0
		case ' ', '\t', '\r':
			blanks++
		default:
			if lines >= emptyLines || blanks >= blanksRow {
				return i
			}
			lines, blanks = 0, 0
		}
	}
	return -1
}

// references remembers the documents inside of the batch that a reference may
// name.
func (j *judge) references() {
	for i := range j.set {
		s := &j.set[i]
		if s.Kind == quarantine.KindURI && strings.HasSuffix(s.Path, ".$id") {
			if j.ids == nil {
				j.ids = map[string]bool{}
			}
			j.ids[s.Text] = true
		}
	}
}

// pointer finds a schema that is to be fetched from somewhere. References are
// never followed, so cycles cost nothing.
func (j *judge) pointer() {
	if j.place == pointer && !strings.HasPrefix(j.s.Text, "#") && !j.ids[j.s.Text] {
		j.find(quarantine.Reference, quarantine.Suspect, 0, len(j.s.Text))
	}
}
