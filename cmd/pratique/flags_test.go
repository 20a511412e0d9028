package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pratique-dev/pratique/client"
	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/credentials/keyset"
	"github.com/pratique-dev/pratique/internal/canon"
	"github.com/pratique-dev/pratique/internal/durable"
	"github.com/pratique-dev/pratique/internal/problem"
	"github.com/pratique-dev/pratique/registry/ledger"
	"github.com/pratique-dev/pratique/registry/store"
)

// inProcess serialises runs in this process: cli/v2 keeps its help flag in a
// global variable.
var inProcess sync.Mutex

// call runs a command line in this process, with no terminal.
func runHere(t *testing.T, args ...string) (code int, stdout, stderr string) {
	inProcess.Lock()
	defer inProcess.Unlock()
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{in: strings.NewReader(""), out: &out, err: &errs, now: time.Now}
	e.ask = e.askPerson
	code = run(context.Background(), e, append([]string{"pratique"}, args...))
	return code, out.String(), errs.String()
}

// eachVerb visits every verb with the words that name it.
func eachVerb(visit func(words []string, n noun, v verb)) {
	for _, n := range nouns() {
		for _, v := range n.verbs {
			words := []string{n.name}
			if v.name != "" {
				words = append(words, v.name)
			}
			visit(words, n, v)
		}
	}
}

// TestEveryVerbRefusesByName holds every verb against what cli/v2 lets pass:
// unknown flags, flags after arguments, arguments that nobody reads, flags given
// twice, required flags that are missing, values of the wrong kind.
func TestEveryVerbRefusesByName(t *testing.T) {
	eachVerb(func(words []string, _ noun, v verb) {
		name := strings.Join(words, " ")
		refuse := func(what, want string, args ...string) {
			t.Helper()
			code, out, errs := runHere(t, slices.Concat(words, args)...)
			if code != int(exitUsage) || out != "" || !strings.Contains(errs, want) || !strings.HasPrefix(errs, "pratique "+name+":") {
				t.Errorf("%s, %s: code %d, stdout %q, stderr %q; want 2 and %q", name, what, code, out, errs, want)
			}
		}
		var good []string
		required := ""
		for _, o := range v.allFlags() {
			if o.required {
				good = append(good, "--"+o.name, "x")
				required = o.name
			}
		}
		surplus := []string{"surplus"}
		if v.args != "" {
			surplus = []string{"one", "surplus"}
		}
		refuse("unknown flag", "no-such-flag", "--no-such-flag")
		refuse("surplus argument", `"surplus"`, append(slices.Clone(good), surplus...)...)
		refuse("flag after an argument", "--json", append(slices.Clone(good), "argument", "--json")...)
		if required != "" {
			refuse("missing flag", "--"+required)
		}
		if required != "" && required != "to" && required != "log" && required != "saw" || name == "backup" {
			refuse("flag given twice", required, "--"+required, "a", "--"+required, "b")
			refuse("empty value", required, "--"+required+"=")
		}
		for _, o := range v.allFlags() {
			if o.kind == number || o.kind == duration {
				refuse("bad value", o.name, "--"+o.name, "many")
				refuse("negative value", o.name, "--"+o.name+"=-1")
			}
		}
		code, out, errs := runHere(t, append(words, "--help")...)
		if code != 0 || errs != "" || !strings.Contains(out, "pratique "+name) {
			t.Errorf("%s --help: code %d, stdout %q, stderr %q", name, code, out, errs)
		}
	})
}

