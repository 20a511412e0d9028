package client_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
)

// fakeLog is a log in memory, served by the real handler.
type fakeLog struct {
	t       testing.TB
	entries [][]byte
	tree    ledger.Tree
	board   *ledger.Board
	signer  *ledger.Signer
}

// Read implements ledger.Reader.
func (l *fakeLog) Read(_ context.Context, from uint64, max int) ([][]byte, error) {
	if from >= uint64(len(l.entries)) {
		return nil, nil
	}
	return l.entries[from:min(uint64(len(l.entries)), from+uint64(max))], nil
}

func newFakeLog(t testing.TB, f *fake) *fakeLog {
	t.Helper()
	keys, err := f.ring.CheckpointSigners()
	if err != nil {
		t.Fatal(err)
	}
	s, err := ledger.NewSigner("registry.example/log", keys...)
	if err != nil {
		t.Fatal(err)
	}
	l := &fakeLog{t: t, board: &ledger.Board{}, signer: s}
	f.set(func() { f.ledger = ledger.NewHandler(ledger.NewTiles(l, nil), l.board, s.VerifierKeys) })
	return l
}

// add appends events and publishes a checkpoint over them.
func (l *fakeLog) add(events ...registry.Event) []byte {
	l.t.Helper()
	for _, e := range events {
		b, err := e.Encode()
		if err != nil {
			l.t.Fatal(err)
		}
		l.entries = append(l.entries, b)
		if err := l.tree.Append(b); err != nil {
			l.t.Fatal(err)
		}
	}
	note, err := l.signer.Sign(l.tree.Head())
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.board.Publish(note); err != nil {
		l.t.Fatal(err)
	}
	return note
}

func toolEvent(t testing.TB, typ registry.EventType, tool credentials.ToolID, mdg credentials.Digest) registry.Event {
	t.Helper()
	e, err := registry.NewEvent(typ, 1, "command-of-a-test", "", &registry.ToolData{ID: tool, Mdg: mdg, Gen: 1, Ver: 1, N: 1})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Each checkpoint has to extend the last one seen, over a restart too.
func TestLedgerOnlyGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, time.Now)
		state := client.FileState(filepath.Join(t.TempDir(), "state.json"))
		onFile := func(_ *client.KeysOptions, tr *client.Trust) { tr.State = state }
		log := newFakeLog(t, f)
		many := make([]registry.Event, 300)
		for i := range many {
			many[i] = toolEvent(t, registry.ToolRegistered, toolPay, credentials.Digest{byte(i), byte(i >> 8), 1})
		}
		log.add(many...)
		k := newKeys(t, f, onFile)
		l := client.NewLedger(k)
		for range 2 {
			if cp, err := l.Checkpoint(t.Context()); err != nil || cp.Size != 300 {
				t.Fatalf("%d, %v", cp.Size, err)
			}
		}
		log.add(many[:5]...)
		if cp, err := l.Checkpoint(t.Context()); err != nil || cp.Size != 305 {
			t.Fatalf("%d, %v", cp.Size, err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		// The same registry, the same keys, another history.
		forged := newFakeLog(t, f)
		forged.add(many[1:]...)
		k = newKeys(t, f, onFile)
		l = client.NewLedger(k)
		if _, err := l.Checkpoint(t.Context()); !errors.Is(err, ledger.ErrRollback) {
			t.Errorf("a shorter log: %v", err)
		}
		forged.add(many[:50]...)
		if _, err := l.Checkpoint(t.Context()); !errors.Is(err, ledger.ErrFork) {
			t.Errorf("another history: %v", err)
		}
		k.Close()
		// A log that ends before what the statement of freshness names.
		f.set(func() { f.ckpt = credentials.CheckpointRef{Size: 400, Digest: credentials.Digest{1}} })
		k = newKeys(t, f, nil)
		defer k.Close()
		if _, err := client.NewLedger(k).Checkpoint(t.Context()); !errors.Is(err, client.ErrBehind) {
			t.Errorf("a withheld tail: %v", err)
		}
	})
}

// Checkpoints count only by keys that the root vouches for.
func TestLedgerByStrangersKey(t *testing.T) {
	f, evil := newFake(t, time.Now), newFake(t, time.Now)
	log := newFakeLog(t, evil)
	log.add(toolEvent(t, registry.ToolRegistered, toolPay, credentials.Digest{1}))
	f.ledger = evil.ledger
	if _, err := client.NewLedger(newKeys(t, f, nil)).Checkpoint(t.Context()); !errors.Is(err, ledger.ErrSignature) {
		t.Errorf("got %v", err)
	}
}

// The event that a label's seq names must be in the log and be about the tool.
func TestLabelIsInTheLog(t *testing.T) {
	f := newFake(t, time.Now)
	log := newFakeLog(t, f)
	mdg := f.statement(nil).Mdg
	op, err := registry.NewEvent(registry.OriginCondemned, 1, "command-of-a-test", "", &registry.ReasonData{Origin: originShop})
	if err != nil {
		t.Fatal(err)
	}
	log.add(
		toolEvent(t, registry.ToolRegistered, toolPay, mdg),
		toolEvent(t, registry.ToolRegistered, toolOther, mdg),
		toolEvent(t, registry.ToolOverwritten, toolPay, credentials.Digest{1}),
		op,
	)
	ll := newLabels(t, f, nil)
	l := client.NewLedger(ll.Keys())
	for seq, want := range map[uint64]error{0: nil, 1: client.ErrNotLogged, 2: client.ErrNotLogged, 3: nil, 4: client.ErrBehind} {
		seqs := newLabels(t, f, nil) // no seq seen yet
		v, err := seqs.Verify(t.Context(), f.labelOf(func(s *labels.Statement) { s.Seq = seq }), shownPay(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Included(t.Context(), v); !errors.Is(err, want) {
			t.Errorf("seq %d: got %v, want %v", seq, err, want)
		}
	}
}
