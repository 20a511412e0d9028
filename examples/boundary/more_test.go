package boundary_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials"
	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
	"github.com/pratique-dev/pratique/registry"
)

// waitFor asks again until something holds, at most for some minutes.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(4 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// shortly is a worker under an intent that ends soon, and has been listed what is sealed.
// ended is it, and those whose intent ended before a slow machine had come so far.
func (w *world) shortly(t *testing.T) (k *worker, ended map[credentials.AgentID]bool) {
	t.Helper()
	ended = map[credentials.AgentID]bool{}
	for life := 12 * time.Second; ; life *= 2 {
		text := strings.Replace(intents["sealed"], "1h", life.String(), 1)
		if err := os.WriteFile(w.files["short"], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		k = w.hire(t, "short-"+life.String(), "personal")
		ended[k.id] = true
		began := time.Now()
		k.seal("short", done)
		got := k.talk().Tools()
		switch late := time.Since(began) > life; {
		case slices.Equal(got, []string{"note", "plan"}):
			return k, ended
		case !late || len(got) != 0 || life > 3*time.Minute:
			t.Fatalf("listed: %q", got)
		}
		k.leave()
	}
}

// TestExpired: at its end an intent allows nothing any more, in no session, process or
// era, and nothing makes it longer.
func TestExpired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.HTTPHTTP, stage.Options{})
	k := w.hire(t, "worker", "personal")
	k.step("seal")
	short, ended := w.shortly(t)
	a := short.talk()
	waitFor(t, "the end", func() bool { return len(a.Tools()) == 0 })
	a.NextMethod("notifications/tools/list_changed")
	short.may = []string{}
	stage.Refused(t, a.Call("note", `{}`), "intent_expired")
	short.seal("longer", refused)
	short.seal("sealed", refused)
	for _, name := range []string{"read", "reconnect", "era", "restart", "read", "era"} {
		short.step(name)
	}
	k.step("read") // another's goes on
	k.check("another's")
	short.replayed()
	for _, i := range w.shown() {
		if want := map[bool]string{true: "expired", false: "bound"}[ended[i.Agent]]; i.State != want {
			t.Errorf("%+v, want %s", i, want)
		}
	}
	w.recorded()
}

// TestNarrowed: sessions that are open follow a narrower intent at once, in both eras.
func TestNarrowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.HTTPHTTP, stage.Options{})
	k := w.hire(t, "worker", "personal")
	k.step("seal")
	old := mcptest.DialHTTP(t, legacy, k.url)
	old.Start()
	young := mcptest.DialHTTP(t, mcptest.Modern, k.url)
	young.Start()
	for _, a := range []*mcptest.Agent{old, young} {
		if got := a.Tools(); !slices.Equal(got, []string{"note", "plan"}) {
			t.Fatalf("listed: %q", got)
		}
	}
	k.step("narrow")
	for _, a := range []*mcptest.Agent{old, young} {
		stage.Refused(t, a.Call("plan", `{}`), "outside_intent")
		if m := a.Call("note", `{}`); m.IsError() {
			t.Errorf("%s", m.Raw)
		}
		if got := a.Tools(); !slices.Equal(got, []string{"note"}) {
			t.Errorf("listed: %q", got)
		}
	}
	old.NextMethod("notifications/tools/list_changed")
	sealed := w.Find(func(e registry.Entry) bool { return e.Type == registry.EntrySealed && e.Agent == k.id })
	decided := w.Find(func(e registry.Entry) bool { return e.Type == registry.EntryDecision && e.Agent == k.id })
	if len(sealed) != 2 || sealed[1].Was != sealed[0].Intent || len(decided) != 4 {
		t.Fatalf("%+v\n%+v", sealed, decided)
	}
	k.replayed()
	for _, e := range decided {
		if e.Intent != sealed[1].Intent {
			t.Errorf("a decision names another intent: %+v", e)
		}
	}
}

