package labels_test

import (
	"flag"
	"os"
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
	"github.com/pratique-dev/pratique/internal/origin"
	"github.com/pratique-dev/pratique/labels"
)

var update = flag.Bool("update", false, "write the golden files that do not exist yet; what was signed once is never rewritten")

// kept returns what was signed once; with -update it keeps what is signed now.
func kept(t *testing.T, file string, now string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if os.IsNotExist(err) && *update {
		b, err = []byte(now), os.WriteFile(file, []byte(now), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What was signed by earlier versions must keep verifying, and what is signed
// now is the same text: Ed25519 and the canonical form leave no choice.
func TestOldSignedBytesKeepVerifying(t *testing.T) {
	st := statement()
	now, err := st.Sign(signer(envelope.Label, 'l'))
	if err != nil {
		t.Fatal(err)
	}
	old := kept(t, "testdata/label-v1.jwt", now)
	if v, err := labels.Verify(keys('l'), old, shown(), t0); err != nil || v.Statement() != st {
		t.Errorf("label: %+v, %v", v, err)
	}
	if old != now {
		t.Error("the same statement is signed as another text than before")
	}

	site := origin.Must("https://shop.example")
	d := newDoc(site, 7, goodRows()...)
	d.signer, d.before = 'n', []any{handover(site, 6, 's', 'n')}
	doc := kept(t, "testdata/topology-v1.json", d.body())
	first, err := labels.OpenTopology(site, []byte(newDoc(site, 5, goodRows()...).body()), labels.Known{}, t0)
	if err != nil {
		t.Fatal(err)
	}
	if top, err := labels.OpenTopology(site, []byte(doc), labels.Known{Topology: first}, t0); err != nil || top.Ver != 7 {
		t.Errorf("topology: %+v, %v", top, err)
	}

	l := labels.NewLowered([]labels.Lower{labels.Fell(toolA, 5, t0), labels.Fell(toolB, 9, t0)}, t0)
	if want := kept(t, "testdata/lowered-v1.txt", l.Digest().String()); l.Digest().String() != want {
		t.Errorf("digest of lowered labels is %s, was %s", l.Digest(), want)
	}
}
