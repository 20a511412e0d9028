package envelope

import (
	"strings"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/internal/form"
)

// Unverified is a token that has the form of its type. Nothing in it may be
// believed: no signature has been checked.
type Unverified struct {
	Type    Type
	Alg     Alg               // as the header claims; the key record decides
	KeyID   credentials.KeyID // only ever a map key; empty for a proof
	Holder  Key               // the key in a proof's header; zero for others
	Payload []byte
}

// Precheck reads a compact JWS so strictly that no two JOSE libraries can
// disagree about the rest. tok holds the token and nothing else: white space
// around it is ErrBlank (see ParseToken). The header has exactly alg, kid and
// typ, for a proof exactly alg, jwk and typ, in any order.
func Precheck(tok string, typ Type) (Unverified, error) {
	var u Unverified
	limit := typ.Max()
	if limit == 0 {
		return u, ErrType
	}
	header, payload, err := form.Split(tok, limit)
	if err != nil {
		return u, err
	}
	u, err = checkHeader(header, typ)
	if err != nil {
		return Unverified{}, err
	}
	u.Payload = payload
	return u, nil
}

func checkHeader(raw []byte, typ Type) (Unverified, error) {
	h, err := form.ParseHeader(raw)
	if err != nil {
		return Unverified{}, err
	}
	switch {
	case h.Alg == nil || h.Typ == nil:
		return Unverified{}, ErrHeaderMember
	case (h.Kid == nil) != (typ == Proof) || (h.Jwk == nil) == (typ == Proof):
		return Unverified{}, ErrHeaderMember
	case *h.Typ != string(typ):
		return Unverified{}, ErrTyp
	}
	u := Unverified{Type: typ, Alg: Alg(*h.Alg)}
	if u.Alg != EdDSA && u.Alg != ES256 {
		return Unverified{}, ErrAlg
	}
	if typ != Proof {
		u.KeyID, err = credentials.ParseKeyID(*h.Kid)
		return u, err
	}
	if u.Holder, err = parseJWK(h.Jwk); err != nil {
		return Unverified{}, err
	}
	if u.Holder.Alg != u.Alg {
		return Unverified{}, ErrAlg
	}
	return u, nil
}

func hasLineEnd(s string) bool { return strings.ContainsAny(s, "\r\n") }

// ParseToken takes the text of a file, a flag or an environment variable that
// holds one token, and returns the token. It is the one place where blanks, tabs,
// line ends and a UTF-8 byte order mark around a token are tolerated, since
// editors and shells add them. Inside the token they are ErrBlank, UTF-16 is
// ErrTokenBOM: never a signature that "does not verify".
func ParseToken(text string) (string, error) {
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || strings.Contains(text, "\x00") {
		return "", ErrTokenBOM
	}
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.Trim(text, " \t\r\n\v\f")
	switch {
	case text == "" || len(text) > MaxListToken:
		return "", ErrTokenSize
	case strings.ContainsAny(text, " \t\r\n\v\f\u00a0\u0085\u2028\u2029\u200b"):
		return "", ErrBlank
	case strings.Contains(text, "\ufeff"):
		return "", ErrTokenBOM
	}
	return text, nil
}
