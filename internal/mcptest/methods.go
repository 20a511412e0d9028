package mcptest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// run answers a request.
func (e *exchange) run() {
	s := e.p.s.script()
	switch m := e.m.Method; m {
	case "initialize":
		e.initialize(s)
	case "server/discover":
		e.discover(s)
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		e.result(JSON("{}"))
	case "tools/list":
		e.list(s.Tools, "tools")
	case "prompts/list":
		e.list(s.Prompts, "prompts")
	case "resources/list":
		e.list(s.Resources, "resources")
	case "resources/templates/list":
		e.list(s.Templates, "resourceTemplates")
	case "tools/call":
		name := Text(e.m.Params, "name")
		e.call(s, name, has(e.p.s.tools(), "name", name), TextResult("ok"))
	case "prompts/get":
		name := Text(e.m.Params, "name")
		e.call(s, "prompt:"+name, has(s.Prompts.Items, "name", name), JSON(`{"messages":[{"role":"user","content":{"type":"text","text":"ok"}}]}`))
	case "resources/read":
		uri := Text(e.m.Params, "uri")
		known := has(s.Resources.Items, "uri", uri) || matchesTemplate(s.Templates.Items, uri)
		e.call(s, "resource:"+uri, known, object("contents", array([]JSON{object("uri", quote(uri), "mimeType", quote("text/plain"), "text", quote("ok"))})))
	case "completion/complete":
		e.call(s, "complete:"+Text(e.m.Params, "argument", "name"), true, JSON(`{"completion":{"values":["one","two"],"total":2,"hasMore":false}}`))
	case "subscriptions/listen":
		e.listen()
	default:
		e.send(failure(e.m.ID, -32601, "method not found"))
	}
}

// result sends a result, with what the modern era wants in it.
func (e *exchange) result(v JSON) {
	if e.modern {
		v = with(v, "resultType", quote("complete"))
	}
	e.send(answer(e.m.ID, v))
}

func (e *exchange) initialize(s Script) {
	rev := negotiate(s.Revisions, Text(e.m.Params, "protocolVersion"))
	e.p.mu.Lock()
	e.p.rev = rev
	e.p.mu.Unlock()
	e.send(answer(e.m.ID, object("protocolVersion", quote(rev), "capabilities", s.capabilities(),
		"serverInfo", s.info(), "instructions", s.instructions())))
}

// negotiate is the proposed revision if it is spoken, else the newest one with a
// handshake.
func negotiate(spoken []string, proposed string) string {
	if len(spoken) == 0 {
		spoken = Revisions
	}
	newest := ""
	for _, r := range spoken {
		if r < Modern && r > newest {
			newest = r
		}
		if r == proposed && r < Modern {
			return r
		}
	}
	return newest
}

func (e *exchange) discover(s Script) {
	spoken := s.Revisions
	if len(spoken) == 0 {
		spoken = Revisions
	}
	var list []JSON
	for _, r := range spoken {
		if r >= Modern {
			list = append(list, quote(r))
		}
	}
	e.result(object("supportedVersions", array(list), "capabilities", s.capabilities(), "instructions", s.instructions(),
		"ttlMs", JSON("0"), "cacheScope", quote("public"), "_meta", object(metaPrefix+"serverInfo", s.info())))
}

func (s Script) info() JSON {
	if s.ServerInfo != nil {
		return s.ServerInfo
	}
	return JSON(`{"name":"fixture","version":"1"}`)
}

func (s Script) instructions() JSON {
	if s.Instructions == "" {
		return nil
	}
	return quote(s.Instructions)
}

func (s Script) capabilities() JSON {
	if s.Capabilities != nil {
		return s.Capabilities
	}
	there := func(l List) bool { return len(l.Items) > 0 || len(l.Versions) > 0 || l.Endless != "" }
	changes := JSON(`{"listChanged":true}`)
	pairs := []any{"tools", changes, "logging", JSON("{}")}
	if there(s.Prompts) {
		pairs = append(pairs, "prompts", changes, "completions", JSON("{}"))
	}
	if there(s.Resources) || there(s.Templates) {
		pairs = append(pairs, "resources", JSON(`{"listChanged":true,"subscribe":true}`))
	}
	return object(pairs...)
}

