package writer

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/state"
	"github.com/pratique-dev/pratique/registry/store"
)

type request struct {
	cmd  registry.Command
	done chan answer
}

type answer struct {
	out  registry.Outcome
	err  error
	size uint64 // head after the batch
}

// Do carries a command out, or refuses it and changes nothing. When it returns
// without error, the events are durable, a signed checkpoint covers them, and
// no process can still act on the view before them where they take something
// away. registry.ErrUnknownOutcome means: send the same command id again.
//
// ctx bounds the caller's waiting only; a command that was queued may be
// carried out after it ends.
func (w *Writer) Do(ctx context.Context, cmd registry.Command) (registry.Outcome, error) {
	if w.closed.Load() {
		return registry.Outcome{}, ErrClosed
	}
	m := cmd.Meta()
	if m.ID == "" || m.Caller.Key() == "" && !m.Caller.Local() {
		return registry.Outcome{}, fmt.Errorf("%w: a command needs an id and a caller", registry.ErrNotOwner)
	}
	r := &request{cmd: cmd, done: make(chan answer, 1)}
	select {
	case w.reqs <- r:
	default:
		return registry.Outcome{}, ErrOverload
	}
	var a answer
	select {
	case a = <-r.done:
	case <-w.ended:
		select {
		case a = <-r.done:
		default: // queued after the committer's last look: nobody will take it
			return registry.Outcome{}, ErrClosed
		}
	case <-ctx.Done():
		return registry.Outcome{}, fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, ctx.Err())
	}
	if a.err == nil && takesAway(a.out.Events) {
		w.settle(ctx, a.size)
	}
	return a.out, a.err
}

// takesAway reports whether an older view would allow what these events
// forbid.
func takesAway(events []registry.Event) bool {
	for i := range events {
		switch events[i].Type {
		case registry.PrincipalCreated, registry.PrincipalEnrolled, registry.OperatorEnrolled, registry.ObserverEnrolled,
			registry.AgentCreated, registry.ToolRegistered, registry.ToolContested, registry.ToolReleased, registry.ToolUsed,
			registry.DelegationCreated:
		case registry.ToolInspected, registry.ToolObserved:
			if lowers(&events[i]) {
				return true
			}
		default:
			return true
		}
	}
	return false
}

func (w *Writer) commitLoop(ctx context.Context) {
	defer close(w.ended)
	idle := time.NewTicker(noteDelay)
	defer idle.Stop()
	for {
		select {
		case r := <-w.reqs:
			w.commit(context.WithoutCancel(ctx), w.gather(r))
		case <-idle.C:
			w.flushIdle(ctx)
		case <-ctx.Done():
			w.refuseQueued()
			return
		}
	}
}

// gather takes what queued up during the last commit. It lets those who were
// just answered run first, as long as that brings more: a batch costs one sync
// however large it is.
func (w *Writer) gather(first *request) []*request {
	rs := []*request{first}
	for seen := 0; seen < len(rs); {
		seen = len(rs)
		runtime.Gosched()
		for len(rs) < maxBatchCommands && len(w.reqs) > 0 {
			rs = append(rs, <-w.reqs)
		}
	}
	return rs
}

func (w *Writer) refuseQueued() {
	for {
		select {
		case r := <-w.reqs:
			r.done <- answer{err: ErrClosed}
		default:
			return
		}
	}
}

// commit validates the requests against the head, appends what follows from
// them and answers each. It tries again as often as other processes win.
func (w *Writer) commit(ctx context.Context, rs []*request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	release := w.turn(ctx)
	defer release()
	for len(rs) > 0 {
		b := w.stage(ctx, rs)
		if b == nil { // nothing can be decided now
			return
		}
		rs = b.requests
		err := w.append(ctx, b)
		if err != nil {
			b.tx.Abort() // it holds the one write lock of the tables
		}
		switch {
		case err == nil:
			w.settled(b)
			return
		case errors.Is(err, store.ErrConflict):
			w.contended = 64
			if err := w.catchUp(ctx); err != nil {
				w.answerAll(rs, fmt.Errorf("%w: %w", registry.ErrStaleView, err))
				return
			}
		case errors.Is(err, store.ErrNoteExists):
			w.pending = nil // another process published this size first, with another key set
		case store.Unwritten(err):
			w.answerAll(rs, err)
			return
		default:
			w.resolve(ctx, rs, err)
			return
		}
	}
}

