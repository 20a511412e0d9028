package labels

import (
	"errors"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/origin"
)

// MaxLabelLife is the longest life of a label, counted from its issue.
const MaxLabelLife = 24 * time.Hour

// Errors of statements.
var (
	ErrStatement = errors.New("label's claims are not those of its type")
	ErrTierCell  = errors.New("label's tier is not the one that its standing and content give")
)

// A Statement holds the claims of a tool-label+jwt: one version of one tool, what
// it is, and what we believe of it. It is immutable: a changed belief is another
// statement with a higher seq. It holds nothing of the inspector, so that a label
// is no oracle for whoever wants to slip past it (RULES.md 22).
type Statement struct {
	credentials.Registered
	Sub      credentials.ToolID `json:"sub"`
	Mdg      credentials.Digest `json:"mdg"` // of all metadata an agent can see
	Gen      uint64             `json:"gen"`
	Ver      uint64             `json:"ver"`
	Own      credentials.KeyID  `json:"own"` // thumbprint of the owner's key
	Org      origin.Origin      `json:"org"`
	Name     string             `json:"name"`
	Prv      credentials.Level  `json:"prv"`
	Tier     Tier               `json:"tier"`
	Standing Standing           `json:"standing"`
	Content  Content            `json:"content"`
	Seq      uint64             `json:"seq"` // ledger index of the event that last moved it
}

// members is how many claims a label has: all of them, each required.
const members = 5 + 12

// Check refuses a statement whose claims are incomplete or contradict each
// other. The tier is the cell of the table, or Red, which the registry may say
// of any tool (one that is withheld); a better or another one is ErrTierCell.
func (s *Statement) Check() error {
	if _, err := credentials.ParseToolID(string(s.Sub)); err != nil {
		return fmt.Errorf("%w: sub: %w", ErrStatement, err)
	}
	if _, err := credentials.ParseKeyID(string(s.Own)); err != nil {
		return fmt.Errorf("%w: own: %w", ErrStatement, err)
	}
	if err := credentials.CheckToolName(s.Name); err != nil {
		return fmt.Errorf("%w: name: %w", ErrStatement, err)
	}
	switch {
	case s.Iss == "":
		return fmt.Errorf("%w: iss is required", ErrStatement)
	case s.Mdg.IsZero():
		return fmt.Errorf("%w: mdg is required", ErrStatement)
	case s.Gen == 0 || s.Gen > credentials.MaxInt || s.Ver == 0 || s.Ver > credentials.MaxInt || s.Seq > credentials.MaxInt:
		return fmt.Errorf("%w: gen and ver are from 1, seq from 0, to 2^53-1", ErrStatement)
	case s.Org.IsZero():
		return fmt.Errorf("%w: org is required", ErrStatement)
	case s.Prv > credentials.LevelSrv:
		return fmt.Errorf("%w: prv: %w", ErrStatement, credentials.ErrLevel)
	case !s.Standing.Valid() || !s.Content.Valid():
		return fmt.Errorf("%w: standing and content are required", ErrStatement)
	case s.Tier != Red && s.Tier != Synthesize(s.Standing, s.Content):
		return ErrTierCell
	}
	return nil
}

// Sign checks the statement and signs it. Its life is bounded here too: a label
// that verifiers would refuse is not made.
func (s *Statement) Sign(signer *envelope.Signer) (string, error) {
	if err := s.Check(); err != nil {
		return "", err
	}
	if err := s.CheckTime(time.Unix(s.Iat, 0), MaxLabelLife); err != nil {
		return "", err
	}
	return signer.Sign(s)
}

// A Signed is a statement whose signature, type and claims are good. It says
// nothing about what anybody shows: only Show makes a Verified of it. It may be
// kept for as long as the keys do not change.
type Signed struct{ s Statement }

// Open verifies a label under the keys of v and decodes its claims.
func Open(v envelope.Verifier, token string) (*Signed, error) {
	o, err := v.Verify(envelope.Label, token)
	if err != nil {
		return nil, err
	}
	var s Statement
	if err := envelope.Claims(o, &s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStatement, err)
	}
	var all map[string]any
	if err := canon.Unmarshal(o.Payload, &all, canon.Limits{}); err != nil || len(all) != members {
		return nil, fmt.Errorf("%w: one is missing", ErrStatement) // its zero would be the worst, but it was not said
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Signed{s}, nil
}

// UnshownClaims are the claims before they were held against anything: for
// printing and for finding what to compare with.
func (g *Signed) UnshownClaims() Statement { return g.s }
