package labels

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
)

// Errors of a label that is good but not of what is about to be shown, or not
// good enough any more. Whoever gets one shows nothing.
var (
	ErrShown           = errors.New("what is to be shown is not fully given: issuer, metadata, tool and origin are required")
	ErrShownMetadata   = errors.New("metadata to be shown is not a JSON object with one canonical form")
	ErrOtherTool       = errors.New("label is of another tool")
	ErrOtherOrigin     = errors.New("label is of another origin")
	ErrOtherName       = errors.New("label is of another name")
	ErrOtherMetadata   = errors.New("metadata to be shown is not the metadata that the label is of")
	ErrOtherGeneration = errors.New("label is of another generation of the tool")
	ErrOtherVersion    = errors.New("label is of another version of the tool")
	ErrOtherOwner      = errors.New("label is of another owner")
	ErrOldSeq          = errors.New("label is older than one already seen for the tool")
	ErrLowered         = errors.New("tool's label was lowered since")
	ErrStale           = errors.New("key set is not fresh enough for a label above red")
	ErrLoweredList     = errors.New("list of lowered labels is not the one that the key set's freshness names")
)

// Freshness is what the reader of the label knows of the key set (RULES.md 24).
// The zero value is stale.
type Freshness struct {
	At       time.Time     // when the newest freshness statement was issued
	MaxStale time.Duration // how old it may be
	// Digest is what the freshness statement says of the lowered labels; zero
	// if the registry names none. Lowered is the list, which must fit.
	Digest  credentials.Digest
	Lowered Lowered
}

// Shown is what is about to be shown to an agent or a person. Every member that
// is set is compared.
type Shown struct {
	Issuer   string             // the registry whose word counts; required
	Metadata []byte             // the tool object, as received; required
	Tool     credentials.ToolID // required unless AnyTool
	Origin   origin.Origin      // required unless AnyOrigin
	Name     string             // as the origin calls it; the name in Metadata is compared in any case
	Gen      uint64             // 0: not known
	Ver      uint64             // 0: not known
	Owner    credentials.KeyID  // empty: not known
	MinSeq   uint64             // the highest seq kept for this tool

	// AnyTool and AnyOrigin are for a reader who has a label and metadata in
	// hand and asks whether they belong together, whatever they belong to.
	AnyTool, AnyOrigin bool

	Fresh Freshness
}

// Verified is a label that was held, member by member, against what is shown.
// The zero value is Red and of no tool.
type Verified struct {
	s    Statement
	text []byte
}

// Verify opens a label under the keys of v and holds it against what is about to
// be shown at now. It is Open and Show.
func Verify(v envelope.Verifier, token string, shown Shown, now time.Time) (Verified, error) {
	g, err := Open(v, token)
	if err != nil {
		return Verified{}, err
	}
	return g.Show(shown, now)
}

// Show holds the label against what is about to be shown at now. The digest of
// the metadata is computed anew each time.
func (g *Signed) Show(shown Shown, now time.Time) (Verified, error) {
	s := g.s
	switch {
	case shown.Issuer == "" || len(shown.Metadata) == 0,
		shown.Tool == "" && !shown.AnyTool, shown.Origin.IsZero() && !shown.AnyOrigin:
		return Verified{}, ErrShown
	case s.Iss != shown.Issuer:
		return Verified{}, credentials.ErrIssuer
	}
	if err := s.CheckTime(now, MaxLabelLife); err != nil {
		return Verified{}, err
	}
	if err := s.matches(&shown); err != nil {
		return Verified{}, err
	}
	text, err := s.covers(shown.Metadata)
	if err != nil {
		return Verified{}, err
	}
	if s.Seq < shown.MinSeq {
		return Verified{}, ErrOldSeq
	}
	if err := shown.Fresh.check(&s, now); err != nil {
		return Verified{}, err
	}
	return Verified{s, text}, nil
}

func (s *Statement) matches(w *Shown) error {
	switch {
	case w.Tool != "" && s.Sub != w.Tool:
		return ErrOtherTool
	case !w.Origin.IsZero() && s.Org != w.Origin:
		return ErrOtherOrigin
	case w.Name != "" && s.Name != w.Name:
		return ErrOtherName
	case w.Gen != 0 && s.Gen != w.Gen:
		return ErrOtherGeneration
	case w.Ver != 0 && s.Ver != w.Ver:
		return ErrOtherVersion
	case w.Owner != "" && s.Own != w.Owner:
		return ErrOtherOwner
	}
	return nil
}

// covers returns the canonical form of raw if it is what the label is of.
func (s *Statement) covers(raw []byte) ([]byte, error) {
	text, digest, err := canon.Metadata(raw)
	if err != nil {
		return nil, ErrShownMetadata
	}
	var named struct {
		Name *string `json:"name"`
	}
	if json.Unmarshal(text, &named) != nil || named.Name == nil {
		return nil, ErrShownMetadata
	}
	switch {
	case *named.Name != s.Name:
		return nil, ErrOtherName
	case credentials.Digest(digest) != s.Mdg:
		return nil, ErrOtherMetadata
	}
	return text, nil
}

// check refuses a label above Red without fresh keys, and any label that was
// lowered since. A freshness from the future is one by a clock ahead of ours,
// within the tolerance that tokens have.
func (f *Freshness) check(s *Statement, now time.Time) error {
	if s.Tier == Red {
		return nil
	}
	age := now.Sub(f.At)
	if f.At.IsZero() || age > f.MaxStale || age < -(credentials.Backdate+credentials.Leeway) {
		return ErrStale
	}
	if f.Digest.IsZero() {
		return nil
	}
	if f.Lowered.Digest() != f.Digest {
		return ErrLoweredList
	}
	if seq, ok := f.Lowered.Since(s.Sub); ok && s.Seq < seq {
		return ErrLowered
	}
	return nil
}

// Tier is the label's tier.
func (v Verified) Tier() Tier { return v.s.Tier }

// Tool is the tool that the label is of; empty for the zero value.
func (v Verified) Tool() credentials.ToolID { return v.s.Sub }

// Statement is a copy of the label's claims.
func (v Verified) Statement() Statement { return v.s }

// Metadata is the canonical form of what the label is of: what may be shown.
// It must not be changed.
func (v Verified) Metadata() []byte { return v.text }
