package serve

import (
	"context"
	"errors"
	"sync"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Why a request is not taken.
var (
	errTwice   = errors.New("serve: a request with this id is open already")
	errTooMany = errors.New("serve: too many requests are open")
	errEnding  = errors.New("serve: no new requests are taken")
)

// errCancelled is the cause of a ctx whose request the agent cancelled.
var errCancelled = errors.New("serve: cancelled by the agent")

// opens are the requests of one agent that have no answer yet, by the id as the
// agent wrote it. Nobody else's ids are looked up in it.
type opens struct {
	max int

	mu    sync.Mutex
	m     map[mcp.ID]*call
	all   map[*call]struct{} // those in m, and those whose answer is on its way
	ended bool
	empty chan struct{} // closed once ended and nothing is open
}

type call struct {
	o      *opens
	id     mcp.ID
	method string
	cancel context.CancelCauseFunc
}

func newOpens(max int) *opens {
	return &opens{max: max, m: map[mcp.ID]*call{}, all: map[*call]struct{}{}, empty: make(chan struct{})}
}

// begin takes a request in. The ctx ends when the agent cancels it, and with the
// call's end, which must come.
func (o *opens) begin(parent context.Context, f mcp.Frame) (context.Context, *call, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.ended:
		return nil, nil, errEnding
	case o.m[f.ID] != nil:
		return nil, nil, errTwice
	case len(o.all) >= o.max:
		return nil, nil, errTooMany
	}
	ctx, cancel := context.WithCancelCause(parent)
	c := &call{o: o, id: f.ID, method: f.Method, cancel: cancel}
	o.m[f.ID], o.all[c] = c, struct{}{}
	return ctx, c, nil
}

// answered frees the id: the agent may use it again once it sees the answer.
func (c *call) answered() {
	c.o.mu.Lock()
	if c.o.m[c.id] == c {
		delete(c.o.m, c.id)
	}
	c.o.mu.Unlock()
}

// end says that the answer is out, or that there will be none.
func (c *call) end() {
	c.answered()
	c.o.mu.Lock()
	delete(c.o.all, c)
	if c.o.ended && len(c.o.all) == 0 {
		c.o.close()
	}
	c.o.mu.Unlock()
	c.cancel(nil)
}

// cancel cancels what is open under the id; false: nothing is. An initialize
// cannot be cancelled, in any revision: it is never in here.
func (o *opens) cancel(id mcp.ID) bool {
	o.mu.Lock()
	c := o.m[id]
	o.mu.Unlock()
	if c == nil {
		return false
	}
	c.cancel(errCancelled)
	return true
}

// finish takes no new requests, and ends those that only listen. The channel is
// closed when nothing is open any more.
func (o *opens) finish() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ended = true
		for c := range o.all {
			if c.method == methodListen {
				c.cancel(errEnding)
			}
		}
		if len(o.all) == 0 {
			o.close()
		}
	}
	return o.empty
}

func (o *opens) close() {
	select {
	case <-o.empty:
	default:
		close(o.empty)
	}
}

// abort cancels all that is open.
func (o *opens) abort(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.all {
		c.cancel(cause)
	}
}

func (o *opens) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.all)
}
