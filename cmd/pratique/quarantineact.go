package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/holds"
)

// judgedOutput says what was released or condemned.
type judgedOutput struct {
	Released  []heldThing `json:"released,omitzero"`
	Condemned []heldThing `json:"condemned,omitzero" doc:"with a result comes the version of the tool that returned it"`
	Loose     bool        `json:"unprotected,omitzero" doc:"the operator's key lies unencrypted, and the act is recorded as that"`
}

func (o judgedOutput) show(w io.Writer) {
	for _, t := range o.Released {
		fmt.Fprintf(w, "released %s: %s %s of %s\n", t.ID, t.Kind, t.Name, t.Upstream)
	}
	for _, t := range o.Condemned {
		fmt.Fprintf(w, "condemned %s: %s %s of %s\n", t.ID, t.Kind, t.Name, t.Upstream)
	}
	if o.Loose {
		fmt.Fprintln(w, "the operator's key lies unencrypted: the act is recorded as unprotected")
	}
}

// An acting operator signs.
type acting struct {
	*ward
	c      *call
	key    *keyring.Private
	signer *envelope.Signer
	ctx    context.Context
}

func (a *acting) loose() bool { return !a.key.Protected() }

// toJudge opens the folder, finds what --id names, shows it to a person and asks.
func (c *call) toJudge(question string, do func(a *acting, t heldThing) (judgedOutput, error)) (any, error) {
	return c.onWard(true, func(w *ward) (any, error) {
		t, err := w.thing(c)
		if err != nil {
			return nil, err
		}
		if c.has("digest") {
			want, err := credentials.ParseDigest(c.str("digest"))
			if err != nil {
				return nil, usagef("--digest: %v", err)
			}
			if want != t.Digest {
				return nil, fmt.Errorf("%w: %s has digest %s", baseline.ErrStale, t.ID, t.Digest)
			}
		}
		if err := w.ask(c, t, question); err != nil {
			return nil, err
		}
		a := &acting{ward: w, c: c}
		if a.key, err = c.operatorKey(w.data); err != nil {
			return nil, err
		}
		if a.signer, err = envelope.NewSigner(envelope.OperatorAct, a.key); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(c, 30*time.Second)
		defer cancel()
		a.ctx = ctx
		out, err := do(a, t)
		out.Loose = a.loose()
		if len(out.Released)+len(out.Condemned) == 0 {
			return nil, err
		}
		return out, err // what was done before something failed stands, and is in the answer
	})
}

// ask shows a person all of it, and asks.
func (w *ward) ask(c *call, t heldThing, question string) error {
	if c.is("yes") || !c.terminal || c.json {
		return nil
	}
	raw := t.raw
	if t.hold != nil {
		var err error
		if raw, err = w.holds.Content(t.ID); err != nil && !errors.Is(err, holds.ErrNotKept) {
			return err
		}
	}
	var b strings.Builder
	wholeOf(t, raw).show(&b)
	fmt.Fprint(c.err, plainLines(b.String()))
	return c.sureIfPerson(question)
}

func releaseQuarantine(c *call) (any, error) {
	return c.toJudge("Let exactly this through?", func(a *acting, t heldThing) (out judgedOutput, err error) {
		if t.hold != nil {
			err = a.releaseHold(&t)
		} else {
			err = a.releaseItem(&t)
		}
		if err == nil {
			t.State, t.By = stateReleased, a.key.Key().ID
			out.Released = []heldThing{t}
		}
		return out, err
	})
}

func (a *acting) releaseHold(t *heldThing) error {
	token, err := a.holds.Sign(a.signer, holds.OpRelease, t.hold.Subject, a.loose())
	if err != nil {
		return err
	}
	_, err = a.holds.Release(a.ctx, token)
	return err
}

// errFault refuses the release of what would not be shown all the same.
var errFault = errors.New("what keeps it from agents is its form, not its text: a release would change nothing")

// releaseItem releases an item, and clears the version in the registry where that
// is what stands in the way.
func (a *acting) releaseItem(t *heldThing) error {
	if f := gate.Decode(gate.Kind(t.key.Kind), t.raw).Fault; f != gate.NoFault {
		return fmt.Errorf("%w: %s", errFault, f)
	}
	token, err := a.onItem(t, registry.EntryReleased, func(d *baseline.Draft) (string, error) {
		token, err := a.base.SignRelease(a.signer, &d.Baseline, t.key, t.Digest, a.loose())
		if err != nil {
			return "", err
		}
		release := d.Release
		if t.Conduct != "" {
			release = d.Forgive
		}
		_, err = release(token)
		return token, err
	})
	if err != nil {
		return err
	}
	if t.Conduct != "" {
		s, err := a.n.Observed()
		if err == nil {
			err = s.Place(t.origin).Release(a.subject(t), a.now())
		}
		if err != nil {
			return err
		}
	}
	row := a.registered(t.origin, t.key)
	if row == nil || !row.Live || row.Digest != t.Digest || row.Content >= labels.Uninspected {
		return nil // nobody registered it, or the registry does not doubt it
	}
	return a.n.ReleaseTool(a.ctx, row.Row.Tool, t.Digest, token, "quarantine")
}

