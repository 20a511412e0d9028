package baseline

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine"
)

// Errors of baselines. On each of them nothing of the upstream may be shown.
var (
	ErrDamaged = errors.New("baseline: the file of this upstream is damaged or was changed by somebody else; look at it, then restore or remove it")
	ErrAct     = errors.New("baseline: the acceptance was not made by an operator for exactly this")
	ErrLimit   = errors.New("baseline: more items or bytes than a baseline holds")
	ErrMissing = errors.New("baseline: no such item is waiting")
	ErrStale   = errors.New("baseline: the item has changed since it was reviewed")

	ErrVerdict   = errors.New("baseline: the text of the item is not clear: it is released, not accepted")
	ErrNotHeld   = errors.New("baseline: the text of the item is clear: it is accepted, not released")
	ErrCondemned = errors.New("baseline: the item is condemned: only a release undoes that")
	ErrOwn       = errors.New("baseline: a registrant releases nothing of its own tool")
)

// A Kind is what an item of a surface is.
type Kind string

// The kinds. Of Server and Instructions an upstream has one each, without name.
const (
	Tool         Kind = "tool"
	Prompt       Kind = "prompt"
	Resource     Kind = "resource" // named by its URI
	Template     Kind = "template" // named by its URI template
	Instructions Kind = "instructions"
	Server       Kind = "server"
)

// Kinds are all kinds in the order in which they are shown.
func Kinds() []Kind { return []Kind{Server, Instructions, Tool, Prompt, Resource, Template} }

// Known tells whether the kind is one of Kinds.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// A Key names an item of one upstream. It is comparable.
type Key struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name,omitzero"`
}

// Compare orders keys: kinds as Kinds has them, then names by their bytes.
func (k Key) Compare(o Key) int {
	if k.Kind != o.Kind {
		return slices.Index(Kinds(), k.Kind) - slices.Index(Kinds(), o.Kind)
	}
	return strings.Compare(k.Name, o.Name)
}

// How an item or a launch came to be accepted.
const (
	ByFirstSight = "first-sight" // it was there when the upstream was first seen
	ByOperator   = "operator"    // an operator's act
	ByRegistrant = "registrant"  // the attested registrant's own registration; whoever uses it asks the registry again
	ByWording    = "wording"     // nothing but wording changed, and the policy lets that pass
)

// An Accepted is an item as it was accepted. Accepted items are shared and never
// changed in place.
type Accepted struct {
	Key
	ID     credentials.ToolID `json:"id"`  // drawn at first sight
	Gen    uint64             `json:"gen"` // raised when the name comes back after it was gone
	Ver    uint64             `json:"ver"` // counts acceptances in the generation, from 1
	Digest credentials.Digest `json:"digest"`
	Raw    jsontext.Value     `json:"raw"` // canonical JSON, whole
	By     string             `json:"by"`
	At     int64              `json:"at"`                   // milliseconds since the epoch
	Act    string             `json:"act,omitzero"`         // of an operator: the signed act
	Loose  bool               `json:"unprotected,omitzero"` // signed with a key that lay unencrypted (RULES.md 13)
	Gone   bool               `json:"gone,omitzero"`        // no longer listed; not shown
	// Released is the verdict with which an operator released it; empty: it was
	// accepted only, and is shown while its verdict is clear.
	Released string `json:"released,omitzero"`
	Broken   bool   `json:"-"` // the act does not verify: counts as not accepted
}

// A Condemned is a version that an operator condemned: it is violated, whatever is
// accepted, until an operator releases it. That the operator is still one does not
// matter: a key that is revoked clears nothing.
type Condemned struct {
	Key
	Digest credentials.Digest `json:"digest"`
	Gen    uint64             `json:"gen"`
	Ver    uint64             `json:"ver"` // of what waited: the version that it would have become
	At     int64              `json:"at"`  // milliseconds since the epoch
	Act    string             `json:"act"`
	By     credentials.KeyID  `json:"by"`
	Loose  bool               `json:"unprotected,omitzero"`
}

// A version is one digest under a name.
type version struct {
	Key
	digest credentials.Digest
}

// A Pending is an item as it was last seen where that is not what was accepted.
type Pending struct {
	Key
	Digest  credentials.Digest   `json:"digest"`
	Raw     jsontext.Value       `json:"raw"`            // canonical JSON, whole
	Was     credentials.Digest   `json:"was,omitzero"`   // what is accepted; zero: nothing
	Verdict string               `json:"verdict"`        // of the inspector when it was seen, by its name
	Found   []quarantine.Finding `json:"found,omitzero"` // why; the first MaxFound
	At      int64                `json:"at"`             // milliseconds since the epoch
}

