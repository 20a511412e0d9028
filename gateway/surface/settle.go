package surface

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
)

// settle makes a new surface with what was read of one list: it is inspected as a
// whole, held against the baseline, which may move, and then published together
// with what commit says of the list. It returns the kinds of which something else
// is listed now. settling is held.
func (k *Keeper) settle(ctx context.Context, l *list, items []gate.Judged, bytes int, commit func()) ([]gate.Kind, error) {
	in, err := k.gather(l, items, bytes)
	if err != nil {
		return nil, err
	}
	var f folded
	var greeting [sha256.Size]byte
	var joined *gate.Baseline
	if in.Complete {
		w := k.opt.Upstream.Welcome()
		greeting = greetingOf(w)
		in.Items = append(in.Items, k.welcomed(ctx, w)...)
		slices.SortStableFunc(in.Items, func(a, b gate.Judged) int { return a.Key.Compare(b.Key) })
		if joined, err = k.opt.Baseline.Load(); err != nil {
			return nil, err
		}
		in.Items = k.judgeJoined(ctx, in.Items, joined)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f, err = k.weigh(&in); err != nil {
			return nil, err
		}
		if err := k.twins(&in); err != nil {
			return nil, err
		}
		if f.baseline, err = k.move(ctx, in); err != nil {
			return nil, err
		}
		in.Baseline = f.baseline
	}
	k.mu.Lock()
	commit()
	was := k.fold.baseline
	k.fold, k.greeting, k.joined, k.judged = f, greeting, joined, k.opt.Now()
	k.unsure = slices.ContainsFunc(in.Items, func(j gate.Judged) bool {
		return j.Verdict == quarantine.Missing && j.Fault == gate.NoFault
	})
	k.partial = slices.ContainsFunc(in.Items, func(j gate.Judged) bool { return j.Partial })
	news, gone := k.publish(in)
	k.noteActs(was, f.baseline)
	k.mu.Unlock()
	k.forget(ctx, gone)
	return news, nil
}

// gather puts together what is known of all lists, with one of them replaced.
func (k *Keeper) gather(l *list, items []gate.Judged, bytes int) (gate.Input, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	in := k.blank()
	in.Complete = true
	for i := range k.lists {
		x := &k.lists[i]
		if x == l {
			in.Items = append(in.Items, items...)
			continue
		}
		if x.last != nil {
			bytes += x.last.bytes
		}
		in.Items = append(in.Items, x.items...)
		in.Complete = in.Complete && x.got
	}
	if len(in.Items) > k.opt.Limits.Items || bytes > k.opt.Limits.Bytes {
		return in, errTooMany
	}
	return in, nil
}

func (k *Keeper) blank() gate.Input {
	return gate.Input{
		Shown: shown{k}, Epoch: &k.epoch, Linked: k.links.linked,
		Effect: k.opt.Effect, UnsafeWatch: k.opt.UnsafeWatch, Now: k.opt.Now(),
	}
}

// greetingOf tells greetings apart.
func greetingOf(w mcp.Welcome) (d [sha256.Size]byte) {
	h := sha256.New()
	if w.Instructions != nil {
		sum := sha256.Sum256([]byte(*w.Instructions))
		h.Write(sum[:])
	}
	h.Write(w.ServerInfo)
	h.Sum(d[:0])
	return d
}

// welcomed are the items that a server says of itself.
func (k *Keeper) welcomed(ctx context.Context, w mcp.Welcome) (out []gate.Judged) {
	if w.Instructions != nil && *w.Instructions != "" {
		if raw, err := jsontext.AppendQuote(nil, *w.Instructions); err == nil {
			out = append(out, k.judge(ctx, gate.Decode(gate.Instructions, raw)))
		}
	}
	if len(w.ServerInfo) > 0 {
		out = append(out, k.judge(ctx, gate.Decode(gate.Server, w.ServerInfo)))
	}
	return out
}

// weigh asks baseline, registry and place, and puts their answers into the input.
func (k *Keeper) weigh(in *gate.Input) (f folded, err error) {
	if f.baseline, err = k.opt.Baseline.Load(); err != nil {
		return f, err
	}
	in.Baseline = f.baseline
	if k.opt.Standing != nil {
		f.standing = k.opt.Standing()
	} else {
		f.standing = labels.Unknown
	}
	in.Standing, in.Now = f.standing, k.opt.Now()
	if o := k.opt.Observed; o != nil {
		if f.seen, err = o.Head(); err != nil {
			return f, err
		}
		now := in.Now
		in.Observed = func(e *gate.Entry) (labels.Content, bool) { return o.Of(e, now) }
	}
	if k.opt.EffectEnds != nil {
		f.ends(k.opt.EffectEnds(in.Now))
	}
	if k.opt.Registry == nil {
		return f, nil
	}
	if f.head, err = k.opt.Registry.Head(); err != nil {
		return f, err
	}
	in.Registered, in.Uncovered = map[string]*gate.Row{}, map[string]bool{}
	for i := range in.Items {
		if in.Items[i].Kind != gate.Tool {
			continue
		}
		name := in.Items[i].Name
		row, covered, err := k.opt.Registry.Of(name, in.Now)
		if err != nil {
			return f, err
		}
		if !covered {
			in.Uncovered[name] = true
		}
		if row != nil {
			in.Registered[name] = row
			f.ends(row.Attested)
			if row.Content == labels.Consistent {
				f.ends(row.Until)
			}
		}
	}
	return f, nil
}

