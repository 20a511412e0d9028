package learn

import (
	"math"
	"slices"

	"github.com/pratique-dev/pratique/quarantine/inspect/model"
)

// A recipe is how one half of the table is trained.
type recipe struct {
	Epochs int
	Rate   float64
	Decay  float64 // of a weight, by each example that it is part of
	Groups int     // of attacks that a slot must be met in
	Honest int     // or groups of honest items; 0: those do not count
	Power  float64 // an example weighs 1/(items of its group and label)^Power: 1 or 0.5
	Attack float64 // attacks together weigh so much as honest items together
	Cross  float64 // an example of the other kind, read like one of this, weighs so much
	Prompt bool    // train on users' turns too
}

// recipes are by half: metadata and returned. They were chosen by
// cross-validation over sources.
var recipes = [2]recipe{
	model.Metadata: {Epochs: 4, Rate: 0.1, Decay: 1e-3, Groups: 2, Power: 1, Attack: 0.3, Cross: 0.1},
	model.Returned: {Epochs: 4, Rate: 0.2, Decay: 1e-2, Groups: 2, Honest: 5, Power: 0.5, Attack: 1, Cross: 0.3, Prompt: true},
}

// weights are one half of the table in training.
type weights struct {
	table []float64 // by slot of the whole table
	bias  [model.Places]float64
}

// A lesson is an example with only the slots that are trained.
type lesson struct {
	views  []*compact
	attack bool
	weight float64
}

// compact is a view with its slots renumbered.
type compact struct {
	place model.Place
	words []int32
	slots []int32
}

// train makes one half of the table.
func train(examples []*Example, returned bool, c *recipe) weights {
	half := half(returned)
	ids, back := choose(examples, half, c)
	set := lessons(examples, half, c, ids)
	t := trainer{c: c, table: make([]float64, len(back)), energy: make([]float64, len(back))}
	seed := uint64(0x9e3779b97f4a7c15)
	for range c.Epochs {
		for i := len(set) - 1; i > 0; i-- { // xorshift, and a shuffle
			seed ^= seed << 13
			seed ^= seed >> 7
			seed ^= seed << 17
			j := int(seed % uint64(i+1))
			set[i], set[j] = set[j], set[i]
		}
		for i := range set {
			t.learn(&set[i])
		}
	}
	w := weights{table: make([]float64, 1<<model.Bits), bias: t.bias}
	for i, s := range back {
		w.table[s] = t.table[i]
	}
	return w
}

// choose numbers the slots that are trained: what only one source says is its
// wrapping.
func choose(examples []*Example, half model.Place, c *recipe) (ids []int32, back []uint32) {
	order := slices.Clone(examples)
	slices.SortStableFunc(order, func(a, b *Example) int {
		if a.Group != b.Group {
			if a.Group < b.Group {
				return -1
			}
			return 1
		}
		return number(a.Attack) - number(b.Attack)
	})
	var groups [2][]uint8 // that a slot was met in, by label
	last := make([]int32, 1<<model.Bits)
	groups[0], groups[1] = make([]uint8, len(last)), make([]uint8, len(last))
	group := int32(0)
	for i, e := range order {
		if i == 0 || e.Group != order[i-1].Group || e.Attack != order[i-1].Attack {
			group++
		}
		for _, v := range e.taught() {
			for _, s := range v.as[half].slots {
				if last[s] != group {
					last[s] = group
					groups[number(e.Attack)][s]++
				}
			}
		}
	}
	ids = make([]int32, len(last))
	for s := range ids {
		ids[s] = -1
		if int(groups[1][s]) >= c.Groups || c.Honest > 0 && int(groups[0][s]) >= c.Honest {
			ids[s] = int32(len(back))
			back = append(back, uint32(s))
		}
	}
	return ids, back
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// taught are the views that are trained on.
func (e *Example) taught() []View {
	if e.Attack && len(e.Payload) > 0 {
		return e.Payload
	}
	return e.Views
}

// lessons are the examples with their weights.
func lessons(examples []*Example, half model.Place, c *recipe, ids []int32) []lesson {
	type label struct {
		group  string
		attack bool
	}
	count := map[label]int{}
	for _, e := range examples {
		count[label{e.Group, e.Attack}]++
	}
	var out []lesson
	var sum [2]float64
	for _, e := range examples {
		w := 1 / float64(count[label{e.Group, e.Attack}])
		if c.Power == 0.5 {
			w = math.Sqrt(w)
		}
		if e.Returned != (half == model.Returned) {
			w = float64(w * c.Cross)
		}
		if w == 0 || e.Prompt && !c.Prompt || len(e.taught()) == 0 {
			continue
		}
		l := lesson{attack: e.Attack, weight: w}
		for i := range e.taught() {
			if v := e.taught()[i].as[half].compact(ids); len(v.words) > 0 {
				l.views = append(l.views, v)
			}
		}
		out = append(out, l)
		sum[number(e.Attack)] += w
	}
	scale := [2]float64{float64(len(out)) / 2 / sum[0], float64(float64(len(out))/2/sum[1]) * c.Attack}
	for i := range out {
		out[i].weight = float64(out[i].weight * scale[number(out[i].attack)])
	}
	return out
}

func (v *reading) compact(ids []int32) *compact {
	c := &compact{place: v.place, words: make([]int32, len(v.words))}
	from := int32(0)
	for i, end := range v.words {
		for _, s := range v.slots[from:end] {
			if id := ids[s]; id >= 0 {
				c.slots = append(c.slots, id)
			}
		}
		from, c.words[i] = end, int32(len(c.slots))
	}
	return c
}
