package surface

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pratique-dev/pratique/quarantine/gate"
)

// A need is how young a list has to be.
type need struct {
	since time.Time // begun not before
	after uint64    // with the bound 0: number of a reading that is later than this one; 0: any
}

// needNow is what a request at this moment needs of a list (RULES.md 7). mu is
// held.
func (k *Keeper) needNow(l *list) need {
	bound := k.opt.Limits.Freshness
	if l.ttl >= 0 && l.ttl < bound {
		bound = l.ttl
	}
	if bound <= 0 {
		return need{after: k.number() + 1}
	}
	return need{since: k.opt.Now().Add(-bound)}
}

// number is that of the last reading that began, of any list. mu is held.
func (k *Keeper) number() (n uint64) {
	for i := range k.lists {
		n = max(n, k.lists[i].number)
		if f := k.lists[i].flight; f != nil {
			n = max(n, f.number)
		}
	}
	return n
}

// meets tells whether a list is complete, judged, young enough and nothing was
// signalled since its reading began. mu is held.
func (l *list) meets(n need) bool {
	return l.got && l.seen == l.marks && l.number >= n.after && !l.began.Before(n.since)
}

// lists of a kind that decide about it: a resource is also read by a template,
// and a template not where a resource is listed.
func (k *Keeper) of(kind gate.Kind) []*list {
	switch kind {
	case gate.Tool:
		return []*list{&k.lists[0]}
	case gate.Prompt:
		return []*list{&k.lists[1]}
	case gate.Resource, gate.Template:
		return []*list{&k.lists[2], &k.lists[3]}
	}
	return nil
}

// fresh makes sure that what is known of a kind is unchanged now, by listing
// again where it is not known. Several callers share one reading if it began late
// enough for all of them.
func (k *Keeper) fresh(ctx context.Context, kind gate.Kind) error {
	if err := k.open(ctx); err != nil {
		return err
	}
	k.mu.Lock()
	lists := k.of(kind)
	needs := make([]need, len(lists))
	for i, l := range lists {
		needs[i] = k.needNow(l)
	}
	k.mu.Unlock()
	for i, l := range lists {
		if err := k.freshList(ctx, l, needs[i]); err != nil {
			return err
		}
	}
	return nil
}

// rounds bounds how often a list is read for one request while the upstream keeps
// signalling.
const rounds = 4

func (k *Keeper) freshList(ctx context.Context, l *list, n need) error {
	for range rounds {
		k.mu.Lock()
		if l.meets(n) {
			k.mu.Unlock()
			return nil
		}
		f := k.takeOff(l)
		k.mu.Unlock()
		if err := wait(ctx, f); err != nil {
			return err
		}
	}
	return gate.ErrShut // it flaps
}

// wait waits for a flight. An error of one that began before we needed it is
// good enough an answer.
func wait(ctx context.Context, f *flight) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return errors.Join(gate.ErrShut, ctx.Err())
	}
}

