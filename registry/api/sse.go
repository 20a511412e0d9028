package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/registry"
)

// The stream of label changes. One pump follows the log and hands each
// subscriber the same frames. A subscriber whose queue is full is cut off, not
// skipped: it comes back with the id of the last event it had and gets the rest
// from the log, at its own pace.
const (
	heartbeat    = 15 * time.Second
	streamChunk  = 256 // entries read at once
	frameChanges = 500 // changes in one frame of one entry
	writeWait    = 10 * time.Second
)

// A frame is what goes out for (part of) one entry of the log.
type frame struct {
	index uint64
	text  []byte
}

type subscriber struct {
	from  uint64 // what is older is not for it
	queue chan frame
	cut   chan struct{} // closed when the queue overflowed
}

func comment(s string) frame { return frame{text: []byte(": " + s + "\n\n")} }

type hub struct {
	s      *Server
	ctx    context.Context // ends at Shutdown
	cancel context.CancelFunc
	work   sync.WaitGroup // the pump
	crowd  crowd          // streams by address

	mu     sync.Mutex // owns what follows
	subs   map[*subscriber]bool
	open   int    // streams, catching-up ones included
	next   uint64 // index of the next entry that the pump reads
	pumps  bool
	closed bool
	idle   chan struct{} // closed when the last stream has ended after Shutdown
}

func newHub(s *Server) *hub {
	ctx, cancel := context.WithCancel(context.Background())
	return &hub{s: s, ctx: ctx, cancel: cancel, subs: map[*subscriber]bool{}, idle: make(chan struct{}),
		crowd: crowd{most: max(1, s.opt.Limits.Streams/2)}}
}

func (h *hub) shutdown(ctx context.Context) error {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		h.cancel()
		if h.open == 0 {
			close(h.idle)
		}
	}
	h.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		<-h.idle
		h.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter counts a stream in, within the bound.
func (h *hub) enter() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.open >= h.s.opt.Limits.Streams {
		return errOverload
	}
	h.open++
	return nil
}

func (h *hub) leave(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subs, sub)
	if h.open--; h.open == 0 && h.closed {
		close(h.idle)
	}
}

// serve answers one stream until its client goes, falls behind, or the server
// shuts down.
func (h *hub) serve(c *call) error {
	if err := h.s.rates.allow(&h.s.rates.any, addressOf(c.r.RemoteAddr)); err != nil {
		return err
	}
	if _, err := c.query(); err != nil {
		return err
	}
	from, reset, err := h.start(c)
	if err != nil {
		return err
	}
	leave, err := h.crowd.enter(addressOf(c.r.RemoteAddr))
	if err != nil {
		return err
	}
	defer leave()
	if err := h.enter(); err != nil {
		return err
	}
	sub := &subscriber{queue: make(chan frame, h.s.opt.Limits.StreamQueue), cut: make(chan struct{})}
	defer h.leave(sub)
	st := h.begin(c)
	first := comment("label changes")
	if reset {
		first = frame{text: []byte("event: reset\nid: " + strconv.FormatUint(max(from, 1)-1, 10) + "\ndata: {}\n\n")}
	}
	if err := st.write(first); err == nil {
		st.run(sub, from)
	}
	return nil
}

// start is where a stream begins: after the last event that its client had, or
// now. reset: that event is none of this log's.
func (h *hub) start(c *call) (from uint64, reset bool, err error) {
	v, err := h.s.opt.Record.View()
	if err != nil {
		return 0, false, err
	}
	id := c.r.Header.Get("Last-Event-ID")
	if id == "" {
		return v.Head.Size, false, nil
	}
	n, err := strconv.ParseUint(id, 10, 53)
	if err != nil {
		return 0, false, at("Last-Event-ID", errParameter)
	}
	if n >= v.Head.Size { // another process may have sent it
		if v, err = h.s.opt.Record.Barrier(c.r.Context()); err != nil {
			return 0, false, err
		}
	}
	if n >= v.Head.Size {
		return v.Head.Size, true, nil
	}
	return n + 1, false, nil
}

// A stream is one subscriber's connection.
type stream struct {
	h   *hub
	c   *call
	ctl *http.ResponseController
}

func (st *stream) write(f frame) error {
	_ = st.ctl.SetWriteDeadline(time.Now().Add(writeWait)) // real time: the kernel's
	if _, err := st.c.w.Write(f.text); err != nil {
		return err
	}
	return st.ctl.Flush()
}

