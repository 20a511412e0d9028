package policy

import "errors"

// Results says what becomes of a result with suspect content. A hostile one is
// held whatever this says. The zero value holds; a larger one lets more through,
// and the result of several layers is the smallest.
type Results uint8

// The ways with a suspect result.
const (
	Hold Results = iota // it is kept from the agent until an operator released it
	Cut                 // the suspect places are cut out of it
	Mark                // it is passed on whole, marked as data
)

var resultsNames = [...]string{"hold", "cut", "mark"}

// String is the text form; that of an unknown value is "hold".
func (r Results) String() string {
	if int(r) < len(resultsNames) {
		return resultsNames[r]
	}
	return resultsNames[Hold]
}

// ErrResults says that a text names no way with results.
var ErrResults = errors.New("results is not one of hold, cut, mark")

// ParseResults reads the text form.
func ParseResults(s string) (Results, error) {
	for i, n := range resultsNames {
		if n == s {
			return Results(i), nil
		}
	}
	return Hold, ErrResults
}

// least is the stricter of two, where what is unknown holds.
func least(a, b Results) Results {
	if a > Mark || b > Mark {
		return Hold
	}
	return min(a, b)
}
