package mcptest

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func script() Script {
	return Script{
		Instructions: "Use well.",
		Tools:        List{Items: []JSON{Tool("echo", "Echoes."), Tool("plain", "Is plain.")}},
		Prompts:      List{Items: Texts(`{"name":"greet"}`)},
		Resources:    List{Items: Texts(`{"uri":"test://a","name":"a"}`)},
		Templates:    List{Items: Texts(`{"uriTemplate":"test://t/{id}","name":"t"}`)},
		Answers:      map[string]Answer{"echo": {Echo: true}, "hidden": {Result: TextResult("found")}},
	}
}

// ways runs a test over both transports and both eras.
func ways(t *testing.T, s Script, f func(t *testing.T, up *Upstream, a *Agent)) {
	for _, rev := range []string{"2025-11-25", Modern} {
		t.Run("http "+rev, func(t *testing.T) {
			up := NewHTTP(t, s)
			f(t, up, DialHTTP(t, rev, up.URL))
		})
		t.Run("http json "+rev, func(t *testing.T) {
			s.HTTP.JSON = true
			up := NewHTTP(t, s)
			f(t, up, DialHTTP(t, rev, up.URL))
		})
		t.Run("stdio "+rev, func(t *testing.T) {
			up := NewStdio(t, s)
			f(t, up, StartStdio(t, rev, up.Command()...))
		})
	}
}

func TestBasics(t *testing.T) {
	ways(t, script(), func(t *testing.T, up *Upstream, a *Agent) {
		if m := a.Start(); Text(m.Result, "instructions") != "Use well." {
			t.Errorf("%s", m.Raw)
		}
		if got := a.Tools(); !slices.Equal(got, []string{"echo", "plain"}) {
			t.Errorf("%q", got)
		}
		if m := a.Call("echo", `{"n":9007199254740993, "s":"\u0041"}`); m.Text() != `{"n":9007199254740993, "s":"\u0041"}` || string(Path(m.Result, "structuredContent", "n")) != "9007199254740993" {
			t.Errorf("%s", m.Raw)
		}
		for name, want := range map[string]string{"plain": "ok", "hidden": "found", "echo": "", "none": ""} {
			if m := a.Call(name, ""); m.Text() != want || m.IsError() != (name == "none") {
				t.Errorf("%s: %s", name, m.Raw)
			}
		}
		if up.Executed("echo") != 2 || up.Executed("plain") != 1 || up.Executed("Echo") != 0 || !up.Mentions(`"\u0041"`) {
			t.Errorf("%d, %d", up.Executed("echo"), up.Executed("plain"))
		}
		for method, params := range map[string]string{
			"prompts/get": `{"name":"greet"}`, "resources/read": `{"uri":"test://t/7"}`,
			"completion/complete": `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"x","value":""}}`,
		} {
			if m := a.Request(method, params); m.IsError() {
				t.Errorf("%s: %s", method, m.Raw)
			}
		}
		if m := a.Request("no/such", `{}`); m.Code() != -32601 {
			t.Errorf("%s", m.Raw)
		}
		modern := a.Revision == Modern
		if got := string(Path(a.Call("plain", "{}").Result, "resultType")) != ""; got != modern {
			t.Errorf("resultType is there: %v", got)
		}
	})
}

func TestChanges(t *testing.T) {
	ways(t, script(), func(t *testing.T, up *Upstream, a *Agent) {
		a.Start()
		stdio := up.URL == ""
		if a.Revision == Modern {
			a.Begin("subscriptions/listen", `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"]}}`)
			a.NextMethod("notifications/subscriptions/acknowledged")
		}
		up.Set(func(s *Script) { s.Tools.Items[1] = Tool("later", "Came later.") })
		if got := a.Tools(); !slices.Equal(got, []string{"echo", "later"}) {
			t.Errorf("%q", got)
		}
		up.Changed()
		m := a.NextMethod("notifications/tools/list_changed")
		if sub := Path(m.Params, "_meta", metaPrefix+"subscriptionId"); (sub != nil) != (a.Revision == Modern) {
			t.Errorf("%s", m.Raw)
		}
		up.Notify("notifications/resources/updated", JSON(`{"uri":"test://a"}`))
		a.NextMethod("notifications/resources/updated")
		if !stdio {
			return
		}
		if up.Processes() != 1 {
			t.Errorf("%d processes", up.Processes())
		}
		up.Restart()
		if up.Processes() != 0 {
			t.Errorf("%d processes after a restart", up.Processes())
		}
		again := StartStdio(t, a.Revision, up.Command()...)
		again.Start()
		if got := again.Tools(); !slices.Equal(got, []string{"echo", "later"}) {
			t.Errorf("after a restart: %q", got)
		}
	})
}

