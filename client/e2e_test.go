package client_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
)

// startRegistry runs a real registry on loopback and gives its URL and an actor
// with its operator's key.
func startRegistry(t testing.TB) (url string, operator *client.Actor) {
	t.Helper()
	n, err := node.Open(t.Context(), node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0"}, node.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- n.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-served, n.Close()); err != nil {
			t.Error(err)
		}
	})
	<-n.Ready()
	k, err := keyring.LoadKeyFile(n.OperatorKeyFile(), secret.Value{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(n.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if operator, err = c.As(k); err != nil {
		t.Fatal(err)
	}
	return n.URL(), operator
}

func actorAt(t testing.TB, url, name string) *client.Actor {
	t.Helper()
	c, err := client.New(url, &client.Options{AutoRenew: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	a, err := c.As(key(name))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func metadata(name, text string) jsontext.Value {
	return jsontext.Value(fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, text))
}

// must gives the value of an act that has to succeed.
func must[T any](t testing.TB, what string) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return v
	}
}

func refused(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

// The life of a tool against a real registry over real HTTP.
func TestEndToEndActs(t *testing.T) {
	url, operator := startRegistry(t)
	owner, other := actorAt(t, url, "owner"), actorAt(t, url, "other")
	ctx := t.Context()
	p := must[registry.PrincipalView](t, "principal")(owner.CreatePrincipal(ctx, keyOf(t, "recovery").JWK()))
	if p.ID != owner.ID() || p.Recovery != keyOf(t, "recovery").ID {
		t.Errorf("principal: %+v", p)
	}
	reg := must[registry.RegisterResponse](t, "register")(owner.Register(ctx, registry.RegisterRequest{Origin: originShop,
		Tools: []jsontext.Value{metadata("pay", "Pays."), metadata("refund", "Refunds."), metadata("list", "Lists.")}}))
	hs := make([]client.Handle, len(reg.Tools))
	for i, v := range reg.Tools {
		hs[i] = parsed(t, v.Handle)
		if hs[i].Tool != v.ID || hs[i].Base != v.Digest {
			t.Errorf("handle %d is of %v", i, hs[i].Tool)
		}
	}
	_, err := other.Register(ctx, registry.RegisterRequest{Origin: originShop, Tools: []jsontext.Value{metadata("pay", "Steals.")}})
	refused(t, "same name", err, registry.ErrNameTaken)
	_, err = other.Overwrite(ctx, hs[0], metadata("pay", "Steals."))
	if err == nil {
		t.Error("another key used the handle")
	}

	v2 := must[registry.HandleView](t, "overwrite")(owner.Overwrite(ctx, hs[0], metadata("pay", "Pays quickly.")))
	_, err = owner.Overwrite(ctx, hs[0], metadata("pay", "Pays slowly."))
	refused(t, "old base", err, registry.ErrStaleBase)
	h := parsed(t, v2.Handle)
	_, err = owner.Overwrite(ctx, h, metadata("pay", "Pays quickly."))
	refused(t, "no change", err, registry.ErrUnchanged)

	// Delegation.
	d := must[registry.DelegationView](t, "delegate")(owner.Delegate(ctx, h, other.JWK(), []credentials.Action{credentials.Overwrite}, time.Now().Add(30*time.Minute)))
	dh := parsed(t, d.Handle)
	_, err = other.Revoke(ctx, dh)
	refused(t, "delegate revokes", err, registry.ErrAction)
	v3 := must[registry.HandleView](t, "delegate overwrites")(other.Overwrite(ctx, dh, metadata("pay", "Pays by delegate.")))
	if ds := must[[]registry.DelegationView](t, "delegations")(owner.Delegations(ctx, h)); len(ds) != 1 || ds[0].ID != d.ID {
		t.Errorf("delegations: %+v", ds)
	}
	must[registry.DelegationView](t, "revoke delegation")(owner.RevokeDelegation(ctx, h, d.ID))
	if _, err = other.Overwrite(ctx, parsed(t, v3.Handle), metadata("pay", "Pays again.")); err == nil {
		t.Error("a revoked delegation overwrote")
	}

	// Handles.
	h = parsed(t, must[registry.HandleView](t, "renew")(owner.Renew(ctx, h.Tool)).Handle)
	must[registry.ToolView](t, "revoke handles")(owner.RevokeHandles(ctx, h))
	c, err := client.New(url, nil) // does not renew by itself
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	strict, err := c.As(key("owner"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = strict.Overwrite(ctx, h, metadata("pay", "Pays anew."))
	refused(t, "earlier generation", err, registry.ErrStaleGeneration)
	h = parsed(t, must[registry.HandleView](t, "renews by itself")(owner.Overwrite(ctx, h, metadata("pay", "Pays anew."))).Handle)
	must[registry.ToolView](t, "revoke handle")(owner.RevokeHandle(ctx, h, h.ID))

	// Transfer, and back.
	h = parsed(t, must[registry.HandleView](t, "renew")(owner.Renew(ctx, h.Tool)).Handle)
	_, err = other.CreatePrincipal(ctx, nil)
	refused(t, "a delegate is a principal already", err, registry.ErrExists)
	tool := must[registry.ToolView](t, "tool")(owner.Client().Tool(ctx, h.Tool))
	accept := must[string](t, "accept")(other.Accept(tool))
	moved := must[registry.ToolView](t, "transfer")(owner.Transfer(ctx, h, other.JWK(), accept))
	if moved.Owner != other.ID() {
		t.Errorf("owner after transfer: %v", moved.Owner)
	}
	_, err = owner.Renew(ctx, h.Tool)
	refused(t, "former owner renews", err, registry.ErrNotOwner)
	back := must[registry.ToolView](t, "undo")(operator.UndoTransfer(ctx, h.Tool))
	if back.Owner != owner.ID() {
		t.Errorf("owner after undo: %v", back.Owner)
	}
	_, err = other.UndoTransfer(ctx, h.Tool)
	if err == nil {
		t.Error("anybody undoes a transfer")
	}

	// Recovery: all tools to a new key.
	next := actorAt(t, url, "next")
	recovery := actorAt(t, url, "recovery")
	must[registry.PrincipalView](t, "recover")(recovery.Recover(ctx, owner.ID(), next.JWK(), must[string](t, "accept all")(next.AcceptAll(owner.ID()))))
	n := 0
	for v, err := range owner.Client().Tools(ctx, client.ToolQuery{Owner: next.ID(), Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; v.Origin != originShop {
			t.Errorf("tool %+v", v)
		}
	}
	if n != 3 {
		t.Errorf("%d tools after recovery", n)
	}
	h = parsed(t, must[registry.HandleView](t, "renew by the new key")(next.Renew(ctx, h.Tool)).Handle)
	if v := must[registry.ToolView](t, "revoke")(next.Revoke(ctx, h)); v.Status != "revoked" {
		t.Errorf("status %q", v.Status)
	}
	_, err = next.Renew(ctx, h.Tool)
	refused(t, "revoked tool", err, registry.ErrToolRevoked)
	events := 0
	for _, err := range owner.Client().Versions(ctx, h.Tool) {
		if err != nil {
			t.Fatal(err)
		}
		events++
	}
	if events < 7 {
		t.Errorf("%d events of the tool", events)
	}
}

// What only operators do, and others may not.
func TestEndToEndOperator(t *testing.T) {
	url, operator := startRegistry(t)
	owner := actorAt(t, url, "owner")
	ctx := t.Context()
	reg := must[registry.RegisterResponse](t, "register")(owner.Register(ctx, registry.RegisterRequest{Origin: originShop, Tools: []jsontext.Value{metadata("pay", "Pays.")}}))
	tool := reg.Tools[0]
	_, err := owner.CondemnTool(ctx, tool.ID, "mine")
	refused(t, "registrant condemns", err, registry.ErrNotOperator)
	p := must[registry.PrincipalView](t, "enrol")(operator.Enrol(ctx, owner.ID(), originShop))
	if len(p.Enrolled) != 1 || p.Enrolled[0] != originShop {
		t.Errorf("enrolled: %v", p.Enrolled)
	}
	must[registry.ToolView](t, "release")(operator.ReleaseTool(ctx, tool.ID, tool.Digest, "read it"))
	if l := must[registry.LabelView](t, "label")(owner.Client().ServedLabel(ctx, tool.ID)); l.Tier != "green" {
		t.Errorf("an enrolled, released tool is %s", l.Tier)
	}
	a := must[registry.AgentView](t, "agent")(operator.CreateAgent(ctx, "claude", "default"))
	if a.Credential == "" {
		t.Error("no credential")
	}
	if as := must[[]registry.AgentView](t, "agents")(operator.Agents(ctx)); len(as) != 1 || as[0].Credential != "" {
		t.Errorf("agents: %+v", as)
	}
	if v := must[registry.AgentView](t, "revoke agent")(operator.RevokeAgent(ctx, a.ID)); !v.Revoked {
		t.Error("agent lives")
	}
	rival := actorAt(t, url, "rival")
	_, err = rival.Register(ctx, registry.RegisterRequest{Origin: originShop, Tools: []jsontext.Value{metadata("pay", "Mine.")}})
	refused(t, "rival", err, registry.ErrNameTaken)
	if cs := must[[]registry.ContestView](t, "contests")(operator.Contests(ctx, originShop)); len(cs) != 1 || cs[0].Claimant != rival.ID() {
		t.Errorf("contests: %+v", cs)
	}
	watcher := actorAt(t, url, "watcher")
	must[registry.PrincipalView](t, "watcher")(watcher.CreatePrincipal(ctx, nil))
	_, err = watcher.Observe(ctx, tool.ToolView, observe.EgressUnsaid)
	refused(t, "nobody enrolled", err, registry.ErrNotObserver)
	if v := must[registry.PrincipalView](t, "enrol observer")(operator.EnrolObserver(ctx, watcher.ID())); !v.Observer {
		t.Errorf("enrolled: %+v", v)
	}
	if v := must[registry.ObservationView](t, "praise")(watcher.Observe(ctx, tool.ToolView)); v.Recorded || v.Content != "inspected" {
		t.Errorf("praise: %+v", v)
	}
	if v := must[registry.ObservationView](t, "observe")(watcher.Observe(ctx, tool.ToolView, observe.OutputUnfit, observe.EgressUnsaid, observe.OutputUnfit)); !v.Recorded || v.Content != "suspect" {
		t.Errorf("observed: %+v", v)
	}
	if rs := must[[]registry.ReviewView](t, "reviews")(operator.Reviews(ctx, tool.ID)); len(rs) != 1 || len(rs[0].Saw) != 2 || rs[0].Observer != watcher.ID() {
		t.Errorf("reviews: %+v", rs)
	}
	_, err = watcher.Reviews(ctx, "")
	refused(t, "observer reads reviews", err, registry.ErrNotOperator)
	must[registry.ToolView](t, "condemn")(operator.CondemnTool(ctx, tool.ID, "bad"))
	must[registry.PrincipalView](t, "condemn principal")(operator.CondemnPrincipal(ctx, owner.ID(), "bad"))
	must[registry.TopologyView](t, "condemn origin")(operator.CondemnOrigin(ctx, originShop, "bad"))

	before := must[registry.KeyList](t, "keys")(owner.Client().KeyList(ctx))
	rot := must[registry.KeyChangeResponse](t, "dry run")(operator.RotateKeys(ctx, credentials.RoleLabel, true))
	if rot.Applied || len(rot.Changes) == 0 {
		t.Errorf("dry run: %+v", rot)
	}
	if rot = must[registry.KeyChangeResponse](t, "rotate")(operator.RotateKeys(ctx, credentials.RoleLabel, false)); !rot.Applied || rot.Version <= before.Version {
		t.Errorf("rotate: %+v", rot)
	}
	_, err = owner.RotateKeys(ctx, credentials.RoleLabel, false)
	refused(t, "registrant rotates", err, registry.ErrNotOperator)
}

// Labels, stream and log of a real registry, through an emergency.
func TestEndToEndLabels(t *testing.T) {
	url, operator := startRegistry(t)
	owner := actorAt(t, url, "owner")
	ctx := t.Context()
	reg := must[registry.RegisterResponse](t, "register")(owner.Register(ctx, registry.RegisterRequest{Origin: originShop, Tools: []jsontext.Value{metadata("pay", "Pays.")}}))
	must[registry.PrincipalView](t, "enrol")(operator.Enrol(ctx, owner.ID(), originShop))
	tool := reg.Tools[0]
	must[registry.ToolView](t, "release")(operator.ReleaseTool(ctx, tool.ID, tool.Digest, "read it"))
	org, err := origin.Parse(originShop)
	if err != nil {
		t.Fatal(err)
	}
	shown := labels.Shown{Metadata: metadata("pay", "Pays."), Tool: tool.ID, Origin: org}
	var skew sync.Mutex
	var ahead time.Duration
	now := func() time.Time {
		skew.Lock()
		defer skew.Unlock()
		return time.Now().Add(ahead)
	}
	state := client.FileState(filepath.Join(t.TempDir(), "state.json"))
	l, err := client.NewLabels(url, client.Trust{State: state}, &client.LabelOptions{KeysOptions: client.KeysOptions{Network: client.Network{Now: now}}})
	if err != nil {
		t.Fatal(err)
	}
	v := must[labels.Verified](t, "label")(l.Label(ctx, shown))
	if v.Tier() != labels.Green {
		t.Errorf("tier %v", v.Tier())
	}
	log := client.NewLedger(l.Keys())
	if e := must[registry.Event](t, "included")(log.Included(ctx, v)); e.Type != registry.ToolReleased {
		t.Errorf("label is of %v", e.Type)
	}

	// The stream takes it away.
	fctx, stop := context.WithCancel(ctx)
	changes, ended := make(chan registry.LabelChange, 16), make(chan error, 1)
	go func() { ended <- l.Follow(fctx, func(c registry.LabelChange) { changes <- c }) }()
	served := must[registry.LabelView](t, "served")(owner.Client().ServedLabel(ctx, tool.ID))
	doc := must[[]byte](t, "keys")(owner.Client().ServedKeys(ctx))
	// The stream begins at what is newest once it is open: an act before that
	// is not on it, so act until one is.
	var got registry.LabelChange
	h := parsed(t, tool.Handle)
	for i := 0; got.Tool == ""; i++ {
		hv := must[registry.HandleView](t, "overwrite")(owner.Overwrite(ctx, h, metadata("pay", fmt.Sprintf("Pays %d.", i))))
		h, shown.Metadata = parsed(t, hv.Handle), metadata("pay", fmt.Sprintf("Pays %d.", i))
		select {
		case got = <-changes:
		case <-time.After(100 * time.Millisecond):
		}
	}
	if got.Tool != tool.ID {
		t.Errorf("change: %+v", got)
	}
	old := shown
	old.Metadata = metadata("pay", "Pays.")
	_, err = l.Verify(ctx, served.Label, old)
	refused(t, "the label before", err, labels.ErrOldSeq)
	if v = must[labels.Verified](t, "label anew")(l.Label(ctx, shown)); v.Tier() != labels.Yellow {
		t.Errorf("tier of a version that nobody read: %v", v.Tier())
	}
	must[registry.Event](t, "included")(log.Included(ctx, v))
	stop()
	refused(t, "follow", <-ended, context.Canceled)

	// Somebody who did not follow learns of it by the list of lowered labels.
	// The registry names a new list at most once a second.
	for end := time.Now().Add(30 * time.Second); ; {
		late, err := client.NewLabels(url, client.Trust{State: &client.MemoryState{}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = late.Verify(ctx, served.Label, old)
		late.Close()
		if errors.Is(err, labels.ErrLowered) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("lowered: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}

	// Offline, with what was served before: good then, and it says how old.
	r := must[client.Report](t, "offline")(client.VerifyOffline(served.Label, old.Metadata, doc, nil))
	if r.Verified.Tier() != labels.Green || r.Pinned || r.Issuer != url {
		t.Errorf("report: %+v", r)
	}
	doc = must[[]byte](t, "keys")(owner.Client().ServedKeys(ctx))
	list := must[[]byte](t, "lowered")(owner.Client().ServedLowered(ctx, credentials.Digest{}))
	_, err = client.VerifyOffline(served.Label, old.Metadata, doc, &client.OfflineOptions{Lowered: list})
	refused(t, "offline, lowered", err, labels.ErrLowered)

	// A leaked label key: refused within Refresh; a restart knows it at once.
	keys := must[registry.KeyList](t, "keys")(owner.Client().KeyList(ctx))
	served = must[registry.LabelView](t, "served")(owner.Client().ServedLabel(ctx, tool.ID))
	for _, k := range keys.Keys {
		if k.Role == string(credentials.RoleLabel) && k.State == string(credentials.KeyActive) {
			must[registry.KeyChangeResponse](t, "revoke key")(operator.RevokeKey(ctx, k.Kid, "leaked"))
		}
	}
	fresh := must[registry.LabelView](t, "served")(owner.Client().ServedLabel(ctx, tool.ID))
	if strings.Split(fresh.Label, ".")[0] == strings.Split(served.Label, ".")[0] {
		t.Error("the revoked key signs on")
	}
	skew.Lock()
	ahead = client.DefaultRefresh // the next use is due to look
	skew.Unlock()
	_, _ = l.Verify(ctx, served.Label, shown)
	for i := 0; i < 1500 && l.Keys().Status().Version == keys.Version; i++ {
		time.Sleep(20 * time.Millisecond)
	}
	_, err = l.Verify(ctx, served.Label, shown)
	refused(t, "by the revoked key", err, envelope.ErrRevokedKey)
	must[labels.Verified](t, "by its successor")(l.Verify(ctx, fresh.Label, shown))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := client.NewLabels(url, client.Trust{State: state}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	_, err = again.Verify(ctx, served.Label, shown)
	refused(t, "after a restart", err, envelope.ErrRevokedKey)
	must[labels.Verified](t, "after a restart")(again.Verify(ctx, fresh.Label, shown))
}
