package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A reply is the HTTP response to a POST that holds requests, and the way back to
// the agent while they are open. It is one JSON text if nothing but the answer
// is said, and soon; it becomes an event stream with the first notification or
// question, when patience ends, or at once if the agent would rather have one.
type reply struct {
	w      http.ResponseWriter
	r      *http.Request
	limits *Limits
	st     *stream
	asked  *questions // nil: questions cannot be asked
	prime  bool
	began  func() // told when the response becomes a stream

	mu     sync.Mutex
	sealed bool // it is JSON, and about to be written
	pump   *pump
	timer  *time.Timer
}

// start begins to wait; stream says that the agent wants an event stream.
func (p *reply) start(stream bool) {
	if stream {
		p.begin()
		return
	}
	p.timer = time.AfterFunc(p.limits.Patience, func() { p.begin() })
}

// begin makes the response an event stream; false: it is JSON already.
func (p *reply) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sealed || p.pump != nil {
		return p.pump != nil
	}
	p.pump = newPump(p.st, p.w, p.limits)
	p.pump.head()
	p.w.WriteHeader(http.StatusOK)
	if p.prime {
		p.st.prime()
	}
	if p.began != nil {
		p.began()
	}
	p.st.attach(p.pump, -1, false)
	go p.pump.run(p.r.Context())
	return true
}

// Notify sends a notification.
func (p *reply) Notify(f mcp.Frame) {
	if p.begin() {
		p.st.add(f, false)
	}
}

// Ask asks the agent, in this response; the answer comes in another request.
func (p *reply) Ask(ctx context.Context, f mcp.Frame) (mcp.Frame, error) {
	if p.asked == nil || !p.begin() {
		return mcp.Frame{}, gateway.ErrNoQuestions
	}
	return p.asked.ask(ctx, f, func(q mcp.Frame) bool { return p.st.add(q, true) })
}

// seal tells whether the response is still to be one JSON text. If so, nothing
// but the caller writes it from now on.
func (p *reply) seal() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.sealed = p.pump == nil
	return p.sealed
}

// finish writes the last answers and leaves the response when they are out, or
// when nobody reads them: the stream keeps them then, if it keeps anything.
func (p *reply) finish(last []mcp.Frame, array bool, status int) {
	if !p.seal() {
		for _, f := range last {
			p.st.add(f, true)
		}
		p.st.end()
		<-p.pump.done
		return
	}
	switch {
	case array:
		b := &batch{}
		for _, f := range last {
			b.add(f)
		}
		writeJSON(p.w, p.limits, http.StatusOK, b.text())
	case len(last) == 1:
		writeJSON(p.w, p.limits, status, last[0].Bytes())
	default:
		p.w.WriteHeader(http.StatusAccepted) // cancelled: nobody waits for it
	}
}

// writeJSON writes a whole response. Small ones do not wait for an agent that
// does not read; large ones not for ever.
func writeJSON(w http.ResponseWriter, l *Limits, status int, text []byte) {
	if len(text) > 64<<10 {
		c := http.NewResponseController(w)
		_ = c.SetWriteDeadline(time.Now().Add(l.Write)) // where it is not supported, the server's own holds
		defer func() { _ = c.SetWriteDeadline(time.Time{}) }()
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h["Content-Length"] = []string{itoa(len(text))}
	w.WriteHeader(status)
	_, _ = w.Write(text) // an agent that left gets nothing
}
