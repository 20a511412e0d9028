package state

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
)

// ReasonTopology is the reason of a revocation by which an origin's topology
// took a name from whoever held it: the name is not kept for them.
const ReasonTopology = "topology"

func (t *Txn) applyTool(index uint64, e *registry.Event, d *registry.ToolData) error {
	if e.Type == registry.ToolRegistered {
		return t.applyRegistered(index, e, d)
	}
	old, err := t.Tool(d.ID)
	if err != nil {
		return fmt.Errorf("%w: tool %s: %w", ErrApply, d.ID, err)
	}
	if d.N != old.Events+1 || d.Last != old.Index {
		return fmt.Errorf("%w: tool %s: event %d after %d, previous at %d not %d", ErrApply, d.ID, d.N, old.Events, d.Last, old.Index)
	}
	if !old.Live && e.Type != registry.ToolReturned {
		return fmt.Errorf("%w: tool %s was revoked", ErrApply, d.ID)
	}
	switch e.Type {
	case registry.ToolOverwritten:
		return t.applyOverwritten(index, e, old, d)
	case registry.ToolRevoked:
		return t.applyRevoked(index, e, old, d)
	case registry.HandlesRevoked:
		if d.Gen != old.Gen+1 {
			return fmt.Errorf("%w: generation %d after %d", ErrApply, d.Gen, old.Gen)
		}
		x := touched(old, index, e)
		x.Gen = d.Gen
		x.Seq, x.Used = index, 0
		if err := t.endDelegations(d.ID); err != nil {
			return err
		}
		return t.storeTool(old, x)
	}
	return t.applyMoved(index, e, old, d)
}

// touched is a copy of the record with the event counted.
func touched(old *registry.Tool, index uint64, e *registry.Event) *registry.Tool {
	x := *old
	x.Events++
	x.Index = index
	x.Changed = e.At
	return &x
}

func (t *Txn) applyRegistered(index uint64, e *registry.Event, d *registry.ToolData) error {
	if d.N != 1 || d.Last != 0 || d.Gen != 1 || d.Ver != 1 || d.Mdg.IsZero() {
		return fmt.Errorf("%w: first event of tool %s", ErrApply, d.ID)
	}
	if _, err := t.Tool(d.ID); err == nil {
		return fmt.Errorf("%w: tool %s exists", ErrApply, d.ID)
	}
	before, err := t.takeName(d.Origin, d.Name)
	if err != nil {
		return err
	}
	x := &registry.Tool{Origin: t.intern(d.Origin), Name: d.Name, Events: 1, Index: index, Changed: e.At, Named: true}
	x.Tool, x.Owner, x.Digest, x.Gen, x.Ver, x.Seq, x.Live = d.ID, t.internKey(e.By), d.Mdg, 1, 1, index, true
	x.Publisher = x.Owner
	x.Content = labels.Uninspected
	// What an operator condemned is not washed clean by ending it and beginning
	// anew under the same name.
	x.Condemned = before != nil && before.Condemned && before.Owner == x.Owner
	t.hold(x.Owner, x.Origin, 1)
	return t.storeTool(nil, x)
}

// takeName frees a name that a revoked tool still holds and refuses one that a
// live tool holds: go-memdb would replace the index entry without a word.
func (t *Txn) takeName(origin, name string) (before *registry.Tool, err error) {
	old, err := t.Named(origin, name)
	if err != nil {
		return nil, nil // free
	}
	if old.Live {
		return nil, fmt.Errorf("%w: %q at %s is held by %s", ErrApply, name, origin, old.Row.Tool)
	}
	x := *old
	x.Named = false
	return old, t.put(tableTools, &x)
}

func (t *Txn) applyOverwritten(index uint64, e *registry.Event, old *registry.Tool, d *registry.ToolData) error {
	if d.Base != old.Digest || d.Ver != old.Ver+1 || d.Gen != old.Gen || d.Mdg.IsZero() {
		return fmt.Errorf("%w: overwrite of tool %s does not follow its version %d", ErrApply, d.ID, old.Ver)
	}
	x := touched(old, index, e)
	x.Digest, x.Ver, x.Seq = d.Mdg, d.Ver, index
	x.Publisher = t.internKey(e.By)
	x.Until = 0
	if x.Publisher != x.Owner {
		x.Used = 0
	}
	if !x.Condemned {
		x.Content = labels.Uninspected // what was judged was the version before
	}
	if err := t.endReviews(d.ID); err != nil {
		return err
	}
	return t.storeTool(old, x)
}

