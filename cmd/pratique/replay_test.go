package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/labels"
	"github.com/pratique-dev/pratique/labels/policy"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry"
	"github.com/pratique-dev/pratique/registry/baseline"
	"github.com/pratique-dev/pratique/registry/decisions"
	"github.com/pratique-dev/pratique/registry/node"
)

const replayed = `{"name":"read_file","description":"Reads a file.","inputSchema":{"type":"object"}}`

// decided makes a data folder with calls on record, as a gateway leaves it: one
// let through, one refused as changed, one by the operator's rules.
func decided(t *testing.T) (data string, calls []string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	n, err := node.Open(context.Background(), node.Config{Data: data, Listen: "127.0.0.1:0", Admin: "off"}, node.Options{Quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	c := &call{Context: context.Background(), env: &env{now: time.Now}}
	store, err := c.baselines(n, data)
	if err != nil {
		t.Fatal(err)
	}
	item := gate.Decode(gate.Tool, []byte(replayed))
	if _, err := store.Update(context.Background(), "stdio:files", func(d *baseline.Draft) error {
		_, err := d.Pin(baseline.Key{Kind: baseline.Tool, Name: item.Name}, item.Digest, item.Canonical, baseline.ByFirstSight)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	l, err := n.Decisions()
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("rules:\n  - name: readers\n    allow: [read_file]\n")
	rules, err := policy.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	base := registry.Entry{Run: "run_1", Upstream: "files", Origin: "stdio:files", Method: "tools/call", Kind: "tool", Name: item.Name, Mdg: item.Digest,
		Tier: "yellow", Standing: "pinned", Content: "inspected", Gate: "cleared", Context: "clean", Fit: "fits", Profile: "personal", Verb: "allow", Reason: "cleared", Rule: "profile:personal"}
	facts := policy.Facts{Profile: policy.Personal, Method: "tools/call", Tool: item.Name, Standing: labels.Pinned, Content: labels.Inspected, Tier: labels.Yellow, Gate: policy.Cleared, Context: policy.Clean, Fit: policy.Fits}
	by := func(p policy.Policy, change func(e *registry.Entry)) {
		e := base
		e.Policy = p.Decide(facts).Policy()
		change(&e)
		k, err := l.Decided(context.Background(), &e, []byte(`{"path":"/a"}`), true)
		if err == nil && e.Outcome == "" {
			err = l.Finished(k, &registry.Entry{Outcome: registry.OutcomeReturned}, []byte("{}"))
		}
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, k.Call())
	}
	by(policy.Of(nil), func(*registry.Entry) {})
	by(policy.Of(nil), func(e *registry.Entry) {
		e.Gate, e.Verb, e.Reason, e.Outcome = "changed", "deny", "changed", registry.OutcomeRefused
	})
	by(policy.Of(rules), func(e *registry.Entry) { e.Reason, e.Rule = "rule_allow", "readers" })
	if err := l.KeepPolicy(policy.Of(rules).Decide(facts).Policy(), text); err != nil {
		t.Fatal(err)
	}
	return data, calls
}

// TestReplayCommand: a recorded call is judged again by its id or index; what is
// missing is cannot_replay, and what is decided otherwise has an exit code.
func TestReplayCommand(t *testing.T) {
	data, calls := decided(t)
	for i, ref := range append(calls, "0") {
		o := good(t, replayOutput{}, "replay", "--data", data, ref)
		if !o.Same || o.Cannot || o.Call == "" || o.Then.Verb != o.Now.Verb {
			t.Errorf("%d: %+v", i, o)
		}
	}
	for args, want := range map[string]exit{"call_none": exitNotFound, "17": exitNotFound, "1": exitNotFound, "nonsense": exitUsage} {
		if code, _, _ := runHere(t, "replay", "--data", data, args); code != int(want) {
			t.Errorf("replay %s: code %d, want %d", args, code, want)
		}
	}
	if code, _, _ := runHere(t, "replay", "--data", filepath.Join(data, "nowhere"), "0"); code != int(exitNotFound) {
		t.Errorf("no folder: code %d", code)
	}
	e := good(t, eventsOutput{}, "ledger", "show", "--data", data)
	if err := decisions.Erase(data, &e.Entries[0]); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := runHere(t, "replay", "--json", "--data", data, calls[0])
	if o := decodeAnswer[replayOutput](t, stdout); code != int(exitPrecondition) || !o.Cannot || o.Now != nil || o.Then != nil || !strings.Contains(stderr, "cannot_replay") {
		t.Errorf("erased: code %d, %+v, %s", code, o, stderr)
	}
	if code, _, _ := runHere(t, "replay", "--data", data, calls[2]); code != 0 {
		t.Errorf("another call: code %d", code)
	}
	policies := filepath.Join(data, "vault", "policies")
	if err := os.Rename(policies, policies+".away"); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := runHere(t, "replay", "--data", data, calls[2]); code != int(exitPrecondition) || !strings.Contains(stdout, "cannot_replay") {
		t.Errorf("no policy: code %d, %s", code, stdout)
	}
}

// TestLedgerShowsAndVerifiesDecisions: show, follow and verify know the decision
// log; damage in it has the exit code of tampering, and names the spool.
func TestLedgerShowsAndVerifiesDecisions(t *testing.T) {
	data, calls := decided(t)
	e := good(t, eventsOutput{}, "ledger", "show", "--data", data)
	if len(e.Entries) != 5 || e.Size != 5 || e.Entries[0].Entry.Call != calls[0] {
		t.Errorf("%+v", e)
	}
	if e := good(t, eventsOutput{}, "ledger", "show", "--data", data, "--call", calls[0]); len(e.Entries) != 2 {
		t.Errorf("of one call: %d", len(e.Entries))
	}
	if e := good(t, eventsOutput{}, "ledger", "show", "--data", data, "--run", "run_2"); len(e.Entries) != 0 || e.Entries == nil {
		t.Errorf("of another run: %+v", e.Entries)
	}
	if e := good(t, eventsOutput{}, "ledger", "show", "--data", data, "--last", "1"); len(e.Entries) != 1 || e.Entries[0].Index != 4 {
		t.Errorf("the last: %+v", e.Entries)
	}
	for _, args := range [][]string{{"--data", data, "--from", "1"}, {"--registry", "http://127.0.0.1:1", "--run", "x"}, {}, {"--data", data, "--registry", "http://127.0.0.1:1"}} {
		if code, _, _ := runHere(t, append([]string{"ledger", "show"}, args...)...); code != int(exitUsage) {
			t.Errorf("%v: code %d", args, code)
		}
	}
	v := good(t, ledgerOutput{}, "ledger", "verify", "--data", data)
	if v.Spools != 1 || v.Decisions != 5 || v.Anchored != 5 || v.Torn {
		t.Errorf("%+v", v)
	}
	spool := e.Entries[0].Spool
	path := filepath.Join(data, "decisions", spool, "00000000.spool")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.Replace(whole, []byte("profile:personal"), []byte("profile:PERSONAL"), 1)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := runHere(t, "ledger", "verify", "--json", "--data", data)
	o := decodeAnswer[ledgerOutput](t, stdout)
	if code != int(exitRefused) || !o.Tampered || len(o.Problems) == 0 || o.Problems[0].Index != 0 || !strings.Contains(o.Problems[0].Detail, spool) {
		t.Errorf("edited: code %d, %+v", code, o)
	}
	if code, _, stderr := runHere(t, "ledger", "show", "--data", data); code != int(exitRefused) || !strings.Contains(stderr, spool) {
		t.Errorf("shown: code %d, %s", code, stderr)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestLedgerFollow prints entries as they are written, until it is interrupted.
func TestLedgerFollow(t *testing.T) {
	data, _ := decided(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lines := make(writes, 100)
	e := &env{in: strings.NewReader(""), out: lines, err: &bytes.Buffer{}, now: time.Now}
	ended := make(chan int)
	go func() {
		ended <- run(ctx, e, []string{"pratique", "ledger", "follow", "--data", data, "--every", "1ms", "--json"})
	}()
	l, err := decisions.Open(data, decisions.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var got string
	for i := 0; got == ""; i++ { // what was written before it looked the first time is not new
		if err := l.Note(&registry.Entry{Type: registry.EntryDropped, Run: "run_" + strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
		select {
		case got = <-lines:
		case <-time.After(5 * time.Millisecond):
		}
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("code %d: %s", code, e.err)
	}
	if r := decodeAnswer[decisions.Record](t, strings.TrimSpace(got)); r.Spool != l.Spool() || r.Entry.Type != registry.EntryDropped {
		t.Errorf("%s", got)
	}
}

type writes chan string

func (w writes) Write(b []byte) (int, error) {
	select {
	case w <- string(b):
	default:
	}
	return len(b), nil
}
