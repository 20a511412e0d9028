package node

import (
	"hash/fnv"
	"math"
	"strings"
	"time"
	"unicode"

	"golang.org/x/time/rate"

	"github.com/pratique-dev/pratique/quarantine"
)

// Near-copies of what was not cleared are inspected seldom, whoever registers
// them: a label would otherwise tell, word by word, what passes (RULES.md 22). A
// near-copy shares most pairs of words that follow each other.
const (
	printSize  = 64  // of a print: so many of the smallest hashes are compared
	nearCopy   = .6  // of which so many are the same
	maxDoubted = 512 // prints that are remembered; the oldest goes first
	maxPairs   = 1 << 14
	minWords   = 8
)

// Near-copies of one thing that are inspected at once, and how often then.
const (
	copiesAtOnce = 3
	copiesEvery  = 10 * time.Minute
)

// A print stands for a text: for each of printSize hash functions the smallest hash
// of its pairs of words. Two prints agree in about the share of pairs that their
// texts have in common.
type print [printSize]uint64

// printOf is the print of all texts; the zero print, which is near nothing, where
// there are too few words to tell.
func printOf(set []quarantine.Specimen) (p print) {
	var words []string
	for i := range set {
		if len(words) < maxPairs {
			words = append(words, strings.FieldsFunc(strings.ToLower(set[i].Text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })...)
		}
	}
	if len(words) < minWords {
		return p
	}
	for i := range p {
		p[i] = math.MaxUint64
	}
	for i := 1; i < min(len(words), maxPairs); i++ {
		h := fnv.New64a()
		h.Write([]byte(words[i-1]))
		h.Write([]byte{0})
		h.Write([]byte(words[i]))
		x := h.Sum64()
		for j := range p {
			p[j] = min(p[j], mix(x+uint64(j)*0x9e3779b97f4a7c15))
		}
	}
	return p
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (p *print) near(o *print) bool {
	if *p == (print{}) {
		return false
	}
	same := 0
	for i := range p {
		if p[i] == o[i] {
			same++
		}
	}
	return float64(same) >= nearCopy*printSize
}

// copies are the prints of what was not cleared, each family with one allowance.
type copies struct {
	prints []doubted
}

type doubted struct {
	print
	allow *rate.Limiter
}

func newCopies() *copies { return &copies{} }

// family is the allowance of what a text is a near-copy of, nil for nothing.
func (c *copies) family(p *print) *rate.Limiter {
	for i := range c.prints {
		if c.prints[i].near(p) {
			return c.prints[i].allow
		}
	}
	return nil
}

// doubt remembers what was not cleared.
func (c *copies) doubt(p print) {
	allow := c.family(&p)
	if allow == nil {
		allow = rate.NewLimiter(rate.Every(copiesEvery), copiesAtOnce)
	}
	if len(c.prints) >= maxDoubted {
		c.prints = c.prints[1:]
	}
	c.prints = append(c.prints, doubted{p, allow})
}

// wait is how long a text has to wait for its inspection; 0 takes one from the
// allowance.
func (c *copies) wait(p print, now time.Time) time.Duration {
	allow := c.family(&p)
	if allow == nil || allow.AllowN(now, 1) {
		return 0
	}
	r := allow.ReserveN(now, 1)
	defer r.CancelAt(now)
	return max(r.DelayFrom(now), time.Second)
}
