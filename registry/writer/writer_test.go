package writer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/writer"
)

func TestRegisterAndFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	l := openLog(t, dir)
	w := openWriter(t, l)
	other := openWriter(t, openLog(t, dir)) // another process, as far as the log can tell
	a, b := newParty(t), newParty(t)

	c := a.register(site, item(t, "pay", "Pays."), item(t, "refund", "Pays back."))
	out, err := w.Do(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Events) != 3 { // the principal and two tools
		t.Fatalf("%d events", len(out.Events))
	}
	again, err := w.Do(ctx, c)
	if err != nil || !again.Replay || again.Index != out.Index || len(again.Events) != 3 {
		t.Fatalf("retry: %+v, %v", again, err)
	}
	v, err := other.Barrier(ctx)
	if err != nil {
		t.Fatal(err)
	}
	x, err := v.Named(site, "pay")
	if err != nil || x.Owner != a.key.ID {
		t.Fatalf("the other writer sees %+v, %v", x, err)
	}
	if _, err := other.Do(ctx, b.register(site, item(t, "pay", "Steals."))); !errors.Is(err, registry.ErrNameTaken) {
		t.Fatalf("second claimant: %v", err)
	}
	v, err = w.Barrier(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for c := range v.Contests(site) {
		if c.Claimant != b.key.ID || c.Holder != x.Row.Tool {
			t.Errorf("contest %+v", c)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d contests on record", n)
	}
}

func TestTwoWritersNeverShareAName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	ws := []*writer.Writer{openWriter(t, openLog(t, dir)), openWriter(t, openLog(t, dir)), openWriter(t, openLog(t, dir))}
	const names = 40
	won := make([][]int, names)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, w := range ws {
		p := newParty(t)
		wg.Go(func() {
			for n := range names {
				_, err := w.Do(context.Background(), p.register(site, item(t, fmt.Sprintf("tool-%d", n), "x")))
				switch {
				case err == nil:
					mu.Lock()
					won[n] = append(won[n], i)
					mu.Unlock()
				case !errors.Is(err, registry.ErrNameTaken):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for n, who := range won {
		if len(who) != 1 {
			t.Errorf("name %d was won by %v", n, who)
		}
	}
	for _, w := range ws {
		v, err := w.Barrier(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		live := 0
		for x := range v.AtOrigin(site, "") {
			if x.Live {
				live++
			}
		}
		if live != names {
			t.Errorf("%d live tools", live)
		}
	}
}
