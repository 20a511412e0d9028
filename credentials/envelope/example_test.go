package envelope_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
)

// A service signs a statement; a reader verifies it, asks for its claims, and is
// refused where the token is of another type or was altered.
func Example() {
	type statement struct {
		Sub string `json:"sub"`
	}
	key := ed25519.NewKeyFromSeed(make([]byte, 32)) // a real one is random and in a keyring
	signer, err := envelope.NewSigner(envelope.Label, key)
	if err != nil {
		panic(err)
	}
	tok, err := signer.Sign(statement{Sub: "a tool"})
	if err != nil {
		panic(err)
	}

	keys := envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if kid != signer.Key().ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return signer.Key(), nil
	})
	v := envelope.NewVerifier(keys)
	opened, err := v.Verify(envelope.Label, tok)
	if err != nil {
		panic(err)
	}
	var s statement
	fmt.Println(envelope.Claims(opened, &s), s.Sub)

	_, err = v.Verify(envelope.Handle, tok)
	fmt.Println(err)
	_, err = v.Verify(envelope.Label, tok[:len(tok)-2]+"AA")
	fmt.Println(err)
	// Output:
	// <nil> a tool
	// typ is not the type asked for
	// signature does not verify
}

// The state of now, which a registry's view has.
type registryNow struct{ gen uint64 }

// Live is asked on every Open, so that a stale generation is refused at once.
func (r registryNow) Live(h *credentials.HandleClaims) error {
	if h.Gen != r.gen {
		return errors.New("the tool has changed hands since")
	}
	return nil
}

// A cache saves the signature check, never the question whether the token still
// counts.
func ExampleCache() {
	now := time.Unix(1e9, 0)
	verified := 0
	c := envelope.NewCache(func(tok string) (*credentials.HandleClaims, time.Time, error) {
		verified++ // here the token would be verified and its claims checked
		return &credentials.HandleClaims{Gen: 1}, now.Add(time.Hour), nil
	}, func() uint64 { return 0 }, 0)
	for _, gen := range []uint64{1, 1, 2} {
		_, err := c.Open("a token", now, registryNow{gen})
		fmt.Println(verified, err)
	}
	// Output:
	// 1 <nil>
	// 1 <nil>
	// 1 the tool has changed hands since
}
