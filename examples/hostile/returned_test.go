package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

// said is what the item of a word returns or says, its name, and the words: the bad
// ones or the twin's.
func (w *word) said(i int, bad bool) (value mcptest.JSON, name, words string) {
	words, name = w.good, bare("twin_", w.place)
	if bad {
		words, name = or(w.bad, payloads[i%len(payloads)]), bare("say_", w.place)
	}
	return mcptest.JSON(fill(w.shape, words, name)), name, words
}

// asks tells whether the word comes in a question.
func (w *word) asks() bool { return strings.Contains(w.via, "/create") }

// serve puts an item that returns or says the word into a script.
func (w *word) serve(sc *mcptest.Script, value mcptest.JSON, name string) {
	a := mcptest.Answer{Result: value}
	switch w.via {
	case "error":
		a = mcptest.Answer{Error: value}
	case "notifications/progress":
		a = mcptest.Answer{Progress: 1, Message: mcptest.Text(value)}
	case "notifications/message":
		a = mcptest.Answer{Logs: []mcptest.JSON{mcptest.JSON(`"begun"`), value, mcptest.JSON(`"done"`)}}
	case "prompt":
		sc.Prompts.Items = append(sc.Prompts.Items, mcptest.JSON(`{"name":"`+name+`"}`))
		sc.Answers["prompt:"+name] = a
		return
	case "complete":
		sc.Prompts.Items = append(sc.Prompts.Items, mcptest.JSON(`{"name":"`+name+`","arguments":[{"name":"`+name+`"}]}`))
		sc.Answers["complete:"+name] = a
		return
	case "resource":
		sc.Resources.Items = append(sc.Resources.Items, mcptest.JSON(`{"uri":"test://`+name+`","name":"notes"}`))
		sc.Answers["resource:test://"+name] = a
		return
	case "template":
		sc.Templates.Items = append(sc.Templates.Items, mcptest.JSON(`{"uriTemplate":"test://`+name+`/{id}","name":"notes"}`))
		sc.Answers["resource:test://"+name+"/7"] = a
		return
	}
	if w.asks() {
		a = mcptest.Answer{Questions: []mcptest.Question{{Method: w.via, Params: value}}}
	}
	sc.Tools.Items = append(sc.Tools.Items, mcptest.Tool(name, "Reads a page."))
	sc.Answers[name] = a
}

// use asks for what the item returns. All frames that came with it come back too: log
// messages may take another way than the answer, and come after it.
func (w *word) use(s *scene, a *mcptest.Agent, name string) (mcptest.Message, []mcptest.Message) {
	before := len(a.Frames())
	method, params := "tools/call", `{"name":"`+name+`","arguments":{}}`
	switch w.via {
	case "notifications/progress":
		params = `{"name":"` + name + `","arguments":{},"_meta":{"progressToken":"` + name + `"}}`
	case "notifications/message":
		params = `{"name":"` + name + `","arguments":{},"_meta":{"io.modelcontextprotocol/logLevel":"debug"}}`
		if a.Revision < mcptest.Modern {
			params = `{"name":"` + name + `","arguments":{}}`
		}
	case "prompt":
		method, params = "prompts/get", `{"name":"`+name+`"}`
	case "complete":
		method, params = "completion/complete", `{"ref":{"type":"ref/prompt","name":"`+name+`"},"argument":{"name":"`+name+`","value":"o"}}`
	case "resource":
		method, params = "resources/read", `{"uri":"test://`+name+`"}`
	case "template":
		method, params = "resources/read", `{"uri":"test://`+name+`/7"}`
	}
	m := a.Request(method, params)
	if w.via == "notifications/message" && !w.astray(s) {
		a.Next(func(f mcptest.Message) bool {
			return f.Method == w.via && string(mcptest.Path(f.Params, "data")) == `"done"`
		})
	}
	return m, a.Frames()[before:]
}

// got is the value of the word's shape as it reached the agent; nil if it did not.
func (w *word) got(rev string, m mcptest.Message, frames []mcptest.Message) mcptest.JSON {
	switch {
	case w.via == "error":
		return m.Error
	case w.asks() && rev == mcptest.Modern:
		return mcptest.Path(m.Result, "inputRequests", "q0", "params")
	case w.asks() || strings.HasPrefix(w.via, "notifications/"):
		for _, f := range frames {
			data := mcptest.Path(f.Params, "data")
			switch {
			case f.Method != w.via || string(data) == `"begun"` || string(data) == `"done"`:
			case w.via == "notifications/progress":
				return mcptest.Path(f.Params, "message")
			case w.via == "notifications/message":
				return data
			default:
				return f.Params
			}
		}
		return nil
	}
	return m.Result
}

// astray tells whether nobody hears the word: in the stateless era a log message
// belongs to a request, and from a process that serves several it does not say to
// which.
func (w *word) astray(s *scene) bool {
	return w.via == "notifications/message" && s.modern() && !s.way.Remote()
}