// onItem changes the baseline of an item, and has the act on record before that
// takes effect.
func (a *acting) onItem(t *heldThing, typ registry.EntryType, sign func(d *baseline.Draft) (string, error)) (token string, err error) {
	_, err = a.base.Update(a.ctx, t.origin, func(d *baseline.Draft) error {
		if token, err = sign(d); err != nil {
			return err
		}
		e := &registry.Entry{Type: typ, Origin: t.origin, Kind: string(t.key.Kind), Name: t.key.Name, Tool: t.Tool, Gen: t.Gen, Ver: t.Ver,
			Mdg: t.Digest, Verdict: t.Verdict, By: baseline.ByOperator, Act: token, Detail: "an item, by digest"}
		if a.loose() {
			e.Detail += "; the key lay unencrypted"
		}
		log, err := a.n.Decisions()
		if err != nil {
			return err
		}
		return log.Note(e)
	})
	return token, err
}

func condemnQuarantine(c *call) (any, error) {
	return c.toJudge("Condemn this, for every agent?", func(a *acting, t heldThing) (out judgedOutput, err error) {
		if t.hold == nil {
			if err = a.condemnItem(&t); err == nil {
				out.Condemned = []heldThing{t}
			}
			return out, err
		}
		item, err := a.itemOf(t.hold)
		if err != nil {
			return out, err
		}
		if item != nil { // first: it covers more
			if err := a.condemnItem(item); err != nil {
				return out, err
			}
			out.Condemned = append(out.Condemned, *item)
		}
		token, err := a.holds.Sign(a.signer, holds.OpCondemn, t.hold.Subject, a.loose())
		if err != nil {
			return out, err
		}
		if _, err := a.holds.Condemn(a.ctx, token); err != nil {
			return out, err
		}
		t.State, t.By = stateCondemned, a.key.Key().ID
		out.Condemned = append(out.Condemned, t)
		return out, nil
	})
}

// condemnItem condemns a version of an item, and the tool in the registry where it
// is registered.
func (a *acting) condemnItem(t *heldThing) error {
	token, err := a.onItem(t, registry.EntryCondemned, func(d *baseline.Draft) (string, error) {
		token, err := a.base.SignCondemnVersion(a.signer, &d.Baseline, t.key, t.Digest, t.Gen, t.Ver, a.loose())
		if err == nil && !t.foreign {
			_, err = d.Condemn(token)
		}
		return token, err
	})
	if err != nil {
		return err
	}
	t.State, t.By = stateCondemned, a.key.Key().ID
	if row := a.registered(t.origin, t.key); row != nil && row.Live {
		return a.n.CondemnTool(a.ctx, row.Row.Tool, token, a.c.str("reason"))
	}
	return nil
}

// itemOf is the version of the item that a hold came from; nil where it came from
// none that is known by now. A registered one that is no longer the current version
// is the registry's alone to condemn, which does it by the tool.
func (a *acting) itemOf(h *holds.Hold) (*heldThing, error) {
	if h.Tool == "" {
		return nil, nil
	}
	b, err := a.base.Get(h.Origin)
	if err != nil {
		return nil, err
	}
	for _, x := range b.Items() {
		if string(x.Kind) != h.Item {
			continue
		}
		t := heldThing{ID: itemID(h.Origin, x.Key, h.Mdg), Upstream: baseline.Visible(h.Origin), Kind: string(x.Kind), Name: baseline.Visible(x.Name),
			Tool: h.Tool, Gen: h.Gen, Ver: h.Ver, Digest: h.Mdg, At: ofMillis(x.At), origin: h.Origin, key: x.Key}
		if x.ID == h.Tool {
			return &t, nil
		}
		if row := a.registered(h.Origin, x.Key); row != nil && row.Row.Tool == h.Tool {
			if t.foreign = x.Digest != h.Mdg; !t.foreign {
				t.Gen, t.Ver = x.Gen, x.Ver // the baseline counts for itself
			}
			return &t, nil
		}
	}
	return nil, nil
}