// TestVersions: another version of a tool that was sealed is outside, and so is a tool
// that comes later, accepted or not; the others go on.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.HTTPHTTP, stage.Options{Freshness: "0s"})
	k := w.hire(t, "worker", "personal")
	k.step("seal")
	k.check("before")
	w.Up.Set(func(s *mcptest.Script) {
		s.Tools.Items[1] = mcptest.JSON(`{"name":"plan","title":"All plans","description":"Works on notes.","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`)
		s.Tools.Items = append(s.Tools.Items, mcptest.Tool("later", "Works on notes."))
	})
	a := k.talk()
	if got := a.Tools(); !slices.Equal(got, []string{"note"}) {
		t.Errorf("listed: %q", got)
	}
	stage.Refused(t, a.Call("plan", `{}`), "changed", "outside_intent")
	k.command("surface", "accept", "--data", w.Data, "--all", "--yes")
	if got := a.Tools(); !slices.Equal(got, []string{"note"}) {
		t.Errorf("listed: %q", got)
	}
	for _, tool := range []string{"plan", "later", "other"} {
		was := w.Up.Executed(tool)
		stage.Refused(t, a.Call(tool, `{}`), "outside_intent", "changed", "not_shown")
		if w.Up.Executed(tool) != was {
			t.Errorf("%s was executed", tool)
		}
	}
	if m := a.Call("note", `{}`); m.IsError() {
		t.Errorf("what did not change: %s", m.Raw)
	}
	k.seal("sealed", refused) // the new version is something else
}

// TestInitializeAgain: a second handshake, in the session or beside it, sheds nothing
// (case O-25, n6), and a wider intent after the first call is refused (case O-08, d).
func TestInitializeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.HTTPHTTP, stage.Options{})
	k := w.hire(t, "worker", "personal")
	k.step("seal")
	k.step("call")
	k.step("widen")
	a := k.talk()
	a.Request("initialize", `{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`)
	k.check("after a second initialize")
	session := a.Session()
	b := mcptest.DialHTTP(t, legacy, k.url)
	b.SetSession(session)
	b.Hello()
	k.check("after an initialize in its session by another connection")
	k.leave()
	k.check("with a fresh one")
	k.step("widen")
	w.recorded()
}

// TestUnseen: of a server that was never seen nothing can be named; the refusal says
// how to see it, and --look does.
func TestUnseen(t *testing.T) {
	t.Parallel()
	for _, way := range []stage.Way{stage.HTTPHTTP, stage.HTTPStdio} {
		w := &world{House: stage.Make(t, way, script(), stage.Options{}), t: t, files: map[string]string{}}
		w.Start()
		path := filepath.Join(w.Dir, "i.yaml")
		if err := os.WriteFile(path, []byte(intents["sealed"]), 0o600); err != nil {
			t.Fatal(err)
		}
		k := w.hire(t, "worker", "personal")
		args := []string{"intent", "seal", "--config", filepath.Join(w.Dir, "pratique.yaml"), "--agent", "worker", "--yes"}
		_, errs, code := w.Run(append(args, path)...)
		if code == 0 || !strings.Contains(errs, "--look") {
			t.Errorf("%d: %s", code, errs)
		}
		if out, errs, code := w.Run(append(args, "--look", path)...); code != 0 {
			t.Fatalf("%d: %s%s", code, out, errs)
		}
		k.may = []string{"note", "plan"}
		k.check("sealed")
		if n := w.Up.Executed("other"); n != 0 {
			t.Errorf("%d", n)
		}
	}
}

