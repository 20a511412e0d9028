package client

import (
	"context"
	"crypto"
	"encoding/base64"
	"fmt"
	"io"
	"sync"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/proof"
	"github.com/pratique-dev/pratique/registry"
)

// DefaultRetries is how often an act of unknown outcome is repeated.
const DefaultRetries = 3

// Options of a Client. Nil and the zero value are strict.
type Options struct {
	Network

	// Retries is how often an act is repeated, under its command id, while its
	// outcome is unknown or the registry is busy; 0 means DefaultRetries,
	// negative never.
	Retries int
	// AutoRenew fetches a fresh handle, once per act, when the registry finds the
	// one shown expired, revoked or of an earlier generation. What the act
	// replaces stays what the caller saw: renewing never moves Handle.Base.
	AutoRenew bool
	// OnRenew is told of every handle that AutoRenew fetched, to keep it. It is
	// called on the goroutine of the act.
	OnRenew func(registry.HandleView)
}

// A Client speaks to one registry. It is safe for concurrent use.
type Client struct {
	*conn
	o      Options
	nonces nonces
}

// New makes a client of the registry at its external URL: the address that the
// registry itself is configured with, since proofs are made for it.
func New(registryURL string, opt *Options) (*Client, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	c, err := newConn(registryURL, o.Network)
	if err != nil {
		return nil, err
	}
	if o.Retries == 0 {
		o.Retries = DefaultRetries
	}
	return &Client{conn: c, o: o, nonces: nonces{latest: newBounded[credentials.KeyID, string](maxNonces)}}, nil
}

// URL is the registry's address in its normal form.
func (c *Client) URL() string { return c.base }

// Close gives idle connections back. The client stays usable.
func (c *Client) Close() { c.close() }

// maxNonces is how many keys' latest nonces one client remembers. A key whose
// nonce was forgotten costs one exchange more.
const maxNonces = 1024

// nonces are the latest nonces that the registry gave out, by key: a nonce is
// bound to the key that it was made for.
type nonces struct {
	mu     sync.Mutex
	latest *bounded[credentials.KeyID, string]
}

func (n *nonces) get(k credentials.KeyID) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, _ := n.latest.get(k)
	return v
}

func (n *nonces) put(k credentials.KeyID, nonce string) {
	if nonce == "" || len(nonce) > 512 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.latest.put(k, nonce)
}

// An Actor is a client that acts with one key: a registrant's, a delegate's, an
// operator's or a recovery key. It is safe for concurrent use if the key is.
type Actor struct {
	c      *Client
	key    crypto.Signer
	prover *proof.Prover
}

// As acts with a key, Ed25519 or P-256: one of credentials/keyring's files, or
// anything else that signs.
func (c *Client) As(key crypto.Signer) (*Actor, error) {
	p, err := proof.NewProver(key)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &Actor{c: c, key: key, prover: p}, nil
}

// KeyID is the thumbprint of the actor's key.
func (a *Actor) KeyID() credentials.KeyID { return a.prover.Key().ID }

// ID is the principal that the actor's key is.
func (a *Actor) ID() credentials.PrincipalID { return a.KeyID().Principal() }

// JWK is the public key, for those who delegate or transfer to it.
func (a *Actor) JWK() []byte { return a.prover.Key().JWK() }

// Client is what the actor acts through.
func (a *Actor) Client() *Client { return a.c }

type commandKey struct{}

// WithCommand has the next act run under this command id: an act whose outcome
// stayed unknown is repeated with its id, after a restart too, and happens once.
// Without it every act draws an id of its own.
func WithCommand(ctx context.Context, id registry.CommandID) context.Context {
	return context.WithValue(ctx, commandKey{}, id)
}

// command is the id to use: what the request says, what the context says, or a
// fresh one.
func (c *Client) command(ctx context.Context, given registry.CommandID) (registry.CommandID, error) {
	if given == "" {
		given, _ = ctx.Value(commandKey{}).(registry.CommandID)
	}
	if given != "" {
		return registry.ParseCommandID(string(given))
	}
	id, err := token(c.rand)
	return registry.CommandID(id), err
}

// token draws 128 random bits as text.
func token(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("client: random: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b[:]), nil
}
