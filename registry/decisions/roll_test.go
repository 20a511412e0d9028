package decisions_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/vault"
)

// gapless wants every run's numbers once each, over all spools.
func gapless(t *testing.T, rs []decisions.Record) {
	t.Helper()
	ns := map[string][]uint64{}
	for _, r := range rs {
		if r.Entry.Run != "" {
			ns[r.Entry.Run] = append(ns[r.Entry.Run], r.Entry.N)
		}
	}
	for run, n := range ns {
		slices.Sort(n)
		for i := range n {
			if n[i] != uint64(i+1) {
				t.Fatalf("run %s: number %d in place %d of %d", run, n[i], i+1, len(n))
			}
		}
	}
}

// TestRollKill kills a process that goes from spool to spool under 8 writers:
// nothing that it let through is missing, counts go on, chains and anchors hold.
func TestRollKill(t *testing.T) {
	spools := 0
	for i := range kills {
		data := t.TempDir()
		c := startChild(t, data, childRolls+"=1")
		c.read(t, 1+(i+1)*(790/kills))
		if err := c.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		clean(t, data) // what was killed may have been at anything
		c.read(t, -1)
		c.cmd.Wait()
		l := open(t, data, rolling(true))
		for range 200 {
			call(t, l, runs(9), false)
		}
		anchors, err := l.Anchors()
		if err != nil || len(anchors) < 2 {
			t.Fatalf("%d anchors, %v", len(anchors), err)
		}
		clean(t, data, anchors...)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		r := clean(t, data, anchors...)
		spools = max(spools, len(r.Spools))
		sound(t, data, c)
		gapless(t, all(t, data, decisions.Query{}))
		o := rolling(true)
		o.Anchors = anchors
		open(t, data, o).Close()
	}
	if spools < 4 {
		t.Errorf("at most %d spools", spools)
	}
}

// TestRoll: calls end in the spool that they began in; a spool is marked as ended
// once they have; values, anchors and readers follow.
func TestRoll(t *testing.T) {
	data, o := t.TempDir(), options()
	o.Roll = segment
	l := open(t, data, o)
	first := l.Spool()
	follow, stop := context.WithCancel(ctx)
	defer stop()
	seen, began := make(chan int, 1), make(chan struct{})
	go func() {
		n := 0
		close(began)
		for r, err := range decisions.Follow(follow, data, decisions.Query{Run: runs(2)}, time.Millisecond) {
			if err != nil {
				t.Error(err)
			}
			if n++; r.Entry.Detail == "last" {
				stop()
			}
		}
		seen <- n
	}()
	<-began
	long, err := l.Decided(ctx, decision(runs(1)), []byte(`{"long":1}`), true)
	if err != nil {
		t.Fatal(err)
	}
	others := map[string]bool{}
	for len(others) < 4 {
		k := call(t, l, runs(1), len(others)%2 == 0)
		others[k.Spool()] = true
	}
	if left, err := l.Left(); err != nil || slices.ContainsFunc(left, func(a decisions.Anchor) bool { return a.Spool == first }) {
		t.Errorf("%v, %v: marked with a call open", left, err)
	}
	if l.Open() != 1 {
		t.Errorf("%d open", l.Open())
	}
	if err := l.Finished(long, &registry.Entry{Outcome: registry.OutcomeReturned}, []byte("r")); err != nil {
		t.Fatal(err)
	}
	if err := l.Finished(long, &registry.Entry{Outcome: registry.OutcomeReturned}, nil); !errors.Is(err, decisions.ErrTicket) {
		t.Errorf("twice: %v", err)
	}
	if err := l.Note(&registry.Entry{Type: registry.EntryDropped, Run: runs(2), Detail: "last"}); err != nil {
		t.Fatal(err)
	}
	if n := <-seen; n != 1 {
		t.Errorf("%d followed", n)
	}
	anchors, err := l.Anchors()
	if err != nil || len(anchors) != 4 {
		t.Fatalf("%+v, %v", anchors, err)
	}
	clean(t, data, anchors...)
	n := l.Run(runs(1))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	rs := all(t, data, decisions.Query{})
	if uint64(count(rs, func(e registry.Entry) bool { return e.Run == runs(1) })) != n {
		t.Errorf("the log says %d entries", n)
	}
	gapless(t, rs)
	for _, r := range rs {
		if r.Entry.Call == long.Call() && r.Spool != first {
			t.Errorf("the open call is in %s", r.Spool)
		}
		if r.Entry.Type == registry.EntryDecision {
			if b, err := decisions.ArgsOf(data, &r); err != nil || len(b) == 0 {
				t.Fatalf("%s %d: %v", r.Spool, r.Index, err)
			}
		}
	}
	l = open(t, data, o) // all are marked; none that was full is continued
	if left, _ := l.Left(); len(left) < 3 || l.Spool() == first {
		t.Errorf("%d left, continued %s", len(left), l.Spool())
	}
}

