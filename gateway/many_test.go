package gateway

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/registry"
)

// TestManyAtOnce: calls, cancellations, changes, lost links and reconnects all at
// once. Each decision that was let through has one outcome, nothing that changed
// is executed, and nothing is left behind.
func TestManyAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	u := newServer(tool("it"), tool("flip"))
	var executed atomic.Int64
	flipped := strings.Replace(tool("flip"), `"object"`, `"object","required":["z"]`, 1)
	u.do = func(ctx context.Context, l *wire, x Exchange) (mcp.Frame, error) {
		name, _ := mcp.GetString(x.Frame.Params, "name")
		n := executed.Add(1)
		switch {
		case n%7 == 0:
			return mcp.Frame{}, ErrLost
		case n%5 == 0:
			<-ctx.Done()
			return mcp.Frame{}, ctx.Err()
		case name == "it" && n%3 == 0:
			x.Ask(ctx, mcp.Ask("1", "roots/list", nil))
		}
		return mcp.Answer(x.Frame.ID, jsontext.Value(`{"content":[{"type":"text","text":"ok"}]}`)), nil
	}
	h := newHouse(t, u, policy.Personal)
	own := newPerson()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			s := h.open([]string{"first", "second"}[w%2], own)
			s.Handle(ctx, ask(methodTools, ""), own)
			for i := range 60 {
				c, cancel := context.WithCancel(ctx)
				var in sync.WaitGroup
				s0 := s
				in.Go(func() { s0.Handle(c, ask(methodCall, callIt), own) })
				in.Go(func() { s0.Handle(c, ask(methodCall, `{"name":"flip"}`), own) })
				if i%3 == 0 {
					s.keeper.Lost(errors.New("again"))
				}
				if i%20 == 19 {
					_ = s.Close()
					s = h.open([]string{"first", "second"}[w%2], own)
					s.Handle(ctx, ask(methodTools, ""), own)
				}
				runtime.Gosched()
				cancel()
				in.Wait()
			}
		})
	}
	wg.Wait()
	u.mu.Lock()
	u.lists[methodTools] = []string{tool("it"), flipped}
	u.did = nil
	u.mu.Unlock()
	for _, c := range []string{"first", "second"} {
		s := h.open(c, own)
		s.Handle(ctx, ask(methodTools, ""), own)
		s.Handle(ctx, ask(methodCall, `{"name":"flip"}`), own)
	}
	if n := u.executed(methodCall, "flip"); n != 0 {
		t.Errorf("%d executed after the change", n)
	}
	if err := h.gw.Close(ctx); err != nil {
		t.Fatal(err)
	}
	open := map[string]int{}
	for _, e := range h.book.of(func(e registry.Entry) bool { return e.Call != "" }) {
		switch {
		case e.Type == registry.EntryDecision && e.Outcome == "":
			open[e.Call]++
		case e.Type == registry.EntryOutcome:
			open[e.Call]--
		}
	}
	for call, n := range open {
		if n != 0 {
			t.Errorf("%s: %d outcomes are missing", call, n)
		}
	}
	if len(open) < 100 {
		t.Errorf("only %d calls were let through", len(open))
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before+3 {
			return
		}
		runtime.Gosched()
	}
	t.Logf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}
