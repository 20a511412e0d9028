package gateway

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/gateway/mcp"
)

// A listener is one open subscriptions/listen of the stateless era. It is
// answered here: of lists the agent hears after they were judged. Each resource
// that it names takes the one path, as a subscription of its own.
type listener struct {
	c     *call
	kinds map[string]bool // toolsListChanged and so on
	stop  context.CancelFunc
}

// stamp puts the id of the subscription into params.
func (l *listener) stamp(params jsontext.Value) jsontext.Value {
	out, err := mcp.SetMeta(params, []mcp.Member{{Name: mcp.MetaSubscription, Value: jsontext.Value(l.c.f.ID)}}, nil)
	if err != nil {
		return params
	}
	return out
}

// listen answers with the acknowledgement of what it listens to, and then blocks
// until the agent or the session ends it.
func (s *Session) listen(ctx context.Context, c *call, p *params) mcp.Frame {
	if p.filter == nil {
		return c.malformed(errFilter)
	}
	l := &listener{c: c, kinds: map[string]bool{}}
	var uris []string
	for name, v := range mcp.Members(p.filter) {
		switch name {
		case "toolsListChanged", "promptsListChanged", "resourcesListChanged":
			l.kinds[name] = v.Kind() == 't'
		case "resourceSubscriptions":
			for u := range mcp.Elements(v) {
				uri, ok := mcp.String(u)
				if !ok || len(uris) >= s.g.o.Limits.Listen {
					return c.malformed(errFilter)
				}
				uris = append(uris, uri)
			}
		}
	}
	ctx, l.stop = context.WithCancel(ctx)
	defer l.stop()
	kept := s.subscribe(ctx, c, p, uris)
	c.peer.Notify(mcp.Note("notifications/subscriptions/acknowledged", l.stamp(l.acknowledged(kept))))
	s.mu.Lock()
	s.listeners[l] = struct{}{}
	ending := s.closed
	s.mu.Unlock()
	if !ending && (len(kept) > 0 || l.kinds["toolsListChanged"] || l.kinds["promptsListChanged"] || l.kinds["resourcesListChanged"]) {
		<-ctx.Done()
	}
	s.mu.Lock()
	delete(s.listeners, l)
	s.mu.Unlock()
	l.stop()
	c.watch.End(answered)
	return mcp.Answer(c.f.ID, l.stamp(jsontext.Value(`{"resultType":"complete"}`)))
}

var errFilter = errors.New("notifications is not what can be listened to")

// acknowledged is what is listened to.
func (l *listener) acknowledged(uris []string) jsontext.Value {
	var in []mcp.Member
	for _, name := range []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"} {
		if l.kinds[name] {
			in = append(in, mcp.Member{Name: name, Value: jsontext.Value(`true`)})
		}
	}
	if len(uris) > 0 {
		in = append(in, mcp.Member{Name: "resourceSubscriptions", Value: quoteAll(uris)})
	}
	return mcp.Object(mcp.Member{Name: "notifications", Value: mcp.Object(in...)})
}

func quoteAll(list []string) jsontext.Value {
	return jsontext.Value(appendList(nil, list))
}

// subscribe takes each resource along the one path, in a call of its own that
// lives as long as the subscription. What is refused, or ends at once, is not
// listened to.
func (s *Session) subscribe(ctx context.Context, c *call, p *params, uris []string) (kept []string) {
	for _, uri := range uris {
		filter := mcp.Object(mcp.Member{Name: "resourceSubscriptions", Value: quoteAll([]string{uri})})
		raw, err := mcp.Edit(p.raw, []mcp.Member{{Name: "notifications", Value: filter}}, nil)
		if err != nil {
			continue
		}
		f := *c.f
		f.Params = raw
		one := params{raw: raw, name: uri, meta: p.meta, protocol: p.protocol, filter: filter, beside: p.beside}
		sub := &call{s: s, f: &f, m: c.m, peer: c.peer, at: c.at, watch: unwatched{}, started: make(chan struct{})}
		ended := make(chan struct{})
		s.work.Add(1)
		go func() {
			defer s.work.Done()
			defer close(ended)
			s.pass(ctx, sub, one)
		}()
		select {
		case <-sub.started: // recorded and on its way
			select {
			case <-ended:
			default:
				kept = append(kept, uri)
			}
		case <-ended:
		}
	}
	return kept
}