// turn queues fairly behind other processes for a while after a conflict.
func (w *Writer) turn(ctx context.Context) func() {
	if w.turns == nil || w.contended == 0 {
		return func() {}
	}
	w.contended--
	release, err := w.turns.Turn(ctx)
	if err != nil {
		return func() {}
	}
	if err := w.catchUp(ctx); err != nil {
		w.log.Warn("catching up in turn", "err", err)
	}
	return release
}

// A batch is staged: validated, folded into a transaction that nobody sees,
// and not yet durable.
type batch struct {
	prev, next ledger.Head
	tree       *ledger.Tree
	tx         *state.Txn
	write      store.Batch
	requests   []*request
	answers    []answer
	asked      time.Time
	lastAt     int64
}

// stage runs the requests against the head. Nil: they have been answered,
// since nothing can be decided.
func (w *Writer) stage(ctx context.Context, rs []*request) *batch {
	if p := w.poisoned.Load(); p != nil {
		w.answerAll(rs, fmt.Errorf("%w: %w", registry.ErrStaleView, p.err))
		return nil
	}
	if err := w.renewLease(ctx); err != nil {
		w.answerAll(rs, fmt.Errorf("%w: %w", registry.ErrStaleView, err))
		return nil
	}
	for {
		b := &batch{prev: w.tree.Head(), tree: w.tree.Clone(), tx: w.db.Write(), requests: rs,
			answers: make([]answer, len(rs)), asked: w.opt.Now()}
		b.lastAt = max(w.lastAt, b.asked.UnixMilli())
		bad := w.stageAll(ctx, b)
		if bad < 0 {
			b.next = b.tree.Head()
			if w.pending != nil {
				b.write.Notes = append(b.write.Notes, *w.pending)
			}
			return b
		}
		// A command whose events do not apply is a fault of ours: it is refused
		// alone, and the transaction that it spoilt is staged again without it.
		b.tx.Abort()
		w.log.Error("command produced an event that does not apply", "err", b.answers[bad].err)
		rs[bad].done <- answer{err: b.answers[bad].err}
		rs = append(rs[:bad:bad], rs[bad+1:]...)
		if len(rs) == 0 {
			return nil
		}
	}
}

// stageAll returns the index of a request that spoilt the transaction, or -1.
func (w *Writer) stageAll(ctx context.Context, b *batch) int {
	for i, r := range b.requests {
		if len(b.write.Entries) >= maxBatchEntries {
			b.answers[i].err = ErrOverload
			continue
		}
		a := &b.answers[i]
		if a.out, a.err = w.replay(ctx, b, r.cmd); a.err != nil || a.out.Replay {
			continue
		}
		plan := &plan{tx: b.tx, now: time.UnixMilli(b.lastAt), at: b.lastAt, quotas: &w.quotas, policy: w.opt.Policy, rate: w.rate}
		if a.err = plan.decide(r.cmd); a.err != nil && !plan.keepsRecord {
			continue
		}
		if n := len(plan.events); n > store.MaxEntries {
			a.err = fmt.Errorf("%w: changes of one command", registry.ErrTooMany)
			continue
		} else if n > store.MaxEntries-len(b.write.Entries) {
			a.err = ErrOverload // it would make the whole batch too large; alone it fits
			continue
		}
		a.out.Index = b.tree.Size()
		if err := w.applyPlan(b, r.cmd.Meta(), plan, a); err != nil {
			a.err = err
			return i
		}
	}
	return -1
}

func (w *Writer) applyPlan(b *batch, m *registry.CommandMeta, p *plan, a *answer) error {
	for j := range p.events {
		e := &p.events[j]
		e.Cmd, e.By = m.ID, m.Caller.Key()
		if j == 0 {
			e.Req, e.Proof = m.Req, m.Caller.Proof()
		}
		raw, err := e.Encode()
		if err != nil {
			return err
		}
		if err := b.tx.Apply(b.tree.Size(), e); err != nil {
			return err
		}
		if err := b.tree.Append(raw); err != nil {
			return err
		}
		b.write.Entries = append(b.write.Entries, raw)
	}
	b.write.Content = append(b.write.Content, p.content...)
	if a.err == nil {
		a.out.Events = p.events
	}
	return nil
}

