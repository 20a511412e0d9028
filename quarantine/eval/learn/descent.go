package learn

import (
	"math"

	"github.com/pratique-dev/pratique/quarantine/inspect/model"
)

// A trainer descends: AdaGrad on the logistic loss of the window that scores
// highest, no weight below zero.
type trainer struct {
	c      *recipe
	table  []float64
	energy []float64 // sums of squared gradients
	bias   [model.Places]float64
	heat   [model.Places]float64 // the same of the biases
	sums   []float64             // by word of the view that is looked at
}

// learn takes one step.
func (t *trainer) learn(l *lesson) {
	v, from, to, score := t.best(l.views)
	if v == nil {
		return
	}
	grad := -sigmoid(-score)
	if !l.attack {
		grad = sigmoid(score)
	}
	grad = float64(grad * l.weight)
	if math.Abs(grad) < 1e-4 {
		return
	}
	share := float64(grad / root(to-from))
	begin := int32(0)
	if from > 0 {
		begin = v.words[from-1]
	}
	for _, s := range v.slots[begin:v.words[to-1]] {
		g := share + float64(t.c.Decay*t.table[s])
		t.energy[s] += float64(g * g)
		t.table[s] = max(0, t.table[s]-float64(t.c.Rate*g)/(math.Sqrt(t.energy[s])+1e-3))
	}
	t.heat[v.place] += float64(grad * grad)
	t.bias[v.place] -= float64(t.c.Rate*grad) / (math.Sqrt(t.heat[v.place]) + 1e-3)
}

// best is the window with the highest score.
func (t *trainer) best(views []*compact) (at *compact, from, to int, score float64) {
	score = math.Inf(-1)
	for _, v := range views {
		if len(v.words) < model.Least[v.place] {
			continue
		}
		size := min(model.Window, len(v.words))
		stretch := root(size)
		t.weigh(v)
		sum := 0.0
		for i, w := range t.sums {
			sum += w
			if i < size-1 {
				continue
			}
			if s := float64(sum/stretch) + t.bias[v.place]; s > score {
				at, from, to, score = v, i+1-size, i+1, s
			}
			sum -= t.sums[i+1-size]
		}
	}
	return at, from, to, score
}

// weigh sums the weights of each word.
func (t *trainer) weigh(v *compact) {
	t.sums = t.sums[:0]
	from := int32(0)
	for _, end := range v.words {
		sum := 0.0
		for _, s := range v.slots[from:end] {
			sum += t.table[s]
		}
		t.sums = append(t.sums, sum)
		from = end
	}
}

var roots = func() (t [model.Window + 1]float64) {
	for n := range t {
		t[n] = math.Sqrt(float64(n))
	}
	return t
}()

// root is that of how many words a window has.
func root(n int) float64 { return roots[n] }

// sigmoid is 1/(1+e^-x) out of additions, multiplications and divisions alone:
// math.Exp is another function on every processor.
func sigmoid(x float64) float64 {
	if x < 0 {
		e := exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + exp(-x))
}

// exp is e^x for x ≤ 0: the series of x/1024, squared ten times.
func exp(x float64) float64 {
	if x < -40 {
		return 0
	}
	y := x / 1024
	e := 1.0
	for n := 6.0; n >= 1; n-- {
		e = 1 + float64(float64(y*e)/n)
	}
	for range 10 {
		e = float64(e * e)
	}
	return e
}
