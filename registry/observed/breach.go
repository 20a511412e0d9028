package observed

import (
	"hash/maphash"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A Version is one version of an item, whatever it read.
type Version struct {
	gate.Key
	Tool     credentials.ToolID
	Gen, Ver uint64
}

// breaches are the versions that were seen in calls to contradict what they declare.
// That an upstream lists something else now (metadata_moved) turns the label too, and
// says nothing of what calls returned before.
type breaches struct {
	of   map[Version]breach
	head uint64 // changes whenever an answer of Broke may have
}

type breach struct {
	last  int64 // when it did last, milliseconds since the epoch; a release changes nothing of that
	still bool  // and nobody has released it
}

func (x *breaches) take(s Subject, r *record, c labels.Content) {
	b := breach{still: c == labels.Violated}
	for sign, t := range r.Account.Signs {
		if row, _ := observe.RowOf(sign); row.Weight == observe.Contradicts && sign != observe.MetadataMoved {
			b.last = max(b.last, t.Last)
		}
	}
	if b.last == 0 {
		return
	}
	type said struct {
		Subject
		breach
	}
	x.head += maphash.Comparable(seed, said{s, b})
	v := Version{s.Key, s.Tool, s.Gen, s.Ver}
	if was, twice := x.of[v]; twice {
		b = breach{max(was.last, b.last), was.still || b.still}
	}
	if x.of == nil {
		x.of = map[Version]breach{}
	}
	x.of[v] = b
}

// Breaches changes whenever an answer of Broke may have, in any process.
func (p *Place) Breaches() (uint64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return 0, err
	}
	p.refresh()
	return p.broken.head, nil
}

// Broke tells whether what a version has returned from a time on, in milliseconds
// since the epoch, came of one that contradicts what it declares: it does so now, or
// it did after the first of it was returned. An operator who releases the version
// judges what it will do, and takes nothing back that was read before.
func (p *Place) Broke(v Version, since int64) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read(); err != nil {
		return false, err
	}
	p.refresh()
	b, ok := p.broken.of[v]
	return ok && (b.still || since <= b.last), nil
}
