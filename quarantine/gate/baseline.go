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
	At        int64  // when, in milliseconds since the epoch
	Release   Release
}

// A Release is what an operator said of an item beyond accepting it: that this very
// version is shown although its verdict is not clear (RULES.md 35). The zero value
// is none.
type Release uint8

// The releases.
const (
	NotReleased     Release = iota
	ReleasedSuspect         // of what was suspect, or not inspected: it counts as inspected now
	ReleasedHostile         // of what was hostile: it is shown, and its content stays suspect
)

// A Pending item is one that was seen and not accepted, or not cleared.
type Pending struct {
	Digest  credentials.Digest
	Verdict quarantine.Verdict // when it was seen
}

// A Version is one digest under a name.
type Version struct {
	Key
	Digest credentials.Digest
}

// A Baseline is what was accepted of one upstream. It is shared and never
// changed in place; a new one is another pointer.
type Baseline struct {
	Seen      bool // the first complete sight has been pinned
	Items     map[Key]*Accepted
	Pending   map[Key]Pending  // what was seen last in place of what is accepted
	Condemned map[Version]bool // by an operator, whatever is accepted
}

// An Act is what becomes of an item in a baseline.
type Act uint8

// The acts.
const (
	NoAct   Act = iota
	Pin         // first sight: accepted under a new id, generation 1, version 1
	Accept      // another digest in place of the accepted one, or a new item after first sight
	Pend        // seen, not accepted or not cleared: kept for an operator to look at
	Unpend      // what was pending is gone, or is what was accepted
	Sighted     // of no item: the first complete sight is over
)

// Released is what an operator's release says of an item: of exactly the version
// that was released, and nothing of any other.
func (b *Baseline) Released(it *Item) Release {
	if b == nil {
		return NotReleased
	}
	if a := b.Items[it.Key]; a != nil && a.Digest == it.Digest {
		return a.Release
	}
	return NotReleased
}

func (b *Baseline) condemned(k Key, d credentials.Digest) bool {
	return b != nil && b.Condemned[Version{k, d}]
}

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
	Found   []quarantine.Finding // Pend: for operators
}

// Shown knows what one agent was shown of one upstream. Its answers change as the
// agent lists; an error shuts everything.
type Shown interface {
	Shown(k Key) (d credentials.Digest, ok bool, err error)
}
