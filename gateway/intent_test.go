package gateway

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/intent"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/runs"
)

// A sealer seals intents for the agents of a house.
type sealer struct {
	h   *house
	key *envelope.Signer
}

// sealedHouse is a house whose runs can be sealed, with the upstream seen once.
func sealedHouse(t *testing.T, u *server, profile policy.Profile, tune ...func(*Options)) *sealer {
	t.Helper()
	private, err := keyring.NewPrivate(envelope.EdDSA, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := envelope.NewSigner(envelope.Intent, private)
	if err != nil {
		t.Fatal(err)
	}
	operators := envelope.NewVerifier(envelope.KeysFunc(func(typ envelope.Type, kid credentials.KeyID) (envelope.Key, error) {
		if typ != envelope.Intent || kid != key.Key().ID {
			return envelope.Key{}, envelope.ErrUnknownKey
		}
		return key.Key(), nil
	}))
	h := newHouse(t, u, profile, append(tune, func(o *Options) {
		if o.Runs, err = runs.Open(filepath.Join(t.TempDir(), "runs"), runs.Options{Intents: operators, Audience: "log", Now: o.Now}); err != nil {
			t.Fatal(err)
		}
	})...)
	h.crew.add("third", "01JZ0000000000000000000003", string(profile))
	s := h.open("third", newPerson())
	for _, m := range []string{methodTools, methodPrompts, methodResources, methodTemplates} {
		s.Handle(t.Context(), ask(m, ""), newPerson())
	}
	return &sealer{h, key}
}

// seal seals or narrows; kinds are those of the names before a colon, else tools.
func (x *sealer) seal(agent credentials.AgentID, life string, rules string, names ...string) (*intent.Intent, error) {
	x.h.t.Helper()
	b, err := x.h.store.Get(x.h.u.Place().Origin.String())
	if err != nil {
		x.h.t.Fatal(err)
	}
	text := "task: a\nexpires: " + life + "\n" + rules
	byKind := map[string][]string{}
	var items []intent.Item
	for _, n := range names {
		kind, name := "tool", n
		if k, rest, ok := strings.Cut(n, "|"); ok {
			kind, name = k, rest
		}
		byKind[kind] = append(byKind[kind], fmt.Sprintf("%q", name))
		a := b.Accepted(baseline.Key{Kind: baseline.Kind(kind), Name: name})
		if a == nil {
			x.h.t.Fatalf("%s %s was not seen", kind, name)
		}
		items = append(items, intent.Item{Origin: b.Origin(), Kind: intent.Kind(kind), Name: name, ID: a.ID, Digest: a.Digest})
	}
	for kind, list := range byKind {
		text += kind + "s: [" + strings.Join(list, ", ") + "]\n"
	}
	p, err := intent.Parse([]byte(text))
	if err != nil {
		x.h.t.Fatalf("%v\n%s", err, text)
	}
	was, err := x.h.opt.Runs.Sealed(agent)
	if err != nil {
		x.h.t.Fatal(err)
	}
	var old *intent.Intent
	if was != nil {
		old = was.Intent
		p.Before(old.Expires(), time.Now())
	}
	i, err := p.Seal(agent, false, items, time.Now())
	if err != nil {
		x.h.t.Fatal(err)
	}
	token, err := x.h.opt.Runs.SignIntent(x.key, i, old, false)
	if err != nil {
		x.h.t.Fatal(err)
	}
	_, err = x.h.opt.Runs.Seal(x.h.t.Context(), token, i.Text(), x.h.book.Note)
	return i, err
}

const agent1 = credentials.AgentID("agt_" + ulid1)

// TestIntentBinds: of a sealed run only what the intent names is listed and called, by
// the methods that it names, and every entry says which intent that was (RULES.md 4, 32).
func TestIntentBinds(t *testing.T) {
	u := newServer(tool("note"), tool("plan"), tool("other"))
	u.set(methodPrompts, `{"name":"greet"}`, `{"name":"hidden"}`)
	u.set(methodResources, `{"uri":"file:///srv/a","name":"a"}`, `{"uri":"file:///srv/b","name":"b"}`)
	x := sealedHouse(t, u, policy.Personal)
	sealed, err := x.seal(agent1, "1h", "", "note", "plan", "prompt|greet", "resource|file:///srv/a")
	if err != nil {
		t.Fatal(err)
	}
	p := newPerson()
	s := x.h.open("first", p)
	for method, want := range map[string][2]string{methodTools: {"note", "other"}, methodPrompts: {"greet", "hidden"}, methodResources: {"/srv/a", "/srv/b"}} {
		a := s.Handle(t.Context(), ask(method, ""), p)
		if !strings.Contains(string(a.Result), want[0]) || strings.Contains(string(a.Result), want[1]) {
			t.Errorf("%s: %s", method, a.Bytes())
		}
	}
	for _, c := range []struct {
		method, params string
		ok             bool
	}{
		{methodCall, `{"name":"note","arguments":{}}`, true}, {methodCall, `{"name":"other","arguments":{}}`, false}, {methodCall, `{"name":"note ","arguments":{}}`, false},
		{methodCall, `{"name":"NOTE","arguments":{}}`, false}, {methodPrompt, `{"name":"greet"}`, true}, {methodPrompt, `{"name":"hidden"}`, false},
		{methodRead, `{"uri":"file:///srv/a"}`, true}, {methodRead, `{"uri":"file:///srv/b"}`, false}, {methodSubscribe, `{"uri":"file:///srv/a"}`, false},
		{methodComplete, `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"x","value":"y"}}`, false}, {methodLevel, `{"level":"debug"}`, false},
	} {
		n := len(u.did)
		a := s.Handle(t.Context(), ask(c.method, c.params), p)
		if reached := len(u.did) > n; reached != c.ok {
			t.Errorf("%s %s: reached the upstream: %v: %s", c.method, c.params, reached, a.Bytes())
		}
	}
	for _, e := range x.h.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Agent == agent1 }) {
		if e.Intent != sealed.Digest() {
			t.Errorf("an entry without its intent: %+v", e)
		}
		if e.Verb == "deny" && e.Reason != string(policy.OutsideIntent) && e.Name != "note " && e.Name != "NOTE" && e.Name != "" && e.Method == methodCall {
			t.Errorf("%+v", e)
		}
	}
	if a := x.h.open("second", p).Handle(t.Context(), ask(methodTools, ""), p); !strings.Contains(string(a.Result), "other") {
		t.Errorf("another agent is bound too: %s", a.Bytes())
	}
	if _, err := x.seal("agt_"+ulid2, "1h", "", "note"); !errors.Is(err, runs.ErrPresented) {
		t.Errorf("sealed after it was presented: %v", err)
	}
}

