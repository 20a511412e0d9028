package ledger

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

// MaxNote is the length in bytes of the longest signed note that is read:
// room for a hundred signatures.
const MaxNote = 64 << 10

// Errors of checkpoints.
var (
	// ErrNote says that the bytes are no checkpoint in a signed note.
	ErrNote = errors.New("ledger: not a checkpoint note")
	// ErrSignature says that no key of the log that we know has signed it, or
	// that a known key's signature is wrong.
	ErrSignature = errors.New("ledger: checkpoint is not signed by a known key of the log")
	// ErrOrigin says that the note is another log's.
	ErrOrigin = errors.New("ledger: checkpoint is of another log")
	// ErrQuorum says that too few known witnesses have cosigned it.
	ErrQuorum = errors.New("ledger: checkpoint has too few witness cosignatures")
	// ErrKey refuses a key or a verifier key string.
	ErrKey = errors.New("ledger: not a usable ledger key")
)

// hash64Len is the length of a hash in base64.
const hash64Len = 44

// Signature types of c2sp.org/signed-note.
const (
	algEd25519  = 1
	algCosignV1 = 4
)

// Signer signs heads of one log. During a rotation it holds the old and the
// new key: the origin stays, and every note carries both signatures.
// Safe for concurrent use if its keys are.
type Signer struct {
	origin  string
	signers []note.Signer
	keys    []string
}

// NewSigner makes a Signer for the log named origin from Ed25519 keys, the
// active one first, then those in overlap. A key kept elsewhere (a KMS) only
// needs crypto.Signer; no key, two equal ones or another kind is ErrKey.
func NewSigner(origin string, keys ...crypto.Signer) (*Signer, error) {
	if !validName(origin) {
		return nil, fmt.Errorf("%w: origin must be without spaces and plus signs", ErrKey)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%w: no key given", ErrKey)
	}
	s := &Signer{origin: origin}
	for _, k := range keys {
		ks, err := newKeySigner(origin, algEd25519, k)
		if err != nil {
			return nil, err
		}
		vkey := ks.verifierKey()
		if slices.Contains(s.keys, vkey) {
			return nil, fmt.Errorf("%w: the same key twice", ErrKey)
		}
		s.signers = append(s.signers, ks)
		s.keys = append(s.keys, vkey)
	}
	return s, nil
}

// Origin is the log's name.
func (s *Signer) Origin() string { return s.origin }

// VerifierKeys lists the verifier keys ("origin+hash+key") that accept this
// signer's notes, the active one first.
func (s *Signer) VerifierKeys() []string { return slices.Clone(s.keys) }

// Sign returns the signed note of a head. Call it only for a head that is
// committed: see the package comment.
func (s *Signer) Sign(h Head) ([]byte, error) {
	n, err := note.Sign(&note.Note{Text: marshalHead(s.origin, h)}, s.signers...)
	if err != nil {
		return nil, fmt.Errorf("ledger: sign checkpoint %d: %w", h.Size, err)
	}
	return n, nil
}

// VerifierKey is the C2SP verifier key of an Ed25519 public key under a name:
// "name+hash+key", as served at /ledger/key.
func VerifierKey(name string, pub ed25519.PublicKey) (string, error) {
	if !validName(name) || len(pub) != ed25519.PublicKeySize {
		return "", ErrKey
	}
	return encodeVerifierKey(name, algEd25519, pub), nil
}

// Checkpoint is an opened, that is verified, checkpoint.
type Checkpoint struct {
	Origin string
	Head
	Note      []byte   // the verified bytes
	Witnesses []string // names of known witnesses whose cosignature is right
}

// Policy says which checkpoints are believed: those of one origin, signed by
// one of its keys and cosigned by at least Quorum of the witnesses. The zero
// Policy believes none.
type Policy struct {
	origin    string
	logs      []note.Verifier
	witnesses []note.Verifier
	quorum    int
}

// NewPolicy takes verifier keys of one log; in a rotation, the old and the
// new. All must have the same name, which is the origin.
func NewPolicy(vkeys ...string) (Policy, error) {
	var p Policy
	for _, k := range vkeys {
		v, err := parseVerifierKey(k, algEd25519)
		if err != nil {
			return Policy{}, err
		}
		if p.origin != "" && v.Name() != p.origin {
			return Policy{}, fmt.Errorf("%w: keys of two origins", ErrKey)
		}
		p.origin = v.Name()
		p.logs = append(p.logs, v)
	}
	if len(p.logs) == 0 {
		return Policy{}, fmt.Errorf("%w: no verifier key given", ErrKey)
	}
	return p, nil
}

