package node

import (
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store/sqlite"
	"github.com/pratique-dev/pratique/registry/writer"
)

// URL is the registry's external URL.
func (n *Node) URL() string { return n.external }

// AdminURL is where /livez, /readyz and /metrics are, or empty.
func (n *Node) AdminURL() string {
	if n.admin == nil {
		return ""
	}
	return "http://" + n.admin.Addr().String()
}

// OperatorKeyFile is the file with the operator's key, or empty where it was
// moved away.
func (n *Node) OperatorKeyFile() string { return n.operator }

// Ready is closed when Serve answers requests.
func (n *Node) Ready() <-chan struct{} { return n.ready }

// Keys administers the key ring.
func (n *Node) Keys() *Keys { return n.keys }

// Record is the writer.
func (n *Node) Record() *writer.Writer { return n.record }

// Store is the log.
func (n *Node) Store() *sqlite.Log { return n.store }

// Tiles gives proofs from the log.
func (n *Node) Tiles() *ledger.Tiles { return n.tiles }

// LedgerKeys are the verifier keys of the log, the active one first.
func (n *Node) LedgerKeys() ([]string, error) {
	s, err := n.ckpt.current()
	if err != nil {
		return nil, err
	}
	return s.VerifierKeys(), nil
}
