package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/labels/guard"
)

// TestCommandsBesideLists: whichever of several lists a program takes, and however it
// reads the command beside them, a push to a protected ref is refused.
func TestCommandsBesideLists(t *testing.T) {
	s, err := guard.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{
		`run_command {"command":"git","args":["push","origin","main"],"options":[]}`,
		`run_command {"command":"git","options":[],"args":["push","origin","main"]}`,
		`run_command {"command":["git","push","origin","main"],"args":[]}`,
		`run_command {"command":["git"],"args":["push","origin","main"]}`,
		`run_command {"command":"git","options":["commit","-m"],"args":["push","origin","main"]}`,
		`run_command {"command":"git","params":["commit","-m"],"args":["push","origin","main"],"flags":["status"]}`,
		`run_command {"command":"git","args":["push"],"options":["origin","main"]}`,
		`run_command {"command":"git","options":["origin","main"],"args":["push"]}`,
		`run_command {"args":["git"],"options":["push","origin","main"]}`,
		`run_command {"subcommand":"push","command":"git","args":["origin"]}`,
		`run_command {"command":"bash -c 'git push origin main'","args":[]}`,
		`run_command {"command":"bash -c 'git push origin main'","args":["x"]}`,
		`run_command {"command":"'git' push origin main","args":[]}`,
		`run_command {"command":"'git' push","args":["origin","main"]}`,
		`run_command {"command":"'git' push origin feat/x #","args":["main"]}`,
		`run_command {"command":"bash","args":["-c","cd x; git push origin main"],"flags":[]}`,
		`run_command {"command":"'bash' -c","args":["cd x; git push origin main"]}`,
		`run_command {"command":"echo","args":["x; git push origin main"]}`,
		`run_command {"command":"git","args":["push origin main"]}`,
		`run_command {"command":"git","args":"push origin main","options":[]}`,
		`run_command {"command":"git","args":"'push' origin main"}`,
		`run_command {"command":"git","args":"[\"push\",\"origin\",\"main\"]"}`,
		`run_command {"command":"[\"git\"]","args":["push","origin","main"]}`,
		`run_command {"command":"git","options":{"args":["push","origin","main"]}}`,
		`run_command {"command":"git${IFS}push${IFS}origin${IFS}main","args":[]}`,
		`run_command {"command":"git","args":["rebase","-x","cd . && git push origin feat:main","HEAD~1"]}`,
		`git {"args":["push origin main"]}`,
		`git {"args":["add .","push origin main"]}`,
		`git {"commands":["add .","push origin main"]}`,
		`git {"command":"push","args":["origin","feat/x"],"options":["--mirror"]}`,
		`git {"operation":"push","options":["--mirror"],"branch":"feat/x"}`,
		`git {"operation":"push","options":["-u"]}`,
	} {
		tool, args, _ := strings.Cut(c, " ")
		if len(s.Check(call(t, tool, args))) == 0 {
			t.Errorf("%s passes", c)
		}
	}
	for _, c := range []string{
		`run_command {"command":"git","args":["push","origin","feat/x"],"options":[]}`,
		`run_command {"command":"git","args":["push","origin","feat/x"],"options":["-u"]}`,
		`run_command {"command":"git","args":["commit","-m","push to main later"]}`,
		`run_command {"command":"git","args":["commit","-m","Say when git push origin main is refused"]}`,
		`run_command {"command":"git","args":["rebase","main"],"options":["-i"]}`,
		`run_command {"command":"git","args":["log","main"],"flags":[]}`,
		`run_command {"command":"git log","args":["main"],"options":{"cwd":"x"}}`,
		`run_command {"command":"bash -c 'git push origin feat/x'","args":[]}`,
		`run_command {"command":"npm","args":["run","main"],"flags":["--push"]}`,
		`run_command {"command":"gh","args":["pr","create","--body","then git push origin main"]}`,
		`git {"command":"push","args":["origin","feat/x"],"options":["-u"]}`,
		`git {"operation":"push","options":["-u"],"branch":"feat/x"}`,
		`git {"operation":"push","options":{"flags":["-u"]},"branch":"feat/x"}`,
		`git {"args":["commit","-m","push to main later"]}`,
		`git {"commands":["add .","push origin feat/x"]}`,
	} {
		tool, args, _ := strings.Cut(c, " ")
		if v := s.Check(call(t, tool, args)); len(v) > 0 {
			t.Errorf("%s: %+v", c, v)
		}
	}
}