// at is where the word stands in what the inspector had.
func (w *word) at(rev, words string) string {
	path := strings.ReplaceAll(w.path, "«W»", words)
	if w.asks() && rev == mcptest.Modern {
		return "inputRequests.q0.params." + path
	}
	return path
}

// returned: what comes back, and what is said meanwhile.
func (s *scene) returned(crossing int) {
	sc := mcptest.Script{Answers: map[string]mcptest.Answer{}}
	for i := range words {
		for _, bad := range []bool{true, false} {
			value, name, _ := words[i].said(i, bad)
			words[i].serve(&sc, value, name)
		}
	}
	h := stage.New(s, s.way, sc, stage.Options{})
	a := h.Agent(s.rev)
	a.Answer = func(mcptest.Message) mcptest.JSON { return mcptest.JSON(`{"action":"decline"}`) }
	a.Start()
	all(a)
	type outcome struct {
		m    mcptest.Message
		sent mcptest.JSON
		got  mcptest.JSON
	}
	bad := make([]outcome, len(words))
	for i := range words {
		w := &words[i]
		value, name, _ := w.said(i, true)
		m, frames := w.use(s, a, name)
		bad[i] = outcome{m, value, w.got(s.rev, m, frames)}
		value, name, _ = w.said(i, false)
		m, frames = w.use(s, a, name)
		got := w.got(s.rev, m, frames)
		if w.astray(s) {
			if got != nil {
				s.Errorf("%s: a message of no request reached somebody: %s", w.place, got)
			}
			continue
		}
		if len(differences("", value, got)) != 0 {
			s.Errorf("%s: the twin is %.600s, sent was %s", w.place, got, value)
		}
	}
	held := map[string][]stage.Held{}
	for _, x := range h.Quarantine() {
		held[x.Name] = append(held[x.Name], x)
	}
	adrift := held[""] // of no call that is known
	slices.SortFunc(adrift, func(a, b stage.Held) int { return cmp.Compare(a.ID, b.ID) })
	entries := map[string][]registry.Entry{}
	for _, e := range h.Entries() {
		if e.Hold != "" {
			entries[e.Hold] = append(entries[e.Hold], e)
		}
	}
	for i := range words {
		w := &words[i]
		_, name, order := w.said(i, true)
		item := name
		switch w.via {
		case "resource", "template":
			item = "test://" + name
			if w.via == "template" {
				item += "/{id}"
			}
		}
		xs := held[item]
		delete(held, item)
		if w.via == "notifications/message" && !s.way.Remote() && len(adrift) > 0 {
			xs, adrift = adrift[:1], adrift[1:]
		}
		if len(xs) != 1 || xs[0].State != "withheld" {
			s.Errorf("%s: held is %+v", w.place, xs)
			continue
		}
		x := xs[0]
		s.withholds(w, x, bad[i].m, bad[i].sent, bad[i].got, order)
		if es := entries[x.ID]; len(es) != 1 || es[0].Verdict != x.Verdict {
			s.Errorf("%s: the record of %s says %+v", w.place, x.ID, es)
		}
		if looks(i, crossing) {
			s.shown(h, x.ID, w.place, w.at(s.rev, order), order, false)
		}
	}
	if delete(held, ""); len(held) != 0 || len(adrift) != 0 {
		s.Errorf("more is held: %+v %+v", held, adrift)
	}
	s.silent(a)
}

// withholds wants the agent to have got what was held of its part only: nothing
// where the whole of it is held, else all of it but the text with the order.
func (s *scene) withholds(w *word, x stage.Held, m mcptest.Message, sent, got mcptest.JSON, order string) {
	s.Helper()
	shown := 0
	switch {
	case w.astray(s):
		if got != nil {
			s.Errorf("%s: came: %s", w.place, got)
			shown++
		}
	case x.Cut:
		diff := differences("", sent, got)
		want, _, _ := strings.Cut(strings.ReplaceAll(w.path, "«W»", order), "(")
		want = strings.TrimPrefix(want, "error.")
		switch w.via {
		case "notifications/progress":
			want = ""
		case "notifications/message":
			want = strings.TrimPrefix(strings.TrimPrefix(want, "data"), ".")
		}
		notice := "[removed by pratique: call_"
		if x.Call == "" { // outside of any call that is known
			notice = "[removed by pratique]"
		}
		if len(diff) != 1 || diff[0] != want || !strings.Contains(plainest(got), notice) {
			s.Errorf("%s: differs at %q, not at %q alone: %.600s", w.place, diff, want, got)
			shown++
		}
	case !strings.HasPrefix(w.via, "notifications/") && (s.modern() || !w.asks()):
		if r, ok := stage.RefusalOf(m); !ok || r.Reason != "result_held" || r.Invoked != "true" || r.Ref != x.Call && !w.asks() {
			s.Errorf("%s: not held: %+v: %.600s", w.place, r, m.Raw)
			shown++
		}
	case got != nil || m.IsError():
		s.Errorf("%s: came: %s, with %.300s", w.place, got, m.Raw)
		shown++
	}
	if x.Cut && x.Verdict == "hostile" {
		s.Errorf("%s: hostile, and not held whole: %+v", w.place, x)
	}
	note := "held whole, " + x.Verdict
	if x.Cut {
		note = "cut out, " + x.Verdict
	}
	s.tally(row{vector: "order in " + or(w.via, "result") + ": " + w.place, tries: 1, done: shown, note: note})
}