// A Pinned is an accepted launch.
type Pinned struct {
	Launch Launch `json:"launch"`
	By     string `json:"by"`
	At     int64  `json:"at"` // milliseconds since the epoch
	Act    string `json:"act,omitzero"`
	Loose  bool   `json:"unprotected,omitzero"`
	Broken bool   `json:"-"`
}

// A Baseline is what was accepted of one upstream, at one revision. It is shared
// between readers and never changed.
type Baseline struct {
	origin   string
	revision uint64
	seen     int64 // when the surface was first seen complete, ms; 0: never
	launch   *Pinned
	next     *Launch // the last differing launch
	accepted map[Key]*Accepted
	pending  map[Key]*Pending
	spent    map[credentials.TokenID]int64 // jti -> exp of acts that were used

	condemned map[version]*Condemned
}

// Origin is the upstream's origin in text form.
func (b *Baseline) Origin() string { return b.origin }

// Revision counts the changes; 0 is an upstream that was never seen.
func (b *Baseline) Revision() uint64 { return b.revision }

// Seen tells whether the surface was seen complete once: what is new from then
// on is not first sight.
func (b *Baseline) Seen() bool { return b.seen != 0 }

// Accepted is the accepted item of this name, nil if there is none, it is gone,
// or its acceptance does not verify.
func (b *Baseline) Accepted(k Key) *Accepted {
	a := b.accepted[k]
	if a == nil || a.Gone || a.Broken {
		return nil
	}
	return a
}

// Known is the item of this name whatever became of it: gone and broken ones
// too. Nothing follows from it but id and generation.
func (b *Baseline) Known(k Key) *Accepted { return b.accepted[k] }

// Pending is what waits under this name, or nil.
func (b *Baseline) Pending(k Key) *Pending { return b.pending[k] }

// Items are all accepted items in order, broken and gone ones too.
func (b *Baseline) Items() []*Accepted {
	return slices.SortedFunc(maps.Values(b.accepted), func(x, y *Accepted) int { return x.Key.Compare(y.Key) })
}

// Waiting are all pending items in order.
func (b *Baseline) Waiting() []*Pending {
	return slices.SortedFunc(maps.Values(b.pending), func(x, y *Pending) int { return x.Key.Compare(y.Key) })
}

// Condemned is what an operator said of this digest of an item, nil for nothing.
func (b *Baseline) Condemned(k Key, d credentials.Digest) *Condemned {
	return b.condemned[version{k, d}]
}

// CondemnedVersion tells whether a version of an item was condemned, by its
// numbers: what it returned is not to be trusted any more.
func (b *Baseline) CondemnedVersion(k Key, gen, ver uint64) bool {
	for v, c := range b.condemned {
		if v.Key == k && c.Gen == gen && c.Ver == ver {
			return true
		}
	}
	return false
}

// Condemnations are all of them, in the order of their items.
func (b *Baseline) Condemnations() []*Condemned {
	return slices.SortedFunc(maps.Values(b.condemned), func(x, y *Condemned) int {
		return cmp.Or(x.Key.Compare(y.Key), bytes.Compare(x.Digest[:], y.Digest[:]))
	})
}

// Launch is the pin of the launch, nil if none was recorded.
func (b *Baseline) Launch() *Pinned { return b.launch }

// NextLaunch is the last launch seen that differs from the pin, or nil.
func (b *Baseline) NextLaunch() *Launch { return b.next }

// LaunchStanding is what a launch says of the upstream's origin (RULES.md 19,
// 36): pinned where it is the accepted one, unknown where it fetches code
// without exact version and integrity and no operator accepted that, vetoed
// where it is another than the accepted one. Of an upstream without a pin it is
// what it will be when it is pinned at first sight. A nil launch is of an
// endpoint: pinned, since the URL is the origin.
func (b *Baseline) LaunchStanding(l *Launch) labels.Standing {
	switch {
	case l == nil && b.launch == nil:
		return labels.Pinned
	case l == nil:
		return labels.Vetoed
	case b.launch != nil && (b.launch.Broken || !b.launch.Launch.Equal(l)):
		return labels.Vetoed
	case l.Unpinned && (b.launch == nil || b.launch.By != ByOperator):
		return labels.Unknown
	}
	return labels.Pinned
}
