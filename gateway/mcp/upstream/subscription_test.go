package upstream_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/gateway"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/gateway/mcp/upstream"
)

const listChanged = "notifications/tools/list_changed"

// logged is a logger, and what it logs, line by line.
func logged() (*slog.Logger, chan string) {
	lines := make(chan string, 1000)
	return slog.New(slog.NewTextHandler(writer(func(b []byte) { lines <- string(b) }), nil)), lines
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// wantLine waits for a line of the log.
func wantLine(t testing.TB, lines chan string, text string) {
	t.Helper()
	for {
		select {
		case l := <-lines:
			if strings.Contains(l, text) {
				return
			}
		case <-time.After(wait):
			t.Fatal("not logged:", text)
		}
	}
}

// A subscription is one subscriptions/listen at a server: what goes into say is
// written, and the end of say is the end of the stream.
type subscription struct {
	id   mcp.ID
	say  chan string
	gone chan struct{} // closed when the client left
	f    mcp.Frame
}

// take gives each subscription of our own, acknowledged.
func take(s *web) chan *subscription {
	all := make(chan *subscription, 100)
	s.listen = func(w http.ResponseWriter, r *http.Request, f mcp.Frame) {
		sub := &subscription{id: f.ID, say: make(chan string), gone: make(chan struct{}), f: f}
		defer close(sub.gone)
		sse(w, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{%q:%s},"notifications":{"toolsListChanged":true}}}`, mcp.MetaSubscription, f.ID))
		all <- sub
		for {
			select {
			case m, ok := <-sub.say:
				if !ok {
					return
				}
				sse(w, m)
			case <-r.Context().Done():
				return
			}
		}
	}
	return all
}

func (s *subscription) changed() string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"_meta":{%q:%s}}}`, listChanged, mcp.MetaSubscription, s.id)
}

func next(t testing.TB, all chan *subscription) *subscription {
	t.Helper()
	select {
	case s := <-all:
		return s
	case <-time.After(wait):
		t.Fatal("nobody subscribes")
	}
	return nil
}

