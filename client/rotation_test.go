package client_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
)

// loader is one client under load: an actor, and caches of its own.
type loader struct {
	origin string
	actor  *client.Actor
	keys   *client.Keys
	labels *client.Labels

	mu   sync.Mutex
	held []registry.HandleView // everything minted, oldest first

	requests, verified atomic.Int64
	after              atomic.Bool // the emergency has been: handles of before may be refused
	n                  int
}

func newLoader(t *testing.T, url, name string) *loader {
	t.Helper()
	l := &loader{origin: "https://" + name + ".example", actor: actorAt(t, url, name)}
	var err error
	o := client.KeysOptions{Refresh: client.MinRefresh}
	if l.keys, err = client.NewKeys(url, client.Trust{State: &client.MemoryState{}}, &o); err != nil {
		t.Fatal(err)
	}
	if l.labels, err = client.NewLabels(url, client.Trust{State: &client.MemoryState{}}, &client.LabelOptions{KeysOptions: o}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.keys.Close(), l.labels.Close()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// round registers a tool, renews its handle, and verifies both handles, a label
// and old handles offline. Any refusal of a good token is an error.
func (l *loader) round(ctx context.Context) error {
	l.n++
	name := fmt.Sprintf("t%d", l.n)
	meta := metadata(name, "Does "+name)
	reg, err := l.actor.Register(ctx, registry.RegisterRequest{Origin: l.origin, Tools: []jsontext.Value{meta}})
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	fresh, err := l.actor.Renew(ctx, reg.Tools[0].ID)
	if err != nil {
		return fmt.Errorf("renew: %w", err)
	}
	served, err := l.actor.Client().ServedLabel(ctx, fresh.ID)
	if err != nil {
		return fmt.Errorf("label: %w", err)
	}
	l.requests.Add(3)
	l.mu.Lock()
	l.held = append(l.held, reg.Tools[0], fresh)
	old := []registry.HandleView{reg.Tools[0], fresh, l.held[0], l.held[len(l.held)/2]}
	l.mu.Unlock()
	for i, h := range old {
		if i >= 2 && l.after.Load() {
			break
		}
		if _, err := l.keys.Handle(ctx, h.Handle); err != nil && !l.after.Load() {
			return fmt.Errorf("handle %d: %w", i, err)
		}
		l.verified.Add(1)
	}
	if _, err := l.labels.Verify(ctx, served.Label, labels.Shown{Metadata: meta, Tool: fresh.ID, AnyOrigin: true}); err != nil && !l.after.Load() {
		return fmt.Errorf("label: %w", err)
	}
	l.verified.Add(1)
	return nil
}

// first is the oldest handle, once there is one.
func (l *loader) first(t *testing.T) registry.HandleView {
	for range 500 {
		l.mu.Lock()
		if len(l.held) > 0 {
			defer l.mu.Unlock()
			return l.held[0]
		}
		l.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("nothing was registered")
	return registry.HandleView{}
}

// run makes rounds until ctx ends.
func (l *loader) run(t *testing.T, ctx context.Context) {
	for ctx.Err() == nil {
		if err := l.round(ctx); err != nil && ctx.Err() == nil {
			t.Errorf("a good token was refused, or a request: %v", err)
			return
		}
	}
}

// TestRotationUnderLoad rotates the keys that sign for holders and readers while
// three clients with caches of their own register, renew and verify; then a key
// leaks. Show 4 in full, with scheduled rotations and the clients' bound, takes
// minutes: TestSoakRotationUnderLoad (build tag long).
func TestRotationUnderLoad(t *testing.T) {
	n := startNode(t, node.Config{Data: filepath.Join(t.TempDir(), "data")})
	operator := nodeActor(t, n, n.OperatorKeyFile())
	ctx, stop := context.WithCancel(t.Context())
	var loads []*loader
	var wg sync.WaitGroup
	start := time.Now()
	for i := range 3 {
		l := newLoader(t, n.URL(), fmt.Sprintf("load%d", i))
		loads = append(loads, l)
		wg.Go(func() { l.run(t, ctx) })
	}
	defer wg.Wait()
	defer stop()
	loads[0].first(t)
	for _, role := range []credentials.Role{credentials.RoleHandle, credentials.RoleLabel, credentials.RoleKeySet} {
		if r := must[registry.KeyChangeResponse](t, "rotate")(operator.RotateKeys(ctx, role, false)); !r.Applied {
			t.Errorf("rotation of %s was not applied", role)
		}
		time.Sleep(200 * time.Millisecond) // of load, in which nothing may be refused
	}
	emergency(t, n, loads, operator)
	stop()
	wg.Wait()
	var requests, verified int64
	for _, l := range loads {
		requests, verified = requests+l.requests.Load(), verified+l.verified.Load()
	}
	t.Logf("%d requests and %d offline verifications, %.0f/s in all", requests, verified, float64(requests+verified)/time.Since(start).Seconds())
}

// emergency revokes the handle key. The service refuses at once, on every path;
// holders re-mint by proof and go on.
func emergency(t *testing.T, n *node.Node, loads []*loader, operator *client.Actor) {
	ctx := t.Context()
	l := loads[0]
	leaked := must[registry.HandleView](t, "renew")(l.actor.Renew(ctx, l.first(t).ID))
	if _, err := l.keys.Handle(ctx, leaked.Handle); err != nil {
		t.Errorf("before: %v", err)
	}
	u, err := envelope.Precheck(leaked.Handle, envelope.Handle)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range loads {
		x.after.Store(true)
	}
	must[registry.KeyChangeResponse](t, "revoke")(operator.RevokeKey(ctx, u.KeyID, "leaked"))
	c, err := client.New(n.URL(), nil) // does not renew by itself
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	strict, err := c.As(key("load0"))
	if err != nil {
		t.Fatal(err)
	}
	h := parsed(t, leaked.Handle)
	for path, act := range map[string]func() error{
		"overwrite": func() error { return second(strict.Overwrite(ctx, h, metadata(leaked.Name, "x"))) },
		"revoke":    func() error { return second(strict.Revoke(ctx, h)) },
		"delegate": func() error {
			return second(strict.Delegate(ctx, h, keyOf(t, "other").JWK(), []credentials.Action{credentials.Overwrite}, time.Now().Add(time.Minute)))
		},
		"delegations":    func() error { return second(strict.Delegations(ctx, h)) },
		"transfer":       func() error { return second(strict.Transfer(ctx, h, keyOf(t, "other").JWK(), "x")) },
		"revoke handle":  func() error { return second(strict.RevokeHandle(ctx, h, h.ID)) },
		"revoke handles": func() error { return second(strict.RevokeHandles(ctx, h)) },
	} {
		if err := act(); client.Code(err) != "invalid_token" {
			t.Errorf("%s by a handle of the leaked key: %v", path, err)
		}
	}
	next := must[registry.HandleView](t, "goes on")(l.actor.Overwrite(ctx, h, metadata(leaked.Name, "after")))
	if next.Version != 2 {
		t.Errorf("version %d", next.Version)
	}
}
