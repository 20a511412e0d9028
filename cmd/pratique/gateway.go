package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/gateway/telemetry"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	guards "github.com/pratique-dev/pratique/labels/guard"
	"github.com/pratique-dev/pratique/labels/guard/files"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/observed"
	"github.com/pratique-dev/pratique/registry/runs"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/tallies"
)

// The folders of a gateway in a data folder.
const (
	surfaceFolder = "surface"
	runsFolder    = "runs"
	talliesFolder = "tallies"
)

// policyEvery is how often policy files are looked at for changes, which are taken over
// at the second look.
const policyEvery = 400 * time.Millisecond

// An assembly is a gateway with all that it stands on.
type assembly struct {
	c          *call
	n          *node.Node
	cfg        node.Config
	log        *slog.Logger
	base       *baseline.Store
	runs       *runs.Store
	past       *decisions.Log
	held       *holds.Store
	seen       *observed.Store
	up         gateway.Upstream
	gw         *gateway.Gateway
	count      *tallies.Store // calls, for rules about rates
	src        *policy.Source // rules for all; nil: no rule file
	ofOrigin   *policy.Source // rules for this upstream alone; nil: none
	sitePolicy string         // where they lie
	at         string         // the upstream's origin

	counted *telemetry.Counters
	export  *telemetry.Export

	pin     atomic.Pointer[baseline.Launch]
	watches sync.WaitGroup
	stop    context.CancelFunc
}

// assemblyOptions are what guard and up do differently.
type assemblyOptions struct {
	env     []string       // of a stdio upstream, whole
	named   bool           // the upstream's name is the operator's own word
	profile policy.Profile // of launches
	inspect *inspection
	notice  func(format string, args ...any)
}