// TestTotal: the spools of a folder have one quota, beyond which calls are
// denied, by whatever process; what is open ends.
func TestTotal(t *testing.T) {
	data, o := t.TempDir(), options()
	o.Roll, o.Total = segment, 3*segment
	l := open(t, data, o)
	held, err := l.Decided(ctx, decision(runs(1)), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		var k decisions.Ticket
		if k, err = l.Decided(ctx, decision(runs(1)), nil, false); err != nil {
			break
		}
		if err := l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !errors.Is(err, decisions.ErrFull) || !errors.Is(l.Note(&registry.Entry{Type: registry.EntryDropped}), decisions.ErrFull) {
		t.Fatal(err)
	}
	if err := l.Finished(held, &registry.Entry{Outcome: registry.OutcomeReturned}, nil); err != nil {
		t.Error(err)
	}
	if _, err := decisions.Open(data, o); !errors.Is(err, decisions.ErrFull) {
		t.Errorf("another process: %v", err)
	}
	l.Close()
	if r := clean(t, data); len(r.Spools) != 3 {
		t.Errorf("%d spools", len(r.Spools))
	}
	o.Total = 4 * segment // and with more it goes on
	call(t, open(t, data, o), runs(1), true)
}

// TestSpent counts an agent's bytes of a day, and gives it a share of what the
// folder has left.
func TestSpent(t *testing.T) {
	data, o, day := t.TempDir(), options(), time.Unix(1_800_000_000, 0)
	o.Now = func() time.Time { return day }
	o.Roll, o.Total = segment, 16*segment
	l := open(t, data, o)
	agent := decision("").Agent
	call(t, l, runs(1), false)
	got, share := l.Spent(agent)
	if got == 0 || got > 2000 || share > 4*segment || share < 3*segment {
		t.Errorf("%d of %d", got, share)
	}
	if n, _ := l.Spent(credentials.AgentID("agt_other")); n != 0 {
		t.Errorf("another's: %d", n)
	}
	day = day.Add(24 * time.Hour)
	if n, s := l.Spent(agent); n != 0 || s > share {
		t.Errorf("the day after: %d of %d", n, s)
	}
}

// TestCountsOverSpools: a run that does not begin with its first entry needs a
// spool that has those before.
func TestCountsOverSpools(t *testing.T) {
	data, o := t.TempDir(), options()
	o.Roll = segment
	l := open(t, data, o)
	first := l.Spool()
	for l.Spool() == first {
		call(t, l, runs(1), false)
	}
	l.Close()
	clean(t, data)
	os.RemoveAll(filepath.Join(data, "decisions", first))
	r := verify(t, data)
	if len(r.Problems) != 1 || r.Problems[0].Kind != decisions.KindCount || r.Problems[0].Spool != l.Spool() {
		t.Errorf("%+v", r.Problems)
	}
}

// TestSharesOfTheVault: an agent's values beyond its share are not kept, whatever
// spool its calls are in; a replay then says so. Another's are.
func TestSharesOfTheVault(t *testing.T) {
	data, o := t.TempDir(), options()
	o.Roll, o.Values = segment, 400_000
	l := open(t, data, o)
	value := bytes.Repeat([]byte("v"), 1000)
	by := func(agent credentials.AgentID) {
		e := decision(runs(1))
		e.Agent = agent
		k, err := l.Decided(ctx, e, value, false)
		if err == nil {
			err = l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first := l.Spool()
	for range 300 {
		by("agt_greedy")
	}
	if l.Spool() == first {
		t.Fatal("one spool")
	}
	for range 50 {
		by("agt_other")
	}
	l.Close()
	kept := map[credentials.AgentID]int{}
	for _, r := range all(t, data, decisions.Query{}) {
		if r.Entry.Type != registry.EntryDecision {
			continue
		}
		switch _, err := decisions.ArgsOf(data, &r); {
		case err == nil:
			kept[r.Entry.Agent]++
		case !errors.Is(err, decisions.ErrReplay) || !errors.Is(err, vault.ErrLarge):
			t.Fatal(err)
		}
	}
	if n := kept["agt_greedy"]; n < 90 || n > 100 || kept["agt_other"] != 50 {
		t.Errorf("kept %v", kept)
	}
}

// TestAnOlderSpoolThatFails stops the log too: the disk has lost something. No
// anchor names what may not be there.
func TestAnOlderSpoolThatFails(t *testing.T) {
	data, o := t.TempDir(), options()
	o.Roll = segment
	var bad atomic.Pointer[string]
	o.Sync = func(f *os.File) error {
		if name := bad.Load(); name != nil && filepath.Base(filepath.Dir(f.Name())) == *name {
			return syscall.EIO
		}
		return nil
	}
	l := open(t, data, o)
	first := l.Spool()
	held, err := l.Decided(ctx, decision(runs(1)), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for l.Spool() == first {
		call(t, l, runs(1), false)
	}
	bad.Store(&first)
	if err := l.Finished(held, &registry.Entry{Outcome: registry.OutcomeReturned}, nil); err != nil {
		t.Fatal(err)
	}
	for l.Err() == nil {
		runtime.Gosched()
	}
	if _, err := l.Decided(ctx, decision(runs(1)), nil, false); !errors.Is(err, decisions.ErrStopped) {
		t.Errorf("it goes on: %v", err)
	}
	as, err := l.Anchors()
	if err != nil || len(as) != 1 || as[0].Spool != l.Spool() {
		t.Errorf("%+v, %v", as, err)
	}
	if err := l.Close(); !errors.Is(err, decisions.ErrStopped) {
		t.Errorf("closed: %v", err)
	}
	clean(t, data)
}