// open waits for the first complete surface, for Limits.Early at most, and reads
// again what could not be read.
func (k *Keeper) open(ctx context.Context) error {
	k.mu.Lock()
	var flights []*flight
	var bad error
	now := k.opt.Now()
	for i := range k.lists {
		l := &k.lists[i]
		switch {
		case l.got:
		case l.flight == nil && l.err != nil && l.tried == l.marks && now.Sub(l.failed) < k.opt.Limits.Retry:
			// Nothing was heard since; after a restart the new server is asked at once.
			bad = l.err
		default:
			flights = append(flights, k.takeOff(l))
		}
	}
	k.mu.Unlock()
	if bad != nil {
		return bad
	}
	if len(flights) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, k.opt.Limits.Early)
	defer cancel()
	for _, f := range flights {
		if err := wait(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// takeOff joins the reading of a list that is under way, or begins one. mu is
// held.
func (k *Keeper) takeOff(l *list) *flight {
	if l.flight != nil {
		return l.flight
	}
	f := &flight{done: make(chan struct{}), number: k.number() + 1}
	if k.closed {
		f.err = gate.ErrShut
		close(f.done)
		return f
	}
	l.flight = f
	l.asked = false
	began, marks := k.opt.Now(), l.marks
	k.work.Go(func() { k.fly(l, f, began, marks) })
	return f
}

// fly reads a list, has it judged and settled, and only then lets those go on
// who wait.
func (k *Keeper) fly(l *list, f *flight, began time.Time, marks uint64) {
	ctx, cancel := context.WithTimeout(k.ctx, k.opt.Limits.Collect)
	defer cancel()
	var c *collection
	k.mu.Lock()
	before := l.last
	k.mu.Unlock()
	err := ctx.Err()
	switch {
	case err != nil:
	case claims(k.opt.Upstream.Welcome(), l.capability):
		c, err = k.collect(ctx, l.source, before)
	default:
		c = &collection{ttl: -1}
	}
	k.settling.Lock()
	var news []gate.Kind
	if err == nil {
		news, err = k.land(ctx, l, c, func() { l.ttl, l.began, l.number, l.seen = c.ttl, began, f.number, marks })
	}
	k.mu.Lock()
	if err != nil {
		err = incomplete(l, err)
		l.got, l.err, l.failed, l.tried = false, err, k.opt.Now(), marks
		k.shut()
		k.opt.Log.Warn("list is incomplete: nothing of the upstream is shown", "upstream", k.opt.Name, "method", l.method, "cause", err)
	}
	l.flight, l.landed = nil, k.opt.Now()
	f.err = err
	close(f.done)
	if l.signal && l.seen == l.marks && err == nil && !slices.Contains(news, l.kind) {
		news = append(news, l.kind) // the agent waits for the news even if there is none for it
	}
	l.signal = l.signal && (err != nil || l.seen != l.marks)
	if l.asked && err == nil {
		k.soon(l)
	}
	k.mu.Unlock()
	k.settling.Unlock()
	k.tell(news, true)
}

// soon reads a list that was signalled, but not at once after it was read: an
// upstream that signals without end must not keep us busy. mu is held.
func (k *Keeper) soon(l *list) {
	switch {
	case l.flight != nil || l.pacing || k.closed: // fly, pace or nobody looks at asked
	case k.opt.Now().Sub(l.landed) >= k.opt.Limits.Pace:
		k.takeOff(l)
	default:
		l.pacing = true
		k.work.Go(func() { k.pace(l) })
	}
}

func (k *Keeper) pace(l *list) {
	t := time.NewTimer(k.opt.Limits.Pace)
	defer t.Stop()
	select {
	case <-t.C:
	case <-k.ctx.Done():
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l.pacing = false
	if l.asked && l.seen != l.marks {
		k.takeOff(l)
	}
}

// land takes a reading in. The same bytes as before cost nothing. settling is
// held.
func (k *Keeper) land(ctx context.Context, l *list, c *collection, stamp func()) ([]gate.Kind, error) {
	greeting := greetingOf(k.opt.Upstream.Welcome())
	k.mu.Lock()
	again := k.partial && k.opt.Now().Sub(k.judged) >= askAgain
	same := l.got && greeting == k.greeting && l.last != nil && slices.Equal(l.last.hashes, c.hashes) && k.surface != nil && k.surface.Complete() && !k.unsure && !again
	prev := l.items
	if same {
		stamp()
	}
	k.mu.Unlock()
	if same {
		return nil, nil
	}
	items := k.decode(ctx, l.kind, c, prev, again)
	return k.settle(ctx, l, items, c.bytes, func() {
		l.items, l.last = items, c
		l.got, l.err = true, nil
		stamp()
	})
}

// askAgain is how long a verdict stands that came without all stages: what was late
// once is asked for again, but not with every list.
const askAgain = 5 * time.Second

// decode judges what was read. An item whose bytes are those of the one before
// is that one, if its verdict is sure, or stands for now.
func (k *Keeper) decode(ctx context.Context, kind gate.Kind, c *collection, prev []gate.Judged, again bool) []gate.Judged {
	old := make(map[string]*gate.Judged, len(prev))
	for i := range prev {
		old[string(prev[i].Raw)] = &prev[i]
	}
	out := make([]gate.Judged, len(c.raw))
	for i, raw := range c.raw {
		if o := old[string(raw)]; o != nil && o.Verdict != 0 && !(o.Partial && again) {
			out[i] = *o
			continue
		}
		out[i] = k.judge(ctx, gate.Decode(kind, raw))
	}
	return out
}
