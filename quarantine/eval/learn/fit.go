package learn

import (
	"errors"
	"math"
	"slices"

	"github.com/pratique-dev/pratique/quarantine/inspect/model"
)

// aims are the shares of real honest items that the model alone may call suspect,
// by place: less than what the whole inspector may, since rules err too.
var aims = [model.Places]float64{model.Metadata: 0.0005, model.Returned: 0.0035, model.Name: 0.0005}

// margins are added to thresholds where the next source is known to differ most
// from those that they were set on: some vendors write orders into descriptions.
var margins = [model.Places]int32{model.Metadata: model.Unit / 2, model.Name: model.Unit}

// innerFolds are how many parts thresholds are set in. With few, a threshold
// depends more on which sources share a part than on any text.
const innerFolds = 13

// ErrExamples says that there is nothing to tell apart.
var ErrExamples = errors.New("learn: examples are all attacks or all honest")

// Fit trains a model on examples, and sets its thresholds on them by
// cross-validation over their groups: on each part with a table that did not see
// it.
func Fit(examples []*Example) (*model.Weights, error) {
	if !both(examples) {
		return nil, ErrExamples
	}
	w := table(examples)
	fold := Folds(examples, innerFolds)
	var scores [model.Places][]int32
	for f := range innerFolds {
		var seen, held []*Example
		for i, e := range examples {
			if fold[i] != f {
				seen = append(seen, e)
			} else if e.Gauge {
				held = append(held, e)
			}
		}
		if len(held) == 0 || !both(seen) {
			continue
		}
		m := model.New(table(seen))
		for _, e := range held {
			for p, s := range Scores(m, e) {
				if s != model.Nothing {
					scores[p] = append(scores[p], s)
				}
			}
		}
	}
	for p := range scores {
		if l := limit(scores[p], aims[p]); l != model.Never {
			w.Suspect[p] = l + margins[p]
		}
	}
	return w, nil
}

// both tells whether there are attacks and honest examples.
func both(examples []*Example) bool {
	attack := func(e *Example) bool { return e.Attack }
	honest := func(e *Example) bool { return !e.Attack }
	return slices.ContainsFunc(examples, attack) && slices.ContainsFunc(examples, honest)
}

// limit is the lowest threshold that at most the share fp of scores reaches.
func limit(scores []int32, fp float64) int32 {
	if len(scores) == 0 {
		return model.Never
	}
	slices.Sort(scores)
	return scores[len(scores)-1-int(fp*float64(len(scores)))] + 1
}

// Scores are an example's highest scores by place.
func Scores(m *model.Model, e *Example) (best [model.Places]int32) {
	for p := range best {
		best[p] = model.Nothing
	}
	for i := range e.Views {
		v := &e.Views[i]
		best[v.Place] = max(best[v.Place], m.Score(v.Place, v.Text).Score)
	}
	return best
}

// table trains both halves and rounds them, thresholds left open.
func table(examples []*Example) *model.Weights {
	w := &model.Weights{Table: make([]int8, 1<<model.Bits)}
	for p := range w.Suspect {
		w.Suspect[p] = model.Never
	}
	meta := train(examples, false, &recipes[model.Metadata])
	ret := train(examples, true, &recipes[model.Returned])
	for s := range w.Table {
		from := &meta
		if s >= len(w.Table)/2 {
			from = &ret
		}
		w.Table[s] = int8(min(127, math.Round(float64(from.table[s]*model.Unit)/root(model.Window))))
	}
	for p := range w.Bias {
		b := meta.bias[p]
		if model.Place(p) == model.Returned {
			b = ret.bias[p]
		}
		w.Bias[p] = int32(math.Round(float64(b * model.Unit)))
	}
	return w
}
