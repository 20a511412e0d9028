package state

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// Rows are the rows of one topology, as the log has them.
type Rows struct {
}

type topologyRows = Rows

// ReadRows reads the rows of a reading.
func ReadRows(d registry.TopologyData) (Rows, error) {
	return Rows{}, nil
}

// outcome is what the rows say of a registration, expiry aside: what they
// restrict stays restricted, and a row says until when it attests.
func (r Rows) outcome(name string, publisher credentials.KeyID, level credentials.Level) labels.Outcome {
	return labels.RowNone
}

// Takes reports whether the rows give a tool's name to others.
func (r Rows) Takes(t *registry.Tool, now time.Time) bool {
	return r.outcome(t.Name, t.Publisher, t.Level) == labels.RowViolated
}
