package labels_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pratique-dev/pratique/labels"
)

const readOnly = `{"readOnlyHint":true}`

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		standing          labels.Standing
		annotations, name string
		want              labels.Effect
	}{
		{labels.Attested, readOnly, "search_docs", labels.Read},
		{labels.Attested, readOnly, "getUser", labels.Read},
		{labels.Attested, readOnly, "repo.list_files", labels.Read},
		{labels.Attested, `{"readOnlyHint":true,"destructiveHint":false,"title":"x","x":{"y":1}}`, "list", labels.Read},
		{labels.Pinned, readOnly, "search_docs", labels.Unclassified},
		{labels.Unknown, readOnly, "search_docs", labels.Unclassified},
		{labels.Vetoed, readOnly, "search_docs", labels.Unclassified},
		{labels.Attested, readOnly, "wipe_docs", labels.Unclassified},
		{labels.Attested, readOnly, "get_and_delete", labels.Unclassified},
		{labels.Attested, readOnly, "getAndDelete", labels.Unclassified},
		{labels.Attested, readOnly, "query", labels.Unclassified},
		{labels.Attested, readOnly, "frobnicate", labels.Unclassified},
		{labels.Attested, readOnly, "", labels.Unclassified},
		{labels.Attested, ``, "search_docs", labels.Unclassified},
		{labels.Attested, `{}`, "search_docs", labels.Unclassified},
		{labels.Attested, `{"readOnlyHint":false}`, "search_docs", labels.Unclassified},
		{labels.Attested, `{"ReadOnlyHint":true}`, "search_docs", labels.Unclassified},
		{labels.Attested, `{"readOnlyHint":"true"}`, "search_docs", labels.Unclassified},
		{labels.Attested, `{"readOnlyHint":null}`, "search_docs", labels.Unclassified},
		{labels.Attested, `{"readOnlyHint":true,"destructiveHint":true}`, "search_docs", labels.Unclassified},
		{labels.Attested, `{"readOnlyHint":false,"readOnlyHint":true}`, "search_docs", labels.Unclassified},
		{labels.Attested, `[true]`, "search_docs", labels.Unclassified},
		{labels.Attested, `{"readOnlyHint":true`, "search_docs", labels.Unclassified},
	} {
		if got := labels.Classify(c.standing, jsontext.Value(c.annotations), c.name); got != c.want {
			t.Errorf("Classify(%v, %s, %q) = %v, want %v", c.standing, c.annotations, c.name, got, c.want)
		}
	}
}

// A worse standing never gives a smaller effect.
func TestClassifyMonotone(t *testing.T) {
	for s := labels.Vetoed; s < labels.Attested; s++ {
		if labels.Classify(s, jsontext.Value(readOnly), "list_items") == labels.Read {
			t.Errorf("%v is believed", s)
		}
	}
}

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
