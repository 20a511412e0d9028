package state

import (
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// Rows are the rows of one topology, as the log has them.
type Rows struct{ t *labels.Topology }

type topologyRows = Rows

// ReadRows reads the rows of a reading that is in the log.
func ReadRows(d registry.TopologyData) (Rows, error) {
	rows, err := labels.ParseRows(d.Rows)
	if err != nil {
		return Rows{}, err
	}
	o, err := origin.Parse(d.Origin)
	if err != nil {
		return Rows{}, err
	}
	return Rows{&labels.Topology{Origin: o, Ver: d.Ver, Site: d.Site, Rows: rows, Expires: time.Unix(d.Exp, 0)}}, nil
}

// Topology is what the origin is known to have declared; nil where nothing was
// read.
func (o *Origin) Declared() *labels.Topology {
	if o == nil || o.Topology == nil {
		return nil
	}
	return o.rows.t
}

// find is what the rows say of a registration, expiry aside: what they
// restrict stays restricted, and the decision row says until when they attest.
func (r Rows) find(name string, publisher credentials.KeyID, held, enrolled bool) labels.Finding {
	return r.t.Evaluate(labels.Registration{Name: name, Publisher: publisher, Held: held, Enrolled: enrolled},
		r.t.Expires.Add(-time.Second))
}

// Takes reports whether a reading takes a tool from whoever holds it: the name
// is others', and nobody vouched for the holder.
func (v *View) Takes(r Rows, t *registry.Tool) bool {
	enrolled := false
	if p, err := v.Principal(t.Owner.Principal()); err == nil {
		_, enrolled = p.EnrolledFor(t.Origin)
	}
	return r.find(t.Name, t.Owner, true, enrolled).Measure == labels.Revoke
}

// Gives is what an origin's topology lets the owner of a tool do with it, as
// of now; nil where it does not say. An expired topology goes on restricting.
func (v *View) Gives(t *registry.Tool, now time.Time) []credentials.Action {
	o := v.siteOf(t.Origin)
	if o == nil || o.Topology == nil {
		return nil
	}
	return o.Declared().Evaluate(labels.Registration{Name: t.Name, Publisher: t.Owner, Held: true}, now).Actions
}
