package gate

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/quarantine"
)

// An Accepted item is one that may be shown, by the digest that was accepted.
type Accepted struct {
	Key
	Tool      credentials.ToolID // drawn at first sight, for items of every kind
	Gen, Ver  uint64             // 1, and the count of acceptances
	Digest    credentials.Digest
	Canonical []byte
	By        string // who accepted: ByFirstSight and so on
	Act       string // an operator's signed act
}

// A Baseline is what was accepted of one upstream. It is shared and never
// changed in place; a new one is another pointer.
type Baseline struct {
	Seen    bool // the first complete sight has been pinned
	Items   map[Key]*Accepted
	Pending map[Key]credentials.Digest // what was seen last in place of what is accepted
}

// An Act is what becomes of an item in a baseline.
type Act uint8

// The acts.
const (
	NoAct   Act = iota
	Pin         // first sight: accepted under a new id, generation 1, version 1
	Accept      // another digest in place of the accepted one, or a new item after first sight
	Pend        // seen, not accepted: kept for the operator's diff
	Unpend      // what was pending is gone, or is what was accepted
	Sighted     // of no item: the first complete sight is over
)

// Who accepted, in moves and in entries.
const (
	ByFirstSight = "first-sight"
	ByOperator   = "operator"
	ByRegistrant = "registrant"
	ByWording    = "wording"
)

// A Move is one change of a baseline.
type Move struct {
	Act Act
	Item
	Was     credentials.Digest // accepted before; zero: nothing was
	By      string             // Pin, Accept
	Why     string             // Pend: changed, new, suspect, hostile, missing, or a fault
	Verdict quarantine.Verdict
}

// Shown knows what one agent was shown of one upstream. Its answers change as the
// agent lists; an error shuts everything.
type Shown interface {
	Shown(k Key) (d credentials.Digest, ok bool, err error)
}
