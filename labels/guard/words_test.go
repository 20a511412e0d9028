package guard_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/guard"
)

// A held is a rule with arguments, and whether it surely holds and may hold.
type held struct {
	rule, args string
	holds, may bool
}

func holds(t *testing.T, cases []held) {
	t.Helper()
	for _, c := range cases {
		s := constrain(t, c.rule)
		if got := s.Check(call(t, "x", c.args)); (len(got) == 0) != c.holds {
			t.Errorf("%s of %s: %v", c.rule, c.args, got)
		}
		if got := s.May(call(t, "x", c.args)); got != c.may {
			t.Errorf("%s may of %s: %t", c.rule, c.args, got)
		}
	}
}

// TestCommandWordsByName: a list is the words of a git command only under a name that
// says so. Elsewhere every element is a ref.
func TestCommandWordsByName(t *testing.T) {
	holds(t, []held{
		{"branches: {refs: [feat/*]}", `{"branches":["git","log","main"]}`, false, false},
		{"branches: {refs: [feat/*]}", `{"branches":["push","develop","feat/x"]}`, false, true},
		{"branches: {refs: [feat/*]}", `{"branches":["-x","develop"]}`, false, true},
		{"branches: {refs: [feat/*]}", `{"branches":["git","push","origin","feat/x"]}`, false, true},
		{"branches: {not_refs: [main]}", `{"branches":["git","log","main"]}`, false, true},
		{"/o/branches: {refs: [feat/*]}", `{"o":{"branches":["git","log","main"]}}`, false, false},
		{"branches: {refs: [main]}", `{"branches":["push","develop"]}`, false, false},
		{"branches: {refs: [feat/*]}", `{"branches":["feat/x","feat/y"]}`, true, true},
		{"args: {refs: [feat/*]}", `{"args":["git","push","origin","feat/x"]}`, true, true},
		{"args: {refs: [feat/*]}", `{"args":["git","push","origin","main"]}`, false, true},
		{"/o/args: {not_refs: [main]}", `{"o":{"args":["push","-u","origin","feat/x"]}}`, true, true},
		{"/args/0: {not_refs: [main]}", `{"args":[["push","origin","HEAD:main"]]}`, false, true},
		{"command: {not_refs: [main]}", `{"command":["git","push","origin","main"]}`, false, true},
	})
}

// TestListsOfPathsInRules: a list of paths in one text is as many paths.
func TestListsOfPathsInRules(t *testing.T) {
	never := "paths: {within: [secrets], optional: true}"
	holds(t, []held{
		{"paths: {within: [docs]}", `{"paths":"docs/a,/etc/passwd"}`, false, true},
		{"paths: {within: [docs]}", `{"paths":"docs/a;lib/b"}`, false, true},
		{"path: {within: [docs]}", `{"path":"docs/a, lib/b"}`, false, true},
		{"paths: {within: [docs]}", `{"paths":"docs/a\nlib/b"}`, false, true},
		{"paths: {within: [docs]}", `{"paths":"docs/a ~root/x"}`, false, true},
		{"paths: {within: [/srv/a]}", `{"paths":"/srv/a/b c"}`, false, true},
		{"paths: {within: [docs]}", `{"paths":["docs/a","docs/b,lib/c"]}`, false, true},
		{"paths: {within: [docs]}", `{"paths":"docs/a` + strings.Repeat(",docs/b", 300) + `"}`, true, true},
		{"paths: {within: [docs]}", `{"paths":"docs/a` + strings.Repeat(",docs/b", 600) + `"}`, false, true},
		{never, `{"paths":"docs/a,secrets/k"}`, false, true},
		{never, `{"path":"docs/a"}`, true, false},
		{"path: {within: [secrets], optional: true}", `{"path":"docs/a;secrets/k"}`, false, true},
		{"file: {file: [.env], optional: true}", `{"file":"a.txt,.env"}`, false, true},
		{never, `{"paths":"docs/a,docs/b"}`, false, false},
		{never, `{"paths":{"secrets/k":"x"}}`, false, true},
		{never, `{"paths":{"docs/k":"x"}}`, false, false},
		{"paths: {within: [docs]}", `{"paths":"docs/a, docs/b,"}`, true, true},
		{"paths: {within: [docs, lib]}", `{"paths":"docs/a,lib/b"}`, true, true},
		{"path: {within: [docs]}", `{"path":"docs/my file.txt"}`, true, true},
		{"paths: {within: [docs]}", `{"paths":"docs/my file.txt"}`, true, true},
	})
}

