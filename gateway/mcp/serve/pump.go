package serve

import (
	"context"
	"net/http"
	"time"
)

// A pump carries a stream's events to one HTTP response. It is the only one that
// writes to it.
type pump struct {
	s      *stream
	w      http.ResponseWriter
	limits *Limits
	wake   chan struct{}
	done   chan struct{} // closed when the response may be left
}

func newPump(s *stream, w http.ResponseWriter, l *Limits) *pump {
	return &pump{s: s, w: w, limits: l, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func (p *pump) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// head sets what every event stream's response says.
func (p *pump) head() {
	h := p.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

// run writes until the stream has ended or is another's, or the agent is gone (ctx).
func (p *pump) run(ctx context.Context) {
	defer close(p.done)
	defer p.s.detach(p)
	c := http.NewResponseController(p.w)
	keep := time.NewTimer(p.limits.KeepAlive)
	defer keep.Stop()
	var out []byte
	for {
		var over bool
		out, over = p.s.take(p, out[:0])
		if len(out) > 0 && !p.write(c, out) {
			return
		}
		if over {
			return
		}
		if cap(out) > 1<<16 {
			out = nil
		}
		keep.Reset(p.limits.KeepAlive)
		select {
		case <-p.wake:
		case <-keep.C:
			if !p.write(c, []byte(": \n\n")) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (p *pump) write(c *http.ResponseController, out []byte) bool {
	// Where deadlines are not supported, the server's own hold.
	_ = c.SetWriteDeadline(time.Now().Add(p.limits.Write))
	_, err := p.w.Write(out)
	if err == nil {
		err = c.Flush()
	}
	_ = c.SetWriteDeadline(time.Time{})
	return err == nil
}
