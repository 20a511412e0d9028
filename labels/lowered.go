package labels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
)

// LoweredContext is the digest context of a list of lowered labels.
const LoweredContext = "pratique/lowered/v1"

// MaxLowered is the longest list of lowered labels, in bytes of JSON.
const MaxLowered = 16 << 20

// ErrLoweredForm refuses a list of lowered labels that is not in its one form.
var ErrLoweredForm = errors.New("list of lowered labels is not canonical, sorted by tool, each tool once")

// A Lower says that the tier of a tool fell at a ledger index: labels of it with
// a smaller seq count no longer, though they have not expired.
type Lower struct {
	Tool  credentials.ToolID `json:"tool"`
	Seq   uint64             `json:"seq"`
	Until int64              `json:"until"` // seconds since the epoch when every such label has expired
}

// Lowered is the list of labels lowered within the life of a label (RULES.md
// 24). It has one text, hence one digest, which the key set's freshness carries.
// It is never changed; the zero value is the empty list.
type Lowered struct {
	list   []Lower
	digest credentials.Digest // of list; zero for the zero value
}

var emptyLowered = Lowered{}.sealed().digest

func (l Lowered) sealed() Lowered {
	l.digest = credentials.Digest(canon.Digest(LoweredContext, l.text()))
	return l
}

// NewLowered sorts the falls and drops what cannot matter at now any more. Of
// several falls of one tool the last counts.
func NewLowered(falls []Lower, now time.Time) Lowered {
	var l []Lower
	for _, f := range falls {
		if f.Until > now.Unix() {
			l = append(l, f)
		}
	}
	slices.SortFunc(l, func(a, b Lower) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(b.Seq, a.Seq), cmp.Compare(b.Until, a.Until))
	})
	l = slices.CompactFunc(l, func(a, b Lower) bool { return a.Tool == b.Tool })
	return Lowered{list: l}.sealed()
}

// Fell is the fall of a tool's tier at a ledger index and time.
func Fell(tool credentials.ToolID, seq uint64, at time.Time) Lower {
	return Lower{Tool: tool, Seq: seq, Until: at.Add(MaxLabelLife+credentials.Leeway).Unix() + 1}
}

// ParseLowered reads the text of a list. Only the canonical text is accepted.
func ParseLowered(raw []byte) (Lowered, error) {
	var l []Lower
	if err := canon.Unmarshal(raw, &l, canon.Limits{Bytes: MaxLowered, Depth: 2, NoNull: true}); err != nil {
		return Lowered{}, fmt.Errorf("%w: %w", ErrLoweredForm, err)
	}
	for i, f := range l {
		if _, err := credentials.ParseToolID(string(f.Tool)); err != nil {
			return Lowered{}, fmt.Errorf("%w: %w", ErrLoweredForm, err)
		}
		if f.Seq > credentials.MaxInt || f.Until <= 0 || f.Until > credentials.MaxInt || i > 0 && l[i-1].Tool >= f.Tool {
			return Lowered{}, ErrLoweredForm
		}
	}
	out := Lowered{list: l}
	if string(out.text()) != string(raw) {
		return Lowered{}, ErrLoweredForm
	}
	return out.sealed(), nil
}

// Digest is SHA-256 over the canonical text, under LoweredContext.
func (l Lowered) Digest() credentials.Digest {
	if l.digest.IsZero() {
		return emptyLowered
	}
	return l.digest
}

// Since is the ledger index at which the tool's tier last fell.
func (l Lowered) Since(tool credentials.ToolID) (seq uint64, ok bool) {
	i, ok := slices.BinarySearchFunc(l.list, tool, func(f Lower, t credentials.ToolID) int { return cmp.Compare(f.Tool, t) })
	if !ok {
		return 0, false
	}
	return l.list[i].Seq, true
}

// Len is how many tools are on the list.
func (l Lowered) Len() int { return len(l.list) }

// All is a copy of the list, sorted by tool.
func (l Lowered) All() []Lower { return slices.Clone(l.list) }

// JSON is the canonical text of the list.
func (l Lowered) JSON() jsontext.Value { return l.text() }

func (l Lowered) text() []byte {
	list := l.list
	if list == nil {
		list = []Lower{}
	}
	b, err := canon.Marshal(list)
	if err != nil { // strings and integers always marshal
		return nil
	}
	return b
}
