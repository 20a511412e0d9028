package mcptest

import (
	"compress/gzip"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// A stream is the events of one event stream, kept so that a client can come back
// for them.
type stream struct {
	id string

	mu      sync.Mutex // holds what follows
	events  [][]byte
	ended   bool
	cutAt   int // with isCut: how many of the events the connection may still have
	isCut   bool
	sent    int // by the reader before
	reading bool
	changed chan struct{} // closed and made anew when something of it changes
}

func newStream(id string) *stream { return &stream{id: id, changed: make(chan struct{})} }

func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) add(frame []byte) {
	s.change(func() { s.events = append(s.events, frame) })
}

func (s *stream) end() { s.change(func() { s.ended = true }) }

// cut ends the connection that reads the stream, not the stream.
func (s *stream) cut() { s.change(func() { s.isCut, s.cutAt = true, len(s.events) }) }

// claim makes the caller the one reader; false if there is another.
func (s *stream) claim() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := !s.reading
	s.reading = true
	return ok
}

func (s *stream) release() { s.change(func() { s.reading, s.isCut = false, false }) }

// wait waits for events from a number on; more is false if none will come.
func (s *stream) wait(ctx context.Context, from int) (events [][]byte, more bool) {
	for {
		s.mu.Lock()
		changed, over := s.changed, s.ended || s.isCut
		last := len(s.events)
		if s.isCut {
			last = s.cutAt
		}
		if from < last {
			events = s.events[from:last]
		}
		s.sent = max(s.sent, from)
		s.mu.Unlock()
		if len(events) > 0 || over {
			return events, !over
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// An outlet writes an answer as the script wants it put.
type outlet struct {
	w     http.ResponseWriter
	zip   *gzip.Writer
	split int
}

func newOutlet(w http.ResponseWriter, r *http.Request, h HTTP, kind string, status int) *outlet {
	if h.Type != "" {
		kind = h.Type
	}
	o := &outlet{w: w, split: h.Split}
	w.Header().Set("Content-Type", kind)
	if h.Gzip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		o.zip = gzip.NewWriter(w)
	}
	w.WriteHeader(status)
	return o
}

// send writes and flushes, in pieces if need be. What does not arrive is the
// reader's loss.
func (o *outlet) send(b []byte) {
	size := len(b)
	if o.split > 0 {
		size = o.split
	}
	for len(b) > 0 {
		piece := b[:min(size, len(b))]
		b = b[len(piece):]
		if o.zip != nil {
			_, _ = o.zip.Write(piece)
			_ = o.zip.Flush()
		} else if _, err := o.w.Write(piece); err != nil {
			return
		}
		_ = http.NewResponseController(o.w).Flush()
	}
}

func (o *outlet) close() {
	if o.zip != nil {
		_ = o.zip.Close()
	}
}

// pour writes a stream's events from a number on, until it ends or is cut.
func (s *stream) pour(ctx context.Context, o *outlet, from int, ids bool) {
	for {
		events, more := s.wait(ctx, from)
		for _, e := range events {
			var b []byte
			b = append(b, "event: message\n"...)
			if ids {
				b = append(strconv.AppendInt(append(b, "id: "+s.id+":"...), int64(from), 10), '\n')
			}
			b = append(b, "data: "...)
			if len(e) > 1<<20 {
				o.send(b)
				o.send(e)
				b, e = nil, nil
			}
			o.send(append(append(b, e...), "\n\n"...))
			from++
		}
		if !more {
			return
		}
	}
}