func (t *Txn) applyRevoked(index uint64, e *registry.Event, old *registry.Tool, d *registry.ToolData) error {
	if d.Gen != old.Gen+1 {
		return fmt.Errorf("%w: generation %d after %d", ErrApply, d.Gen, old.Gen)
	}
	x := touched(old, index, e)
	x.Gen, x.Seq, x.Live, x.Used = d.Gen, index, false, 0
	if d.Reason == ReasonTopology {
		x.Named = false
	} else {
		x.Kept = e.At/1000 + int64(registry.NameKept.Seconds())
	}
	t.hold(old.Owner, old.Origin, -1)
	if err := t.endDelegations(d.ID); err != nil {
		return err
	}
	if err := t.endReviews(d.ID); err != nil {
		return err
	}
	return t.storeTool(old, x)
}

func (t *Txn) applyMoved(index uint64, e *registry.Event, old *registry.Tool, d *registry.ToolData) error {
	if d.Gen != old.Gen+1 || d.From != old.Owner || d.To == "" {
		return fmt.Errorf("%w: transfer of tool %s from %s", ErrApply, d.ID, d.From)
	}
	if _, err := t.Principal(d.To.Principal()); err != nil {
		return fmt.Errorf("%w: recipient of tool %s: %w", ErrApply, d.ID, err)
	}
	if err := t.spend(d.Accept, e.At); err != nil {
		return err
	}
	if err := t.applyMove(index, e, old, d); err != nil {
		return err
	}
	return t.moveTool(index, e, old, d.To, d.Gen)
}

// applyMove keeps the transfers of a tool that can be undone. A return takes
// back the move that it undoes and all after it.
func (t *Txn) applyMove(index uint64, e *registry.Event, old *registry.Tool, d *registry.ToolData) error {
	last, err := t.Transfer(d.ID)
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	m := &registry.Moved{Tool: d.ID, Moves: slices.Clone(last.Within(e.At))}
	if e.Type == registry.ToolTransferred {
		m.Moves = append(m.Moves, registry.Move{From: old.Owner, To: t.internKey(d.To), At: e.At, Index: index})
	} else {
		if !old.Live && len(m.Moves) == 0 {
			return fmt.Errorf("%w: return of tool %s, which was revoked and not transferred", ErrApply, d.ID)
		}
		i := slices.IndexFunc(m.Moves, func(x registry.Move) bool { return x.Index >= d.Undoes })
		if i < 0 {
			i = len(m.Moves)
		}
		m.Moves = m.Moves[:i]
	}
	if len(m.Moves) == 0 {
		if last != nil {
			return t.drop(tableTransfers, last)
		}
		return nil
	}
	return t.put(tableTransfers, m)
}

// moveTool gives a tool to another owner: a new generation ends every handle,
// and what was known of the tool rested on the owner before (RULES.md 19).
func (t *Txn) moveTool(index uint64, e *registry.Event, old *registry.Tool, to credentials.KeyID, gen uint64) error {
	x := touched(old, index, e)
	x.Owner, x.Gen, x.Seq, x.Reset = t.internKey(to), gen, index, index
	x.Publisher, x.Until, x.Used = x.Owner, 0, 0
	if !x.Condemned {
		x.Content = labels.Uninspected
	}
	if err := t.endReviews(x.Row.Tool); err != nil {
		return err
	}
	if old.Live {
		t.hold(old.Owner, old.Origin, -1)
	} else { // whoever it was given to had ended it
		x.Live, x.Kept = true, 0
	}
	t.hold(x.Owner, x.Origin, 1)
	if err := t.endDelegations(x.Row.Tool); err != nil {
		return err
	}
	return t.storeTool(old, x)
}

func (t *Txn) endDelegations(tool credentials.ToolID) error {
	for _, d := range collect(t.Delegations(tool), nil) {
		if err := t.drop(tableDelegations, d); err != nil {
			return err
		}
	}
	return nil
}

// storeTool writes a record, changed from old or new, with its standing weighed
// anew.
func (t *Txn) storeTool(old, x *registry.Tool) error {
	t.weigh(x)
	if old != nil {
		if err := t.lower(old, x, x.Changed); err != nil {
			return err
		}
	}
	return t.put(tableTools, x)
}

// collect ends an iteration before the tables are changed under it. With keep
// nil it takes everything.
func collect[T any](s iter.Seq[*T], keep func(*T) bool) []*T {
	var out []*T
	for x := range s {
		if keep == nil || keep(x) {
			out = append(out, x)
		}
	}
	return out
}

// intern shares the text of an origin between the records that name it.
func (t *Txn) intern(origin string) string {
	for x := range t.AtOrigin(origin, "") {
		return x.Origin
	}
	return origin
}

// internKey shares the text of a thumbprint with its principal's record.
func (t *Txn) internKey(k credentials.KeyID) credentials.KeyID {
	if p, err := t.Principal(k.Principal()); err == nil {
		return p.ID.Key()
	}
	return k
}
