package ledger

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// Cosigner makes timestamped cosignatures (cosignature/v1 of
// c2sp.org/tlog-cosignature) under a witness's name. It is the bare key: only
// a Witness, which remembers what it signed, should hold one.
type Cosigner struct {
	key *keySigner
	now func() time.Time
}

// NewCosigner takes the witness's name and Ed25519 key; now gives the time
// that goes into a cosignature.
func NewCosigner(name string, key crypto.Signer, now func() time.Time) (*Cosigner, error) {
	k, err := newKeySigner(name, algCosignV1, key)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return nil, fmt.Errorf("%w: a cosigner needs a clock", ErrKey)
	}
	return &Cosigner{key: k, now: now}, nil
}

// VerifierKey is the witness's verifier key, of type cosignature/v1.
func (c *Cosigner) VerifierKey() string { return c.key.verifierKey() }

// Cosign returns the signature line for an opened checkpoint.
func (c *Cosigner) Cosign(cp Checkpoint) (string, error) {
	text, _, ok := strings.Cut(string(cp.Note), "\n\n")
	if !ok {
		return "", fmt.Errorf("%w: no signatures", ErrNote)
	}
	t := c.now().Unix()
	if t < 0 {
		return "", fmt.Errorf("%w: clock lies before 1970", ErrKey)
	}
	sig, err := c.key.Sign(cosignedMessage(uint64(t), []byte(text+"\n")))
	if err != nil {
		return "", fmt.Errorf("ledger: cosign: %w", err)
	}
	raw := binary.BigEndian.AppendUint32(nil, c.key.hash)
	raw = binary.BigEndian.AppendUint64(raw, uint64(t))
	raw = append(raw, sig...)
	return "— " + c.key.name + " " + base64.StdEncoding.EncodeToString(raw) + "\n", nil
}

// cosignedMessage is what a witness signs.
func cosignedMessage(t uint64, text []byte) []byte {
	return append([]byte("cosignature/v1\ntime "+strconv.FormatUint(t, 10)+"\n"), text...)
}

// verifyCosignature checks timestamp || signature over a checkpoint's text.
func verifyCosignature(pub ed25519.PublicKey, text, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	t := binary.BigEndian.Uint64(sig)
	return ed25519.Verify(pub, cosignedMessage(t, text), sig[8:])
}

// AddCosignatures adds to a checkpoint note those of the signature lines (as
// AskWitness returns them) that verify under the policy's witnesses. Lines of
// unknown keys are ignored, as the protocol asks; a wrong signature of a known
// witness, or none at all that is known, is ErrSignature and nothing is added.
func (p Policy) AddCosignatures(raw []byte, lines string) ([]byte, error) {
	text, _, ok := strings.Cut(string(raw), "\n\n")
	if !ok {
		return nil, fmt.Errorf("%w: no signatures", ErrNote)
	}
	n, err := note.Open([]byte(text+"\n\n"+lines), note.VerifierList(p.witnesses...))
	if err != nil {
		return nil, fmt.Errorf("%w: witness cosignature", ErrSignature)
	}
	out := slices.Clone(raw)
	for _, s := range n.Sigs {
		const keyID = 5 // base64 digits that hold nearly all of the key's hash
		if !strings.Contains(string(out), "\n— "+s.Name+" "+s.Base64[:keyID]) {
			out = append(out, "— "+s.Name+" "+s.Base64+"\n"...)
		}
	}
	return out, nil
}
