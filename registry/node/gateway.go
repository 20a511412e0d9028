package node

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// What stands on a node beside the registry. The node knows none of it: a
// gateway is handed in as a handler, and takes from here what it decides by.

// A Mount is a handler that the node's listener answers with under a prefix, in
// front of everything that the registry checks of a request.
type Mount struct {
	Prefix  string // "/mcp": the path itself and what is below it
	Handler http.Handler
	// Drain is called at the stop, before requests under way are waited for; nil:
	// nothing to do.
	Drain func(ctx context.Context) error
}

// Mount adds a handler. It is called before Serve.
func (n *Node) Mount(m Mount) { n.mounts = append(n.mounts, m) }

// front puts the mounts before the registry's handler.
func (n *Node) front(next http.Handler) http.Handler {
	if len(n.mounts) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, m := range n.mounts {
			if r.URL.Path == m.Prefix || strings.HasPrefix(r.URL.Path, m.Prefix+"/") {
				m.Handler.ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (n *Node) drain(ctx context.Context) error {
	var err error
	for _, m := range n.mounts {
		if m.Drain != nil {
			err = errors.Join(err, m.Drain(ctx))
		}
	}
	return err
}

// Metrics adds collectors to /metrics; without it they are dropped.
func (n *Node) Metrics(cs ...prometheus.Collector) error {
	if n.metrics == nil {
		return nil
	}
	for _, c := range cs {
		if err := n.metrics.registry.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// Listeners are the addresses that the node listens on.
func (n *Node) Listeners() []string {
	var out []string
	if n.listener != nil {
		out = append(out, n.listener.Addr().String())
	}
	if n.admin != nil {
		out = append(out, n.admin.Addr().String())
	}
	return out
}

// Hosts are all values of the Host header that are answered.
func (n *Node) Hosts() []string {
	_, host, _ := strings.Cut(n.external, "://")
	return slices.Compact(append([]string{host}, n.hosts()...))
}

// Local tells whether the registry is reached on this machine alone, by its
// external URL.
func (n *Node) Local() bool { return local(n.external) }

// LogName is the name of the log, which is the folder's for as long as it lives.
func (n *Node) LogName() string { return n.ckpt.origin }

// Seal signs a message of the node to itself with the role key `state`.
func (n *Node) Seal(message []byte) ([]byte, error) { return snapshotKeys{n.ring}.sign(message) }

// Unseal verifies what Seal signed, by this or an earlier key.
func (n *Node) Unseal(message, signature []byte) error {
	return snapshotKeys{n.ring}.verify(message, signature)
}

// Operators verifies operators' acts, and their word over intents, by the keys that
// are operators' now.
func (n *Node) Operators() envelope.Verifier {
	return envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.OperatorAct && typ != envelope.Intent {
			return envelope.Key{}, envelope.ErrWrongRole
		}
		v, err := n.record.View()
		if err != nil {
			return envelope.Key{}, err
		}
		if !v.IsOperator(kid) {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		p, err := v.Principal(kid.Principal())
		if err != nil {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return envelope.ParseJWK(p.JWK)
	}))
}

// Unprotected tells whether the key lies unencrypted in the data folder, where
// whoever runs as this user can sign with it (RULES.md 13).
func (n *Node) Unprotected(kid credentials.KeyID) bool {
	key, err := keyring.LoadKeyFile(n.cfg.path(operatorKeyFile), secret.Value{})
	return err == nil && !key.Protected() && key.Key().ID == kid
}

// Agents is the registry's word on agents, for a gateway. An agent under watch
// is none where the registry is reached from elsewhere (RULES.md 12).
type Agents struct{ n *Node }

// Agents are the agents that the node knows.
func (n *Node) Agents() Agents { return Agents{n} }

// BySecret is the agent whose credential has this digest.
func (a Agents) BySecret(d credentials.Digest) (*registry.Agent, error) {
	v, err := a.n.record.View()
	if err != nil {
		return nil, err
	}
	return a.allowed(v.AgentBySecret(d))
}

// ByID is an agent's record.
func (a Agents) ByID(id credentials.AgentID) (*registry.Agent, error) {
	v, err := a.n.record.View()
	if err != nil {
		return nil, err
	}
	return a.allowed(v.Agent(id))
}

func (a Agents) allowed(g *registry.Agent, err error) (*registry.Agent, error) {
	if err == nil && g.Profile == string(policy.Watch) && !a.n.Local() {
		return nil, registry.ErrNotFound
	}
	return g, err
}

// Fresh is the size of the log that answers are from now, or why there is none.
func (a Agents) Fresh() (uint64, error) {
	if err := a.n.record.Fresh(); err != nil {
		return 0, err
	}
	v, err := a.n.record.View()
	if err != nil {
		return 0, err
	}
	return v.Head.Size, nil
}

// startLock is held while a folder is made, so that of several processes at the
// first start one makes keys, log and operator, and the others find them.
const startLock = "start.lock"

func (n *Node) lockFirstStart() (unlock func(), err error) {
	if n.opt.Offline {
		return func() {}, nil
	}
	_, keyErr := os.Lstat(n.cfg.path(operatorKeyFile))
	_, logErr := os.Lstat(n.cfg.path(logFolder))
	if keyErr == nil && logErr == nil {
		return func() {}, nil
	}
	if err := errors.Join(except(keyErr), except(logErr)); err != nil {
		return nil, err
	}
	l, err := durable.Lock(n.cfg.path(startLock))
	if err != nil {
		return nil, err
	}
	return func() { l.Unlock() }, nil
}

func except(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
