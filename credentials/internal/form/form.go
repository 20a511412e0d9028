// Package form reads the outer form of a compact JWS so strictly that no two
// JOSE libraries can disagree about the rest: three segments of canonical
// base64url, a signature of the one length we know, a header that is a strict
// JSON object with known members only.
//
// Which of the members a header must have is for package envelope. The reading
// is apart from it so that published test vectors, whose headers are not ours,
// run through the very code that ours run through.
package form

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/internal/canon"
)

// Errors of the form.
var (
	ErrTokenSize    = errors.New("token is empty or longer than its type allows")
	ErrBlank        = errors.New("white space or a line end stands in or around the token")
	ErrSegments     = errors.New("token is not three segments separated by dots")
	ErrEncoding     = errors.New("a segment is not canonical base64url without padding")
	ErrHeader       = errors.New("token header is not a strict JSON object")
	ErrHeaderMember = errors.New("token header has a member that its type does not allow, or lacks one")
	ErrSignature    = errors.New("signature does not verify")
)

const (
	maxHeader = 1 << 10
	sigBytes  = 64 // of both algorithms
)

var b64 = base64.RawURLEncoding.Strict()

// Split takes a token of up to limit bytes apart. The signature is only looked
// at: its encoding and length.
func Split(tok string, limit int) (header, payload []byte, err error) {
	switch {
	case tok == "" || len(tok) > limit:
		return nil, nil, ErrTokenSize
	case strings.ContainsAny(tok, " \t\r\n\v\f"): // encoding/base64 drops CR and LF
		return nil, nil, ErrBlank
	}
	head, rest, _ := strings.Cut(tok, ".")
	body, sig, ok := strings.Cut(rest, ".")
	if !ok || head == "" || body == "" || strings.Contains(sig, ".") {
		return nil, nil, ErrSegments
	}
	if header, err = b64.DecodeString(head); err != nil {
		return nil, nil, ErrEncoding
	}
	if payload, err = b64.DecodeString(body); err != nil {
		return nil, nil, ErrEncoding
	}
	if len(sig) != b64.EncodedLen(sigBytes) {
		if strings.Contains(sig, "=") {
			return nil, nil, ErrEncoding
		}
		return nil, nil, ErrSignature
	}
	var raw [sigBytes]byte
	if _, err := b64.Decode(raw[:], []byte(sig)); err != nil {
		return nil, nil, ErrEncoding
	}
	return header, payload, nil
}

// A Header holds the members that a header of ours can have; nil where absent.
type Header struct {
	Alg *string        `json:"alg"`
	Kid *string        `json:"kid"`
	Typ *string        `json:"typ"`
	Jwk jsontext.Value `json:"jwk"`
}

// ParseHeader reads a header. Members that Header does not have (jku, x5u, x5c,
// crit, b64, zip, cty, any other) are ErrHeaderMember, and stay unnamed: they
// are the sender's text.
//
// White space around the object is ErrHeader: jwx does not verify the bytes it
// received but what its decoder kept of them, which is without that space. It
// accepts a header with a blank put before it, and refuses one signed so.
func ParseHeader(raw []byte) (Header, error) {
	var h Header
	if len(raw) < 2 || raw[0] != '{' || raw[len(raw)-1] != '}' {
		return Header{}, ErrHeader
	}
	err := canon.Unmarshal(raw, &h, canon.Limits{Bytes: maxHeader, Depth: 3, NoNull: true})
	switch {
	case errors.Is(err, canon.ErrMember):
		return Header{}, ErrHeaderMember
	case err != nil:
		return Header{}, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	return h, nil
}
