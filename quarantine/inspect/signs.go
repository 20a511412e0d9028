package inspect

import (
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/unfold"
)

// sign judges what was met while the text was unfolded.
func (j *judge) sign(g unfold.Sign) {
	c, v := quarantine.Invisible, quarantine.Suspect
	switch g.What {
	case unfold.TagText:
		v = quarantine.Hostile
	case unfold.Selectors:
		if g.Size > 3 { // three may be a slip of an editor
			v = quarantine.Hostile
		}
	case unfold.Mixed:
		if j.returned { // scanned text and fonts are full of them; words are read anyway
			return
		}
		c = quarantine.Lookalike
	case unfold.Terminal:
		c, v = quarantine.Control, quarantine.Hostile
	case unfold.Concealed:
		c = quarantine.Control
		if !j.returned {
			v = quarantine.Hostile
		}
	case unfold.ControlChar:
		if j.returned {
			return
		}
		c = quarantine.Control
	case unfold.Comment:
		if j.returned { // pages are full of them; words in them are read anyway
			return
		}
		c = quarantine.Hidden
	case unfold.Coded:
		if j.place == exampleValue { // of a parameter that takes it; the words are read anyway
			return
		}
		c = quarantine.Encoded
	case unfold.Broken, unfold.Exhausted:
		c = quarantine.Unreadable
	}
	j.find(c, v, g.From, g.To)
}