// WithWitnesses returns the policy that also demands quorum cosignatures of
// the witnesses with these verifier keys (c2sp.org/tlog-cosignature).
func (p Policy) WithWitnesses(quorum int, vkeys ...string) (Policy, error) {
	p.quorum, p.witnesses = quorum, nil
	for _, k := range vkeys {
		v, err := parseVerifierKey(k, algCosignV1)
		if err != nil {
			return Policy{}, err
		}
		for _, w := range p.witnesses {
			if w.Name() == v.Name() {
				return Policy{}, fmt.Errorf("%w: two keys of one witness", ErrKey)
			}
		}
		p.witnesses = append(p.witnesses, v)
	}
	if quorum < 0 || quorum > len(p.witnesses) {
		return Policy{}, fmt.Errorf("%w: quorum %d of %d witnesses", ErrKey, quorum, len(p.witnesses))
	}
	return p, nil
}

// Origin is the name of the log whose checkpoints are believed.
func (p Policy) Origin() string { return p.origin }

// Open verifies a signed note under the policy.
func (p Policy) Open(raw []byte) (Checkpoint, error) {
	if len(raw) > MaxNote {
		return Checkpoint{}, fmt.Errorf("%w: longer than %d bytes", ErrNote, MaxNote)
	}
	if len(p.logs) == 0 {
		return Checkpoint{}, ErrSignature
	}
	n, err := note.Open(raw, note.VerifierList(append(slices.Clone(p.logs), p.witnesses...)...))
	if _, none := errors.AsType[*note.UnverifiedNoteError](err); none {
		return Checkpoint{}, ErrSignature
	} else if _, bad := errors.AsType[*note.InvalidSignatureError](err); bad {
		return Checkpoint{}, ErrSignature
	} else if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %v", ErrNote, err)
	}
	origin, h, err := parseHead(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if origin != p.origin {
		return Checkpoint{}, ErrOrigin
	}
	c := Checkpoint{Origin: origin, Head: h, Note: slices.Clone(raw)}
	signed := false
	for _, s := range n.Sigs {
		is := func(v note.Verifier) bool { return v.Name() == s.Name && v.KeyHash() == s.Hash }
		signed = signed || slices.ContainsFunc(p.logs, is)
		if slices.ContainsFunc(p.witnesses, is) {
			c.Witnesses = append(c.Witnesses, s.Name)
		}
	}
	if !signed {
		return Checkpoint{}, ErrSignature
	}
	if len(c.Witnesses) < p.quorum {
		return Checkpoint{}, fmt.Errorf("%w: %d of %d", ErrQuorum, len(c.Witnesses), p.quorum)
	}
	return c, nil
}

// ParseUnverified reads origin and head of a note without looking at its
// signatures: for choosing what to verify and for messages, never for trust.
func ParseUnverified(raw []byte) (origin string, h Head, err error) {
	if len(raw) > MaxNote {
		return "", Head{}, fmt.Errorf("%w: longer than %d bytes", ErrNote, MaxNote)
	}
	text, _, ok := strings.Cut(string(raw), "\n\n")
	if !ok {
		return "", Head{}, fmt.Errorf("%w: no signatures", ErrNote)
	}
	return parseHead(text + "\n")
}