// TestSeveralURLs: each URL of a text is judged, under names of URLs and others.
func TestSeveralURLs(t *testing.T) {
	const inner = "http://169.254.169.254/latest"
	refusals(t, config(t, ""), [][2]string{
		{`do {"urls":"https://ok.example/,` + inner + `"}`, "host /urls"},
		{`do {"urls":"https://ok.example/ ` + inner + `"}`, "host /urls"},
		{`do {"url":"https://ok.example/a;` + inner + `"}`, "host /url"},
		{`do {"url":"https://ok.example/a/` + inner + `"}`, "host /url"},
		{`do {"urls":"https://ok.example/,169.254.169.254/latest"}`, "host /urls"},
		{`do {"urls":"a/b,169.254.169.254/latest"}`, "host /urls"},
		{`do {"endpoints":"memo://x,` + inner + `"}`, "host /endpoints"},
		{`do {"uri":"memo://x ` + inner + `"}`, "host /uri"},
		{`do {"sites":"https://ok.example/|` + inner + `"}`, "host /sites"},
		{`do {"sites":"memo://x,` + inner + `"}`, "host /sites"},
		{`do {"urls":["https://ok.example/,` + inner + `"]}`, "host /urls/0"},
		{`do {"urls":"https://ok.example/,https://other.example/x"}`, ""},
		{`do {"urls":"https://ok.example/a, https://other.example/x;https://a.example"}`, ""},
		{`do {"url":"https://web.archive.org/web/2020/https://example.org/"}`, ""},
		{`do {"sites":"https://ok.example/ and https://other.example/"}`, ""},
		{`do {"note":"https://ok.example/ ` + inner + `"}`, ""},
		{`do {"reason":"https://ok.example/ as ` + inner + `"}`, ""},
	})
	listed := config(t, "hosts: {allow: [ok.example]}")
	refusals(t, listed, [][2]string{
		{`do {"urls":"https://ok.example/,https://evil.example/"}`, "host /urls"},
		{`do {"x":"https://ok.example/ https://evil.example/"}`, "host /x"},
		{`do {"source":"https://ok.example/ https://evil.example/"}`, "host /source"},
		{`do {"urls":"https://ok.example/,https://ok.example/b"}`, ""},
	})
	holds(t, []held{
		{"urls: {hosts: [ok.example]}", `{"urls":"https://ok.example/,https://evil.example/"}`, false, true},
		{"urls: {hosts: [ok.example]}", `{"urls":"https://ok.example/,evil.example"}`, false, true},
		{"urls: {hosts: [evil.example]}", `{"urls":"https://ok.example/,evil.example/x"}`, false, true},
		{"urls: {hosts: [ok.example]}", `{"urls":"https://ok.example/, https://ok.example/b"}`, true, true},
		{"url: {hosts: [ok.example]}", `{"url":"https://ok.example/ https://evil.example/"}`, false, true},
		{"url: {hosts: [evil.example]}", `{"url":"https://ok.example/,https://evil.example/"}`, false, true},
		{"url: {hosts: [evil.example]}", `{"url":"https://ok.example/,https://other.example/"}`, false, false},
		{"url: {hosts: [ok.example]}", `{"url":"https://ok.example/,https://ok.example/b"}`, true, true},
	})
}

