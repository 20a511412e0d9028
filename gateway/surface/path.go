package surface

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// now is the surface as it is, folded anew where something was accepted.
func (k *Keeper) now() (*gate.Surface, error) {
	k.mu.Lock()
	news, again, err := k.refold()
	if again {
		k.mu.Unlock()
		news, err = k.rejoin()
		k.mu.Lock()
	}
	s := k.surface
	if len(news) > 0 && !k.closed {
		k.work.Go(func() { k.tell(news, false) })
	}
	k.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, gate.ErrShut
	}
	return s, nil
}

// tell passes the news on, after the surface that it is about is there. listed is
// whether it is what the upstream lists now, and no older list judged anew.
func (k *Keeper) tell(news []gate.Kind, listed bool) {
	if k.opt.OnChanged == nil || k.ctx.Err() != nil {
		return
	}
	for _, kind := range news {
		k.opt.OnChanged(kind, listed)
	}
}

// Welcome is what the upstream says of itself, as far as it is cleared: without
// it instructions are left out, and serverInfo is the operator's name. It waits
// for the surface; what it returns counts as shown.
func (k *Keeper) Welcome(ctx context.Context) mcp.Welcome {
	err := k.fresh(ctx, gate.Tool) // also where it has none: a restarted server may greet otherwise
	w := k.opt.Upstream.Welcome()
	instructions, server := w.Instructions, w.ServerInfo
	w.Instructions, w.ServerInfo = nil, k.stranger()
	if err != nil {
		return w
	}
	s, err := k.now()
	if err != nil {
		return w
	}
	set := map[gate.Key]credentials.Digest{}
	cleared := func(kind gate.Kind, raw []byte) bool {
		for _, e := range s.Entries(kind) {
			if s.Lists(&e) && e.Digest == gate.Decode(kind, raw).Digest {
				set[e.Key] = e.Digest
				return true
			}
		}
		return false
	}
	out := w
	if instructions != nil && *instructions != "" {
		if raw, err := jsontext.AppendQuote(nil, *instructions); err == nil && cleared(gate.Instructions, raw) {
			out.Instructions = instructions
		}
	}
	if len(server) > 0 && cleared(gate.Server, server) {
		out.ServerInfo = server
	}
	if len(set) > 0 && k.opt.Shown.Show(ctx, set) != nil {
		return w
	}
	return out
}

// stranger is the serverInfo of an upstream whose own is not cleared.
func (k *Keeper) stranger() jsontext.Value {
	name, err := jsontext.AppendQuote(nil, k.opt.Name)
	if err != nil {
		name = []byte(`""`)
	}
	return slices.Concat([]byte(`{"name":`), name, []byte(`,"version":"withheld"}`))
}

// List is what a list of this kind returns: cleared items in a stable order,
// those that keep allows (nil: all). They count as shown once it returned.
// Errors: gate.ErrShut and ErrIncomplete, both retryable, and those of the stores.
func (k *Keeper) List(ctx context.Context, kind gate.Kind, keep func(*gate.Entry) bool) ([]gate.Entry, error) {
	if err := k.fresh(ctx, kind); err != nil {
		return nil, err
	}
	s, err := k.now()
	if err != nil {
		return nil, err
	}
	if !s.Complete() {
		return nil, gate.ErrIncomplete
	}
	all := s.Entries(kind)
	out := make([]gate.Entry, 0, len(all))
	set := make(map[gate.Key]credentials.Digest, len(all))
	keys := make([]gate.Key, 0, len(all))
	for i := range all {
		e := &all[i]
		if !s.Lists(e) || keep != nil && !keep(e) {
			continue
		}
		out = append(out, *e)
		set[e.Key] = e.Digest
		keys = append(keys, e.Key)
	}
	if err := k.opt.Shown.Show(ctx, set); err != nil {
		return nil, err
	}
	k.gone.put(keys, false)
	k.told.Store(kind, true)
	for i := range out {
		if out[i].Listed == policy.Cleared {
			out[i].State = policy.Cleared
		}
	}
	return out, nil
}

// Look finds an item that the agent names. The entry may come with an error, for
// the record. Errors are those of gate, and of the stores; an agent that was
// listed nothing of the kind yet gets gate.ErrUnlisted, whatever it names.
func (k *Keeper) Look(ctx context.Context, kind gate.Kind, name string) (gate.Entry, error) {
	if err := k.open(ctx); err != nil {
		return gate.Entry{}, err
	}
	s, err := k.now()
	if err != nil {
		return gate.Entry{}, err
	}
	e, err := s.Look(kind, name)
	if err == gate.ErrNotShown {
		if _, told := k.told.Load(kind); !told && s.Unlisted(kind) {
			err = gate.ErrUnlisted
		}
	}
	return e, err
}

// LookCleared finds an item that a completion is about, which need not have been
// shown.
func (k *Keeper) LookCleared(ctx context.Context, kind gate.Kind, name string) (gate.Entry, error) {
	if err := k.open(ctx); err != nil {
		return gate.Entry{}, err
	}
	s, err := k.now()
	if err != nil {
		return gate.Entry{}, err
	}
	return s.Cleared(kind, name)
}