// marshalHead gives the text that is signed.
func marshalHead(origin string, h Head) string {
	return origin + "\n" + strconv.FormatUint(h.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(h.Root[:]) + "\n"
}

// parseHead reads a checkpoint's text strictly: one spelling per head, so that
// equal heads are equal bytes. Extension lines are allowed and ignored.
func parseHead(text string) (string, Head, error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 {
		return "", Head{}, fmt.Errorf("%w: fewer than three lines", ErrNote)
	}
	if lines[0] == "" {
		return "", Head{}, fmt.Errorf("%w: empty origin", ErrNote)
	}
	var h Head
	size, err := strconv.ParseUint(lines[1], 10, 63)
	if err != nil || strconv.FormatUint(size, 10) != lines[1] {
		return "", Head{}, fmt.Errorf("%w: size", ErrNote)
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != sha256.Size || len(lines[2]) != hash64Len { // the decoder skips \r
		return "", Head{}, fmt.Errorf("%w: root hash", ErrNote)
	}
	h.Size = size
	copy(h.Root[:], root)
	if size == 0 && h != EmptyHead() {
		return "", Head{}, fmt.Errorf("%w: root of an empty log", ErrNote)
	}
	return lines[0], h, nil
}

// keySigner is a note.Signer over a crypto.Signer that holds an Ed25519 key.
type keySigner struct {
	name string
	alg  byte
	pub  ed25519.PublicKey
	hash uint32
	key  crypto.Signer
}

func newKeySigner(name string, alg byte, key crypto.Signer) (*keySigner, error) {
	if key == nil {
		return nil, fmt.Errorf("%w: no key given", ErrKey)
	}
	pub, ok := key.Public().(ed25519.PublicKey)
	if !ok || len(pub) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: checkpoints are signed with Ed25519", ErrKey)
	}
	if !validName(name) {
		return nil, fmt.Errorf("%w: name must be without spaces and plus signs", ErrKey)
	}
	return &keySigner{name: name, alg: alg, pub: pub, hash: keyHash(name, alg, pub), key: key}, nil
}

func (s *keySigner) Name() string        { return s.name }
func (s *keySigner) KeyHash() uint32     { return s.hash }
func (s *keySigner) verifierKey() string { return encodeVerifierKey(s.name, s.alg, s.pub) }

// Sign never uses randomness: Ed25519 signatures are deterministic, so that a
// repeated signature of one head is the same bytes.
func (s *keySigner) Sign(msg []byte) ([]byte, error) {
	return s.key.Sign(nil, msg, crypto.Hash(0))
}

// verifierFunc is a note.Verifier.
type verifierFunc struct {
	name   string
	hash   uint32
	verify func(msg, sig []byte) bool
}

func (v *verifierFunc) Name() string                { return v.name }
func (v *verifierFunc) KeyHash() uint32             { return v.hash }
func (v *verifierFunc) Verify(msg, sig []byte) bool { return v.verify(msg, sig) }

func encodeVerifierKey(name string, alg byte, pub ed25519.PublicKey) string {
	return fmt.Sprintf("%s+%08x+%s", name, keyHash(name, alg, pub), base64.StdEncoding.EncodeToString(append([]byte{alg}, pub...)))
}

// parseVerifierKey reads a verifier key string of the wanted type, with the
// hash recomputed: a key that names itself wrongly is refused.
func parseVerifierKey(vkey string, want byte) (note.Verifier, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	_, key64, _ := strings.Cut(rest, "+")
	key, err := base64.StdEncoding.Strict().DecodeString(key64)
	if err != nil || !validName(name) || len(key) != 1+ed25519.PublicKeySize {
		return nil, fmt.Errorf("%w: malformed verifier key", ErrKey)
	}
	if key[0] != want {
		return nil, fmt.Errorf("%w: verifier key of type %d, want %d", ErrKey, key[0], want)
	}
	pub := ed25519.PublicKey(key[1:])
	if encodeVerifierKey(name, want, pub) != vkey {
		return nil, fmt.Errorf("%w: verifier key has the wrong hash", ErrKey)
	}
	v := &verifierFunc{name: name, hash: keyHash(name, want, pub)}
	v.verify = func(msg, sig []byte) bool { return len(sig) == ed25519.SignatureSize && ed25519.Verify(pub, msg, sig) }
	if want == algCosignV1 {
		v.verify = func(msg, sig []byte) bool { return verifyCosignature(pub, msg, sig) }
	}
	return v, nil
}

// keyHash is the key ID of c2sp.org/signed-note.
func keyHash(name string, alg byte, pub ed25519.PublicKey) uint32 {
	sum := sha256.Sum256(slices.Concat([]byte(name), []byte{'\n', alg}, pub))
	return binary.BigEndian.Uint32(sum[:])
}

// validName is the rule of c2sp.org/signed-note for key names.
func validName(s string) bool {
	return s != "" && utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '+' || unicode.IsControl(r) }) < 0
}
