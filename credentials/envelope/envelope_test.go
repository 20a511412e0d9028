package envelope_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
	"github.com/pratique-dev/pratique/internal/canon"
)

type payload struct {
	Aud string `json:"aud"`
	N   uint64 `json:"n"`
}

// one resolves one key, for every type.
func one(k envelope.Key) envelope.Keys {
	return envelope.KeysFunc(func(_ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if kid != k.ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return k, nil
	})
}

func signers() map[string]crypto.Signer {
	return map[string]crypto.Signer{"EdDSA": vectortest.Ed25519("ed"), "ES256": vectortest.P256("ec")}
}

func newSigner(t testing.TB, typ envelope.Type, key crypto.Signer) *envelope.Signer {
	t.Helper()
	s, err := envelope.NewSigner(typ, key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustSign(t testing.TB, s *envelope.Signer, claims any) string {
	t.Helper()
	tok, err := s.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestSignAndOpenEveryType(t *testing.T) {
	for alg, key := range signers() {
		for _, typ := range envelope.Types() {
			if typ == envelope.Proof {
				continue
			}
			s := newSigner(t, typ, key)
			tok := mustSign(t, s, payload{Aud: "a", N: 1<<63 + 1})
			head, _ := base64.RawURLEncoding.DecodeString(tok[:strings.IndexByte(tok, '.')])
			if want := fmt.Sprintf(`{"alg":%q,"kid":%q,"typ":%q}`, alg, s.Key().ID, typ); string(head) != want {
				t.Errorf("header %s, want %s", head, want)
			}
			o, err := envelope.NewVerifier(one(s.Key())).Verify(typ, tok)
			if err != nil {
				t.Fatal(err)
			}
			var got payload
			if err := envelope.Claims(o, &got); err != nil || got != (payload{"a", 1<<63 + 1}) || o.Key.ID != s.Key().ID {
				t.Errorf("%s %s: %+v, %v", alg, typ, got, err)
			}
		}
	}
}

func TestProofOpensUnderItsOwnKey(t *testing.T) {
	for _, key := range signers() {
		s, err := envelope.NewProofSigner(key)
		if err != nil {
			t.Fatal(err)
		}
		o, err := envelope.OpenProof(mustSign(t, s, payload{Aud: "x"}))
		if err != nil || o.Key.ID != s.Key().ID {
			t.Errorf("%v, %v", o.Key.ID, err)
		}
	}
	if _, err := envelope.NewSigner(envelope.Proof, vectortest.Ed25519("ed")); !errors.Is(err, envelope.ErrType) {
		t.Errorf("a proof from NewSigner: %v", err)
	}
	if _, err := envelope.NewSigner("unknown+jwt", vectortest.Ed25519("ed")); !errors.Is(err, envelope.ErrType) {
		t.Errorf("an unknown type: %v", err)
	}
}

func TestVerifierDeniesByDefault(t *testing.T) {
	s := newSigner(t, envelope.Handle, vectortest.Ed25519("ed"))
	tok := mustSign(t, s, payload{})
	if _, err := envelope.NewVerifier(nil).Verify(envelope.Handle, tok); !errors.Is(err, envelope.ErrUnknownKey) {
		t.Errorf("no keys: %v", err)
	}
	for name, k := range map[string]envelope.Key{
		"zero key":          {},
		"another key":       newSigner(t, envelope.Handle, vectortest.Ed25519("other")).Key(),
		"id without key":    {ID: s.Key().ID},
		"key without alg":   {ID: s.Key().ID, Public: s.Key().Public},
		"nil public key":    {ID: s.Key().ID, Alg: envelope.EdDSA},
		"key of no kind":    {ID: s.Key().ID, Alg: envelope.EdDSA, Public: "not a key"},
		"short key":         {ID: s.Key().ID, Alg: envelope.EdDSA, Public: ed25519.PublicKey{1, 2, 3}},
		"nil pointer":       {ID: s.Key().ID, Alg: envelope.EdDSA, Public: (*ecdsa.PublicKey)(nil)},
		"alg is symmetric":  {ID: s.Key().ID, Alg: "HS256", Public: []byte("secret")},
		"alg of other kind": {ID: s.Key().ID, Alg: envelope.EdDSA, Public: vectortest.P256("ec").Public()},
	} {
		keys := envelope.KeysFunc(func(envelope.Type, credentials.KeyID) (envelope.Key, error) { return k, nil })
		if o, err := envelope.NewVerifier(keys).Verify(envelope.Handle, tok); err == nil || o.Payload != nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func TestNewKeyRefuses(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		pub  crypto.PublicKey
		want error
	}{
		"RSA":                 {&rsaKey.PublicKey, envelope.ErrKeyKind},
		"P-384 (ES256 bound)": {&p384.PublicKey, envelope.ErrKeyKind},
		"nil":                 {nil, envelope.ErrKeyKind},
		"nil P-256":           {(*ecdsa.PublicKey)(nil), envelope.ErrKeyKind},
		"P-256 without point": {&ecdsa.PublicKey{Curve: elliptic.P256()}, envelope.ErrKeyPoint},
		"secret bytes":        {[]byte("secret"), envelope.ErrKeyKind},
		"private key":         {vectortest.Ed25519("ed"), envelope.ErrKeyKind},
		"pointer to Ed25519":  {&ed25519.PublicKey{}, envelope.ErrKeyKind},
		"short Ed25519":       {ed25519.PublicKey(make([]byte, 31)), envelope.ErrKeyPoint},
		"neutral point":       {ed25519.PublicKey(append([]byte{1}, make([]byte, 31)...)), envelope.ErrKeyPoint},
		"Ed25519 off curve":   {ed25519.PublicKey(append([]byte{2}, make([]byte, 31)...)), envelope.ErrKeyPoint},
	} {
		if k, err := envelope.NewKey(c.pub); !errors.Is(err, c.want) || k.ID != "" {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// All fourteen encodings of points of low order.
func TestLowOrderKeysRefused(t *testing.T) {
	n := 0
	for _, h := range []string{
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		for _, sign := range []byte{0, 0x80} {
			raw := unhex(t, h)
			raw[31] |= sign
			if _, err := envelope.NewKey(ed25519.PublicKey(raw)); !errors.Is(err, envelope.ErrKeyPoint) {
				t.Errorf("%x: %v", raw, err)
			}
			n++
		}
	}
	if n != 14 {
		t.Errorf("%d encodings", n)
	}
}

// The test for the curve agrees with what signing makes and with how often a
// random y has a point (one in two).
func TestPointsOnTheCurve(t *testing.T) {
	on := 0
	for i := range 400 {
		pub := vectortest.Ed25519(fmt.Sprint("curve ", i)).Public().(ed25519.PublicKey)
		if !envelope.OnEd25519(pub) {
			t.Fatal("a real key is not on the curve")
		}
		if envelope.OnEd25519(sum(fmt.Append(nil, i))) {
			on++
		}
	}
	if on < 150 || on > 250 {
		t.Errorf("%d of 400 random y have a point", on)
	}
}

func TestClaimsAreAClosedSet(t *testing.T) {
	for name, c := range map[string]struct {
		claims string
		want   error
	}{
		"good":         {`{"aud":"a","n":1}`, nil},
		"duplicate":    {`{"aud":"good","aud":"evil","n":1}`, canon.ErrDuplicate},
		"another case": {`{"aud":"a","AUD":"evil"}`, canon.ErrMember},
		"unknown":      {`{"aud":"a","admin":true}`, canon.ErrMember},
		"null":         {`{"aud":null}`, canon.ErrNull},
		"array aud":    {`{"aud":["a"]}`, canon.ErrShape},
		"injected":     {`{"aud":"a"},"n":{}}`, canon.ErrTrailing},
		"not JSON":     {"\x00", canon.ErrNUL},
		"too deep":     {strings.Repeat("[", 100), canon.ErrDepth},
	} {
		var v payload
		err := envelope.Claims(envelope.Opened{Payload: []byte(c.claims)}, &v)
		if c.want == nil && err != nil || c.want != nil && (!errors.Is(err, c.want) || !errors.Is(err, envelope.ErrPayload)) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// Case O-13: what editors and shells put around a token is taken off or named;
// nothing about it ever reads as a bad signature.
func TestO13KeyfileNewline(t *testing.T) {
	s := newSigner(t, envelope.Handle, vectortest.Ed25519("ed"))
	tok := mustSign(t, s, payload{})
	verify := func(text string) error {
		clean, err := envelope.ParseToken(text)
		if err != nil {
			return err
		}
		_, err = envelope.NewVerifier(one(s.Key())).Verify(envelope.Handle, clean)
		return err
	}
	for name, text := range map[string]string{
		"as it is": tok, "line end": tok + "\n", "CRLF": tok + "\r\n", "blanks around": " " + tok + " ", "tab before": "\t" + tok,
		"several line ends": "\n\n" + tok + "\r\n\r\n", "byte order mark": "\ufeff" + tok + "\n",
	} {
		if err := verify(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	cut := len(tok) / 2
	for name, c := range map[string]struct {
		text string
		want error
		says string
	}{
		"line end inside":         {tok[:cut] + "\n" + tok[cut:], envelope.ErrBlank, "line end"},
		"CRLF inside":             {tok[:cut] + "\r\n" + tok[cut:] + "\r\n", envelope.ErrBlank, "line end"},
		"blank inside":            {tok[:cut] + " " + tok[cut:], envelope.ErrBlank, "white space"},
		"no-break space inside":   {tok[:cut] + "\u00a0" + tok[cut:], envelope.ErrBlank, "white space"},
		"byte order mark inside":  {tok[:cut] + "\ufeff" + tok[cut:], envelope.ErrTokenBOM, "byte order mark"},
		"UTF-16, little-endian":   {"\xff\xfe" + strings.Join(strings.Split(tok, ""), "\x00") + "\x00", envelope.ErrTokenBOM, "UTF-16"},
		"UTF-16, big-endian":      {"\xfe\xff\x00" + strings.Join(strings.Split(tok, ""), "\x00"), envelope.ErrTokenBOM, "UTF-16"},
		"UTF-16 without its mark": {strings.Join(strings.Split(tok, ""), "\x00") + "\x00", envelope.ErrTokenBOM, "UTF-16"},
		"two tokens":              {tok + "\n" + tok, envelope.ErrBlank, "line end"},
		"an empty file":           {"", envelope.ErrTokenSize, "empty"},
		"a file of line ends":     {"\r\n\n", envelope.ErrTokenSize, "empty"},
	} {
		err := verify(c.text)
		if !errors.Is(err, c.want) || errors.Is(err, envelope.ErrSignature) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	for name, text := range map[string]string{"line end": tok + "\n", "CRLF": tok + "\r\n", "blank": " " + tok} {
		if _, err := envelope.Precheck(text, envelope.Handle); !errors.Is(err, envelope.ErrBlank) {
			t.Errorf("Precheck itself tolerates nothing (%s): %v", name, err)
		}
	}
}

func TestErrorsRepeatNothing(t *testing.T) {
	for _, c := range vectortest.Cases(t) {
		_, err := envelope.NewVerifier(vectortest.Keys()).Verify(c.Typ, c.Token)
		if c.Typ == envelope.Proof {
			_, err = envelope.OpenProof(c.Token)
		}
		if err == nil {
			continue
		}
		for _, part := range strings.Split(c.Token, ".") {
			if len(part) > 8 && strings.Contains(err.Error(), part[:8]) || strings.Contains(err.Error(), "evil") {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
}

// The pre-check alone already knows only two algorithms: what is verified behind
// it need not be asked.
func TestPrecheckKnowsTwoAlgorithms(t *testing.T) {
	n := 0
	for _, c := range vectortest.Cases(t) {
		if !strings.HasPrefix(c.Name, "alg ") || !strings.HasSuffix(c.Name, ", signed with Ed25519") {
			continue
		}
		n++
		if _, err := envelope.Precheck(c.Token, c.Typ); !errors.Is(err, envelope.ErrAlg) {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	if n < 10 {
		t.Errorf("only %d cases", n)
	}
}

func TestSignerConcurrently(t *testing.T) {
	for _, key := range signers() {
		s := newSigner(t, envelope.Label, key)
		v := envelope.NewVerifier(one(s.Key()))
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for j := range 25 {
					tok, err := s.Sign(payload{N: uint64(i*100 + j)})
					if err == nil {
						_, err = v.Verify(envelope.Label, tok)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
}

// failing is a key that is out of reach, as one in a KMS can be.
type failing struct{ crypto.Signer }

var errKMS = errors.New("key is out of reach")

func (failing) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) { return nil, errKMS }

func TestSignerThatFails(t *testing.T) {
	s := newSigner(t, envelope.Handle, failing{vectortest.Ed25519("ed")})
	if tok, err := s.Sign(payload{}); !errors.Is(err, errKMS) || tok != "" {
		t.Errorf("%q, %v", tok, err)
	}
	if _, err := envelope.NewSigner(envelope.Handle, nil); !errors.Is(err, envelope.ErrKeyKind) {
		t.Errorf("no key: %v", err)
	}
	big := newSigner(t, envelope.Handle, vectortest.Ed25519("ed"))
	if tok, err := big.Sign(payload{Aud: strings.Repeat("a", envelope.MaxToken)}); !errors.Is(err, envelope.ErrTokenSize) || tok != "" {
		t.Errorf("a token that nobody would open was made: %v", err)
	}
}

func TestJWKOfAKey(t *testing.T) {
	for alg, key := range signers() {
		k, err := envelope.NewKey(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		for _, jwk := range [][]byte{k.JWK(), k.PublishedJWK()} {
			canonical, err := canon.JSON(jwk, canon.Limits{})
			if err != nil || string(canonical) != string(jwk) {
				t.Errorf("%s: not canonical: %s", alg, jwk)
			}
			back, err := envelope.ParseJWK(jwk)
			if err != nil || back.ID != k.ID || string(back.Alg) != alg {
				t.Errorf("%s: %v", alg, err)
			}
		}
		back, err := envelope.FromMembers(k.Members())
		if err != nil || back.ID != k.ID {
			t.Errorf("%s: %v", alg, err)
		}
	}
	if (envelope.Key{}).JWK() != nil || (envelope.Key{}).Members() != (credentials.PublicJWK{}) {
		t.Error("the zero key has a JWK")
	}
	if _, err := envelope.FromMembers(credentials.PublicJWK{}); !errors.Is(err, envelope.ErrKeyKind) {
		t.Errorf("no members: %v", err)
	}
}
