package labels

import "errors"

// An Assurance is how sure an answer to an approval is a person's, and which one's
// (DESIGN.md §12). The zero value is none; a larger one asks for more.
type Assurance uint8

// The assurances.
const (
	AssuranceNone      Assurance = iota // nobody answers
	AssuranceNotify                     // somebody was told, and can only ring
	AssuranceTap                        // an enrolled person tapped, in an enrolled chat or a session
	AssurancePasskey                    // a passkey signed the card, with user verification
	AssuranceTwoPerson                  // two people did
)

var assuranceNames = [...]string{"none", "notify", "tap", "passkey", "two-person"}

// ErrAssurance says that a text names no assurance.
var ErrAssurance = errors.New("assurance is not one of none, notify, tap, passkey, two-person")

// String is the text form; of an unknown value that of the most.
func (a Assurance) String() string {
	if int(a) < len(assuranceNames) {
		return assuranceNames[a]
	}
	return assuranceNames[AssuranceTwoPerson]
}

// ParseAssurance reads the text form. On an error it is the most.
func ParseAssurance(s string) (Assurance, error) {
	for i, n := range assuranceNames {
		if n == s {
			return Assurance(i), nil
		}
	}
	return AssuranceTwoPerson, ErrAssurance
}

// MarshalText implements encoding.TextMarshaler.
func (a Assurance) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Assurance) UnmarshalText(b []byte) (err error) {
	*a, err = ParseAssurance(string(b))
	return err
}
