package envelope_test

import (
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/internal/vectortest"
)

func TestGoJoseOnOurTokens(t *testing.T) {
	v := envelope.NewVerifier(vectortest.Keys())
	for _, c := range vectortest.Cases(t) {
		o, err := v.Verify(c.Typ, c.Token)
		if c.Typ == envelope.Proof {
			if err != envelope.ErrType {
				t.Errorf("%s: a Verifier took a proof: %v", c.Name, err)
			}
			o, err = envelope.OpenProof(c.Token)
		}
		if !vectortest.Is(err, c.Verdict) {
			t.Errorf("%s: got %v, want %s", c.Name, err, c.Verdict)
		}
		if err != nil && (o.Payload != nil || o.Key.ID != "") {
			t.Errorf("%s: refused and yet opened", c.Name)
		}
	}
}

func TestHostileJWKs(t *testing.T) {
	for _, h := range vectortest.HostileJWKs() {
		k, err := envelope.ParseJWK([]byte(h.JWK))
		if !vectortest.Is(err, h.Verdict) || k.ID != "" {
			t.Errorf("%s: got %v, want %s", h.Name, err, h.Verdict)
		}
	}
}
