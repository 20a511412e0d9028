package policy

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/traits"
)

// numberText is a number as JSON writes it, mostly near where doubles end.
func numberText(r *rand.Rand) string {
	edges := []string{"9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615", "1915883588174806058", "0", "1", "10", "0.1", "19.99", "4503599627370496.5"}
	s := edges[r.IntN(len(edges))]
	switch r.IntN(6) {
	case 0:
		s = fmt.Sprint(r.Uint64() >> r.IntN(64))
	case 1:
		s = fmt.Sprintf("%d.%d", r.Uint64()>>(30+r.IntN(34)), r.Uint64()>>(30+r.IntN(34)))
	case 2:
		n, _ := new(big.Int).SetString(strings.Split(s, ".")[0], 10)
		s = n.Add(n, big.NewInt(int64(r.IntN(5)))).String()
	case 3:
		s += fmt.Sprintf("e%d", r.IntN(24)-4)
	case 4:
		if !strings.Contains(s, ".") {
			s += "." + strings.Repeat("0", r.IntN(4))
			s = strings.TrimSuffix(s, ".")
		}
	}
	if r.IntN(3) == 0 {
		s = "-" + s
	}
	return s
}

// TestNumbersAgainstRationals: two numbers that are taken compare as the rationals do
// that their digits name, and are equal where those are.
func TestNumbersAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	taken := 0
	for range 300_000 {
		a, b := numberText(r), numberText(r)
		if r.IntN(4) == 0 {
			b = a
		}
		x, y := exactNumber([]byte(a)), exactNumber([]byte(b))
		if types.IsError(x) || types.IsError(y) {
			continue
		}
		taken++
		p, _ := new(big.Rat).SetString(a)
		q, _ := new(big.Rat).SetString(b)
		want := types.Int(p.Cmp(q))
		if got := x.(traits.Comparer).Compare(y); got != want {
			t.Fatalf("%s against %s: %v, want %v", a, b, got, want)
		}
		if got := types.Equal(x, y); got != types.Bool(want == 0) {
			t.Fatalf("%s == %s: %v", a, b, got)
		}
	}
	if taken < 100_000 {
		t.Errorf("only %d pairs were taken", taken)
	}
}

// FuzzNumber: no text makes it panic, and what it takes is what the digits say.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "1e400", "1e-400", "0.1", "9007199254740993", "18446744073709551616", "1E+3", ".5", "1.", "-", "", "1e", "0e999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := exactNumber([]byte(s))
		d, isDouble := v.(types.Double)
		if types.IsError(v) || isDouble {
			if isDouble && (d >= 1<<53 || d <= -1<<53) {
				t.Fatalf("%s is %v", s, d)
			}
			return
		}
		if want, ok := new(big.Rat).SetString(s); !ok || want.RatString() != fmt.Sprint(v.Value()) {
			t.Fatalf("%s is %v", s, v)
		}
	})
}
