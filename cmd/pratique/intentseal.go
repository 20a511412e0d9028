package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/state"
)

// errUnseen says that nothing is cleared of an upstream yet.
var errUnseen = errors.New("no upstream was seen yet, or none of that name, so nothing is cleared that could be named")

// readPlan reads the file of an intent.
func (c *call) readPlan(file string) (*intent.Plan, error) {
	raw, err := c.readFile(file, intent.MaxFile+1)
	if err != nil {
		return nil, err
	}
	return intent.Parse(raw)
}

// planned reads the file, opens the folder and resolves what the file names.
func (c *call) planned(acting bool, do func(w *ward, p *intent.Plan, at string, items []intent.Item) (any, error)) (any, error) {
	p, err := c.readPlan(c.args[0])
	if err != nil {
		return nil, err
	}
	return c.onWard(acting || c.is("look"), func(w *ward) (any, error) {
		at, err := c.upstreamOf(w, or1(c.str("upstream"), p.Upstream))
		if err != nil {
			return nil, err
		}
		known, err := w.known(at)
		if err != nil {
			return nil, err
		}
		items, err := resolve(p, at, known)
		if err != nil {
			return nil, err
		}
		return do(w, p, at, items)
	})
}

// upstreamOf is the upstream that a word means: a name in the configuration, an origin,
// or a name that no other shares; without a word the first of the configuration, or the
// only one that was seen. With --look one of the configuration is seen first.
func (c *call) upstreamOf(w *ward, word string) (string, error) {
	cfg, err := c.config()
	if err != nil {
		return "", err
	}
	cfg = cfg.WithDefaults()
	if i := slices.IndexFunc(cfg.Upstreams, func(u node.UpstreamConf) bool { return word == "" || u.Name == word }); i >= 0 {
		u := cfg.Upstreams[i]
		if c.is("look") {
			return c.sight(w, cfg, u)
		}
		at, err := configuredAt(w.base, u)
		if err != nil {
			return "", err
		}
		word = at.String()
	} else if c.is("look") {
		return "", &coded{exitNotFound, errors.New("--look: the configuration has no upstream of that name")}
	}
	origins, err := w.base.Origins()
	if err != nil {
		return "", err
	}
	var found []string
	for _, o := range origins {
		b, err := w.base.Get(o)
		if err != nil {
			return "", err
		}
		if b.Seen() && (word == "" || word == o || word == shortOrigin(o)) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", &coded{exitPrecondition, errUnseen}
	}
	slices.Sort(found)
	return "", usagef("several upstreams were seen; say which with --upstream: %s", strings.Join(found, ", "))
}

// known are the items of an upstream that its baseline has.
func (w *ward) known(at string) ([]gate.Entry, error) {
	o, err := origin.Parse(at)
	if err != nil {
		return nil, err
	}
	seen, err := w.n.Observed()
	if err != nil {
		return nil, err
	}
	return knownOf(w.base, o, seen.Place(at), func() (*state.View, uint64, error) { return w.view, 0, nil }, w.now())
}

func knownOf(base *baseline.Store, at origin.Origin, seen surface.Observations, now surface.Snapshot, when time.Time) ([]gate.Entry, error) {
	b, err := base.Get(at.String())
	if err != nil {
		return nil, err
	}
	if !b.Seen() {
		return nil, &coded{exitPrecondition, errUnseen}
	}
	w := surface.Weight{Registry: surface.View(at, now), Observed: seen, Now: when}
	if l := b.Launch(); l != nil {
		w.Standing = b.LaunchStanding(&l.Launch)
	} else {
		w.Standing = b.LaunchStanding(nil)
	}
	return surface.Known(b, w)
}

// resolve are the versions of what a plan names that are cleared now.
func resolve(p *intent.Plan, at string, known []gate.Entry) ([]intent.Item, error) {
	var items []intent.Item
	var errs []error
	for _, n := range p.Names {
		i := slices.IndexFunc(known, func(e gate.Entry) bool { return string(e.Kind) == string(n.Kind) && e.Name == n.Name })
		switch {
		case i < 0:
			errs = append(errs, fmt.Errorf("%w: %s %s: there is none of that name", intent.ErrMissing, n.Kind, baseline.Visible(n.Name)))
		case known[i].Listed != policy.Cleared:
			errs = append(errs, fmt.Errorf("%w: %s %s is %s", intent.ErrMissing, n.Kind, baseline.Visible(n.Name), known[i].Listed))
		default:
			items = append(items, intent.Item{Origin: at, Kind: n.Kind, Name: n.Name, ID: known[i].Tool, Digest: known[i].Digest})
		}
	}
	return items, errors.Join(errs...)
}

