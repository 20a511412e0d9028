package mcptest

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// An Agent is a raw MCP client of one revision: it sends bytes as they stand and
// keeps every frame that comes. Its methods fail the test when what must come does
// not come.
type Agent struct {
	Revision     string
	Capabilities JSON // claimed; default sampling, elicitation and roots
	ClientInfo   JSON
	// Answer, if not nil, gives the results to questions of the server; nil: they are
	// left to the test, which finds them with Next.
	Answer func(Message) JSON

	t    testing.TB
	wire wire

	mu     sync.Mutex // holds what follows
	next   int
	frames []Message
	read   int           // what Next gave already
	news   chan struct{} // closed and made anew with each frame
}

// A wire carries frames.
type wire interface {
	send(raw []byte) error
	started(a *Agent) // the handshake is done
	close()
}

func newAgent(t testing.TB, revision string) *Agent {
	return &Agent{
		Revision:     revision,
		Capabilities: JSON(`{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}`),
		ClientInfo:   JSON(`{"name":"mcptest","version":"1"}`),
		t:            t, news: make(chan struct{}),
	}
}

// Start shakes hands (legacy: initialize, notifications/initialized and, over
// HTTP, the GET stream; modern: server/discover) and gives the answer.
func (a *Agent) Start() Message {
	a.t.Helper()
	if a.Revision >= Modern {
		return a.Request("server/discover", "")
	}
	m := a.Hello()
	if m.Result == nil {
		return m
	}
	a.Notify("notifications/initialized", "")
	a.wire.started(a)
	return m
}

// Hello sends initialize alone.
func (a *Agent) Hello() Message {
	a.t.Helper()
	return a.Do(string(request(JSON(a.ID()), "initialize", object("protocolVersion", quote(a.Revision),
		"capabilities", a.Capabilities, "clientInfo", a.ClientInfo))))
}

// ID is a request id that was not used before.
func (a *Agent) ID() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next++
	return strconv.Itoa(1000 + a.next)
}

// Send sends bytes as they stand: as a line, or as the body of a POST.
func (a *Agent) Send(raw string) {
	a.t.Helper()
	if err := a.wire.send([]byte(raw)); err != nil {
		a.t.Errorf("sending: %v", err)
	}
}

// Do sends a request as it stands and waits for the answer to its id.
func (a *Agent) Do(raw string) Message {
	a.t.Helper()
	a.Send(raw)
	return a.Wait(Decode([]byte(raw)).ID)
}

// Request makes a request of the method, in the modern era with its _meta, and
// waits for the answer. Params may be empty.
func (a *Agent) Request(method, params string) Message {
	a.t.Helper()
	return a.Wait(a.Begin(method, params))
}

// Call calls a tool. Arguments may be empty: absent.
func (a *Agent) Call(tool, arguments string) Message {
	a.t.Helper()
	return a.Request("tools/call", string(CallParams(tool, arguments)))
}

// CallParams are the params of a tools/call.
func CallParams(tool, arguments string) JSON {
	var args JSON
	if arguments != "" {
		args = JSON(arguments)
	}
	return object("name", quote(tool), "arguments", args)
}

// Begin sends a request and gives its id at once.
func (a *Agent) Begin(method, params string) string {
	a.t.Helper()
	id := a.ID()
	a.Send(string(request(JSON(id), method, a.Params(params))))
	return id
}

// Params are params with what the era wants in them.
func (a *Agent) Params(params string) JSON {
	var p JSON
	if params != "" {
		p = JSON(params)
	}
	if a.Revision < Modern {
		return p
	}
	if p == nil {
		p = JSON("{}")
	}
	meta := JSON("{}")
	var members map[string]JSON
	if json.Unmarshal(p, &members) == nil && members["_meta"] != nil {
		meta = members["_meta"]
		delete(members, "_meta")
		var pairs []any
		for name, v := range members {
			pairs = append(pairs, name, v)
		}
		p = object(pairs...)
	}
	return with(p, "_meta", with(meta, metaPrefix+"protocolVersion", quote(a.Revision),
		metaPrefix+"clientCapabilities", a.Capabilities, metaPrefix+"clientInfo", a.ClientInfo))
}

