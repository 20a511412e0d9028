package effects

import "github.com/pratique-dev/pratique/labels"

func apparent(t *Tool) labels.Effect                { return labels.Unclassified }
func rule(s labels.Standing, t *Tool) labels.Effect { return labels.Unclassified }
func contradictions(t *Tool) []Finding              { return nil }
