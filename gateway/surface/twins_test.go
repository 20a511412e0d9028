package surface_test

import (
	"context"
	"testing"
	"time"

	"github.com/pratique-dev/pratique/gateway/surface"
	"github.com/pratique-dev/pratique/quarantine"
	"github.com/pratique-dev/pratique/quarantine/gate"
	"github.com/pratique-dev/pratique/registry/baseline"
)

// accepted makes a tool an accepted one of another origin.
func accepted(b *bench, origin, raw string) {
	b.t.Helper()
	it := gate.Decode(gate.Tool, []byte(raw))
	_, err := b.store.Update(context.Background(), origin, func(d *baseline.Draft) error {
		_, err := d.Pin(baseline.Key{Kind: baseline.Tool, Name: it.Name}, it.Digest, it.Canonical, baseline.ByFirstSight)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestTwinElsewhere: a tool that looks like one that was accepted of another origin
// before is withheld; the same name, another name, and whoever was first are not.
func TestTwinElsewhere(t *testing.T) {
	b := newBench(t)
	o := newOperator(b)
	b.elsewhere = surface.Elsewhere(b.store, place)
	accepted(b, "stdio:files@abc", tool("read_file", "x"))
	u := newServer(tool("read_fi1e", "x"), tool("read_file", "x"), tool("READ-FILE", "x"), tool("write_file", "x"))
	k := b.keeper(u)
	sameNames(t, "beside another origin", mustList(t, k, gate.Tool), "READ-FILE", "read_file", "write_file")
	for _, e := range k.Surface().Entries(gate.Tool) {
		if e.Name == "read_fi1e" && (e.Verdict != quarantine.Suspect || len(e.Findings) != 1 || e.Findings[0].Category != quarantine.TwinName) {
			t.Errorf("%v, %+v", e.Verdict, e.Findings)
		}
	}
	b.pass(time.Minute)
	accepted(b, "stdio:late@abc", tool("wr1te_file", "x")) // it came later: we are not its twin
	u.set("tools/list", tool("read_fi1e", "x"), tool("read_file", "x"), tool("write_file", "x"))
	k.Notice("notifications/tools/list_changed")
	sameNames(t, "who was first", mustList(t, k, gate.Tool), "read_file", "write_file")
	o.act(false, "read_fi1e")
	sameNames(t, "released", mustList(t, k, gate.Tool), "read_fi1e", "read_file", "write_file")
}
