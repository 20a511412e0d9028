package labels

import "github.com/go-json-experiment/json/jsontext"

// Classify is our own classification of a tool's effect, from its origin's
// standing, its annotations as sent and its name. Nothing but a tool of an
// attested origin whose claims and name agree is a read; everything else is
// unclassified, which counts as every effect (RULES.md 3).
func Classify(standing Standing, annotations jsontext.Value, name string) Effect {
	return Unclassified
}