func TestQuestions(t *testing.T) {
	s := script()
	ask := Question{Method: "elicitation/create", Params: JSON(`{"message":"How many?","requestedSchema":{"type":"object"}}`)}
	s.Answers["plain"] = Answer{Questions: []Question{ask, {Method: "roots/list"}}, Rounds: 2, Progress: 2, Message: "half", Logs: Texts(`"log"`)}
	ways(t, s, func(t *testing.T, up *Upstream, a *Agent) {
		a.Answer = func(m Message) JSON { return object("action", quote("accept"), "of", quote(m.Method)) }
		a.Start()
		params := `{"name":"plain","arguments":{},"_meta":{"progressToken":7}}`
		if a.Revision != Modern {
			if strings.Contains(t.Name(), "json") {
				return // JSON answers carry no questions
			}
			if m := a.Request("tools/call", params); !strings.Contains(m.Text(), `"of":"roots/list"`) {
				t.Errorf("%s", m.Raw)
			}
			if a.Saw("notifications/progress") != 2 || a.Saw("notifications/message") != 1 {
				t.Errorf("%v", a.Frames())
			}
			up.Ask("sampling/createMessage", JSON(`{"messages":[],"maxTokens":1}`))
			up.Wait(t, 3, func(m Message) bool { return m.Method == "" && m.Result != nil })
			return
		}
		m := a.Request("tools/call", params)
		for i := range 2 {
			if Text(m.Result, "resultType") != "input_required" || Text(m.Result, "inputRequests", "q1", "method") != "roots/list" {
				t.Fatalf("round %d: %s", i, m.Raw)
			}
			m = a.Retry("tools/call", params, m, `{"q0":{"action":"accept"},"q1":{"roots":[]}}`)
		}
		if m.Text() != "{\"action\":\"accept\"}\n{\"roots\":[]}" {
			t.Errorf("%s", m.Raw)
		}
		if m := a.Request("tools/call", `{"name":"plain","requestState":"state:other:1"}`); m.Code() != -32602 {
			t.Errorf("%s", m.Raw)
		}
	})
}

func TestGates(t *testing.T) {
	s := script()
	s.Answers["plain"] = Answer{Gate: "g", Becomes: []JSON{Tool("other", "Is other.")}}
	s.Tools.PageSize, s.Tools.Gate, s.Tools.From = 1, "page", 1
	ways(t, s, func(t *testing.T, up *Upstream, a *Agent) {
		a.Start()
		id := a.Begin("tools/call", `{"name":"plain"}`)
		up.WaitCall(t, "plain", 1)
		if m := a.Call("echo", `{}`); m.IsError() {
			t.Errorf("%s", m.Raw)
		}
		if m := a.Request("tools/list", ""); Text(m.Result, "nextCursor") != "p1" {
			t.Errorf("%s", m.Raw)
		}
		page := a.Begin("tools/list", `{"cursor":"p1"}`)
		up.WaitMethod(t, "tools/list", 2)
		up.Open("page")
		if m := a.Wait(page); !slices.Equal(m.Names(), []string{"plain"}) {
			t.Errorf("%s", m.Raw)
		}
		up.Open("g")
		if m := a.Wait(id); m.IsError() {
			t.Errorf("%s", m.Raw)
		}
		if m := a.Request("tools/list", ""); !slices.Equal(m.Names(), []string{"other"}) {
			t.Errorf("%s", m.Raw)
		}
	})
}

func TestBadAnswers(t *testing.T) {
	s := script()
	s.Answers = map[string]Answer{
		"silent": {Silent: true}, "wrong": {WrongID: true}, "raw": {Raw: []byte(`{"jsonrpc":"2.0","id":%ID%,"result":{"x":1}}`)},
		"error": {Error: JSON(`{"code":-5,"message":"m"}`)}, "big": {Big: 3 << 20, Tail: "end"}, "deep": {Deep: 10_000}, "utf8": {Utf8: true},
		"flood": {Flood: 50},
	}
	ways(t, s, func(t *testing.T, up *Upstream, a *Agent) {
		a.Start()
		silent := a.Begin("tools/call", `{"name":"silent"}`)
		if m := a.Call("big", ""); len(m.Text()) != 3<<20+3 || !strings.HasSuffix(m.Text(), "end") {
			t.Errorf("%d", len(m.Text()))
		}
		if m := a.Call("error", ""); m.Code() != -5 {
			t.Errorf("%s", m.Raw)
		}
		if m := a.Call("raw", ""); Number(m.Result, "x") != 1 {
			t.Errorf("%s", m.Raw)
		}
		a.Begin("tools/call", `{"name":"wrong"}`)
		a.Begin("tools/call", `{"name":"deep"}`)
		a.Begin("tools/call", `{"name":"utf8"}`)
		a.Next(func(m Message) bool { return m.ID == `"nobody-asked"` })
		a.wait("deep", func(m Message) bool { return bytes.Contains(m.Raw, bytes.Repeat([]byte("["), 10_000)) }, nil)
		a.wait("invalid UTF-8", func(m Message) bool { return bytes.Contains(m.Raw, []byte("a\xff\xfeb")) }, nil)
		a.Call("flood", "")
		for _, m := range a.Frames() {
			if m.ID == silent {
				t.Errorf("the silent one said %s", m.Raw)
			}
		}
	})
}

