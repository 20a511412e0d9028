package inspect

import (
	"math/bits"

	"github.com/pratique-dev/pratique/quarantine"
)

// closeBy is how many words apart clues may be that count together: two or three
// sentences.
const closeBy = 30

// What clues close together must weigh. Returned text has more of them by chance:
// it is what manuals are in.
const (
	enoughItem = 3
	enough     = 3
)

// Weights of a clue: a faint rule alone is common; a weak one is not.
const (
	faintWeight = 1
	weakWeight  = 2
)

// groups numbers the groups of rules, each of which counts once.
var groups = func() []uint {
	number := map[string]uint{}
	list := make([]uint, len(rules))
	for i := range rules {
		g := rules[i].together()
		if _, ok := number[g]; !ok {
			number[g] = uint(len(number))
		}
		list[i] = number[g]
	}
	return list
}()

// acts are the groups of rules that say what is to be done; rules about secrets
// do too, and all others say why, to whom, or how.
var acts = set("order prefer destroy asset mailbox bulk field file send-talk")

// plain are rules about secrets that need no reason beside an order.
var plain = set("read-secret move-secret grab-and-send")

// spoken are rules that texts about attacks are full of.
var spoken = set("steal send-to-attacker")

// act tells whether a rule says what is to be done.
func (r *rule) act() bool { return r.category == secrets || acts[r.together()] }

// A tally is which groups were met: faintly, or by a rule that weighs more.
type tally struct{ faint, weak [2]uint64 }

func (t *tally) add(r int) {
	set, g := &t.faint, groups[r]
	if rules[r].level >= rare && !spoken[rules[r].name] {
		set = &t.weak
	}
	set[g/64] |= 1 << (g % 64)
}

func (t *tally) weight() (n int) {
	for k := range t.weak {
		n += weakWeight*bits.OnesCount64(t.weak[k]) + faintWeight*bits.OnesCount64(t.faint[k]&^t.weak[k])
	}
	return n
}

// sums finds orders that no rule names: a reason, an address and a deed, each of
// which is honest alone, in the space of a few sentences. Spots are in order.
func (j *judge) sums() {
	first := 0
	for i := range j.spots {
		s := &j.spots[i]
		for s.pos-j.spots[first].pos > closeBy {
			first++
		}
		returned, item := j.set[s.at].Kind.Returned(), itemOf(j.set[s.at].Path)
		var t tally
		act, reason, secret := false, false, false
		order := false // other than about secrets: they are told of together
		for k := first; k <= i; k++ {
			o := &j.spots[k]
			if o.quoted || j.set[o.at].Kind.Returned() != returned || !returned && o.at != s.at && itemOf(j.set[o.at].Path) != item {
				continue
			}
			t.add(o.rule)
			r := &rules[o.rule]
			act, reason = act || r.act(), reason || !r.act()
			order = order || r.act() && r.category != secrets
			secret = secret || plain[r.name]
		}
		least := enoughItem
		if returned {
			least = enough
		}
		if n := t.weight(); act && !s.quoted && ((reason || secret && order) && n >= least || !returned && n > least) {
			j.sum(first, i, returned, item)
		}
	}
}

// sum reports the spots that weigh enough together.
func (j *judge) sum(first, last int, returned bool, item string) {
	for k := first; k <= last; k++ {
		o := &j.spots[k]
		if !o.quoted && j.set[o.at].Kind.Returned() == returned && (returned || itemOf(j.set[o.at].Path) == item) {
			j.findAt(o.at, rules[o.rule].category, quarantine.Suspect, int(o.from), int(o.to))
		}
	}
}
