package node_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/node"
)

func openQuiet(t *testing.T, cfg node.Config, o node.Options) *node.Node {
	t.Helper()
	o.Quiet = true
	n, err := node.Open(context.Background(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// decide puts calls on record.
func decide(t *testing.T, n *node.Node, calls int) *decisions.Log {
	t.Helper()
	l, err := n.Decisions()
	if err != nil {
		t.Fatal(err)
	}
	for range calls {
		k, err := l.Decided(context.Background(), &registry.Entry{Run: "run_1", Method: "tools/call"}, []byte("{}"), false)
		if err == nil {
			err = l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func anchors(t *testing.T, n *node.Node) (out []registry.AnchorData) {
	t.Helper()
	v, err := n.Record().Barrier(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for a := range v.Anchors() {
		out = append(out, *a)
	}
	return out
}

// TestDecisionsAreAnchored: the registry's log says where each spool stands, and
// a folder whose spool is shorter, other or gone does not start (RULES.md 28).
func TestDecisionsAreAnchored(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cfg := node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off"}
	n := openQuiet(t, cfg, node.Options{})
	l := decide(t, n, 3)
	if again, err := n.Decisions(); again != l || err != nil {
		t.Error("opened twice")
	}
	name := l.Spool()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n = openQuiet(t, cfg, node.Options{})
	at := anchors(t, n)
	if len(at) != 1 || at[0].Spool != name || at[0].Size != 6 {
		t.Fatalf("anchors: %+v", at)
	}
	v, _ := n.Record().View()
	size := v.Head.Size
	decide(t, n, 0)
	n.Close()
	n = openQuiet(t, cfg, node.Options{})
	if v, _ = n.Record().View(); v.Head.Size != size {
		t.Error("anchored although nothing was new")
	}
	n.Close()
	rep, err := node.VerifyLedger(context.Background(), cfg, node.Options{}, nil)
	if err != nil || rep.Tampered() || rep.Decisions.Entries() != 6 || rep.Decisions.Spools[0].Anchored != 6 {
		t.Fatalf("%+v, %v", rep, err)
	}

	spool := filepath.Join(data, "decisions", name)
	kept := filepath.Join(t.TempDir(), "kept")
	copyFolder(t, data, kept)
	path := filepath.Join(spool, "00000000.spool")
	end := func(b []byte) int { return len(bytes.TrimRight(b, "\x00")) }
	for what, harm := range map[string]func(b []byte) []byte{
		"shorter": func(b []byte) []byte {
			clear(b[bytes.LastIndex(b, []byte(`{"v":1`))-48:])
			return b
		},
		"torn": func(b []byte) []byte { clear(b[end(b)-9:]); return b },
		"gone": nil,
	} {
		copyFolder(t, kept, data)
		os.Remove(filepath.Join(spool, "left"))
		if harm == nil {
			os.RemoveAll(spool)
		} else if b, err := os.ReadFile(path); err != nil {
			t.Fatal(err)
		} else if err := os.WriteFile(path, harm(b), 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := node.Open(context.Background(), cfg, node.Options{Quiet: true})
		if !errors.Is(err, decisions.ErrAnchor) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			n.Close()
		}
		rep, err := node.VerifyLedger(context.Background(), cfg, node.Options{}, nil)
		if err != nil || !rep.Tampered() || rep.Decisions.Problems[0].Spool != name || rep.Decisions.Problems[0].Kind != decisions.KindAnchor {
			t.Errorf("%s: %+v, %v", what, rep.Decisions, err)
		}
	}
	copyFolder(t, kept, data)
	openQuiet(t, cfg, node.Options{}).Close()
}

// TestAnchorsComeByThemselves while there is anything new, and those of spools
// that other processes left come along.
func TestAnchorsComeByThemselves(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cfg := node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off"}
	n := openQuiet(t, cfg, node.Options{AnchorEvery: -1})
	other, err := decisions.Open(data, decisions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Decided(context.Background(), &registry.Entry{Run: "run_2"}, nil, false); err != nil {
		t.Fatal(err)
	}
	mine := decide(t, n, 1) // a spool beside the other's
	other.Close()           // with a call open: the next start adopts it
	n.Close()
	if got := mine.Spool(); got == other.Spool() {
		t.Fatal("two processes in one spool")
	}
	n = openQuiet(t, cfg, node.Options{AnchorEvery: time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- n.Serve(ctx) }()
	l := decide(t, n, 2)
	wait, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	for len(anchors(t, n)) < 2 {
		v, err := n.Record().View()
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Store().Wait(wait, v.Head.Size+1); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	n.Close()
	n = openQuiet(t, cfg, node.Options{})
	var names []string
	for _, a := range anchors(t, n) {
		names = append(names, a.Spool)
	}
	want := []string{mine.Spool(), other.Spool()}
	slices.Sort(want)
	if !slices.Equal(names, want) || !slices.Contains(want, l.Spool()) {
		t.Errorf("anchored %v, want %v", names, want)
	}
	rep, err := node.VerifyLedger(context.Background(), cfg, node.Options{}, nil)
	if err != nil || rep.Tampered() {
		t.Errorf("%+v, %v", rep.Decisions.Problems, err)
	}
}

func TestDoctorLooksAtSpools(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cfg := node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off"}
	n := openQuiet(t, cfg, node.Options{})
	l := decide(t, n, 2)
	if _, err := l.Decided(context.Background(), &registry.Entry{Run: "run_1"}, nil, false); err != nil {
		t.Fatal(err)
	}
	n.Close()
	find := func() (levels []string) {
		for _, f := range node.Doctor(context.Background(), cfg) {
			if f.Check == "decision log" {
				levels = append(levels, f.Level)
			}
		}
		return levels
	}
	if got := find(); !slices.Equal(got, []string{"warn", "ok"}) { // one call is open
		t.Errorf("%v", got)
	}
	path := filepath.Join(data, "decisions", l.Spool(), "00000000.spool")
	b, _ := os.ReadFile(path)
	b[300] ^= 1
	os.WriteFile(path, b, 0o600)
	if got := find(); !slices.Contains(got, "fail") {
		t.Errorf("%v", got)
	}
}

// TestOfflineDecidesNothing: an act of the command line on a folder opens no
// spool for writing.
func TestOfflineDecidesNothing(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	cfg := node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off"}
	grow(t, cfg)
	n, err := node.Open(context.Background(), cfg, node.Options{Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if _, err := n.Decisions(); err == nil {
		t.Error("it opened one")
	}
	if _, err := os.Stat(filepath.Join(data, "decisions")); !os.IsNotExist(err) {
		t.Errorf("it made the folder: %v", err)
	}
}

// TestRecordIsBounded: gateway.record_mib bounds the spools of the folder, and is
// refused where no two of them fit.
func TestRecordIsBounded(t *testing.T) {
	cfg := node.Config{Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", Admin: "off"}
	for _, mib := range []int{-1, 1, 127, 1<<30 + 1} {
		cfg.Gateway.RecordMiB = mib
		if n, err := node.Open(context.Background(), cfg, node.Options{Quiet: true}); err == nil || !strings.Contains(err.Error(), "record_mib") {
			t.Errorf("%d: %v", mib, err)
			if err == nil {
				n.Close()
			}
		}
	}
	cfg.Gateway.RecordMiB = 128
	l := decide(t, openQuiet(t, cfg, node.Options{}), 1)
	if _, share := l.Spent("agt_any"); share > 32<<20 {
		t.Errorf("a share of %d bytes", share)
	}
}
