package vectortest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pratique-dev/pratique/credentials/envelope"
)

func TestCommittedSetIsWhatTheGeneratorMakes(t *testing.T) {
	want, err := Generate()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, Golden()) {
		t.Fatal("testdata/tokens.json is not what go generate makes")
	}
}

func TestSetIsNotVacuous(t *testing.T) {
	names, verdicts, eddsa, good := map[string]bool{}, map[string]int{}, 0, 0
	for _, c := range Cases(t) {
		if names[c.Name] {
			t.Errorf("two cases are named %q", c.Name)
		}
		names[c.Name] = true
		verdicts[c.Verdict]++
		if !strings.Contains(c.Name, "ES256") && c.Typ != envelope.Proof {
			eddsa++
		}
		if c.Verdict == "good" {
			good++
		}
	}
	if eddsa < 60 || good < 20 {
		t.Errorf("%d EdDSA cases, %d good ones", eddsa, good)
	}
	for v := range Sentinel {
		if verdicts[v] == 0 {
			t.Errorf("no case has the verdict %q", v)
		}
	}
	t.Logf("%d cases, %d of them EdDSA JWS, %d good; by verdict %v", len(names), eddsa, good, verdicts)
}
