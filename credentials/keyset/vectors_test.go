package keyset_test

import (
	"errors"
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
	"github.com/pratique-dev/pratique/credentials/keyset"
)

// Wycheproof pins every verdict, here for jwx and in envelope for go-jose: both
// answering all 476 alike is 0 disagreements.
func TestWycheproofJwx(t *testing.T) { vectortest.CheckWycheproof(t, keyset.OpenUnder) }

func TestCookbookJwx(t *testing.T) { vectortest.CheckCookbook(t, keyset.OpenUnder) }

func TestBothLibrariesOnOurTokens(t *testing.T) {
	jwx, gojose := keyset.NewVerifier(vectortest.Keys()), envelope.NewVerifier(vectortest.Keys())
	for _, c := range vectortest.Cases(t) {
		if c.Typ == envelope.Proof {
			if _, err := jwx.Verify(c.Typ, c.Token); !errors.Is(err, envelope.ErrType) {
				t.Errorf("%s: jwx was shown a proof, whose key is foreign: %v", c.Name, err)
			}
			continue
		}
		o, err := jwx.Verify(c.Typ, c.Token)
		if !vectortest.Is(err, c.Verdict) {
			t.Errorf("%s: jwx: got %v, want %s", c.Name, err, c.Verdict)
		}
		disagree(t, c.Name, o, err, gojose, c.Typ, c.Token)
	}
}

// disagree fails when go-jose says other than jwx said.
func disagree(t *testing.T, name string, o envelope.Opened, err error, gojose envelope.Verifier, typ envelope.Type, tok string) {
	t.Helper()
	o2, err2 := gojose.Verify(typ, tok)
	if (err == nil) != (err2 == nil) || string(o.Payload) != string(o2.Payload) || o.Key.ID != o2.Key.ID {
		t.Errorf("%s: jwx %v, go-jose %v", name, err, err2)
	}
}

// The eight keys on which libraries panic, hang or accept, as members of a set.
func TestHostileKeysInASet(t *testing.T) {
	for _, h := range vectortest.HostileJWKs() {
		if s, err := keyset.ParseJWKS([]byte(`{"keys":[` + h.JWK + `]}`)); err == nil || s != nil {
			t.Errorf("%s: accepted", h.Name)
		}
	}
}
