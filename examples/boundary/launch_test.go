package boundary_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// guarded is the command line of guard with further flags.
func (w *world) guarded(flags ...string) []string {
	argv := w.Argv()
	return slices.Concat(argv[:2], flags, argv[2:])
}

// launch starts guard under an intent, and finds whom it drew for it.
func (w *world) launch(t *testing.T, revision, name string) *worker {
	t.Helper()
	before := w.launches()
	k := &worker{world: w, t: t, revision: revision, presented: true, may: []string{"note", "plan"}}
	k.conn = mcptest.StartStdio(t, revision, w.guarded("--intent", w.files[name])...)
	if m := k.conn.Start(); m.Result == nil {
		t.Fatalf("no handshake: %s: %s", m.Raw, k.conn.Stderr())
	}
	for _, i := range w.launches() {
		if !slices.Contains(before, i) {
			k.id = i.Agent
		}
	}
	if k.id == "" {
		t.Fatalf("no launch is sealed: %s", k.conn.Stderr())
	}
	return k
}

// A shown is an intent as `intent show` has it.
type shown struct {
	Agent  credentials.AgentID `json:"agent"`
	State  string              `json:"state"`
	Digest string              `json:"digest"`
	Launch bool                `json:"launch"`
}

func (w *world) shown() []shown {
	w.t.Helper()
	var out struct {
		Intents []shown `json:"intents"`
	}
	w.JSON(&out, "intent", "show", "--data", w.Data)
	return out.Intents
}

func (w *world) launches() []shown {
	if _, err := os.Stat(w.Data); err != nil {
		return nil
	}
	return slices.DeleteFunc(w.shown(), func(i shown) bool { return !i.Launch })
}

// TestLaunches does with launches on stdio what TestOrders does with credentials: the
// seal is there before the first byte, whatever the file says later.
func TestLaunches(t *testing.T) {
	for _, way := range []stage.Way{stage.StdioStdio, stage.StdioHTTP} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, way, stage.Options{})
			for n, order := range []string{
				"call widen call", "widen call another longer looser call", "call narrow widen back call", "edit call widen call", "narrow edit back call", "plain call widen call",
			} {
				revision := []string{legacy, mcptest.Modern, "2024-11-05"}[n%3]
				t.Run(order, func(t *testing.T) {
					k := w.launch(t, revision, "sealed")
					defer k.conn.Close()
					for _, name := range strings.Fields(order) {
						switch name {
						case "edit": // what is sealed is not what the file says now
							if err := os.WriteFile(w.files["sealed"], []byte(intents["wider"]), 0o600); err != nil {
								t.Fatal(err)
							}
							defer func() { _ = os.WriteFile(w.files["sealed"], []byte(intents["sealed"]), 0o600) }()
						case "plain": // another launch, without an intent
							o := &worker{world: w, t: t, conn: mcptest.StartStdio(t, legacy, w.Argv()...)}
							o.conn.Start()
							o.check("plain")
							o.conn.Close()
						default:
							k.step(name)
						}
					}
					k.check("at the end")
				})
			}
			if left := w.launches(); len(left) != 0 {
				t.Errorf("launches have ended, and intents are left: %+v", left)
			}
			w.recorded()
		})
	}
}

// TestBadLaunches: guard under an intent that cannot be sealed serves nobody.
func TestBadLaunches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.StdioStdio, stage.Options{})
	files := 0
	file := func(text string) string {
		files++
		path := fmt.Sprintf("%s/bad-%d.yaml", w.Dir, files)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := intents["sealed"]
	for name, flags := range map[string][]string{
		"no file":             {"--intent", w.Dir + "/none.yaml"},
		"no intent":           {"--intent", file("")},
		"an end in the past":  {"--intent", file(strings.Replace(good, "1h", "\"2020-01-01T00:00:00Z\"", 1))},
		"a tool of nobody":    {"--intent", file(strings.Replace(good, "plan", "nothing", 1))},
		"an agent's":          {"--intent", file(good + "agent: somebody\n")},
		"of another server":   {"--intent", file(good + "launch: elsewhere\n")},
		"the profile watch":   {"--profile", "watch", "--intent", w.files["sealed"]},
		"a key without it":    {"--key", w.files["sealed"]},
		"a key that is none":  {"--key", w.files["sealed"], "--intent", w.files["sealed"]},
		"somebody else's key": {"--key", w.foreignKey(), "--intent", w.files["sealed"]},
	} {
		argv := w.guarded(flags...)
		out, errs, code := w.Run(argv[1:]...)
		if code == 0 || out != "" || errs == "" {
			t.Errorf("%s: exit code %d, %q, %q", name, code, out, errs)
		}
	}
	if left := w.launches(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	if n := w.Up.Executed("note"); n != 0 {
		t.Errorf("%d calls", n)
	}
}

// foreignKey is the file of an operator's key of another folder.
func (w *world) foreignKey() string {
	w.t.Helper()
	o := newWorld(w.t, stage.HTTPHTTP, stage.Options{})
	o.Stop()
	return o.Data + "/operator.jwk"
}
