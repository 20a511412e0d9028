package upstream

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
)

type nobody struct{}

func (nobody) Receive(mcp.Frame) {}
func (nobody) Lost(error)        {}
func (nobody) Ask(_ context.Context, f mcp.Frame) mcp.Frame {
	return mcp.Fail(f.ID, mcp.CodeInvalidRequest, "no", nil)
}

// Whatever a process writes: nothing panics, only the call that is open is
// answered, and only by an answer with its id.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1.0,"result":{}}`, "noise\n[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}]",
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7}}`, `{"jsonrpc":"2.0","id":"q","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "{\"id\":1,\"result\":[[[[\n", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}",
		`{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`,
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, modern bool) {
		b := &Bounds{Frame: 4096, Queue: 4, Questions: 2}
		b.defaults()
		rev := mcp.Rev20250326
		if modern {
			rev = mcp.Rev20260728
		}
		p := &Process{}
		p.budget.Store(1 << 30)
		l := &processLink{core: newCore(context.Background(), "fuzz", mcp.Hello{Revision: rev}, nobody{}, b, &p.n, slog.New(slog.DiscardHandler), time.Now), p: p, cur: newCurrent[pipe]()}
		l.welcome.Revision = rev
		pp := &pipe{l: l, child: &child{}, out: make(chan outgoing, 1000), heard: make(chan struct{}), done: make(chan struct{})}
		pp.ctx, pp.cancel = context.WithCancelCause(l.ctx)
		pp.q = newQueue(b.Queue, b.Frame, pp.take, func(mcp.Frame) {})
		x := &gateway.Exchange{Frame: mcp.Ask(`"a"`, "tools/call", jsontext.Value(`{"_meta":{"progressToken":7}}`)), Receive: func(mcp.Frame) {}}
		c, err := l.open(context.Background(), x, pp, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		lines := mcp.NewLineReader(strings.NewReader(text), l.decode())
		for {
			line, err := lines.Read()
			if err != nil {
				break
			}
			if line.Kind == mcp.Text {
				pp.frames(line.Data)
			}
		}
		pp.q.close()
		pp.q.run()
		select {
		case o := <-c.done:
			if !strings.Contains(text, "1") {
				t.Errorf("answered by %+v", o)
			}
			if got, err := c.answer(o); err == nil && got.ID != `"a"` {
				t.Errorf("the answer has id %s", got.ID)
			}
		default:
		}
		l.finish(c)
		l.shut()
		l.work.Wait()
	})
}

type bodyOf struct{ io.Reader }

func (bodyOf) Close() error { return nil }

// Whatever comes compressed: bounded, and no panic.
func FuzzBody(f *testing.F) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(bytes.Repeat([]byte("a"), 100_000))
	_ = w.Close()
	f.Add(z.Bytes(), "gzip", int64(-1))
	f.Add([]byte("{}"), "", int64(2))
	f.Add([]byte("{}"), "identity", int64(1<<40))
	f.Add(z.Bytes()[:20], "x-gzip", int64(5))
	f.Fuzz(func(t *testing.T, data []byte, encoding string, length int64) {
		e := &Endpoint{}
		e.budget.Store(1 << 30)
		resp := &http.Response{Body: bodyOf{bytes.NewReader(data)}, ContentLength: length, Header: http.Header{"Content-Encoding": {encoding}}}
		b, err := e.body(resp)
		if err != nil {
			return
		}
		out, err := b.all(50_000)
		b.close()
		if len(out) > 50_000 || (err != nil && out != nil) {
			t.Errorf("%d bytes, %v", len(out), err)
		}
		if e.budget.Load() != 1<<30 {
			t.Error("the budget was not given back")
		}
	})
}

// Nothing of what a process writes to standard error acts on a terminal.
func FuzzPrintable(f *testing.F) {
	f.Add([]byte("a\x1b[31m\u202e\xff\n\t"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := printable(data); strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == 0x202e || r == 0x1b }) {
			t.Errorf("%q", s)
		}
		tl := newTail(func(string) {}, slog.New(slog.DiscardHandler), time.Now)
		tl.write(data)
		if len(tl.kept) > maxTail {
			t.Error(len(tl.kept))
		}
	})
}

func TestMeter(t *testing.T) {
	var budget atomic.Int64
	budget.Store(3 * free)
	a := &meter{r: io.LimitReader(repeat{}, 10*free), budget: &budget}
	if _, err := io.CopyN(io.Discard, a, 10*free); err != ErrTooLarge {
		t.Error(err)
	}
	a.next()
	if budget.Load() != 3*free {
		t.Error(budget.Load())
	}
}

type repeat struct{}

func (repeat) Read(p []byte) (int, error) { return len(p), nil }