// assemble builds the gateway of one upstream on an open node. Nothing is
// started or dialled before an agent comes.
func (c *call) assemble(n *node.Node, cfg node.Config, u node.UpstreamConf, o assemblyOptions) (_ *assembly, err error) {
	a := &assembly{c: c, n: n, cfg: cfg, log: c.logger(cfg.Log)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(context.Background()))
		}
	}()
	rules, err := a.readPolicies(u)
	if err != nil {
		return nil, err
	}
	if err := a.open(rules); err != nil {
		return nil, err
	}
	if a.up, err = a.upstream(u, o); err != nil {
		return nil, err
	}
	observer, err := a.observer(u.Name)
	if err != nil {
		return nil, err
	}
	said, err := c.effects(cfg.Effects)
	if err != nil {
		return nil, err
	}
	place := a.up.Place()
	a.at = place.Origin.String()
	a.gw, err = gateway.New(gateway.Options{
		Upstream: a.up, Agents: n.Agents(), Runs: a.runs, Record: noticing{a.past, a, o.notice}, Policy: rules, Keep: a.keepRules,
		Surfaces: gateway.Surfaces{
			Baseline: surface.Store(a.base, a.at), Registry: surface.View(place.Origin, a.snapshot), Standing: a.standing,
			Effect: effectOf(said, a.at, u.Name, c.now), EffectEnds: said.Ends,
			Elsewhere: surface.Elsewhere(a.base, a.at), Limits: surface.Limits{Freshness: cfg.Gateway.FreshnessOr(), Early: cfg.Gateway.Wait},
		},
		Inspector: o.inspect, Keys: n.Keys().Ring(), Issuer: n.URL(), Profile: o.profile, Observer: observer,
		Withdrawn: surface.NewWithdrawn(a.snapshot, a.base, a.seen), Holds: a.held, Conduct: a.seen.Place(a.at), Tallies: a.count, Files: filesOf(u),
		Limits: gateway.Limits{Grace: cfg.Gateway.Grace, Inspect: o.inspect.patience(cfg.Inspector)},
		Own:    gateway.Own{Data: absolute(cfg.Data), Files: c.ownFiles(cfg, u), Listeners: append(n.Listeners(), n.URL())},
		Log:    a.log, Now: c.now,
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	if a.src != nil || a.ofOrigin != nil {
		a.watches.Go(func() { a.watchPolicy(ctx) })
	}
	return a, nil
}

// open opens what is kept in the data folder.
func (a *assembly) open(rules policy.Policy) (err error) {
	if a.base, err = a.c.baselines(a.n, a.cfg.Data); err != nil {
		return err
	}
	if a.runs, err = a.n.Runs(); err != nil { // the node's, as the record
		return err
	}
	if a.seen, err = a.n.Observed(); err != nil { // the node's, too
		return err
	}
	if a.past, err = a.n.Decisions(); err != nil { // the node's: it anchors and closes it
		return err
	}
	if a.held, err = a.c.holdsOf(a.n, a.cfg.Data, a.past.Note); err != nil {
		return err
	}
	if a.count, err = tallies.Open(filepath.Join(a.cfg.Data, talliesFolder), a.c.now, rand.Reader); err != nil {
		return err
	}
	if err := a.held.Err(); err != nil { // what is held stays held, and everything counts as condemned
		return err
	}
	return a.keepRules(rules)
}

// filesOf is what can be seen of the file system that an upstream's paths are of: ours,
// where we start it.
func filesOf(u node.UpstreamConf) guards.Files {
	if u.URL != "" {
		return nil
	}
	return files.From(absolute(u.Dir))
}

// observer watches for whoever the standard variables name, and for /metrics.
func (a *assembly) observer(name string) (gateway.Observer, error) {
	export, err := telemetry.FromEnvironment(context.Background(), os.LookupEnv, buildVersion().Version)
	if err != nil {
		return nil, &coded{exitUsage, err}
	}
	a.export, a.counted = export, telemetry.NewCounters()
	starts := func() uint64 {
		s, ok := a.up.(interface{ Stats() upstream.Stats })
		if !ok {
			return 0
		}
		return s.Stats().Starts
	}
	if err := a.n.Metrics(a.counted.Collectors(name, starts)...); err != nil {
		return nil, err
	}
	return export.Observer(telemetry.Options{Counters: a.counted, Now: a.c.now})
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func (a *assembly) snapshot() (*state.View, uint64, error) {
	if err := a.n.Record().Fresh(); err != nil {
		return nil, 0, err
	}
	v, err := a.n.Record().View()
	if err != nil {
		return nil, 0, err
	}
	return v.View, v.Head.Size, nil
}

// standing is what is known of the place now: its launch against the pin. It is
// asked right after the baseline.
func (a *assembly) standing() labels.Standing {
	b, err := a.base.Recent(a.at)
	if err != nil {
		return labels.Vetoed
	}
	return b.LaunchStanding(a.pin.Load())
}

// upstream is the server behind, as it was configured.
func (a *assembly) upstream(u node.UpstreamConf, o assemblyOptions) (gateway.Upstream, error) {
	if u.URL != "" {
		headers, err := a.headers(u.HeadersFile)
		if err != nil {
			return nil, err
		}
		return upstream.NewEndpoint(u.Name, u.URL, &upstream.EndpointOptions{Headers: headers, Log: a.log, Now: a.c.now})
	}
	cmd := baseline.Command{Argv: u.Argv(), Dir: u.Dir, Env: o.env}
	name := ""
	if o.named {
		name = u.Name
	}
	at, err := a.base.Place(name, cmd)
	if err != nil {
		return nil, err
	}
	program, err := baseline.Resolve(cmd)
	if err != nil {
		return nil, &coded{exitNotFound, err}
	}
	launch, err := a.checkLaunch(context.Background(), at, cmd)
	if launch == nil {
		return nil, err
	}
	if err != nil { // an agent is told when it comes: an operator may accept it meanwhile
		o.notice("%v", err)
	}
	argv := append([]string{program}, cmd.Argv[1:]...)
	return upstream.NewProcess(u.Name, argv, &upstream.ProcessOptions{
		Dir: u.Dir, Env: o.env, Origin: at, Launch: launch, Log: a.log, Now: a.c.now,
		Check: func(ctx context.Context) error { _, err := a.checkLaunch(ctx, at, cmd); return err },
	})
}

// errLaunch says that the code behind an upstream is not what was accepted.
var errLaunch = errors.New("the launch of the upstream has changed, and nothing of it is started until it is accepted")

// checkLaunch holds what would be started now against the pin, and pins it at
// first sight.
func (a *assembly) checkLaunch(ctx context.Context, at origin.Origin, cmd baseline.Command) (*baseline.Launch, error) {
	l, err := a.base.Pin(ctx, cmd)
	if err != nil {
		return nil, err
	}
	b, err := a.base.Get(at.String())
	if err == nil && (b.Launch() == nil || b.NextLaunch() != nil || b.LaunchStanding(l) == labels.Vetoed) {
		b, err = a.base.Update(ctx, at.String(), func(d *baseline.Draft) error { d.PinLaunch(l); return nil })
	}
	if err != nil {
		return nil, err
	}
	a.pin.Store(l)
	if b.LaunchStanding(l) == labels.Vetoed {
		return l, fmt.Errorf("%w: %s", errLaunch, a.remedy("surface accept", at.String(), "--launch"))
	}
	return l, nil
}

// remedy is the command line that helps.
func (a *assembly) remedy(command, at string, more ...string) string {
	words := append([]string{"pratique", command, "--data", a.cfg.Data, "--upstream", at}, more...)
	return strings.Join(words, " ")
}

// headers reads a file of "Name: value" lines. Its values are secrets: no error
// shows one.
func (a *assembly) headers(file string) (http.Header, error) {
	if file == "" {
		return nil, nil
	}
	raw, err := durable.ReadPrivate(file, 64<<10)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for i, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("%w: line %d of %s is not \"Name: value\"", errInput, i+1, file)
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

// close ends the gateway, then the upstream: what is under way is answered
// before, and no process outlives us. The node closes the record after them.
func (a *assembly) close(ctx context.Context) error {
	var err error
	if a.stop != nil {
		a.stop()
		a.watches.Wait()
	}
	if a.gw != nil {
		err = errors.Join(err, a.gw.Close(ctx))
	}
	if a.up != nil {
		err = errors.Join(err, a.up.Close())
	}
	if a.export != nil {
		if e := a.export.Shutdown(ctx); e != nil {
			a.log.Warn("telemetry", "err", e) // what watches never decides how we end
		}
	}
	return err
}

// noticing tells a person what the record learns of the surface.
type noticing struct {
	*decisions.Log
	a      *assembly
	notice func(format string, args ...any)
}

// Note implements gateway.Recorder.
func (r noticing) Note(e *registry.Entry) error {
	err := r.Log.Note(e)
	if e.Type == registry.EntryWithdraw && e.Context != "" { // of what was found clear again nobody has to hear
		r.notice("%s", withdrawnNotice(r.a.cfg.Data, e))
	}
	if err == nil && e.Type == registry.EntrySurface {
		if why, held := strings.CutPrefix(e.Detail, "held back: "); held {
			r.a.counted.Held(e.Upstream, e.Kind)
			remedy := r.a.remedy("surface diff", e.Origin)
			if v, err := quarantine.ParseVerdict(why); err == nil && v != quarantine.Clear {
				remedy = r.a.remedy("quarantine list", e.Origin)
			}
			r.notice("held back: %s %s (%s): %s", e.Kind, baseline.Visible(e.Name), why, remedy)
		}
	}
	return err
}
