package authority_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// What the operator wrote, and agents are never told: words that stand in the task of
// the intent, in sentences of rules and in file names.
const (
	sealedRules  = "rules:\n- {name: work, allow: [fine, other], say: Quarterly audit of the vault.}\n- {name: writes, never: [\"*\"], effects: [execute], when: tool.name == \"zebra\", say: Quarterly audit of the zebra.}\n"
	sealedIntent = "task: prepare the quarterly audit\nexpires: 1h\ntools: [fine]\n"
	widerIntent  = "task: prepare the quarterly audit\nexpires: 1h\ntools: [fine, other]\n"
	sealedEffect = "effects: [{upstream: fixture, tools: {fine: read, other: read}}]\n"
)

// An office is a house with rules and effects of the operator's, and an agent whose run
// is sealed.
type office struct {
	*stage.House
	t     *testing.T
	id    string
	url   string // of the agent, where it is up's
	agent *mcptest.Agent
}

func opens(t *testing.T, w stage.Way, revision string) *office {
	t.Helper()
	script := mcptest.Script{
		Tools:   mcptest.List{Items: []mcptest.JSON{mcptest.Tool("fine", "Adds two numbers."), mcptest.Tool("other", "Adds three numbers.")}},
		Answers: map[string]mcptest.Answer{"fine": {Echo: true}, "other": {Echo: true}},
	}
	o := &office{House: stage.Make(t, w, script, stage.Options{Rules: sealedRules, Freshness: "0s"}), t: t}
	o.write("effects.yaml", sealedEffect)
	config, err := os.ReadFile(filepath.Join(o.Dir, "pratique.yaml"))
	if err = errors.Join(err, os.WriteFile(filepath.Join(o.Dir, "pratique.yaml"), append(config, "effects: {file: effects.yaml}\n"...), 0o600)); err != nil {
		t.Fatal(err)
	}
	file := o.write("intent.yaml", sealedIntent)
	if w.Guarded() {
		argv := o.Argv()
		o.agent = mcptest.StartStdio(t, revision, slices.Concat(argv[:2], []string{"--intent", file}, argv[2:])...)
		o.agent.Start()
	} else {
		o.Start()
		first := o.Agent(revision)
		first.Start()
		first.Tools()
		first.Close()
		var made struct {
			ID         string `json:"id"`
			Credential string `json:"credential"`
		}
		o.JSON(&made, "agents", "new", "--name", "clerk", "--profile", "personal", "--registry", base(t, o.House), "--key", filepath.Join(o.Data, "operator.jwk"))
		if out, errs, code := o.Run("intent", "seal", "--data", o.Data, "--agent", made.ID, "--yes", "--json", file); code != 0 {
			t.Fatalf("sealing: %d: %s%s", code, out, errs)
		}
		o.url = strings.Replace(o.URL(), credential(o.House), made.Credential, 1)
		o.agent = mcptest.DialHTTP(t, revision, o.url)
		o.agent.Start()
	}
	var shown struct {
		Intents []struct {
			Agent string `json:"agent"`
		} `json:"intents"`
	}
	o.JSON(&shown, "intent", "show", "--data", o.Data)
	if len(shown.Intents) != 1 {
		t.Fatalf("sealed: %+v", shown)
	}
	o.id = shown.Intents[0].Agent
	return o
}

