package gitdir

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// slow is matches by trying everything.
func slow(pattern []byte, name string) bool {
	if len(pattern) == 0 {
		return name == ""
	}
	switch c := pattern[0]; {
	case c == '*':
		return slow(pattern[1:], name) || name != "" && slow(pattern, name[1:])
	case name == "":
		return false
	case c == '[':
		end := bytes.IndexByte(pattern[1:], ']')
		if end <= 0 {
			return false
		}
		set := pattern[1 : 1+end]
		return (bytes.IndexByte(set, name[0]) >= 0 || bytes.ContainsAny(set, "!^-:")) && slow(pattern[end+2:], name[1:])
	default:
		return (c == '?' || c == name[0]) && slow(pattern[1:], name[1:])
	}
}

// TestMatches holds matches against trying everything, and sees that both answers come.
func TestMatches(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	signs := []string{".", "g", "i", "t", "*", "*", "?", "[", "]", "[gi]", "[!x]", "x", ".git", "[."}
	said := map[bool]int{}
	for range 200_000 {
		var b []byte
		for range r.IntN(8) {
			b = append(b, signs[r.IntN(len(signs))]...)
		}
		got, want := matches(b, ".git"), slow(b, ".git")
		if got != want {
			t.Fatalf("%q: %v, want %v", b, got, want)
		}
		said[got]++
	}
	if said[true] < 1000 || said[false] < 1000 {
		t.Error(said)
	}
}
