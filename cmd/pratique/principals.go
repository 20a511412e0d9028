package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/registry"
)

func principalsNoun() noun {
	id := func() *option {
		return &option{name: "id", arg: "PRINCIPAL", usage: `principal ("prn_...")`, required: true}
	}
	return noun{name: "principals", usage: "registrants: keys and what they may speak for", verbs: append([]verb{
		{
			name: "new", usage: "make a key file; nothing is sent anywhere",
			about: "The key is the principal: whoever has the file is it. The file has mode 0600 and is never overwritten. With a passphrase it is encrypted (age).",
			flags: append([]*option{
				{name: "out", arg: "FILE", usage: "key file to make", required: true},
				{name: "alg", arg: "ALG", usage: "EdDSA or ES256", def: "EdDSA"},
				{name: "public", arg: "FILE", usage: "also write the public key (JWK) here"},
			}, passphraseFlags()...),
			out: keyOutput{}, run: newPrincipal,
		},
		{
			name: "create", usage: "make the key a principal at a registry, with a recovery key",
			about: "Under the open policy the first registration of tools does this too, without a recovery key, which cannot be added later.",
			flags: actorFlags("the principal", &option{name: "recovery", arg: "FILE", usage: "public key (JWK) or key file of the key that may later move all of its tools"}),
			out:   principalOutput{}, run: createPrincipal,
		},
		{name: "show", usage: "show one principal", flags: registryFlags(id()), out: principalOutput{}, run: showPrincipal},
		{
			name: "enrol", usage: "operator: the principal speaks for an origin",
			flags: actorFlags("the operator", id(), &option{name: "origin", arg: "ORIGIN", usage: "origin that it speaks for", required: true}),
			out:   principalOutput{}, run: enrolPrincipal,
		},
		{
			name: "recover", usage: "recovery key or operator: move all tools of a principal to a new key",
			flags: actorFlags("the recovery or operator's key", &option{name: "from", arg: "PRINCIPAL", usage: "principal whose key was lost", required: true},
				&option{name: "to", arg: "FILE", usage: "key file of the new key, which accepts; or its public key with --accept", required: true},
				&option{name: "accept", arg: "TOKEN", usage: "the new key's acceptance, as principals accept prints it"}, yesFlag()),
			out: principalOutput{}, run: recoverPrincipal,
		},
		{
			name: "accept", usage: "new key: agree to take over all tools of a principal",
			flags: actorFlags("the new key", &option{name: "from", arg: "PRINCIPAL", usage: "principal whose key was lost", required: true}),
			out:   acceptOutput{}, run: acceptPrincipal,
		},
		{
			name: "condemn", usage: "operator: show nothing of this principal any more",
			flags: actorFlags("the operator", id(), reasonFlag(), yesFlag()),
			out:   principalOutput{}, run: condemnPrincipal,
		},
	}, principalsObserverVerbs(id)...)}
}

// keyOutput is what principals new prints.
type keyOutput struct {
	Key       string                  `json:"key" doc:"the key file"`
	Public    string                  `json:"public,omitzero" doc:"the file of the public key, if asked for"`
	ID        credentials.PrincipalID `json:"id" doc:"the principal that the key is"`
	Alg       envelope.Alg            `json:"alg"`
	JWK       jsontext.Value          `json:"jwk" doc:"the public key"`
	Protected bool                    `json:"protected" doc:"encrypted with a passphrase"`
}

func (o keyOutput) show(w io.Writer) {
	pairs(w, "principal", string(o.ID), "key", o.Key, "public key", o.Public, "encrypted", yesNo(o.Protected))
}

func newPrincipal(c *call) (any, error) {
	pass, err := c.passphrase()
	if err != nil {
		return nil, err
	}
	alg := envelope.Alg(c.str("alg"))
	if alg != envelope.EdDSA && alg != envelope.ES256 {
		return nil, usagef("--alg wants EdDSA or ES256")
	}
	p, err := keyring.NewKeyFile(c.str("out"), alg, pass, rand.Reader)
	if err != nil {
		return nil, err
	}
	k := p.Key()
	if pub := c.str("public"); pub != "" {
		if err := writeNew(pub, append(k.JWK(), '\n')); err != nil {
			return nil, err
		}
	}
	return keyOutput{c.str("out"), c.str("public"), k.ID.Principal(), k.Alg, k.JWK(), p.Protected()}, nil
}

