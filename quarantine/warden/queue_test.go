package warden

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// still is a pool whose children are there, and no processes.
func still(children int) *pool {
	p := newPool(children, nil)
	for range children {
		c := &cell{gone: make(chan struct{})}
		p.all[c] = true
		p.idle = append(p.idle, c)
	}
	return p
}

// batch takes a child, works for so long, and gives it back.
func (p *pool) batch(what claim, patience, work time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := p.get(ctx, what)
	if err != nil {
		return err
	}
	time.Sleep(work)
	p.put(c)
	return nil
}

// flood has an origin use all that it gets, until stop is closed.
func (p *pool) flood(what claim, callers int, stop chan bool, busy, late *atomic.Int64) {
	for range callers {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				switch err := p.batch(what, 5*time.Second, time.Second); {
				case errors.Is(err, errBusy):
					busy.Add(1)
					time.Sleep(time.Second)
				case err != nil:
					late.Add(1)
				}
			}
		}()
		synctest.Wait()
	}
}

// TestAFloodIsLateForItself, RULES.md 40: of 1000 callers of one origin some are
// refused and some are late, whatever number of children there is; another origin
// waits for one batch at first, and then has a child at once.
func TestAFloodIsLateForItself(t *testing.T) {
	for _, children := range []int{1, 2, 3, 8} {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprint(children, slow), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := still(children)
					stop := make(chan bool)
					var busy, late atomic.Int64
					p.flood(claim{"evil", slow}, 1000, stop, &busy, &late)
					for i := range 50 {
						began := time.Now()
						if err := p.batch(claim{"good", i%5 == 4}, 5*time.Second, time.Millisecond); err != nil {
							t.Fatalf("batch %d: %v", i, err)
						}
						took, most := time.Since(began), 2*time.Millisecond
						switch {
						case i%5 == 4: // one that takes long: two batches before it
							most += 2 * time.Second
						case children == 1 || i == 0:
							most += time.Second
						}
						if took > most {
							t.Errorf("batch %d took %v", i, took)
						}
					}
					time.Sleep(10 * time.Second)
					close(stop)
					time.Sleep(20 * time.Second)
					if busy.Load() == 0 || late.Load() == 0 {
						t.Errorf("the flood: %d refused, %d late", busy.Load(), late.Load())
					}
					p.mu.Lock()
					defer p.mu.Unlock()
					if q := &p.queue; len(p.idle) != children || len(q.held) != 0 || q.slow != 0 || q.count != 0 || len(q.lines) != 0 {
						t.Errorf("after it: %d idle, %+v", len(p.idle), q)
					}
				})
			})
		}
	}
}

// TestOriginsTakeTurns: however many batches each has waiting.
func TestOriginsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := still(1)
		first, err := p.get(t.Context(), claim{origin: "a"})
		if err != nil {
			t.Fatal(err)
		}
		var order string
		for _, from := range []string{"a", "a", "a", "b", "b", "c"} {
			go func() {
				if c, err := p.get(t.Context(), claim{origin: from}); err == nil {
					order += from
					p.put(c)
				}
			}()
			synctest.Wait()
		}
		p.put(first)
		synctest.Wait()
		if order != "bacbaa" {
			t.Error(order)
		}
	})
}

// TestOneOriginAloneHasAll children; where another one had one lately, all but one.
// What is kept free comes back when the other one leaves.
func TestOneOriginAloneHasAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := still(3)
		soon := func(what claim) (*cell, error) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			return p.get(ctx, what)
		}
		var out []*cell
		for i := range 3 {
			c, err := soon(claim{origin: "a"})
			if err != nil {
				t.Fatalf("child %d: %v", i, err)
			}
			out = append(out, c)
		}
		if _, err := soon(claim{origin: "b"}); err == nil {
			t.Error("a fourth child")
		}
		p.put(out[2])
		b, err := soon(claim{origin: "b"})
		if err != nil {
			t.Fatal(err)
		}
		p.put(b)
		if _, err := soon(claim{origin: "a"}); err == nil {
			t.Error("b had a child lately, and a has them all")
		}
		time.Sleep(lately)
		c, err := soon(claim{origin: "a"})
		if err != nil {
			t.Error(err)
		}
		p.drop(c)
		if p.queue.held["a"] != 2 {
			t.Errorf("%+v", p.queue)
		}
	})
}
