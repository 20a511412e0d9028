package surface

import (
	"context"
	"errors"
	"strconv"

	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
)

// record writes a move down, one that only repeats what was seen before aside.
func (k *Keeper) record(m *gate.Move) error {
	word := map[gate.Act]string{gate.Pin: "pinned", gate.Accept: "accepted", gate.Pend: "held back", gate.Unpend: "settled"}[m.Act]
	if m.Act == gate.Sighted {
		return nil
	}
	if m.Act == gate.Pend {
		what := m.Digest.String() + m.Why
		if k.noted[m.Key] == what {
			return nil
		}
		if len(k.noted) > 2*k.opt.Limits.Items {
			clear(k.noted) // names that come and go must not fill us
		}
		k.noted[m.Key] = what
	} else {
		delete(k.noted, m.Key)
	}
	if (m.Act == gate.Pend || m.Act == gate.Unpend) && !k.spare() {
		return nil
	}
	if m.Why != "" {
		word += ": " + m.Why
	}
	return k.note(registry.Entry{Kind: string(m.Kind), Name: m.Name, Mdg: m.Digest, Was: m.Was, By: m.By, Verdict: m.Verdict.String(), Detail: word})
}

const maxEntryName = 256 // bytes

// note fills in an entry about the surface and hands it on.
func (k *Keeper) note(e registry.Entry) error {
	if k.opt.Moved == nil {
		return nil
	}
	b := k.opt.Base
	b.V, b.Type, b.At = 1, registry.EntrySurface, k.opt.Now().UnixMilli()
	b.Kind, b.Name, b.Tool, b.Mdg, b.Was = e.Kind, cut(e.Name), e.Tool, e.Mdg, e.Was
	b.By, b.Act, b.Verdict, b.Detail = e.By, e.Act, e.Verdict, e.Detail
	return k.opt.Moved(&b)
}

func cut(s string) string {
	if len(s) <= maxEntryName {
		return s
	}
	n := maxEntryName
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// forget says of what went away that it is new when it comes back. It is so for
// this keeper already; a record that fails is no reason to show less.
func (k *Keeper) forget(ctx context.Context, gone []gate.Key) {
	if len(gone) == 0 {
		return
	}
	err := k.opt.Shown.Forget(ctx, gone)
	for _, g := range gone {
		if !k.spare() {
			break
		}
		err = errors.Join(err, k.note(registry.Entry{Kind: string(g.Kind), Name: g.Name, Detail: "gone"}))
	}
	if err != nil {
		k.opt.Log.Error("a move of the surface is not in the record", "upstream", k.opt.Name, "cause", err)
	}
}

// noteActs records what an operator accepted, released and condemned meanwhile.
func (k *Keeper) noteActs(was, now *gate.Baseline) {
	if was == nil || now == nil || was == now {
		return
	}
	for i := range k.input.Items {
		it := &k.input.Items[i]
		e := registry.Entry{Kind: string(it.Kind), Name: it.Name, By: gate.ByOperator}
		a, b := was.Items[it.Key], now.Items[it.Key]
		v := gate.Version{Key: it.Key, Digest: it.Digest}
		switch {
		case now.Condemned[v] != was.Condemned[v]:
			if e.Mdg, e.Detail = it.Digest, "condemned"; was.Condemned[v] {
				e.Detail = "released: no longer condemned"
			}
		case b == nil || b.By != gate.ByOperator || a != nil && a.Digest == b.Digest && a.Ver == b.Ver && a.Act == b.Act:
			continue
		default:
			word := "accepted"
			if b.Release != gate.NotReleased {
				word = "released"
			}
			e.Tool, e.Mdg, e.Act, e.Detail = b.Tool, b.Digest, b.Act, word+": version "+strconv.FormatUint(b.Ver, 10)
			if a != nil {
				e.Was = a.Digest
			}
		}
		if err := k.note(e); err != nil {
			k.opt.Log.Error("a move of the surface is not in the record", "upstream", k.opt.Name, "cause", err)
		}
	}
}

// What an upstream can have written about its own comings and goings: so many
// entries at once, then so many a second. What is pinned or accepted is always
// recorded.
const (
	recordBurst = 1_000
	recordRate  = 10
)

// spare takes one entry from what is left, or says once that there is more than
// is recorded. settling is held.
func (k *Keeper) spare() bool {
	now := k.opt.Now()
	if k.sparedAt.IsZero() {
		k.spared = recordBurst
	} else if d := now.Sub(k.sparedAt); d > 0 {
		k.spared = min(recordBurst, k.spared+recordRate*d.Seconds())
	}
	k.sparedAt = now
	if k.spared >= 1 {
		k.spared--
		k.silent = false
		return true
	}
	if !k.silent {
		k.silent = true
		if err := k.note(registry.Entry{Detail: "more comes and goes than is recorded one by one"}); err != nil {
			k.opt.Log.Error("a move of the surface is not in the record", "upstream", k.opt.Name, "cause", err)
		}
	}
	return false
}