// TestLongWordsOfTools: words of any length say what a tool is about.
func TestLongWordsOfTools(t *testing.T) {
	within := config(t, "paths: {within: [docs]}")
	refusals(t, within, [][2]string{
		{`move_directory {"source":"private","destination":"docs/x"}`, "path /source"},
		{`move_directories {"source":"private","destination":"docs/x"}`, "path /source"},
		{`moveDirectory {"source":"docs/a","destination":"docs/x"}`, ""},
		{`translate_conversation {"source":"en","target":"de"}`, ""},
	})
	defaults := config(t, "")
	for _, tool := range []string{"overwrite_view", "synchronize_list", "check_deployment", "validate_promotion", "synchronise_and_fetch", "deployment_status"} {
		if got := told(defaults.Check(call(t, tool, `{"branch":"main"}`))); got != "ref /branch" {
			t.Errorf("%s: %q", tool, got)
		}
	}
	for _, tool := range []string{"get_repository_contents", "list_deployments", "check", "compare_repositories", "git_diff"} {
		if got := told(defaults.Check(call(t, tool, `{"branch":"main"}`))); got != "" {
			t.Errorf("%s: %q", tool, got)
		}
	}
}

// TestTargets: what something goes into is a destination, but of a request to merge.
func TestTargets(t *testing.T) {
	s := config(t, "")
	for tool, refused := range map[string]bool{
		"cherry_pick_commit": true, "revert_commit": true, "push_files": true, "commit_changes": true, "apply_patch": true, "rebase": true, "merge_branches": true, "deploy": true,
		"create_merge_request": false, "update_merge_request": false, "list_merge_requests": false, "createPullRequest": false, "create_pullrequest": false, "open_pr": false, "merge_pull_request": false, "open_review": false,
		"get_commit": false, "compare_branches": false, "search_commits": false,
	} {
		for _, name := range []string{"target_branch", "targetBranch", "into"} {
			want := ""
			if refused {
				want = "ref /" + name
			}
			if got := told(s.Check(call(t, tool, `{"`+name+`":"main","branch":"feat/x"}`))); got != want {
				t.Errorf("%s %s: %q", tool, name, got)
			}
		}
	}
	refusals(t, s, [][2]string{
		{`commit_changes {"base_branch":"main"}`, "ref /base_branch"},
		{`create_branch {"branch":"feat/x","base_branch":"main"}`, ""},
		{`create_branch {"target_branch":"main"}`, "ref /target_branch"},
		{`merge {"base":"main"}`, "ref /base"},
		{`generate_changelog {"base":"main","head":"x"}`, ""},
		{`push_files {"target_branch":{"name":"main"}}`, "ref /target_branch/name"},
	})
	c := call(t, "cherry_pick_commit", `{"target_branch":"main"}`)
	c.Effect = labels.Read
	if got := s.Check(c); got != nil {
		t.Error(got)
	}
}