func TestEndlessLists(t *testing.T) {
	for mode, want := range map[string]string{"same": "p1 p1 p1", "new": "p1 p2 p3", "items": "p1 p2 p3"} {
		s := script()
		s.Tools.PageSize, s.Tools.Endless = 1, mode
		up := NewHTTP(t, s)
		a := DialHTTP(t, "2025-06-18", up.URL)
		a.Start()
		var got []string
		params := ""
		for range 3 {
			m := a.Request("tools/list", params)
			got = append(got, Text(m.Result, "nextCursor"))
			params = `{"cursor":"` + got[len(got)-1] + `"}`
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", mode, got)
		}
	}
	s := script()
	s.Tools.Versions = [][]JSON{{Tool("a", "")}, {Tool("b", "")}}
	up := NewHTTP(t, s)
	a := DialHTTP(t, "2025-06-18", up.URL)
	a.Start()
	if x, y, z := a.Tools(), a.Tools(), a.Tools(); x[0] != "a" || y[0] != "b" || z[0] != "a" {
		t.Errorf("%q %q %q", x, y, z)
	}
}

func TestHTTPOnly(t *testing.T) {
	s := script()
	s.HTTP = HTTP{Gzip: true, Split: 7, Resume: true}
	s.Answers["plain"] = Answer{CutStream: true}
	up := NewHTTP(t, s)
	a := DialHTTP(t, "2025-11-25", up.URL)
	a.Start()
	if m := a.Call("echo", `{"a":"b"}`); m.Text() != `{"a":"b"}` || up.Streams() != 1 {
		t.Errorf("%s, %d streams", m.Raw, up.Streams())
	}
	r := a.HTTP("POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain"}}`, http.Header{"Mcp-Session-Id": {a.Session()}})
	id, _, _ := strings.Cut(strings.TrimPrefix(string(r.Body), "id: "), "\n")
	if len(r.Frames) != 0 || id == "" {
		t.Fatalf("%s", r.Body)
	}
	r = a.HTTP("GET", "", http.Header{"Mcp-Session-Id": {a.Session()}, "Last-Event-Id": {id}})
	if len(r.Frames) != 1 || r.Frames[0].Text() != "ok" {
		t.Errorf("%s", r.Body)
	}
	for _, c := range []struct {
		header http.Header
		want   int
	}{
		{http.Header{}, 400}, {http.Header{"Mcp-Session-Id": {"x"}}, 404},
		{http.Header{"Mcp-Session-Id": {a.Session()}, "Mcp-Protocol-Version": {"2031-01-01"}}, 400},
		{http.Header{"Mcp-Session-Id": {a.Session()}}, 200},
	} {
		if r := a.HTTP("POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, c.header); r.Status != c.want {
			t.Errorf("%v: %d %s", c.header, r.Status, r.Body)
		}
	}
	up.Restart()
	again := DialHTTP(t, "2025-11-25", up.URL)
	again.SetSession(a.Session())
	if m := again.Call("echo", ""); m.Status != 404 {
		t.Errorf("after a restart: %+v", m)
	}
	if m := again.Hello(); m.Result == nil || again.Session() == a.Session() {
		t.Errorf("%s", m.Raw)
	}
	b := DialHTTP(t, Modern, up.URL)
	b.SetHeader("Mcp-Name", "other")
	if m := b.Call("echo", ""); m.Code() != -32020 || m.Status != 400 {
		t.Errorf("%+v", m)
	}
}

func TestBatches(t *testing.T) {
	batch := `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	up := NewStdio(t, script())
	a := StartStdio(t, "2025-03-26", up.Command()...)
	a.Start()
	a.Send(batch)
	if a.Wait("1").IsError() || a.Wait("2").IsError() || up.Executed("echo") != 1 {
		t.Errorf("%v", a.Frames())
	}
	web := NewHTTP(t, script())
	b := DialHTTP(t, "2025-03-26", web.URL)
	b.Start()
	b.Send(batch)
	if b.Wait("1").IsError() || b.Wait("2").IsError() || web.Executed("echo") != 1 {
		t.Errorf("%v", b.Frames())
	}
}

func TestNoise(t *testing.T) {
	s := script()
	s.Noise, s.Stderr = "listening", "warning"
	s.Answers["plain"] = Answer{Noise: "debug: plain"}
	up := NewStdio(t, s)
	a := StartStdio(t, "2025-06-18", up.Command()...)
	a.Start()
	a.Call("plain", "")
	up.Write([]byte("more"))
	a.Next(func(m Message) bool { return string(m.Raw) == "more" })
	a.WaitStderr("warning")
	if n := len(a.Frames()); n != 5 {
		t.Errorf("%d frames", n)
	}
	a.Close()
	up.WaitProcesses(t, 0)
}
