package boundary_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/examples/hostile/stage"
	"github.com/pratique-dev/pratique/internal/mcptest"
)

// orders are steps as they follow each other; what each does is in step. Before the
// first of read, call, era and look the credential was not presented.
var orders = []string{
	"seal read widen call",
	"seal call widen read",
	"seal widen read call",
	"seal seal read widen",
	"read seal widen call",
	"call seal read",
	"look seal call",
	"seal read another call",
	"seal read longer call",
	"seal read looser call",
	"seal look widen call",
	"seal restart read widen call",
	"seal read restart widen call",
	"seal read restart widen restart widen call",
	"seal read reconnect widen call",
	"seal read era widen call",
	"seal era read widen era widen call",
	"seal era restart widen reconnect widen call",
	"seal second read widen call",
	"second seal read widen second call",
	"read second seal call",
	"seal read narrow widen back call",
	"seal narrow read widen back restart back call",
	"seal read narrow restart era widen back call",
	"seal read end widen call",
	"seal end read widen call",
	"read end seal call",
	"seal read end restart era widen call",
	"seal read tamper restart widen mend call",
	"seal read swap widen mend call",
	"seal read revoke widen",
	"seal restart restart reconnect era second narrow widen another longer looser back read call",
}

// step does one of an order.
func (k *worker) step(name string) {
	k.t.Helper()
	unsealed, none := k.may == nil, []string{}
	switch name {
	case "seal":
		switch {
		case k.presented || !unsealed:
			k.seal("sealed", map[bool]int{true: refused, false: done}[unsealed]) // the same again is no wider
		default:
			k.seal("sealed", done)
			k.may = []string{"note", "plan"}
		}
	case "widen", "another", "longer", "looser", "back":
		file, ok := map[string]string{"widen": "wider", "back": "sealed"}[name]
		if !ok {
			file = name
		}
		want := refused
		if k.revoked {
			want = nobody
		}
		k.seal(file, want)
	case "narrow":
		k.seal("narrower", done)
		k.may = []string{"note"}
	case "read", "call", "look":
		k.present(name)
	case "reconnect":
		k.leave()
		k.present("read")
	case "era":
		k.leave()
		k.revision = map[string]string{legacy: mcptest.Modern, mcptest.Modern: legacy}[k.revision]
		k.present("read")
	case "restart":
		k.leave()
		k.Restart()
	case "second":
		k.second()
	case "end":
		k.leave()
		k.command("agents", "end", "--data", k.Data, "--id", string(k.id), "--reason", "a test")
		if !unsealed && k.presented {
			k.may = none // what was sealed is not shed with the run
		}
	case "revoke":
		k.command("agents", "revoke", "--id", string(k.id), "--registry", k.registry(), "--key", k.Data+"/operator.jwk")
		k.leave()
		k.revoked = true
	case "tamper", "swap", "mend":
		k.hurt(name)
	default:
		k.t.Fatalf("no step %q", name)
	}
}

// present has the agent heard for the first time, or again.
func (k *worker) present(name string) {
	k.t.Helper()
	k.presented = true
	switch a := k.talk(); {
	case k.broken: // it is not admitted, or nothing is allowed
	case name == "look":
		a.Request("ping", "")
	default:
		k.check(name)
	}
}

// second is another agent, which has no intent, and gets none that is not its own.
func (k *worker) second() {
	k.t.Helper()
	o := k.hire(k.t, "second", "personal")
	o.present("read")
	o.seal("sealed", refused)
	o.check("second")
	o.leave()
}

func (k *worker) command(args ...string) {
	k.t.Helper()
	if out, errs, code := k.Run(append(args, "--json")...); code != 0 {
		k.t.Errorf("%q: %d: %s%s", args, code, out, errs)
	}
}

// hurt changes the file of the intent as somebody could who has the folder, and puts
// it back.
func (k *worker) hurt(how string) {
	k.t.Helper()
	if how == "mend" {
		k.broken = false
		if err := os.WriteFile(k.file("intent"), k.was, 0o600); err != nil {
			k.t.Fatal(err)
		}
		k.leave()
		k.Restart() // what was once seen older than it was is not believed
		return
	}
	var err error
	if k.was, err = os.ReadFile(k.file("intent")); err != nil {
		k.t.Fatal(err)
	}
	text := bytes.ReplaceAll(k.was, []byte(`"name":"plan"`), []byte(`"name":"other"`))
	if how == "swap" { // the wider one of another agent
		o := k.hire(k.t, "wide", "personal")
		o.seal("wider", done)
		if text, err = os.ReadFile(o.file("intent")); err != nil {
			k.t.Fatal(err)
		}
	}
	if err := os.WriteFile(k.file("intent"), text, 0o600); err != nil {
		k.t.Fatal(err)
	}
	k.broken = true
	a := k.talk()
	if got := a.Request("tools/list", ""); len(got.Names()) != 0 {
		k.t.Errorf("%s: listed %q", how, got.Names())
	}
	for _, tool := range everything {
		was := k.Up.Executed(tool)
		if m := a.Call(tool, `{}`); !m.IsError() || k.Up.Executed(tool) != was {
			k.t.Errorf("%s: %s: %.300s", how, tool, m.Raw)
		}
	}
}

// TestOrders goes through all orders with a credential over HTTP. Whatever is tried
// after the first presentation, what was sealed stays sealed; before it there is one
// sealing, which only narrows.
func TestOrders(t *testing.T) {
	for _, w := range []stage.Way{stage.HTTPHTTP, stage.HTTPStdio} {
		t.Run(string(w), func(t *testing.T) {
			x := newWorld(t, w, stage.Options{})
			for n, order := range orders {
				if w != stage.HTTPHTTP && n%4 != 0 || testing.Short() && n%3 != 0 {
					continue
				}
				t.Run(order, func(t *testing.T) {
					k := x.hire(t, fmt.Sprintf("worker-%d", n), "personal")
					for _, name := range strings.Fields(order) {
						k.step(name)
					}
					if !strings.Contains(order, "revoke") {
						k.check("at the end")
					}
					k.leave()
				})
			}
			x.t = t
			x.recorded()
		})
	}
}