// errWatched refuses an intent that would bind nothing.
var errWatched = errors.New("the profile watch records and enforces nothing, an intent neither")

func sealIntent(c *call) (any, error) {
	return c.planned(true, func(w *ward, p *intent.Plan, _ string, items []intent.Item) (any, error) {
		s, err := w.n.Runs()
		if err != nil {
			return nil, err
		}
		word := or1(c.str("agent"), p.Agent)
		if word == "" {
			return nil, usagef("neither --agent nor FILE says whose intent it is")
		}
		b, err := w.bearer(s, word)
		if err != nil {
			return nil, err
		}
		if b.profile == string(policy.Watch) {
			return nil, &coded{exitPrecondition, errWatched}
		}
		return c.seal(w, s, b, p, items)
	})
}

// seal shows a person what would be sealed, signs it and has it take effect.
func (c *call) seal(w *ward, s *runs.Store, b *bearer, p *intent.Plan, items []intent.Item) (any, error) {
	var was *intent.Intent
	if b.bound != nil {
		was = b.bound.Intent
		p.Before(was.Expires(), c.now())
	}
	i, err := p.Seal(b.id, b.launch, items, c.now())
	if err != nil {
		return nil, err
	}
	if was != nil && i.Digest() == was.Digest() {
		last := b.bound.Seals[len(b.bound.Seals)-1]
		return intentOutput{intentView: viewOf(i), Agent: b.id, Name: b.name, Op: last.Op, By: last.By, Loose: last.Loose, Unchanged: true}, nil
	}
	if c.terminal && !c.json && !c.is("yes") {
		checkedIntent{intentView: viewOf(i), Agent: b.word()}.show(c.err)
		if err := c.sureIfPerson("Seal this?"); err != nil {
			return nil, err
		}
	}
	token, loose, err := c.signIntent(w.data, s, i, was)
	if err != nil {
		return nil, err
	}
	log, err := w.n.Decisions()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c, 30*time.Second)
	defer cancel()
	x, err := s.Seal(ctx, token, i.Text(), log.Note)
	if err != nil {
		return nil, err
	}
	return intentOutput{intentView: viewOf(i), Agent: b.id, Name: b.name, Op: x.Op, By: x.By, Loose: loose || x.Loose}, nil
}

// signIntent signs with the operator's key.
func (c *call) signIntent(data string, s *runs.Store, i, was *intent.Intent) (token string, loose bool, err error) {
	key, err := c.operatorKey(data)
	if err != nil {
		return "", false, err
	}
	signer, err := envelope.NewSigner(envelope.Intent, key)
	if err != nil {
		return "", false, err
	}
	token, err = s.SignIntent(signer, i, was, !key.Protected())
	return token, !key.Protected(), err
}

// configuredAt is the origin of an upstream of the configuration.
func configuredAt(base *baseline.Store, u node.UpstreamConf) (origin.Origin, error) {
	if u.URL != "" {
		return origin.Parse(u.URL)
	}
	return base.Place(u.Name, baseline.Command{Argv: u.Argv(), Dir: u.Dir})
}

// sight sees an upstream of the configuration, as an agent that lists everything and
// calls nothing.
func (c *call) sight(w *ward, cfg node.Config, u node.UpstreamConf) (string, error) {
	log := c.logger(cfg.Log)
	ins, err := c.inspector(cfg.Inspector, log)
	if err != nil {
		return "", err
	}
	defer ins.Close()
	a, err := c.assemble(w.n, cfg, u, assemblyOptions{
		env: upstream.Environ(os.LookupEnv, u.Env), named: true, profile: policy.Strict, inspect: ins,
		notice: func(format string, args ...any) { c.note("pratique: "+format, args...) },
	})
	if err != nil {
		return "", err
	}
	err = a.look(c)
	down, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return a.at, errors.Join(err, a.close(down))
}

