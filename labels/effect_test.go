package labels_test

import (
	"testing"

	"github.com/pratique-dev/pratique/labels"
)

func TestEffectText(t *testing.T) {
	for e := labels.Effect(0); e <= labels.AllEffects; e++ {
		b, err := e.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back labels.Effect
		if err := back.UnmarshalText(b); err != nil || back != e {
			t.Errorf("%s came back as %v, %v", b, back, err)
		}
		if e != labels.Read && !e.Consequential() {
			t.Errorf("%v counts as a read", e)
		}
	}
	for _, s := range []string{"", "Read", "read+read", "read+", "all", "write+unclassified"} {
		if e, err := labels.ParseEffect(s); err == nil || e != labels.Unclassified {
			t.Errorf("ParseEffect(%q) = %v, %v", s, e, err)
		}
	}
	if _, err := (labels.AllEffects + 1).MarshalText(); err == nil {
		t.Error("an unknown effect has a text")
	}
	if labels.Unclassified.Counts() != labels.AllEffects || !labels.Unclassified.Has(labels.Egress) || labels.Read.Has(labels.Write) {
		t.Error("unclassified does not count as all")
	}
}