// TestOtherSpellings: a rule that forbids a value forbids its other spellings, and one
// that allows it allows it alone.
func TestOtherSpellings(t *testing.T) {
	for rule, values := range map[string][2]string{
		"true":  {`1|"1"|"yes"|"YES"|"on"|"y"|"t"|" True "|"true"|2|1.0|"1.0"|["on"]|{"x":"yes"}`, `false|0|"0"|"no"|"off"|""|"force"|null|0.0`},
		"false": {`0|"0"|"no"|"OFF"|"n"|"f"|""|0.0|-0|"0x0"`, `true|1|"1"|"yes"|"on"|"force"`},
		"500": {`"500.0"|"5e2"|" 500 "|"+500"|"0x1f4"|"500"|"500."|"0500"|"5_00"|"0764"|"500,0"|"5E+2"|"0X1F4"|"0b111110100"|"500L"|"５００"|"'500'"|"` + strings.Repeat("0", 5000) + `500"`,
			`"501"|"5e3"|"-500"|"0x1f5"|"five"|"500 x 3"|501|true|""|"5.00"|"` + strings.Repeat("5", 5000) + `"`},
		"-0.5": {`"-.5"|"-0,50"|"- 0.5"|"-5e-1"`, `"0.5"|".5"|"-5"`},
		"1":    {`true|"1"|"01"`, `false|"true"|2`},
		"'7'":  {`7|7.0|"７"`, `8|"07"|true`},
		"'on'": {`true|"ON"`, `false|"1"|1`},
	} {
		equal, optional := constrain(t, "a: {equals: "+rule+"}"), constrain(t, "a: {equals: "+rule+", optional: true}")
		for i, want := range []bool{true, false} {
			for v := range strings.SplitSeq(values[i], "|") {
				c := call(t, "x", `{"a":`+v+`}`)
				if got := optional.May(c); got != want {
					t.Errorf("%s may of %.40s: %t", rule, v, got)
				}
				if (equal.Check(c) == nil) != (v == rule || v == strings.ReplaceAll(rule, "'", `"`)) && !(rule == "false" && v == "0") {
					t.Errorf("%s of %.40s: %v", rule, v, equal.Check(c))
				}
			}
		}
	}
	one := constrain(t, "a: {one_of: [x, true, 500], optional: true}")
	for v, want := range map[string]bool{`"on"`: true, `"5e2"`: true, `"X"`: true, `"y"`: true, `"z"`: false, `0`: false} {
		if got := one.May(call(t, "x", `{"a":`+v+`}`)); got != want {
			t.Errorf("one_of may of %s: %t", v, got)
		}
	}
}

