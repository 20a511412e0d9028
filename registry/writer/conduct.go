package writer

import (
	"fmt"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/store"
)

// observer makes a principal an observer, or ends that.
func (p *plan) observer(by registry.Caller, id credentials.PrincipalID, enrol bool) error {
	if err := p.operator(by); err != nil {
		return err
	}
	pr, err := p.tx.Principal(id)
	if err != nil {
		return err
	}
	switch {
	case pr.Observer == enrol:
		return registry.ErrExists
	case enrol && (pr.Condemned || pr.Moved != ""):
		return registry.ErrCondemned
	case enrol:
		return p.add(registry.ObserverEnrolled, registry.ObserverData{ID: id})
	}
	return p.add(registry.ObserverDismissed, registry.ObserverData{ID: id})
}

// conductOf is the next event of a tool's version about its conduct.
func conductOf(t *registry.Tool, c labels.Content) registry.ConductData {
	return registry.ConductData{Tool: t.Row.Tool, Gen: t.Gen, Ver: t.Ver, Mdg: t.Digest, Content: c, N: t.Events + 1, Last: t.Index}
}

// reportTool takes an observer's word: of whom it is, of exactly which version,
// once, and never of a tool of its own (RULES.md 21, 25).
func (p *plan) reportTool(c *registry.ReportTool) error {
	by := c.Caller.Key()
	if !p.tx.IsObserver(by) {
		return registry.ErrNotObserver
	}
	t, err := p.tx.Tool(c.Tool)
	if err != nil {
		return err
	}
	switch {
	case !t.Live:
		return registry.ErrToolRevoked
	case p.isOwn(t, by):
		return registry.ErrOwnTool
	}
	if err := c.Observation.ForVersion(t); err != nil {
		return err
	}
	said := c.Observation.Claims()
	switch {
	case p.tx.Spent(said.Jti):
		return registry.ErrSpent
	case !c.Observation.Adverse():
		return nil // praise weighs nothing, and fills no log
	case p.tx.HasReview(c.Tool, by):
		return registry.ErrExists
	case p.reviews(c.Tool) >= p.quotas.ReviewsTool:
		return fmt.Errorf("%w: reviews of one tool", registry.ErrTooMany)
	case !p.rate.allow(string(by.Principal()), p.quotas.Observations, p.now):
		return fmt.Errorf("%w: observations of one observer per hour", registry.ErrTooMany)
	}
	d := conductOf(t, labels.Suspect)
	d.Jti, d.Exp = said.Jti, said.Exp
	d.Token = canon.Digest(registry.ObservationContext, c.Token)
	p.content = append(p.content, store.Blob{Digest: d.Token, Data: c.Token})
	return p.add(registry.ToolObserved, d)
}

// isOwn tells whether a tool is an observer's own: it holds it, put this version
// there, may change it, speaks for its origin, or takes its owner's tools over.
func (p *plan) isOwn(t *registry.Tool, k credentials.KeyID) bool {
	if t.Owner == k || t.Publisher == k {
		return true
	}
	for d := range p.tx.Delegations(t.Row.Tool) {
		if d.To == k {
			return true
		}
	}
	if pr, err := p.tx.Principal(t.Owner.Principal()); err == nil && pr.Recovery == k {
		return true
	}
	pr, err := p.tx.Principal(k.Principal())
	if err != nil {
		return true
	}
	_, speaks := pr.EnrolledFor(t.Origin)
	return speaks
}

func (p *plan) reviews(tool credentials.ToolID) (n int) {
	for range p.tx.Reviews(tool) {
		n++
	}
	return n
}

// recordInspection takes the verdict on a version. It clears only what nobody had
// looked at.
func (p *plan) recordInspection(c *registry.RecordInspection) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	t, err := p.version(c.Tool, c.Base)
	if err != nil {
		return err
	}
	switch {
	case !c.Content.Valid(), c.Content == labels.Uninspected, c.Content == labels.Consistent:
		return fmt.Errorf("%w: an inspection does not come to %v", registry.ErrNotFound, c.Content)
	case c.Content >= t.Content && t.Content != labels.Uninspected:
		return registry.ErrUnchanged
	}
	return p.add(registry.ToolInspected, conductOf(t, c.Content))
}

// recordConduct takes what this deployment saw of calls that it carried, and says
// in its decision log where (RULES.md 21).
func (p *plan) recordConduct(c *registry.RecordConduct) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	t, err := p.version(c.Tool, c.Base)
	if err != nil {
		return err
	}
	switch {
	case t.Gen != c.Gen || t.Ver != c.Ver:
		return registry.ErrStaleBase
	case c.Spool == "":
		return fmt.Errorf("%w: conduct without a call", registry.ErrNotFound)
	}
	d := conductOf(t, c.Content)
	d.Spool, d.Entry = c.Spool, c.Entry
	switch c.Content {
	case labels.Violated, labels.Suspect:
		if c.Content >= t.Content {
			return registry.ErrUnchanged
		}
	case labels.Consistent:
		if t.Content < labels.Inspected || !c.Until.After(p.now) || c.Until.Sub(p.now) > observe.Least().Expiry+time.Minute {
			return registry.ErrUnchanged
		}
		if t.Content == labels.Consistent && c.Until.Sub(time.Unix(t.Until, 0)) < prolonged {
			return registry.ErrUnchanged
		}
		d.Until = c.Until.Unix()
	default:
		return fmt.Errorf("%w: conduct does not come to %v", registry.ErrNotFound, c.Content)
	}
	return p.add(registry.ToolObserved, d)
}

// recordUse takes that this deployment's gateway carried a call, where that pins the
// tool: the call was decided after all that the log says of it.
func (p *plan) recordUse(c *registry.RecordUse) error {
	if err := p.local(c.Caller); err != nil {
		return err
	}
	t, err := p.version(c.Tool, c.Base)
	switch {
	case err != nil:
		return err
	case t.Gen != c.Gen:
		return registry.ErrStaleBase
	case c.View <= t.Index || !p.tx.Pins(t):
		return registry.ErrUnchanged
	}
	return p.add(registry.ToolUsed, registry.UsedData{Tool: t.Row.Tool, Gen: t.Gen, N: t.Events + 1, Last: t.Index})
}

// prolonged is by how much a consistent content is prolonged at least: what is
// used each day needs no event each day.
const prolonged = 3 * 24 * time.Hour

// version is a live tool whose version has the digest.
func (p *plan) version(id credentials.ToolID, base credentials.Digest) (*registry.Tool, error) {
	t, err := p.tx.Tool(id)
	switch {
	case err != nil:
		return nil, err
	case !t.Live:
		return nil, registry.ErrToolRevoked
	case t.Digest != base:
		return nil, registry.ErrStaleBase
	}
	return t, nil
}

// lowers tells whether an event about conduct may have made a content worse.
func lowers(e *registry.Event) bool {
	var d registry.ConductData
	return e.Decode(&d) != nil || d.Content < labels.Inspected
}