// lookFor bounds how long an upstream is looked at.
const lookFor = 2 * time.Minute

// look has the upstream pinned at first sight: everything is listed once, as for an
// agent, and nothing is called. One that was seen already is left alone.
func (a *assembly) look(ctx context.Context) error {
	if b, err := a.base.Get(a.at); err != nil || b.Seen() {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	who, err := a.gw.Launch("pratique intent")
	if err != nil {
		return err
	}
	hello := mcp.Hello{Revision: mcp.Latest, ClientInfo: jsontext.Value(`{"name":"pratique","version":"1"}`)}
	s, err := a.gw.Open(ctx, who, hello, mute{}, gateway.Via{Way: "stdio"})
	if errors.Is(err, gateway.ErrEra) {
		hello.Revision = mcp.Rev20260728
		s, err = a.gw.Stateless(ctx, who, hello, gateway.Via{Way: "stdio"})
	}
	if err != nil {
		return err
	}
	defer s.Close()
	for n, m := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
		params := jsontext.Value(`{}`)
		if hello.Revision.Modern() {
			params = mcp.Object(mcp.Member{Name: "_meta", Value: mcp.Object(hello.Meta()...)})
		}
		f := mcp.Frame{Shape: mcp.Request, ID: mcp.ID(fmt.Sprint(n + 1)), Method: m, Params: params}
		for { // until the first sight is complete
			got := s.Handle(ctx, f, mute{})
			if got.Shape == mcp.Result {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the upstream was not seen: %w", ctx.Err())
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	b, err := a.base.Get(a.at)
	if err == nil && !b.Seen() {
		err = &coded{exitBackend, errUnseen}
	}
	return err
}

// mute is an agent that hears nothing and answers no question.
type mute struct{}

// Notify implements gateway.Peer.
func (mute) Notify(mcp.Frame) {}

// Ask implements gateway.Peer.
func (mute) Ask(context.Context, mcp.Frame) (mcp.Frame, error) {
	return mcp.Frame{}, gateway.ErrNoQuestions
}

// launchPlan is what --intent of guard names; nil: nothing.
func (c *call) launchPlan() (*intent.Plan, error) {
	if c.has("intent") {
		return c.readPlan(c.str("intent"))
	}
	if c.has("key") || c.has("key-passphrase-file") {
		return nil, usagef("--key and --key-passphrase-file are for --intent")
	}
	return nil, nil
}

// sealLaunch seals an intent for the one launch of this process, before its agent has
// sent or read anything. nil: the launch has none.
func (a *assembly) sealLaunch(p *intent.Plan, name string, profile policy.Profile) error {
	switch {
	case p == nil:
		return nil
	case profile == policy.Watch:
		return &coded{exitPrecondition, errWatched}
	case p.Agent != "":
		return usagef("--intent: it is for an agent with a credential, and this is a launch")
	case p.Launch != "" && p.Launch != name:
		return usagef("--intent: it is for the launch of another server than %s", name)
	}
	if err := a.look(a.c); err != nil {
		return err
	}
	known, err := knownOf(a.base, a.up.Place().Origin, a.seen.Place(a.at), a.snapshot, a.c.now())
	if err != nil {
		return err
	}
	items, err := resolve(p, a.at, known)
	if err != nil {
		return err
	}
	var sealed *intent.Intent
	loose := false
	x, err := a.runs.SealLaunch(a.c, string(profile), func(id credentials.AgentID) (string, []byte, error) {
		i, err := p.Seal(id, true, items, a.c.now())
		if err != nil {
			return "", nil, err
		}
		sealed = i
		token, bare, err := a.c.signIntent(a.cfg.Data, a.runs, i, nil)
		loose = bare
		return token, i.Text(), err
	}, a.past.Note)
	if err != nil {
		return err
	}
	a.c.guardNote("sealed for this launch until %s: %d items, intent %s", moment(x.Expires), len(sealed.Items()), x.Intent)
	if loose {
		a.c.guardNote("the operator's key lies unencrypted: the seal is recorded as unprotected, and whoever runs as this user can sign another")
	}
	return nil
}