// TestPersons: of an object around an address every member is looked at.
func TestPersons(t *testing.T) {
	to := `to: {recipients: ["@corp.example"]}`
	for text, good := range map[string]bool{
		`{"email":"a@corp.example","evil@evil.example":true}`:                     false,
		`{"email":"a@corp.example","evil@evil.example":null}`:                     false,
		`{"email":"a@corp.example","evil@evil.example":{"type":"to"}}`:            false,
		`{"email":"a@corp.example","evil@evil.example":[]}`:                       false,
		`{"email":"a@corp.example","e\uff20evil.example":"x"}`:                    false,
		`{"email":"a@corp.example","label":"x\r\nBcc: root"}`:                     false,
		`{"email":"a@corp.example","name":"x\u2028Bcc: root"}`:                    false,
		`{"email":"a@corp.example","name":"x>, root, <y"}`:                        false,
		`{"email":"a@corp.example","name":"=?utf-8?q?x=0D=0ABcc:_root?="}`:        false,
		`{"email":"a@corp.example","eve":true}`:                                   false,
		`{"email":"a@corp.example","user_id":7}`:                                  false,
		`{"email":"a@corp.example","eve":"eve"}`:                                  false,
		`{"email":"a@corp.example","name":"eve@evil.example"}`:                    false,
		`{"a@corp.example":true,"eve@evil.example":true}`:                         false,
		`{"a@corp.example":"b@evil.example"}`:                                     false,
		`{"name":"Ann"}`:                                                          false,
		`{"email":"a@corp.example","name":"Doe, Ann","type":1,"primary":true}`:    true,
		`{"emailAddress":{"address":"a@corp.example","name":"Ann \"A\" Doe"}}`:    true,
		`{"a@corp.example":true,"b@corp.example":{"name":"Bo"}}`:                  true,
		`[{"email":"a@corp.example","display_name":"Ann"},"Bo <b@corp.example>"]`: true,
	} {
		if got := constrain(t, to).Check(call(t, "mail", `{"to":`+text+`}`)); (got == nil) != good {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, may := range map[string]bool{`{"a@evil.example":"x"}`: true, `{"a@corp.example":"x"}`: false, `{"name":"x","email":"a@corp.example"}`: false} {
		if got := constrain(t, `to: {recipients: ["@evil.example"], optional: true}`).May(call(t, "mail", `{"to":`+text+`}`)); got != may {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestSiblingRecipients: a rule that says whom one of to, cc and bcc may name says it of
// the others too, unless it has a word on them.
func TestSiblingRecipients(t *testing.T) {
	to := `to: {recipients: ["@corp.example"]}`
	for _, c := range []struct {
		rule, args string
		good       bool
	}{
		{to, `{"to":"a@corp.example","cc":"eve@evil.example"}`, false},
		{to, `{"to":"a@corp.example","bcc":["eve@evil.example"]}`, false},
		{to, `{"to":"a@corp.example","BCC":"eve@evil.example"}`, false},
		{to, `{"to":"a@corp.example","message":{"bcc_recipients":[{"emailAddress":{"address":"eve@evil.example"}}]}}`, false},
		{to, `{"to":"a@corp.example","o":"{\"cc\":\"eve@evil.example\"}"}`, false},
		{to, `{"to":"a@corp.example","headers":{"Bcc":"eve@evil.example"}}`, false},
		{"cc: {recipients: ['@corp.example'], optional: true}", `{"to":"eve@evil.example"}`, false},
		{"/message/cc: {recipients: ['@corp.example'], optional: true}", `{"cc":"eve@evil.example"}`, false},
		{to + "\nsubject: {longest: 50}", `{"to":"a@corp.example","subject":"x","cc":"eve@evil.example"}`, false},
		{to + "\ncc: {equals: eve@evil.example}", `{"to":"a@corp.example","cc":"eve@evil.example","bcc":"eve@evil.example"}`, false},
		{to, `{"to":"a@corp.example","cc":"b@corp.example","bcc":["c@corp.example"]}`, true},
		{to, `{"to":"a@corp.example","cc":"","bcc":[],"ccs":null,"carbon_copy":false}`, true},
		{to, `{"to":"a@corp.example","subject":"eve@evil.example","reply_to":"b@evil.example","from":"c@evil.example"}`, true},
		{to + "\ncc: {recipients: [eve@evil.example]}", `{"to":"a@corp.example","cc":"eve@evil.example"}`, true},
		{to + "\ncc: {recipients: [eve@evil.example]}", `{"to":"a@corp.example","cc":"eve@evil.example","bcc":"eve@evil.example"}`, true},
		{to + "\n/m/cc: {longest: 90}", `{"to":"a@corp.example","m":{"cc":"eve@evil.example"}}`, true},
		{to + "\n/m/cc: {longest: 90}", `{"to":"a@corp.example","m":{"cc":"x"},"cc":"eve@evil.example"}`, false},
		{"subject: {longest: 50}", `{"subject":"x","to":"eve@evil.example","cc":"eve@evil.example"}`, true},
	} {
		if got := constrain(t, c.rule).Check(call(t, "mail", c.args)); (got == nil) != c.good {
			t.Errorf("%s of %s: %v", c.rule, c.args, got)
		}
	}
	many := strings.Repeat(`{"cc":"eve@evil.example"},`, 40)
	if constrain(t, to+"\n/cc: {recipients: [eve@evil.example], optional: true}").Check(call(t, "mail", `{"to":"a@corp.example","l":[`+many+`{"bcc":"mal@evil.example"}]}`)) == nil {
		t.Error("what another word takes hides what none takes")
	}
	many = strings.Repeat(`{"cc":"eve@evil.example"},`, 50_000)
	if got := constrain(t, to+"\nsubject: {recipients: [x], optional: true}\n/l/1/cc: {recipients: [eve@evil.example]}").Check(call(t, "mail", `{"to":"a@corp.example","l":[`+many+`0]}`)); got != nil {
		t.Error(got)
	}
	got := constrain(t, to).Check(call(t, "mail", `{"to":"a@corp.example","cc":"eve@evil.example"}`))
	want := guard.Violation{Guard: "recipient", Path: "/cc", Why: "A recipient is none of those that are allowed.", Rule: "args.to"}
	if len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	if got := constrain(t, to).Beside(call(t, "mail", `{"cc":"eve@evil.example"}`)); len(got) != 1 || got[0] != want {
		t.Errorf("beside: %+v", got)
	}
	if constrain(t, `to: {recipients: ["@evil.example"], optional: true}`).May(call(t, "mail", `{"cc":"eve@evil.example"}`)) {
		t.Error("a rule that forbids speaks of what it names alone")
	}
}

// TestKeysAdd: names that a file gives for a tool count besides the default ones; a "-"
// takes one out, and an empty list all.
func TestKeysAdd(t *testing.T) {
	s := config(t, `{refs: {keys: {save: [lane], misspelt: [brnach], less: [-branch], none: [], git_push: [lane]}},
		hosts: {keys: {save: [peer], less: [-source, -url], none: []}}, paths: {within: [src], keys: {save: [place], less: [-path, -destination], none: []}}}`)
	refusals(t, s, [][2]string{
		{`save {"lane":"main"}`, "ref /lane"},
		{`save {"branch":"main"}`, "ref /branch"},
		{`save {"command":"git push origin main"}`, "ref /command"},
		{`misspelt {"branch":"main"}`, "ref /branch"},
		{`less {"branch":"main"}`, ""},
		{`less {"branch":{"name":"main"}}`, ""},
		{`less {"target":"x","branch_name":"main"}`, "ref /branch_name"},
		{`less {"args":["git","push","origin","main"]}`, "ref /args"},
		{`none {"branch":"main","args":["git","push","origin","main"]}`, ""},
		{`save {"place":"lib/x","path":"lib/y"}`, "path /place, path /path"},
		{`less {"path":"lib/x","destination":"/etc/x"}`, ""},
		{`less {"file":"lib/x"}`, "path /file"},
		{`none {"path":"lib/x"}`, ""},
		{`save {"peer":"10.0.0.1"}`, "host /peer"},
		{`save {"url":"http://10.0.0.1/"}`, "host /url"},
		{`save {"image":"http://10.0.0.1/"}`, "host /image"},
		{`less {"source":"http://10.0.0.1/","url":"http://10.0.0.1/"}`, ""},
		{`less {"image":"http://10.0.0.1/"}`, "host /image"},
		{`none {"image":"http://10.0.0.1/","url":"http://10.0.0.1/"}`, ""},
		{`git_push {"remote":"origin"}`, "ref "},
		{`git_push {"remote":"origin","lane":"feat/x"}`, ""},
		{`create_branch {"branch":"feat/x","ref":"main"}`, ""},
	})
	given := config(t, "refs: {keys: {create_branch: [branch], trigger: [ref], get_x: [ref]}}")
	for _, c := range [][2]string{{`create_branch {"branch":"feat/x","ref":"main"}`, ""}, {`create_branch {"branch":"main"}`, "ref /branch"}, {`get_x {"ref":"main"}`, "ref /ref"}, {`get_x {"branch":"main"}`, ""}} {
		refusals(t, given, [][2]string{c})
	}
	for _, text := range []string{"refs: {keys: {a: ['-']}}", "refs: {keys: {a: [-b, b]}}", "refs: {keys: {a: [-/b]}}", "paths: {keys: {a: ['--']}}"} {
		var c guard.Config
		if err := unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		if _, err := guard.Compile(&c); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// TestBoundedLists: texts that are made to cost are refused, or judged once.
func TestBoundedLists(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a,", 500_000), strings.Repeat("http://a.example/", 60_000), strings.Repeat("https://a.example/?x=%2568ttp:%252f%252fb;", 190), strings.Repeat("x://", 2000), strings.Repeat("0x", 500_000), "0x" + strings.Repeat("f", 1<<20),
	} {
		args := `{"paths":` + strconv.Quote(text) + `,"urls":` + strconv.Quote(text) + `,"n":` + strconv.Quote(text) + `}`
		c := call(t, "do", args)
		for _, s := range []*guard.Set{config(t, "{paths: {within: [src]}, hosts: {allow: [a.example]}}"), constrain(t, "paths: {within: [src]}\nurls: {hosts: [a.example]}\nn: {one_of: [1, 2, true, 500]}")} {
			if s.Check(c) == nil {
				t.Errorf("%.30s passes", text)
			}
			s.May(c)
		}
	}
}