// run catches up with the pump from the log, then takes what the pump gives.
func (st *stream) run(sub *subscriber, from uint64) {
	for {
		limit, joined := st.h.join(sub, from)
		if joined {
			break
		}
		frames, next, err := st.h.read(st.c.ctx, from, limit)
		if err != nil {
			return
		}
		for _, f := range frames {
			if st.write(f) != nil {
				return
			}
		}
		from = next
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		var f frame
		select {
		case f = <-sub.queue:
		case <-beat.C:
			f = comment("alive")
		case <-sub.cut:
			_ = st.write(comment("too slow, resume with the last event id"))
			return
		case <-st.c.ctx.Done():
			return
		case <-st.h.ctx.Done():
			_ = st.write(comment("closing"))
			return
		}
		if st.write(f) != nil {
			return
		}
	}
}

// join makes a stream that has reached the pump a subscriber. Where it has
// not, limit is how far the pump is.
func (h *hub) join(sub *subscriber, from uint64) (limit uint64, joined bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.pumps {
		h.pumps, h.next = true, from
		h.work.Go(h.pump)
	}
	if from < h.next {
		return h.next, false
	}
	sub.from = from // the pump may be a little behind it
	h.subs[sub] = true
	return h.next, true
}

// pump follows the log for as long as anybody listens.
func (h *hub) pump() {
	for h.ctx.Err() == nil {
		changed := h.s.opt.Record.Changed()
		h.mu.Lock()
		from := h.next
		if len(h.subs) == 0 && h.open == 0 {
			h.pumps = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		frames, next, err := h.read(h.ctx, from, from+streamChunk)
		if err == nil && next > from {
			h.hand(frames, next)
			continue
		}
		wait := time.NewTimer(heartbeat)
		if err != nil {
			wait.Reset(time.Second) // the view is stale, or the store failed
		}
		select {
		case <-changed:
		case <-wait.C:
		case <-h.ctx.Done():
		}
		wait.Stop()
	}
}

// hand gives frames to all subscribers and cuts off those that are full.
func (h *hub) hand(frames []frame, next uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next = next
	for sub := range h.subs {
		if !sub.give(frames) {
			close(sub.cut)
			delete(h.subs, sub)
		}
	}
}

// give queues frames; false: there was no room.
func (sub *subscriber) give(frames []frame) bool {
	for _, f := range frames {
		if f.index < sub.from {
			continue
		}
		select {
		case sub.queue <- f:
		default:
			return false
		}
	}
	return true
}

// read turns entries of the log into frames, up to limit (not included) or the
// end of what the view shows.
func (h *hub) read(ctx context.Context, from, limit uint64) ([]frame, uint64, error) {
	v, err := h.s.opt.Record.View()
	if err != nil {
		return nil, from, err
	}
	limit = min(limit, v.Head.Size, from+streamChunk)
	if from >= limit {
		return nil, from, nil
	}
	entries, err := h.s.opt.Log.Read(ctx, from, int(limit-from))
	if err != nil {
		return nil, from, err
	}
	if len(entries) == 0 {
		return nil, from, errors.New("api: log is shorter than its view")
	}
	var out []frame
	now := h.s.opt.Now()
	for i, raw := range entries {
		index := from + uint64(i)
		e, err := registry.ParseEvent(raw)
		if err != nil {
			return nil, from, err
		}
		if out, err = appendFrames(out, changes(v, &e, index, now), index); err != nil {
			return nil, from, err
		}
	}
	return out, from + uint64(len(entries)), nil
}

// appendFrames writes changes of one entry. Only the last carries the id: a
// client that is cut off in between gets all of the entry again.
func appendFrames(out []frame, cs []registry.LabelChange, index uint64) ([]frame, error) {
	var f []byte
	for i := range cs {
		b, err := json.Marshal(&cs[i], json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		f = append(f, "event: label\n"...)
		if i == len(cs)-1 {
			f = append(strconv.AppendUint(append(f, "id: "...), index, 10), '\n')
		}
		f = append(append(append(f, "data: "...), b...), "\n\n"...)
		if (i+1)%frameChanges == 0 || i == len(cs)-1 {
			out = append(out, frame{index, f})
			f = nil
		}
	}
	return out, nil
}
