package upstream

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// Of our own subscriptions, one that ends is asked for again.
const (
	maxQuiet = 30 * time.Second // the longest pause before that
	steady   = 10 * time.Second // one that lasted so long begins with the shortest pause
)

// ourselves says who subscribes: no agent, since several of them may hear what
// comes of it.
func ourselves(r mcp.Revision) mcp.Hello {
	return mcp.Hello{Revision: r, Capabilities: jsontext.Value(`{}`), ClientInfo: jsontext.Value(`{"name":"pratique","version":"0"}`)}
}

// claimed is what a subscription of our own asks for: changes of lists, as far as
// the server says that it tells of them; nil if it tells of none, or without
// being asked (legacy era).
func (l *core) claimed(w mcp.Welcome) jsontext.Value {
	if !l.modern() {
		return nil
	}
	var want []mcp.Member
	for _, name := range []string{"tools", "prompts", "resources"} {
		if v, _ := mcp.Get(w.Capabilities, name, "listChanged"); string(v) == "true" {
			want = append(want, mcp.Member{Name: name + "ListChanged", Value: jsontext.Value("true")})
		}
	}
	if want == nil {
		return nil
	}
	return mcp.Object(want...)
}

// subscription keeps a subscription to what is wanted open until the ctx ends or the
// server will not have it. lost is called when one ends that was there, and when
// another one is there: what changed between the two, nobody heard.
func (l *core) subscription(ctx context.Context, on any, wanted jsontext.Value, ask func(*call, mcp.Frame) (mcp.Frame, error), lost func()) {
	params, err := mcp.SetMeta(mcp.Object(mcp.Member{Name: "notifications", Value: wanted}), ourselves(l.hello.Revision).Meta(), nil)
	if err != nil {
		return
	}
	var there atomic.Bool
	first := func() { there.Store(true) }
	again := func() { there.Store(true); lost() }
	taken := first
	for delay := l.b.Backoff; ; delay = min(2*delay, maxQuiet) {
		begun := l.now()
		c, err := l.open(ctx, nil, on, 0)
		if err != nil {
			return
		}
		told := taken
		c.taken.Store(&told)
		f, err := ask(c, mcp.Frame{Method: listen, Params: params})
		if ctx.Err() != nil {
			return
		}
		if there.Swap(false) {
			taken = again
			lost()
		}
		if unwanted(f, err) {
			l.log.Info("upstream takes no subscription: changes are seen when it is listed again", "upstream", l.name)
			return
		}
		if l.now().Sub(begun) > steady {
			delay = l.b.Backoff
		}
		if !sleep(ctx, delay) {
			return
		}
	}
}

// unwanted tells whether a subscription's end means that the server has none, so
// that it is not asked for again. Whatever else went wrong may pass.
func unwanted(f mcp.Frame, err error) bool {
	var status *StatusError
	switch {
	case errors.As(err, &status):
		switch status.Status {
		case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
			return false
		}
		return status.Status < 500 || status.Status == http.StatusNotImplemented
	case err == nil && f.Shape == mcp.Failure:
		switch f.Error.Code {
		case mcp.CodeMethodNotFound, mcp.CodeInvalidParams, mcp.CodeInvalidRequest, mcp.CodeUnsupportedVersion, mcp.CodeHeaderMismatch:
			return true
		}
	}
	return false
}