// All links of an endpoint share one subscription, in which there is nothing of
// any agent's; it lasts as long as the last of them.
func TestSubscriptionIsShared(t *testing.T) {
	clean(t)
	s := newWeb(t)
	all := take(s)
	e := s.endpoint(t, nil)
	var links []gateway.Link
	var sinks []*sink
	for range 50 {
		l, k := connect(t, e, modern())
		links, sinks = append(links, l), append(sinks, k)
	}
	// Each link joins in the background: until each has heard of a change, there is
	// another one.
	sub := next(t, all)
	for _, k := range sinks {
		for heard := false; !heard; {
			sub.say <- sub.changed()
			select {
			case f := <-k.got:
				heard = f.Method == listChanged
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	if p := string(sub.f.Params); strings.Contains(p, "agent") || strings.Contains(p, "sampling") ||
		!strings.Contains(p, `"notifications":{"toolsListChanged":true}`) || !strings.Contains(p, mcp.MetaVersion) {
		t.Errorf("subscribed with %s", p)
	}
	for _, l := range links[1:] {
		l.Close()
	}
	for _, k := range sinks {
		for len(k.got) > 0 {
			<-k.got
		}
	}
	sub.say <- sub.changed()
	sinks[0].want(t, listChanged)
	for _, k := range sinks[1:] {
		if len(k.got) > 0 {
			t.Error("a closed link was told")
		}
	}
	select {
	case <-sub.gone:
		t.Error("the subscription ended before its last link")
	case <-all:
		t.Error("there is another subscription")
	default:
	}
	links[0].Close()
	<-sub.gone
	_, k := connect(t, e, modern())
	sub = next(t, all)
	sub.say <- sub.changed()
	k.want(t, listChanged)
	if len(sinks[0].lost) > 0 {
		t.Error("a loss was told of")
	}
}

// A subscription that breaks or ends makes everything stale, is asked for again,
// and makes everything stale once more when it is there.
func TestSubscriptionBreaks(t *testing.T) {
	clean(t)
	s := newWeb(t)
	all := take(s)
	l, k := connect(t, s.endpoint(t, &upstream.EndpointOptions{Bounds: upstream.Bounds{Backoff: time.Millisecond}}), modern())
	sub := next(t, all)
	sub.say <- sub.changed()
	k.want(t, listChanged)
	for _, end := range []func(*subscription){
		func(u *subscription) { close(u.say) }, // cut
		func(u *subscription) { // ended in peace
			u.say <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete"}}`, u.id)
			close(u.say)
		},
		func(u *subscription) { // an error that may pass
			u.say <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"later"}}`, u.id)
			close(u.say)
		},
		func(u *subscription) { s.CloseClientConnections() },
	} {
		end(sub)
		k.wantLost(t)
		sub = next(t, all)
		k.wantLost(t)
		sub.say <- sub.changed()
		k.want(t, listChanged)
	}
	s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) { answer(w, f, `{}`) }
	mustCall(t, l, "echo", "")
}

// A server that will not have it is not asked again, and nothing is lost by that;
// one that is in trouble is.
func TestSubscriptionRefused(t *testing.T) {
	refuse := func(status int, code string) func(http.ResponseWriter, mcp.Frame) {
		return func(w http.ResponseWriter, f mcp.Frame) {
			if code != "" {
				w.Header().Set("Content-Type", "application/json")
			}
			w.WriteHeader(status)
			if code != "" {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}`, f.ID, code)
			}
		}
	}
	for name, c := range map[string]struct {
		refuse func(http.ResponseWriter, mcp.Frame)
		again  bool
	}{
		"no such method": {refuse(404, "-32601"), false}, "no such method, 200": {refuse(200, "-32601"), false},
		"bad params": {refuse(400, "-32602"), false}, "404": {refuse(404, ""), false}, "405": {refuse(405, ""), false}, "501": {refuse(501, ""), false},
		"500": {refuse(500, ""), true}, "503": {refuse(503, ""), true}, "429": {refuse(429, ""), true}, "internal error": {refuse(200, "-32603"), true},
		"accepted": {refuse(202, ""), true},
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			s := newWeb(t)
			var asked atomic.Int32
			many := make(chan struct{})
			s.listen = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) {
				if asked.Add(1) == 3 {
					close(many)
				}
				c.refuse(w, f)
			}
			s.tool = func(w http.ResponseWriter, _ *http.Request, f mcp.Frame) { answer(w, f, `{}`) }
			log, lines := logged()
			e := s.endpoint(t, &upstream.EndpointOptions{Log: log, Bounds: upstream.Bounds{Backoff: time.Millisecond}})
			l, k := connect(t, e, modern())
			if c.again {
				<-many
			} else {
				wantLine(t, lines, "takes no subscription")
				connect(t, e, modern()) // nor is it asked for the next link
			}
			mustCall(t, l, "echo", "")
			if n := asked.Load(); !c.again && n != 1 {
				t.Errorf("asked %d times", n)
			}
			if len(k.lost) > 0 {
				t.Error("a loss was told of")
			}
		})
	}
}

// On stdio the subscription is a request like others: reopened when it ends, and
// outside of what agents may have open.
func TestProcessSubscription(t *testing.T) {
	clean(t)
	l, k := connect(t, newProcess(t, "script", &upstream.ProcessOptions{Bounds: upstream.Bounds{Open: 1, Backoff: time.Millisecond}}), modern())
	for range 3 {
		mustCall(t, l, "change", "")
		k.want(t, listChanged)
		mustCall(t, l, "release", "")
		k.wantLost(t)
		mustCall(t, l, "change", "") // waits for the next one
		k.wantLost(t)
		k.want(t, listChanged)
	}
	mustCall(t, l, "echo", "")
}

func TestProcessSubscriptionRefused(t *testing.T) {
	clean(t)
	log, lines := logged()
	l, k := connect(t, newProcess(t, "refuses", &upstream.ProcessOptions{Log: log}), modern())
	wantLine(t, lines, "takes no subscription")
	mustCall(t, l, "changed", "") // it may still tell of one, as of old
	k.want(t, listChanged)
	if len(k.lost) > 0 {
		t.Error("a loss was told of")
	}
}