// plainest is a JSON text with what is base64 in it read.
func plainest(v mcptest.JSON) string {
	out := string(v)
	for _, s := range strings.Split(out, `"`) {
		if b, err := base64.StdEncoding.DecodeString(s); err == nil && len(b) > len(mark) {
			out += string(b)
		}
	}
	return out
}

// differences are the places at which two values are not the same, byte for byte. A
// result may have a label of ours in its _meta, and say that it is complete.
func differences(path string, a, b mcptest.JSON) (out []string) {
	if a.Kind() != b.Kind() || a.Kind() != '{' && a.Kind() != '[' {
		if string(a) != string(b) {
			out = append(out, path)
		}
		return out
	}
	if a.Kind() == '[' {
		var x, y []mcptest.JSON
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || len(x) != len(y) {
			return []string{path}
		}
		for i := range x {
			out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])...)
		}
		return out
	}
	var x, y map[string]mcptest.JSON
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return []string{path}
	}
	for name, v := range y {
		sub := strings.TrimPrefix(path+"."+name, ".")
		ours := path == "" && (name == "resultType" || name == "_meta" && x[name] == nil && mcptest.Path(v, "dev.pratique/label") != nil) ||
			path == "_meta" && name == "dev.pratique/label"
		if x[name] == nil && !ours {
			out = append(out, sub)
		}
	}
	for name, v := range x {
		out = append(out, differences(strings.TrimPrefix(path+"."+name, "."), v, y[name])...)
	}
	return out
}

// A greeting is one thing that a server says of itself, and how the agent is told of it.
type greeting struct {
	place, kind, path string
	set               func(sc *mcptest.Script, words string)
	good              string
	bad               string
}

var greetings = []greeting{
	{"instructions", "instructions", "instructions", func(sc *mcptest.Script, w string) { sc.Instructions = w }, "Use add for sums.", payloads[0]},
	{"title", "server", "title", info(`{"name":"fixture","version":"1","title":"«W»"}`), "Notes", payloads[1]},
	{"name", "server", "name", info(`{"name":"«W»","version":"1"}`), "fixture", payloads[5]},
	{"description", "server", "description", info(`{"name":"fixture","version":"1","description":"«W»"}`), "Notes of a house.", payloads[2]},
	{"icon", "server", "icons[0].src", info(`{"name":"fixture","version":"1","icons":[{"src":"«W»"}]}`), "https://notes.example.test/n.png", "javascript:fetch('https://quokka.example.test/')"},
}

func info(shape string) func(*mcptest.Script, string) {
	return func(sc *mcptest.Script, w string) { sc.ServerInfo = mcptest.JSON(fill(shape, w, "")) }
}

// server: what a server says of itself. Each is withheld alone, so what else it says
// and its tools are there.
func (s *scene) server() {
	for i := range greetings {
		if i > 1 && !everything {
			break
		}
		s.greeted(&greetings[i])
	}
	s.greeted(nil)
}

// greeted meets a server that says one bad thing of itself; nil: none.
func (s *scene) greeted(g *greeting) {
	sc := innocent()
	info(`{"name":"fixture","version":"1","title":"Notes","description":"Notes of a house.","icons":[{"src":"https://notes.example.test/n.png"}]}`)(&sc, "")
	sent := sc
	if g != nil {
		g.set(&sc, g.bad)
	}
	h := stage.New(s, s.way, sc, stage.Options{})
	a := h.Agent(s.rev)
	hello := a.Start()
	names := all(a)
	if !slices.Contains(names, "add") || !slices.Contains(names, "greet") {
		s.Errorf("listed: %q", names)
	}
	said := mcptest.Path(hello.Result, "serverInfo")
	if s.modern() {
		said = mcptest.Path(hello.Result, "_meta", "io.modelcontextprotocol/serverInfo")
	}
	bad := g != nil && g.kind == "server"
	if same := len(differences("", sent.ServerInfo, said)) == 0; same == bad {
		s.Errorf("the server is shown as %s, sent was %s", said, sc.ServerInfo)
	}
	if got := mcptest.Text(hello.Result, "instructions"); got != sent.Instructions && (g == nil || g.kind == "server") {
		s.Errorf("the instructions are %q", got)
	}
	held := h.Quarantine()
	switch {
	case g == nil:
		if len(held) != 0 {
			s.Errorf("withheld of an innocent server: %+v", held)
		}
	case len(held) != 1 || held[0].Kind != g.kind || held[0].State != "withheld":
		s.Errorf("%s: withheld is %+v", g.place, held)
	default:
		s.shown(h, held[0].ID, g.place, g.path, g.bad, false)
		s.tally(row{vector: "order in what a server says of itself: " + g.place, tries: 1, note: "withheld, " + held[0].Verdict})
	}
	s.silent(a)
}
