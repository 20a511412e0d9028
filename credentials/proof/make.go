package proof

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// Params say what a proof is for. What the operation's Rule does not want must
// be left out, so that a client learns of a mistake before the server does.
type Params struct {
	Method string
	URL    string // absolute, at the address that the server calls its own; query and fragment are left out
	Op     Op
	ToolID credentials.ToolID
	Base   credentials.Digest // of the version being replaced
	Body   []byte             // exactly as it will be sent
	Handle string             // as it will be sent
	Nonce  string             // the server's; "" to be told one
	Now    time.Time
	Rand   io.Reader // nil: crypto/rand
}

// A Prover makes proofs with one key.
type Prover struct{ s *envelope.Signer }

// NewProver makes proofs with a key: Ed25519 or P-256.
func NewProver(key crypto.Signer) (*Prover, error) {
	s, err := envelope.NewProofSigner(key)
	if err != nil {
		return nil, err
	}
	return &Prover{s}, nil
}

// Key is the public half.
func (p *Prover) Key() envelope.Key { return p.s.Key() }

// Make makes one proof.
func (p *Prover) Make(q Params) (string, error) {
	c, err := newClaims(&q)
	if err != nil {
		return "", err
	}
	return p.s.Sign(c)
}

// Make makes one proof; whoever makes many keeps a Prover.
func Make(key crypto.Signer, q Params) (string, error) {
	p, err := NewProver(key)
	if err != nil {
		return "", err
	}
	return p.Make(q)
}

func newClaims(q *Params) (*claims, error) {
	rule, ok := rules[q.Op]
	if !ok {
		return nil, fmt.Errorf("%w: operation is not known", ErrRequest)
	}
	raw, _, _ := strings.Cut(q.URL, "#")
	raw, _, _ = strings.Cut(raw, "?")
	htu, err := normalise(raw)
	if err != nil {
		return nil, err
	}
	random := q.Rand
	if random == nil {
		random = rand.Reader
	}
	var jti [16]byte
	if _, err := io.ReadFull(random, jti[:]); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	c := &claims{
		Jti: base64.RawURLEncoding.EncodeToString(jti[:]), Htm: q.Method, Htu: htu,
		Iat: q.Now.Unix(), Op: q.Op,
	}
	if q.Nonce != "" {
		c.Nonce = &q.Nonce
	}
	if q.Handle != "" {
		sum := sha256.Sum256([]byte(q.Handle))
		c.Ath = new(base64.RawURLEncoding.EncodeToString(sum[:]))
	}
	if q.ToolID != "" {
		c.ToolID = new(string(q.ToolID))
	}
	if !q.Base.IsZero() {
		c.Base = new(q.Base.String())
	}
	if len(q.Body) > 0 {
		c.Bdg = new(credentials.Digest(sha256.Sum256(q.Body)).String())
	}
	return c, rule.check(c, len(q.Body) > 0)
}
