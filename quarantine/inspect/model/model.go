// Package model is the embedded model: n-grams and skip-grams hashed into a table
// of int8 weights, summed over windows of a folded text. Of returned text they
// are of its words; of metadata, of the notions that words stand for. It holds no
// text of what it was trained on, does integer arithmetic only, and allocates
// nothing.
//
// No weight is below zero: words that are put around an attack cannot pay for it,
// only push it out of the window.
//
// It raises a verdict and never lowers one. docs/inspection.md is its card:
// data, licences, figures by source, and what it cannot do.
package model

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"math"
	"sync"

	"github.com/pratique-dev/pratique/quarantine"
)

// A Place is the class of place that thresholds are set for.
type Place uint8

// The places.
const (
	Metadata Place = iota // descriptions, titles, values, instructions
	Returned              // results and messages
	Name                  // identifiers, taken apart at underscores and humps
	Places                // how many there are
)

// PlaceOf is the class of a kind of place.
func PlaceOf(k quarantine.Kind) Place {
	switch {
	case k == quarantine.KindName:
		return Name
	case k.Returned():
		return Returned
	}
	return Metadata
}

// A Hit is a window of a text with its score: the sum of the weights of what
// stands in it. A text with no words has the score Nothing.
type Hit struct {
	Score    int32
	From, To int // bytes of the text
}

// Nothing is the score of a text without words, and below any threshold.
const Nothing = math.MinInt32

// Never is a threshold that no window reaches.
const Never = math.MaxInt32

// A Model is a table of weights with its thresholds. It is read only and safe
// for concurrent use.
type Model struct {
	digest  [sha256.Size]byte
	table   []int8 // 1<<Bits
	bias    [Places]int32
	suspect [Places]int32
}

//go:embed weights.bin
var weights []byte

// Embedded is the model that is part of the program.
var Embedded = sync.OnceValue(func() *Model {
	m, err := Parse(weights)
	if err != nil {
		panic(err) // the file is part of the program, and a test reads it
	}
	return m
})

// Engine names the model in the versions of an engine: "model/" and the first
// eight digits of its digest.
func (m *Model) Engine() string { return "model/" + m.Digest()[:8] }

// Digest is the SHA-256 of the model's file, in hexadecimal digits.
func (m *Model) Digest() string { return hex.EncodeToString(m.digest[:]) }

// Threshold is the score from which on a window is suspect.
func (m *Model) Threshold(p Place) int32 { return m.suspect[p] }
