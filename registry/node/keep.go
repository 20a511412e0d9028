package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store"
)

func sumOf(id registry.CommandID) [32]byte { return sha256.Sum256([]byte(id)) }

// keep runs what a node does by itself until ctx ends. The channel is closed
// when all of it has ended.
func (n *Node) keep(ctx context.Context) <-chan struct{} {
	publisher := ledger.NewPublisher(n.copies, copyRetry, func(err error) {
		n.log.Warn("copying the newest checkpoint", "err", err)
	})
	witnesses := n.newWitnesses()
	var all sync.WaitGroup
	all.Go(func() { publisher.Run(ctx) })
	all.Go(func() { n.post(ctx, publisher, witnesses) })
	all.Go(func() { every(ctx, tickEvery, func() { n.tick(ctx) }) })
	all.Go(func() { every(ctx, snapshotCheck, n.snapshotWhenDue()) })
	all.Go(func() { n.keepAnchors(ctx) })
	all.Go(func() { n.keepConcluding(ctx) })
	if n.opt.Inspector != nil && !n.opt.Quiet {
		all.Go(func() { newReviewer(n).run(ctx) })
	}
	if len(witnesses.all) > 0 {
		all.Go(func() { witnesses.run(ctx) })
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	return done
}

func every(ctx context.Context, d time.Duration, f func()) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			f()
		case <-ctx.Done():
			return
		}
	}
}

// tick makes the key transitions that are due, and puts on record what another
// process left out.
func (n *Node) tick(ctx context.Context) {
	changes, err := n.ring.Tick(n.opt.Now())
	if err != nil {
		n.log.Warn("key ring", "err", err)
	}
	for _, c := range changes {
		n.log.Info("signing key", "role", c.Role, "kid", c.Kid, "from", c.From, "to", c.To, "reason", c.Reason)
	}
	if _, err := n.keys.catchUp(ctx, ""); err != nil && ctx.Err() == nil {
		n.log.Warn("recording the keys in the log", "err", err)
	}
}

// post puts each newest committed checkpoint on the board, and hands it to the
// copies and the witnesses.
func (n *Node) post(ctx context.Context, publisher *ledger.Publisher, w *witnesses) {
	posted := uint64(0)
	once := func() {
		note, err := n.store.LatestNote(ctx)
		if err != nil {
			if !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
				n.log.Warn("reading the newest checkpoint", "err", err)
			}
			return
		}
		if note.Size <= posted {
			return
		}
		if err := n.board.Publish(note.Text); err != nil && !errors.Is(err, ledger.ErrRollback) {
			n.log.Error("publishing the newest checkpoint", "err", err)
			return
		}
		posted = note.Size
		publisher.Offer(note.Text)
		w.offer(note.Text)
	}
	once()
	every(ctx, boardEvery, once)
	once()
}

// snapshotWhenDue writes a snapshot after enough entries, or enough time.
func (n *Node) snapshotWhenDue() func() {
	last := n.opt.Now()
	if v, err := n.record.View(); err == nil {
		n.snapped = v.Head.Size
	}
	return func() {
		v, err := n.record.View()
		if err != nil || v.Head.Size == n.snapped {
			return
		}
		now := n.opt.Now()
		if v.Head.Size < n.snapped+n.cfg.Ledger.SnapshotEvery && now.Sub(last) < snapshotAge {
			return
		}
		if err := n.record.SaveSnapshot(); err != nil {
			n.log.Warn("snapshot", "err", err)
			return
		}
		last, n.snapped = now, v.Head.Size
	}
}

// witnesses asks for cosignatures of the newest checkpoint and adds them to
// the note on the board.
type witnesses struct {
	n    *Node
	all  []WitnessConf
	http *http.Client
	next chan []byte
	seen map[string]uint64 // size that each has cosigned
}

func (n *Node) newWitnesses() *witnesses {
	return &witnesses{n: n, all: n.cfg.Ledger.Witnesses, http: &http.Client{Timeout: 10 * time.Second},
		next: make(chan []byte, 1), seen: map[string]uint64{}}
}

func (w *witnesses) offer(note []byte) {
	if len(w.all) == 0 {
		return
	}
	select {
	case <-w.next: // only the newest matters
	default:
	}
	w.next <- note
}

func (w *witnesses) run(ctx context.Context) {
	for {
		select {
		case note := <-w.next:
			w.ask(ctx, note)
		case <-ctx.Done():
			return
		}
		pause := time.NewTimer(time.Second) // a busy log asks at most once a second
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
	}
}

// ask takes a note to every witness. A witness that has seen more than we
// asked from says so, and is asked again from there.
func (w *witnesses) ask(ctx context.Context, note []byte) {
	_, head, err := ledger.ParseUnverified(note)
	if err != nil {
		return
	}
	for _, x := range w.all {
		lines, err := ledger.AskWitness(ctx, w.http, x.URL, note, w.seen[x.URL], w.n.tiles)
		if ahead, ok := errors.AsType[*ledger.WitnessAheadError](err); ok && ahead.Size <= head.Size {
			w.seen[x.URL] = ahead.Size
			lines, err = ledger.AskWitness(ctx, w.http, x.URL, note, ahead.Size, w.n.tiles)
		}
		if err != nil {
			if ctx.Err() == nil {
				w.n.log.Warn("witness did not cosign", "url", x.URL, "err", err)
			}
			continue
		}
		w.seen[x.URL] = head.Size
		if note, err = w.add(note, lines); err != nil {
			w.n.log.Warn("cosignature of a witness", "url", x.URL, "err", err)
		}
	}
}

// add puts verified cosignatures under the note on the board.
func (w *witnesses) add(note []byte, lines string) ([]byte, error) {
	policy, err := ledgerPolicy(w.n.ring, w.n.ckpt.origin)
	if err != nil {
		return note, err
	}
	var keys []string
	for _, x := range w.all {
		keys = append(keys, x.Key)
	}
	if policy, err = policy.WithWitnesses(0, keys...); err != nil {
		return note, err
	}
	signed, err := policy.AddCosignatures(note, lines)
	if err != nil {
		return note, err
	}
	if err := w.n.board.Publish(signed); err != nil && !errors.Is(err, ledger.ErrRollback) {
		return note, err
	}
	return signed, nil
}
