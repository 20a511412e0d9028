// Package labels is what we believe of a tool: the tier, the two dimensions it
// is synthesized from, the signed statement that carries it, and the rules by
// which evidence becomes standing.
//
// The tier speaks of the tool, never of what it returns. In every enumeration
// here the zero value is the worst and a larger value is better, so that
// "worse evidence never gives a better tier" is an order that tests can walk.
package labels

import (
	"errors"
	"fmt"
	"slices"
)

// Errors of unknown words.
var (
	ErrTier     = errors.New("tier is not one of red, yellow, green")
	ErrStanding = errors.New("standing is not one of vetoed, unknown, pinned, attested")
	ErrContent  = errors.New("content is not one of violated, suspect, uninspected, inspected, consistent")
)

// A Tier is what an agent's runtime acts on.
type Tier uint8

// The tiers, worst first.
const (
	Red Tier = iota
	Yellow
	Green
)

// A Standing is what is known of a tool's origin and registrant.
type Standing uint8

// The standings, worst first.
const (
	Vetoed   Standing = iota // known to be bad, or the right to the name is somebody else's
	Unknown                  // nothing known
	Pinned                   // the same key, URL or launch since first use
	Attested                 // a topology row met, or enrolled by the operator
)

// A Content is what is known of a tool's conduct: of its metadata and its calls.
type Content uint8

// The contents, worst first.
const (
	Violated    Content = iota // an observation contradicts the declaration, or condemned
	Suspect                    // the inspector doubts it
	Uninspected                // nobody has looked
	Inspected                  // the metadata was cleared
	Consistent                 // and enough observed calls stayed within what was declared
)

// table is that of DESIGN.md section 7, row by row.
var table = [...][5]Tier{
	Vetoed:   {Red, Red, Red, Red, Red},
	Unknown:  {Red, Red, Yellow, Yellow, Yellow},
	Pinned:   {Red, Yellow, Yellow, Yellow, Green},
	Attested: {Red, Yellow, Yellow, Green, Green},
}

// Synthesize is the tier of a tool of this standing and content. It is total
// and monotone; a value outside the vocabulary counts as the worst, hence Red.
func Synthesize(s Standing, c Content) Tier {
	if int(s) >= len(table) || int(c) >= len(table[0]) {
		return Red
	}
	return table[s][c]
}

var (
	tierNames     = [...]string{"red", "yellow", "green"}
	standingNames = [...]string{"vetoed", "unknown", "pinned", "attested"}
	contentNames  = [...]string{"violated", "suspect", "uninspected", "inspected", "consistent"}
)

// ParseTier reads a tier by its name.
func ParseTier(s string) (Tier, error) { return parse[Tier](s, tierNames[:], ErrTier) }

// ParseStanding reads a standing by its name.
func ParseStanding(s string) (Standing, error) {
	return parse[Standing](s, standingNames[:], ErrStanding)
}

// ParseContent reads a content by its name.
func ParseContent(s string) (Content, error) { return parse[Content](s, contentNames[:], ErrContent) }

// String is the tier's name.
func (t Tier) String() string { return name(uint8(t), "tier", tierNames[:]) }

// String is the standing's name.
func (s Standing) String() string { return name(uint8(s), "standing", standingNames[:]) }

// String is the content's name.
func (c Content) String() string { return name(uint8(c), "content", contentNames[:]) }

// Valid reports whether t is one of the tiers.
func (t Tier) Valid() bool { return int(t) < len(tierNames) }

// Valid reports whether s is one of the standings.
func (s Standing) Valid() bool { return int(s) < len(standingNames) }

// Valid reports whether c is one of the contents.
func (c Content) Valid() bool { return int(c) < len(contentNames) }

// MarshalText implements encoding.TextMarshaler; an unknown value is ErrTier.
func (t Tier) MarshalText() ([]byte, error) { return text(t.Valid(), t.String(), ErrTier) }

// MarshalText implements encoding.TextMarshaler; an unknown value is ErrStanding.
func (s Standing) MarshalText() ([]byte, error) { return text(s.Valid(), s.String(), ErrStanding) }

// MarshalText implements encoding.TextMarshaler; an unknown value is ErrContent.
func (c Content) MarshalText() ([]byte, error) { return text(c.Valid(), c.String(), ErrContent) }

// UnmarshalText implements encoding.TextUnmarshaler; on error t becomes Red.
func (t *Tier) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTier(string(b))
	return err
}

// UnmarshalText implements encoding.TextUnmarshaler; on error s becomes Vetoed.
func (s *Standing) UnmarshalText(b []byte) (err error) {
	*s, err = ParseStanding(string(b))
	return err
}

// UnmarshalText implements encoding.TextUnmarshaler; on error c becomes Violated.
func (c *Content) UnmarshalText(b []byte) (err error) {
	*c, err = ParseContent(string(b))
	return err
}

func parse[T ~uint8](s string, names []string, err error) (T, error) {
	if i := slices.Index(names, s); i >= 0 {
		return T(i), nil
	}
	return 0, err
}

func name(v uint8, kind string, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, v)
}

func text(ok bool, s string, err error) ([]byte, error) {
	if !ok {
		return nil, err
	}
	return []byte(s), nil
}