// move lets the sight move the baseline. Each move is in the record before it is
// in the store: no record, no effect.
func (k *Keeper) move(ctx context.Context, in gate.Input) (*gate.Baseline, error) {
	if len(gate.Settle(in, k.opt.Wording)) == 0 {
		return in.Baseline, nil
	}
	return k.opt.Baseline.Settle(ctx, func(b *gate.Baseline) ([]gate.Move, error) {
		in.Baseline = b // another process may have been first
		moves := gate.Settle(in, k.opt.Wording)
		for i := range moves {
			if err := k.record(&moves[i]); err != nil {
				return nil, err
			}
		}
		return moves, nil
	})
}

// publish makes the input the surface. It returns the kinds of which something
// else is listed now than in the last complete surface, and what went away
// since. mu is held.
func (k *Keeper) publish(in gate.Input) (news []gate.Kind, gone []gate.Key) {
	k.input, k.surface = in, gate.Build(in)
	if !k.surface.Complete() {
		return nil, nil
	}
	if k.whole != nil {
		news, gone = differ(k.whole, k.surface)
		k.gone.put(gone, true)
	}
	k.whole = k.surface
	return news, gone
}

// differ walks two surfaces side by side.
func differ(old, new *gate.Surface) (news []gate.Kind, gone []gate.Key) {
	for _, kind := range gate.Kinds {
		a, b := old.Entries(kind), new.Entries(kind)
		changed := false
		for i, j := 0, 0; i < len(a) || j < len(b); {
			switch {
			case j == len(b) || i < len(a) && a[i].Key.Compare(b[j].Key) < 0:
				if a[i].Tool != "" { // of others an agent was never shown any
					gone = append(gone, a[i].Key)
				}
				changed = changed || a[i].Listed == policy.Cleared
				i++
			case i == len(a) || a[i].Key != b[j].Key:
				changed = changed || b[j].Listed == policy.Cleared
				j++
			default:
				listed := a[i].Listed == policy.Cleared || b[j].Listed == policy.Cleared
				changed = changed || listed && (a[i].Listed != b[j].Listed || a[i].Digest != b[j].Digest)
				i, j = i+1, j+1
			}
		}
		if changed {
			news = append(news, kind)
		}
	}
	return news, gone
}

// shut shows nothing any more, until a complete reading comes. mu is held.
func (k *Keeper) shut() {
	if k.surface == nil || !k.surface.Complete() {
		return
	}
	in := k.input
	in.Complete = false
	k.publish(in)
}

// refold builds the surface again if what was accepted, what is registered, what
// was observed or the place's standing has moved since. The lists are not read.
// again says that something else was released: that is not shown before it was
// inspected together with all else. mu is held.
func (k *Keeper) refold() (news []gate.Kind, again bool, err error) {
	if k.surface == nil || !k.surface.Complete() {
		return nil, false, nil
	}
	in := k.input
	now := k.opt.Now()
	f := k.fold
	if f.baseline, err = k.opt.Baseline.Load(); err != nil {
		return nil, false, err
	}
	if f.baseline != k.joined && k.releases(f.baseline) {
		return nil, true, nil
	}
	if k.opt.Standing != nil {
		f.standing = k.opt.Standing()
	}
	if k.opt.Registry != nil {
		if f.head, err = k.opt.Registry.Head(); err != nil {
			return nil, false, err
		}
	}
	if k.opt.Observed != nil {
		if f.seen, err = k.opt.Observed.Head(); err != nil {
			return nil, false, err
		}
	}
	if f == k.fold && (f.until == 0 || now.Unix() < f.until) {
		return nil, false, nil
	}
	was := k.fold.baseline
	if f, err = k.weigh(&in); err != nil {
		return nil, false, err
	}
	if f.baseline != k.joined && k.releases(f.baseline) { // another act came meanwhile
		return nil, true, nil
	}
	k.fold = f
	k.noteActs(was, f.baseline)
	news, _ = k.publish(in) // the items are the same: nothing went away
	return news, false, nil
}

// releases tells whether a baseline releases other items of the surface than the
// one by which it was judged as a whole. If not, that one might as well have been
// this. mu is held.
func (k *Keeper) releases(b *gate.Baseline) bool {
	for i := range k.input.Items {
		it := &k.input.Items[i].Item
		if (b.Released(it) != gate.NotReleased) != (k.joined.Released(it) != gate.NotReleased) {
			return true
		}
	}
	k.joined = b
	return false
}

// rejoin judges the surface as a whole again, from what was read last, and settles
// it.
func (k *Keeper) rejoin() ([]gate.Kind, error) {
	ctx, cancel := context.WithTimeout(k.ctx, k.opt.Limits.Collect)
	defer cancel()
	k.settling.Lock()
	defer k.settling.Unlock()
	return k.settle(ctx, nil, nil, 0, func() {})
}
