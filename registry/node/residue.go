package node

import (
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/registry/runs"
)

// runsFolder is where the runs of the data folder are.
const runsFolder = "runs"

// Runs are the runs of agents on the data folder. They are opened at the first call,
// and closed with the node.
func (n *Node) Runs() (*runs.Store, error) {
	n.held.Do(func() {
		n.runs, n.runsErr = runs.Open(n.cfg.path(runsFolder), runs.Options{
			Now: n.opt.Now, Rand: n.opt.Rand, Acts: n.Operators(), Intents: n.Operators(), Observers: n.Observers(), Audience: n.LogName(), Registry: n.external, Unprotected: n.Unprotected,
		})
	})
	return n.runs, n.runsErr
}

func (n *Node) closeRuns() error {
	if n.runs == nil {
		return nil
	}
	return n.runs.Close()
}

// Observers verifies statements by the keys of those whom an operator enrolled as
// observers, and who are so now.
func (n *Node) Observers() envelope.Verifier {
	return envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.Observation {
			return envelope.Key{}, envelope.ErrWrongRole
		}
		v, err := n.record.View()
		if err != nil {
			return envelope.Key{}, err
		}
		if !v.IsObserver(kid) {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		p, err := v.Principal(kid.Principal())
		if err != nil {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return envelope.ParseJWK(p.JWK)
	}))
}