// TestRun: the agent is started with a credential that is sealed, and that ends with
// it.
func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.HTTPHTTP, stage.Options{})
	out, end := filepath.Join(w.Dir, "url"), filepath.Join(w.Dir, "end")
	cmd := exec.Command(stage.Bin(t), "intent", "run", "--data", w.Data, "--registry", w.registry(), w.files["sealed"], "--", "/bin/sh", "-c",
		fmt.Sprintf(`umask 077; printf '%%s\n%%s' "$PRATIQUE_MCP_URL" "$PRATIQUE_CREDENTIAL" > %s.new; mv %s.new %s; while ! [ -e %s ]; do sleep 0.1; done; exit 5`, out, out, out, end))
	said, err := os.Create(filepath.Join(w.Dir, "said")) // it writes while we read
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the agent", func() bool { _, err := os.Stat(out); return err == nil })
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	url, credential, _ := strings.Cut(string(raw), "\n")
	told, err := os.ReadFile(said.Name())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(url, "/mcp/"+credential) || strings.Contains(string(told), credential) {
		t.Errorf("%q %q: %s", url, credential, told)
	}
	k := &worker{world: w, t: t, revision: legacy, url: url, may: []string{"note", "plan"}}
	k.check("under run")
	for _, i := range w.shown() {
		k.id = i.Agent
	}
	k.step("widen")
	k.check("after widening")
	if err := os.WriteFile(end, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 5 {
		told, _ := os.ReadFile(said.Name())
		t.Errorf("exit code %d: %s", code, told)
	}
	if m := mcptest.DialHTTP(t, legacy, url).Start(); m.Result != nil {
		t.Error("the credential is good after its agent has ended")
	}

	var printed struct {
		URL        string `json:"url"`
		Credential string `json:"credential"`
	}
	text, errs, code := w.Run("intent", "run", "--data", w.Data, "--registry", w.registry(), "--name", "printed", "--json", w.files["sealed"])
	if err := json.Unmarshal([]byte(text), &printed); err != nil || code != 0 {
		t.Fatalf("%d: %v: %s", code, err, errs)
	}
	k = &worker{world: w, t: t, revision: mcptest.Modern, url: printed.URL, may: []string{"note", "plan"}}
	k.check("printed")
	if _, _, code := w.Run("intent", "run", "--data", w.Data, "--registry", w.registry(), "--profile", "watch", w.files["sealed"]); code != 2 {
		t.Errorf("under watch: %d", code)
	}
	w.recorded()
}

// TestRace lets processes seal a credential while it is presented for the first time.
// One of both is first, and everything afterwards follows from that.
func TestRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.HTTPHTTP, stage.Options{})
	sealed, open := 0, 0
	for n := range 6 {
		k := w.hire(t, fmt.Sprintf("racer-%d", n), "personal")
		var all sync.WaitGroup
		codes := make([]int, 2)
		for i, name := range []string{"sealed", "wider"} {
			all.Go(func() {
				_, _, codes[i] = w.Run("intent", "seal", "--data", w.Data, "--agent", string(k.id), "--yes", "--json", w.files[name])
			})
		}
		time.Sleep(time.Duration(n) * 60 * time.Millisecond) // the first presentation falls anywhere into it
		k.talk()
		all.Wait()
		switch {
		case codes[0] == done && codes[1] == refused:
			k.may = []string{"note", "plan"}
		case codes[1] == done && (codes[0] == done || codes[0] == refused): // sealed may narrow wider
			k.may = map[int][]string{done: {"note", "plan"}, refused: everything}[codes[0]]
			k.seal("another", refused)
		case codes[0] == refused && codes[1] == refused:
			open++
			k.check("presented first")
			continue
		default:
			t.Fatalf("exit codes %d", codes)
		}
		sealed++
		k.check("sealed first")
	}
	t.Logf("%d were sealed first, %d presented", sealed, open)
}

// TestRestored puts an earlier copy of the folder back. What was sealed in it is
// sealed, and nothing is wider than what an operator signed.
func TestRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t, stage.HTTPHTTP, stage.Options{})
	k := w.hire(t, "worker", "personal")
	k.step("seal")
	w.Stop()
	copied := filepath.Join(w.Dir, "copy")
	if err := os.CopyFS(copied, os.DirFS(w.Data)); err != nil {
		t.Fatal(err)
	}
	w.Start()
	k.step("read")
	k.step("narrow")
	k.check("narrowed")
	k.leave()
	w.Stop()
	if err := os.Rename(w.Data, w.Data+".lost"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, w.Data); err != nil {
		t.Fatal(err)
	}
	private(t, w.Data)
	w.Start()
	k.may = []string{"note", "plan"} // the copy has not heard of anything later
	k.step("widen")
	k.step("read")
	k.step("widen")
	k.check("restored")
}

// private makes what a copy is what the folder was.
func private(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()])
	})
	if err != nil {
		t.Fatal(err)
	}
}
