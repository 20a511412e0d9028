package policy

import "errors"

var fitNames = [...]string{"unchecked", "unfit", "fits"}

// ErrFit says that a text names no fit.
var ErrFit = errors.New("fit is not one of unchecked, unfit, fits")

// String is the text form; that of an unknown value is "unchecked".
func (f Fit) String() string {
	if int(f) < len(fitNames) {
		return fitNames[f]
	}
	return fitNames[Unchecked]
}

// ParseFit reads the text form.
func ParseFit(s string) (Fit, error) {
	for i, n := range fitNames {
		if n == s {
			return Fit(i), nil
		}
	}
	return Unchecked, ErrFit
}
