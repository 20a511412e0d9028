package state

import (
	"errors"
	"fmt"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

func (t *Txn) applyJudgement(index uint64, e *registry.Event) error {
	var d registry.ReasonData
	if err := e.Decode(&d); err != nil {
		return err
	}
	switch e.Type {
	case registry.PrincipalCondemned:
		old, err := t.Principal(d.ID)
		if err != nil {
			return fmt.Errorf("%w: principal %s: %w", ErrApply, d.ID, err)
		}
		p := *old
		p.Condemned = true
		if err := t.put(tablePrincipals, &p); err != nil {
			return err
		}
		// A delegate's version falls with the delegate. There is no index for it:
		// condemning is rare, and a fourth index would cost every tool.
		k := p.ID.Key()
		return t.reweigh(index, e.At, t.Tools(""), func(x *registry.Tool) bool { return x.Owner == k || x.Publisher == k })
	case registry.OriginCondemned:
		o, err := t.origin(d.Origin)
		if err != nil {
			return err
		}
		o.Condemned = true
		if err := t.put(tableOrigins, o); err != nil {
			return err
		}
		if err := t.reweigh(index, e.At, t.AtOrigin(d.Origin, ""), nil); err != nil {
			return err
		}
		return t.reweigh(index, e.At, t.AtSite(d.Origin), nil)
	}
	return t.judgeTool(index, e, &d)
}

func (t *Txn) judgeTool(index uint64, e *registry.Event, d *registry.ReasonData) error {
	old, err := t.Tool(d.Tool)
	if err != nil {
		return fmt.Errorf("%w: tool %s: %w", ErrApply, d.Tool, err)
	}
	if d.N != old.Events+1 || d.Last != old.Index || d.Mdg != old.Digest {
		return fmt.Errorf("%w: judgement of tool %s is not of its version %d", ErrApply, d.Tool, old.Ver)
	}
	x := touched(old, index, e)
	x.Seq = index
	if e.Type == registry.ToolCondemned {
		x.Condemned, x.Content = true, labels.Violated
	} else {
		x.Condemned, x.Content = false, labels.Inspected
	}
	x.Until = 0
	if err := t.endReviews(d.Tool); err != nil {
		return err
	}
	return t.storeTool(old, x)
}

// origin is a copy of an origin's record to change, or a new one.
func (t *Txn) origin(name string) (*Origin, error) {
	old, err := t.Origin(name)
	if errors.Is(err, registry.ErrNotFound) {
		return &Origin{Name: name}, nil
	}
	if err != nil {
		return nil, err
	}
	o := *old
	return &o, nil
}

func (t *Txn) applyTopology(index uint64, e *registry.Event) error {
	var d registry.TopologyData
	if err := e.Decode(&d); err != nil {
		return err
	}
	o, err := t.origin(d.Origin)
	if err != nil {
		return err
	}
	if o.Topology != nil && d.Ver < o.Topology.Ver {
		return fmt.Errorf("%w: topology of %s fell to version %d", ErrApply, d.Origin, d.Ver)
	}
	if o.rows, err = ReadRows(d); err != nil {
		return err
	}
	o.Topology, o.Index = &d, index
	if err := t.put(tableOrigins, o); err != nil {
		return err
	}
	return t.reweigh(index, e.At, t.AtSite(d.Origin), nil)
}
