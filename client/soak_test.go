//go:build long

package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/node"
)

// Times of the soak: M, D and S are small; R is the least that a client takes.
const (
	soakLife   = 20 * time.Second // a key signs that long, less up to a tenth
	soakTicks  = 3                // scheduled rotations of every role
	soakEvery  = 25 * time.Millisecond
	soakClock  = time.Second
	soakAtMost = 150 * time.Second
)

// A soaker is one client with its own connection, key and caches.
type soaker struct {
	t      *testing.T
	name   string
	me     *client.Actor
	labels *client.Labels

	mu    sync.Mutex
	held  []soaked
	calls atomic.Int64
	bad   atomic.Int64
}

// soaked is one tool of a soaker with the tokens that it was given, as old as
// they are.
type soaked struct {
	meta   jsontext.Value
	handle client.Handle
	label  string
	shown  labels.Shown
}

func newSoaker(t *testing.T, n *node.Node, name string) *soaker {
	c, err := client.New(n.URL(), nil) // nothing is renewed behind the test's back
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	me, err := c.As(key(name))
	if err != nil {
		t.Fatal(err)
	}
	l, err := client.NewLabels(n.URL(), client.Trust{State: &client.MemoryState{}}, &client.LabelOptions{KeysOptions: client.KeysOptions{Refresh: client.MinRefresh}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &soaker{t: t, name: name, me: me, labels: l}
}

// fail counts a good token, or a good request, that was refused.
func (s *soaker) fail(what string, err error) {
	if s.bad.Add(1) <= 5 {
		s.t.Errorf("%s: %s: %v", s.name, what, err)
	}
}

// register makes a tool and fetches its label.
func (s *soaker) register(ctx context.Context, n int) {
	org := fmt.Sprintf("https://%s-%d.example", s.name, n/1000)
	x := soaked{meta: metadata(fmt.Sprint("tool-", n), "Soaks.")}
	reg, err := s.me.Register(ctx, registry.RegisterRequest{Origin: org, Tools: []jsontext.Value{x.meta}})
	s.calls.Add(1)
	if err != nil {
		s.fail("register", err)
		return
	}
	if x.handle, err = client.ParseHandle(reg.Tools[0].Handle); err != nil {
		s.fail("handle", err)
		return
	}
	x.shown = labels.Shown{Metadata: x.meta, Tool: reg.Tools[0].ID, Origin: origin.Must(org)}
	served, err := s.me.Client().ServedLabel(ctx, x.shown.Tool)
	s.calls.Add(1)
	if err != nil {
		s.fail("label", err)
		return
	}
	x.label = served.Label
	s.mu.Lock()
	s.held = append(s.held, x)
	s.mu.Unlock()
}

func (s *soaker) any() (int, soaked, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.held) == 0 {
		return 0, soaked{}, false
	}
	i := rand.IntN(len(s.held))
	return i, s.held[i], true
}

// verify checks a label offline, however old; renew gets a handle by proof, and
// uses the one before it on the service.
func (s *soaker) verify(ctx context.Context, _ int) {
	if _, x, ok := s.any(); ok {
		s.calls.Add(1)
		if _, err := s.labels.Verify(ctx, x.label, x.shown); err != nil {
			s.fail("a good label", err)
		}
	}
}

func (s *soaker) renew(ctx context.Context, _ int) {
	i, x, ok := s.any()
	if !ok {
		return
	}
	s.calls.Add(1)
	if _, err := s.me.Delegations(ctx, x.handle); err != nil {
		s.fail("a good handle", err)
	}
	if i%2 == 0 {
		return // this one's handle gets old
	}
	s.calls.Add(1)
	v, err := s.me.Renew(ctx, x.shown.Tool)
	if err != nil {
		s.fail("renewal", err)
		return
	}
	h, err := client.ParseHandle(v.Handle)
	if err != nil {
		s.fail("renewed handle", err)
		return
	}
	s.mu.Lock()
	s.held[i].handle = h
	s.mu.Unlock()
}

// keepUp calls act at a steady rate until ctx ends.
func keepUp(ctx context.Context, wg *sync.WaitGroup, every time.Duration, act func(context.Context, int)) {
	wg.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for n := 0; ; n++ {
			select {
			case <-t.C:
				act(context.WithoutCancel(ctx), n)
			case <-ctx.Done():
				return
			}
		}
	})
}

