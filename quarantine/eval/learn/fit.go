package learn

import (
	"errors"
	"math"
	"slices"

	"github.com/pratique-dev/pratique/quarantine/inspect/model"
)

// Aims are the shares of real honest items that the model alone may call
// suspect, by place: less than what the whole inspector may, since rules err too.
var Aims = [model.Places]float64{model.Metadata: 0.0005, model.Returned: 0.006, model.Name: 0.0005}

// Margin is added to a threshold, since the next source differs from those that
// it was set on: metadata of vendors that write orders into descriptions most.
var Margin = [model.Places]int32{model.Metadata: model.Unit / 2, model.Name: model.Unit}

// InnerFolds are how many parts thresholds are set in.
const InnerFolds = 4

// ErrExamples says that there is nothing to tell apart.
var ErrExamples = errors.New("learn: examples are all attacks or all honest")

// Fit trains a model on examples, and sets its thresholds on them by
// cross-validation over their groups: on each part with a table that did not see
// it.
func Fit(examples []*Example) (*model.Weights, error) {
	var count [2]int
	for _, e := range examples {
		count[number(e.Attack)]++
	}
	if count[0] == 0 || count[1] == 0 {
		return nil, ErrExamples
	}
	w := table(examples)
	fold := Folds(examples, InnerFolds)
	var scores [model.Places][]int32
	for f := range InnerFolds {
		var seen, held []*Example
		for i, e := range examples {
			if fold[i] != f {
				seen = append(seen, e)
			} else if e.Gauge {
				held = append(held, e)
			}
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
		w.Suspect[p] = limit(scores[p], Aims[p]) + Margin[p]
	}
	return w, nil
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
	meta := train(examples, false, &Recipes[model.Metadata])
	ret := train(examples, true, &Recipes[model.Returned])
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