func TestUnknownCommands(t *testing.T) {
	for _, args := range [][]string{{"bogus"}, {"tools", "bogus"}, {"tools"}, {}, {"--json"}, {"help"}} {
		code, out, errs := runHere(t, args...)
		if code != int(exitUsage) || out != "" || errs == "" {
			t.Errorf("%v: code %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
	if code, out, _ := runHere(t, "--help"); code != 0 || !strings.Contains(out, "principals") {
		t.Errorf("--help: code %d, %q", code, out)
	}
}

// TestEveryCommandIsGuarded walks the tree that cli sees: what is not
// inherited must be set on each command.
func TestEveryCommandIsGuarded(t *testing.T) {
	app := newApp(systemEnv())
	if app.ExitErrHandler == nil || !app.DisableSliceFlagSeparator || !app.EnableBashCompletion || app.OnUsageError == nil {
		t.Error("the app is not guarded")
	}
	var walk func(cs []*cli.Command)
	walk = func(cs []*cli.Command) {
		for _, c := range cs {
			if c.OnUsageError == nil || c.Action == nil || !c.HideHelpCommand {
				t.Errorf("%s is not guarded", c.HelpName)
			}
			walk(c.Subcommands)
		}
	}
	walk(app.Commands)
}

// TestExitCodes is the table: what goes wrong, and its code.
func TestExitCodes(t *testing.T) {
	refused := func(status int, code string) error {
		return fmt.Errorf("x: %w", &client.Error{Problem: problem.New(status, code, "T.")})
	}
	for _, c := range []struct {
		err  error
		want exit
	}{
		{nil, 0},
		{usagef("x"), 2}, {&failed{"x", usagef("y")}, 2}, {client.ErrURL, 2},
		{fs.ErrNotExist, 3}, {keyring.ErrNotFound, 3}, {keyring.ErrNoRing, 3}, {store.ErrNotFound, 3}, {refused(404, "not_found"), 3}, {refused(410, "tool_revoked"), 3},
		{keyring.ErrTooEarly, 4}, {&keyring.EarlyError{}, 4}, {keyring.ErrPassphrase, 4}, {keyring.ErrKeyEmpty, 4}, {durable.ErrLoose, 4}, {errUnsure, 4}, {errNo, 4},
		{errInput, 4}, {canon.ErrDuplicate, 4}, {keyring.ErrRootOffline, 4}, {refused(412, "stale_base"), 4}, {refused(422, "bad_name"), 4}, {refused(400, "bad_json"), 4},
		{refused(409, "key_too_early"), 4},
		{refused(409, "name_taken"), 5}, {refused(409, "stale_generation"), 5}, {fs.ErrExist, 5}, {keyring.ErrKeyExists, 5}, {keyring.ErrConflict, 5}, {store.ErrBusy, 5},
		{client.ErrUnreachable, 6}, {refused(503, "stale_view"), 6}, {refused(500, "internal"), 6}, {keyring.ErrDamaged, 6}, {store.ErrIO, 6}, {errors.New("anything"), 6},
		{refused(401, "invalid_token"), 7}, {refused(403, "not_owner"), 7}, {refused(429, "too_many"), 7}, {errTampered, 7}, {errBad, 7}, {keyset.ErrRollback, 7},
		{ledger.ErrFork, 7}, {ledger.ErrRollback, 7},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

// TestTerminalObeysNothing shows what registrants wrote without what a
// terminal would obey, or a reader misread.
func TestTerminalObeysNothing(t *testing.T) {
	for in, want := range map[string]string{
		"plain ✓":                   "plain ✓",
		"\x1b[2Jgone":               "\ufffd[2Jgone",
		"a\u202eb":                  "a\ufffdb",
		"a\r\nb":                    "a\ufffd b",
		"zero\u200bwidth\U000e0041": "zero\ufffdwidth\ufffd",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestAsksBeforeItCannotBeTakenBack has destructive acts want a person or --yes.
func TestAsksBeforeItCannotBeTakenBack(t *testing.T) {
	data := filepath.Join(t.TempDir(), "none")
	code, _, errs := runHere(t, "restore", "--data", data, "--from", "x", "--reason", "r")
	if code != int(exitPrecondition) || !strings.Contains(errs, "--yes") {
		t.Errorf("restore without a terminal: %d %q", code, errs)
	}
	for _, answer := range []string{"no\n", "\n", "", "y\n", "yes please\n"} {
		e := &env{in: strings.NewReader(answer), out: &bytes.Buffer{}, err: &bytes.Buffer{}, terminal: true, now: time.Now}
		e.ask = e.askPerson
		if code := run(context.Background(), e, []string{"pratique", "restore", "--data", data, "--from", "x", "--reason", "r"}); code != int(exitPrecondition) {
			t.Errorf("answer %q: code %d", answer, code)
		}
	}
	e := &env{in: strings.NewReader("yes\n"), out: &bytes.Buffer{}, err: &bytes.Buffer{}, terminal: true, now: time.Now}
	e.ask = e.askPerson
	if code := run(context.Background(), e, []string{"pratique", "restore", "--data", data, "--from", "x", "--reason", "r"}); code != int(exitNotFound) {
		t.Errorf("answer yes: code %d, want 3: there is nothing to restore", code)
	}
}