// TestSoakRotationUnderLoad rotates every role's keys three times by schedule
// while three clients register, renew and verify: no good token is refused.
// Then a key of each of handle and label is revoked in an emergency: the
// service refuses what it signed at once, on every path, clients within their
// bound, and holders go on after they renewed by proof.
func TestSoakRotationUnderLoad(t *testing.T) {
	n := startNode(t, node.Config{Data: filepath.Join(t.TempDir(), "data"), Keys: node.KeyConfig{
		MaxAge: soakClock, Refresh: client.MinRefresh, Propagation: soakClock, Skew: soakClock,
		Publish: client.MinRefresh + 3*soakClock, Life: soakLife,
	}})
	op := nodeActor(t, n, n.OperatorKeyFile())
	began := time.Now()
	ctx, stop := context.WithTimeout(t.Context(), soakAtMost)
	defer stop()
	var wg sync.WaitGroup
	var all []*soaker
	for i := range 3 {
		s := newSoaker(t, n, fmt.Sprint("client", i))
		all = append(all, s)
		keepUp(ctx, &wg, 2*soakEvery, s.register)
		keepUp(ctx, &wg, 2*soakEvery, s.renew)
		keepUp(ctx, &wg, soakEvery, s.verify)
	}
	first := signing(t, op)
	seen := map[credentials.Role]map[credentials.KeyID]bool{}
	for rotated := 0; rotated < 3; {
		time.Sleep(soakClock)
		if ctx.Err() != nil {
			t.Fatalf("only %v were rotated", seen)
		}
		rotated = 0
		for role, kid := range signing(t, op) {
			if seen[role] == nil {
				seen[role] = map[credentials.KeyID]bool{}
			}
			if kid != first[role] {
				seen[role][kid] = true
			}
			if role != credentials.RoleState && len(seen[role]) >= soakTicks {
				rotated++ // handle, label, key-set
			}
		}
	}
	stop()
	wg.Wait()
	took := time.Since(began)
	calls := int64(0)
	for _, s := range all {
		calls += s.calls.Load()
		if n := s.bad.Load(); n > 0 {
			t.Errorf("%s: %d good tokens or requests refused", s.name, n)
		}
	}
	t.Logf("%d requests in %v: %.0f a second; %d rotations of each role, 0 good tokens refused", calls, took.Round(time.Second), float64(calls)/took.Seconds(), soakTicks)
	if float64(calls)/took.Seconds() < 200 {
		t.Errorf("the load was less than 200 requests a second: nothing is shown")
	}
	for _, s := range all {
		s.emergency(t, op)
	}
}

// signing are the active keys by role.
func signing(t *testing.T, a *client.Actor) map[credentials.Role]credentials.KeyID {
	t.Helper()
	list, err := a.Client().KeyList(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	out := map[credentials.Role]credentials.KeyID{}
	for _, k := range list.Keys {
		role := credentials.Role(k.Role)
		if k.State != string(credentials.KeyActive) {
			continue
		}
		switch role {
		case credentials.RoleHandle, credentials.RoleLabel, credentials.RoleKeySet, credentials.RoleState:
			out[role] = k.Kid
		}
	}
	return out
}

// emergency revokes the keys that signed a soaker's newest handle and label.
func (s *soaker) emergency(t *testing.T, op *client.Actor) {
	ctx := t.Context()
	s.register(ctx, 900_000)
	x := s.held[len(s.held)-1]
	if _, err := s.labels.Verify(ctx, x.label, x.shown); err != nil {
		t.Fatalf("before the emergency: %v", err)
	}
	now := signing(t, op)
	for _, role := range []credentials.Role{credentials.RoleHandle, credentials.RoleLabel} {
		if _, err := op.RevokeKey(ctx, now[role], "stolen"); err != nil {
			t.Fatalf("revoking the %s key: %v", role, err)
		}
	}
	revoked := time.Now()
	other := keyOf(t, "someone else")
	for path, act := range map[string]func() error{
		"overwrite":      func() error { _, err := s.me.Overwrite(ctx, x.handle, metadata("tool-900000", "New.")); return err },
		"revoke":         func() error { _, err := s.me.Revoke(ctx, x.handle); return err },
		"transfer":       func() error { _, err := s.me.Transfer(ctx, x.handle, other.JWK(), x.label); return err },
		"revoke handles": func() error { _, err := s.me.RevokeHandles(ctx, x.handle); return err },
		"revoke handle":  func() error { _, err := s.me.RevokeHandle(ctx, x.handle, "0123456789abcdef"); return err },
		"delegate": func() error {
			_, err := s.me.Delegate(ctx, x.handle, other.JWK(), []credentials.Action{credentials.Overwrite}, time.Now().Add(time.Minute))
			return err
		},
		"delegations":       func() error { _, err := s.me.Delegations(ctx, x.handle); return err },
		"revoke delegation": func() error { _, err := s.me.RevokeDelegation(ctx, x.handle, "0123456789abcdef"); return err },
	} {
		if err := act(); client.Code(err) != "invalid_token" {
			t.Errorf("%s with a handle of the revoked key: %v", path, err)
		}
	}
	for { // the client's bound: its refresh, and the time a fetch takes
		_, err := s.labels.Verify(ctx, x.label, x.shown)
		if errors.Is(err, envelope.ErrRevokedKey) {
			break
		}
		if err != nil {
			t.Errorf("label of the revoked key: %v", err)
		}
		if time.Since(revoked) > client.MinRefresh+5*time.Second {
			t.Errorf("client still takes a label of the key revoked %v ago", time.Since(revoked))
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%s refused the label %v after the revocation", s.name, time.Since(revoked).Round(100*time.Millisecond))
	v, err := s.me.Renew(ctx, x.shown.Tool)
	if err != nil {
		t.Fatalf("renewal by proof: %v", err)
	}
	h, err := client.ParseHandle(v.Handle)
	if err != nil {
		t.Fatal(err)
	}
	x.meta = metadata("tool-900000", "Goes on.")
	if _, err := s.me.Overwrite(ctx, h, x.meta); err != nil {
		t.Errorf("overwrite after renewal: %v", err)
	}
	x.shown.Metadata = x.meta
	if _, err := s.labels.Label(ctx, x.shown); err != nil {
		t.Errorf("new label: %v", err)
	}
}