// Peek is what is known of an item's form, by whatever was read last, without a
// word on whether this agent was shown it or may use it. known is false before
// there is a surface.
func (k *Keeper) Peek(kind gate.Kind, name string) (e gate.Entry, there, known bool) {
	s := k.Surface()
	if s == nil {
		return e, false, false
	}
	all := s.Entries(kind)
	i, there := slices.BinarySearchFunc(all, gate.Key{Kind: kind, Name: name}, func(e gate.Entry, k gate.Key) int { return e.Key.Compare(k) })
	if there {
		e = all[i]
	}
	return e, there, true
}

// Readable finds what opens a URI for resources/read and subscriptions.
func (k *Keeper) Readable(ctx context.Context, uri string) (gate.Entry, error) {
	if err := k.open(ctx); err != nil {
		return gate.Entry{}, err
	}
	s, err := k.now()
	if err != nil {
		return gate.Entry{}, err
	}
	return s.Readable(uri)
}

// Current makes sure that the entry is unchanged now (RULES.md 7), listing again
// where that is not known, and returns it as it is now, or with why it must not
// be used.
func (k *Keeper) Current(ctx context.Context, e gate.Entry) (gate.Entry, error) {
	if err := k.fresh(ctx, e.Kind); err != nil {
		return e, err
	}
	s, err := k.now()
	if err != nil {
		return e, err
	}
	if e.Link {
		return s.Readable(e.Name)
	}
	look := s.Look
	if e.Kind == gate.Template {
		look = s.Cleared
	}
	now, err := look(e.Kind, e.Name)
	if err != nil {
		return now, err
	}
	if now.Digest != e.Digest || now.Tool != e.Tool || now.Gen != e.Gen {
		return now, gate.ErrChanged
	}
	return now, nil
}

// Pass is the permission for one call with exactly these params. It is asked for
// after Current and right before the call. gate.ErrMoved: something was signalled
// since Current; ask that again.
func (k *Keeper) Pass(e gate.Entry, method string, params []byte) (gate.Pass, error) {
	s, err := k.now()
	if err != nil {
		return gate.Pass{}, err
	}
	return k.passOn(s, e, method, params)
}

// passOn has a surface make a pass. What is signalled from here on ends the pass
// by its epoch; what was before is in the marks.
func (k *Keeper) passOn(s *gate.Surface, e gate.Entry, method string, params []byte) (gate.Pass, error) {
	p, err := s.Pass(e, method, params)
	if err != nil {
		return gate.Pass{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range k.of(e.Kind) {
		if !l.got || l.seen != l.marks || k.closed {
			return gate.Pass{}, gate.ErrMoved
		}
	}
	return p, nil
}

// Admit is Current and Pass in one, again if something moves in between. It asks
// once what was accepted and shown: the surface that the entry is found unchanged
// on is the one that makes the pass.
func (k *Keeper) Admit(ctx context.Context, e gate.Entry, method string, params []byte) (gate.Pass, error) {
	for range rounds {
		if err := k.fresh(ctx, e.Kind); err != nil {
			return gate.Pass{}, err
		}
		s, err := k.now()
		if err != nil {
			return gate.Pass{}, err
		}
		now := e
		if e.Link { // what it opens may have come into a list
			if now, err = s.Readable(e.Name); err != nil {
				return gate.Pass{}, err
			}
		}
		p, err := k.passOn(s, now, method, params)
		if !errors.Is(err, gate.ErrMoved) {
			return p, err
		}
	}
	return gate.Pass{}, gate.ErrShut
}

// AdmitLevel is the permission for one logging/setLevel with exactly these params,
// which names no item.
func (k *Keeper) AdmitLevel(ctx context.Context, params []byte) (gate.Pass, error) {
	if err := k.open(ctx); err != nil {
		return gate.Pass{}, err
	}
	s, err := k.now()
	if err != nil {
		return gate.Pass{}, err
	}
	return s.PassLevel(params)
}

// After is the check before the answer of a consequential call is delivered: it
// lists again if a change was signalled or the list is too old, and is nil if
// the item is still the one that was called. On any error the result is held.
func (k *Keeper) After(ctx context.Context, e gate.Entry) error {
	if k.opt.UnsafeWatch {
		return nil
	}
	if err := k.fresh(ctx, e.Kind); err != nil {
		return err
	}
	s, err := k.now()
	if err != nil {
		return err
	}
	if e.Link {
		_, err := s.Readable(e.Name)
		return err
	}
	return s.Still(e)
}

// Notice takes a notification of the upstream; it tells whether it was about a
// list. OnChanged passes the news on when the new list was judged.
func (k *Keeper) Notice(method string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	about := false
	for i := range k.lists {
		if l := &k.lists[i]; l.changed == method {
			about = true
			k.mark(l)
			l.asked = true
			l.signal = l.kind != gate.Template // resources and templates share their notification
			k.soon(l)
		}
	}
	return about
}

// mark says that a list may be another from now on. mu is held.
func (k *Keeper) mark(l *list) {
	l.marks++
	k.epoch.Move(l.kind)
}

// Lost says that the connection broke or was made again: nothing learnt before
// is known to hold. It returns at once, and from then on no pass that was made
// before opens anything.
func (k *Keeper) Lost(err error) { k.Stale("") }

// Stale says that a list may be another, for instance after an error; an empty
// kind means all. Nobody is told; it is read again when it is needed.
func (k *Keeper) Stale(kind gate.Kind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.lists {
		if l := &k.lists[i]; kind == "" || l.kind == kind {
			k.mark(l)
		}
	}
}

// Check looks whether something was accepted meanwhile, and tells OnChanged.
// It asks the upstream nothing.
func (k *Keeper) Check() { k.now() }
