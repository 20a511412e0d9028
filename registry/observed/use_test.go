package observed_test

import (
	"path/filepath"
	"testing"

	"github.com/pratique-dev/pratique/registry/observed"
)

// TestUses: of each version the newest call is told, once, by the process that
// carried it.
func TestUses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "observed")
	a, b := open(t, dir, observed.Options{}), open(t, dir, observed.Options{})
	p := a.Place(place)
	p.Carried(subject("pay"), 7)
	p.Carried(subject("pay"), 5)
	p.Carried(subject("mail"), 3)
	if u := b.Uses(); len(u) != 0 {
		t.Errorf("another process: %+v", u)
	}
	u := a.Uses()
	if len(u) != 2 || u[0].Name != "mail" || u[0].View != 3 || u[1].Subject != subject("pay") || u[1].View != 7 || u[1].Origin != place {
		t.Errorf("%+v", u)
	}
	if u := a.Uses(); len(u) != 0 {
		t.Errorf("again: %+v", u)
	}
	u[0].Place.Carried(u[0].Subject, u[0].View)
	if u := a.Uses(); len(u) != 1 {
		t.Errorf("put back: %+v", u)
	}
}