func (o *office) write(name, text string) string {
	o.t.Helper()
	file := filepath.Join(o.Dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
	return file
}

// said is all that the operator said: the intent, the files, the effects.
func (o *office) said() string {
	o.t.Helper()
	all := output(o.t, o.House, "intent", "show", "--data", o.Data) +
		output(o.t, o.House, "effects", "list", "--config", filepath.Join(o.Dir, "pratique.yaml"), "--data", o.Data)
	for _, name := range []string{"rules.yaml", "effects.yaml", "intent.yaml", "pratique.yaml"} {
		text, err := os.ReadFile(filepath.Join(o.Dir, name))
		if err != nil {
			o.t.Fatal(err)
		}
		all += string(text)
	}
	return all
}

// bound wants the agent to be shown and to call exactly what is sealed.
func (o *office) bound(what string, a *mcptest.Agent) {
	o.t.Helper()
	if got := a.Tools(); !slices.Equal(got, []string{"fine"}) {
		o.t.Errorf("%s: listed %q", what, got)
	}
	stage.Refused(o.t, a.Call("other", `{}`), "outside_intent", "not_shown")
	if n := o.Up.Executed("other"); n != 0 {
		o.t.Errorf("%s: what is not sealed was executed", what)
	}
	if m := a.Call("fine", `{"n":1}`); m.IsError() {
		o.t.Errorf("%s: %.300s", what, m.Raw)
	}
}

// untold wants that nothing the agent got tells of task, rules' sentences or intent.
func (o *office) untold(text string) {
	o.t.Helper()
	for _, word := range []string{"quarterly", "Quarterly", "zebra", "effects.yaml", "rules.yaml", o.id} {
		if strings.Contains(text, word) {
			o.t.Errorf("an agent is told of %q: %.300s", word, text)
		}
	}
}

// TestSealedAgent: no method, parameter, header, path or command line that an agent has
// seals, widens, replaces, ends or shows an intent, a policy or an effect.
func TestSealedAgent(t *testing.T) {
	for _, w := range []stage.Way{stage.HTTPHTTP, stage.StdioStdio} {
		for _, revision := range []string{legacy, mcptest.Modern} {
			t.Run(string(w)+" "+revision, func(t *testing.T) {
				t.Parallel()
				o := opens(t, w, revision)
				o.bound("at first", o.agent)
				was := o.said()
				o.methods(revision)
				o.bound("after every method", o.agent)
				if !w.Guarded() {
					o.headers(revision)
					o.commands()
				}
				if now := o.said(); now != was {
					t.Errorf("what the operator said moved:\n%s\n%s", was, now)
				}
				for _, f := range o.agent.Frames() {
					o.untold(string(f.Raw))
				}
			})
		}
	}
}

// methods sends every method with everything that an intent, a rule or an effect could
// be said in, and calls what is not sealed with it.
func (o *office) methods(revision string) {
	meta := ""
	if revision == mcptest.Modern {
		meta = modernMeta
	}
	params := strings.ReplaceAll(fmt.Sprintf(words, meta), `"swapped"`, `"other"`)
	names := slices.Clone(wishes)
	for _, m := range mcp.Methods() {
		names = append(names, m.Name)
	}
	for _, name := range names {
		m, known := mcp.Lookup(name)
		switch {
		case name == "subscriptions/listen" || name == "initialize" || known && m.Notification && name == "notifications/cancelled":
		case known && m.Notification:
			o.agent.Notify(name, params)
		default:
			o.agent.Request(name, params)
		}
	}
	stage.Refused(o.t, o.agent.Request("tools/call", params), "outside_intent", "not_shown")
}

// wanted are headers that would be for an intent or a policy if there were such.
var wanted = []string{"Pratique-Intent", "X-Pratique-Intent", "Mcp-Intent", "Pratique-Policy", "X-Policy", "Pratique-Rules", "Pratique-Effect", "Mcp-Effect", "Pratique-Profile", "X-Agent-Id", "X-Operator", "Pratique-Shadow"}

// headers opens sessions with them, and puts words into the path and query.
func (o *office) headers(revision string) {
	o.t.Helper()
	file, err := os.ReadFile(filepath.Join(o.Dir, "intent.yaml"))
	if err != nil {
		o.t.Fatal(err)
	}
	a := mcptest.DialHTTP(o.t, revision, o.url)
	for _, name := range wanted {
		a.SetHeader(name, `{"tools":["*"],"allow":["*"],"effect":"read","profile":"watch"}`)
	}
	a.ClientInfo = mcptest.JSON(`{"name":"operator","version":"1","intent":{"tools":["*"]}}`)
	a.Start()
	o.bound("with headers", a)
	for _, f := range a.Frames() {
		o.untold(string(f.Raw))
	}
	a.Close()
	for _, more := range []string{"/intent", "/intent/seal", "/policy", "/effects", "?intent=none", "?profile=watch", "?policy=" + "allow", "/../../v1/intents", "%2f..%2fv1%2fintents"} {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			got := do(o.t, method, o.url+more, "Pratique-Intent", "*", strings.ReplaceAll(string(file), "fine", "other"))
			if method != "GET" && got.status < 400 {
				o.t.Errorf("%s %s: %d: %.200s", method, more, got.status, got.body)
			}
			o.untold(got.body)
		}
	}
	b := mcptest.DialHTTP(o.t, revision, o.url)
	b.Start()
	o.bound("after paths and queries", b)
	b.Close()
}

// commands gives the command line a key of the agent's own, and what it can know.
func (o *office) commands() {
	o.t.Helper()
	wider := o.write("wider.yaml", widerIntent)
	key := filepath.Join(o.t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(o.url[strings.LastIndex(o.url, "/")+1:]+"\n"), 0o600); err != nil {
		o.t.Fatal(err)
	}
	own := filepath.Join(stage.New(o.t, stage.HTTPHTTP, script(), stage.Options{}).Data, "operator.jwk")
	for k, want := range map[string]int{key: 4, own: 7} {
		for _, args := range [][]string{{"intent", "seal", "--agent", o.id}, {"intent", "run", "--registry", base(o.t, o.House)}} {
			out, errs, code := o.Run(append(args, "--data", o.Data, "--yes", "--key", k, "--json", wider)...)
			if code != want {
				o.t.Errorf("pratique %q with an agent's key: %d: %s%s", args, code, out, errs)
			}
		}
	}
	// The operator's own key does not widen it either, now that the agent was heard.
	if out, errs, code := o.Run("intent", "seal", "--data", o.Data, "--agent", o.id, "--yes", "--json", wider); code != 7 {
		o.t.Errorf("widening: %d: %s%s", code, out, errs)
	}
	o.bound("after commands", o.agent)
}
