package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/pratique-dev/pratique/credentials/keyring"
	"github.com/pratique-dev/pratique/internal/secret"
	"github.com/pratique-dev/pratique/labels/observe"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/holds"
	"github.com/pratique-dev/pratique/registry/node"
	"github.com/pratique-dev/pratique/registry/observed"
)

// obeyed is the first rune of a text that a terminal would not print as itself,
// line ends aside.
func obeyed(text string) (rune, bool) {
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			return r, true
		}
	}
	return 0, false
}

var escapes = regexp.MustCompile(`\\(?:u\{([0-9a-f]+)\}|x([0-9a-f]{2})|(.))`)

// unescaped is the text that visibleText was given.
func unescaped(t *testing.T, s string) string {
	t.Helper()
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		m := escapes.FindStringSubmatch(e)
		switch {
		case m[1] != "":
			n, err := strconv.ParseUint(m[1], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return string(rune(n))
		case m[2] != "":
			n, err := strconv.ParseUint(m[2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			return string([]byte{byte(n)})
		}
		c, ok := map[string]string{"n": "\n", "t": "\t", "r": "\r", `\`: `\`}[m[3]]
		if !ok {
			t.Fatalf("no such escape: %s", e)
		}
		return c
	})
}

// FuzzShow: whatever a text holds, all of it is shown, nothing of it is obeyed, and
// nothing of it passes for our own marks.
func FuzzShow(f *testing.F) {
	for _, s := range []string{
		"Adds two numbers.", "a\x1b[8mb\x1b[0m", "\u202eabc", "\U000e0073\U000e0065", "ig\u200bno\u200dre", "ign\u043ere", "\xff\xfe", `\n \x1b`, "⟦override x⟧",
		"社内ハンドブック", "\u009b31m", "a\r\nb\tc", strings.Repeat("\n", 400) + "tail", "\u2028\u2029\ufeff\u00ad",
	} {
		f.Add(s, 0, len(s), 1, 2)
	}
	f.Fuzz(func(t *testing.T, text string, a, b, c, d int) {
		if got := unescaped(t, visibleText(text)); got != text {
			t.Fatalf("%q is shown as %q", text, visibleText(text))
		}
		var found []quarantine.Finding
		for i, span := range [][2]int{{a, b}, {c, d}} {
			if span[0] >= 0 && span[0] <= span[1] && span[1] <= len(text) {
				found = append(found, quarantine.Finding{Category: []quarantine.Category{quarantine.Control, quarantine.Override}[i], Verdict: quarantine.Hostile, Path: "description", Span: quarantine.Span{From: span[0], To: span[1]}})
			}
		}
		marked := markedText(text, found)
		plainText := strings.NewReplacer("⟦control+override ", "", "⟦override+control ", "", "⟦control ", "", "⟦override ", "", "⟧", "").Replace(marked)
		if strings.Count(marked, "⟦") != strings.Count(marked, "⟧") || strings.Count(marked, "⟧") > len(found) || unescaped(t, plainText) != text {
			t.Fatalf("%q is shown as %q", text, marked)
		}
		raw, err := json.Marshal(map[string]any{"name": text, "description": text, text: 1}, json.Deterministic(true))
		if err != nil {
			return // no JSON has it
		}
		o := wholeOf(heldThing{ID: "item_x", Name: baseline.Visible(text), key: baseline.Key{Kind: baseline.Tool}, found: found}, raw)
		var out, errs bytes.Buffer
		k := &call{env: &env{out: &out, err: &errs}}
		for _, k.json = range []bool{false, true} {
			out.Reset()
			if err := k.show(o); err != nil {
				t.Fatal(err)
			}
			if r, bad := obeyed(out.String()); bad {
				t.Fatalf("%U is printed: %q", r, out.String())
			}
		}
		(&env{err: &errs}).report(fmt.Errorf("%w: %s", baseline.ErrMissing, text))
		if r, bad := obeyed(errs.String()); bad {
			t.Fatalf("%U is printed with an error: %q", r, errs.String())
		}
	})
}

// TestMarked: what was found stands in brackets that name it, whole, and once.
func TestMarked(t *testing.T) {
	at := func(c quarantine.Category, from, to int) quarantine.Finding {
		return quarantine.Finding{Category: c, Verdict: quarantine.Suspect, Span: quarantine.Span{From: from, To: to}}
	}
	for _, c := range []struct {
		text  string
		found []quarantine.Finding
		want  string
	}{
		{"abcdef", nil, "abcdef"},
		{"abcdef", []quarantine.Finding{at(quarantine.Override, 1, 3)}, "a⟦override bc⟧def"},
		{"abcdef", []quarantine.Finding{at(quarantine.Secrets, 4, 6), at(quarantine.Override, 1, 3)}, "a⟦override bc⟧d⟦secrets ef⟧"},
		{"abcdef", []quarantine.Finding{at(quarantine.Override, 1, 4), at(quarantine.Secrets, 3, 6)}, "a⟦override+secrets bcdef⟧"},
		{"abcdef", []quarantine.Finding{at(quarantine.Override, 1, 5), at(quarantine.Override, 2, 3)}, "a⟦override bcde⟧f"},
		{"abcdef", []quarantine.Finding{at(quarantine.Late, 0, 0)}, "abcdef"},
		{"a\nb⟦c", []quarantine.Finding{at(quarantine.Control, 1, 2)}, `a⟦control \n⟧b\u{27e6}c`},
	} {
		if got := markedText(c.text, c.found); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// A wardTest is a data folder with an operator, whose commands run in this process.
type wardTest struct {
	t    *testing.T
	data string
}

func newWard(t *testing.T) *wardTest {
	t.Helper()
	w := &wardTest{t, filepath.Join(t.TempDir(), "data")}
	w.in(func(*node.Node) {})
	return w
}

// in opens the folder as a gateway does.
func (w *wardTest) in(do func(n *node.Node)) {
	w.t.Helper()
	n, err := node.Open(context.Background(), node.Config{Data: w.data, Listen: "127.0.0.1:0", Admin: "off"}, node.Options{Quiet: true})
	if err != nil {
		w.t.Fatal(err)
	}
	do(n)
	if err := n.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// change changes the baseline of an origin, as a gateway does.
func (w *wardTest) change(origin string, f func(d *baseline.Draft) error) {
	w.t.Helper()
	w.in(func(n *node.Node) {
		s, err := (&call{Context: context.Background(), env: &env{now: time.Now}}).baselines(n, w.data)
		if err == nil {
			_, err = s.Update(context.Background(), origin, f)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	})
}

// hold keeps something, as a gateway does.
func (w *wardTest) hold(h holds.Hold, content string) (id string) {
	w.t.Helper()
	w.in(func(n *node.Node) {
		s, err := (&call{Context: context.Background(), env: &env{now: time.Now}}).holdsOf(n, w.data, nil)
		if err == nil {
			h, err = s.Put(context.Background(), h, []byte(content))
		}
		if err != nil {
			w.t.Fatal(err)
		}
	})
	return h.ID
}

// do runs a command.
func (w *wardTest) do(args ...string) (code exit, out, errs string) {
	w.t.Helper()
	n, out, errs := runHere(w.t, append([]string{args[0], args[1], "--data", w.data}, args[2:]...)...)
	return exit(n), out, errs
}

func (w *wardTest) want(code exit, args ...string) string {
	w.t.Helper()
	got, out, errs := w.do(args...)
	if got != code {
		w.t.Errorf("%q: code %d, want %d\n%s%s", args, got, code, out, errs)
	}
	return out
}

// listed are the things in quarantine by name and kind.
func (w *wardTest) listed(args ...string) map[string]heldThing {
	w.t.Helper()
	var o quarantineOutput
	if err := json.Unmarshal([]byte(w.want(exitOK, append([]string{"quarantine", "list", "--json"}, args...)...)), &o); err != nil {
		w.t.Fatal(err)
	}
	out := map[string]heldThing{}
	for _, h := range o.Held {
		out[h.Kind+" "+h.Name] = h
	}
	return out
}

const wardOrigin = "https://notes.example/mcp"

func wardItem(name, description string) gate.Item {
	return gate.Decode(gate.Tool, fmt.Appendf(nil, `{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, description))
}

func pinned(it gate.Item) func(d *baseline.Draft) error {
	return func(d *baseline.Draft) error {
		_, err := d.Pin(baseline.Key{Kind: baseline.Tool, Name: it.Name}, it.Digest, it.Canonical, baseline.ByFirstSight)
		return err
	}
}

func observedAs(it gate.Item, v quarantine.Verdict) func(d *baseline.Draft) error {
	return func(d *baseline.Draft) error {
		d.Observe(baseline.Key{Kind: baseline.Kind(it.Kind), Name: it.Name}, it.Digest, it.Canonical, v)
		return nil
	}
}

// TestQuarantineFault: what a release would not show is not released.
func TestQuarantineFault(t *testing.T) {
	w := newWard(t)
	bad := gate.Decode(gate.Tool, []byte(`{"name":"not a name","inputSchema":{}}`))
	w.change(wardOrigin, observedAs(bad, quarantine.Suspect))
	w.want(exitPrecondition, "quarantine", "release", "--id", w.listed()["tool not a name"].ID, "--yes")
	w.change(wardOrigin, observedAs(wardItem("a_name", "x"), quarantine.Suspect))
	w.want(exitOK, "quarantine", "release", "--id", w.listed()["tool a_name"].ID, "--yes")
}

// TestQuarantineAgain: a command that is repeated does what is left to do, or says
// that nothing is.
func TestQuarantineAgain(t *testing.T) {
	w := newWard(t)
	w.change(wardOrigin, observedAs(wardItem("a", "x"), quarantine.Suspect))
	id := w.listed()["tool a"].ID
	w.want(exitOK, "quarantine", "release", "--id", id, "--yes")
	if s := w.listed()["tool a"].State; s != stateReleased {
		t.Errorf("state %s", s)
	}
	w.want(exitPrecondition, "quarantine", "release", "--id", id, "--yes") // nothing is withheld any more
	w.want(exitOK, "quarantine", "condemn", "--id", id, "--yes")
	w.want(exitOK, "quarantine", "condemn", "--id", id, "--yes")
	if s := w.listed()["tool a"].State; s != stateCondemned {
		t.Errorf("state %s", s)
	}
}

// TestQuarantineKilled: a command that is killed at any moment has had its effect or
// none, what had one is on record, and the next one goes on from there.
func TestQuarantineKilled(t *testing.T) {
	w := newWard(t)
	w.change(wardOrigin, observedAs(wardItem("a", "x"), quarantine.Suspect))
	id := w.listed()["tool a"].ID
	acts := map[bool]string{true: "release", false: "condemn"}
	done := map[bool]int{}
	for i := range 16 {
		release := w.listed()["tool a"].State != stateReleased
		cmd := exec.Command("pratique", "quarantine", acts[release], "--data", w.data, "--id", id, "--yes")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(60)+i) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		switch s := w.listed()["tool a"].State; {
		case release && s == stateReleased, !release && s == stateCondemned:
			done[release]++
		case s != stateWithheld && s != stateReleased && s != stateCondemned:
			t.Fatalf("after %s: %s", acts[release], s)
		}
	}
	w.want(exitOK, "ledger", "verify")
	w.want(exitOK, "quarantine", "condemn", "--id", id, "--yes")
	var log eventsOutput
	if err := json.Unmarshal([]byte(w.want(exitOK, "ledger", "show", "--last", "0", "--json")), &log); err != nil {
		t.Fatal(err)
	}
	on := map[bool]int{}
	for _, r := range log.Entries {
		on[r.Entry.Type == registry.EntryReleased]++
	}
	if on[true] < done[true] || on[false] < done[false]+1 {
		t.Errorf("on record %v, done %v", on, done)
	}
}

// TestRawTerminal: raw bytes go to no terminal.
func TestRawTerminal(t *testing.T) {
	w := newWard(t)
	id := w.hold(holds.Hold{Subject: holds.Subject{Origin: wardOrigin, Kind: quarantine.KindResult}, Form: holds.FormResult}, "{\"text\":\"\x1b[31mred\"}")
	if out := w.want(exitOK, "quarantine", "show", "--id", id, "--raw"); !strings.Contains(out, "\x1b[31m") {
		t.Errorf("raw: %q", out)
	}
	if out := w.want(exitOK, "quarantine", "show", "--id", id); !strings.Contains(out, `\u{1b}[31mred`) || strings.Contains(out, "\x1b") {
		t.Errorf("shown: %q", out)
	}
	tty, screen := openTerminal(t)
	for _, raw := range []bool{true, false} {
		args := []string{"pratique", "quarantine", "show", "--data", w.data, "--id", id}
		want := exitOK
		if raw {
			args, want = append(args, "--raw"), exitPrecondition
		}
		var errs bytes.Buffer
		inProcess.Lock()
		code := exit(run(context.Background(), &env{in: strings.NewReader(""), out: tty, err: &errs, now: time.Now}, args))
		inProcess.Unlock()
		if code != want {
			t.Errorf("raw %v: code %d, %s", raw, code, errs.String())
		}
	}
	if text := screen(); !strings.Contains(text, `\u{1b}[31mred`) || strings.Contains(text, "\x1b") {
		t.Errorf("on the screen: %q", text)
	}
}

// TestQuarantineRegistered: a registered tool is condemned in the registry too, and
// released there with the item; not by whoever registered it.
func TestQuarantineRegistered(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	w := &wardTest{t, data}
	if err := os.WriteFile(filepath.Join(dir, "tools.json"), []byte(`[{"name":"a","description":"x","inputSchema":{"type":"object"}},{"name":"mine","description":"x","inputSchema":{"type":"object"}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startUp(context.Background(), dir, os.Environ(), "--data", data, "--listen", "127.0.0.1:0", "--admin", "off")
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "provider.jwk")
	for _, args := range [][]string{
		{"principals", "new", "--out", key},
		{"tools", "register", "--registry", p.answer.Registry, "--key", key, "--origin", wardOrigin, "--file", filepath.Join(dir, "tools.json"), "--handles", filepath.Join(dir, "handles")},
	} {
		if code, _, errs := runHere(t, args...); code != 0 {
			t.Fatal(args, code, errs)
		}
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	it := wardItem("a", "x")
	w.change(wardOrigin, pinned(it))
	condemned := func() (is bool) {
		w.in(func(n *node.Node) {
			v, err := n.Record().View()
			if err != nil {
				t.Fatal(err)
			}
			row, err := v.Named(wardOrigin, "a")
			if err != nil || row.Digest != it.Digest {
				t.Fatal(err, row)
			}
			is = row.Condemned
		})
		return is
	}
	id := w.listed("--all")["tool a"].ID
	w.want(exitOK, "quarantine", "condemn", "--id", id, "--yes")
	if !condemned() {
		t.Error("not condemned in the registry")
	}
	w.want(exitOK, "quarantine", "release", "--id", id, "--yes")
	if condemned() {
		t.Error("condemned in the registry after the release")
	}

	// The registrant is an operator too, and releases others' tools only.
	w.in(func(n *node.Node) {
		k, err := keyring.LoadKeyFile(key, secret.Value{})
		if err == nil {
			err = n.EnrolOperator(context.Background(), k.Key())
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	w.change(wardOrigin, observedAs(wardItem("mine", "odd"), quarantine.Suspect))
	w.change(wardOrigin, observedAs(wardItem("other", "odd"), quarantine.Suspect))
	w.want(exitRefused, "quarantine", "release", "--id", w.listed()["tool mine"].ID, "--key", key, "--yes")
	w.want(exitOK, "quarantine", "release", "--id", w.listed()["tool other"].ID, "--key", key, "--yes")
	w.want(exitOK, "quarantine", "release", "--id", w.listed()["tool mine"].ID, "--yes")
}

// TestQuarantineConduct: what contradicts its declaration is in the list with what
// was observed, and a release forgives that and nothing later.
func TestQuarantineConduct(t *testing.T) {
	w := newWard(t)
	w.change(wardOrigin, pinned(wardItem("a", "x")))
	w.change(wardOrigin, pinned(wardItem("b", "x")))
	a := w.listed("--all")["tool a"]
	observes := func() {
		w.in(func(n *node.Node) {
			s, err := n.Observed()
			if err != nil {
				t.Fatal(err)
			}
			err = s.Place(wardOrigin).Add(observed.Subject{Key: gate.Key{Kind: gate.Tool, Name: "a"}, Tool: a.Tool, Gen: a.Gen, Ver: a.Ver, Digest: a.Digest}, "",
				observe.Observation{Call: "call_1", Run: "run_1", At: time.Now().UnixMilli(), Seen: []observe.Sighting{{Sign: observe.OutputUnfit, Link: observe.Own}}}, observed.Cite{Spool: "s", Entry: 1})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	observes()
	if l := w.listed(); l["tool a"].Conduct != "violated" || l["tool a"].State != stateWithheld || len(l) != 1 {
		t.Errorf("list: %+v", l)
	}
	if out := w.want(exitOK, "quarantine", "show", "--id", a.ID); !strings.Contains(out, "observed: output_unfit") {
		t.Errorf("show: %s", out)
	}
	w.want(exitOK, "quarantine", "release", "--id", a.ID, "--yes")
	if l := w.listed(); len(l) != 0 {
		t.Errorf("after the release: %+v", l)
	}
	time.Sleep(2 * time.Millisecond)
	observes()
	if l := w.listed(); l["tool a"].State != stateWithheld {
		t.Errorf("seen again: %+v", l)
	}
	w.want(exitPrecondition, "quarantine", "release", "--id", w.listed("--all")["tool b"].ID, "--yes")
}

// TestQuarantinePushed: what made room for others is said.
func TestQuarantinePushed(t *testing.T) {
	w := newWard(t)
	w.in(func(n *node.Node) {
		key, err := holds.LoadKey(w.data)
		if err != nil {
			t.Fatal(err)
		}
		s, err := holds.Open(filepath.Join(w.data, holds.Folder), holds.Options{Key: key, Count: 8})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5 {
			h := holds.Hold{Subject: holds.Subject{Origin: wardOrigin, Kind: quarantine.KindResult}, Form: holds.FormResult, Agent: "agt_a"}
			if _, err := s.Put(context.Background(), h, fmt.Appendf(nil, "%d", i)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if out := w.want(exitOK, "quarantine", "list"); !strings.Contains(out, "3 more from "+wardOrigin+" for agt_a are not kept") {
		t.Errorf("list: %s", out)
	}
}