// TestIntentNarrows: a narrower intent counts from the next call on, and the agent is
// told that its lists differ.
func TestIntentNarrows(t *testing.T) {
	u := newServer(tool("note"), tool("plan"))
	x := sealedHouse(t, u, policy.Personal)
	if _, err := x.seal(agent1, "1h", "", "note", "plan"); err != nil {
		t.Fatal(err)
	}
	p := newPerson()
	s := x.h.open("first", p)
	s.Handle(t.Context(), ask(methodTools, ""), p)
	call := func(name string) string {
		return string(s.Handle(t.Context(), ask(methodCall, `{"name":"`+name+`","arguments":{}}`), p).Bytes())
	}
	if a := call("plan"); !strings.Contains(a, `"ok"`) {
		t.Fatal(a)
	}
	if _, err := x.seal(agent1, "1h", "", "note"); err != nil {
		t.Fatal(err)
	}
	if a := call("plan"); !strings.Contains(a, "outside_intent") || u.executed(methodCall, "plan") != 1 {
		t.Error(a)
	}
	if a := call("note"); !strings.Contains(a, `"ok"`) {
		t.Error(a)
	}
	for {
		select {
		case f := <-p.notify:
			if f.Method == "notifications/tools/list_changed" {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nobody told the agent")
		}
	}
}

// TestIntentOutlivesItsRun: after the end of the run that was sealed nothing is allowed
// any more.
func TestIntentOutlivesItsRun(t *testing.T) {
	u := newServer(tool("note"))
	x := sealedHouse(t, u, policy.Personal)
	if _, err := x.seal(agent1, "1h", "", "note"); err != nil {
		t.Fatal(err)
	}
	p := newPerson()
	s := x.h.open("first", p)
	s.Handle(t.Context(), ask(methodTools, ""), p)
	if a := s.Handle(t.Context(), ask(methodCall, `{"name":"note","arguments":{}}`), p); !strings.Contains(string(a.Result), `"ok"`) {
		t.Fatalf("%s", a.Bytes())
	}
	if err := x.h.opt.Runs.End(agent1, "operator"); err != nil {
		t.Fatal(err)
	}
	s = x.h.open("first", p)
	if a := s.Handle(t.Context(), ask(methodTools, ""), p); strings.Contains(string(a.Result), "note") {
		t.Errorf("%s", a.Bytes())
	}
	s.Handle(t.Context(), ask(methodCall, `{"name":"note","arguments":{}}`), p)
	if n := u.executed(methodCall, "note"); n != 1 {
		t.Errorf("executed %d times", n)
	}
	late := x.h.book.of(func(e registry.Entry) bool {
		return e.Type == registry.EntryDecision && e.Agent == agent1 && e.Reason == string(policy.IntentExpired)
	})
	if len(late) != 1 || late[0].Intent.IsZero() {
		t.Errorf("%+v", late)
	}
}

// TestIntentFailsClosed: where the intent cannot be read, or what it makes cannot be
// kept for replay, nothing is allowed and nothing is shown.
func TestIntentFailsClosed(t *testing.T) {
	u := newServer(tool("note"))
	full := errors.New("full")
	var fail error
	kept := map[credentials.Digest]bool{}
	x := sealedHouse(t, u, policy.Personal, func(o *Options) {
		o.Keep = func(p policy.Policy) error { kept[p.Digest()] = true; return fail }
	})
	if _, err := x.seal(agent1, "1h", "", "note"); err != nil {
		t.Fatal(err)
	}
	p := newPerson()
	fail = full
	s := x.h.open("first", p)
	closed := func(what string) {
		t.Helper()
		if a := s.Handle(t.Context(), ask(methodTools, ""), p); strings.Contains(string(a.Result), "note") {
			t.Errorf("%s: %s", what, a.Bytes())
		}
		a := s.Handle(t.Context(), ask(methodCall, `{"name":"note","arguments":{}}`), p)
		if n := u.executed(methodCall, "note"); n != 0 || a.Shape != mcp.Result || !strings.Contains(string(a.Result), "blocked_by_policy") {
			t.Errorf("%s: %d: %s", what, n, a.Bytes())
		}
	}
	closed("not kept")
	fail = nil
	s.Handle(t.Context(), ask(methodTools, ""), p)
	if a := s.Handle(t.Context(), ask(methodCall, `{"name":"note","arguments":{}}`), p); !strings.Contains(string(a.Result), `"ok"`) {
		t.Fatalf("%s", a.Bytes())
	}
	decided := x.h.book.of(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Verb == "allow" })
	if len(decided) != 1 || !kept[decided[0].Policy] {
		t.Errorf("decided by what is not kept: %+v", decided)
	}
	if _, err := policy.Read(policy.Text(policy.Under(policy.Of(nil), &policy.Sealed{}))); err != nil {
		t.Errorf("what is kept does not read: %v", err)
	}
}
