package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/args"
	"github.com/pratique-dev/pratique/labels/guard"
)

func Example() {
	set, err := guard.Compile(nil)
	if err != nil {
		panic(err)
	}
	tree, err := args.Parse([]byte(`{"project_id":"1","options":"{\"commit\":{\"branch\":\"refs/heads/main\"}}"}`))
	if err != nil {
		panic(err)
	}
	for _, v := range set.Check(guard.Call{Tool: "create_commit", Method: "tools/call", Args: tree}) {
		fmt.Println(v.Path, v.Guard, v.Why)
	}
	// Output: /options!/commit/branch ref The destination is a protected ref, or can be taken for one.
}

func ExampleConstrain() {
	set, err := guard.Constrain(map[string]guard.Constraint{"file_path": {File: guard.Words{"package.json"}}})
	if err != nil {
		panic(err)
	}
	tree, err := args.Parse([]byte(`{"file_path":"package.json/../.env"}`))
	if err != nil {
		panic(err)
	}
	for _, v := range set.Check(guard.Call{Tool: "write_file", Method: "tools/call", Args: tree}) {
		fmt.Println(v.Path, v.Why)
	}
	// Output: /file_path The path has a segment "..".
}

func config(t testing.TB, text string) *guard.Set {
	t.Helper()
	var c guard.Config
	if err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	s, err := guard.Compile(&c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func constrain(t testing.TB, text string) *guard.Set {
	t.Helper()
	s, err := readArgs(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func unmarshal(text string, to any) error {
	return yaml.UnmarshalWithOptions([]byte(text), to, yaml.Strict())
}

func readArgs(text string) (*guard.Set, error) {
	var m map[string]guard.Constraint
	if err := yaml.UnmarshalWithOptions([]byte(text), &m, yaml.Strict()); err != nil {
		return nil, err
	}
	return guard.Constrain(m)
}

func tree(t testing.TB, text string) *args.Tree {
	t.Helper()
	tr, err := args.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tr
}

func call(t testing.TB, tool, text string) guard.Call {
	return guard.Call{Tool: tool, Method: "tools/call", Args: tree(t, text)}
}

func told(list []guard.Violation) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, v.Guard+" "+v.Path)
	}
	return strings.Join(parts, ", ")
}

// TestRefspecMain is O-24, with its control rows: the destination decides, at any depth
// and in arrays; which keys are destinations is stated per tool.
func TestRefspecMain(t *testing.T) {
	s := config(t, "refs: {protected: [main, release/*], keys: {create_pipeline: [ref]}}")
	for _, c := range []struct{ tool, args, want string }{
		{"create_commit", `{"branch":"main"}`, "ref /branch"},
		{"create_commit", `{"branch":"refs/heads/main"}`, "ref /branch"},
		{"create_commit", `{"branch":"release/2.4"}`, "ref /branch"},
		{"create_commit", `{"options":{"commit":{"branch":"main"}}}`, "ref /options/commit/branch"},
		{"push", `{"refspec":"HEAD:refs/heads/main"}`, "ref /refspec"},
		{"push", `{"refspec":"+main"}`, "ref /refspec"},
		{"push", `{"refspec":":main"}`, "ref /refspec"},
		{"push", `{"refspecs":["feat/x","HEAD:main"]}`, "ref /refspecs/1"},
		{"git", `{"args":["push","-u","origin","HEAD:main"]}`, "ref /args"},
		{"create_pipeline", `{"ref":"main"}`, "ref /ref"},
		{"push", `{"refspec":"main:feat/x"}`, ""},
		{"create_commit", `{"branch":"maintenance"}`, ""},
		{"create_commit", `{"branch":"feat/main-menu"}`, ""},
		{"create_merge_request", `{"source_branch":"feat/x","target_branch":"main"}`, ""},
	} {
		if got := told(s.Check(call(t, c.tool, c.args))); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

// TestDestinations: which names are destinations, of which tools.
func TestDestinations(t *testing.T) {
	s := config(t, "refs: {keys: {deploy: [onto], start: []}}")
	for _, c := range []struct {
		tool   string
		effect labels.Effect
		args   string
		want   string
	}{
		{"commit", labels.Write, `{"Branch":"main","branch":"feat/x"}`, "ref /Branch"}, // O-03, frame 6
		{"commit", 0, `{"br\u0430nch":"main"}`, "ref /br\u0430nch"},
		{"commit", 0, `{"branchName":"main"}`, "ref /branchName"},
		{"commit", 0, `{"branch-name":"main"}`, "ref /branch-name"},
		{"commit", 0, `{"commit.branch":"main"}`, "ref /commit.branch"},
		{"commit", 0, `{"into_branch":"main"}`, "ref /into_branch"},
		{"commit", 0, `{"branch":{"name":"main"}}`, "ref /branch/name"},
		{"commit", 0, `{"branch":"[\"main\"]"}`, "ref /branch, ref /branch!/0"},
		{"commit", 0, `{"branch":["feat/x",["main"]]}`, "ref /branch/1/0"},
		{"mark", 0, `{"branch":null,"tag":7}`, ""},
		{"commit", 0, `{"branch":""}`, "ref /branch"},
		{"work", 0, `{"source_branch":"main","start_branch":"main","from":"main","base":"main","default_branch":"main","remove_source_branch":true}`, ""},
		{"commit", 0, `{"actions":[{"options":"{\"a\":{\"branch\":\"main\"}}"}]}`, "ref /actions/0/options!/a/branch"},
		{"commit", 0, `{"content":"{\"branch\":\"main\"}","branch":"feat/x"}`, ""},
		{"request", 0, `{"body":"{\"branch\":\"main\"}"}`, "ref /body!/branch"},
		{"create_branch", labels.Write, `{"branch":"feat/x","ref":"main"}`, ""},
		{"create_tag", 0, `{"tag_name":"v1","ref":"main"}`, ""},
		{"create_pipeline", 0, `{"ref":"main"}`, "ref /ref"},
		{"create_ref", 0, `{"ref":"refs/heads/main"}`, "ref /ref"},
		{"commit", 0, `{"branch\u0000":"main"}`, "ref /branch\x00"},
		{"commit", 0, `{"options[branch]":"main"}`, "ref /options[branch]"},
		{"create_tag", 0, `{"tag_name":"main","ref":"x"}`, "ref /tag_name"},
		{"createBranch", 0, `{"branch":"main","ref":"main"}`, "ref /branch"},
		{"trigger_pipeline", 0, `{"ref":"main"}`, "ref /ref"},
		{"get_file_contents", labels.Read, `{"ref":"main"}`, ""},
		{"get_file_contents", 0, `{"ref":"main"}`, ""},
		{"get_file_contents", labels.Write, `{"ref":"main"}`, "ref /ref"},
		{"get_and_delete", 0, `{"branch":"main"}`, "ref /branch"},
		{"delete_branch", labels.Read, `{"branch":"main"}`, ""},
		{"deploy", labels.Read, `{"onto":"main","branch":"main","args":["git","push"]}`, "ref /onto, ref /args"},
		{"start", labels.Write, `{"branch":"main"}`, ""},
		{"push", 0, `{"refspec":"feat/x","mirror":true}`, "ref /mirror"},
		{"push", 0, `{"refspec":"feat/x","all":"true"}`, "ref /all"},
		{"push", 0, `{"refspec":"feat/x","all":false,"force":true}`, ""},
		{"push_notification", 0, `{"text":"x","all":true}`, ""},
		{"push", 0, `{"refspec":"feat/x","options":["--mirror"]}`, "ref /options"},
		{"push", 0, `{"refspec":"feat/x","options":["-u"]}`, ""},
		{"git_push", 0, `{"remote":"origin"}`, "ref "},
		{"git_push", 0, `{"remote":"origin","branch":"feat/x"}`, ""},
		{"git_push", 0, `{"args":["push","origin","feat/x"]}`, ""},
		{"git_log", 0, `{"branch":"main"}`, ""},
		{"git", 0, `{"command":"push","args":["origin","main"]}`, "ref /args"},
		{"git", 0, `{"command":"push","args":["origin"]}`, "ref /args"},
		{"git", 0, `{"command":"push","args":["origin","feat/x"]}`, ""},
		{"git", 0, `{"operation":"push","branch":"feat/x"}`, ""},
		{"git", 0, `{"operation":"push","remote":"origin"}`, "ref "},
		{"git", 0, `{"arguments":"push origin main"}`, "ref /arguments"},
		{"run", 0, `{"command":"git","args":["push","origin","main"]}`, "ref /args"},
		{"run", 0, `{"command":"git","subcommand":"push","args":["origin","main"]}`, "ref /args"},
		{"run", 0, `{"command":"cd x; git push","args":[]}`, "ref /command, ref /args"},
		{"run", 0, `{"command":"git push origin main"}`, "ref /command"},
		{"run", 0, `{"cmd":["bash","-c","git push origin main"]}`, "ref /cmd/2, ref /cmd"},
		{"run", 0, `{"commands":["git status","cd x && git push origin main"]}`, "ref /commands/1"},
		{"run", 0, `{"commands":[["git","push","origin","main"]]}`, "ref /commands/0"},
		{"run", 0, `{"steps":[{"run":"git push origin HEAD:main"}]}`, "ref /steps/0/run"},
		{"run", 0, `{"command":"git push origin feat/x"}`, ""},
		{"delete_branch", 0, `{"name":"main"}`, "ref /name"},
		{"create_branch", 0, `{"name":"release/9","ref":"main"}`, "ref /name"},
		{"delete_branch", 0, `{"name":"feat/x"}`, ""},
		{"list_branches", 0, `{"name":"main"}`, ""},
		{"create_issue", 0, `{"name":"main"}`, ""},
		{"merge_branches", 0, `{"source_branch":"feat/x","target_branch":"main"}`, "ref /target_branch"},
		{"merge", 0, `{"base":"main","head":"feat/x"}`, "ref /base"},
		{"create_merge_request", 0, `{"source_branch":"feat/x","target_branch":"main"}`, ""},
		{"merge_pull_request", 0, `{"base":"main"}`, ""},
		{"compare", 0, `{"base":"main","head":"x"}`, ""},
		{"status_update", 0, `{"branch":"main"}`, "ref /branch"},
		{"check_in", 0, `{"branch":"main"}`, "ref /branch"},
		{"git_status", 0, `{"branch":"main"}`, ""},
		{"run", labels.Read, `{"command":"git push origin main"}`, "ref /command"},
		{"run", 0, `{"command":"ls","args":["-l","main"]}`, ""},
	} {
		cl := call(t, c.tool, c.args)
		cl.Effect = c.effect
		if got := told(s.Check(cl)); got != c.want {
			t.Errorf("%s %s %s: %q, want %q", c.tool, c.effect, c.args, got, c.want)
		}
	}
}

// TestPathsByAnyName: what may be a path is one where it begins like one or the tool
// is about files, so that roots hold for both ends of a move.
func TestPathsByAnyName(t *testing.T) {
	s, err := guard.Compile(&guard.Config{Paths: &guard.PathConfig{Within: guard.Words{"src"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"/home/u/My Documents/x", " /etc/x", "a://../../../../etc/cron.d/x", "~", "~/x", "C:x", `..\x`, "../x", "%2e%2e/x"} {
		for _, tool := range []string{"move", "move_file"} {
			args := `{"source":"src/a","destination":"` + strings.ReplaceAll(text, `\`, `\\`) + `"}`
			if got := told(s.Check(call(t, tool, args))); got != "path /destination" {
				t.Errorf("%s %s: %q", tool, args, got)
			}
		}
	}
	for _, c := range []struct{ tool, args, want string }{
		{"move_file", `{"source":"src/a","destination":"secrets.txt"}`, "path /destination"},
		{"move_file", `{"source":"src/a","destination":"src/b"}`, ""},
		{"translate", `{"source":"en","target":"de","input":"yes and/or no"}`, ""},
		{"fetch", `{"source":"https://example.com/a/b"}`, ""},
	} {
		if got := told(s.Check(call(t, c.tool, c.args))); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

// TestSiblingAndDotdot is O-23 by rules about arguments.
func TestSiblingAndDotdot(t *testing.T) {
	read := constrain(t, "path: {within: /srv/share}")
	write := constrain(t, "file_path: {file: package.json}")
	for _, c := range []struct {
		set  *guard.Set
		args string
		pass bool
	}{
		{read, `{"path":"/srv/share/a.md"}`, true}, {read, `{"path":"/srv/share/./sub//b.md"}`, true},
		{read, `{"path":"/srv/share-secret/loot.md"}`, false}, {read, `{"path":"/srv/share/../share-secret/loot.md"}`, false}, {read, `{"path":"/srv/share/sub/../../../etc/passwd"}`, false},
		{read, `{"path":"file:///srv/share/../../etc/passwd"}`, false}, {read, `{"path":"/srv/share/a.md\u0000.png"}`, false}, {read, `{"path":""}`, false},
		{write, `{"file_path":"package.json"}`, true}, {write, `{"file_path":"./package.json"}`, true}, {write, `{"file_path":"package.json/../.env"}`, false},
		{write, `{"file_path":"package.json","options":{"target":{"file_path":"../.env"}}}`, false},
	} {
		if got := c.set.Check(call(t, "x", c.args)); (len(got) == 0) != c.pass {
			t.Errorf("%s: %v", c.args, got)
		}
	}
}

func TestDefaults(t *testing.T) {
	defaults, profile := config(t, ""), guard.Profile()
	private := config(t, "hosts: {private: true}")
	for _, c := range []struct {
		args, want, profile string
	}{
		{`{"path":"a/../b"}`, "path /path", "path /path"},
		{`{"filePath":"a%2fb"}`, "path /filePath", "path /filePath"},
		{`{"options":{"path":["ok","..\\x"]}}`, "path /options/path/1", "path /options/path/1"},
		{`{"log_dir":"x/../../y"}`, "path /log_dir", "path /log_dir"},
		{`{"source":"a/../b","destination":"c"}`, "path /source", "path /source"},
		{`{"source":"an opinion. really?","to":"ann"}`, "", ""},
		{`{"jsonpath":"$..book","query":"../x"}`, "", ""},
		{`{"content":"{\"path\":\"../x\"}","path":"tsconfig.json"}`, "", ""},
		{`{"url":"http://169.254.169.254/latest"}`, "host /url", ""},
		{`{"target_url":"https://user@h.example/"}`, "host /target_url", ""},
		{`{"url":"localhost:3000"}`, "host /url", ""},
		{`{"url":"https://h.example/x"}`, "", ""},
		{`{"url":"","uri":"memo://x","callback":"onDone","href":"/a/b"}`, "", ""},
		{`{"uri":"http://10.0.0.1/"}`, "host /uri", ""},
		{`{"hostname":"10.0.0.1"}`, "host /hostname", ""},
		{`{"branch":"main"}`, "ref /branch", ""},
		{`{"path":"a.txt","content":"glpat-` + `Zx8kQ2mN5vB7cT4rW9yL"}`, "content /content", ""},
	} {
		if got := told(defaults.Check(call(t, "do", c.args))); got != c.want {
			t.Errorf("defaults, %s: %q, want %q", c.args, got, c.want)
		}
		if got := told(profile.Check(call(t, "do", c.args))); got != c.profile {
			t.Errorf("profile, %s: %q, want %q", c.args, got, c.profile)
		}
	}
	if got := private.Check(call(t, "do", `{"url":"http://localhost:3000/"}`)); got != nil {
		t.Error(got)
	}
	if s := config(t, "off: [paths, refs, hosts, secrets]"); s.Check(call(t, "do", `{"path":"../x","branch":"main","url":"http://10.0.0.1"}`)) != nil {
		t.Error("what is switched off still refuses")
	}
	within := config(t, "paths: {within: [src], keys: {move: [a, b]}}")
	for args, want := range map[string]string{`{"path":"src/x"}`: "", `{"path":"x"}`: "path /path"} {
		if got := told(within.Check(call(t, "do", args))); got != want {
			t.Errorf("within, %s: %q", args, got)
		}
	}
	if got := told(within.Check(call(t, "move", `{"a":"src/x","b":"y","path":"z"}`))); got != "path /b, path /path" {
		t.Error(got)
	}
	a, _ := guard.Compile(nil)
	if b, _ := guard.Compile(&guard.Config{}); a != b {
		t.Error("equal defaults are two sets")
	}
}

// TestResources: of a URI that the agent made by a template no segment leads up; one
// that the upstream listed is its own.
func TestResources(t *testing.T) {
	s := config(t, "")
	for _, c := range []struct{ tool, uri, want string }{
		{"file:///srv/{+path}", "file:///srv/a/b.txt", ""}, {"file:///srv/{+path}", "file:///srv/../etc/passwd", "path /uri"}, {"file:///srv/{+path}", "file:///srv/%2e%2e/etc", "path /uri"}, {"file:///srv/{+path}", "file:///srv/..%2fetc", "path /uri"},
		{"file:///srv/{+path}", `file:///srv/..\\etc`, "path /uri"}, {"memo://{id}", "memo://x", ""}, {"notes://{x}", "notes://C:/../x", "path /uri"}, {"notes://{x}", "notes://a /../b", "path /uri"}, {"notes://{x}", "notes://$HOME/../x", "path /uri"}, {"notes://{x}", "notes://C:/x y", ""}, {"http://localhost/{x}", "http://localhost/a", "host /uri"}, {"https://{host}/x", "https://h.example/x", ""}, {"http://localhost/a", "http://localhost/a", ""}, {"odd://a/../b", "odd://a/../b", ""},
	} {
		cl := call(t, c.tool, `{"uri":"`+c.uri+`"}`)
		cl.Method = "resources/read"
		if got := told(s.Check(cl)); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.uri, c.tool, got, c.want)
		}
	}
	cl := call(t, "x", `{"uri":"https://evil.example/"}`)
	cl.Method = "resources/read"
	if got := told(constrain(t, "uri: {hosts: [h.example]}").Check(cl)); got != "host /uri" {
		t.Error(got)
	}
}

// TestAnyDepth: what is refused at the top is refused below objects, arrays and JSON in
// strings.
func TestAnyDepth(t *testing.T) {
	wrap := []func(string) string{
		func(s string) string { return `{"x":` + s + `}` },
		func(s string) string { return `{"x":[1,` + s + `]}` },
		func(s string) string {
			b, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return `{"x":` + string(b) + `}`
		},
	}
	rule := constrain(t, "amount: {max: 5, optional: true}")
	for _, bad := range []string{`{"branch":"main"}`, `{"path":"a/../b"}`, `{"url":"http://10.0.0.1/"}`, `{"amount":6}`, `{"cmd":"git push origin main"}`} {
		for _, a := range wrap {
			for _, b := range wrap {
				for _, c := range wrap {
					text := a(b(c(bad)))
					if cl := call(t, "do", text); len(config(t, "").Check(cl))+len(rule.Check(cl)) == 0 {
						t.Errorf("%s passes", text)
					}
				}
			}
		}
	}
}

// FuzzCheck: nothing that can be read as arguments makes a guard fail, and what a rule
// surely allows it may also match.
func FuzzCheck(f *testing.F) {
	f.Add(common)
	f.Add(`{"branch":"main","o":"{\"path\":\"..\"}","args":["push"],"a":[1,{"b":null}]}`)
	defaults, _ := guard.Compile(nil)
	rule := constrain(f, "branch: {refs: [feat/*]}\npath: {within: src}\namount: {min: 1, max: 5, optional: true}\n/o/path: {one_of: [a, 1], optional: true}\nto: {recipients: ['@corp.example'], optional: true}")
	strict := constrain(f, "branch: {refs: [feat/*]}\npath: {within: src, longest: 100}\na: {one_of: [1, x, [2]]}")
	lists := constrain(f, "to: {recipients: ['@corp.example']}\nurls: {hosts: [ok.example]}\npaths: {within: [src]}\nargs: {refs: [feat/*]}\nforce: {equals: true}")
	f.Add(`{"branch":"feat/x","path":"src/a","a":[1,"x"]}`)
	f.Add(`{"to":"\u200b","source":"\ufe0f","location":[""],"file":"\u0338"}`)
	f.Add(`{"to":{"a@corp.example":true,"b":{"name":"B"}},"cc":"c@corp.example","urls":"https://ok.example/a,https://ok.example/","paths":"src/a, src/b","args":["git","push","origin","feat/x"],"force":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := args.Parse([]byte(text))
		if err != nil {
			return
		}
		c := guard.Call{Tool: "git_push", Method: "tools/call", Args: tr}
		for _, v := range append(defaults.Check(c), rule.Check(c)...) {
			if v.Why == "" || v.Guard == "" || v.Rule == "" {
				t.Errorf("%s: %+v", text, v)
			}
		}
		if strict.Check(c) == nil && !strict.May(c) {
			t.Errorf("%s surely holds, and may not", text)
		}
		if lists.Check(c) == nil && !lists.May(c) {
			t.Errorf("%s surely holds of lists, and may not", text)
		}
	})
}

// TestNothingIsLeft: texts that are nothing once they are folded, or begin or end so,
// under every name that a guard knows, alone, in lists and as names of members.
func TestNothingIsLeft(t *testing.T) {
	defaults, err := guard.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"to", "from", "source", "target", "dest", "destination", "location", "input", "output", "root", "path", "file", "dir", "url", "uri", "host", "branch", "ref", "command",
		"args", "email", "recipients", "content", "text", "patch", "files", "paths", "urls", "encoding", "name", "x", "mode", "action", "actions", "token"}
	for _, gone := range []string{"", "\u200b", "\ufeff", "\u00ad", "\u2060", "\u0338", "\ufe0f", " ", "\u3000", "\t", "\U000e0001", "\u0301"} {
		for _, text := range []string{gone, gone + gone, gone + ":", gone + "-", gone + "/", "." + gone, "-" + gone, "a" + gone, gone + "%", "%" + gone, gone + "~", gone + "git"} {
			for _, name := range names {
				q := string(quoted(t, text))
				for _, raw := range []string{`{"` + name + `":` + q + `}`, `{"` + name + `":[` + q + `,` + q + `]}`, `{"` + name + `":{` + q + `:` + q + `}}`, `{"` + name + `":` + string(quoted(t, `{"path":`+q+`}`)) + `}`,
					`{"` + name + `":` + q + `,"content":` + q + `,"command":"git","args":[` + q + `]}`} {
					tree, err := args.Parse([]byte(raw))
					if err != nil { // a name twice
						continue
					}
					for _, tool := range []string{"x", "git_push", "write_file"} {
						defaults.Check(guard.Call{Tool: tool, Method: "tools/call", Args: tree}) // it does not panic
					}
					tree.Release()
				}
			}
		}
	}
}

func quoted(t *testing.T, text string) []byte {
	t.Helper()
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNothingMadeRefuses(t *testing.T) {
	var none *guard.Set
	c := call(t, "x", `{}`)
	for _, s := range []*guard.Set{none, {}} {
		if len(s.Check(c)) != 1 || !s.May(c) {
			t.Error("a set that nobody made lets pass")
		}
	}
	d, _ := guard.Compile(nil)
	if got := d.Check(guard.Call{Tool: "x"}); len(got) != 1 || got[0].Why != guard.WhyNotMade || !d.May(guard.Call{}) {
		t.Error("arguments that nobody read pass")
	}
}

// TestDeepJSONInTexts: what is nested deeper than is read is refused, not skipped.
func TestDeepJSONInTexts(t *testing.T) {
	text := `{"branch":"main"}`
	for range 8 {
		b, err := json.Marshal(map[string]string{"o": text})
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	for _, s := range []*guard.Set{config(t, ""), constrain(t, "branch: {equals: x, optional: true}")} {
		if got := s.Check(call(t, "x", text)); len(got) == 0 {
			t.Error("passes")
		}
	}
	if !constrain(t, "branch: {equals: main, optional: true}").May(call(t, "x", text)) {
		t.Error("a rule that forbids does not match what cannot be read")
	}
}