// TestLinesAreBounded: many parts and lists are refused, and long ones cost no product.
func TestLinesAreBounded(t *testing.T) {
	s, err := guard.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf(`"args%s":["x"]`, strings.Repeat("_", i)))
	}
	if len(s.Check(call(t, "run", `{"command":"git",`+strings.Join(names, ",")+`}`))) == 0 {
		t.Error("thirty lists pass")
	}
	long := strings.Repeat("echo $x; ", 12_000) // no git
	cl := call(t, "run", `{"command":"`+long+`","args":["a"],"options":["b"],"flags":["c"],"run":"`+long+`"}`)
	if v := s.Check(cl); len(v) != 1 {
		t.Errorf("%+v", v)
	}
	if v := s.Check(call(t, "run", `{"command":"`+long+`","args":["a"]}`)); len(v) != 0 {
		t.Errorf("a long line without git: %+v", v)
	}
}

// TestLinesShareABudget: what all objects of a call cost together has a bound, and over
// that it is refused; where enough was told no more is read.
func TestLinesShareABudget(t *testing.T) {
	s, err := guard.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	many := strings.TrimSuffix(strings.Repeat(`{"args":"x"},`, 1000), ",")
	crowd := `{"command":"a $b","run":"a","cmd":"b","exec":"c","bash":"d","shell":"e","args":["a"],"argv":["b"],"options":["c"],"flags":["d"],"params":["e"],"arguments":["f"]},`
	for name, raw := range map[string]string{
		"one long command around":   `{"command":"` + strings.Repeat("gi log $a b ", 10_000) + `","x":[` + many + `]}`,
		"many parts and many lists": `{"x":[` + strings.TrimSuffix(strings.Repeat(crowd, 800), ",") + `]}`,
		"a program around":          `{"program":"` + strings.Repeat("a$b", 1300) + `","x":[` + many + `]}`,
	} {
		c := call(t, "run", raw)
		if n := s.Spent(c); n > 5<<19 {
			t.Errorf("%s: %d bytes were read", name, n)
		}
		if v := s.Check(c); len(v) == 0 || len(v) > 16 {
			t.Errorf("%s: %d told", name, len(v))
		}
	}
	for _, raw := range []string{
		`{"x":[` + strings.TrimSuffix(strings.Repeat(`{"command":"git push origin main"},`, 1000), ",") + `]}`,
		`{"commands":[` + strings.TrimSuffix(strings.Repeat(`"git push origin main",`, 1000), ",") + `]}`,
	} {
		if n := s.Spent(call(t, "run", raw)); n > 16*1024 {
			t.Errorf("%d bytes were read of what is refused at once: %.40s", n, raw)
		}
	}
}

// TestInputIsNoCommand: named input under a wide name has no words of a command, unless
// there is one, and does not count as long.
func TestInputIsNoCommand(t *testing.T) {
	s, err := guard.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x y ", 80_000)
	for _, raw := range []string{
		`{"arguments":{"path":"a","content":"` + long + `"}}`, `{"params":{"path":"a","content":"` + long + `"}}`, `{"name":"x","arguments":"{\"path\":\"a\",\"content\":\"` + long + `\"}"}`,
		`{"params":{"name":"git push origin main","value":"` + long + `"}}`, `{"arguments":[{"path":"a","content":"` + long + `"}]}`, `{"args":{"path":"a","content":"` + long + `"}}`,
		`{"program":"` + long + `"}`, `{"binary":"git push origin main"}`, `{"binary":"` + long + `","args":["x"]}`,
	} {
		if v := s.Check(call(t, "call_tool", raw)); len(v) > 0 {
			t.Errorf("%.60s: %+v", raw, v)
		}
	}
	for _, raw := range []string{
		`{"program":"git","args":["push","origin","main"]}`, `{"executable":"/usr/bin/git","argv":["push","origin","main"]}`, `{"binary":"git","arguments":["push","origin","main"]}`, `{"program":"git","options":{"args":["push","origin","main"]}}`,
		`{"program":"bash","args":["-c","cd x; git push origin main"]}`, `{"arguments":["git","push","origin","main"]}`, `{"params":"git push origin main"}`, `{"command":"git","params":{"value":["push","origin","main"]}}`, `{"program":"git","params":{"value":"push origin main"}}`,
		`{"command":"git","arguments":"` + long + `"}`, `{"args":["` + long + `"]}`,
	} {
		if len(s.Check(call(t, "call_tool", raw))) == 0 {
			t.Errorf("%.60s passes", raw)
		}
	}
}