// replay answers a command that was carried out before with what it did then.
func (w *Writer) replay(ctx context.Context, b *batch, cmd registry.Command) (registry.Outcome, error) {
	m := cmd.Meta()
	d, ok := b.tx.Command(m.Caller.Key(), m.ID)
	if !ok {
		return registry.Outcome{}, nil
	}
	if d.Req != m.Req {
		return registry.Outcome{}, registry.ErrCommandReused
	}
	out := registry.Outcome{Index: d.Index, Replay: true}
	for i := d.Index; i < d.Index+uint64(d.Count); i++ {
		var raw []byte
		if i >= b.prev.Size {
			raw = b.write.Entries[i-b.prev.Size]
		} else {
			es, err := w.opt.Store.Read(ctx, i, 1)
			if err != nil || len(es) != 1 {
				return registry.Outcome{}, fmt.Errorf("%w: reading the first outcome", registry.ErrUnknownOutcome)
			}
			raw = es[0]
		}
		e, err := registry.ParseEvent(raw)
		if err != nil {
			return registry.Outcome{}, err
		}
		out.Events = append(out.Events, e)
	}
	if len(out.Events) == 1 && out.Events[0].Type == registry.ToolContested {
		return registry.Outcome{}, registry.ErrNameTaken // what is on record is the refusal
	}
	return out, nil
}

// append makes the batch durable. A batch of refusals only confirms the head:
// they too must be right as of now.
func (w *Writer) append(ctx context.Context, b *batch) error {
	if len(b.write.Entries) > 0 {
		return w.opt.Store.Append(ctx, store.Head(b.prev), store.Head(b.next), b.write)
	}
	h, err := w.opt.Store.Head(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnknownOutcome, err)
	}
	if ledger.Head(h) != b.prev {
		return store.ErrConflict
	}
	return nil
}

// settled commits the transaction of a durable batch, signs its checkpoint and
// answers.
func (w *Writer) settled(b *batch) {
	if len(b.write.Entries) == 0 {
		b.tx.Abort()
		w.answer(b, w.publish(b.asked))
		return
	}
	if err := b.tx.Commit(); err != nil {
		w.answer(b, fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, w.fail(err)))
		return
	}
	w.tree, w.lastAt = b.tree, b.lastAt
	w.pending = nil
	err := errors.Join(w.sign(b.next), w.publish(b.asked))
	if err != nil {
		err = fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, err)
	}
	w.answer(b, err)
}

// resolve finds out what became of a batch whose outcome is unknown: the head
// is read again and whatever is there is folded in. What is not there is
// answered "unknown": a retry with the same id is safe.
func (w *Writer) resolve(ctx context.Context, rs []*request, cause error) {
	w.log.Warn("outcome of an append is unknown; reading the log again", "err", cause)
	if err := w.catchUp(ctx); err != nil {
		w.answerAll(rs, fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, cause))
		return
	}
	if err := w.ensureCheckpoint(ctx); err != nil {
		w.log.Warn("checkpoint after an unknown outcome", "err", err)
		w.answerAll(rs, fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, cause))
		return
	}
	b := &batch{prev: w.tree.Head(), tx: w.db.Write()}
	defer b.tx.Abort()
	for _, r := range rs {
		out, err := w.replay(ctx, b, r.cmd)
		if err == nil && !out.Replay {
			err = fmt.Errorf("%w: %w", registry.ErrUnknownOutcome, cause)
		}
		out.Replay = false
		r.done <- answer{out: out, err: err, size: b.prev.Size}
	}
}

func (w *Writer) answer(b *batch, err error) {
	for i, r := range b.requests {
		a := b.answers[i]
		if a.err == nil && err != nil {
			a = answer{err: err}
		}
		a.size = b.next.Size
		r.done <- a
	}
}

func (w *Writer) answerAll(rs []*request, err error) {
	for _, r := range rs {
		r.done <- answer{err: err}
	}
}
