package vectors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/effects"
	"github.com/pratique-dev/pratique/labels/policy/vectors"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
)

// audience is what operators' acts and intents name.
const audience = "vectors"

// The agents by their credentials: the one of the vectors, and one that has everything
// seen before, since nothing else can be sealed.
const (
	worker  credentials.AgentID = "agt_01KBA0000000000000000000AA"
	visitor credentials.AgentID = "agt_01KBA0000000000000000000AB"
)

// A clock goes on when an intent has to end.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// namely is a name of the vector's item among others, for maps.
func namely(kind, name string) string { return kind + " " + name }

// file is the intent of a vector as an operator writes it.
func file(i *vectors.Intent) string {
	var b strings.Builder
	b.WriteString("task: do what the vector says\nexpires: 1h\n")
	for _, kind := range intent.Kinds() {
		var names []string
		for _, n := range i.Items {
			if n.Kind == string(kind) {
				names = append(names, fmt.Sprintf("%q", n.Name))
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "%ss: [%s]\n", kind, strings.Join(names, ", "))
		}
	}
	return b.String() + i.Rules
}

// serveNamed adds what an intent names and no vector serves.
func serveNamed(b *batch, before, after *mcptest.Script) {
	if b.intent == nil {
		return
	}
	for _, n := range b.intent.Items {
		if _, ok := b.items[namely(n.Kind, n.Name)]; !ok && n.Kind == "tool" {
			add(before, n.Kind, mcptest.Tool(n.Name, "Is named."))
			add(after, n.Kind, mcptest.Tool(n.Name, "Is named."))
		}
	}
}

// sealed binds the run of the agent to come to the intent of the batch, as an operator
// does: what it names was seen before, and nothing of the agent was.
func (h *house) sealed(t *testing.T, b *batch, w way) {
	t.Helper()
	if b.intent == nil {
		return
	}
	h.agents.visiting.Store(true)
	a, end := join(t, h.gateway, w)
	a.Start()
	lists(a)
	end()
	h.agents.visiting.Store(false)
	plan := need[*intent.Plan](t)(intent.Parse([]byte(file(b.intent))))
	var items []intent.Item
	for _, e := range need[[]gate.Entry](t)(surface.Known(need[*baseline.Baseline](t)(h.base.Get(h.at)), surface.Weight{Standing: h.standing, Effect: b.effect(), Now: h.clock.now()})) {
		if slices.Contains(plan.Names, intent.Name{Kind: intent.Kind(e.Kind), Name: e.Name}) {
			items = append(items, intent.Item{Origin: h.at, Kind: intent.Kind(e.Kind), Name: e.Name, ID: e.Tool, Digest: e.Digest})
		}
	}
	sign := need[*envelope.Signer](t)(envelope.NewSigner(envelope.Intent, need[*keyring.Private](t)(operator())))
	make := func(id credentials.AgentID) (string, []byte, error) {
		i, err := plan.Seal(id, w.name == "stdio", items, h.clock.now())
		if err != nil {
			return "", nil, err
		}
		token, err := h.runs.SignIntent(sign, i, nil, false)
		return token, i.Text(), err
	}
	note := func(e *registry.Entry) error { return h.spy.Note(e) }
	if w.name == "stdio" {
		need[runs.Sealing](t)(h.runs.SealLaunch(context.Background(), string(b.profile), make, note))
	} else {
		token, text, err := make(worker)
		if err != nil {
			t.Fatal(err)
		}
		need[runs.Sealing](t)(h.runs.Seal(context.Background(), token, text, note))
	}
	if b.intent.Ended {
		h.clock.ahead.Store(int64(2 * time.Hour))
	}
}

// effect is what the operator's file says of the tools of the batch; nil: nothing.
func (b *batch) effect() func(*gate.Entry) labels.Effect {
	said := map[string]labels.Effect{}
	for _, v := range b.vectors {
		name, err := v.ItemName()
		if e, bad := labels.ParseEffect(v.Effect); v.Effect != "" && err == nil && bad == nil {
			said[name] = e
		}
	}
	if len(said) == 0 {
		return nil
	}
	return func(e *gate.Entry) labels.Effect {
		if says, ok := said[e.Name]; ok && e.Kind == gate.Tool {
			return says
		}
		return effects.Rule(e.Standing, e.Raw)
	}
}

// earlier makes the calls that were let through before.
func earlier(t *testing.T, a *mcptest.Agent, w way, v vectors.Vector) {
	t.Helper()
	for _, args := range v.Earlier {
		was := v
		was.Args = args
		if said := call(t, a, w, was); said != "" {
			t.Errorf("%s, %s: a call before it was refused: %s", v.Name, w, said)
		}
	}
}
