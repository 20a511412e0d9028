package upstream

import (
	"sync"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A queue keeps what one connection said in its order, so that progress and
// changes are seen before the answer that came after them. Answers always fit,
// since there are no more of them than open calls; what else comes beyond the
// bound is dropped, but for changes of lists, of which one of a kind is enough.
type queue struct {
	most, bytes int // of notifications and questions waiting
	take        func(item)
	drop        func(mcp.Frame)

	mu    sync.Mutex // holds all below
	items []item
	n     int             // of the items, those that are bounded
	size  int             // their bytes
	has   map[string]bool // changes that wait
	busy  bool            // take is running, or about to
	shut  bool
	wake  chan struct{}
}

// An item is a frame, or the error of the call with the id.
type item struct {
	f    mcp.Frame
	id   mcp.ID
	err  error
	size int
}

func newQueue(most, bytes int, take func(item), drop func(mcp.Frame)) *queue {
	return &queue{most: most, bytes: bytes, take: take, drop: drop, has: map[string]bool{}, wake: make(chan struct{}, 1)}
}

func (i item) answers() bool {
	return i.err != nil || i.f.Shape == mcp.Result || i.f.Shape == mcp.Failure
}

// push adds an item. An answer with nothing before it is taken at once.
func (q *queue) push(i item) {
	q.mu.Lock()
	if i.answers() && !q.busy && len(q.items) == 0 {
		q.mu.Unlock()
		q.take(i)
		return
	}
	if !i.answers() {
		switch {
		case changes(i.f.Method):
			if q.has[i.f.Method] {
				q.mu.Unlock()
				return
			}
			q.has[i.f.Method] = true
		case q.n >= q.most || q.size+i.size > q.bytes:
			q.mu.Unlock()
			q.drop(i.f)
			return
		default:
			q.n++
			q.size += i.size
		}
	}
	q.items = append(q.items, i)
	q.mu.Unlock()
	q.nudge()
}

func (q *queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// close lets run end when it has taken all.
func (q *queue) close() {
	q.mu.Lock()
	q.shut = true
	q.mu.Unlock()
	q.nudge()
}

// run takes items until the queue is closed and empty.
func (q *queue) run() {
	for {
		q.mu.Lock()
		items, shut := q.items, q.shut
		q.items, q.busy = nil, len(items) > 0
		q.mu.Unlock()
		if items == nil {
			if shut {
				return
			}
			<-q.wake
			continue
		}
		for _, i := range items {
			q.taken(i)
			q.take(i)
		}
	}
}

// taken frees the room of an item before it is looked at: a change that comes
// from now on is another one.
func (q *queue) taken(i item) {
	if i.answers() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if changes(i.f.Method) {
		delete(q.has, i.f.Method)
		return
	}
	q.n--
	q.size -= i.size
}
