package registry

import (
	"fmt"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
)

// ConductData is the data of tool.inspected and tool.observed: what the content of
// one version is by it. Neither says why: what an inspector found, and what was
// seen of which call, is for operators (RULES.md 22, 29).
type ConductData struct {
	Tool    credentials.ToolID  `json:"tool"`
	Gen     uint64              `json:"gen"`
	Ver     uint64              `json:"ver"`
	Mdg     credentials.Digest  `json:"mdg"`
	Content labels.Content      `json:"content"`
	Until   int64               `json:"until,omitzero"` // consistent: seconds since the epoch; afterwards it is inspected
	Spool   string              `json:"spool,omitzero"` // the deployment's own: where the decision on the call stands
	Entry   uint64              `json:"entry,omitzero"` //
	Token   credentials.Digest  `json:"token,omitzero"` // an enrolled observer's: of its statement, which is content
	Jti     credentials.TokenID `json:"jti,omitzero"`   // of it, spent
	Exp     int64               `json:"exp,omitzero"`   // of it
	N       uint64              `json:"n"`
	Last    uint64              `json:"last"`
}

// UsedData is the data of tool.used: this deployment carried a call of the tool, for
// the first time under the key that holds it now. Of the call nothing is said, nor
// of any other (RULES.md 29): that there was one, the label says from then on.
type UsedData struct {
	Tool credentials.ToolID `json:"tool"`
	Gen  uint64             `json:"gen"`
	N    uint64             `json:"n"`
	Last uint64             `json:"last"`
}

// ObserverData is the data of observer.enrolled and observer.dismissed.
type ObserverData struct {
	ID credentials.PrincipalID `json:"id"`
}

// EnrolObserver is an operator's: the principal may report what it saw tools do.
type EnrolObserver struct {
	CommandMeta
	Principal credentials.PrincipalID
}

// DismissObserver is an operator's. What the observer has reported stays.
type DismissObserver struct {
	CommandMeta
	Principal credentials.PrincipalID
}

// RecordInspection is the service's own command: the version with the digest Base
// was inspected. Content is Inspected, Suspect or Violated.
type RecordInspection struct {
	CommandMeta
	Tool    credentials.ToolID
	Base    credentials.Digest
	Content labels.Content
}

// RecordConduct is the service's own command, on what this deployment's gateway saw
// of calls that it carried (RULES.md 21): Violated, Suspect, or Consistent until a
// time. Spool and Entry are where the decision on the call stands, on the last one
// that counts where the content is Consistent.
type RecordConduct struct {
	CommandMeta
	Tool     credentials.ToolID
	Gen, Ver uint64
	Base     credentials.Digest
	Content  labels.Content
	Until    time.Time
	Spool    string
	Entry    uint64
}

// RecordUse is the service's own command: its gateway carried a cleared call of the
// version with the digest Base, which was decided on a log of View entries.
type RecordUse struct {
	CommandMeta
	Tool credentials.ToolID
	Gen  uint64
	Base credentials.Digest
	View uint64
}

// ReportTool is an enrolled observer's. It makes the version suspect at most, and
// opens a review; praise changes nothing.
type ReportTool struct {
	CommandMeta
	Tool        credentials.ToolID
	Observation Observation
	Token       []byte // of Observation
}

// ObservationOp is what an observer's statement on a tool says as op, so that no
// other statement of its key is taken for one.
const ObservationOp = "tool.observed"

// ObservationClaims are the claims of an observation+jwt about a tool (RULES.md
// 25): what an enrolled observer saw one version do.
type ObservationClaims struct {
	credentials.Registered
	Aud string             `json:"aud"`
	Op  string             `json:"op"` // ObservationOp
	Sub credentials.ToolID `json:"sub"`
	Gen uint64             `json:"gen"`
	Ver uint64             `json:"ver"`
	Mdg credentials.Digest `json:"mdg"`
	Saw []observe.Sign     `json:"saw"` // reportable ones, sorted, each once; none: it stayed within what it declared
}

// MaxObservationLife is the longest life of an observation.
const MaxObservationLife = time.Hour

// maxSaw bounds the signs of one observation; there are not that many.
const maxSaw = 32

// An Observation is a verified statement of an observer. The zero Observation says
// nothing of any tool.
type Observation struct{ claims *ObservationClaims }

// OpenObservation verifies a statement under its signer's own key. Whether that is
// an observer's, only the state can tell.
func OpenObservation(token string, by envelope.Key, audience string, now time.Time) (Observation, error) {
	keys := envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.Observation || kid != by.ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return by, nil
	})
	o, err := envelope.NewVerifier(keys).Verify(envelope.Observation, token)
	if err != nil {
		return Observation{}, fmt.Errorf("observation: %w", err)
	}
	var c ObservationClaims
	if err := envelope.Claims(o, &c); err != nil {
		return Observation{}, fmt.Errorf("observation: %w", err)
	}
	if err := c.check(by.ID, audience, now); err != nil {
		return Observation{}, fmt.Errorf("observation: %w", err)
	}
	return Observation{&c}, nil
}

func (c *ObservationClaims) check(by credentials.KeyID, audience string, now time.Time) error {
	switch {
	case c.Iss != string(by.Principal()):
		return credentials.ErrIssuer
	case c.Aud != audience:
		return credentials.ErrAudience
	case c.Op != ObservationOp, c.Gen == 0, c.Ver == 0, c.Mdg.IsZero(), c.Saw == nil, len(c.Saw) > maxSaw:
		return credentials.ErrClaims
	}
	if _, err := credentials.ParseToolID(string(c.Sub)); err != nil {
		return fmt.Errorf("%w: sub", credentials.ErrClaims)
	}
	for i, s := range c.Saw {
		if !observe.Reportable(s) || i > 0 && c.Saw[i-1] >= s {
			return fmt.Errorf("%w: saw", credentials.ErrClaims)
		}
	}
	return c.CheckTime(now, MaxObservationLife)
}

// ForVersion refuses an observation that is not of exactly this version.
func (o Observation) ForVersion(t *Tool) error {
	c := o.claims
	switch {
	case c == nil || c.Sub != t.Row.Tool:
		return ErrNotFound
	case c.Gen != t.Gen:
		return ErrStaleGeneration
	case c.Ver != t.Ver || c.Mdg != t.Digest:
		return ErrStaleBase
	}
	return nil
}

// Claims are the statement's, a copy; nil for the zero Observation.
func (o Observation) Claims() *ObservationClaims {
	if o.claims == nil {
		return nil
	}
	c := *o.claims
	c.Saw = slices.Clone(c.Saw)
	return &c
}

// Adverse tells whether it says anything against the tool.
func (o Observation) Adverse() bool { return o.claims != nil && len(o.claims.Saw) > 0 }

// A Review is open while an observer's word stands against a version and no
// operator has released or condemned it.
type Review struct {
	Tool     credentials.ToolID
	By       credentials.KeyID
	Gen, Ver uint64
	Mdg      credentials.Digest
	Token    credentials.Digest // of the statement, which is content
	Index    uint64             // ledger index of the observation
	At       int64              // milliseconds since the epoch
}

// ObservationContext is the digest context of an observer's statement in the log.
const ObservationContext = "pratique/observation/v1"
