package serve

import (
	"errors"
	"io"
	"sync"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

var errGone = errors.New("serve: the agent does not read any more")

// An outbox is what waits to be written to an agent on stdio. One goroutine
// writes, so that whoever has a notification for an agent that does not read is
// never held up by it.
type outbox struct {
	w      io.Writer
	bytes  int // bound of what waits
	frames int

	mu      sync.Mutex
	room    sync.Cond // of mu: something was written, or it is over
	wake    chan struct{}
	waiting []byte
	n       int // frames in waiting
	dropped int
	err     error // why it is over
	done    chan struct{}
}

func newOutbox(w io.Writer, l Limits) *outbox {
	o := &outbox{w: w, bytes: l.Queued, frames: l.Queue, wake: make(chan struct{}, 1), done: make(chan struct{})}
	o.room.L = &o.mu
	go o.run()
	return o
}

// run writes until close. It ends when what waited is written, or with the first
// error of the writer: half a line may be out then, and nothing can follow it.
func (o *outbox) run() {
	defer close(o.done)
	var out []byte
	for range o.wake {
		for {
			o.mu.Lock()
			out, o.waiting = o.waiting, out[:0]
			o.n = 0
			over := o.err != nil
			o.room.Broadcast()
			o.mu.Unlock()
			if len(out) == 0 {
				if over {
					return
				}
				break
			}
			if _, err := o.w.Write(out); err != nil {
				o.close(errGone)
				return
			}
			if cap(out) > 1<<20 {
				out = nil
			}
		}
	}
}

// must queues a frame, and waits for room if there is none.
func (o *outbox) must(f mcp.Frame) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.waiting) > 0 && (len(o.waiting) >= o.bytes || o.n >= o.frames) {
		o.room.Wait()
	}
	if o.err != nil {
		return o.err
	}
	o.add(f)
	return nil
}

// may queues a frame if there is room, and drops it if not.
func (o *outbox) may(f mcp.Frame) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || len(o.waiting) >= o.bytes || o.n >= o.frames {
		o.dropped++
		return false
	}
	o.add(f)
	return true
}

// raw queues a text of several frames, as must.
func (o *outbox) raw(text []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && len(o.waiting) > 0 && len(o.waiting) >= o.bytes {
		o.room.Wait()
	}
	if o.err != nil {
		return o.err
	}
	o.waiting = append(append(o.waiting, text...), '\n')
	o.n++
	o.rouse()
	return nil
}

func (o *outbox) add(f mcp.Frame) {
	o.waiting = append(f.Append(o.waiting), '\n')
	o.n++
	o.rouse()
}

func (o *outbox) rouse() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// close ends it: what waits is still written, nothing more is taken. The first
// reason stays.
func (o *outbox) close(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = reason
		o.room.Broadcast()
		o.rouse()
	}
}
