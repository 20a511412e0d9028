package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/gateway/mcp"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/policy"
)

// TestOwnGuard: the spellings that name what is ours, and those that do not.
func TestOwnGuard(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	data := filepath.Join(home, ".pratique data")
	work := filepath.Join(dir, "work")
	for _, d := range []string{data, work, filepath.Join(dir, "deep")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(data, filepath.Join(work, "innocent")); err != nil {
		t.Skip("no links here")
	}
	if err := os.Symlink(home, filepath.Join(work, "up")); err != nil {
		t.Fatal(err)
	}
	own := Own{Data: data, Listeners: []string{"127.0.0.1:7070", "https://gate.example:8443", "http://[::1]"}, Home: home}
	local, remote := newGuard(own, work, true), newGuard(own, "", false)
	esc := func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "/", "%2F"), " ", "%20") }
	for _, c := range []struct {
		name, args  string
		here, there bool // found by a local and a remote upstream's guard
	}{
		{"the folder", q(data), true, true},
		{"a file in it", q(data + "/keys/root.jwk"), true, true},
		{"in an array in an object", `{"a":[{"b":[` + q(data) + `]}]}`, true, true},
		{"as a name", `{` + q(data) + `:1}`, true, true},
		{"in a command", q("cat '" + data + "/keys' | head"), true, true},
		{"doubled slashes", q(strings.ReplaceAll(data, "/", "//")), true, true},
		{"dots", q(home + "/./x/../.pratique data/keys"), true, true},
		{"home", q("~/.pratique data/x"), true, true},
		{"a variable", q("$HOME/.pratique data"), true, true},
		{"trailing dots", q(home + "/.pratique data./keys"), true, true},
		{"a URL", q("file://" + data + "/k"), true, true},
		{"a URL with a host", q("file://localhost" + data), true, true},
		{"percent", q("file://" + strings.ReplaceAll(data, " ", "%20") + "/k"), true, true},
		{"percent twice", q(strings.ReplaceAll(esc(data), "%", "%25")), true, true},
		{"JSON inside", q(`{"path":` + q(data+"/x") + `}`), true, true},
		{"JSON inside, twice", q(q(`{"path":` + q(data+"/x") + `}`)), true, true},
		{"escaped", q(strings.ReplaceAll(data, " ", `\ `)), true, true},
		{"backslashes", q(strings.ReplaceAll(data, "/", `\`)), true, true},
		{"wildcards", q(home + "/.prat*/keys"), true, true},
		{"a copy option", q("host:" + data + "/x"), true, true},
		{"in a long text", q(strings.Repeat("word and ", 4000) + data + "/keys " + strings.Repeat("word ", 10)), true, true},
		{"a link", q(work + "/innocent/keys"), true, false},
		{"a link, relative", q("innocent"), true, false},
		{"a link above", q("up/.pratique data/keys"), true, false},
		{"out of the folder and back", q("../home/.pratique data"), true, false},

		{"apart: a folder above and the rest", `{"cwd":` + q(filepath.Dir(home)) + `,"path":` + q("home/.pratique data/keys/root.jwk") + `}`, true, true},
		{"apart, in other objects", `{"path":"./.pratique data","o":{"cwd":"~/"}}`, true, true},
		{"apart, in a command", `{"cwd":` + q(filepath.Dir(home)) + `,"command":"cat 'home/.pratique data/x'"}`, true, true},
		{"a link behind many others", `[` + strings.Repeat(q(work+"/none")+`,`, 3000) + q(work+"/innocent/keys") + `]`, true, false},
		{"a link behind many words", `[` + q(strings.Repeat("a/b ", 900)) + `,` + q("cat "+work+"/innocent/keys") + `]`, true, false},
		{"more paths than are looked up", `[` + strings.Repeat(q("a/b")+`,`, 1<<16) + q(work+"/innocent/keys") + `]`, true, false},

		{"a listener", q("http://127.0.0.1:7070/v1/tools"), true, true},
		{"by name", q("localhost:7070"), true, true},
		{"by a longer name", q("http://x.localhost.:7070"), true, true},
		{"short", q("http://127.1:7070/"), true, true},
		{"decimal", q("http://2130706433:7070/"), true, true},
		{"hexadecimal", q("http://0x7f000001:7070/"), true, true},
		{"octal", q("http://0177.0.0.1:7070"), true, true},
		{"any address", q("0.0.0.0:7070"), true, true},
		{"version 6", q("http://[::1]:7070/"), true, true},
		{"version 6, mapped", q("http://[::ffff:127.0.0.1]:7070/"), true, true},
		{"with a user", q("http://u:p@127.0.0.1:7070/"), true, true},
		{"full-width", q("http://１２７.0.0.1:7070/"), true, true},
		{"apart", `{"host":"127.0.0.1","port":7070}`, true, true},
		{"apart, as text", `{"port":"7070","host":"localhost"}`, true, true},
		{"the outside name", q("https://GATE.example:8443/mcp"), true, true},
		{"the scheme's port", q("http://localhost/x"), true, true},
		{"percent in a URL", q("http%3A%2F%2F127.0.0.1%3A7070"), true, true},

		{"a folder above and another", `{"cwd":` + q(home) + `,"path":"src/main.go","pattern":"*.go","text":"pratique data"}`, false, false},
		{"another folder", q(home + "/.pratique data2/x"), false, false},
		{"its parent", q(home), false, false},
		{"a search", q(home + "/**/*.go"), false, false},
		{"a word like it", q("pratique data"), false, false},
		{"another port", q("http://127.0.0.1:70701/"), false, false},
		{"another host", q("http://192.0.2.1:7070/"), false, false},
		{"numbers", `{"count":0,"port":7070,"n":1}`, false, false},
		{"a time", q("at 12:7070"), false, false},
		{"prose", q("The data is in the folder; see https://example.test/a."), false, false},
		{"nothing", `{"a":null,"b":[],"c":""}`, false, false},
	} {
		if got := local.names([]byte(c.args)); got != c.here {
			t.Errorf("%s (local): %v, want %v", c.name, got, c.here)
		}
		if got := remote.names([]byte(c.args)); got != c.there {
			t.Errorf("%s (remote): %v, want %v", c.name, got, c.there)
		}
		for _, params := range []string{
			`{"name":"it","arguments":{"v":` + c.args + `}}`, `{"_meta":{"a/b":` + c.args + `},"arguments":{"v":"x/y"},"name":"it"}`,
			`{"name":"it" , "arguments" : {"v":{"w":` + c.args + `}} , "other":1}`,
		} {
			f := ask(methodCall, params)
			p, err := readParams(&f, 1<<24)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := args.Parse(p.args)
			if err != nil {
				t.Fatal(err)
			}
			if got := local.namesCall(&p, tree); got != c.here {
				t.Errorf("%s (local): %v in %.80s", c.name, got, params)
			}
			if got := remote.namesCall(&p, tree); got != c.there {
				t.Errorf("%s (remote): %v in %.80s", c.name, got, params)
			}
			if local.namesCall(&p, nil) != c.here {
				t.Errorf("%s: otherwise where nothing was read", c.name)
			}
			tree.Release()
		}
	}
	var none *guard
	if none.names([]byte(q(data))) {
		t.Error("no guard found something")
	}
}

func q(s string) string { return string(mcp.Quote(s)) }

// No profile and no rule switches the guard off (RULES.md 13).
func TestOwnGuardHoldsInEveryProfile(t *testing.T) {
	rules, err := policy.Load([]byte("rules:\n  - name: all\n    allow: [\"*\"]\n    methods: [tools/call, resources/read]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, profile := range []policy.Profile{policy.Watch, policy.Personal, policy.Strict} {
		u := newServer(tool("read"))
		u.lists[methodResources] = []string{`{"uri":"file:///srv/own-data/keys","name":"k"}`, `{"uri":"file:///srv/other","name":"o"}`}
		h := newHouse(t, u, profile, func(o *Options) { o.Policy = policy.Of(rules) })
		s := h.shown(newPerson())
		for _, f := range []mcp.Frame{
			ask(methodCall, `{"name":"read","arguments":{"path":"/srv/own-data/x"}}`),
			ask(methodCall, `{"name":"read","arguments":{"url":"http://localhost:7070/"}}`),
			ask(methodCall, `{"name":"read","arguments":{},"extra":{"path":"/srv/own-data"}}`),
			ask(methodRead, `{"uri":"file:///srv/own-data/keys"}`),
		} {
			if a := s.Handle(ctx, f, newPerson()); reason(a) != "own_guard" {
				t.Errorf("%s, %s: %s", profile, f.Params, a.Bytes())
			}
		}
		if n := len(u.did); n != 0 {
			t.Errorf("%s: %d calls were executed", profile, n)
		}
	}
}

// TestOwnGuardCost: text made to be read in many ways costs no more than a few of
// them; a request may have 16 MiB of it (RULES.md 40).
func TestOwnGuardCost(t *testing.T) {
	g := newGuard(Own{Data: "/srv/own-data", Listeners: []string{"127.0.0.1:7070"}, Home: "/home/u"}, "/nowhere", true)
	s := newSweep(g)
	if s.text(strings.Repeat(`%2525252541\\\\\\\\x41é `, 100), 0) {
		t.Error("it names nothing of ours")
	}
	if len(s.seen) > 60 {
		t.Errorf("read in %d ways", len(s.seen))
	}
	begun := time.Now()
	if g.names([]byte(q(strings.Repeat(":7070 ", 1<<16)))) || time.Since(begun) > 2*time.Second {
		t.Errorf("ports alone: %v", time.Since(begun))
	}
}

func FuzzOwnGuard(f *testing.F) {
	f.Add(`{"a":"/srv/own-data"}`)
	f.Add(`"http://127.1:7070"`)
	f.Add(`"%25252f"`)
	f.Add("\"\xff\"")
	f.Add(`["~","\\\\u0000"]`)
	g := newGuard(Own{Data: "/srv/own-data", Listeners: []string{"127.0.0.1:7070"}, Home: "/home/u"}, "/nowhere", true)
	f.Fuzz(func(t *testing.T, s string) {
		g.names([]byte(s)) // whatever it is, no panic
		g.namesText(s)
		if !g.namesText(s + " /srv/own-data ") {
			t.Error("what stands beside it hides it")
		}
	})
}

// TestOwnFiles: files that decide what agents may do are ours as the data folder is,
// wherever they lie and by whatever way they are named.
func TestOwnFiles(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	rules := filepath.Join(dir, "conf", "rules.yaml")
	for _, d := range []string{work, filepath.Dir(rules)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(rules, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(rules, filepath.Join(work, "another-name.txt")); err != nil {
		t.Skip("no links here")
	}
	g := newGuard(Own{Files: []string{rules}}, work, true)
	for text, want := range map[string]bool{
		rules: true, "../conf/rules.yaml": true, "another-name.txt": true, strings.ToUpper(rules[:1]) + rules[1:] + "/../rules.yaml": true,
		filepath.Join(dir, "conf", "rules.yaml.bak"): false, filepath.Join(dir, "conf", "other.yaml"): false, "rules.yaml": false,
		"the rules are in rules.yaml of the operator": false,
	} {
		if got := g.names([]byte(`{"path":` + q(text) + `}`)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