// principalOutput is a principal as the registry shows it.
type principalOutput struct{ registry.PrincipalView }

func (o principalOutput) show(w io.Writer) {
	pairs(w, "principal", string(o.ID), "tools", strconv.Itoa(o.Tools), "enrolled for", strings.Join(o.Enrolled, ", "),
		"recovery key", string(o.Recovery), "operator", yesNo(o.Operator), "observer", yesNo(o.Observer), "condemned", yesNo(o.Condemned), "created", moment(o.Created))
}

func createPrincipal(c *call) (any, error) {
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	var recovery []byte
	if f := c.str("recovery"); f != "" {
		if recovery, err = c.publicKey(f); err != nil {
			return nil, err
		}
	}
	v, err := a.CreatePrincipal(ctx, recovery)
	return or(principalOutput{v}, err)
}

func showPrincipal(c *call) (any, error) {
	cl, err := c.client()
	if err != nil {
		return nil, err
	}
	id, err := c.principalID("id")
	if err != nil {
		return nil, err
	}
	v, err := cl.Principal(c, id)
	return or(principalOutput{v}, err)
}

// onPrincipal is an operator's act on the principal that --id names.
func (c *call) onPrincipal(act func(a *client.Actor, ctx context.Context, id credentials.PrincipalID) (registry.PrincipalView, error)) (any, error) {
	id, err := c.principalID("id")
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	v, err := act(a, ctx, id)
	return or(principalOutput{v}, err)
}

func enrolPrincipal(c *call) (any, error) {
	return c.onPrincipal(func(a *client.Actor, ctx context.Context, id credentials.PrincipalID) (registry.PrincipalView, error) {
		return a.Enrol(ctx, id, c.str("origin"))
	})
}

func recoverPrincipal(c *call) (any, error) {
	from, err := c.principalID("from")
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	to, err := c.publicKey(c.str("to"))
	if err != nil {
		return nil, err
	}
	accept := c.str("accept")
	if accept == "" {
		k, err := c.key("to")
		if err != nil {
			return nil, fmt.Errorf("--to without --accept: %w", err)
		}
		heir, _, err := c.actorOf(k)
		if err != nil {
			return nil, err
		}
		if accept, err = heir.AcceptAll(from); err != nil {
			return nil, err
		}
	}
	if err := c.sure(fmt.Sprintf("Move all tools of %s to another key?", from)); err != nil {
		return nil, err
	}
	v, err := a.Recover(ctx, from, to, accept)
	return or(principalOutput{v}, err)
}

// acceptOutput is a signed acceptance.
type acceptOutput struct {
	Accept string                  `json:"accept" doc:"the signed statement; good once, for an hour"`
	By     credentials.PrincipalID `json:"by"`
	JWK    jsontext.Value          `json:"jwk" doc:"public key of who accepts"`
}

func (o acceptOutput) show(w io.Writer) { fmt.Fprintln(w, o.Accept) }

func acceptPrincipal(c *call) (any, error) {
	from, err := c.principalID("from")
	if err != nil {
		return nil, err
	}
	a, _, err := c.actor()
	if err != nil {
		return nil, err
	}
	s, err := a.AcceptAll(from)
	return or(acceptOutput{s, a.ID(), a.JWK()}, err)
}

func condemnPrincipal(c *call) (any, error) {
	id, err := c.principalID("id")
	if err != nil {
		return nil, err
	}
	a, ctx, err := c.actor()
	if err != nil {
		return nil, err
	}
	if err := c.sure(fmt.Sprintf("Condemn %s and everything it registered?", id)); err != nil {
		return nil, err
	}
	v, err := a.CondemnPrincipal(ctx, id, c.str("reason"))
	return or(principalOutput{v}, err)
}

// or gives the output, or nothing with the error.
func or(out any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return out, nil
}
