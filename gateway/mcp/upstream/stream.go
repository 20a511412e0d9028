package upstream

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Resumption of streams.
const (
	maxTries = 5                // in a row without an event
	maxDelay = 30 * time.Second // whatever the server asks for
)

// A place in a stream that can be asked for again.
type place struct {
	last  string // id of the newest event; empty: none had one
	delay time.Duration
	moved bool // an event came since the stream was opened
}

// note takes what an event says of the stream.
func (p *place) note(e mcp.Event, least time.Duration) {
	p.moved = true
	if e.ID != nil {
		p.last = *e.ID
	}
	if e.Retry > 0 {
		p.delay = min(max(time.Duration(e.Retry)*time.Millisecond, least), maxDelay)
	}
}

// follow reads the stream that answers a call, to its answer. A stream that
// breaks is asked for again from where it broke, as far as the server has it
// (never in the modern era).
func (l *endpointLink) follow(s *session, c *call, b *body) (mcp.Frame, error) {
	p := place{delay: l.b.Backoff}
	for try := 0; ; {
		f, ok, err := l.events(s, c, b, &p)
		if ok {
			l.leave(c)
			c.held = true
			l.drain(c, b)
			return f, nil
		}
		b.close()
		if err == nil && c.ctx.Err() != nil {
			err = c.ended()
		}
		if err != nil {
			l.leave(c)
			return mcp.Frame{}, err
		}
		if p.moved {
			try = 0
		}
		if b, err = l.resume(s, c, &p, &try); err != nil {
			l.leave(c)
			return mcp.Frame{}, err
		}
	}
}

// resume opens a call's stream again.
func (l *endpointLink) resume(s *session, c *call, p *place, try *int) (*body, error) {
	for {
		if *try++; l.modern() || p.last == "" || *try > maxTries {
			l.n.lost.Add(1)
			l.sink.Lost(ErrLost)
			return nil, ErrLost
		}
		if !sleep(c.ctx, p.delay) {
			return nil, c.ended()
		}
		b, status, err := l.get(c.ctx, s, p.last)
		switch {
		case err == nil:
			p.moved = false
			return b, nil
		case c.ctx.Err() != nil:
			return nil, c.ended()
		case status == http.StatusNotFound && s.id != "":
			l.lose(s)
			return nil, ErrLost
		case status >= 300 && status < 500:
			*try = maxTries
		}
	}
}

// get opens an event stream: the session's own, or from an event on.
func (l *endpointLink) get(ctx context.Context, s *session, last string) (*body, int, error) {
	head := s.plain()
	head["Accept"] = []string{"text/event-stream"}
	if last != "" {
		if !printableASCII(last) {
			return nil, http.StatusBadRequest, ErrProtocol // no header can carry it
		}
		head[mcp.HeaderLastEvent] = []string{last}
	}
	resp, err := l.e.send(ctx, http.MethodGet, head, nil)
	if err != nil {
		return nil, 0, err
	}
	if resp.StatusCode != http.StatusOK || mediaType(resp.Header) != "text/event-stream" {
		_ = resp.Body.Close()
		return nil, max(resp.StatusCode, http.StatusMultipleChoices), &StatusError{Status: resp.StatusCode}
	}
	b, err := l.e.body(resp)
	if err != nil {
		_ = resp.Body.Close()
		return nil, http.StatusBadRequest, err
	}
	return b, resp.StatusCode, nil
}

// events reads a call's stream until its answer, its end (no error) or what ends
// the call.
func (l *endpointLink) events(s *session, c *call, b *body, p *place) (mcp.Frame, bool, error) {
	r := b.events(l.decode())
	for {
		e, err := r.Read()
		b.m.next()
		if err != nil {
			if errors.Is(err, ErrTooLarge) {
				l.n.tooLarge.Add(1)
				return mcp.Frame{}, false, ErrTooLarge
			}
			return mcp.Frame{}, false, nil
		}
		p.note(e, l.b.Backoff)
		switch {
		case e.Seen != nil:
			l.n.tooLarge.Add(1)
			if id, ok := number(e.Seen.ID); ok && id == c.id {
				return mcp.Frame{}, false, ErrTooLarge
			}
		case len(e.Data) == 0:
		case e.Name != "" && e.Name != "message":
			l.n.noise.Add(1)
		default:
			f, ok, err := l.frames(s, c, e.Data)
			var fe *mcp.FrameError
			if errors.As(err, &fe) {
				if id, is := number(fe.ID); !is || id != c.id {
					continue // it is not what this call waits for
				}
			}
			if ok || err != nil {
				return f, ok, err
			}
		}
	}
}

// hear keeps the session's own stream open (legacy era): for changes of lists,
// and for what belongs to no call. Servers need not have one.
func (l *endpointLink) hear(s *session) {
	p := place{delay: l.b.Backoff}
	for wait := l.b.Backoff; ; {
		b, status, err := l.get(s.ctx, s, p.last)
		if err == nil {
			s.listening.Store(true)
			p.moved = false
			l.heard(s, b, &p)
			s.listening.Store(false)
			b.close()
		}
		switch {
		case s.ctx.Err() != nil:
			return
		case status == http.StatusNotFound && s.id != "" && err != nil:
			l.lose(s)
			return
		case status >= 300 && status < 500 && status != http.StatusTooManyRequests && err != nil:
			return
		}
		if err != nil || p.last == "" {
			l.sink.Lost(ErrLost) // a change may have been missed
		}
		if p.moved && err == nil {
			wait = p.delay
		} else {
			wait = min(max(2*wait, p.delay), maxDelay)
		}
		if !sleep(s.ctx, wait) {
			return
		}
	}
}

// heard reads the session's own stream to its end.
func (l *endpointLink) heard(s *session, b *body, p *place) {
	r := b.events(l.decode())
	for {
		e, err := r.Read()
		b.m.next()
		if err != nil {
			return
		}
		p.note(e, l.b.Backoff)
		switch {
		case e.Seen != nil:
			l.n.tooLarge.Add(1)
			l.wake(l.settle(e.Seen.ID, s, outcome{err: ErrTooLarge}))
		case len(e.Data) == 0:
		case e.Name != "" && e.Name != "message":
			l.n.noise.Add(1)
		default:
			l.shared(s, e.Data)
		}
	}
}

// shared takes an event that came on no call's stream.
func (l *endpointLink) shared(s *session, data []byte) {
	frames, batch, err := mcp.Parse(data, l.decode())
	if err != nil || (batch && !l.Welcome().Revision.Batches()) {
		l.n.malformed.Add(1)
		var fe *mcp.FrameError
		if errors.As(err, &fe) && fe.Shape != mcp.Request {
			l.wake(l.settle(fe.ID, s, outcome{err: both(ErrProtocol, fe.Err)}))
		}
		return
	}
	for _, f := range frames {
		switch f.Shape {
		case mcp.Result, mcp.Failure:
			l.wake(l.settle(f.ID, s, outcome{f: f}))
		case mcp.Notification:
			l.notified(f, s)
		case mcp.Request:
			l.question(s.ctx, f, nil, func(a mcp.Frame) { l.post(s, a) })
		default:
			l.n.malformed.Add(1)
		}
	}
}

// wake ends the reading of the stream where a call's answer was expected.
func (l *endpointLink) wake(c *call) {
	if c != nil {
		c.cancel(errElsewhere)
	}
}