// Retry answers an input_required result of the modern era: the same request
// again, with responses (an object by the keys of inputRequests) and the state.
func (a *Agent) Retry(method, params string, before Message, responses string) Message {
	a.t.Helper()
	p := with(JSON(params), "inputResponses", JSON(responses), "requestState", Path(before.Result, "requestState"))
	return a.Request(method, string(p))
}

// Notify sends a notification.
func (a *Agent) Notify(method, params string) {
	a.t.Helper()
	var p JSON
	if params != "" {
		p = JSON(params)
	}
	a.Send(string(request(nil, method, p)))
}

// Cancel sends notifications/cancelled.
func (a *Agent) Cancel(id string) {
	a.t.Helper()
	a.Notify("notifications/cancelled", `{"requestId":`+id+`}`)
}

// Wait waits for the answer to an id; an empty one: for an error without an id.
// Over HTTP, a request that was answered with something else than a frame gives a
// Message with only ID, Status and Raw.
func (a *Agent) Wait(id string) Message {
	a.t.Helper()
	return a.wait("an answer to "+id, func(m Message) bool {
		return m.ID == id && m.Method == "" && (m.Result != nil || m.Error != nil || m.Status != 0 && id != "")
	}, nil)
}

// Next waits for the next frame that no Next gave before and that is such.
func (a *Agent) Next(such func(Message) bool) Message {
	a.t.Helper()
	return a.wait("a frame", such, &a.read)
}

// NextMethod is Next for a notification or question of a method.
func (a *Agent) NextMethod(method string) Message {
	a.t.Helper()
	return a.wait(method, func(m Message) bool { return m.Method == method }, &a.read)
}

func (a *Agent) wait(what string, such func(Message) bool, read *int) Message {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		a.mu.Lock()
		news, from := a.news, 0
		if read != nil {
			from = *read
		}
		for i := from; i < len(a.frames); i++ {
			if m := a.frames[i]; such(m) {
				if read != nil {
					*read = i + 1
				}
				a.mu.Unlock()
				return m
			}
		}
		a.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			a.t.Fatalf("%s did not come", what)
		}
	}
}

// Frames is every frame that came so far; those of a batch one by one.
func (a *Agent) Frames() []Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Message(nil), a.frames...)
}

// Saw is how many frames that came so far have the method.
func (a *Agent) Saw(method string) int {
	n := 0
	for _, m := range a.Frames() {
		if m.Method == method {
			n++
		}
	}
	return n
}

// Tools lists the tools, following cursors, and gives the names.
func (a *Agent) Tools() []string {
	a.t.Helper()
	var names []string
	for params := ""; ; {
		m := a.Request("tools/list", params)
		if m.Result == nil {
			a.t.Fatalf("tools/list: %s", m.Raw)
		}
		names = append(names, m.Names()...)
		cursor := Path(m.Result, "nextCursor")
		if cursor == nil || len(names) > 100_000 {
			return names
		}
		params = string(object("cursor", cursor))
	}
}

// Close ends the connection, and a process with it.
func (a *Agent) Close() { a.wire.close() }

// took takes a frame that came.
func (a *Agent) took(m Message) {
	m.each(func(one Message) {
		one.Status = m.Status
		a.mu.Lock()
		a.frames = append(a.frames, one)
		close(a.news)
		a.news = make(chan struct{})
		a.mu.Unlock()
		if one.Method != "" && one.ID != "" && a.Answer != nil {
			go func() {
				if result := a.Answer(one); result != nil {
					_ = a.wire.send(answer(one.ID, result)) // the session may be over
				}
			}()
		}
	})
}
