package eval

import (
	"math"
	"testing"
)

func TestRate(t *testing.T) {
	for _, c := range []struct {
		hits, n         int
		rate, low, high float64
	}{
		{0, 0, 0, 0, 1}, {8, 10, 0.8, 0.4901625, 0.9433178}, {0, 100, 0, 0, 0.0369935}, {100, 100, 1, 0.9630065, 1}, {1, 1000, 0.001, 0.0001765, 0.0056428},
	} {
		r := NewRate(c.hits, c.n)
		if r.N != c.n || r.Hits != c.hits || math.Abs(r.Rate-c.rate) > 1e-9 || math.Abs(r.Low-c.low) > 1e-5 || math.Abs(r.High-c.high) > 1e-5 {
			t.Errorf("%d of %d: %+v", c.hits, c.n, r)
		}
	}
}

func TestAUC(t *testing.T) {
	for _, c := range []struct {
		attacks, honest []float64
		want            float64
	}{
		{nil, []float64{1}, 0}, {[]float64{1}, nil, 0}, {[]float64{2, 3}, []float64{0, 1}, 1}, {[]float64{0, 1}, []float64{2, 3}, 0},
		{[]float64{1, 1}, []float64{1, 1, 1}, 0.5}, {[]float64{2, 0}, []float64{1}, 0.5}, {[]float64{3, 2, 1}, []float64{2, 0}, 0.75},
	} {
		if got := AUC(c.attacks, c.honest); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v, %v: %v, want %v", c.attacks, c.honest, got, c.want)
		}
	}
}

func TestRecallAt(t *testing.T) {
	honest := make([]float64, 1000)
	for i := range honest {
		honest[i] = float64(i)
	}
	attacks := []float64{500, 989, 990, 998, 998.5, 2000}
	for fp, want := range map[float64]int{0: 1, 0.001: 2, 0.01: 4, 0.5: 6} {
		if r := RecallAt(fp, attacks, honest); r.Hits != want || r.N != len(attacks) {
			t.Errorf("at %v: %+v, want %d", fp, r, want)
		}
	}
	if r := RecallAt(0.01, attacks, nil); r.Hits != 0 {
		t.Error("recall without anything to hold it against", r)
	}
	// scores that many share are above the limit for all or none
	if r := RecallAt(0.01, []float64{7, 7}, []float64{7, 7, 7, 1, 1}); r.Hits != 0 {
		t.Error(r)
	}
}
