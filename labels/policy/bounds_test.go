package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/pratique-dev/pratique/labels"
)

// ones is a list of n literals.
func ones(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }

// TestBoundsOfConditions: each bound is met by nothing else: what is just within it is
// taken, and what is just beyond it is refused for it.
func TestBoundsOfConditions(t *testing.T) {
	literals := func(n int) string {
		return fmt.Sprintf(`"%s".matches("[%s]")`, strings.Repeat("a", 2000), strings.Repeat("b", n))
	}
	for _, c := range []struct{ what, within, beyond, why string }{
		{"maxExpression, before CEL reads it", `"` + strings.Repeat("a", maxExpression-9) + `" == ""`, `"` + strings.Repeat("a", maxExpression-7) + `" == ""`, "more than 4096 bytes"},
		{"ExpressionNodeLimit", "1 in " + ones(maxNodes-3), "1 in " + ones(maxNodes-2), "node count exceeds limit"},
		{"ParserRecursionLimit", strings.Repeat("(", maxDepth-1) + "true" + strings.Repeat(")", maxDepth-1), strings.Repeat("(", maxDepth) + "true" + strings.Repeat(")", maxDepth), "recursion limit exceeded"},
		{"RegexProgramSizeLimit", `args.x.matches("` + strings.Repeat("a", maxRegex-2) + `")`, `args.x.matches("` + strings.Repeat("a", maxRegex-1) + `")`, "regex program size"},
		{"ValidateComprehensionNestingLimit", `[1].all(x, [1].all(y, true))`, `[1].all(x, [1].all(y, [1].all(z, true)))`, "comprehension"},
		{"maxCost at its least", literals(1990), literals(2010), "it costs too much"},
	} {
		if _, err := compile(c.within); err != nil {
			t.Errorf("%s: within: %v", c.what, err)
		}
		if _, err := compile(c.beyond); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: beyond: %v", c.what, err)
		}
	}
}

// TestBoundsOfFiles: what is just within the bounds of a file is taken, and what is just
// beyond is refused for it.
func TestBoundsOfFiles(t *testing.T) {
	const rule = "rules:\n- {name: z, allow: [t]}\n"
	padded := func(n int) string { return rule + "#" + strings.Repeat("x", n-len(rule)-1) }
	names := func(n int) string { // each rule has at most 10,000
		var b strings.Builder
		b.WriteString("rules:\n")
		for at := 0; at < n; at += 10_000 {
			fmt.Fprintf(&b, "- name: r%d\n  allow: [", at)
			for i := range min(10_000, n-at) {
				if i > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, "a%d", i)
			}
			b.WriteString("]\n")
		}
		return b.String()
	}
	nodes := func(n int) string {
		var b strings.Builder
		b.WriteString("rules:\n")
		for i := 0; n > 0; i++ {
			own := min(n, maxNodes)
			fmt.Fprintf(&b, "- {name: r%d, allow: [t%d], when: '%d in %s'}\n", i, i, i, ones(own-3))
			n -= own
		}
		return b.String()
	}
	for _, c := range []struct{ what, within, beyond, why string }{
		{"MaxRulesBytes", padded(MaxRulesBytes), padded(MaxRulesBytes + 1), "more than 1048576 bytes"},
		{"maxNames", names(maxNames), names(maxNames + 1), "more than 100000 names"},
		{"maxFileNodes", nodes(maxNodes), nodes(maxFileNodes + 5), "too large together"}, // all that are just within take seconds
	} {
		if len(c.beyond) > MaxRulesBytes && c.what != "MaxRulesBytes" {
			t.Fatalf("%s: cannot be met, the file is too long", c.what)
		}
		if _, err := Load([]byte(c.within)); err != nil {
			t.Errorf("%s: within: %v", c.what, err)
		}
		if _, err := Load([]byte(c.beyond)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: beyond: %v", c.what, err)
		}
	}
}

// TestPipeForRules: a pipe that is given for a rule file is not even opened, since that
// waits for somebody who writes.
func TestPipeForRules(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "rules.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error)
	go func() {
		_, err := OpenSource(pipe)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "not a regular file") {
				t.Error(err)
			}
			return
		default:
			runtime.Gosched()
		}
		// Opening it to write fails until somebody has it open to read.
		if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			t.Error("it was opened")
			w.Close()
			<-done
			return
		}
	}
}

// TestStrictestAssurance: of several asks the most assurance is wanted, whichever asks
// first.
func TestStrictestAssurance(t *testing.T) {
	ask := func(need string) Policy {
		r, err := Load([]byte("rules:\n- {name: a, ask: [t], assurance: " + need + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return Of(r)
	}
	allow, err := Load([]byte("rules:\n- {name: a, allow: [t]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Facts{Profile: Personal, Method: "tools/call", Tool: "t", Tier: labels.Green, Standing: labels.Attested, Content: labels.Inspected, Effect: labels.Write,
		Gate: Cleared, Context: Clean, Channel: true, Fit: Fits, Args: []byte(`{}`)}
	for _, layers := range [][]Policy{
		{ask("tap"), ask("passkey")}, {ask("passkey"), ask("tap")}, {Of(allow), ask("tap"), ask("passkey"), Of(allow)},
	} {
		if d := Strictest(layers...).Decide(f); d.Verb() != Ask || d.Assurance() != labels.AssurancePasskey {
			t.Errorf("%s by %s wants %v", d.Reason(), d.Rule(), d.Assurance())
		}
	}
	if d := Strictest(Of(allow), Of(allow)).Decide(f); d.Verb() != Allow || d.Assurance() != 0 {
		t.Errorf("allowed with %v", d.Assurance())
	}
}
