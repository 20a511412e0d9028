package state

import (
	"fmt"
	"iter"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

func (t *Txn) applyObserver(e *registry.Event) error {
	var d registry.ObserverData
	if err := e.Decode(&d); err != nil {
		return err
	}
	old, err := t.Principal(d.ID)
	if err != nil {
		return fmt.Errorf("%w: principal %s: %w", ErrApply, d.ID, err)
	}
	p := *old
	p.Observer = e.Type == registry.ObserverEnrolled
	return t.put(tablePrincipals, &p)
}

// applyConduct folds what an inspector, this deployment's gateway or an observer
// came to about one version. Whoever it is, a content that is worse stays; only
// what was not inspected yet is cleared by an inspection, and only what was
// inspected becomes consistent.
func (t *Txn) applyConduct(index uint64, e *registry.Event) error {
	var d registry.ConductData
	if err := e.Decode(&d); err != nil {
		return err
	}
	old, err := t.Tool(d.Tool)
	if err != nil {
		return fmt.Errorf("%w: tool %s: %w", ErrApply, d.Tool, err)
	}
	if d.N != old.Events+1 || d.Last != old.Index || d.Gen != old.Gen || d.Ver != old.Ver || d.Mdg != old.Digest || !old.Live {
		return fmt.Errorf("%w: conduct of tool %s is not of its version %d", ErrApply, d.Tool, old.Ver)
	}
	x := touched(old, index, e)
	if e.By != "" {
		err = t.reported(index, e, x, &d)
	} else {
		err = concluded(e, x, &d)
	}
	if err != nil {
		return err
	}
	if x.Content != old.Content || x.Until != old.Until {
		x.Seq = index
	}
	return t.storeTool(old, x)
}

// concluded is what the service itself came to.
func concluded(e *registry.Event, x *registry.Tool, d *registry.ConductData) error {
	bad := fmt.Errorf("%w: %s makes tool %s %v after %v", ErrApply, e.Type, d.Tool, d.Content, x.Content)
	if !d.Content.Valid() || d.Content == labels.Uninspected || (d.Until != 0) != (d.Content == labels.Consistent) {
		return bad
	}
	was := x.Content
	switch {
	case d.Content < was:
		x.Content, x.Until = d.Content, 0
	case e.Type == registry.ToolInspected && was == labels.Uninspected && d.Content == labels.Inspected:
		x.Content = labels.Inspected
	case e.Type == registry.ToolObserved && (was == labels.Inspected || was == labels.Consistent) && d.Content == labels.Consistent:
		x.Content, x.Until = labels.Consistent, d.Until
	default:
		return bad
	}
	return nil
}

// reported is an observer's word: suspect, and a review.
func (t *Txn) reported(index uint64, e *registry.Event, x *registry.Tool, d *registry.ConductData) error {
	if e.Type != registry.ToolObserved || d.Content != labels.Suspect || d.Until != 0 || d.Token.IsZero() || d.Jti == "" {
		return fmt.Errorf("%w: observation of tool %s", ErrApply, d.Tool)
	}
	if !t.IsObserver(e.By) {
		return fmt.Errorf("%w: %s is no observer", ErrApply, e.By.Principal())
	}
	if x.Content > labels.Suspect {
		x.Content, x.Until = labels.Suspect, 0
	}
	if err := t.spendUntil("", d.Jti, d.Exp, e.At); err != nil {
		return err
	}
	return t.put(tableReviews, &registry.Review{
		Tool: d.Tool, By: t.internKey(e.By), Gen: d.Gen, Ver: d.Ver, Mdg: d.Mdg, Token: d.Token, Index: index, At: e.At,
	})
}

// endReviews closes the reviews of a tool: an operator has judged the version, or
// it is gone.
func (t *Txn) endReviews(tool credentials.ToolID) error {
	for _, r := range collect(t.Reviews(tool), nil) {
		if err := t.drop(tableReviews, r); err != nil {
			return err
		}
	}
	return nil
}

// Reviews walks the open reviews of a tool; of all tools, by their ids, where it
// is empty.
func (v *View) Reviews(tool credentials.ToolID) iter.Seq[*registry.Review] {
	var p []byte
	if tool != "" {
		p = toolKey(tool)
	}
	return all[registry.Review](v, tableReviews, "id", p)
}

// HasReview reports whether this observer's word stands against the tool.
func (v *View) HasReview(tool credentials.ToolID, by credentials.KeyID) bool {
	_, err := first[registry.Review](v, tableReviews, "id", reviewKey(tool, by))
	return err == nil
}

// IsObserver reports whether an operator enrolled the key as an observer's. That a
// principal speaks for an origin makes it none.
func (v *View) IsObserver(k credentials.KeyID) bool {
	p, err := v.Principal(k.Principal())
	return err == nil && p.Observer && !p.Condemned && p.Moved == ""
}

func reviewKey(tool credentials.ToolID, by credentials.KeyID) []byte {
	return append(toolKey(tool), rawKey(by)...)
}
