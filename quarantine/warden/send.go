package warden

import (
	"context"

	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/inspect/opinion"
	"github.com/pratique-dev/pratique/quarantine/warden/internal/wire"
)

// large is from how many bytes on a batch is not let into the last free child.
const large = 1 << 20

// send has a batch judged in a child. The caller waits no longer than it wants to;
// a child that is at work then ends its work, or its time.
func (w *Warden) send(ctx context.Context, b quarantine.Batch, asks bool) quarantine.Report {
	c, err := w.child(ctx, &b, asks)
	if err != nil {
		return failed(&b, quarantine.Late)
	}
	if ctx.Done() == nil {
		return w.run(ctx, c, b, asks)
	}
	done := make(chan quarantine.Report, 1)
	go func() { done <- w.run(ctx, c, b, asks) }()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
		return failed(&b, quarantine.Late)
	}
}

// child waits for a child. What takes long, because it is large or a model is
// asked, never has all of them, so that what is small gets its turn.
func (w *Warden) child(ctx context.Context, b *quarantine.Batch, asks bool) (*cell, error) {
	patience := w.opt.Deadline
	if asks {
		patience += w.opt.Broker.Deadline()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return w.pool.get(ctx, claim{origin: b.Origin, slow: asks || wire.Size(*b) > large})
}

// run has a child judge a batch, and gives it back or up.
func (w *Warden) run(ctx context.Context, c *cell, b quarantine.Batch, asks bool) quarantine.Report {
	var ask func(string) []byte
	if asks {
		asking, cancel := context.WithTimeout(ctx, w.opt.Broker.Deadline())
		defer cancel()
		ask = func(question string) []byte { return w.ask(asking, b, question) }
	}
	r, err := c.exchange(&b, ask, w.limit(&b))
	if err == nil {
		r, err = check(r, &b, w.local.ran(b.Depth, asks))
	}
	if err == nil {
		w.pool.put(c)
		return r
	}
	how := c.end()
	if closed := w.pool.drop(c); !closed {
		w.lost.Add(1)
		w.log.Warn("a child of the inspector was lost; what it had is held as suspect", "why", err, "ended", how, "batches", c.number)
	}
	return failed(&b, quarantine.Late)
}

// Replies to a child begin with whether there is an answer.
const (
	answered = 0
	unasked  = 1
)

// ask asks the broker about the batch that the child has, as we know it.
func (w *Warden) ask(ctx context.Context, b quarantine.Batch, question string) []byte {
	reply, err := w.opt.Broker.Ask(ctx, b, []byte(question))
	if err != nil || len(reply) > opinion.MaxReply {
		return []byte{unasked}
	}
	return append([]byte{answered}, reply...)
}
