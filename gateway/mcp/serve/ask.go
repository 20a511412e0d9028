package serve

import (
	"context"
	"sync"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// questions are those that one agent was asked and has not answered. Their ids
// on the wire are our own numbers, counted for one session: an answer counts for
// the session that it came in, and for nothing else.
type questions struct {
	limit Limits

	mu    sync.Mutex
	last  int64
	open  map[mcp.ID]chan mcp.Frame
	ended bool
}

func newQuestions(l Limits) *questions {
	return &questions{limit: l, open: map[mcp.ID]chan mcp.Frame{}}
}

// ask sends the question and waits. send is false if it cannot be sent; it is
// also used to tell the agent that the question was withdrawn.
func (q *questions) ask(ctx context.Context, f mcp.Frame, send func(mcp.Frame) bool) (mcp.Frame, error) {
	ctx, cancel := context.WithTimeout(ctx, q.limit.Question)
	defer cancel()
	q.mu.Lock()
	if q.ended || len(q.open) >= q.limit.Open {
		q.mu.Unlock()
		return mcp.Frame{}, gateway.ErrNoQuestions
	}
	q.last++
	id, asked := mcp.NumberID(q.last), f.ID
	answer := make(chan mcp.Frame, 1)
	q.open[id] = answer
	q.mu.Unlock()
	defer q.forget(id)

	f.ID = id
	if !send(f) {
		return mcp.Frame{}, gateway.ErrNoQuestions
	}
	select {
	case a, ok := <-answer:
		if !ok {
			return mcp.Frame{}, gateway.ErrNoQuestions
		}
		a.ID = asked
		return a, nil
	case <-ctx.Done():
		send(mcp.Note(methodCancelled, mcp.Object(mcp.Member{Name: "requestId", Value: []byte(id)})))
		return mcp.Frame{}, ctx.Err()
	}
}

func (q *questions) forget(id mcp.ID) {
	q.mu.Lock()
	delete(q.open, id)
	q.mu.Unlock()
}

// answer takes an answer of the agent; false: nobody asked.
func (q *questions) answer(f mcp.Frame) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c, ok := q.open[f.ID]
	if !ok {
		return false
	}
	delete(q.open, f.ID) // the first answer counts
	c <- f
	return true
}

// end says that no answers come any more.
func (q *questions) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	for id, c := range q.open {
		close(c)
		delete(q.open, id)
	}
}