// has tells whether an item of the name is among those.
func has(items []JSON, member, name string) bool {
	return slices.ContainsFunc(items, func(i JSON) bool { return Text(i, member) == name })
}

// matchesTemplate knows templates by what stands before their first brace.
func matchesTemplate(templates []JSON, uri string) bool {
	return slices.ContainsFunc(templates, func(t JSON) bool {
		before, _, _ := strings.Cut(Text(t, "uriTemplate"), "{")
		return before != "" && strings.HasPrefix(uri, before)
	})
}

// tools are the tools of whatever version is served.
func (s *server) tools() []JSON {
	l := s.script().Tools
	all := slices.Clone(l.Items)
	for _, v := range l.Versions {
		all = append(all, v...)
	}
	return all
}

// list answers one page.
func (e *exchange) list(l List, member string) {
	cursor := Text(e.m.Params, "cursor")
	page, version := 0, 0
	if cursor == "" {
		version = e.p.s.count(member)
	} else if n, err := strconv.Atoi(strings.TrimPrefix(cursor, "p")); err == nil && n > 0 {
		page = n
	} else {
		e.send(failure(e.m.ID, -32602, "unknown cursor"))
		return
	}
	items := l.Items
	if len(l.Versions) > 0 {
		if cursor != "" {
			version = e.p.s.seen(member) - 1
		}
		items = l.Versions[version%len(l.Versions)]
	}
	if page >= l.From {
		if !e.p.s.await(e.ctx, l.Gate) || !pause(e.ctx, l.DelayMs) {
			return
		}
		if l.Answer.odd() {
			e.give(l.Answer, nil)
			return
		}
	}
	items, next := cutPage(l, items, page)
	var cacheable []any
	if e.modern {
		cacheable = []any{"ttlMs", JSON(strconv.Itoa(l.TTLMs)), "cacheScope", quote("public")}
	}
	e.result(object(append([]any{member, array(items), "nextCursor", next}, cacheable...)...))
}

// seen is how often a list was begun.
func (s *server) seen(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(1, s.counts[key])
}

// cutPage is one page and the cursor of the next one.
func cutPage(l List, items []JSON, page int) ([]JSON, JSON) {
	size := l.PageSize
	if size <= 0 {
		size = max(1, len(items))
	}
	cursor := func(n int) JSON { return quote("p" + strconv.Itoa(n)) }
	from, to := min(page*size, len(items)), min((page+1)*size, len(items))
	switch {
	case to < len(items):
		return items[from:to], cursor(page + 1)
	case l.Endless == "same":
		return items[max(0, len(items)-size):], cursor(max(1, (len(items)-1)/size))
	case l.Endless == "new":
		return items[max(0, len(items)-size):], cursor(page + 1)
	case l.Endless == "items":
		if from < to {
			return items[from:to], cursor(page + 1)
		}
		return []JSON{Tool("made_up_"+strconv.Itoa(page), "Made up.")}, cursor(page + 1)
	}
	return items[from:to], nil
}

// pause waits; false if the exchange ended before.
func pause(ctx context.Context, ms int) bool {
	if ms <= 0 {
		return true
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// listen answers subscriptions/listen: an acknowledgement, then what changes,
// until the stream ends.
func (e *exchange) listen() {
	wanted := Path(e.m.Params, "notifications")
	p := &peer{s: e.p.s, out: e.send, sub: JSON(e.m.ID)}
	p.wants = func(method string, params JSON) bool {
		on := func(name string) bool { return string(Path(wanted, name)) == "true" }
		switch method {
		case "notifications/tools/list_changed":
			return on("toolsListChanged")
		case "notifications/prompts/list_changed":
			return on("promptsListChanged")
		case "notifications/resources/list_changed":
			return on("resourcesListChanged")
		case "notifications/resources/updated":
			for i := 0; ; i++ {
				uri := Path(wanted, "resourceSubscriptions", strconv.Itoa(i))
				if uri == nil {
					return false
				}
				if Text(uri) == Text(params, "uri") {
					return true
				}
			}
		}
		return false
	}
	e.p.s.add(p)
	defer e.p.s.leave(p)
	e.send(request(nil, "notifications/subscriptions/acknowledged", withMeta(object("notifications", wanted), metaPrefix+"subscriptionId", JSON(e.m.ID))))
	<-e.ctx.Done()
}
